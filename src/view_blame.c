// SPDX-License-Identifier: GPL-2.0-only
/*
 * view_blame.c - whose flushes of cgroup statistics the others wait for. One row a flusher, one a
 * cgroup, of several measures; and what would be gained if the first of the flushers stopped.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "catalog.h"
#include "format.h"
#include "text.h"
#include "view_blame.h"
#include "view_parts.h"

#define ROWS_MOST 10

/* Sums over subsystems and bounds: a flush or hold of any kind is time all the same. */
struct blame {
	const struct keys *keys; /* NULL: of the rest */
	uint64_t flushes, flush_ns, hold_ns, behind_ns;
	bool bound; /* behind_ns is one */
};

struct blames {
	struct metric *metrics;
	size_t nmetrics;
	struct blame *row;
	size_t n;
	enum key_name by;
};

static bool same_keys(const struct blame *b, const struct metric *x, enum key_name by)
{
	char a[VIEW_KEY], c[VIEW_KEY];

	if (!b->keys || !key_has(&x->keys, by))
		return !b->keys && !key_has(&x->keys, by);
	return !strcmp(view_key(a, sizeof(a), b->keys, by), view_key(c, sizeof(c), &x->keys, by));
}

static struct blame *row_of(struct blames *all, const struct metric *x)
{
	struct blame *b;

	for (size_t i = 0; i < all->n; i++)
		if (same_keys(&all->row[i], x, all->by))
			return &all->row[i];
	b = &all->row[all->n++];
	*b = (struct blame){ .keys = key_has(&x->keys, all->by) ? &x->keys : NULL };
	return b;
}

static void count(struct blames *all, const struct metric *x)
{
	struct blame *b;

	if (x->source != KD_SRC_RSTAT || x->by != all->by)
		return;
	b = row_of(all, x);
	if (x->measure == KD_M_RSTAT_FLUSH) {
		b->flushes += hist_count(&x->hist);
		b->flush_ns += x->hist.sum;
	} else if (x->measure == KD_M_RSTAT_HOLD) {
		b->hold_ns += x->hist.sum;
	} else if (x->measure == KD_M_RSTAT_BLAME) {
		b->behind_ns += x->hist.sum;
		b->bound |= x->bound != 0;
	}
}

static int by_blame(const void *pa, const void *pb)
{
	const struct blame *a = pa, *b = pb;

	if (a->behind_ns != b->behind_ns)
		return a->behind_ns < b->behind_ns ? 1 : -1;
	return (a->hold_ns < b->hold_ns) - (a->hold_ns > b->hold_ns);
}

static int collect(struct blames *all, const struct view_hist *v, enum key_name by)
{
	const struct query q = {
		.interval = v->scope->interval,
		.by = 1u << by,
		.filters = v->filters,
		.nfilters = v->nfilters,
	};
	int err = model_metrics(v->model, &q, &all->metrics, &all->nmetrics);

	if (err)
		return err;
	all->by = by;
	all->row = calloc(all->nmetrics + 1, sizeof(*all->row));
	if (!all->row)
		return -ENOMEM;
	for (size_t i = 0; i < all->nmetrics; i++)
		count(all, &all->metrics[i]);
	qsort(all->row, all->n, sizeof(*all->row), by_blame);
	return 0;
}

static void forget(struct blames *all)
{
	free(all->metrics);
	free(all->row);
}

static char *name_of(char *buf, size_t size, const struct blame *b, enum key_name by)
{
	if (b->keys)
		return view_key(buf, size, b->keys, by);
	snprintf(buf, size, "other");
	return buf;
}

/* What was not measured is not nothing. */
static void known_count(char buf[FMT_LEN], uint64_t n)
{
	if (n)
		fmt_count(buf, FMT_LEN, n);
	else
		snprintf(buf, FMT_LEN, "-");
}

