// SPDX-License-Identifier: GPL-2.0-only
/*
 * top_overview.c - the first view of `kdefer top`: a row for each source, and where it has several
 * flavours, one for each of these below it.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "plan.h"
#include "text.h"
#include "top_parts.h"

/* One source: what is known of it, by flavour. */
struct part {
	uint8_t source;
	uint32_t flavours;   /* that have a list or a measure */
	uint32_t with_lists; /* of these, whose lists are known */
	struct backlog_row *totals;
	size_t ntotals;
	const struct backlog_part *debt;
};

static bool is_time(const struct metric *x)
{
	const struct measure_info *info = measure_info(x->measure);

	return x->by == KEY_NONE && !info->pending && !info->count_only && info->unit == UNIT_NS;
}

static bool in_scope(const struct top_job *j, const struct metric *x)
{
	return x->by == KEY_NONE && !measure_info(x->measure)->pending &&
	       scope_has(&j->t->scope, x->measure, x->flavour);
}

/* The one that stands for its flavour: the first of the catalog, and no bound if there is another. */
static const struct metric *main_metric(const struct top_job *j, unsigned int source,
					unsigned int flavour)
{
	const struct metric *best = NULL;

	for (size_t i = 0; i < j->nshown; i++) {
		const struct metric *x = &j->s->metrics[i];

		if (x->source != source || x->flavour != flavour || !is_time(x) || !in_scope(j, x))
			continue;
		if (!best || x->measure < best->measure)
			best = x;
	}
	return best;
}

/* A row of the plan may speak of all flavours: that is no flavour beside these, unless it counts. */
static void drop_nameless(const struct top_job *j, struct part *p)
{
	const struct metric *x = main_metric(j, p->source, KD_FL_NONE);

	if (!(p->flavours & ~1u) || (x && hist_count(&x->hist)))
		return;
	for (size_t i = 0; i < p->ntotals; i++)
		if (p->totals[i].source == p->source && p->totals[i].flavour == KD_FL_NONE)
			return;
	p->flavours &= ~1u;
	p->with_lists &= ~1u;
}

static void find_flavours(struct top_job *j, struct part *p)
{
	const struct model *m = j->m;

	for (size_t i = 0; i < j->nshown; i++)
		if (j->s->metrics[i].source == p->source && in_scope(j, &j->s->metrics[i]))
			p->flavours |= 1u << j->s->metrics[i].flavour;
	for (size_t i = 0; i < p->ntotals; i++)
		if (p->totals[i].source == p->source)
			p->with_lists |= 1u << p->totals[i].flavour;
	/* Lists that are on and empty are known to be empty. */
	for (size_t i = 0; i < m->nplan && !j->t->nfilters; i++) {
		const struct plan_row *row = &m->plan[i];

		if (row->source == p->source && measure_info(row->measure)->pending &&
		    row->state == PLAN_ON && p->source != KD_SRC_RCU_GP &&
		    scope_has(&j->t->scope, row->measure, row->flavour))
			p->with_lists |= 1u << row->flavour;
	}
	for (unsigned int f = 0; p->source == KD_SRC_RCU_GP && f < KD_FL_COUNT; f++) {
		const struct backlog_query q = top_backlog(j);

		if (backlog_gp(m, &q, f))
			p->with_lists |= 1u << f;
	}
	p->flavours |= p->with_lists;
	drop_nameless(j, p);
}

/* --- numbers of lists --- */

static void add(double *sum, double v)
{
	*sum = (isnan(*sum) ? 0 : *sum) + v;
}

static void add_total(struct top_job *j, struct top_row *r, const struct backlog_row *b)
{
	struct backlog_query q = top_backlog(j);
	double per_s;

	if (backlog_is_apart(b)) /* the lists say it */
		return;
	r->v[TOP_PENDING] += (double)b->length;
	r->exact &= b->exact;
	r->truncated |= b->truncated;
	if (backlog_holds_memory(b->source) && (b->bytes || !b->unsized))
		add(&r->v[TOP_BYTES], (double)b->bytes);
	r->unsized |= b->unsized;
	if (b->age_ns != KD_UNKNOWN && !(r->v[TOP_OLDEST] >= (double)b->age_ns))
		r->v[TOP_OLDEST] = (double)b->age_ns;
	if (backlog_rate(j->m, &q.scope, b, &per_s))
		add(&r->v[TOP_CHANGE], per_s);
}

/* Of grace periods under way: since when. */
static void add_gp(struct top_job *j, struct top_row *r, unsigned int flavour)
{
	const struct backlog_query q = top_backlog(j);
	const struct pending_gp *g = backlog_gp(j->m, &q, flavour);

	if (g && g->gp.state != KD_GP_IDLE && g->gp.age_ns != KD_UNKNOWN &&
	    !(r->v[TOP_OLDEST] >= (double)g->gp.age_ns))
		r->v[TOP_OLDEST] = (double)g->gp.age_ns;
}

