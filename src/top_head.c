// SPDX-License-Identifier: GPL-2.0-only
/* top_head.c - what stands above the rows: host, time, what is held back, own cost, grace periods. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "text.h"
#include "top_parts.h"
#include "view_why.h"
#include "view_lists.h"

#define REPORT_WIDTH 4000
#define LINE 1500
#define TEXT 600
#define WHO 2000

static void add_host(struct top_job *j)
{
	const char *host = model_fact(j->m, "hostname"), *kernel = model_fact(j->m, "kernel");
	char h[TEXT], k[TEXT], text[2 * TEXT + 2], when[FMT_LEN];
	uint64_t real = model_realtime(j->m, j->m->to_ns);

	fmt_safe(h, sizeof(h), host ? host : "?");
	fmt_safe(k, sizeof(k), kernel ? kernel : "?");
	snprintf(text, sizeof(text), "%s  %s", h, k);
	j->s->host = top_string(j, text);
	j->s->time = top_string(j, real ? fmt_time(when, sizeof(when), real) : "");
}

/* "1,234 callbacks of call_rcu" is not memory that can be told; see view_lists.c. */
static void add_held(struct top_job *j)
{
	const struct backlog_query q = top_backlog(j);
	char text[TEXT] = "", n[FMT_LEN], left[FMT_LEN];
	struct backlog_debt d;

	j->err = backlog_debt(j->m, &q, &d);
	if (j->err)
		return;
	if (d.all.any && d.all.unsized < d.all.length)
		text_append(text, sizeof(text), "%s%s",
			    d.all.truncated ? ">="
			    : d.all.exact   ? ""
					    : "~",
			    fmt_bytes(n, sizeof(n), d.all.bytes));
	if (d.all.any && d.all.unsized)
		text_append(text, sizeof(text), "%s%s objects of unknown size",
			    *text ? " and " : "", fmt_count(n, sizeof(n), d.all.unsized));
	if (d.all.any && !*text)
		text_append(text, sizeof(text), "nothing");
	if (d.all.rated && d.all.bytes) {
		double net = d.all.net, up = net < 0 ? -net : net;

		text_append(text, sizeof(text), "; %c%s/s", net < 0 ? '-' : '+',
			    fmt_bytes(n, sizeof(n), up < 1e18 ? (uint64_t)up : (uint64_t)1e18));
		if (backlog_gone_ns(&d.all) != KD_UNKNOWN)
			text_append(text, sizeof(text), ", gone in %s",
				    fmt_ns(left, sizeof(left), backlog_gone_ns(&d.all)));
	}
	if (d.all.bound && d.all.bytes) {
		text_append(text, sizeof(text), "; in >=%s/s",
			    fmt_bytes(n, sizeof(n), (uint64_t)d.all.in_bytes));
		text_append(text, sizeof(text), ", out >=%s/s",
			    fmt_bytes(n, sizeof(n), (uint64_t)d.all.out_bytes));
	}
	j->s->held = top_string(j, text);
}

/* "0.4%" of one CPU */
static void append_share(char *text, size_t size, uint64_t part, uint64_t ns)
{
	double share = ns ? 100.0 * (double)part / (double)ns : 0;

	if (part && share < 0.01)
		text_append(text, size, "<0.01%%");
	else
		text_append(text, size, share < 10 ? "%.2f%%" : "%.0f%%", share);
}

static void add_cost(struct top_job *j)
{
	const struct top *t = j->t;
	const struct kd_rec_self *a = &t->before, *b = &t->newest;
	uint64_t ns = t->newest_ns - t->before_ns;
	char text[TEXT] = "", n[FMT_LEN];

	if (b->rec.kind && t->before_ns && ns && b->cpu_ns >= a->cpu_ns) {
		append_share(text, sizeof(text), b->cpu_ns - a->cpu_ns, ns);
		text_append(text, sizeof(text), " CPU");
		if (b->run_ns > a->run_ns) {
			text_append(text, sizeof(text), ", programs ~");
			append_share(text, sizeof(text), b->run_ns - a->run_ns, ns);
		}
		if (b->events > a->events)
			text_append(text, sizeof(text), " (%s events/s)",
				    fmt_rate(n, sizeof(n),
					     (double)(b->events - a->events) * 1e9 / (double)ns));
	}
	if (b->rss_bytes)
		text_append(text, sizeof(text), "%s%s", *text ? ", " : "",
			    fmt_bytes(n, sizeof(n), b->rss_bytes));
	if (b->kernel_bytes)
		text_append(text, sizeof(text), " + %s kernel",
			    fmt_bytes(n, sizeof(n), b->kernel_bytes));
	j->s->cost = top_string(j, text);
}

