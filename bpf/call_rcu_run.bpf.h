/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * call_rcu_run.bpf.h - what user space runs: recording on and off for each CPU, and the tick. A part
 * of call_rcu.bpf.c.
 */
#ifndef KDEFER_CALL_RCU_RUN_BPF_H
#define KDEFER_CALL_RCU_RUN_BPF_H

/* --- recording on and off --- */

/* 1: this CPU's list is emptied by a kthread. */
static __always_inline int start(__u32 cpu)
{
	struct cr_cpu *st = cpu_state(cpu);
	struct rcu_data *rdp = percpu_rcu_data(cpu);
	__u64 list, barrier_head;

	if (!st || !rdp)
		return -1;
	list = (__u64)&rdp->cblist;
	barrier_head = (__u64)&rdp->barrier_head;
	bpf_map_update_elem(&lists, &list, &cpu, BPF_ANY);
	bpf_map_update_elem(&barriers, &barrier_head, &cpu, BPF_ANY);
	if (bpf_core_field_exists(rdp->nocb_bypass)) {
		st->bypass = (__u64)&rdp->nocb_bypass;
		st->offloadable = !!BPF_CORE_READ(rdp, nocb_cb_kthread);
	}
	st->pre = cblist_len(list);
	st->start_invoked = BPF_CORE_READ(rdp, n_cbs_invoked);
	st->below = 1ULL << 32;
	st->pick = cpu * 0x85ebca6bU; /* CPUs do not leave out alike */
	*(volatile __u64 *)&st->list = list;
	st->ends_plain = 1;
	st->plain = list;
	return !!st->offloadable;
}

static __always_inline int stop(__u32 cpu)
{
	struct rcu_data *rdp = percpu_rcu_data(cpu);
	struct cr_cpu *st = cpu_state(cpu);

	if (!st || !rdp)
		return -1;
	if (st->list)
		st->invoked = BPF_CORE_READ(rdp, n_cbs_invoked) - st->start_invoked;
	st->plain = 0;
	st->ends_plain = 0;
	*(volatile __u64 *)&st->list = 0;
	st->rclp = 0;
	return 0;
}

/*
 * Fewer at once. All again: hand-overs at once, ends in the short way only when none waits any more that
 * stands for several, which is looked for when this is called again: 1.
 */
static __always_inline int thin(__u32 cpu, __u64 shift)
{
	struct cr_cpu *st = cpu_state(cpu);

	if (!thinnable || !st || !st->list || shift > CR_SHIFT_MOST)
		return 0;
	if (shift) {
		st->plain = 0;
		st->ends_plain = 0;
	} else if (st->shift) {
		st->full_from = st->tail;
	}
	st->shift = shift;
	st->below = 1ULL << (32 - shift);
	if (shift)
		return 0;
	st->plain = st->list;
	if ((__s64)(*(volatile __u64 *)&st->front - st->full_from) < 0)
		return 1;
	st->ends_plain = 1;
	return 0;
}

/* --- what it costs to leave events out --- */

/* Not static: the verifiers of 6.19 and 7.0 do not come to an end with all of this in a loop. */
__noinline int cr_gauge_one(void)
{
	struct cr_cpu *st = cpu_at(nr_cpus, cpu_bytes); /* of no CPU */

	bpf_ktime_get_ns(); /* as the kernel reads its own when it times a program */
	st->below = 0;
	leave_out(st);
	bpf_ktime_get_ns();
	end_elsewhere(st, nr_cpus, st, nr_cpus, 1); /* no head has this address */
	return 0;
}

static long gauge(__u32 i, void *unused)
{
	cr_gauge_one();
	return 0;
}

static __always_inline int gauge_leaving_out(void)
{
	__u64 begin = bpf_ktime_get_ns();
	__u32 unused = 0;

	bpf_loop(CR_GAUGED, gauge, &unused, 0);
	return bpf_ktime_get_ns() - begin;
}

/* --- what our programs did on each CPU --- */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cr_load);
} loads SEC(".maps");

static long load_of(__u32 cpu, __u64 *ctx)
{
	struct cr_load *l = bpf_map_lookup_elem(&loads, &cpu);
	struct cr_cpu *st = cpu_state(cpu);

	if (!l || !st)
		return 1;
	l->left_out = st->left_out + st->left_ended;
	l->runs = st->tail + taken(st) - st->moved + l->left_out;
	l->thin = st->list && (left_waiting(st) || (__s64)(st->front - st->full_from) < 0);
	return 0;
}