static void set_lists(struct top_job *j, struct top_row *r, const struct part *p, uint32_t flavours)
{
	if (!(p->with_lists & flavours))
		return;
	r->v[TOP_PENDING] = 0;
	for (size_t i = 0; i < p->ntotals; i++)
		if (p->totals[i].source == p->source && flavours >> p->totals[i].flavour & 1)
			add_total(j, r, &p->totals[i]);
	if (r->unsized && !(r->v[TOP_BYTES] > 0)) /* 0 of those whose size is known is no answer */
		r->v[TOP_BYTES] = NAN;
	for (unsigned int f = 0; p->source == KD_SRC_RCU_GP && f < KD_FL_COUNT; f++)
		if (flavours >> f & 1)
			add_gp(j, r, f);
}

/* --- numbers of the whole source --- */

static double per_second(uint64_t n, uint64_t ns)
{
	return ns ? (double)n * 1e9 / (double)ns : NAN;
}

/* The kernel's own counts, where nothing is hooked: of one flavour, or of all that the row stands for. */
static bool is_counted(const struct part *p, uint32_t flavours)
{
	const char *of = p->debt ? p->debt->of : NULL;

	if (!p->debt || !p->debt->counted || p->debt->bound)
		return false; /* a column has no room to say that it is a bound */
	for (unsigned int f = 0; of && f < KD_FL_COUNT; f++)
		if (flavours >> f & 1 && (!flavour_name(f) || strcmp(flavour_name(f), of)))
			return false;
	return true;
}

static bool source_counts(const struct top_job *j, const struct part *p)
{
	const uint64_t *total = j->m->source[p->source].ctotal;

	return total[KD_CNT_BEGUN] || total[KD_CNT_DONE];
}

/* What is counted by the source as a whole says nothing of what a filter leaves. */
static void set_flow(struct top_job *j, struct top_row *r, const struct part *p)
{
	const struct model *m = j->m;
	const struct scope sc = { .interval = !j->s->window, .measures = j->t->scope.measures };
	const struct scope all = { .measures = j->t->scope.measures };
	double lost = 0, lately = 0;

	if (source_counts(j, p) && !j->t->nfilters)
		r->v[TOP_IN] =
			per_second(scope_count(m, &sc, p->source, KD_CNT_BEGUN), j->s->length_ns);
	else if (!source_counts(j, p) && is_counted(p, p->flavours))
		r->v[TOP_IN] = p->debt->in;
	for (unsigned int what = 0; what < KD_LOST_COUNT; what++) {
		if (lost_by_design(what) || !scope_may_lose(&all, p->source, what))
			continue;
		lost += (double)scope_lost(m, &all, p->source, what);
		lately += (double)m->source[p->source].interval[what];
	}
	r->v[TOP_LOST] = lost;
	r->lossy = lately > 0;
}

/* What the source counts, or else events of all its flavours by the same measure. */
static void set_sum_done(struct top_job *j, struct top_row *r, const struct part *p)
{
	const struct scope sc = { .interval = !j->s->window, .measures = j->t->scope.measures };
	const struct metric *first = NULL, *x;
	double sum = 0;

	for (unsigned int f = 0; f < KD_FL_COUNT; f++) {
		x = p->flavours >> f & 1 ? main_metric(j, p->source, f) : NULL;
		if (!x)
			continue;
		if (first && first->measure != x->measure)
			continue;
		first = first ? first : x;
		sum += (double)hist_count(&x->hist);
	}
	if (j->m->source[p->source].ctotal[KD_CNT_DONE] && !j->t->nfilters)
		r->v[TOP_DONE] =
			per_second(scope_count(j->m, &sc, p->source, KD_CNT_DONE), j->s->length_ns);
	else if (first)
		r->v[TOP_DONE] = per_second((uint64_t)sum, j->s->length_ns);
	else if (is_counted(p, p->flavours))
		r->v[TOP_DONE] = p->debt->out;
}

/* --- rows --- */

static bool is_wide_measure(const struct top_job *j, const struct part *p)
{
	return j->t->all && p->flavours;
}

static void put_measure(struct top_job *j, const struct part *p, const struct metric *x)
{
	const char *fl = flavour_name(x->flavour);
	const struct metric *latest = top_latest(j, x);
	char name[128], id[64];
	struct top_row *r;

	snprintf(name, sizeof(name), "%s%s%s%s", fl ? fl : "", fl ? " " : "",
		 measure_info(x->measure)->name,
		 !x->bound                    ? ""
		 : x->bound & KD_SERIES_UPPER ? " (at most)"
					      : " (at least)");
	snprintf(id, sizeof(id), "m/%u/%u/%u/%u", x->source, x->measure, x->flavour, x->bound);
	r = top_add(j, TOP_PART, p->source, name, id);
	if (!r)
		return;
	r->indent = true;
	top_set_metric(j, r, x);
	top_remember(j, r, latest ? &latest->hist : NULL);
}