static void append_filters(const struct top *t, char *text, size_t size)
{
	const struct filter *f;
	char glob[TEXT];

	for (size_t i = 0; i < t->nfilters; i++) {
		f = &t->filters[i];
		text_append(text, size, "%s%s=%s", i ? ", " : "",
			    f->name ? f->name : key_text(f->key),
			    fmt_safe(glob, sizeof(glob), f->glob));
	}
}

static bool anything_matches(struct top_job *j)
{
	const struct backlog_query q = top_backlog(j);
	struct backlog_row *rows;
	size_t n;

	for (size_t i = 0; i < j->nshown; i++)
		if (hist_count(&j->s->metrics[i].hist))
			return true;
	j->err = backlog_totals(j->m, &q, &rows, &n);
	if (j->err)
		return true;
	free(rows);
	return n;
}

static bool has_rows_by(const struct top_job *j, unsigned int key)
{
	for (size_t i = 0; i < j->nshown; i++)
		if (j->s->metrics[i].by == key)
			return true;
	return false;
}

/* A filter or a key that leaves nothing must not look like a host where nothing happens. */
static void add_unmatched(struct top_job *j, char *text, size_t size)
{
	const struct top *t = j->t;

	if (t->nfilters && !anything_matches(j)) {
		text_append(text, size, "%snothing here matches ", *text ? "; " : "");
		append_filters(t, text, size);
	}
	for (unsigned int key = 0; key < KEY_OTHER; key++)
		if (t->by >> key & 1 && !(KEY_GROUPS >> key & 1) && !has_rows_by(j, key))
			text_append(text, size, "%snothing here is told apart by %s",
				    *text ? "; " : "", key_text((enum key_name)key));
}

/* What puts numbers in doubt that look whole. */
static void add_warning(struct top_job *j)
{
	const struct model *m = j->m;
	uint64_t sample = model_sampling(m, true, false);
	char text[4 * TEXT] = "", n[FMT_LEN];

	if (sample > 1 && model_fact(m, SAMPLING_BY_BUDGET))
		text_append(text, sizeof(text),
			    "1/%" PRIu64
			    " of RCU's callbacks followed, to stay within the budget: counts "
			    "are estimates",
			    sample);
	else if (sample > 1)
		text_append(text, sizeof(text), "1/%" PRIu64 " of the events followed", sample);
	if (m->incomplete)
		text_append(text, sizeof(text), "%s%s interval%s cut short", *text ? "; " : "",
			    fmt_count(n, sizeof(n), m->incomplete), m->incomplete == 1 ? "" : "s");
	if (m->refused)
		text_append(text, sizeof(text), "%s%s record%s left out", *text ? "; " : "",
			    fmt_count(n, sizeof(n), m->refused), m->refused == 1 ? "" : "s");
	add_unmatched(j, text, sizeof(text));
	j->s->warning = top_string(j, text);
}

/* --- grace periods --- */

static char *who(struct top_job *j, const struct pending_gp *g)
{
	char text[WHO] = "", part[WHO];

	view_lists_owed(part, sizeof(part), g, false);
	if (*part)
		text_append(text, sizeof(text), "CPU%s %s", g->gp.cpus_owed > 1 ? "s" : "", part);
	else if (g->gp.cpus_owed)
		text_append(text, sizeof(text), "%u CPUs", g->gp.cpus_owed);
	view_lists_owed(part, sizeof(part), g, true);
	if (g->gp.tasks_owed)
		text_append(text, sizeof(text), "%s%u task%s%s%s", *text ? "; " : "",
			    g->gp.tasks_owed, g->gp.tasks_owed > 1 ? "s" : "", *part ? ": " : "",
			    part);
	return top_string(j, text);
}