SEC("raw_tp")
int kd_load(struct kd_run_args *args)
{
	__u64 none = 0;

	bpf_loop(nr_cpus, load_of, &none, 0);
	return 0;
}

SEC("raw_tp")
int kd_control(struct kd_run_args *args)
{
	__u32 cpu = args->arg[1];

	switch (args->arg[0]) {
	case CR_START:
		*(volatile __u64 *)&runs_on = 1;
		return start(cpu);
	case CR_STOP:
		*(volatile __u64 *)&runs_on = 0;
		return stop(cpu);
	case CR_THIN:
		return thin(cpu, args->arg[2]);
	case CR_GAUGE:
		return gauge_leaving_out();
	}
	return -1;
}

/* --- the tick --- */

static __always_inline void series_describe(struct kd_rec_series *r, __u32 idx, __u64 key)
{
	__u64 address = key | KEY_LAZY | (__u64)KEY_FLAVOUR_MASK << KEY_FLAVOUR_SHIFT;

	r->source = KD_SRC_CALL_RCU;
	r->measure = KD_M_CALL_RCU_LATENCY;
	r->flavour = slot_flavour(idx);
	if (idx >= nr_slots) {
		r->dim = KD_DIM_CPU;
		r->flavour = flavour_ranked[(idx - nr_slots) % nr_flavours & 7];
		r->key[0] = (idx - nr_slots) / nr_flavours;
	} else if (idx < SLOTS_REST) {
		r->flags = KD_SERIES_OTHER;
	} else {
		r->key[0] = address;
		r->flags = !lazy_exists || r->flavour != KD_FL_RCU ? 0
			   : key & KEY_LAZY                        ? KD_SERIES_EAGER
								   : KD_SERIES_LAZY;
		/* The kernel's own name for it: works whatever kptr_restrict says, modules too. */
		bpf_snprintf(r->name, sizeof(r->name), "%ps", &address, sizeof(address));
	}
}

/* Sums over the CPUs; in a map since it is too large for the stack beside the rest. */
struct sums {
	__u64 lost[KD_LOST_COUNT];
	__u64 begun, open, matched, sampled;
	__u64 left_out, left_ended; /* hand-overs and ends, by a share that may change */
	__u64 runs;                 /* that moved a FIFO, or left something out */
	__u64 invoked;              /* by the kernel's own count */
	__u64 pre;
	__u64 ring_full; /* ticks that were cut short by the ring */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct sums);
} sums SEC(".maps");

static long sum_cpu(__u32 cpu, struct sums **ctx)
{
	struct rcu_data *rdp = percpu_rcu_data(cpu);
	struct cr_cpu *st = cpu_state(cpu);
	struct sums *t = *ctx;
	__u64 front;
	int i;

	if (!st || !t || !rdp)
		return 1;
	/* The kernel's count first: a batch that ends between the two must not look lost. */
	t->invoked +=
		st->list ? BPF_CORE_READ(rdp, n_cbs_invoked) - st->start_invoked : st->invoked;
	barrier();
	for (i = 0; i < KD_LOST_COUNT; i++)
		t->lost[i] += st->lost[i];
	front = *(volatile __u64 *)&st->front;
	t->begun += st->tail + st->spilled + st->kfree_begun;
	t->open += st->tail - front;
	t->matched += front - st->dropped - st->moved;
	t->lost[KD_LOST_UNMATCHED_BEGIN] += st->dropped;
	t->sampled += st->sampled_done;
	t->left_out += st->left_out;
	t->left_ended += st->left_ended;
	t->runs += st->tail + front - st->dropped - st->moved + st->left_out + st->left_ended +
		   st->sampled_done;
	t->pre += st->pre;
	floor_refresh(&st->floor, epoch);
	return 0;
}

/*
 * What ran and was not measured, from the kernel's count: it grows at the end of a batch, ours within
 * one, so this is a lower bound until the batch ends. What waited before we began comes first.
 */
