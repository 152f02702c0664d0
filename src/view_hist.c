// SPDX-License-Identifier: GPL-2.0-only
/*
 * view_hist.c - the text of `kdefer hist`. A person on call reads it: the answer first, then what
 * to hold against it (this host's floor), then what is missing, then how it was measured.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "bars.h"
#include "catalog.h"
#include "format.h"
#include "own_cost.h"
#include "plan.h"
#include "text.h"
#include "view_hist.h"
#include "view_blame.h"
#include "view_events.h"
#include "view_parts.h"

#define EVENTS 10 /* shown; JSON has all */
#define INDENT 2

/* --- a line with a label --- */

/* --- the answer --- */

static double per_second(const struct view_hist *v, uint64_t n)
{
	uint64_t ns = scope_length_ns(v->model, v->scope);

	return ns ? (double)n * 1e9 / (double)ns : -1;
}

static void put_headline(FILE *out, const struct view_hist *v, const struct metric *x)
{
	uint64_t count = hist_count(&x->hist), ns = scope_length_ns(v->model, v->scope);
	char name[VIEW_NAME + 20], n[FMT_LEN], time[FMT_LEN], rate[FMT_LEN], text[VIEW_NAME + 180];

	view_name(name, sizeof(name), v->model, x->source, x->measure, x->flavour);
	text_append(name, sizeof(name), "%s", view_bound(x));
	fmt_ns(time, sizeof(time), ns);
	if (!count)
		snprintf(text, sizeof(text), "%s: nothing in %s", name, time);
	else
		snprintf(text, sizeof(text), "%s: %s in %s, %s/s", name,
			 fmt_count(n, sizeof(n), count), time,
			 fmt_rate(rate, sizeof(rate), per_second(v, count)));
	text_wrap(out, text, 0, INDENT, v->width);
}

/* "p50 12 ms, p90 24 ms, p99 -, max 152 ms (p99: fewer than 1,000 samples)" */
static void put_quantiles(FILE *out, const struct view_hist *v, const struct metric *x)
{
	static const struct {
		const char *name, *needs;
		double q;
	} shown[] = {
		{ "p50", "20", 0.5 },
		{ "p90", "100", 0.9 },
		{ "p99", "1,000", 0.99 },
	};
	char text[256] = "", value[FMT_LEN], missing[80] = "";
	enum unit unit = measure_info(x->measure)->unit;
	uint64_t q;
	size_t i;

	for (i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		if (!hist_quantile(&x->hist, shown[i].q, &q)) {
			text_append(text, sizeof(text), "%s %s, ", shown[i].name,
				    view_value(value, sizeof(value), unit, q));
			continue;
		}
		text_append(text, sizeof(text), "%s -, ", shown[i].name);
		if (!*missing)
			snprintf(missing, sizeof(missing), " (%s needs %s samples)", shown[i].name,
				 shown[i].needs);
	}
	text_append(text, sizeof(text), "max %s%s",
		    view_value(value, sizeof(value), unit, x->hist.max), missing);
	fprintf(out, "%*s", INDENT, "");
	text_wrap(out, text, INDENT, INDENT, v->width);
}

static void put_whose_key(char *name, size_t size, const struct series *s, enum key_name key)
{
	struct keys k = { 0 };

	if (s)
		key_set(&k, s, key);
	if (s && s->flags & KD_SERIES_OTHER && !key_has(&k, key))
		snprintf(name, size, "other");
	else
		view_key(name, size, &k, key);
}

/* "free_x handed over", "called from f", or only "started" where nothing tells the series apart. */
static void put_whose(char *buf, size_t size, const struct view_hist *v, const struct metric *x,
		      uint32_t series)
{
	const struct measure_info *info = measure_info(x->measure);
	const struct series *s = model_series(v->model, series);
	unsigned int main = key_main(info->by);
	char name[VIEW_KEY];
	enum key_name key;

	snprintf(buf, size, "%s", info->begins);
	for (; main; main &= main - 1) {
		key = (enum key_name)__builtin_ctz(main);
		put_whose_key(name, sizeof(name), s, key);
		if (key_info(key)->link)
			text_append(buf, size, "%s%s %s", *buf ? " " : "", key_info(key)->link,
				    name);
		else
			snprintf(buf, size, "%s%s%s", name, *info->begins ? " " : "", info->begins);
	}
}

