// SPDX-License-Identifier: GPL-2.0-only
/* flushes.c - from metrics of rstat to rows: see flushes.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "catalog.h"
#include "flushes.h"
#include "plan.h"
#include "view_parts.h"

static bool same_keys(const struct flush_row *row, const struct metric *x, enum key_name by)
{
	char a[VIEW_KEY], b[VIEW_KEY];

	if (by == KEY_NONE)
		return row->subsystem == x->flavour;
	if (!row->keys || !key_has(&x->keys, by))
		return !row->keys && !key_has(&x->keys, by);
	return !strcmp(view_key(a, sizeof(a), row->keys, by), view_key(b, sizeof(b), &x->keys, by));
}

static struct flush_row *row_of(struct flush_rows *all, const struct metric *x)
{
	bool keyed = all->by != KEY_NONE && key_has(&x->keys, all->by);
	struct flush_row *row;

	for (size_t i = 0; i < all->n; i++)
		if (same_keys(&all->row[i], x, all->by))
			return &all->row[i];
	row = &all->row[all->n++];
	*row = (struct flush_row){ .keys = keyed ? &x->keys : NULL, .subsystem = x->flavour };
	return row;
}

static void add_flushes(struct flush_row *row, const struct metric *x)
{
	uint64_t n = hist_count(&x->hist);

	row->flushes += n;
	row->flush_ns += x->hist.sum;
	row->lower |= n && x->bound;
}

static void add_hold(struct flush_row *row, const struct metric *x)
{
	row->hold_ns += x->hist.sum;
	if (!x->bound)
		row->hold = &x->hist;
}

static void add_blame(struct flush_row *row, const struct metric *x)
{
	row->behind_ns += x->hist.sum;
	row->bound |= x->bound != 0;
}

static void count(struct flush_rows *all, const struct metric *x)
{
	struct flush_row *row;

	if (x->source != KD_SRC_RSTAT || x->by != all->by || measure_info(x->measure)->pending)
		return;
	row = row_of(all, x);
	switch (x->measure) {
	case KD_M_RSTAT_FLUSH:
		add_flushes(row, x);
		break;
	case KD_M_RSTAT_WORK:
		row->work_ns += x->hist.sum;
		break;
	case KD_M_RSTAT_HOLD:
		add_hold(row, x);
		break;
	case KD_M_RSTAT_BLAME:
		add_blame(row, x);
		break;
	case KD_M_RSTAT_HELD:
		row->held_ns += x->hist.sum;
		break;
	case KD_M_RSTAT_IRQS:
		row->irqs_ns += x->hist.sum;
		break;
	case KD_M_RSTAT_OFF_CPU:
		row->off_cpu_ns += x->hist.sum;
		break;
	case KD_M_RSTAT_HOLD_BY_8:
		row->hold_by_8 = &x->hist;
		break;
	case KD_M_RSTAT_FLUSH_BY_8:
		row->by_8 += hist_count(&x->hist);
		row->by_8_ns += x->hist.sum;
		break;
	}
}

/*
 * Time that our own programs take between two stamps can make what is behind holds a little more than
 * the waits themselves: then it is the whole.
 */
static void sum_waits(struct flush_rows *all)
{
	uint64_t sum = 0, behind = 0;

	for (size_t i = 0; i < all->nmetrics; i++) {
		const struct metric *x = &all->metrics[i];

		if (x->source == KD_SRC_RSTAT && x->measure == KD_M_RSTAT_WAIT && view_is_total(x))
			sum += x->hist.sum;
	}
	for (size_t i = 0; i < all->n; i++)
		behind += all->row[i].behind_ns;
	all->waited_ns = sum && sum < behind ? behind : sum;
}

static int by_blame(const void *pa, const void *pb)
{
	const struct flush_row *a = pa, *b = pb;

	if (a->behind_ns != b->behind_ns)
		return a->behind_ns < b->behind_ns ? 1 : -1;
	if (a->hold_ns != b->hold_ns)
		return a->hold_ns < b->hold_ns ? 1 : -1;
	return (a->flush_ns < b->flush_ns) - (a->flush_ns > b->flush_ns);
}

