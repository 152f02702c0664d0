// SPDX-License-Identifier: GPL-2.0-only
/* view_report.c - `kdefer report`: what was measured, what came out, what is in doubt. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "catalog.h"
#include "format.h"
#include "own_cost.h"
#include "plan.h"
#include "view_blame.h"
#include "view_parts.h"
#include "view_report.h"
#include "view_why.h"

#define WORDS 4096 /* no fact of a capture is longer, but for escapes */
#define EVENTS 20

/* --- host and recording --- */

static const char *fact(const struct report *r, const char *name, char *buf, size_t size)
{
	const char *value = model_fact(r->model, name);

	return fmt_safe(buf, size, value ? value : "?");
}

static void put_host(struct sheet *s, const struct report *r)
{
	char a[WORDS], b[WORDS], c[WORDS], d[WORDS];

	sheet_field(s, "host", "%s, %s CPUs, %s", fact(r, "hostname", a, sizeof(a)),
		    fact(r, "cpus_online", b, sizeof(b)), fact(r, "cpu_model", c, sizeof(c)));
	sheet_field(s, "kernel", "%s %s (%s), preempt=%s", fact(r, "kernel", a, sizeof(a)),
		    fact(r, "machine", b, sizeof(b)), fact(r, "kernel_version", c, sizeof(c)),
		    fact(r, "preempt", d, sizeof(d)));
	if (model_fact(r->model, "build_id"))
		sheet_field(s, "build id", "%s", fact(r, "build_id", a, sizeof(a)));
	if (model_fact(r->model, "cmdline"))
		sheet_field(s, "boot options", "%s", fact(r, "cmdline", a, sizeof(a)));
}

static void put_labels(struct sheet *s, const struct report *r)
{
	const struct model *m = r->model;
	static char value[4 * WORDS]; /* all of it escaped */
	char name[WORDS];
	size_t i;

	for (i = 0; i < m->nfacts; i++)
		if (!strncmp(m->facts[i].name, "label.", 6))
			sheet_field(s, "label", "%s=%s",
				    fmt_safe(name, sizeof(name), m->facts[i].name + 6),
				    fmt_safe(value, sizeof(value), m->facts[i].value));
}

static void put_recording(struct sheet *s, const struct report *r)
{
	const struct model *m = r->model;
	uint64_t real = model_realtime(m, m->start_ns);
	char a[WORDS], when[FMT_LEN], length[FMT_LEN];

	if (model_fact(m, "command_line"))
		sheet_field(s, "command", "%s", fact(r, "command_line", a, sizeof(a)));
	if (!m->started)
		sheet_field(s, "recorded", "nothing: %s",
			    r->cut ? "what can be read ends before the first look"
				   : "recording did not begin");
	else
		sheet_field(s, "recorded", "%s%s%s, %" PRIu64 " interval%s",
			    real ? fmt_time(when, sizeof(when), real) : "",
			    real ? ", for " : "for ",
			    fmt_ns(length, sizeof(length), scope_length_ns(m, r->scope)), m->ticks,
			    m->ticks == 1 ? "" : "s");
	sheet_field(s, "by", "kdefer %s; shown by %s", fact(r, "kdefer", a, sizeof(a)), r->version);
	if (r->cut)
		sheet_field(s, "incomplete", "%s", r->cut);
	if (m->incomplete)
		sheet_field(s, "cut short", "%" PRIu64 " tick%s: counts came with the next one",
			    m->incomplete, m->incomplete == 1 ? "" : "s");
	if (m->refused)
		sheet_field(s, "left out", "%" PRIu64 " record%s beyond what this program takes in",
			    m->refused, m->refused == 1 ? "" : "s");
	if (scope_sampling(m, r->scope) > 1 && model_fact(m, SAMPLING_BY_BUDGET))
		sheet_field(s, "sampling",
			    "down to one of %" PRIu64
			    " RCU callbacks was followed, to stay within the "
			    "budget: their counts are estimates, maxima and tails may be missing",
			    scope_sampling(m, r->scope));
	else if (scope_sampling(m, r->scope) > 1)
		sheet_field(s, "sampling",
			    "one of %" PRIu64 " events was followed: maxima and tails "
			    "may be missing",
			    scope_sampling(m, r->scope));
}

