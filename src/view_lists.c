// SPDX-License-Identifier: GPL-2.0-only
/*
 * view_lists.c - the text of `kdefer lists`. The answer first: what is held back in all. Then by
 * source, then who holds up the grace periods, then what is missing.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "catalog.h"
#include "format.h"
#include "plan.h"
#include "text.h"
#include "view_lists_parts.h"
#include "view_parts.h"

#define INDENT 2

/* "+1.2 MiB/s" */
static char *byte_rate(char *buf, size_t size, double per_s)
{
	double most = 1ULL << 60, up = per_s < 0 ? -per_s : per_s;
	char n[FMT_LEN];

	snprintf(buf, size, "%s%s/s",
		 per_s < 0   ? "-"
		 : per_s > 0 ? "+"
			     : "",
		 fmt_bytes(n, sizeof(n), (uint64_t)(up < most ? up : most)));
	return buf;
}

/* --- what is held back --- */

/* "1,234 callbacks of call_rcu" */
static char *unsized(char *buf, size_t size, const struct backlog_debt *d)
{
	char n[FMT_LEN];

	buf[0] = '\0';
	for (unsigned int s = 0; s < KD_SRC_COUNT; s++)
		if (d->by[s].unsized)
			text_append(buf, size, "%s%s %s of %s", *buf ? ", " : "",
				    fmt_count(n, sizeof(n), d->by[s].unsized),
				    pending_measure(s)->entries, source_name(s));
	return buf;
}

static void put_parts(FILE *out, const struct view_lists *v, const struct backlog_debt *d)
{
	char text[256] = "", n[FMT_LEN];
	unsigned int parts = 0;

	for (unsigned int s = 0; s < KD_SRC_COUNT; s++) {
		if (!d->by[s].bytes)
			continue;
		text_append(text, sizeof(text), "%s%s %s", parts++ ? ", " : "", source_name(s),
			    fmt_bytes(n, sizeof(n), d->by[s].bytes));
	}
	if (parts > 1)
		text_fieldf(out, v->width, "of which:", "%s", text);
}

static const char *what_drains(const struct backlog_part *p)
{
	return p->stranded ? "what is not stranded" : "what waits now";
}

static void put_bytes_flow(FILE *out, const struct view_lists *v, const struct backlog_part *p)
{
	const char *about = lists_mark(p->exact, false);
	char in[FMT_LEN], left[FMT_LEN], time[FMT_LEN];

	fmt_bytes(in, sizeof(in), (uint64_t)p->in_bytes);
	fmt_bytes(left, sizeof(left), (uint64_t)p->out_bytes);
	if (p->drain_ns == KD_UNKNOWN || !p->drain_ns)
		text_fieldf(out, v->width, "flow:", "at least %s%s/s in, %s%s/s out", about, in,
			    about, left);
	else
		text_fieldf(out, v->width,
			    "flow:", "at least %s%s/s in, %s%s/s out: %s is through in %s at most",
			    about, in, about, left, what_drains(p),
			    fmt_ns(time, sizeof(time), p->drain_ns));
}

/* A rate needs two looks some time apart; what leaves is only known where the kernel counts it. */
static void put_rate(FILE *out, const struct view_lists *v, const struct backlog_debt *d)
{
	char rate[FMT_LEN], left[FMT_LEN];
	const char *why = backlog_no_flow(v->query, d);

	if (!d->all.rated)
		return;
	byte_rate(rate, sizeof(rate), d->all.net);
	if (backlog_gone_ns(&d->all) != KD_UNKNOWN)
		text_fieldf(out, v->width, "change:", "%s: gone in %s if that goes on", rate,
			    fmt_ns(left, sizeof(left), backlog_gone_ns(&d->all)));
	else
		text_fieldf(out, v->width, "change:", "%s", rate);
	if (!why)
		put_bytes_flow(out, v, &d->all);
	else if (!v->brief)
		text_fieldf(out, v->width, "flow:", "in and out are not known: %s", why);
}