/* " by cat (pid 12)", and the functions on its stack on a line of their own. */
static void put_who(FILE *out, const struct view_hist *v, const struct worst *w, const char *line)
{
	char comm[4 * sizeof(w->comm)], stack[2 * sizeof(w->stack)];

	if (!w->pid) {
		text_fieldf(out, v->width, "worst:", "%s", line);
		return;
	}
	text_fieldf(out, v->width, "worst:", "%s by %s (pid %u)", line,
		    fmt_safe(comm, sizeof(comm), w->comm), w->pid);
	if (*w->stack)
		text_fieldf(out, v->width, "stack:", "%s",
			    fmt_safe(stack, sizeof(stack), w->stack));
}

static void put_worst(FILE *out, const struct view_hist *v, const struct metric *x)
{
	const struct measure_info *info = measure_info(x->measure);
	char whose[2 * VIEW_KEY], when[FMT_LEN], value[FMT_LEN + 64], line[2 * VIEW_KEY + 192];
	const struct worst *w;
	uint64_t real;

	if (!x->worst || !x->worst->n)
		return;
	w = &x->worst->w[0];
	real = model_realtime(v->model, w->mono_ns);
	put_whose(whose, sizeof(whose), v, x, w->series);
	value[0] = '\0';
	/* The line above has the maximum. What came to it was not kept: others that share its list were worse. */
	if (w->value < x->hist.max) {
		char took[FMT_LEN];

		snprintf(value, sizeof(value), "not kept: worse ones drove it out; the next was %s",
			 view_value(took, sizeof(took), info->unit, w->value));
	}
	snprintf(line, sizeof(line), "%s%s%s%s%s on CPU %u", value, *value && real ? " at " : "",
		 real ? fmt_time(when, sizeof(when), real) : "", *value || real ? ", " : "", whose,
		 w->cpu);
	put_who(out, v, w, line);
}

/* --- what to hold against it --- */

static void put_floor(FILE *out, const struct view_hist *v, const struct metric *x)
{
	uint64_t hz = model_fact_u64(v->model, "hz", 0);
	uint64_t jiffies = model_fact_u64(v->model, "first_fqs_jiffies", 0);
	char low[FMT_LEN], high[FMT_LEN];
	unsigned int least, most;
	uint64_t wait_ns;

	if (!hz || !jiffies || hz > 1000000 || jiffies > 1000000 ||
	    !measure_floor(x->measure, x->flavour, &least, &most))
		return;
	wait_ns = jiffies * 1000000000 / hz;
	fmt_ns(low, sizeof(low), wait_ns * least);
	fmt_ns(high, sizeof(high), wait_ns * most);
	if (!strcmp(strchr(low, ' '), strchr(high, ' ')))
		*strchr(low, ' ') = '\0'; /* "4 to 16 ms" */
	text_fieldf(out, v->width, "floor:",
		    "about %s to %s here (RCU polls: %u to %u waits of %" PRIu64 " %s, HZ=%" PRIu64
		    ")",
		    low, high, least, most, jiffies, jiffies == 1 ? "jiffy" : "jiffies", hz);
}

/* --- what is missing --- */