/* --- what was measured --- */

/* "call_rcu.latency (rcu, srcu)": flavours of one measure behind its name. */
struct names {
	char text[3000];
	unsigned int source, measure;
	bool any, open;
};

static void add_name(struct names *n, unsigned int source, unsigned int measure,
		     unsigned int flavour)
{
	const struct measure_info *info = measure_info(measure);
	const char *fl = flavour_name(flavour);
	bool same = n->any && n->source == source && n->measure == measure;

	if (!same) {
		text_append(n->text, sizeof(n->text), "%s%s%s.%s", n->open ? ")" : "",
			    n->any ? ", " : "", source_name(source), info ? info->name : "?");
		n->open = false;
	}
	if (fl)
		text_append(n->text, sizeof(n->text), "%s%s", n->open ? ", " : " (", fl);
	n->open |= fl != NULL;
	n->any = true;
	n->source = source;
	n->measure = measure;
}

static const char *end_names(struct names *n)
{
	if (n->open)
		text_append(n->text, sizeof(n->text), ")");
	n->open = false;
	return n->text;
}

static void put_measured(struct sheet *s, const struct report *r)
{
	const struct model *m = r->model;
	struct names names = { 0 };
	size_t i;

	for (i = 0; i < m->nplan; i++) {
		const struct plan_row *row = &m->plan[i];

		if (row->state == PLAN_ON && scope_has(r->scope, row->measure, row->flavour))
			add_name(&names, row->source, row->measure, row->flavour);
	}
	sheet_field(s, "measured", "%s", names.any ? end_names(&names) : "nothing");
}

/* Reasons that several rows share are said once. */
static bool is_off(const struct report *r, const struct plan_row *row, const char *reason)
{
	return row->state != PLAN_ON && scope_has(r->scope, row->measure, row->flavour) &&
	       !strcmp(row->reason, reason);
}

static void put_not_measured(struct sheet *s, const struct report *r)
{
	const struct model *m = r->model;
	char reason[1200];
	size_t i, k;

	for (i = 0; i < m->nplan; i++) {
		const char *why = m->plan[i].reason;
		struct names names = { 0 };

		if (!is_off(r, &m->plan[i], why))
			continue;
		for (k = 0; k < i && !is_off(r, &m->plan[k], why); k++)
			;
		if (k < i)
			continue; /* said with that one */
		for (; k < m->nplan; k++)
			if (is_off(r, &m->plan[k], why))
				add_name(&names, m->plan[k].source, m->plan[k].measure,
					 m->plan[k].flavour);
		sheet_field(
			s, "not measured", "%s: %s", end_names(&names),
			fmt_safe(reason, sizeof(reason), *why ? why : "no reason was recorded"));
	}
}

/* --- tables of metrics --- */

static const char *quantile(char *buf, size_t size, const struct metric *x, double q)
{
	uint64_t v;

	if (hist_quantile(&x->hist, q, &v)) {
		snprintf(buf, size, "-");
		return buf;
	}
	return view_value(buf, size, measure_info(x->measure)->unit, v);
}

static const char *greatest(char *buf, size_t size, const struct metric *x)
{
	enum unit unit = measure_info(x->measure)->unit;

	/* What is only counted has no values. */
	if (!hist_count(&x->hist) || (unit == UNIT_COUNT && !x->hist.max)) {
		snprintf(buf, size, "-");
		return buf;
	}
	return view_value(buf, size, unit, x->hist.max);
}

static bool is_asked(const struct report *r, const struct metric *x)
{
	return scope_has(r->scope, x->measure, x->flavour);
}

