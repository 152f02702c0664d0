/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * call_rcu_kfree.bpf.h - objects given to kfree_rcu(): from kvfree_call_rcu() to when a batch that
 * has them is freed. A part of call_rcu.bpf.c.
 *
 * They have no callback of their own. The kernel collects their addresses: in pages, each freed by
 * kvfree_rcu_bulk(); on a list where there is no page, freed by kvfree_rcu_list(); and since 6.18 in
 * sheaves of their slab cache, freed by rcu_free_sheaf(), itself a callback of RCU. Before 6.4
 * kfree_rcu_work() frees all of them. So an object is known by its own address, in a table of its own;
 * what ends its wait is the function it is shown under. Both ends run in any context, interrupts on.
 *
 * Since 7.3 the list does not say which objects its entries belong to: those are counted, no more.
 */
#ifndef KDEFER_CALL_RCU_KFREE_BPF_H
#define KDEFER_CALL_RCU_KFREE_BPF_H

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u64); /* object */
	__type(value, struct cr_away);
} kfreed SEC(".maps");

__u64 nr_kfreed;       /* entries now in that table */
__u64 kfree_done;      /* taken out of it, and measured */
__u64 kfree_strangers; /* objects freed that were not in it */
__u64 kfree_untold;    /* objects freed of which it could not be looked up */

/* Lists of worst samples behind those of the CPUs: these ends can be preempted. */
struct worst_bin kfree_bins[CR_KFREE_BINS];

/* --- the hand-over --- */

/* Given to kfree_call_rcu_nolock(), perhaps to come by kvfree_call_rcu() from the next interrupt. */
#define MAY_COME_AGAIN 1
#define AGAIN_NS 10000000 /* what comes later is another object of that address */

#define ALREADY_THERE (-17) /* -EEXIST, as an int: on 6.1 the upper half is not set */

static __noinline int kfree_again(struct cr_cpu *st, __u64 object, __u64 when, __u32 cpu)
{
	struct cr_away *old = bpf_map_lookup_elem(&kfreed, &object), away = { .when = when };

	if (!st)
		return 0;
	if (old && old->flavour == MAY_COME_AGAIN && when - old->when < AGAIN_NS) {
		old->flavour = 0;
		__sync_fetch_and_add(&st->kfree_begun, -1);
		return 0;
	}
	away.cpu = cpu;
	if (bpf_map_update_elem(&kfreed, &object, &away, BPF_EXIST))
		count_lost(st, KD_LOST_TABLE_FULL, 1);
	else
		count_lost(st, KD_LOST_UNMATCHED_BEGIN, 1); /* its end was not seen */
	return 0;
}

static __always_inline int kfree_begin(__u64 object, __u32 flag)
{
	struct cr_away away = { .cpu = bpf_get_smp_processor_id(), .flavour = flag };
	struct cr_cpu *st = cpu_state(away.cpu);
	int err;

	count_run();
	if (!st || !st->list)
		return 0;
	if (sample_below && sampled_out(object)) {
		count_lost(st, KD_LOST_SAMPLED_OUT, 1);
		return 0;
	}
	away.when = bpf_ktime_get_ns() & VALUE_MASK;
	__sync_fetch_and_add(&st->kfree_begun, 1);
	err = (int)bpf_map_update_elem(&kfreed, &object, &away, BPF_NOEXIST);
	if (!err)
		__sync_fetch_and_add(&nr_kfreed, 1);
	else if (err == ALREADY_THERE)
		kfree_again(st, object, away.when, away.cpu);
	else
		count_lost(st, KD_LOST_TABLE_FULL, 1);
	return 0;
}

/* Arguments as numbers: before 6.5 the second is typed as a function. */
static __always_inline __u64 argument(__u64 *ctx, __u32 n)
{
	__u64 arg = 0;

	bpf_get_func_arg(ctx, n, &arg);
	return arg;
}

#define OFFSETS 4096 /* no object is at such an address */

SEC("fentry/kvfree_call_rcu")
int kd_kfree(__u64 *ctx)
{
	__u64 object = argument(ctx, 1);

	if (object < OFFSETS)
		object = argument(ctx, 0) - object; /* before 6.5: where in it its head is */
	return kfree_begin(object, 0);
}