/* A line for each kind: "12 unmatched_end (ends whose hand-over was not seen)". How many. */
static int put_lost(FILE *out, const struct view_hist *v, unsigned int source, bool by_design)
{
	unsigned int what;
	char n[FMT_LEN];
	uint64_t lost;
	int lines = 0;

	for (what = 0; what < KD_LOST_COUNT; what++) {
		lost = scope_lost(v->model, v->scope, source, what);
		if (!lost || lost_by_design(what) != by_design ||
		    !scope_may_lose(v->scope, source, what))
			continue;
		text_fieldf(out, v->width, by_design ? "left out:" : "lost:", "%s %s (%s)",
			    fmt_count(n, sizeof(n), lost), lost_name(what), lost_help(what));
		lines++;
	}
	return lines;
}

/* What waits is counted for a source as a whole, whatever its measures are. */
static void put_open(FILE *out, const struct view_hist *v, const struct metric *x, uint64_t open)
{
	const struct measure_info *info = measure_info(x->measure), *other;
	unsigned int i, of_source = 0;
	char n[FMT_LEN];

	for (i = 0; (other = measure_info(i)); i++)
		of_source += other->source == x->source && !other->pending && !other->holdup;
	fmt_count(n, sizeof(n), open);
	if (of_source > 1 || !*info->begins)
		text_fieldf(out, v->width, "waiting:", "%s begun, not yet done, in all of %s", n,
			    source_name(x->source));
	else
		text_fieldf(out, v->width, "waiting:", "%s %s, not yet %s", n, info->begins,
			    info->ends);
}

static void put_missing(FILE *out, const struct view_hist *v, const struct metric *x)
{
	uint64_t open = scope_count(v->model, v->scope, x->source, KD_CNT_OPEN);
	uint64_t refused = v->model->refused;
	char n[FMT_LEN];

	if (open)
		put_open(out, v, x, open);
	if (!put_lost(out, v, x->source, false) && !refused && !v->brief)
		text_fieldf(out, v->width, "lost:", "nothing lost");
	if (refused)
		text_fieldf(out, v->width, "lost:", "%s records (more than this program takes)",
			    fmt_count(n, sizeof(n), refused));
	put_lost(out, v, x->source, true);
}

/* Of BPF memory: what refills brought and drains took, which a filter does not divide. */
static void put_objects(FILE *out, const struct view_hist *v, const struct metric *x)
{
	uint64_t n[KD_CNT_DRAINED - KD_CNT_FROM_SLAB + 1];
	char slab[FMT_LEN], recycled[FMT_LEN], either[FMT_LEN];

	for (unsigned int i = 0; i <= KD_CNT_DRAINED - KD_CNT_FROM_SLAB; i++)
		n[i] = scope_count(v->model, v->scope, KD_SRC_MEMALLOC, KD_CNT_FROM_SLAB + i);
	if (v->nfilters)
		return;
	if (x->measure == KD_M_MEMALLOC_DRAIN && n[3])
		text_fieldf(out, v->width, "objects:", "%s drained",
			    fmt_count(slab, sizeof(slab), n[3]));
	if (x->measure == KD_M_MEMALLOC_REFILL && n[0] + n[1] + n[2])
		text_fieldf(out, v->width,
			    "objects:", "%s from slab, %s that had been freed, %s one or the other",
			    fmt_count(slab, sizeof(slab), n[0]),
			    fmt_count(recycled, sizeof(recycled), n[1]),
			    fmt_count(either, sizeof(either), n[2]));
}

/* --- how it was measured --- */

/* A row without a flavour speaks of all. */
static const struct plan_row *find_plan(const struct view_hist *v, const struct metric *x)
{
	const struct plan_row *row, *any = NULL;
	size_t i;

	for (i = 0; i < v->model->nplan; i++) {
		row = &v->model->plan[i];
		if (row->source != x->source || row->measure != x->measure)
			continue;
		if (row->flavour == x->flavour)
			return row;
		if (row->flavour == KD_FL_NONE)
			any = row;
	}
	return any;
}

