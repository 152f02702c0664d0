// SPDX-License-Identifier: GPL-2.0-only
/* metrics.c - what views ask of the model: totals, breakdowns by key, filters, "other". */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "catalog.h"
#include "model.h"
#include "plan.h"

/* What bounds a value may be; series of different bounds are never added up. */
static const uint8_t bounds[] = { 0, KD_SERIES_UPPER, KD_SERIES_LOWER };

#define BOUNDS (sizeof(bounds) / sizeof(bounds[0]))

/* One question on its way to the answer. */
struct job {
	const struct model *m;
	const struct query *q;
	unsigned int filtered; /* bits of the keys that filters are on */
	unsigned int dims;     /* bits of enum kd_dim: series that carry all of these keys */
	uint64_t uncounted;    /* measures without such series */
	struct metric *out;
	size_t n;
	/* One breakdown of one measure: */
	enum key_name by;
	uint8_t bound;
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

static bool passes(const struct filter *f, const struct series *s)
{
	unsigned int keys = f->also | KEY_BIT(f->key);
	const char *value;
	char buf[24];

	for (; keys; keys &= keys - 1) {
		value = key_value(s, (enum key_name)__builtin_ctz(keys), buf, sizeof(buf));
		if (value && !fnmatch(f->glob, value, 0))
			return true;
	}
	return false;
}

static bool passes_filters(const struct job *j, const struct series *s)
{
	size_t i;

	for (i = 0; i < j->q->nfilters; i++)
		if (!passes(&j->q->filters[i], s))
			return false;
	return true;
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

/* For totals of groups that have no series (yet), so that a filter has nothing else to go by. */
static bool group_passes(const struct job *j, unsigned int measure, uint8_t flavour)
{
	const char *name = flavour_name(flavour);
	enum key_name group = key_group(measure);
	size_t i;

	for (i = 0; i < j->q->nfilters; i++)
		if (j->q->filters[i].key == group &&
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

static void set_group(struct metric *x, uint8_t flavour)
{
	enum key_name group = key_group(x->measure);

	x->flavour = flavour;
	if (group == KEY_NONE || !flavour_name(flavour))
		return;
	x->keys.v[group].text = flavour_name(flavour);
	x->keys.has |= KEY_BIT(group);
}

/* The caller made room. */
static struct metric *add_metric(struct job *j, uint8_t source, uint8_t measure)
{
	struct metric *x = &j->out[j->n++];

	memset(x, 0, sizeof(*x));
	x->source = source;
	x->measure = measure;
	x->by = KEY_NONE;
	hist_init(&x->hist);
	return x;
}

static void merge_series(const struct job *j, struct metric *x, const struct series *s)
{
	const struct hist *h = window(j, s);

	if (h)
		hist_merge(&x->hist, h);
}

/* --- totals: one per measure, flavour and bound --- */

static struct metric *find_total(struct job *j, uint8_t source, uint8_t measure, uint8_t flavour,
				 uint8_t bound)
{
	size_t i;

	for (i = 0; i < j->n; i++)
		if (j->out[i].source == source && j->out[i].measure == measure &&
		    j->out[i].flavour == flavour && j->out[i].bound == bound)
			return &j->out[i];
	return NULL;
}

static void add_total(struct job *j, uint8_t source, uint8_t measure, uint8_t flavour,
		      uint8_t bound)
{
	struct metric *x;

	if (is_hidden(j, measure, flavour) || j->uncounted >> measure & 1 ||
	    !measure_cut(j, measure) || !group_passes(j, measure, flavour) ||
	    find_total(j, source, measure, flavour, bound))
		return;
	x = add_metric(j, source, measure);
	x->bound = bound;
	set_group(x, flavour);
}

/* A row without a flavour speaks of all; what it gives may be bounds only. */
static bool has_group(const struct model *m, const struct plan_row *row)
{
	size_t i;

	for (i = 0; i < m->ngroups; i++)
		if (m->groups[i].source == row->source && m->groups[i].measure == row->measure &&
		    (row->flavour == KD_FL_NONE || m->groups[i].flavour == row->flavour))
			return true;
	return false;
}

static int by_group(const void *pa, const void *pb)
{
	const struct metric *a = pa, *b = pb;

	if (a->source != b->source)
		return a->source - b->source;
	if (a->measure != b->measure)
		return a->measure - b->measure;
	if (a->flavour != b->flavour)
		return a->flavour - b->flavour;
	return a->bound - b->bound;
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
	struct metric *x = find_total(j, g->source, g->measure, g->flavour, g->bound);

	/* Worst samples know nothing of most keys, so that they cannot be filtered by them. */
	if (x && !(j->filtered & ~KEY_GROUPS))
		x->worst = worst_of(j, g);
}

/* By which kind of series totals are summed: the main ones, unless a filter needs another. */
static unsigned int total_dim(const struct job *j)
{
	return (unsigned int)__builtin_ctz(j->dims);
}

_Static_assert(KD_DIM_MAIN == 0, "the lowest bit of a set of dims is MAIN, if it is in it");

/*
 * Measures (bits) whose events were counted, but not by the kind of series that a filter needs: of
 * these nothing can be said, and that is not "nothing".
 */
static uint64_t not_counted_by(const struct model *m, unsigned int dim)
{
	uint64_t main = 0, such = 0;
	size_t i;

	for (i = 0; i < m->nseries; i++) {
		if (m->series[i].declared && m->series[i].dim == KD_DIM_MAIN)
			main |= 1ull << m->series[i].measure;
		if (m->series[i].declared && m->series[i].dim == dim)
			such |= 1ull << m->series[i].measure;
	}
	return main & ~such;
}

_Static_assert(KD_M_COUNT <= 64, "each measure has a bit");

static int add_totals(struct job *j)
{
	const struct model *m = j->m;
	const struct group *g;
	struct metric *x;
	size_t i;

	if (!j->dims || !(m->ngroups + m->nplan))
		return 0;
	if (make_room(j, m->ngroups + m->nplan))
		return -ENOMEM;
	j->uncounted = not_counted_by(m, total_dim(j));
	for (i = 0; i < m->nplan; i++)
		if (m->plan[i].state == PLAN_ON && !measure_info(m->plan[i].measure)->holdup &&
		    !has_group(m, &m->plan[i]))
			add_total(j, m->plan[i].source, m->plan[i].measure, m->plan[i].flavour, 0);
	for (i = 0; i < m->ngroups; i++) {
		g = &m->groups[i];
		add_total(j, g->source, g->measure, g->flavour, g->bound);
	}
	qsort(j->out, j->n, sizeof(*j->out), by_group);
	for (i = 0; i < m->ngroups; i++)
		attach_worst(j, &m->groups[i]);
	for (i = 0; i < m->nseries; i++) {
		const struct series *s = &m->series[i];

		if (!s->declared || s->dim != total_dim(j) || !passes_filters(j, s))
			continue;
		x = find_total(j, s->source, s->measure, s->flavour, series_bound(s));
		if (x)
			merge_series(j, x, s);
	}
	return 0;
}

/* --- breakdowns --- */

/* No key of its own: it belongs to "other". */
static bool is_rest(const struct job *j, const struct series *s)
{
	struct key_value v;

	return !key_get(s, j->by, &v);
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

static bool enters(const struct job *j, const struct series *s, unsigned int dim)
{
	const struct hist *h = window(j, s);

	if (!s->declared || s->dim != dim || series_bound(s) != j->bound || !h)
		return false;
	if (is_hidden(j, s->measure, s->flavour))
		return false;
	/* What is neither true nor false of it is none of either. */
	if (key_info(j->by)->type == KEY_BOOL && is_rest(j, s))
		return false;
	return passes_filters(j, s) && hist_count(h);
}

static void collect(struct job *j, unsigned int source, unsigned int measure)
{
	unsigned int dims = j->dims & key_info(j->by)->dims;
	const struct series *s;
	size_t i;

	j->nlist = 0;
	if (!dims || !measure_cut(j, measure) || !(key_of_measure(measure) >> j->by & 1))
		return;
	for (i = 0; i < j->m->nseries; i++) {
		s = &j->m->series[i];
		if (s->source == source && s->measure == measure &&
		    enters(j, s, (unsigned int)__builtin_ctz(dims)))
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

/* The caller made room. */
static struct metric *add_keyed(struct job *j, const struct series *s)
{
	struct metric *x = add_metric(j, s->source, s->measure);

	x->by = j->by;
	x->bound = j->bound;
	set_group(x, s->flavour);
	return x;
}

static void add_row(struct job *j, const struct row *row)
{
	const struct series *first = j->list[row->first], *s;
	struct metric *x = add_keyed(j, first);
	size_t i;

	key_set(&x->keys, first, j->by);
	if (row->n == 1) { /* as most are: a copy costs a third of a sum */
		x->hist = *window(j, first);
		return;
	}
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
			x->keys.has &= ~KEY_GROUPS;
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
	x = add_keyed(j, j->list[i]);
	x->keys.has |= KEY_BIT(KEY_OTHER);
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
	keep = j->nrows;
	if (j->q->top && j->q->top < keep && key_info(j->by)->type != KEY_BOOL)
		keep = j->q->top;
	if (make_room(j, keep + 1))
		return -ENOMEM;
	for (i = 0; i < keep; i++)
		add_row(j, &j->rows[i]);
	add_other(j, keep);
	return 0;
}

/* By measure, and by source: a stream may hold combinations that the catalog does not know. */
static int add_breakdowns(struct job *j, enum key_name by)
{
	const struct measure_info *info;
	unsigned int source, measure;
	int err = 0;
	size_t i;

	j->by = by;
	for (measure = 0; !err && (info = measure_info(measure)); measure++) {
		if (!((j->q->by ? j->q->by : info->by) & KEY_BIT(by)))
			continue;
		for (source = 0; !err && source < KD_SRC_COUNT; source++)
			for (i = 0; !err && i < BOUNDS; i++) {
				j->bound = bounds[i];
				err = add_breakdown(j, source, measure);
			}
	}
	return err;
}

int model_metrics(const struct model *m, const struct query *q, struct metric **out, size_t *n)
{
	struct job j = { .m = m, .q = q };
	unsigned int by;
	size_t i;
	int err;

	for (i = 0; i < q->nfilters; i++)
		j.filtered |= KEY_BIT(q->filters[i].key);
	j.dims = key_dims(j.filtered);
	j.list = calloc(m->nseries + 1, sizeof(*j.list));
	j.rows = calloc(m->nseries + 1, sizeof(*j.rows));
	err = j.list && j.rows ? add_totals(&j) : -ENOMEM;
	for (by = 0; !err && by < KEY_OTHER; by++)
		if (!(KEY_GROUPS >> by & 1)) /* that is what totals are */
			err = add_breakdowns(&j, (enum key_name)by);
	free(j.list);
	free(j.rows);
	if (err) {
		free(j.out);
		return err;
	}
	for (i = 0; i < j.n; i++) {
		hist_mend(&j.out[i].hist);
		if (model_scales(m, j.out[i].measure, j.out[i].flavour))
			j.out[i].hist.each = model_sampling(m, q->interval, q->one_run);
	}
	*out = j.out;
	*n = j.n;
	return 0;
}