static __always_inline void judge_unmeasured(struct sums *t, __u64 kfree_missed)
{
	__u64 ours = t->matched + spill_done + nr_barriers + t->sampled + t->left_ended;
	__u64 rest = (__s64)(t->invoked - ours) > 0 ? t->invoked - ours : 0;

	if (flavours >> KD_FL_RCU & 1) {
		t->lost[KD_LOST_PRE_START] = rest < t->pre ? rest : t->pre;
		t->lost[KD_LOST_UNMATCHED_END] = rest - t->lost[KD_LOST_PRE_START];
	}
	/* Of the other flavours no count is kept: what no table knew and RCU did not run is theirs. */
	if (flavours & ~(1U << KD_FL_RCU | 1U << KD_FL_KFREE) && strangers > rest)
		t->lost[KD_LOST_UNKNOWN_END] = strangers - rest;
	/* Objects that nobody knows: as many as we can have missed; the rest was there before us. */
	kfree_missed += t->lost[KD_LOST_TABLE_FULL];
	if (kfree_missed > kfree_strangers)
		kfree_missed = kfree_strangers;
	t->lost[KD_LOST_UNKNOWN_END] += kfree_untold + kfree_missed;
	t->lost[KD_LOST_PRE_START] += kfree_strangers - kfree_missed;
}

/*
 * These two are not static, so that the verifier looks at them once, and not again for each way on which
 * the tick comes to them.
 */
__noinline int cr_cells_drain(void)
{
	__u32 zero = 0;

	bpf_loop(nr_cpus * CR_CELLS, cell_drain, &zero, 0);
	return 0;
}

__noinline int cr_tick_totals(__u64 kfree_missed)
{
	__u32 zero = 0, i;
	struct sums *t = bpf_map_lookup_elem(&sums, &zero);
	__u64 ring_full;
	int full = 0;

	if (!t)
		return 0;
	ring_full = t->ring_full;
	__builtin_memset(t, 0, sizeof(*t));
	t->ring_full = ring_full;
	t->open = nr_spilled + nr_kfreed;
	bpf_loop(nr_cpus, sum_cpu, &t, 0);
	for (i = 0; i < CR_KFREE_BINS; i++)
		floor_refresh(&kfree_bins[i].floor, epoch);
	judge_unmeasured(t, kfree_missed);
	t->lost[KD_LOST_SAMPLED_OUT] += t->left_out;
	t->lost[KD_LOST_RING_FULL] = ring_full;
	t->lost[KD_LOST_EXTREME] = extremes_lost;
	for (i = 0; i < KD_LOST_COUNT; i++)
		if (t->lost[i])
			full |= send_total(KD_SRC_CALL_RCU, KD_REC_LOST, i, t->lost[i]);
	full |= send_total(KD_SRC_CALL_RCU, KD_REC_COUNT, KD_CNT_BEGUN, t->begun);
	full |= send_total(KD_SRC_CALL_RCU, KD_REC_COUNT, KD_CNT_DONE,
			   t->matched + spill_done + others_done + kfree_done);
	full |= send_total(KD_SRC_CALL_RCU, KD_REC_COUNT, KD_CNT_OPEN, t->open);
	full |= send_total(KD_SRC_CALL_RCU, KD_REC_COUNT, KD_CNT_RUNS, t->runs + runs_counted());
	if (thinnable)
		full |= send_total(KD_SRC_CALL_RCU, KD_REC_COUNT, KD_CNT_LEFT_OUT,
				   t->left_out + t->left_ended);
	if (nr_kdefers)
		full |= send_total(KD_SRC_CALL_RCU, KD_REC_COUNT, KD_CNT_KDEFER, nr_kdefers);
	if (nr_barriers)
		full |= send_total(KD_SRC_CALL_RCU, KD_REC_COUNT, KD_CNT_BARRIER, nr_barriers);
	return full;
}

/* Samples, then totals: 0 when all is written, else where to go on. */
SEC("raw_tp")
int kd_tick(struct kd_run_args *args)
{
	__u32 zero = 0;
	struct sums *t = bpf_map_lookup_elem(&sums, &zero);
	struct series_walk w = {
		.interval = args->arg[1],
		.id_base = KD_SRC_CALL_RCU << 24,
		.deadline = bpf_ktime_get_ns() + TICK_NS,
	};
	__u32 next;

	if (!args->arg[0] && plain_cpus) {
		epoch_end(w.interval);
		cr_cells_drain();
	}
	next = tick_samples(&w, args->arg[0], nr_cpus + CR_KFREE_BINS);
	if (t && w.full)
		t->ring_full++;
	if (next)
		return next;
	return cr_tick_totals(args->arg[2]) ? CURSOR_TOTALS : 0;
}

#endif
