/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * worst.bpf.h - the ten worst samples of each interval.
 *
 * Each CPU keeps its own ten; the ten worst of all are among them. Only the program that runs on a
 * CPU writes that CPU's list; the tick program reads from afar and takes no entry that is half written.
 */
#ifndef KDEFER_WORST_BPF_H
#define KDEFER_WORST_BPF_H

#include "tick.bpf.h"

#define WORST 10

struct worst {
	__u64 value, mono_ns;
	__u32 cpu, series;
};

struct worst_list {
	__u64 interval;
	__u64 n;
	struct worst w[WORST];
};

KD_STATIC_ASSERT(sizeof(struct worst_list) == WORST_BYTES);

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, struct worst_list); /* CPU * 2 + parity of the interval */
} worst SEC(".maps");

static __always_inline __u32 worst_least(struct worst_list *l)
{
	__u64 least = ~0ULL;
	__u32 at = 0, i;

	for (i = 0; i < WORST; i++)
		if (l->w[i].value < least) {
			least = l->w[i].value;
			at = i;
		}
	return at;
}

/*
 * Called for a sample above *floor, this CPU's tag | value from which on a sample belongs to its ten.
 * series_cpu: slot << 32 | CPU to be shown.
 */
static __noinline int worst_insert(__u64 *floor, __u32 here, __u64 value, __u64 series_cpu)
{
	__u64 interval = epoch;
	__u32 idx = here * 2 + (interval & 1), at;
	struct worst_list *l = bpf_map_lookup_elem(&worst, &idx);

	if (!l || !floor)
		return 0;
	if (l->interval != interval) {
		l->n = 0;
		l->interval = interval;
	}
	at = l->n < WORST ? l->n : worst_least(l);
	if (at >= WORST)
		return 0;
	*(volatile __u64 *)&l->w[at].value = 0; /* half written from here on */
	barrier();
	l->w[at].mono_ns = bpf_ktime_get_ns();
	l->w[at].series = series_cpu >> 32;
	l->w[at].cpu = (__u32)series_cpu;
	barrier();
	*(volatile __u64 *)&l->w[at].value = value;
	if (l->n < WORST)
		l->n++;
	at = worst_least(l);
	if (at < WORST)
		*floor = tagged(interval, l->n < WORST ? 0 : l->w[at].value);
	return 0;
}

/*
 * Where a program can be preempted by another of ours: a list belongs to whoever made it busy. Each
 * such list keeps the ten worst of what came to it, so it does not matter which takes a sample: one
 * that is too small for one is not among the ten worst of all. Not 0: busy, try another.
 */
static __always_inline int worst_shared(struct worst_bin *bin, __u32 list, __u64 value,
					__u64 series_cpu)
{
	if ((__s64)(tagged(epoch, value) - *(volatile __u64 *)&bin->floor) <= 0)
		return 0;
	if (__sync_lock_test_and_set(&bin->busy, 1))
		return 1;
	worst_insert(&bin->floor, list, value, series_cpu);
	barrier();
	*(volatile __u64 *)&bin->busy = 0;
	return 0;
}

/* Silent for long: brings the tag near, so that it stays older than the next. */
static __always_inline void floor_refresh(__u64 *floor, __u64 interval)
{
	__u64 was = *(volatile __u64 *)floor;

	if (((interval - (was >> TAG_SHIFT)) & 0xfff) > TAG_REFRESH)
		__sync_val_compare_and_swap(floor, was, tagged(interval - 2, 0));
}

static __always_inline int send_worst(__u32 id_base, struct worst *w)
{
	__u64 value = *(volatile __u64 *)&w->value;
	struct kd_rec_worst *r;

	if (!value)
		return 0;
	r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);
	if (!r)
		return -1;
	r->rec.kind = KD_REC_WORST;
	r->rec.len = sizeof(*r);
	r->rec.id = id_base + w->series;
	r->mono_ns = w->mono_ns;
	r->value = value;
	r->cpu = w->cpu;
	r->pad = 0;
	barrier();
	if (*(volatile __u64 *)&w->value == value)
		bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	else
		bpf_ringbuf_discard(r, BPF_RB_NO_WAKEUP);
	return 0;
}

/* bpf_loop() body: the list of CPU w->first + i for the interval that ended. */
static long tick_worst(__u32 i, struct series_walk *w)
{
	__u32 cpu = w->first + i, idx = cpu * 2 + (w->interval & 1), k;
	struct worst_list *l = bpf_map_lookup_elem(&worst, &idx);

	if (!l)
		return 1;
	if (l->interval != w->interval || !l->n)
		return 0;
	for (k = 0; k < WORST; k++)
		if (k < l->n && send_worst(w->id_base, &l->w[k])) {
			w->stop = cpu;
			w->full = 1;
			return 1;
		}
	return 0;
}

#endif
