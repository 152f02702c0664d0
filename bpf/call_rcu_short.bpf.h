/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * call_rcu_short.bpf.h - the other end as nearly all callbacks come to it: at the front of the FIFO of
 * the CPU that runs them, their series where it is looked for first, in the bucket of the one before.
 * A part of call_rcu.bpf.c.
 *
 * What comes seldom is in functions that are called last, so that nothing has to be kept for afterwards.
 */
#ifndef KDEFER_CALL_RCU_SHORT_BPF_H
#define KDEFER_CALL_RCU_SHORT_BPF_H

/* The callback is not at the front of this CPU's FIFO, or there is none: the end of a batch. */
static __noinline int end_other(struct cr_cpu *st, __u64 head)
{
	__u32 here = bpf_get_smp_processor_id();

	if (!head)
		count_run();
	else
		end_elsewhere(st, here, st, here, head);
	return 0;
}

static __always_inline void bucket_note(struct cr_cpu *st, __u64 waited)
{
	__u64 bucket = hist_index(waited);
	__u32 shift = bucket < 2 * KD_HIST_SUB ? 0 : (bucket >> KD_HIST_SUB_BITS) - 1;

	st->near_low = waited >> shift << shift;
	st->near_width = 1ULL << shift;
	st->near_bucket = bucket * sizeof(__u64);
}

/* So that the short way finds it. The first slots stand for many keys. */
static __always_inline void slot_note(__u32 slot, __u64 key)
{
	struct series_slot *s = series_slot_keyed(slot);

	if (s && slot >= SLOTS_REST)
		s->key = key;
}

/* The series is not in the slot where it is looked for first, or the bucket is not that of the last wait. */
static __noinline int end_anew(struct cr_cpu *st, __u64 key, __u64 waited)
{
	__u32 here = bpf_get_smp_processor_id(), slot = slot_find(key);
	__u64 now = epoch;

	if (!st || !add(st, here, slot, waited, now))
		return 0;
	bucket_note(st, waited);
	slot_note(slot, key);
	if ((__s64)(tagged(now, waited) - st->floor) > 0)
		worst_insert(&st->floor, here, waited, (__u64)slot << 32 | here);
	return 0;
}

/* Counted already, and more or less than any of the interval. */
static __noinline int end_extreme(struct cr_cpu *st, struct series_slot *s, __u64 waited,
				  __u32 slot)
{
	__u32 here = bpf_get_smp_processor_id();
	__u64 now = epoch;

	if (!st || !s)
		return 0;
	series_extremes(s, now, waited);
	if ((__s64)(tagged(now, waited) - st->floor) > 0)
		worst_insert(&st->floor, here, waited, (__u64)slot << 32 | here);
	return 0;
}

static __always_inline int end_plain(struct cr_cpu *st, __u64 head, __u64 ended)
{
	__u64 front = st->front, key, waited, at, interval, top;
	struct cr_entry *e = &st->fifo[front & (CR_DEPTH - 1)];
	struct series_slot *s;

	barrier_var(e);
	if (e->head != head || front == *(volatile __u64 *)&st->tail)
		return end_other(st, head);
	key = e->key;
	waited = ended - e->when;
	barrier(); /* the entry can be filled anew from here on */
	*(volatile __u64 *)&st->front = front + 1;
	at = (key * SLOT_HASH) >> (64 - __builtin_ctz(CR_SLOTS));
	s = slot_direct(at);
	if (s->key != key || waited - st->near_low >= st->near_width)
		return end_anew(st, key, waited);
	__sync_fetch_and_add((__u64 *)((void *)s->bucket +
				       (st->near_bucket & (SERIES_ROOM - 1) * sizeof(__u64))),
			     1);
	__sync_fetch_and_add(&s->sum, waited);
	interval = epoch;
	top = interval << TAG_SHIFT | waited;
	if (extreme_is(s, interval, top) || (__s64)(top - st->floor) > 0)
		return end_extreme(st, s, waited, at);
	return 0;
}

SEC("fentry/rcu_cblist_dequeue")
int kd_dequeue(__u64 *ctx)
{
	__u64 ended = bpf_ktime_get_ns(), cpu = bpf_get_smp_processor_id();
	struct rcu_cblist *rclp;
	struct cr_cpu *st;

	barrier_var(cpu);
	if (cpu >= plain_cpus)
		return end_special((void *)ctx[0]);
	st = cpu_at(cpu, CR_CPU_BYTES(CR_DEPTH));
	if (!st->list)
		return 0;
	rclp = (void *)ctx[0];
	return end_plain(st, (__u64)rclp->head, ended);
}

#endif