static void put_filters(FILE *out, const struct view_hist *v)
{
	char text[TEXT_FIELD_MAX] = "", glob[256];
	size_t i;

	for (i = 0; i < v->nfilters; i++)
		text_append(text, sizeof(text), "%s%s=%s", i ? ", " : "",
			    v->filters[i].name ? v->filters[i].name : key_text(v->filters[i].key),
			    fmt_safe(glob, sizeof(glob), v->filters[i].glob));
	if (*text)
		text_fieldf(out, v->width, "only:", "%s", text);
}

/* The lock is spin_lock_irq()'s. An upper bound may be of a flush that gave it up on the way. */
static const char *interrupts(const struct view_hist *v, const struct metric *x)
{
	const char *model = model_fact(v->model, "preempt");

	if (x->measure != KD_M_RSTAT_HOLD || x->bound || !model || !*model)
		return "";
	return strcmp(model, "rt") ? ", with interrupts off" : " (PREEMPT_RT: interrupts stay on)";
}

static void put_own_share(FILE *out, const struct view_hist *v, double share)
{
	if (isnan(share))
		return;
	if (own_cost_is_possible(share))
		text_fieldf(
			out, v->width, "own cost:",
			"our own programs ran for at most about %.*f%% of this time (estimated)",
			share < 0.1, 100 * share);
	else
		text_fieldf(out, v->width, "own cost:",
			    "not known: the estimate is longer than all that was measured");
}

static void put_method(FILE *out, const struct view_hist *v, const struct metric *x)
{
	const struct measure_info *info = measure_info(x->measure);
	const struct plan_row *row = find_plan(v, x);
	char what[160], backend[64], hooks[1024], reason[512];

	if (*info->begins)
		snprintf(what, sizeof(what), "from %s to %s", info->begins, info->ends);
	else
		snprintf(what, sizeof(what), "%s", info->what);
	text_fieldf(out, v->width, "measured:", "%s%s%s%s%s%s", what, interrupts(v, x),
		    row ? "; " : "", row ? fmt_safe(backend, sizeof(backend), row->backend) : "",
		    row && *row->hooks ? " on " : "",
		    row ? fmt_safe(hooks, sizeof(hooks), row->hooks) : "");
	put_own_share(out, v, own_cost_share(v->model, v->scope, x->measure));
	if (row && *row->reason)
		text_fieldf(out, v->width, "note:", "%s",
			    fmt_safe(reason, sizeof(reason), row->reason));
}

/* Of each interval: it may change. */
static void put_sampling(FILE *out, const struct view_hist *v, const struct metric *x)
{
	uint64_t n = scope_sampling(v->model, v->scope);

	if (n > 1 && model_scales(v->model, x->measure, x->flavour))
		text_fieldf(out, v->width, "sampled:",
			    "down to 1 of %" PRIu64
			    " followed, to stay within the budget of %s; counts "
			    "and rates are estimates of all",
			    n, model_fact(v->model, SAMPLING_BY_BUDGET));
	else if (n > 1 && scope_is_sampled(v->model, v->scope, x->measure, x->flavour))
		text_fieldf(out, v->width,
			    "sampled:", "1 of %" PRIu64 " followed; counts and rates are of these",
			    n);
}

/* --- put together --- */

/* What flushes spend their time with is one table behind them. */
static bool is_shown_total(const struct view_hist *v, const struct metric *x)
{
	if (measure_info(x->measure)->asked_only && scope_has_measure(v->scope, KD_M_RSTAT_FLUSH))
		return false;
	return scope_has_measure(v->scope, x->measure) && view_is_total(x);
}

/*
 * What is missing is counted for a source as a whole, and told with one of its totals: the first
 * that has samples, else the first.
 */
static const struct metric *bearer(const struct view_hist *v, unsigned int source)
{
	const struct metric *first = NULL;
	size_t i;

	for (i = 0; i < v->n; i++) {
		const struct metric *x = &v->metrics[i];

		if (x->source != source || !is_shown_total(v, x))
			continue;
		if (hist_count(&x->hist))
			return x;
		if (!first)
			first = x;
	}
	return first;
}