static void put_measures(struct top_job *j, const struct part *p)
{
	for (size_t i = 0; i < j->nshown; i++)
		if (j->s->metrics[i].source == p->source && in_scope(j, &j->s->metrics[i]))
			put_measure(j, p, &j->s->metrics[i]);
}

static void set_main(struct top_job *j, struct top_row *r, const struct metric *x)
{
	if (x)
		top_set_metric(j, r, x);
}

static void put_flavour(struct top_job *j, const struct part *p, unsigned int flavour)
{
	const struct metric *x = main_metric(j, p->source, flavour);
	const struct metric *latest = x ? top_latest(j, x) : NULL;
	const char *fl = flavour_name(flavour);
	char id[64];
	struct top_row *r;

	snprintf(id, sizeof(id), "f/%u/%u", p->source, flavour);
	r = top_add(j, TOP_PART, p->source, fl ? fl : "-", id);
	if (!r)
		return;
	r->flavour = (uint8_t)flavour;
	r->indent = true;
	set_main(j, r, x);
	set_lists(j, r, p, 1u << flavour);
	if (!x && !source_counts(j, p) && is_counted(p, 1u << flavour)) {
		r->v[TOP_IN] = p->debt->in;
		r->v[TOP_DONE] = p->debt->out;
	}
	top_remember(j, r, latest ? &latest->hist : NULL);
}

static bool has_several(uint32_t flavours)
{
	return flavours & (flavours - 1);
}

static void put_source(struct top_job *j, const struct part *p)
{
	bool several = has_several(p->flavours) || is_wide_measure(j, p);
	unsigned int only = p->flavours ? (unsigned int)__builtin_ctz(p->flavours) : 0;
	const struct metric *x = several ? NULL : main_metric(j, p->source, only);
	const struct metric *latest = x ? top_latest(j, x) : NULL;
	char id[64], name[128];
	struct top_row *r;

	snprintf(id, sizeof(id), "s/%u", p->source);
	snprintf(name, sizeof(name), "%s%s%s", source_name(p->source),
		 !several && flavour_name(only) ? " " : "",
		 !several && flavour_name(only) ? flavour_name(only) : "");
	r = top_add(j, TOP_SUM, p->source, name, id);
	if (!r)
		return;
	set_main(j, r, x);
	set_lists(j, r, p, p->flavours);
	set_flow(j, r, p);
	if (!x)
		set_sum_done(j, r, p);
	top_remember(j, r, latest ? &latest->hist : NULL);
	if (is_wide_measure(j, p))
		put_measures(j, p);
	else
		for (unsigned int f = 0; several && f < KD_FL_COUNT; f++)
			if (p->flavours >> f & 1)
				put_flavour(j, p, f);
}

/* Asked for, and nothing of it can be had: the first reason; the view of the source has all. */
static void put_off(struct top_job *j, unsigned int source)
{
	const struct model *m = j->m;

	for (size_t i = 0; i < m->nplan; i++) {
		const struct plan_row *row = &m->plan[i];
		char id[64], reason[1024];
		struct top_row *r;

		if (row->source != source || row->state != PLAN_OFF ||
		    !scope_has(&j->t->scope, row->measure, row->flavour))
			continue;
		snprintf(id, sizeof(id), "s/%u", source);
		r = top_add(j, TOP_OFF, source, source_name(source), id);
		if (!r)
			return;
		snprintf(reason, sizeof(reason), "off: ");
		fmt_safe(reason + 5, sizeof(reason) - 5,
			 *row->reason ? row->reason : "no reason was recorded");
		r->note = top_string(j, reason);
		return;
	}
}

void top_add_overview(struct top_job *j)
{
	const struct backlog_query q = top_backlog(j);
	struct backlog_row *totals;
	struct backlog_debt debt;
	size_t n;

	j->err = backlog_totals(j->m, &q, &totals, &n);
	if (j->err)
		return;
	j->err = backlog_debt(j->m, &q, &debt);
	for (unsigned int s = 0; s < KD_SRC_COUNT && !j->err; s++) {
		struct part p = {
			.source = (uint8_t)s,
			.totals = totals,
			.ntotals = n,
			.debt = &debt.by[s],
		};

		if (!scope_has_source(&j->t->scope, s))
			continue;
		find_flavours(j, &p);
		if (p.flavours)
			put_source(j, &p);
		else
			put_off(j, s);
	}
	free(totals);
}