int flush_rows_collect(struct flush_rows *all, const struct model *m, const struct scope *sc,
		       const struct filter *filters, size_t nfilters, enum key_name by)
{
	const struct query q = {
		.interval = sc->interval,
		.one_run = sc->one_run,
		.by = by == KEY_NONE ? 0 : 1u << by,
		.filters = filters,
		.nfilters = nfilters,
		.hidden = sc->hidden,
	};
	int err;

	*all = (struct flush_rows){ .by = by };
	err = model_metrics(m, &q, &all->metrics, &all->nmetrics);
	if (err)
		return err;
	all->row = calloc(all->nmetrics + 1, sizeof(*all->row));
	if (!all->row)
		return -ENOMEM;
	for (size_t i = 0; i < all->nmetrics; i++)
		count(all, &all->metrics[i]);
	qsort(all->row, all->n, sizeof(*all->row), by_blame);
	sum_waits(all);
	return 0;
}

void flush_rows_free(struct flush_rows *all)
{
	free(all->metrics);
	free(all->row);
	*all = (struct flush_rows){ 0 };
}

bool flush_gain(const struct flush_rows *all, double *share)
{
	const struct flush_row *row = all->row;

	if (!all->n || !all->waited_ns || !row->keys || row->bound || !row->behind_ns)
		return false;
	*share = (double)row->behind_ns / (double)all->waited_ns;
	if (*share > 1)
		*share = 1;
	return true;
}

static bool is_on(const struct model *m, const struct scope *sc, unsigned int measure)
{
	if (!scope_has(sc, measure, KD_FL_NONE))
		return false;
	for (size_t i = 0; i < m->nplan; i++)
		if (m->plan[i].measure == measure && m->plan[i].state == PLAN_ON)
			return true;
	return false;
}

bool flush_is_blamed(const struct model *m, const struct scope *sc)
{
	return is_on(m, sc, KD_M_RSTAT_BLAME);
}

bool flush_is_split(const struct model *m, const struct scope *sc)
{
	static const unsigned int parts[] = { KD_M_RSTAT_HELD, KD_M_RSTAT_IRQS,
					      KD_M_RSTAT_OFF_CPU };

	if (!is_on(m, sc, KD_M_RSTAT_FLUSH) || !is_on(m, sc, KD_M_RSTAT_WORK))
		return false;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (is_on(m, sc, parts[i]))
			return true;
	return false;
}

/* At the end of an interval a flush may be in one measure, and not yet in the next. */
static uint64_t less(uint64_t from, uint64_t what)
{
	return from > what ? from - what : 0;
}

void flush_split(struct flush_split *s, const struct model *m, const struct scope *sc,
		 const struct flush_row *row)
{
	*s = (struct flush_split){
		.wait_ns = less(row->flush_ns, row->work_ns),
		.held_ns = row->held_ns,
		.irqs_ns = row->irqs_ns,
		.off_cpu_ns = row->off_cpu_ns,
		.knows_held = is_on(m, sc, KD_M_RSTAT_HELD),
		.knows_irqs = is_on(m, sc, KD_M_RSTAT_IRQS),
		.knows_off_cpu = is_on(m, sc, KD_M_RSTAT_OFF_CPU),
	};
	s->rest_ns = less(row->flush_ns, s->wait_ns + s->held_ns + s->irqs_ns + s->off_cpu_ns);
}

/* Of the mean, since at the end of an interval one flush may be in one of them only. */
bool flush_by_8(const struct flush_row *row, double *shorter)
{
	double now, then;

	if (!row->by_8 || row->flushes > row->by_8 + row->by_8 / 10 || !row->flush_ns)
		return false;
	now = (double)row->flush_ns / (double)row->flushes;
	then = (double)row->by_8_ns / (double)row->by_8;
	*shorter = then < now ? 1 - then / now : 0;
	return true;
}
