// SPDX-License-Identifier: GPL-2.0-only
/* metrics.c - what views ask of the model: totals, breakdowns by key, filters, "other". */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "catalog.h"
#include "keys.h"
#include "plan.h"

#define BIT(key) (1u << (key))

/* Breakdowns in the order in which they are put out. */
static const enum key_name breakdowns[] = { KEY_FUNC, KEY_CALLER, KEY_MODULE, KEY_CPU, KEY_LAZY };

/* One question on its way to the answer. */
struct job {
	const struct model *m;
	const struct query *q;
	unsigned int filtered; /* bits of the keys that filters are on */
	struct metric *out;
	size_t n;
	/* One breakdown of one measure: */
	enum key_name by;
	const struct series **list; /* series by key, those that stand for the rest last */
	size_t nlist;
	struct row *rows;
	size_t nrows;
};

/* A run of series in job.list that share their key. */
struct row {
	size_t first, n;
	uint64_t count;
};

/* --- series and their keys --- */

static const struct hist *window(const struct job *j, const struct series *s)
{
	if (j->q->one_run)
		return model_run_hist(j->m, s);
	if (!s->hists)
		return NULL;
	return j->q->interval ? &s->hists->interval : &s->hists->run;
}

static bool passes_filters(const struct job *j, const struct series *s)
{
	const char *value;
	char buf[16];
	size_t i;

	for (i = 0; i < j->q->nfilters; i++) {
		value = key_value(s, j->q->filters[i].key, buf, sizeof(buf));
		if (!value || fnmatch(j->q->filters[i].glob, value, 0))
			return false;
	}
	return true;
}

/* Whether series of this kind have all the keys that filters are on. None has CPU and function. */
static bool filters_cut(const struct job *j, enum kd_dim dim)
{
	unsigned int keys = j->filtered & ~BIT(KEY_FLAVOUR);

	return dim == KD_DIM_CPU ? !(keys & ~BIT(KEY_CPU)) : !(keys & BIT(KEY_CPU));
}

static bool is_hidden(const struct job *j, unsigned int measure, unsigned int flavour)
{
	return j->q->hidden && measure < KD_M_COUNT && flavour < 32 &&
	       (j->q->hidden[measure] >> flavour & 1);
}

/* What a filter cannot cut has no part in the answer. */
static bool measure_cut(const struct job *j, unsigned int measure)
{
	return !(j->filtered & ~key_of_measure(measure));
}

/* For totals of flavours that have no series (yet), so that a filter has nothing else to go by. */
static bool flavour_passes(const struct job *j, uint8_t flavour)
{
	const char *name = flavour_name(flavour);
	size_t i;

	for (i = 0; i < j->q->nfilters; i++)
		if (j->q->filters[i].key == KEY_FLAVOUR &&
		    (!name || fnmatch(j->q->filters[i].glob, name, 0)))
			return false;
	return true;
}

/* --- metrics --- */

static int make_room(struct job *j, size_t more)
{
	struct metric *out = reallocarray(j->out, j->n + more, sizeof(*out));

	if (!out)
		return -ENOMEM;
	j->out = out;
	return 0;
}

static void set_flavour(struct metric *x, uint8_t flavour)
{
	x->flavour = flavour;
	x->keys.flavour = flavour_name(flavour);
	if (x->keys.flavour)
		x->keys.has |= BIT(KEY_FLAVOUR);
}

/* The caller made room. */
static struct metric *add_metric(struct job *j, uint8_t source, uint8_t measure)
{
	struct metric *x = &j->out[j->n++];

	memset(x, 0, sizeof(*x));
	x->source = source;
	x->measure = measure;
	hist_init(&x->hist);
	return x;
}

static void merge_series(const struct job *j, struct metric *x, const struct series *s)
{
	const struct hist *h = window(j, s);

	if (h)
		hist_merge(&x->hist, h);
}

/* --- totals: one per measure and flavour --- */

static struct metric *find_total(struct job *j, uint8_t source, uint8_t measure, uint8_t flavour)
{
	size_t i;

	for (i = 0; i < j->n; i++)
		if (j->out[i].source == source && j->out[i].measure == measure &&
		    j->out[i].flavour == flavour)
			return &j->out[i];
	return NULL;
}

static void add_total(struct job *j, uint8_t source, uint8_t measure, uint8_t flavour)
{
	if (!is_hidden(j, measure, flavour) && measure_cut(j, measure) &&
	    flavour_passes(j, flavour) && !find_total(j, source, measure, flavour))
		set_flavour(add_metric(j, source, measure), flavour);
}

static int by_flavour(const void *pa, const void *pb)
{
	const struct metric *a = pa, *b = pb;

	if (a->source != b->source)
		return a->source - b->source;
	if (a->measure != b->measure)
		return a->measure - b->measure;
	return a->flavour - b->flavour;
}