static void put_missing_elsewhere(FILE *out, const struct view_hist *v, const struct metric *x)
{
	unsigned int what;

	for (what = 0; what < KD_LOST_COUNT; what++)
		if (!lost_by_design(what) && scope_lost(v->model, v->scope, x->source, what)) {
			text_fieldf(out, v->width, "lost:", "as said above, for %s as a whole",
				    source_name(x->source));
			return;
		}
}

static void put_total(FILE *out, const struct view_hist *v, const struct metric *x)
{
	const struct measure_info *info = measure_info(x->measure);
	bool any = hist_count(&x->hist), bears = bearer(v, x->source) == x;
	bool values = any && !info->count_only;

	put_headline(out, v, x);
	if (!any && !bears)
		return;
	if (values)
		put_quantiles(out, v, x);
	put_worst(out, v, x);
	if (!v->brief && values)
		put_floor(out, v, x);
	if (values)
		put_objects(out, v, x);
	if (bears) {
		put_filters(out, v);
		put_missing(out, v, x);
	} else {
		put_missing_elsewhere(out, v, x);
	}
	if (!v->brief)
		put_method(out, v, x);
	put_sampling(out, v, x);
	if (!values)
		return;
	fputc('\n', out);
	bars_print(out, &x->hist, info->unit, info->name, v->width);
}

static void put_off_rows(FILE *out, const struct view_hist *v, bool first)
{
	const struct model *m = v->model;
	char text[TEXT_FIELD_MAX];
	size_t i;

	for (i = 0; i < m->nplan; i++) {
		const struct plan_row *row = &m->plan[i];

		if (row->state != PLAN_OFF || !scope_has(v->scope, row->measure, row->flavour))
			continue;
		if (!first)
			fputc('\n', out);
		first = true;
		view_off(text, sizeof(text), m, row);
		text_wrap(out, text, 0, INDENT, v->width);
	}
}

static void put_interval(FILE *out, const struct view_hist *v)
{
	uint64_t real = model_realtime(v->model, v->model->from_ns);
	char when[FMT_LEN];

	fprintf(out, "interval %" PRIu64 "%s%s\n", v->model->ticks, real ? ", from " : "",
		real ? fmt_time(when, sizeof(when), real) : "");
}

/* Programs that hooked nothing cost nothing. */
static void put_own_cost(FILE *out, const struct view_hist *v)
{
	char text[TEXT_FIELD_MAX];

	if (!*own_cost_text(text, sizeof(text), v->model, v->scope))
		return;
	fputc('\n', out);
	text_fieldf(out, v->width, "kdefer:", "%s", text);
}

int view_hist(FILE *out, const struct view_hist *v)
{
	bool first = true;
	int err = 0;
	size_t i;

	if (v->scope->interval)
		put_interval(out, v);
	for (i = 0; i < v->n && !err; i++) {
		const struct metric *x = &v->metrics[i];

		if (!is_shown_total(v, x))
			continue;
		/* Totals that saw nothing follow each other without a gap. */
		if (!first && (hist_count(&x->hist) || hist_count(&v->metrics[i - 1].hist)))
			fputc('\n', out);
		first = false;
		put_total(out, v, x);
		/* Keys of all flavours of a measure stand together, behind the last of these. */
		if (i + 1 == v->n || v->metrics[i + 1].measure != x->measure ||
		    v->metrics[i + 1].source != x->source || !view_is_total(&v->metrics[i + 1]))
			err = view_keys(out, v, x);
		if (!err && x->measure == KD_M_RSTAT_BLAME &&
		    (i + 1 == v->n || v->metrics[i + 1].measure != x->measure ||
		     !view_is_total(&v->metrics[i + 1])))
			err = view_blame(out, v);
	}
	if (!err)
		err = view_split(out, v);
	if (!v->brief)
		put_off_rows(out, v, first);
	if (!err)
		put_own_cost(out, v);
	view_events(out, v->model, v->scope, EVENTS, v->width);
	return err;
}