static int add_total(struct table *t, const struct report *r, const struct metric *x)
{
	char name[VIEW_NAME + 20], count[FMT_LEN], rate[FMT_LEN], q[3][FMT_LEN], max[FMT_LEN];
	uint64_t n = hist_count(&x->hist), length = scope_length_ns(r->model, r->scope);
	const char *fl = flavour_name(x->flavour);

	snprintf(name, sizeof(name), "%s.%s%s%s%s%s", source_name(x->source),
		 measure_info(x->measure)->name, fl ? " (" : "", fl ? fl : "", fl ? ")" : "",
		 view_bound(x));
	fmt_count(count, sizeof(count), n);
	fmt_rate(rate, sizeof(rate), length ? (double)n * 1e9 / (double)length : -1);
	quantile(q[0], FMT_LEN, x, 0.5);
	quantile(q[1], FMT_LEN, x, 0.9);
	quantile(q[2], FMT_LEN, x, 0.99);
	greatest(max, sizeof(max), x);
	return sheet_row(t, (const char *[]){ name, count, rate, q[0], q[1], q[2], max });
}

static bool is_shown_total(const struct report *r, const struct metric *x)
{
	return view_is_total(x) && is_asked(r, x) && !measure_info(x->measure)->pending;
}

/* Text may have no room for all of them beside a name. */
static const struct table_column total_columns[] = {
	{ "MEASURE", false, 0 }, { "COUNT", true, 0 }, { "RATE/S", true, 1 }, { "P50", true, 0 },
	{ "P90", true, 2 },      { "P99", true, 0 },   { "MAX", true, 0 },
};

static int put_totals(struct sheet *s, const struct report *r)
{
	struct names nothing = { 0 };
	struct table t;
	size_t i;
	int err = 0;

	table_init(&t, total_columns, 7);
	t.whole_first = true;
	for (i = 0; i < r->n && !err; i++) {
		const struct metric *x = &r->metrics[i];

		if (!is_shown_total(r, x))
			continue;
		if (hist_count(&x->hist))
			err = add_total(&t, r, x);
		else
			add_name(&nothing, x->source, x->measure, x->flavour);
	}
	if (!err && nothing.any && r->model->started)
		sheet_field(s, "saw nothing", "%s", end_names(&nothing));
	if (!err && t.nrows) {
		sheet_heading(s, "TIMES AND COUNTS");
		sheet_table(s, &t);
	}
	table_free(&t);
	return err;
}

static int by_max(const void *pa, const void *pb)
{
	const struct metric *a = *(const struct metric *const *)pa;
	const struct metric *b = *(const struct metric *const *)pb;

	if (a->hist.max != b->hist.max)
		return a->hist.max < b->hist.max ? 1 : -1;
	return a < b ? -1 : a > b;
}

static int add_key(struct table *t, const struct report *r, const struct metric *x)
{
	char key[VIEW_KEY], measure[VIEW_NAME], count[FMT_LEN], q[2][FMT_LEN], max[FMT_LEN];

	view_key(key, sizeof(key), &x->keys, x->by);
	view_name(measure, sizeof(measure), r->model, x->source, x->measure, x->flavour);
	fmt_count(count, sizeof(count), hist_count(&x->hist));
	return sheet_row(t, (const char *[]){ key, measure, count, quantile(q[0], FMT_LEN, x, 0.5),
					      quantile(q[1], FMT_LEN, x, 0.99),
					      greatest(max, sizeof(max), x) });
}

/* Yes and no are no keys that could be slow, and counts are no times. */
static bool is_slow_key(const struct report *r, const struct metric *x)
{
	return !view_is_total(x) && is_asked(r, x) && x->by != KEY_LAZY &&
	       !key_has(&x->keys, KEY_OTHER) && hist_count(&x->hist) &&
	       !measure_info(x->measure)->asked_only && measure_info(x->measure)->unit == UNIT_NS;
}

static int put_keys(struct sheet *s, const struct report *r)
{
	static const struct table_column columns[] = {
		{ "KEY", false, 0 }, { "OF", false, 0 }, { "COUNT", true, 1 },
		{ "P50", true, 2 },  { "P99", true, 1 }, { "MAX", true, 0 },
	};
	const struct metric **list = calloc(r->n + 1, sizeof(*list));
	struct table t;
	size_t i, n = 0;
	int err = list ? 0 : -ENOMEM;

	for (i = 0; i < r->n && !err; i++)
		if (is_slow_key(r, &r->metrics[i]))
			list[n++] = &r->metrics[i];
	if (n)
		qsort(list, n, sizeof(*list), by_max);
	table_init(&t, columns, 6);
	for (i = 0; i < n && i < r->top && !err; i++)
		err = add_key(&t, r, list[i]);
	if (!err && t.nrows) {
		sheet_heading(s, "SLOWEST KEYS");
		sheet_table(s, &t);
	}
	table_free(&t);
	free(list);
	return err;
}

