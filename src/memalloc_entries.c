// SPDX-License-Identifier: GPL-2.0-only
/* memalloc_entries.c - what a look at the lists found becomes records: one a list, with bytes and age. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "memalloc_look.h"

/*
 * A list as short as this may come back with the very same objects in the same order, after they were
 * in use. It counts as unchanged only if nothing else of its allocator on this CPU has changed either.
 */
#define SHORT_LIST 32
/*
 * Objects that no callback takes further, for as long as this: nobody comes back for them until their
 * map is used again or goes. Looks are a second apart, give or take.
 */
#define STRANDED_NS 900000000ULL

static enum ml_kind kind_of(const struct ml_look *l, const struct ml_entry *e)
{
	return l->layout->list[e->row.list].kind;
}

static uint64_t bytes_of(const struct ml_look *l, const struct ml_entry *e)
{
	uint64_t size = e->row.unit_size;

	if (kind_of(l, e) == ML_NUMBER)
		return KD_UNKNOWN;
	if (e->row.percpu_size)
		size = size * l->cpus->npossible + e->row.percpu_size;
	return e->row.length * size;
}

/* A map can have two allocators, of one size by chance: not two lists for whoever looks. */
static bool is_same_list(const struct ml_entry *a, const struct ml_entry *b)
{
	return a->key == b->key && a->cpu == b->cpu && a->row.list == b->row.list &&
	       a->row.unit_size == b->row.unit_size;
}

static struct ml_entry *find_same(struct ml_look *l, size_t n, const struct ml_entry *e)
{
	for (size_t i = n; i-- && l->entry[i].key == e->key && l->entry[i].cpu == e->cpu;)
		if (is_same_list(&l->entry[i], e))
			return &l->entry[i];
	return NULL;
}

static void add_to(struct ml_entry *e, const struct ml_entry *more)
{
	e->row.length += more->row.length;
	e->row.flags |= more->row.flags & (ML_CUT | ML_QUEUED);
	e->row.head ^= more->row.head;
	e->row.tail ^= more->row.tail;
	e->row.state ^= more->row.state;
	e->exact &= more->exact;
	e->bytes = e->bytes == KD_UNKNOWN ? KD_UNKNOWN : e->bytes + more->bytes;
}

/* Drops what turned out to be empty, and joins what is one list. */
static void merge(struct ml_look *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++) {
		struct ml_entry *e = &l->entry[i], *same;

		if (!e->row.length && e->exact)
			continue;
		e->bytes = bytes_of(l, e);
		same = find_same(l, n, e);
		if (same)
			add_to(same, e);
		else
			l->entry[n++] = *e;
	}
	l->n = n;
}

/* --- ages --- */

static int by_list(const void *a, const void *b)
{
	const struct ml_seen *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->unit_size != y->unit_size)
		return x->unit_size < y->unit_size ? -1 : 1;
	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return x->list < y->list ? -1 : x->list > y->list;
}

static bool is_unchanged(const struct ml_seen *then, const struct ml_seen *now)
{
	return then->exact && now->exact && then->head == now->head &&
	       then->length == now->length && then->queued == now->queued &&
	       (now->length >= SHORT_LIST || then->state == now->state);
}

/* What lies in free_llist is there to be used at once: it waits for nothing, and has no age. */
static bool waits(const struct ml_look *l, const struct ml_entry *e)
{
	return kind_of(l, e) != ML_COUNTED && kind_of(l, e) != ML_NUMBER;
}

static struct ml_seen seen_of(const struct ml_look *l, const struct ml_entry *e)
{
	struct ml_seen s = { .key = e->key,
			     .unit_size = e->row.unit_size,
			     .cpu = e->cpu,
			     .list = e->row.list,
			     .head = e->row.head,
			     .tail = e->row.tail,
			     .length = e->row.length,
			     .bytes = e->bytes,
			     .state = e->row.state,
			     .queued = e->row.flags & ML_QUEUED,
			     .exact = e->exact,
			     .cut = e->row.flags & ML_CUT,
			     .since_ns = l->begun_ns };

	return s;
}

static void age(const struct ml_look *l, struct ml_entry *e, struct ml_seen *now)
{
	const struct ml_seen *then =
		l->nseen ? bsearch(now, l->seen, l->nseen, sizeof(*now), by_list) : NULL;

	if (!then || !is_unchanged(then, now))
		return;
	now->since_ns = then->since_ns;
	e->age_ns = l->begun_ns - then->since_ns;
}

/* Objects leave from the last stage that this kernel has. */
static uint32_t last_list(const struct ml_look *l)
{
	uint32_t last = 0;

	for (uint32_t i = 0; i < l->layout->n; i++)
		if (l->layout->list[i].list == KD_LIST_WAITING_FOR_GP_TTRACE)
			return i;
		else if (l->layout->list[i].list == KD_LIST_WAITING_FOR_GP)
			last = i;
	return last;
}

static int find_ages(struct ml_look *l)
{
	struct ml_seen *seen = calloc(l->n ? l->n : 1, sizeof(*seen));
	size_t n = 0;

	if (!seen)
		return log_err(-ENOMEM, "out of memory while reading lists");
	for (size_t i = 0; i < l->n; i++) {
		struct ml_entry *e = &l->entry[i];

		e->age_ns = KD_UNKNOWN;
		if (!waits(l, e))
			continue;
		seen[n] = seen_of(l, e);
		age(l, e, &seen[n++]);
	}
	qsort(seen, n, sizeof(*seen), by_list);
	if (l->seen)
		memalloc_flow_add(&l->flow, last_list(l), l->seen, l->nseen, seen, n);
	free(l->seen);
	l->seen = seen;
	l->nseen = n;
	return 0;
}

static bool is_stranded(const struct ml_look *l, const struct ml_entry *e)
{
	return l->layout->list[e->row.list].queued && !(e->row.flags & ML_QUEUED) &&
	       e->row.length && e->exact && e->age_ns != KD_UNKNOWN && e->age_ns >= STRANDED_NS;
}

int memalloc_entries_finish(struct ml_look *l)
{
	merge(l);
	return find_ages(l);
}

void memalloc_entries_record(const struct ml_look *l, const struct ml_entry *e,
			     struct kd_rec_pending *r)
{
	*r = (struct kd_rec_pending){
		.rec = { .kind = KD_REC_PENDING, .len = sizeof(*r) },
		.source = KD_SRC_MEMALLOC,
		.flavour = KD_FL_NONE,
		.list = l->layout->list[e->row.list].list,
		.cpu = e->cpu,
		.key = e->key,
		.unit_size = e->row.unit_size,
		.flags = (e->exact ? KD_PENDING_EXACT : 0) |
			 (e->row.flags & ML_CUT ? KD_PENDING_TRUNCATED : 0) |
			 (is_stranded(l, e) ? KD_PENDING_STRANDED : 0),
		.length = e->row.length,
		.bytes = e->bytes,
		.age_ns = e->age_ns,
	};
}