static bool put_debt(FILE *out, const struct view_lists *v, const struct backlog_debt *d)
{
	char n[FMT_LEN], rest[256], text[400];

	if (!d->all.any)
		return false;
	unsized(rest, sizeof(rest), d);
	if (*rest && d->all.unsized == d->all.length) {
		snprintf(text, sizeof(text),
			 "held back: the memory of %s, which do not say how much that is", rest);
		text_wrap(out, text, 0, INDENT, v->width);
		return true;
	}
	fprintf(out, "held back: %s%s%s\n", lists_mark(d->all.exact, d->all.truncated),
		fmt_bytes(n, sizeof(n), d->all.bytes), *rest ? " and more" : "");
	put_parts(out, v, d);
	if (*rest)
		text_fieldf(out, v->width,
			    "not in it:", "the memory of %s, which do not say how much that is",
			    rest);
	put_rate(out, v, d);
	return true;
}

/* --- a source --- */

static void put_bpf(FILE *out, const struct view_lists *v, const struct backlog_bpf *b)
{
	static const char *const waits[BACKLOG_WAITS] = {
		[BACKLOG_RCU] = "for RCU",
		[BACKLOG_TASKS_TRACE] = "for RCU Tasks Trace",
		[BACKLOG_IDLE] = "idle in free lists",
		[BACKLOG_UNKNOWN] = "in lists that this kdefer does not know",
	};
	static const enum backlog_wait order[] = { BACKLOG_RCU, BACKLOG_TASKS_TRACE, BACKLOG_IDLE,
						   BACKLOG_UNKNOWN };
	char text[400] = "", line[600], n[FMT_LEN], size[FMT_LEN];
	uint64_t objects = 0, bytes = 0;

	for (int i = 0; i < BACKLOG_WAITS; i++) {
		enum backlog_wait w = order[i];

		objects += b->objects[w];
		bytes += b->bytes[w];
		if (b->objects[w] || w != BACKLOG_UNKNOWN)
			text_append(text, sizeof(text), "%s%s %s", *text ? ", " : "",
				    fmt_bytes(size, sizeof(size), b->bytes[w]), waits[w]);
	}
	if (!b->known)
		return;
	snprintf(line, sizeof(line), "BPF memory waiting: %s%s objects, %s, of which %s",
		 lists_mark(b->exact, b->truncated), fmt_count(n, sizeof(n), objects),
		 fmt_bytes(size, sizeof(size), bytes), text);
	fprintf(out, "%*s", INDENT, "");
	text_wrap(out, line, INDENT, 2 * INDENT, v->width);
}

/* "rcu 3.92k/s in, 20/s out: what waits now is through in 10.6 min" */
static void put_flow(FILE *out, const struct view_lists *v, const struct backlog_part *p)
{
	const char *about = p->bound ? lists_mark(p->exact, false) : "";
	char in[FMT_LEN], left[FMT_LEN], time[FMT_LEN], text[160];

	if (!p->counted)
		return;
	snprintf(text, sizeof(text), "%s%s%s%s%s/s in, ", p->of ? p->of : "", p->of ? " " : "",
		 p->bound ? "at least " : "", about, fmt_rate(in, sizeof(in), p->in));
	if (p->out > 0 || p->bound)
		text_append(text, sizeof(text), "%s%s/s out", about,
			    fmt_rate(left, sizeof(left), p->out));
	else
		text_append(text, sizeof(text), "none out");
	if (p->drain_ns != KD_UNKNOWN && p->drain_ns)
		text_append(text, sizeof(text), ": %s is through in %s%s", what_drains(p),
			    fmt_ns(time, sizeof(time), p->drain_ns), p->bound ? " at most" : "");
	text_fieldf(out, v->width, "flow:", "%s", text);
}

