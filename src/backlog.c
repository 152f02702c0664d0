// SPDX-License-Identifier: GPL-2.0-only
/* backlog.c - which lists are longest, folded and filtered: rows of the model's tree of lists. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backlog.h"
#include "backlog_parts.h"
#include "catalog.h"

/* --- what is in scope --- */

bool backlog_in_scope(const struct scope *sc, const struct level_key *k)
{
	return scope_has(sc, pending_measure(k->source)->id, k->flavour);
}

static bool goes_by_cpu(const struct backlog_query *q)
{
	for (size_t i = 0; i < q->nfilters; i++)
		if (q->filters[i].key == BACKLOG_CPU)
			return true;
	return q->per_cpu;
}

/* --- from nodes to rows --- */

/*
 * Of each list that has the flags `with` the age of its oldest entry now, and of each sum that of its
 * parts. NULL: no memory.
 */
static uint64_t *ages_of(const struct model *m, uint32_t with)
{
	const struct pending *p = &m->pending;
	uint64_t *age = calloc(p->table.n + 1, sizeof(*age)); /* 0: not known */

	for (size_t i = 0; age && i < p->table.n; i++) {
		const struct pending_node *n = &p->node[i];
		uint64_t now;

		if (p->table.keys[i].kind != PENDING_LIST || n->age_ns == KD_UNKNOWN ||
		    !n->length || (n->flags & with) != with)
			continue;
		now = n->age_ns + (m->to_ns - n->age_at_ns);
		for (size_t at = i + 1; at; at = p->node[at - 1].parent)
			if (age[at - 1] < now)
				age[at - 1] = now;
	}
	return age;
}

static double mean_of(unsigned __int128 area, uint64_t ns)
{
	return ns ? (double)area / (double)ns : -1;
}

/* The window: an interval, a run of the command, or all since the baseline. */
static void set_window(struct backlog_row *r, const struct model *m, const struct scope *sc,
		       const struct pending_node *n)
{
	uint64_t ns = scope_length_ns(m, sc);
	struct pending_span span;

	if (sc->interval) {
		bool changed = n->changed == m->ticks;

		r->then = changed ? n->prev : n->length;
		r->then_bytes = changed ? n->prev_bytes : n->bytes;
		r->peak = n->length;
		r->peak_bytes = n->bytes;
		r->mean = (double)n->length;
		r->mean_bytes = (double)n->bytes;
		return;
	}
	if (sc->one_run)
		pending_run_span(m, n, &span);
	else
		pending_whole_span(m, n, &span);
	r->then = span.begin;
	r->then_bytes = span.begin_bytes;
	r->peak = span.peak;
	r->peak_bytes = span.peak_bytes;
	r->mean = mean_of(span.area, ns);
	r->mean_bytes = mean_of(span.area_bytes, ns);
}

static void make_row(struct backlog_row *r, const struct model *m, const struct scope *sc,
		     size_t at, uint64_t age)
{
	const struct level_key *k = &m->pending.table.keys[at];
	const struct pending_node *n = &m->pending.node[at];

	*r = (struct backlog_row){
		.source = k->source,
		.flavour = k->flavour,
		.list = k->list,
		.cpu = k->cpu,
		.unit_size = k->unit_size,
		.key = k->key,
		.length = n->length,
		.bytes = n->bytes,
		.unsized = n->unsized,
		.age_ns = age ? age : KD_UNKNOWN,
		.exact = !n->inexact,
		.truncated = n->truncated,
		.stranded = n->stranded,
		.stranded_bytes = n->stranded_bytes,
	};
	set_window(r, m, sc, n);
}