static void add_gps(struct top_job *j)
{
	const struct backlog_query q = top_backlog(j);

	for (unsigned int f = KD_FL_NONE + 1; f < KD_FL_COUNT; f++) {
		const struct pending_gp *g = backlog_gp(j->m, &q, f);

		if (!g)
			continue;
		j->s->gp[j->s->ngps++] = (struct top_gp){
			.flavour = (uint8_t)f,
			.state = g->gp.state,
			.seq = g->gp.seq,
			.age_ns = g->gp.age_ns,
			.cpus_owed = g->gp.cpus_owed,
			.tasks_owed = g->gp.tasks_owed,
			.idle = g->gp.state == KD_GP_IDLE && !g->gp.cpus_owed && !g->gp.tasks_owed,
			.who = who(j, g),
		};
	}
}

/* --- events --- */

static char *harmless(struct top_job *j, const char *s)
{
	size_t size = 4 * strlen(s) + 1;
	char *text = malloc(size);

	if (!text)
		j->err = -ENOMEM;
	return text ? fmt_safe(text, size, s) : NULL;
}

static void add_event(struct top_job *j, const struct event *e)
{
	struct top_event *out = &j->s->events[j->s->nevents++];
	char when[FMT_LEN];

	out->when =
		top_string(j, e->realtime_ns ? fmt_time(when, sizeof(when), e->realtime_ns) : "-");
	out->what = harmless(j, e->what);
	out->detail = harmless(j, e->detail);
}

/* All that is said of it, each thing on one line however long: how wide the screen is shows later. */
static char *whole_report(struct top_job *j, const struct holdup *h)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct sheet s;

	if (!out) {
		j->err = -ENOMEM;
		return NULL;
	}
	sheet_init(&s, out, false, REPORT_WIDTH);
	view_why_report(&s, j->m, h);
	if (fclose(out))
		j->err = -ENOMEM;
	return text;
}

static void add_report(struct top_job *j, const struct holdup *h)
{
	struct top_event *out = &j->s->events[j->s->nevents++];
	uint64_t real = model_realtime(j->m, h->rec.end_ns);
	char when[FMT_LEN], line[LINE];

	out->when = top_string(j, real ? fmt_time(when, sizeof(when), real) : "-");
	out->what = top_string(j, "long wait");
	out->detail = top_string(j, view_why_line(line, sizeof(line), j->m, h));
	out->report = whole_report(j, h);
}

/* The newest before the one at *at that was asked for, or NULL. */
static const struct holdup *newest_report(const struct top_job *j, size_t *at)
{
	while (*at) {
		const struct holdup *h = &j->m->holdups.h[--*at];

		if (scope_has_holdup(j->m, &j->t->scope, h))
			return h;
	}
	return NULL;
}

/* Events and reports by time, the newest first. */
static void add_events(struct top_job *j)
{
	const struct model *m = j->m;
	struct top_snap *s = j->s;
	size_t n = m->nevents, at = m->holdups.n, reports = 0;
	const struct holdup *h = newest_report(j, &at);

	s->events = calloc(TOP_EVENTS_MAX, sizeof(*s->events));
	if (!s->events) {
		j->err = -ENOMEM;
		return;
	}
	while (s->nevents < TOP_EVENTS_MAX && (n || h) && !j->err) {
		if (h && (!n || h->rec.end_ns >= m->events[n - 1].mono_ns)) {
			add_report(j, h);
			h = ++reports < TOP_REPORTS_MAX ? newest_report(j, &at) : NULL;
		} else {
			add_event(j, &m->events[--n]);
		}
	}
}

void top_add_head(struct top_job *j)
{
	add_host(j);
	add_held(j);
	if (j->err)
		return;
	add_cost(j);
	add_warning(j);
	add_gps(j);
	add_events(j);
}