static const struct worst_list *worst_of(const struct job *j, const struct group *g)
{
	static const struct worst_list none;

	if (j->q->one_run)
		return g->one_run_of == j->m->nruns ? &g->one_run : &none;
	return j->q->interval ? &g->interval : &g->run;
}

static void attach_worst(struct job *j, const struct group *g)
{
	struct metric *x = find_total(j, g->source, g->measure, g->flavour);

	/* Worst samples know nothing of most keys, so that they cannot be filtered by them. */
	if (x && !(j->filtered & ~BIT(KEY_FLAVOUR)))
		x->worst = worst_of(j, g);
}

static int add_totals(struct job *j)
{
	enum kd_dim dim = filters_cut(j, KD_DIM_MAIN) ? KD_DIM_MAIN : KD_DIM_CPU;
	const struct model *m = j->m;
	struct metric *x;
	size_t i;

	if (!filters_cut(j, dim) || !(m->ngroups + m->nplan))
		return 0;
	if (make_room(j, m->ngroups + m->nplan))
		return -ENOMEM;
	for (i = 0; i < m->nplan; i++)
		if (m->plan[i].state == PLAN_ON)
			add_total(j, m->plan[i].source, m->plan[i].measure, m->plan[i].flavour);
	for (i = 0; i < m->ngroups; i++)
		add_total(j, m->groups[i].source, m->groups[i].measure, m->groups[i].flavour);
	qsort(j->out, j->n, sizeof(*j->out), by_flavour);
	for (i = 0; i < m->ngroups; i++)
		attach_worst(j, &m->groups[i]);
	for (i = 0; i < m->nseries; i++) {
		const struct series *s = &m->series[i];

		if (!s->declared || s->dim != dim || !passes_filters(j, s))
			continue;
		x = find_total(j, s->source, s->measure, s->flavour);
		if (x)
			merge_series(j, x, s);
	}
	return 0;
}

/* --- breakdowns --- */

/* No key of its own: it belongs to "other". It does have a laziness, though. */
static bool is_rest(const struct job *j, const struct series *s)
{
	return (s->flags & KD_SERIES_OTHER) && j->by != KEY_LAZY;
}

static bool same_row(const struct job *j, const struct series *a, const struct series *b)
{
	return a->flavour == b->flavour && !key_compare(a, b, j->by);
}

static int by_key(const void *pa, const void *pb, void *ctx)
{
	const struct series *a = *(const struct series *const *)pa;
	const struct series *b = *(const struct series *const *)pb;
	const struct job *j = ctx;

	if (is_rest(j, a) != is_rest(j, b))
		return is_rest(j, a) - is_rest(j, b);
	if (a->flavour != b->flavour)
		return a->flavour - b->flavour;
	return key_compare(a, b, j->by);
}

static int by_count(const void *pa, const void *pb, void *ctx)
{
	const struct row *a = pa, *b = pb;
	const struct job *j = ctx;
	int cmp;

	if (a->count != b->count)
		return a->count < b->count ? 1 : -1;
	cmp = key_compare(j->list[a->first], j->list[b->first], j->by);
	return cmp ? cmp : j->list[a->first]->flavour - j->list[b->first]->flavour;
}

static bool enters(const struct job *j, const struct series *s, enum kd_dim dim)
{
	if (is_hidden(j, s->measure, s->flavour))
		return false;
	if (!s->declared || !s->hists || s->dim != dim ||
	    !(key_of_measure(s->measure) >> j->by & 1))
		return false;
	if (j->by == KEY_LAZY && !(s->flags & (KD_SERIES_LAZY | KD_SERIES_EAGER)))
		return false;
	return passes_filters(j, s) && window(j, s) && hist_count(window(j, s));
}

static void collect(struct job *j, unsigned int source, unsigned int measure)
{
	enum kd_dim dim = j->by == KEY_CPU ? KD_DIM_CPU : KD_DIM_MAIN;
	const struct series *s;
	size_t i;

	j->nlist = 0;
	if (!filters_cut(j, dim))
		return;
	for (i = 0; i < j->m->nseries; i++) {
		s = &j->m->series[i];
		if (s->source == source && s->measure == measure && enters(j, s, dim))
			j->list[j->nlist++] = s;
	}
	qsort_r(j->list, j->nlist, sizeof(*j->list), by_key, j);
}

/* Leaves out the series of the rest, which follow the last row in the list. */
static void make_rows(struct job *j)
{
	struct row *row = NULL;
	size_t i;

	j->nrows = 0;
	for (i = 0; i < j->nlist && !is_rest(j, j->list[i]); i++) {
		if (!row || !same_row(j, j->list[row->first], j->list[i])) {
			row = &j->rows[j->nrows++];
			*row = (struct row){ .first = i };
		}
		row->n++;
		row->count += hist_count(window(j, j->list[i]));
	}
	qsort_r(j->rows, j->nrows, sizeof(*j->rows), by_count, j);
}

