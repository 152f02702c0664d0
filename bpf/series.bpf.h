/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * series.bpf.h - histograms by key, shared by all CPUs, and how they become records.
 *
 * A series is a slot of an array map; which key has which slot is the source's business. Writers add with atomics and never look at anything else. The tick program holds each
 * slot against a shadow that only it writes, and sends what changed, as running totals.
 *
 * Extremes belong to an interval. Each word carries the interval's number in its upper 12 bits, so
 * that the first event of a new interval beats whatever is there: nobody ever resets a word. Two
 * words by the interval's parity let the reader take the old while the new is filled; what comes
 * late is sent with the next interval.
 */
#ifndef KDEFER_SERIES_BPF_H
#define KDEFER_SERIES_BPF_H

#include "hist.bpf.h"
#include "runs.bpf.h"
#include "sizes.h"

#define TAG_SHIFT 52
#define VALUE_MASK ((1ULL << TAG_SHIFT) - 1) /* 52 days of nanoseconds */

/*
 * Probes of a key that is not at home: more than SLOTS_REST, which are passed over, and not to the
 * next slot, or all whose home is one of those would crowd behind them. Odd, to come by every slot.
 */
#define SERIES_PROBES 16
#define SERIES_STEP 11
#define SERIES_ROOM 512 /* KD_HIST_BUCKETS, rounded up so that a mask bounds the index */
#ifndef SLOTS_MOST
#define SLOTS_MOST 512 /* a power of two; a source with many kinds of series has more */
#endif
#define SLOTS_REST \
	8 /* the first slots have no key: what finds no room, by whatever the source likes */

const volatile __u32 nr_slots = SLOTS_MOST; /* series by key; a power of two */
const volatile __u32 slot_shift = 55;       /* 64 - log2(nr_slots) */
const volatile __u32 more_slots;            /* further series behind them, by number (CPUs) */

struct series_slot {
	__u64 sum;
	struct {
		__u64 max; /* tag | value */
		__u64 min; /* tag | (VALUE_MASK - value): the greatest is the least */
	} extreme[2];      /* by parity of the interval */
	__u64 bucket[SERIES_ROOM];
};

KD_STATIC_ASSERT(sizeof(struct series_slot) == SERIES_SLOT_BYTES);

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct series_slot);
} slots SEC(".maps");

/*
 * A source with a hot path has its keyed slots in one value, which is found without a look-up: user
 * space gives this section a map of nr_slots of them, and `slots` has the further ones.
 */
#ifdef SERIES_DIRECT
__u64 slot_space[1] SEC(".data.slots");

/* `idx` below nr_slots; for nothing else is there room. */
static __always_inline struct series_slot *slot_direct(__u64 idx)
{
	void *space = slot_space;

	barrier_var(space);
	return space + idx * sizeof(struct series_slot);
}

/* NULL: not that of a key. */
static __always_inline struct series_slot *series_slot_keyed(__u32 idx)
{
	__u64 at = idx;

	barrier_var(
		at); /* what is compared is what is multiplied, or the verifier forgets the bound */
	return at < nr_slots ? slot_direct(at) : NULL;
}
#endif

static __always_inline struct series_slot *series_slot(__u32 idx)
{
#ifdef SERIES_DIRECT
	struct series_slot *keyed = series_slot_keyed(idx);

	if (keyed)
		return keyed;
	idx -= nr_slots;
#endif
	return bpf_map_lookup_elem(&slots, &idx);
}

/* Keys of the slots apart from the slots: a probe stays in a line or two of the cache. */
__u64 slot_key[SLOTS_MOST];

/* The interval now filled. Even while a tick is under way it only ever grows by one. */
__u64 epoch;

static __always_inline __u64 tagged(__u64 interval, __u64 value)
{
	return interval << TAG_SHIFT | (value & VALUE_MASK);
}

static __noinline __u32 slot_claim(__u64 key, __u32 at)
{
	__u32 i;

	for (i = 0; i < SERIES_PROBES; i++) {
		__u32 idx = (at + i * SERIES_STEP) & (nr_slots - 1) & (SLOTS_MOST - 1);
		__u64 seen = *(volatile __u64 *)&slot_key[idx];

		if (seen == key)
			return idx;
		if (seen || idx < SLOTS_REST)
			continue;
		seen = __sync_val_compare_and_swap(&slot_key[idx], 0, key);
		if (!seen || seen == key)
			return idx;
	}
	return 0;
}

#define SLOT_HASH 0x9e3779b97f4a7c15ULL

/* Slot of a key, or 0: no room, counted under "other". */
static __always_inline __u32 slot_find(__u64 key)
{
	__u32 at = ((key * SLOT_HASH) >> slot_shift) & (SLOTS_MOST - 1);

	return *(volatile __u64 *)&slot_key[at] == key ? at : slot_claim(key, at);
}

/* Extremes given up after too many tries against other CPUs. */
__u64 extremes_lost;

static __noinline int extreme_contend(__u64 *word, __u64 value)
{
	__u64 seen;
	int i;

	if (!word)
		return 0;
	seen = *(volatile __u64 *)word;
	for (i = 0; i < 16; i++) {
		__u64 was = __sync_val_compare_and_swap(word, seen, value);

		if (was == seen)
			return 0;
		seen = was;
		if ((__s64)(value - seen) <= 0)
			return 0;
	}
	__sync_fetch_and_add(&extremes_lost, 1);
	return 0;
}

/* Raises word to value where value is greater, tags wrapping. */
static __always_inline void extreme(__u64 *word, __u64 value)
{
	if ((__s64)(value - *(volatile __u64 *)word) > 0)
		extreme_contend(word, value);
}

static __always_inline void series_extremes(struct series_slot *s, __u64 now, __u64 v)
{
	__u64 tag = now << TAG_SHIFT;

	extreme(&s->extreme[now & 1].max, tag | v);
	extreme(&s->extreme[now & 1].min, (tag | VALUE_MASK) - v);
}

/* Whether a value is one; `top` is tag | value. */
static __always_inline bool extreme_is(struct series_slot *s, __u64 now, __u64 top)
{
	return (__s64)(top - *(volatile __u64 *)&s->extreme[now & 1].max) > 0 ||
	       (__s64)((top ^ VALUE_MASK) - *(volatile __u64 *)&s->extreme[now & 1].min) > 0;
}

/* An event of interval `now`, which stands for 2^shift of them. */
static __always_inline void series_add_for(struct series_slot *s, __u64 now, __u64 v, __u32 shift)
{
	__sync_fetch_and_add(&s->bucket[hist_index(v) & (SERIES_ROOM - 1)], 1ULL << shift);
	__sync_fetch_and_add(&s->sum, v << shift);
	series_extremes(s, now, v);
}

static __always_inline void series_add(struct series_slot *s, __u64 now, __u64 v)
{
	series_add_for(s, now, v, 0);
}

#endif