/* Since 7.3, for those who may take no lock. */
SEC("fentry/kfree_call_rcu_nolock")
int kd_kfree_nolock(__u64 *ctx)
{
	return kfree_begin(argument(ctx, 1), MAY_COME_AGAIN);
}

/* --- the other end --- */

struct kfree_walk {
	__u64 at;       /* of the addresses, or the head */
	__u64 deadline; /* ns; what comes after it is counted, and not looked up */
	__u64 page;     /* the next one */
	__u32 slot;     /* series of the function that ends these waits */
	__u32 here;
};

static __always_inline void kfree_worst(__u32 here, __u64 waited, __u64 slot_cpu)
{
	__u32 i;

	for (i = 0; i < CR_KFREE_BINS; i++) {
		__u64 at = here + i;

		barrier_var(at); /* as in rcu_gp.bpf.c */
		at &= CR_KFREE_BINS - 1;
		if (!worst_shared(&kfree_bins[at], nr_cpus + at, waited, slot_cpu))
			return;
	}
	__sync_fetch_and_add(&extremes_lost, 1);
}

/* Apart, for the verifier of 6.1 forgets what it knows of a value that goes to the stack. */
static __noinline int kfree_add(__u32 here, __u32 cpu, __u32 slot, __u64 waited)
{
	struct cr_cpu *st = cpu_state(here);

	return st && add(st, cpu, slot, waited, epoch, 0);
}

/* Global, so that it is verified once, and not for each turn of a loop (6.19 and 7.0 give up). */
__noinline int kfree_end(__u64 object, __u32 slot, __u32 here)
{
	struct cr_away *found;
	__u64 when, waited;
	__u32 cpu;

	if (sample_below && sampled_out(object))
		return 0;
	found = bpf_map_lookup_elem(&kfreed, &object);
	if (!found) {
		__sync_fetch_and_add(&kfree_strangers, 1);
		return 0;
	}
	when = found->when;
	cpu = found->cpu;
	if (bpf_map_delete_elem(&kfreed, &object))
		return 0;
	__sync_fetch_and_add(&nr_kfreed, -1);
	waited = waited_since(when);
	if (!kfree_add(here, cpu, slot, waited))
		return 0;
	__sync_fetch_and_add(&kfree_done, 1);
	kfree_worst(here, waited, (__u64)slot << 32 | cpu);
	return 0;
}

static long kfree_one(__u32 i, struct kfree_walk *w)
{
	__u64 object = 0;

	bpf_probe_read_kernel(&object, sizeof(object), (void *)(w->at + i * sizeof(object)));
	kfree_end(object, w->slot, w->here);
	return 0;
}

static __always_inline bool kfree_walk_init(struct kfree_walk *w, __u64 *ctx)
{
	__u64 func = bpf_get_func_ip(ctx);
	struct cr_cpu *st;

	count_run();
	w->here = bpf_get_smp_processor_id();
	w->deadline = bpf_ktime_get_ns() + TICK_NS;
	st = cpu_state(w->here);
	if (!st || !st->list)
		return false;
	w->slot = slot_find(func ^ (__u64)(KD_FL_KFREE - KD_FL_RCU) << KEY_FLAVOUR_SHIFT);
	if (!w->slot)
		w->slot = KD_FL_KFREE - KD_FL_RCU;
	return true;
}

#define KFREE_MOST 1024 /* in one page, or one sheaf */

static __always_inline void kfree_array(struct kfree_walk *w, __u64 n)
{
	bpf_loop(n < KFREE_MOST ? n : KFREE_MOST, kfree_one, w, 0);
	if (n > KFREE_MOST)
		__sync_fetch_and_add(&kfree_untold, n - KFREE_MOST);
}

SEC("fentry/kvfree_rcu_bulk")
int kd_kfree_bulk(__u64 *ctx)
{
	__u64 page = argument(ctx, 1);
	struct kfree_walk w = {};

	if (!kfree_walk_init(&w, ctx))
		return 0;
	w.at = page + bpf_core_field_offset(struct kvfree_rcu_bulk_data, records);
	kfree_array(&w, BPF_CORE_READ((struct kvfree_rcu_bulk_data *)page, nr_records));
	return 0;
}