/* --- the worst waits of all measures together --- */

struct bad {
	const struct metric *of;
	const struct worst *w;
};

static int by_value(const void *pa, const void *pb)
{
	const struct bad *a = pa, *b = pb;

	if (a->w->value != b->w->value)
		return a->w->value < b->w->value ? 1 : -1;
	return a->w->mono_ns < b->w->mono_ns ? -1 : a->w->mono_ns > b->w->mono_ns;
}

/* "01-31 12:05:07.523" of "2026-01-31 12:05:07.523 +0000": the year and the offset stand above. */
char *report_time(char *buf, size_t size, uint64_t real_ns)
{
	char when[FMT_LEN];

	snprintf(buf, size, "?");
	if (real_ns && strlen(fmt_time(when, sizeof(when), real_ns)) > 23)
		snprintf(buf, size, "%.18s", when + 5);
	return buf;
}

static int add_bad(struct table *t, const struct report *r, const struct bad *b)
{
	const struct series *series = model_series(r->model, b->w->series);
	unsigned int main_keys = key_main(measure_info(b->of->measure)->by);
	char key[VIEW_KEY] = "", measure[VIEW_NAME], value[FMT_LEN], cpu[FMT_LEN], when[FMT_LEN];
	struct keys keys = { 0 };

	if (series && main_keys) {
		enum key_name k = (enum key_name)__builtin_ctz(main_keys);

		key_set(&keys, series, k);
		if (series->flags & KD_SERIES_OTHER && !key_has(&keys, k))
			snprintf(key, sizeof(key), "other");
		else
			view_key(key, sizeof(key), &keys, k);
	}
	view_name(measure, sizeof(measure), r->model, b->of->source, b->of->measure,
		  b->of->flavour);
	snprintf(cpu, sizeof(cpu), "%" PRIu32, b->w->cpu);
	report_time(when, sizeof(when), model_realtime(r->model, b->w->mono_ns));
	view_value(value, sizeof(value), measure_info(b->of->measure)->unit, b->w->value);
	return sheet_row(t, (const char *[]){ key, measure, cpu, when, value });
}

static int put_worst(struct sheet *s, const struct report *r)
{
	static const struct table_column columns[] = {
		{ "KEY", false, 0 },  { "OF", false, 0 },   { "CPU", true, 2 },
		{ "ENDED", true, 1 }, { "VALUE", true, 0 },
	};
	struct bad *list = calloc(r->n * MODEL_WORST + 1, sizeof(*list));
	struct table t;
	size_t i, n = 0;
	int k, err = list ? 0 : -ENOMEM;

	for (i = 0; i < r->n && !err; i++) {
		const struct metric *x = &r->metrics[i];

		if (!x->worst || !is_asked(r, x) || measure_info(x->measure)->unit != UNIT_NS)
			continue;
		for (k = 0; k < x->worst->n; k++)
			list[n++] = (struct bad){ x, &x->worst->w[k] };
	}
	if (n)
		qsort(list, n, sizeof(*list), by_value);
	table_init(&t, columns, 5);
	for (i = 0; i < n && i < r->top && !err; i++)
		err = add_bad(&t, r, &list[i]);
	if (!err && t.nrows) {
		sheet_heading(s, "WORST WAITS");
		sheet_table(s, &t);
	}
	table_free(&t);
	free(list);
	return err;
}

/* --- losses, events, the tool itself --- */

