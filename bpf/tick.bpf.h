/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tick.bpf.h - what changed since the last tick becomes records.
 *
 * Each slot is held against a shadow that only the tick program writes; what differs is sent as
 * running totals. The program stops when the ring is full or its time is up, and says where to go on.
 */
#ifndef KDEFER_TICK_BPF_H
#define KDEFER_TICK_BPF_H

#include "series.bpf.h"

#define TICK_NS 1000000  /* a run is an RCU reader: no longer than this */
#define TAG_REFRESH 1024 /* ticks after which a silent word is brought up to date */

/* What was sent already; written by the tick program only. */
struct series_shadow {
	__u64 announced;
	__u64 sum;
	__u64 max, min; /* of the last interval sent, in the form of the words above */
	__u64 bucket[SERIES_ROOM];
};

KD_STATIC_ASSERT(sizeof(struct series_shadow) == SERIES_SHADOW_BYTES);

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct series_shadow);
} shadows SEC(".maps");

/* Fills in what series `idx` with this key is (source, measure, flavour, dim, flags, key, name). The source's. */
static __always_inline void series_describe(struct kd_rec_series *r, __u32 idx, __u64 key);

struct series_walk {
	__u32 first, n; /* next slot, slots in the map */
	__u32 id_base;  /* series id = id_base + slot */
	__u64 interval; /* the one that has just ended */
	__u64 deadline; /* ns; no new slot is begun after it */
	__u32 stop;     /* ring full, or out of time */
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
	__u64 sum = *(volatile __u64 *)&s
			     ->sum; /* before the buckets: a later change is seen next time */
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

static __always_inline int announce(__u32 id, __u32 idx, struct series_shadow *sh)
{
	struct kd_rec_series *r;

	if (sh->announced)
		return 0;
	r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);
	if (!r)
		return -1;
	__builtin_memset(r, 0, sizeof(*r));
	r->rec.kind = KD_REC_SERIES;
	r->rec.len = sizeof(*r);
	r->rec.id = id;
	series_describe(r, idx, idx < SLOTS_MOST ? slot_key[idx] : 0);
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	sh->announced = 1;
	return 0;
}

/* A source whose names come after their numbers says whether that of a slot has come. */
#ifndef SERIES_KNOWN
#define SERIES_KNOWN(idx) true
#endif

static long tick_slot(__u32 i, struct series_walk *w)
{
	__u32 idx = w->first + i, id = w->id_base + idx;
	struct series_slot *s = series_slot(idx);
	struct series_shadow *sh = bpf_map_lookup_elem(&shadows, &idx);

	if (!s || !sh)
		return 1;
	if (bpf_ktime_get_ns() > w->deadline) {
		w->stop = idx + 1;
		return 1;
	}
	if (!sh->announced && !SERIES_KNOWN(idx))
		return 0; /* it comes with the next tick */
	/* A value of 0 leaves no sum; the word of a least value is never 0. */
	if ((s->sum || s->extreme[0].min || s->extreme[1].min) && announce(id, idx, sh))
		w->full = 1;
	if (!w->full && series_send(w, id, s, sh))
		w->full = 1;
	if (w->full) {
		w->stop = idx + 1;
		return 1;
	}
	return 0;
}

/* What comes from now on belongs to the next interval. */
static __always_inline void epoch_end(__u64 interval)
{
	if (epoch == interval)
		*(volatile __u64 *)&epoch = interval + 1;
}

/* All series from `cursor` (0 first) on. 0: all sent; else where to go on, w->full says why. */
static __always_inline __u32 tick_series(struct series_walk *w, __u32 cursor)
{
	w->first = cursor ? cursor - 1 : 0;
	bpf_loop(nr_slots + more_slots - w->first, tick_slot, w, 0);
	return w->stop;
}

#endif