static void known_ns(char buf[FMT_LEN], uint64_t ns)
{
	if (ns)
		fmt_ns(buf, FMT_LEN, ns);
	else
		snprintf(buf, FMT_LEN, "-");
}

static int put_table(FILE *out, const struct view_hist *v, const struct blames *all)
{
	struct table_column heads[] = {
		{ all->by == KEY_FLUSHER ? "BEHIND WHOM (FLUSHER)" : "BEHIND WHAT (CGROUP)", false,
		  0 },
		{ "FLUSHES", true, 2 },
		{ "IN FLUSH", true, 3 },
		{ "HOLDING", true, 1 },
		{ "OTHERS WAITED", true, 0 },
	};
	struct table t;
	int err = 0;

	table_init(&t, heads, sizeof(heads) / sizeof(heads[0]));
	for (size_t i = 0; i < all->n && i < ROWS_MOST && !err; i++) {
		const struct blame *b = &all->row[i];
		char key[VIEW_KEY], n[FMT_LEN], flush[FMT_LEN], hold[FMT_LEN], behind[FMT_LEN];
		const char *const cells[] = { key, n, flush, hold, behind };

		if (!b->behind_ns)
			break;
		name_of(key, sizeof(key), b, all->by);
		known_count(n, b->flushes);
		known_ns(flush, b->flush_ns);
		known_ns(hold, b->hold_ns);
		known_ns(behind, b->behind_ns);
		err = table_add(&t, cells);
	}
	if (!err) {
		fputc('\n', out);
		table_print(&t, out, v->width);
	}
	table_free(&t);
	return err;
}

/*
 * All waits for the locks that are seen. Time that our own programs take between two stamps can make
 * what is behind holds a little more than the waits themselves: then it is the whole.
 */
static uint64_t waited(const struct blames *all)
{
	uint64_t sum = 0, behind = 0;

	for (size_t i = 0; i < all->nmetrics; i++)
		if (all->metrics[i].measure == KD_M_RSTAT_WAIT &&
		    all->metrics[i].source == KD_SRC_RSTAT && view_is_total(&all->metrics[i]))
			sum += all->metrics[i].hist.sum;
	for (size_t i = 0; i < all->n; i++)
		behind += all->row[i].behind_ns;
	return sum && sum < behind ? behind : sum;
}

/* What it waited itself would vanish too, in part behind others: at least what was behind it. */
static void put_gain(FILE *out, const struct view_hist *v, const struct blames *all)
{
	char key[VIEW_KEY], behind[FMT_LEN], total[FMT_LEN], text[VIEW_KEY + 256];
	const struct blame *b = &all->row[0];
	uint64_t sum = waited(all);

	/* Of a part of those who wait nothing follows for all. */
	if (!sum || !b->keys || b->bound || v->nfilters)
		return;
	snprintf(
		text, sizeof(text),
		"If %s stopped, at least %.1f%% of all waiting for the lock would vanish: %s of %s "
		"were behind its holds.",
		name_of(key, sizeof(key), b, all->by),
		b->behind_ns < sum ? 100.0 * (double)b->behind_ns / (double)sum : 100.0,
		fmt_ns(behind, sizeof(behind), b->behind_ns), fmt_ns(total, sizeof(total), sum));
	fputc('\n', out);
	text_wrap(out, text, 0, 2, v->width);
}

static int put_by(FILE *out, const struct view_hist *v, enum key_name by)
{
	struct blames all = { .n = 0 };
	int err = collect(&all, v, by);

	if (!err && all.n && all.row[0].behind_ns) {
		err = put_table(out, v, &all);
		if (!err && by == KEY_FLUSHER)
			put_gain(out, v, &all);
	}
	forget(&all);
	return err;
}

int view_blame(FILE *out, const struct view_hist *v)
{
	int err;

	if (!scope_has_measure(v->scope, KD_M_RSTAT_BLAME))
		return 0;
	err = put_by(out, v, KEY_CGROUP);
	return err ? err : put_by(out, v, KEY_FLUSHER);
}