static void put_doubts(FILE *out, const struct view_lists *v, bool inexact, bool truncated)
{
	if (inexact)
		text_fieldf(out, v->width,
			    "not exact:", "~ marks what was read while it could change");
	if (truncated)
		text_fieldf(out, v->width,
			    "cut short:", ">= marks lists too long to be walked to their end");
}

static void put_lost(FILE *out, const struct view_lists *v, unsigned int source)
{
	const struct scope *sc = &v->query->scope;
	char n[FMT_LEN];

	for (unsigned int what = 0; what < KD_LOST_COUNT; what++) {
		uint64_t lost = scope_lost(v->model, sc, source, what);

		if (lost && scope_may_lose(sc, source, what))
			text_fieldf(out, v->width, "lost:", "%s %s (%s)",
				    fmt_count(n, sizeof(n), lost), lost_name(what),
				    lost_help(what));
	}
}

/* Objects that nobody comes back for: how many, and what would bring them back. */
static void put_stranded(FILE *out, const struct view_lists *v, const struct backlog_row *r)
{
	char n[FMT_LEN], size[FMT_LEN], age[FMT_LEN];

	if (r->stranded)
		text_fieldf(
			out, v->width, "stranded:",
			"%s objects, %s: unchanged for %s or longer, and no callback is queued that "
			"would take them further; they wait until their map is used again, or goes",
			fmt_count(n, sizeof(n), r->stranded),
			fmt_bytes(size, sizeof(size), r->stranded_bytes),
			fmt_ns(age, sizeof(age), r->stranded_ns));
}

struct summary {
	struct backlog_row sum;
	struct backlog_row apart; /* of lists whose entries are something else */
	bool inexact, truncated;
};

static struct summary sum_up(const struct backlog_row *totals, size_t n, unsigned int source)
{
	struct summary s = { .sum = { .source = (uint8_t)source, .exact = true },
			     .apart = { .exact = true } };

	for (size_t i = 0; i < n; i++) {
		const struct backlog_row *r = &totals[i];

		if (r->source != source)
			continue;
		if (backlog_is_apart(r)) {
			s.apart.length += r->length;
			s.apart.exact &= r->exact;
			s.apart.truncated |= r->truncated;
			continue;
		}
		s.sum.length += r->length;
		s.sum.then += r->then;
		s.sum.stranded += r->stranded;
		s.sum.stranded_bytes += r->stranded_bytes;
		if (s.sum.stranded_ns < r->stranded_ns)
			s.sum.stranded_ns = r->stranded_ns;
		s.inexact |= !r->exact;
		s.truncated |= r->truncated;
	}
	s.sum.exact = !s.inexact;
	s.sum.truncated = s.truncated;
	s.inexact |= s.apart.length && !s.apart.exact;
	s.truncated |= s.apart.truncated;
	return s;
}

/* "rstat.pending: 12 cgroups, 3 waiters" */
static void put_length(FILE *out, unsigned int source, const struct summary *s)
{
	char length[FMT_LEN];

	fprintf(out, "%s.pending: ", source_name(source));
	if (s->sum.length)
		fprintf(out, "%s %s%s", lists_length(length, sizeof(length), &s->sum),
			pending_measure(source)->entries, s->apart.length ? ", " : "");
	if (s->apart.length)
		fprintf(out, "%s %s", lists_length(length, sizeof(length), &s->apart),
			list_name(KD_LIST_WAITERS));
	fprintf(out, "%s\n", s->sum.length || s->apart.length ? "" : "nothing waits");
}

static int put_source(FILE *out, const struct view_lists *v, const struct backlog_debt *d,
		      unsigned int source, const struct backlog_row *totals, size_t n)
{
	const struct summary s = sum_up(totals, n, source);
	struct backlog_bpf bpf = { 0 };
	int err = 0;

	if (source == KD_SRC_MEMALLOC)
		err = backlog_bpf(v->model, v->query, &bpf);
	if (err)
		return err;
	put_length(out, source, &s);
	put_bpf(out, v, &bpf);
	put_stranded(out, v, &s.sum);
	put_flow(out, v, &d->by[source]);
	if (!v->brief)
		put_doubts(out, v, s.inexact, s.truncated);
	put_lost(out, v, source);
	return lists_tables(out, v, source, totals, n);
}