static void put_lost(struct sheet *s, const struct report *r)
{
	const struct scope *sc = r->scope;
	unsigned int source, what, lines = 0;
	char n[FMT_LEN];
	uint64_t lost;

	sheet_heading(s, "LOSSES");
	for (source = 0; source < KD_SRC_COUNT; source++)
		for (what = 0; what < KD_LOST_COUNT; what++) {
			lost = scope_lost(r->model, sc, source, what);
			if (!lost || !scope_has_source(sc, source) ||
			    !scope_may_lose(sc, source, what))
				continue;
			lines++;
			sheet_field(s, source_name(source), "%s %s%s (%s)",
				    fmt_count(n, sizeof(n), lost), lost_name(what),
				    lost_by_design(what) ? ", by design" : "", lost_help(what));
		}
	if (!lines)
		sheet_line(s, "nothing lost");
}

static void put_events(struct sheet *s, const struct report *r)
{
	const struct model *m = r->model;
	size_t i, from = m->nevents > EVENTS ? m->nevents - EVENTS : 0;
	char when[FMT_LEN], what[WORDS], detail[WORDS];

	if (!m->nevents)
		return;
	sheet_heading(s, "EVENTS");
	if (from)
		sheet_line(s, "the last %d of %zu", EVENTS, m->nevents);
	for (i = from; i < m->nevents; i++) {
		const struct event *e = &m->events[i];

		fmt_safe(what, sizeof(what), e->what);
		fmt_safe(detail, sizeof(detail), e->detail);
		sheet_line(s, "%s%s%s%s%s",
			   e->realtime_ns ? fmt_time(when, sizeof(when), e->realtime_ns) : "",
			   e->realtime_ns ? " " : "", what, *detail ? ": " : "", detail);
	}
}

static void put_self(struct sheet *s, const struct report *r)
{
	const struct kd_rec_self *self = &r->model->self;
	uint64_t length = scope_length_ns(r->model, r->scope);
	uint64_t during = self->cpu_ns - r->before->cpu_ns;
	char cpu[FMT_LEN], share[FMT_LEN] = "", rss[FMT_LEN], kernel[FMT_LEN], attach[FMT_LEN];
	char start[FMT_LEN], text[512];

	if (!self->sample) /* every such record has it */
		return;
	sheet_heading(s, "WHAT RECORDING TOOK");
	if (length)
		snprintf(share, sizeof(share), " (%.2g%% of one CPU)",
			 100.0 * (double)during / (double)length);
	sheet_field(s, "process", "%s of CPU time%s, %s to start; %s resident",
		    fmt_ns(cpu, sizeof(cpu), during), share,
		    fmt_ns(start, sizeof(start), r->before->cpu_ns),
		    fmt_bytes(rss, sizeof(rss), self->rss_bytes));
	sheet_field(s, "kernel", "%s; attaching took %s",
		    fmt_bytes(kernel, sizeof(kernel), self->kernel_bytes),
		    fmt_ns(attach, sizeof(attach), self->attach_ns));
	if (*own_cost_text(text, sizeof(text), r->model, r->scope))
		sheet_field(s, "programs", "%s", text);
	else if (self->run_ns)
		sheet_field(s, "programs", "%s, estimated", fmt_ns(cpu, sizeof(cpu), self->run_ns));
	else
		sheet_field(s, "programs", "what they took inside of the kernel was not measured");
}

int view_report(struct sheet *s, const struct report *r)
{
	char file[WORDS], title[WORDS + 32];
	int err;

	snprintf(title, sizeof(title), "kdefer report %s", fmt_safe(file, sizeof(file), r->file));
	sheet_title(s, title);
	put_host(s, r);
	put_recording(s, r);
	put_labels(s, r);
	put_measured(s, r);
	put_not_measured(s, r);
	err = put_totals(s, r);
	if (!err)
		err = put_keys(s, r);
	if (!err)
		err = put_worst(s, r);
	if (!err)
		err = view_why_worst(s, r->model, r->scope, r->top);
	if (!err)
		err = sheet_blame(s, r->model, r->scope);
	if (!err)
		err = sheet_split(s, r->model, r->scope);
	if (!err)
		err = report_lists(s, r);
	if (!err)
		err = report_runs(s, r);
	if (err)
		return err;
	if (r->model->started)
		put_lost(s, r);
	put_events(s, r);
	put_self(s, r);
	return 0;
}