static __always_inline int kfree_sheaf(__u64 *ctx)
{
	__u64 sheaf = argument(ctx, 0) - bpf_core_field_offset(struct slab_sheaf, callback_head);
	struct kfree_walk w = {};

	if (!kfree_walk_init(&w, ctx))
		return 0;
	w.at = sheaf + bpf_core_field_offset(struct slab_sheaf, objects);
	kfree_array(&w, BPF_CORE_READ((struct slab_sheaf *)sheaf, size));
	return 0;
}

SEC("fentry/rcu_free_sheaf")
int kd_kfree_sheaf(__u64 *ctx)
{
	return kfree_sheaf(ctx);
}

SEC("fentry/rcu_free_sheaf_nobarn")
int kd_kfree_nobarn(__u64 *ctx)
{
	return kfree_sheaf(ctx);
}

#define LISTED_MOST (1 << 23) /* as many as bpf_loop() takes; what comes late is only counted */
#define LISTED_LEAST 4096     /* looked up, however long it takes */

static long kfree_listed(__u32 i, struct kfree_walk *w)
{
	struct callback_head *head = (void *)w->at;
	__u64 object;

	if (!head)
		return 1;
	object = (__u64)BPF_CORE_READ(head, func);
	if (object < OFFSETS)
		object = w->at - object; /* before 6.5, as above */
	if ((i >= LISTED_LEAST && bpf_ktime_get_ns() > w->deadline) ||
	    bpf_core_type_exists(struct kvfree_rcu_head))
		__sync_fetch_and_add(&kfree_untold, 1);
	else
		kfree_end(object, w->slot, w->here);
	w->at = (__u64)BPF_CORE_READ(head, next);
	return 0;
}

SEC("fentry/kvfree_rcu_list")
int kd_kfree_list(__u64 *ctx)
{
	struct kfree_walk w = { .at = argument(ctx, 0) };

	if (kfree_walk_init(&w, ctx))
		bpf_loop(LISTED_MOST, kfree_listed, &w, 0);
	return 0;
}

/* --- the same before 6.4, where one function does all of it --- */

#define PAGES_MOST (1 << 20)
#define PAGES_LEAST 8 /* some 500 each */

static long kfree_page(__u32 i, struct kfree_walk *w)
{
	struct kvfree_rcu_bulk_data *page = (void *)w->page;
	__u64 n;

	if (!page)
		return 1;
	n = BPF_CORE_READ(page, nr_records);
	w->at = w->page + bpf_core_field_offset(struct kvfree_rcu_bulk_data, records);
	if (i >= PAGES_LEAST && bpf_ktime_get_ns() > w->deadline)
		__sync_fetch_and_add(&kfree_untold, n);
	else
		kfree_array(w, n);
	w->page = (__u64)BPF_CORE_READ((struct kvfree_rcu_bulk_data___v6_1 *)page, next);
	return 0;
}

/* Nothing joins what waits for its grace period: it stands still until this function takes it. */
SEC("fentry/kfree_rcu_work")
int kd_kfree_work(__u64 *ctx)
{
	__u64 krw = argument(ctx, 0) -
		    bpf_core_field_offset(struct kfree_rcu_cpu_work___v6_1, rcu_work.work);
	__u64 pages = krw + bpf_core_field_offset(struct kfree_rcu_cpu_work___v6_1, bkvhead_free);
	struct kfree_walk w = {};
	int i;

	if (!kfree_walk_init(&w, ctx))
		return 0;
	for (i = 0; i < 2; i++) {
		bpf_probe_read_kernel(&w.page, sizeof(w.page),
				      (void *)(pages + i * sizeof(w.page)));
		bpf_loop(PAGES_MOST, kfree_page, &w, 0);
	}
	w.at = (__u64)BPF_CORE_READ((struct kfree_rcu_cpu_work *)krw, head_free);
	bpf_loop(LISTED_MOST, kfree_listed, &w, 0);
	return 0;
}

#endif