static void add_row(struct backlog_row *sum, const struct backlog_row *r)
{
	sum->length += r->length;
	sum->bytes += r->bytes;
	sum->unsized += r->unsized;
	sum->stranded += r->stranded;
	sum->stranded_bytes += r->stranded_bytes;
	if (sum->stranded_ns < r->stranded_ns)
		sum->stranded_ns = r->stranded_ns;
	sum->then += r->then;
	sum->then_bytes += r->then_bytes;
	sum->exact &= r->exact;
	sum->truncated |= r->truncated;
	sum->folded += r->folded ? r->folded : 1;
	if (r->age_ns != KD_UNKNOWN && (sum->age_ns == KD_UNKNOWN || sum->age_ns < r->age_ns))
		sum->age_ns = r->age_ns;
	sum->peak = sum->peak_bytes = KD_UNKNOWN;
	sum->mean = sum->mean_bytes = -1;
}

/* Of lists without keys there are few, and that one is empty is worth knowing. */
static bool is_worth_a_row(const struct backlog_row *r, unsigned int kind)
{
	/* That there is such a list is said of it as a whole: for each CPU it tells nothing. */
	bool whole = kind == PENDING_LIST && r->source == KD_SRC_CALL_RCU;
	bool keyed = whole || r->key || r->unit_size || r->cpu != KD_CPU_NONE;

	return !keyed || r->length || r->then;
}

/* All rows of a kind that the question is about, in no order. */
static int collect(const struct model *m, const struct backlog_query *q, unsigned int kind,
		   struct backlog_row **out, size_t *n)
{
	const struct pending *p = &m->pending;
	struct backlog_row *rows = calloc(p->table.n + 1, sizeof(*rows));
	uint64_t *age = ages_of(m, 0), *stranded = ages_of(m, KD_PENDING_STRANDED);

	*out = rows;
	*n = 0;
	if (!rows || !age || !stranded) {
		free(rows);
		free(age);
		free(stranded);
		*out = NULL;
		return -ENOMEM;
	}
	for (size_t i = 0; i < p->table.n; i++) {
		const struct level_key *k = &p->table.keys[i];

		if (k->kind != kind || !backlog_in_scope(&q->scope, k))
			continue;
		make_row(&rows[*n], m, &q->scope, i, age[i]);
		rows[*n].stranded_ns = stranded[i];
		*n += is_worth_a_row(&rows[*n], kind) && backlog_matches(m, q, &rows[*n]);
	}
	free(age);
	free(stranded);
	return 0;
}

/* --- order and folding --- */

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* Within a source the largest first; what is equal stands in the order of its keys. */
static int by_size(const void *a, const void *b)
{
	const struct backlog_row *x = a, *y = b;
	int c = compare(x->source, y->source);

	if (!c)
		c = compare(y->bytes, x->bytes);
	if (!c)
		c = compare(y->length, x->length);
	if (!c)
		c = compare(x->flavour, y->flavour);
	if (!c)
		c = compare(x->list, y->list);
	if (!c)
		c = compare(x->key, y->key);
	if (!c)
		c = compare(x->unit_size, y->unit_size);
	return c ? c : compare(x->cpu, y->cpu);
}

static int by_list(const void *a, const void *b)
{
	const struct backlog_row *x = a, *y = b;
	int c = compare(x->source, y->source);

	if (!c)
		c = compare(x->flavour, y->flavour);
	return c ? c : compare(x->list, y->list);
}

/* The row of rows[from..n) that stands for the rest of this one's list, a new one at the end if need be. */
static struct backlog_row *rest_of(struct backlog_row *rows, size_t from, size_t *n,
				   const struct backlog_row *r)
{
	for (size_t i = from; i < *n; i++)
		if (!by_list(&rows[i], r))
			return &rows[i];
	rows[*n] = (struct backlog_row){
		.source = r->source,
		.flavour = r->flavour,
		.list = r->list,
		.cpu = KD_CPU_NONE,
		.other = true,
		.age_ns = KD_UNKNOWN,
		.exact = true,
	};
	return &rows[(*n)++];
}

/* Rows of one source, sorted: what is beyond the first `top` with keys is folded by list, in place. */
static size_t fold_source(const struct backlog_row *rows, size_t n, size_t top,
			  struct backlog_row *to)
{
	size_t kept = 0, keyed = 0, from = 0, all;

