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

#include "ring.bpf.h"

#define TAG_SHIFT 52
#define VALUE_MASK ((1ULL << TAG_SHIFT) - 1) /* 52 days of nanoseconds */
#define TAG_REFRESH 1024                     /* ticks after which a silent word is brought up to date */

#define SERIES_PROBES 8
#define SERIES_ROOM 512 /* KD_HIST_BUCKETS, rounded up so that a mask bounds the index */

struct series_slot {
	__u64 sum;
	struct {
		__u64 max; /* tag | value */
		__u64 min; /* tag | (VALUE_MASK - value): the greatest is the least */
	} extreme[2];      /* by parity of the interval */
	__u64 bucket[SERIES_ROOM];
};

/* What was sent already; written by the tick program only. */
struct series_shadow {
	__u64 announced;
	__u64 sum;
	__u64 max, min; /* of the last interval sent, in the form of the words above */
	__u64 bucket[SERIES_ROOM];
};

/* The interval now filled. Even while a tick is under way it only ever grows by one. */
__u64 epoch;

#define LOG2_4(n) n, n, n, n
#define LOG2_16(n) LOG2_4(n), LOG2_4(n), LOG2_4(n), LOG2_4(n)
#define LOG2_64(n) LOG2_16(n), LOG2_16(n), LOG2_16(n), LOG2_16(n)

/* floor(log2(i)); [0] is not used */
const volatile __u8 log2_table[256] = {
	0, 0, 1, 1, LOG2_4(2), LOG2_4(3), LOG2_4(3), LOG2_16(4), LOG2_16(5), LOG2_16(5), LOG2_64(6), LOG2_64(7),
	LOG2_64(7),
};

static __always_inline __u64 tagged(__u64 interval, __u64 value)
{
	return interval << TAG_SHIFT | (value & VALUE_MASK);
}

static __noinline __u32 log2_large(__u64 v)
{
	__u32 e = 32;

	v >>= 32;
	if (v >> 16) {
		v >>= 16;
		e += 16;
	}
	if (v >> 8) {
		v >>= 8;
		e += 8;
	}
	return e + log2_table[v & 0xff];
}

/*
 * floor(log2(v)) for v > 0: no instruction for it. Most waits are from 64 us to 4 s: two compares and
 * a look at the table.
 */
static __always_inline __u32 log2_u64(__u64 v)
{
	if (v < 1ULL << 16)
		return v < 1ULL << 8 ? log2_table[v & 0xff] : 8 + log2_table[v >> 8 & 0xff];
	if (v < 1ULL << 24)
		return 16 + log2_table[v >> 16 & 0xff];
	if (v < 1ULL << 32)
		return 24 + log2_table[v >> 24 & 0xff];
	return log2_large(v);
}

static __always_inline __u32 hist_index(__u64 v)
{
	__u32 e;

	if (v < KD_HIST_SUB)
		return v;
	e = log2_u64(v) - KD_HIST_SUB_BITS;
	return (e << KD_HIST_SUB_BITS) + (v >> e);
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

/* An event of interval `now`. */
static __always_inline void series_add(struct series_slot *s, __u64 now, __u64 v)
{
	__u64 tag = now << TAG_SHIFT;

	__sync_fetch_and_add(&s->bucket[hist_index(v) & (SERIES_ROOM - 1)], 1);
	__sync_fetch_and_add(&s->sum, v);
	extreme(&s->extreme[now & 1].max, tag | v);
	extreme(&s->extreme[now & 1].min, (tag | VALUE_MASK) - v);
}

/* --- tick side --- */

struct series_walk {
	__u32 first, n;   /* next slot, slots in the map */
	__u32 id_base;    /* series id = id_base + slot */
	__u64 interval;   /* the one that has just ended */
	__u64 deadline;   /* ns; no new slot is begun after it */
	__u32 stop;       /* ring full, or out of time */
	__u32 full;
};

/* One slot being sent; a bpf_loop() over its groups is verified once, a plain loop 62 times. */
struct series_groups {
	struct series_slot *s;
	struct series_shadow *sh;
	__u32 id;
	__u32 full;
};

static long series_send_group(__u32 group, struct series_groups *g)
{
	__u32 b = (group * KD_HIST_SUB) & (SERIES_ROOM - KD_HIST_SUB);
	__u64 c[KD_HIST_SUB], changed = 0;
	struct kd_rec_hist *r;
	int i;

#pragma unroll
	for (i = 0; i < KD_HIST_SUB; i++) {
		c[i] = *(volatile __u64 *)&g->s->bucket[b + i];
		changed |= c[i] ^ g->sh->bucket[b + i];
	}
	if (!changed)
		return 0;
	r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);
	if (!r) {
		g->full = 1;
		return 1;
	}
	r->rec.kind = KD_REC_HIST;
	r->rec.len = sizeof(*r);
	r->rec.id = g->id;
	r->group = group;
	r->pad = 0;
#pragma unroll
	for (i = 0; i < KD_HIST_SUB; i++) {
		r->count[i] = c[i];
		g->sh->bucket[b + i] = c[i];
	}
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}

/*
 * The extreme of the interval that has ended (word; `before`: that of the other parity); or one of the interval before that came after its
 * record was sent (more extreme than `sent`). 0: none. Words untouched for long are brought near.
 */
static __always_inline __u64 extreme_take(__u64 *word, __u64 *before, __u64 interval, __u64 sent)
{
	__u64 now = *(volatile __u64 *)word;
	__u64 late = *(volatile __u64 *)before;
	__u64 found = 0;

	if (now >> TAG_SHIFT == (interval & 0xfff))
		found = now & VALUE_MASK;
	else if (((interval - (now >> TAG_SHIFT)) & 0xfff) > TAG_REFRESH)
		__sync_val_compare_and_swap(word, now, tagged(interval - 2, 0));
	if (interval && late >> TAG_SHIFT == ((interval - 1) & 0xfff) && (__s64)(late - sent) > 0 &&
	    sent >> TAG_SHIFT == ((interval - 1) & 0xfff) && (late & VALUE_MASK) > found)
		found = late & VALUE_MASK;
	return found;
}

static __always_inline int series_send_stat(__u32 id, __u64 sum, __u64 max, __u64 min)
{
	struct kd_rec_stat *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);

	if (!r)
		return -1;
	r->rec.kind = KD_REC_STAT;
	r->rec.len = sizeof(*r);
	r->rec.id = id;
	r->sum = sum;
	r->min = min ? VALUE_MASK - min : ~0ULL;
	r->max = max;
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}

/* All of a slot that changed. -1: the ring is full, come again. */
static __always_inline int series_send(struct series_walk *w, __u32 id, struct series_slot *s,
				       struct series_shadow *sh)
{
	__u64 sum = *(volatile __u64 *)&s->sum; /* before the buckets: a later change is seen next time */
	__u32 p = w->interval & 1;
	__u64 max = extreme_take(&s->extreme[p].max, &s->extreme[!p].max, w->interval, sh->max);
	__u64 min = extreme_take(&s->extreme[p].min, &s->extreme[!p].min, w->interval, sh->min);
	struct series_groups g = { .s = s, .sh = sh, .id = id };

	if (sum == sh->sum && !max && !min)
		return 0;
	bpf_loop(KD_HIST_GROUPS, series_send_group, &g, 0);
	if (g.full)
		return -1;
	if (series_send_stat(id, sum, max, min))
		return -1;
	sh->sum = sum;
	sh->max = tagged(w->interval, max);
	sh->min = tagged(w->interval, min);
	return 0;
}

#endif