/* --- grace periods --- */

/* "1, 3, 5-7" */
static void put_cpus(char *buf, size_t size, const struct pending_gp *g)
{
	uint32_t first = 0, last = 0;
	bool open = false;

	for (size_t i = 0; i <= g->nowed; i++) {
		const struct kd_rec_owed *o = i < g->nowed ? &g->owed[i] : NULL;

		if (o && o->is_task)
			continue;
		if (open && o && o->cpu == last + 1) {
			last = o->cpu;
			continue;
		}
		if (open)
			text_append(buf, size, first == last ? "%s%u" : "%s%u-%u", *buf ? ", " : "",
				    first, last);
		open = o;
		first = last = o ? o->cpu : 0;
	}
}

static void put_tasks(char *buf, size_t size, const struct pending_gp *g)
{
	char comm[80];

	for (size_t i = 0; i < g->nowed; i++) {
		const struct kd_rec_owed *o = &g->owed[i];

		if (!o->is_task)
			continue;
		text_append(buf, size, "%s%s (%u", *buf ? ", " : "",
			    fmt_safe(comm, sizeof(comm), o->comm), o->pid);
		text_append(buf, size, o->cpu == KD_CPU_NONE ? ")" : ", CPU %u)", o->cpu);
	}
}

char *view_lists_owed(char *buf, size_t size, const struct pending_gp *g, bool tasks)
{
	buf[0] = '\0';
	if (tasks)
		put_tasks(buf, size, g);
	else
		put_cpus(buf, size, g);
	return buf;
}

static void put_who(FILE *out, const struct view_lists *v, const struct pending_gp *g, bool tasks)
{
	uint32_t owed = tasks ? g->gp.tasks_owed : g->gp.cpus_owed, told = 0;
	const char *what = tasks ? "task" : "CPU", *s = owed == 1 ? "" : "s";
	const char *about = lists_mark(g->gp.flags & KD_PENDING_EXACT, false);
	char text[TEXT_FIELD_MAX] = "", n[FMT_LEN];

	for (size_t i = 0; i < g->nowed; i++)
		told += !g->owed[i].is_task == !tasks;
	if (!owed)
		return;
	view_lists_owed(text, sizeof(text), g, tasks);
	if (told >= owed)
		text_fieldf(out, v->width, "owed by:", "%s%s %s", what, s, text);
	else
		text_fieldf(out, v->width, "owed by:", "%s%s %s%s%s%s", about,
			    fmt_count(n, sizeof(n), owed), what, s, told ? ", among them " : "",
			    text);
}

static void put_gp(FILE *out, const struct view_lists *v, const struct pending_gp *g)
{
	char age[FMT_LEN] = "";

	if (g->gp.age_ns != KD_UNKNOWN)
		fmt_ns(age, sizeof(age), g->gp.age_ns);
	fprintf(out, "rcu_gp (%s): %s, number %" PRId64 "%s%s%s\n", flavour_name(g->gp.flavour),
		gp_state_name(g->gp.state), (int64_t)g->gp.seq, *age ? ", " : "", age,
		*age ? " old" : "");
	put_who(out, v, g, false);
	put_who(out, v, g, true);
}

/* Nothing to wait for, and nobody that is waited for. */
static bool is_idle(const struct pending_gp *g)
{
	return g->gp.state == KD_GP_IDLE && !g->gp.cpus_owed && !g->gp.tasks_owed;
}

