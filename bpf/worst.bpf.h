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

#ifdef WORST_WHO
/* A source that knows the task, and how it came there, defines WORST_WHO: what it knows it by. */
#define WORST_FRAMES 8

struct worst_who {
	__u32 pid, tgid;
	char comm[16];
	__u64 cgroup;
	__u64 ip[WORST_FRAMES];
};
/* Fills in the task that runs. The source's. */
static __always_inline void worst_fill(struct worst_who *who, WORST_WHO *by);

#define WORST_WHO_ARG , WORST_WHO *who
#define WORST_WHO_PASS , who
#else
#define WORST_WHO_ARG
#define WORST_WHO_PASS
#endif

struct worst {
	__u64 value, mono_ns;
	__u32 cpu, series;
#ifdef WORST_WHO
	struct worst_who who;
#endif
};

struct worst_list {
	__u64 interval;
	__u64 n;
	struct worst w[WORST];
};

#ifdef WORST_WHO
KD_STATIC_ASSERT(sizeof(struct worst_list) == WORST_WHO_BYTES);
#else
KD_STATIC_ASSERT(sizeof(struct worst_list) == WORST_BYTES);
#endif

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
static __noinline int worst_insert(__u64 *floor, __u32 here, __u64 value,
				   __u64 series_cpu WORST_WHO_ARG)
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
#ifdef WORST_WHO
	if (who)
		worst_fill(&l->w[at].who, who);
#endif
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
					__u64 series_cpu WORST_WHO_ARG)
{
	if ((__s64)(tagged(epoch, value) - *(volatile __u64 *)&bin->floor) <= 0)
		return 0;
	if (__sync_lock_test_and_set(&bin->busy, 1))
		return 1;
	worst_insert(&bin->floor, list, value, series_cpu WORST_WHO_PASS);
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

#ifdef WORST_WHO
typedef struct kd_rec_worst_who worst_rec;

static __always_inline void send_who(worst_rec *r, struct worst_who *who)
{
	__u64 ip[WORST_FRAMES];

	r->pid = who->pid;
	r->tgid = who->tgid;
	r->cgroup = who->cgroup;
	__builtin_memcpy(r->comm, who->comm, sizeof(r->comm));
	r->comm[sizeof(r->comm) - 1] = '\0';
	__builtin_memcpy(ip, who->ip, sizeof(ip));
	/* A frame that is not there prints as 0x0: the reader stops at it. */
	BPF_SNPRINTF(r->stack, sizeof(r->stack), "%ps %ps %ps %ps %ps %ps %ps %ps", ip[0], ip[1],
		     ip[2], ip[3], ip[4], ip[5], ip[6], ip[7]);
}
#define WORST_HEAD(r) (&(r)->worst)
#else
typedef struct kd_rec_worst worst_rec;
#define WORST_HEAD(r) (r)
#endif

static __always_inline int send_worst(__u32 id_base, struct worst *w)
{
	__u64 value = *(volatile __u64 *)&w->value;
	struct kd_rec_worst *head;
	worst_rec *r;

	if (!value)
		return 0;
	r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);
	if (!r)
		return -1;
	head = WORST_HEAD(r);
	head->rec.kind = KD_REC_WORST;
	head->rec.len = sizeof(*r);
	head->rec.id = id_base + w->series;
	head->mono_ns = w->mono_ns;
	head->value = value;
	head->cpu = w->cpu;
	head->pad = 0;
#ifdef WORST_WHO
	send_who(r, &w->who);
#endif
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

/* Where a tick goes on: below the first of these in the series. */
#define CURSOR_WORST (1u << 24)
#define CURSOR_TOTALS (1u << 25)

/*
 * All that changed in the series since the last tick, and the worst of so many lists; 0: all sent,
 * else where to go on, once the ring was drained; w->full: that it was full. The epoch grows first,
 * so that what comes from now on is the next interval's.
 */
static __always_inline __u32 tick_samples(struct series_walk *w, __u32 cursor, __u32 lists)
{
	epoch_end(w->interval);
	if (cursor < CURSOR_WORST) {
		if (tick_series(w, cursor))
			return w->stop;
		cursor = CURSOR_WORST;
	}
	if (cursor >= CURSOR_TOTALS)
		return 0;
	w->first = cursor - CURSOR_WORST;
	bpf_loop(lists - w->first, tick_worst, w, 0);
	return w->full ? CURSOR_WORST + w->stop : 0;
}

#endif