static void set_keys(struct metric *x, const struct series *s, enum key_name by)
{
	set_flavour(x, s->flavour);
	x->keys.has |= BIT(by);
	switch (by) {
	case KEY_LAZY:
		x->keys.lazy = s->flags & KD_SERIES_LAZY;
		break;
	case KEY_CPU:
		x->keys.cpu = (uint32_t)s->key[0];
		break;
	case KEY_MODULE:
		x->keys.module = key_module(s);
		break;
	default:
		if (by == KEY_CALLER)
			x->keys.caller = key_func(s);
		else
			x->keys.func = key_func(s);
		x->keys.address = s->key[0];
		x->keys.module = s->module;
		if (s->module)
			x->keys.has |= BIT(KEY_MODULE);
	}
}

static void add_row(struct job *j, const struct row *row)
{
	const struct series *first = j->list[row->first], *s;
	struct metric *x = add_metric(j, first->source, first->measure);
	size_t i;

	set_keys(x, first, j->by);
	for (i = row->first; i < row->first + row->n; i++) {
		s = j->list[i];
		merge_series(j, x, s);
		if (s->key[0] != first->key[0])
			x->keys.address = 0; /* several functions of one name */
	}
}

/* Folds n series from list[first] on into the metric of the rest. */
static void fold(struct job *j, struct metric *x, size_t first, size_t n)
{
	size_t i;

	for (i = first; i < first + n; i++) {
		merge_series(j, x, j->list[i]);
		if (j->list[i]->flavour != x->flavour) {
			x->flavour = KD_FL_NONE;
			x->keys.flavour = NULL;
			x->keys.has &= ~BIT(KEY_FLAVOUR);
		}
	}
}

/* Rows from `keep` on, and series without a key. Its flavour is said where all share it. */
static void add_other(struct job *j, size_t keep)
{
	size_t i, keyed = 0;
	struct metric *x;

	for (i = 0; i < j->nrows; i++)
		keyed += j->rows[i].n;
	if (keep == j->nrows && keyed == j->nlist)
		return;
	i = keep < j->nrows ? j->rows[keep].first : keyed;
	x = add_metric(j, j->list[i]->source, j->list[i]->measure);
	set_flavour(x, j->list[i]->flavour);
	x->keys.has |= BIT(KEY_OTHER);
	x->keys.others = j->nrows - keep;
	for (i = keep; i < j->nrows; i++)
		fold(j, x, j->rows[i].first, j->rows[i].n);
	fold(j, x, keyed, j->nlist - keyed);
}

static int add_breakdown(struct job *j, unsigned int source, unsigned int measure)
{
	size_t i, keep;

	collect(j, source, measure);
	if (!j->nlist)
		return 0;
	make_rows(j);
	keep = j->q->top && j->by != KEY_LAZY && j->q->top < j->nrows ? j->q->top : j->nrows;
	if (make_room(j, keep + 1))
		return -ENOMEM;
	for (i = 0; i < keep; i++)
		add_row(j, &j->rows[i]);
	add_other(j, keep);
	return 0;
}

/* Bits of the breakdowns wanted of this measure. */
static unsigned int wanted(const struct job *j, const struct measure_info *info)
{
	enum key_name main_key;

	if (j->q->by)
		return j->q->by;
	return BIT(KEY_LAZY) | (key_by_name(info->main_key, &main_key) ? 0 : BIT(main_key));
}

/* By measure, and by source: a stream may hold combinations that the catalog does not know. */
static int add_breakdowns(struct job *j, enum key_name by)
{
	const struct measure_info *info;
	unsigned int source, measure;
	int err = 0;

	j->by = by;
	for (measure = 0; !err && (info = measure_info(measure)); measure++) {
		if (!(wanted(j, info) & BIT(by)))
			continue;
		for (source = 0; !err && source < KD_SRC_COUNT; source++)
			err = add_breakdown(j, source, measure);
	}
	return err;
}

int model_metrics(const struct model *m, const struct query *q, struct metric **out, size_t *n)
{
	struct job j = { .m = m, .q = q };
	size_t i;
	int err;

	for (i = 0; i < q->nfilters; i++)
		j.filtered |= BIT(q->filters[i].key);
	j.list = calloc(m->nseries + 1, sizeof(*j.list));
	j.rows = calloc(m->nseries + 1, sizeof(*j.rows));
	err = j.list && j.rows ? add_totals(&j) : -ENOMEM;
	for (i = 0; !err && i < sizeof(breakdowns) / sizeof(breakdowns[0]); i++)
		err = add_breakdowns(&j, breakdowns[i]);
	free(j.list);
	free(j.rows);
	if (err) {
		free(j.out);
		return err;
	}
	for (i = 0; i < j.n; i++)
		hist_mend(&j.out[i].hist);
	*out = j.out;
	*n = j.n;
	return 0;
}