/* Those that are under way, then those that are not on one line. */
static bool put_gps(FILE *out, const struct view_lists *v, bool first)
{
	char idle[256] = "";
	bool any = false;

	for (unsigned int f = KD_FL_NONE + 1; f < KD_FL_COUNT; f++) {
		const struct pending_gp *g = backlog_gp(v->model, v->query, f);

		if (!g)
			continue;
		if (!any && !first)
			fputc('\n', out);
		any = true;
		if (is_idle(g))
			text_append(idle, sizeof(idle), "%s%s", *idle ? ", " : "", flavour_name(f));
		else
			put_gp(out, v, g);
	}
	if (*idle) {
		char text[300];

		snprintf(text, sizeof(text), "rcu_gp: no grace period under way: %s", idle);
		text_wrap(out, text, 0, INDENT, v->width);
	}
	return any;
}

/* --- put together --- */

static bool is_on(const struct view_lists *v, unsigned int source, const struct backlog_row *totals,
		  size_t n)
{
	const struct model *m = v->model;

	for (size_t i = 0; i < n; i++)
		if (totals[i].source == source)
			return true;
	for (size_t i = 0; i < m->nplan && !v->query->nfilters; i++)
		if (m->plan[i].source == source && m->plan[i].state == PLAN_ON &&
		    scope_has(&v->query->scope, m->plan[i].measure, m->plan[i].flavour))
			return true;
	return false;
}

/* What a row of the plan cannot give, or not all of it, and why. These stand together. */
static void put_plan(FILE *out, const struct view_lists *v, bool first)
{
	const struct model *m = v->model;
	char text[TEXT_FIELD_MAX], name[VIEW_NAME], reason[1024];

	for (size_t i = 0; i < m->nplan; i++) {
		const struct plan_row *row = &m->plan[i];
		bool off = row->state == PLAN_OFF;

		if ((!off && !*row->reason) ||
		    !scope_has(&v->query->scope, row->measure, row->flavour))
			continue;
		if (!first)
			fputc('\n', out);
		first = true;
		view_name(name, sizeof(name), m, row->source, row->measure, row->flavour);
		if (off)
			view_off(text, sizeof(text), m, row);
		else
			snprintf(text, sizeof(text), "%s: note: %s", name,
				 fmt_safe(reason, sizeof(reason), row->reason));
		text_wrap(out, text, 0, INDENT, v->width);
	}
}

static void put_when(FILE *out, const struct view_lists *v)
{
	uint64_t real = model_realtime(v->model, v->model->to_ns);
	char when[FMT_LEN];

	if (v->query->scope.interval)
		fprintf(out, "look %" PRIu64 "%s%s\n", v->model->ticks, real ? ", " : "",
			real ? fmt_time(when, sizeof(when), real) : "");
}

static bool put_filters(FILE *out, const struct view_lists *v)
{
	const struct backlog_query *q = v->query;
	char text[TEXT_FIELD_MAX] = "only: ", glob[256];

	for (size_t i = 0; i < q->nfilters; i++)
		text_append(text, sizeof(text), "%s%s=%s", i ? ", " : "",
			    backlog_key_text(q->filters[i].key),
			    fmt_safe(glob, sizeof(glob), q->filters[i].glob));
	if (q->nfilters)
		text_wrap(out, text, 0, INDENT, v->width);
	return q->nfilters;
}

int view_lists(FILE *out, const struct view_lists *v)
{
	struct backlog_row *totals;
	struct backlog_debt debt;
	bool any = false;
	size_t n;
	int err = backlog_totals(v->model, v->query, &totals, &n);

	if (err)
		return err;
	err = backlog_debt(v->model, v->query, &debt);
	if (!err) {
		put_when(out, v);
		any = put_filters(out, v);
		any |= put_debt(out, v, &debt);
	}
	for (unsigned int s = 0; s < KD_SRC_COUNT && !err; s++) {
		if (s == KD_SRC_RCU_GP || !is_on(v, s, totals, n))
			continue;
		if (any)
			fputc('\n', out);
		any = true;
		err = put_source(out, v, &debt, s, totals, n);
	}
	free(totals);
	if (err)
		return err;
	any |= put_gps(out, v, !any);
	if (!v->brief)
		put_plan(out, v, !any);
	return 0;
}