	for (size_t i = 0; i < n; i++)
		from += !rows[i].key && !rows[i].unit_size && rows[i].cpu == KD_CPU_NONE;
	from += n - from < top ? n - from : top;
	all = from;
	for (size_t i = 0; i < n; i++) {
		const struct backlog_row r = rows[i];
		bool has_key = r.key || r.unit_size || r.cpu != KD_CPU_NONE;

		if (!has_key || keyed++ < top)
			to[kept++] = r;
		else
			add_row(rest_of(to, from, &all, &r), &r);
	}
	return all;
}

static int fold(struct backlog_row **rows, size_t *n, size_t top)
{
	struct backlog_row *to = calloc(*n + 1, sizeof(*to));
	size_t filled = 0, end;

	if (!to)
		return -ENOMEM;
	for (size_t i = 0; i < *n; i = end) {
		for (end = i; end < *n && (*rows)[end].source == (*rows)[i].source; end++)
			;
		filled += fold_source(&(*rows)[i], end - i, top, &to[filled]);
	}
	free(*rows);
	*rows = to;
	*n = filled;
	return 0;
}

/* That a list is there and empty, where it has keys that are not: it would look like their sum. */
static bool is_hollow(const struct backlog_row *rows, size_t n, const struct backlog_row *r)
{
	if (r->key || r->unit_size || r->cpu != KD_CPU_NONE || r->length || r->then)
		return false;
	for (size_t i = 0; i < n; i++)
		if (rows[i].key && !by_list(&rows[i], r))
			return true;
	return false;
}

static size_t drop_hollow(struct backlog_row *rows, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (!is_hollow(rows, n, &rows[i]))
			rows[kept++] = rows[i];
	return kept;
}

int backlog_rows(const struct model *m, const struct backlog_query *q, struct backlog_row **out,
		 size_t *n)
{
	int err = collect(m, q, goes_by_cpu(q) ? PENDING_LIST : PENDING_KEY, out, n);

	if (err)
		return err;
	qsort(*out, *n, sizeof(**out), by_size);
	*n = drop_hollow(*out, *n);
	err = q->top ? fold(out, n, q->top) : 0;
	if (err) {
		free(*out);
		*out = NULL;
	}
	return err;
}

/* With filters only what matches enters: then of rows, whose peak and mean are not kept. */
static int filtered_totals(const struct model *m, const struct backlog_query *q,
			   struct backlog_row **out, size_t *n)
{
	struct backlog_query all = *q;
	struct backlog_row *rows, *to;
	size_t nrows;
	int err;

	all.top = 0;
	err = backlog_rows(m, &all, &rows, &nrows);
	to = err ? NULL : calloc(nrows + 1, sizeof(*to));
	*n = 0;
	for (size_t i = 0; to && i < nrows; i++) {
		struct backlog_row *sum = rest_of(to, 0, n, &rows[i]);

		add_row(sum, &rows[i]);
		sum->other = false;
	}
	if (!err)
		free(rows);
	*out = to;
	return to ? 0 : -ENOMEM;
}

int backlog_totals(const struct model *m, const struct backlog_query *q, struct backlog_row **out,
		   size_t *n)
{
	int err =
		q->nfilters ? filtered_totals(m, q, out, n) : collect(m, q, PENDING_TOTAL, out, n);

	if (!err)
		qsort(*out, *n, sizeof(**out), by_list);
	return err;
}

/* What tells lists apart, but for the flavour, grace periods do not have. */
const struct pending_gp *backlog_gp(const struct model *m, const struct backlog_query *q,
				    unsigned int flavour)
{
	const struct backlog_row r = { .source = KD_SRC_RCU_GP,
				       .flavour = (uint8_t)flavour,
				       .list = KD_LIST_COUNT,
				       .cpu = KD_CPU_NONE };
	const struct pending_gp *g = &m->pending.gp[flavour];

	if (!g->known || !scope_has(&q->scope, KD_M_RCU_GP_PENDING, flavour))
		return NULL;
	return backlog_matches(m, q, &r) ? g : NULL;
}
