/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * holdup_gp.bpf.c - why a grace period takes long: what is seen of it while it goes on.
 *
 *  - whoever carries it on passes through functions that part its life into phases;
 *  - each report of a quiescent state is seen, so that the last one and the last but one are known;
 *  - the tick of each CPU counts what it interrupts as long as a grace period is under way (a flight
 *    recorder: what was before the limit is told too), and once the grace period is older than the
 *    limit it says what runs there, with its stack, if that CPU is still waited for;
 *  - whichever CPU ticks first looks at the task in charge, and at readers that were preempted.
 *
 * While no grace period is under way a tick costs one test and the look at one word; while one is, but
 * young, some counters. Nothing is sent of one that ends in time.
 *
 * Reports come with a raw lock held and interrupts off, ticks in an interrupt. Nothing allocates.
 */
#include "holdup_tick.bpf.h"
#include "holdup_caller.bpf.h"
#include "holdup_tasks.bpf.h"
#include "holdup_others.bpf.h"

/* --- normal grace periods --- */

/* The node's lock is held. A node that is no leaf: its last preempted reader is gone, and nothing else. */
SEC("fentry/rcu_report_qs_rnp")
int BPF_PROG(hg_report, unsigned long mask, struct rcu_node *rnp, unsigned long gps)
{
	struct hg_wait *w = &waits[HG_NORMAL];

	if (!w->from || !mask || !(rnp->qsmask & mask) || rnp->gp_seq != gps)
		return 0;
	if (rnp->level != leaf_level)
		report_of_task(w, bpf_ktime_get_ns());
	else
		report_of_cpus(HG_NORMAL, mask, rnp->grplo);
	return 0;
}

/* Jiffies stand still with the machine: the time when a wait began is then theirs when it is over. */
static __always_inline void see_asked_for(struct hg_wait *w)
{
	struct rcu_state *s = (void *)rcu_state;

	if (!w->asked && recording() && s && BPF_CORE_READ(s, gp_flags) & 1)
		w->asked = bpf_ktime_get_ns();
}

/*
 * The kthread is woken: because one is asked for, or the first time after all was reported, which is the
 * end of the last report.
 */
SEC("fentry/rcu_gp_kthread_wake")
int hg_wake(__u64 *ctx)
{
	struct hg_wait *w = &waits[HG_NORMAL];
	struct rcu_node *root = (void *)rcu_state;
	__u64 now;

	if (!w->from)
		see_asked_for(w);
	if (!w->waiting || w->done || !root)
		return 0;
	if (BPF_CORE_READ(root, qsmask) || BPF_CORE_READ(root, gp_tasks))
		return 0;
	now = bpf_ktime_get_ns();
	w->done = now;
	if (!by_cpu(HG_NORMAL, now) &&
	    (PACK_HOW(w->last) != KD_HOW_TASK || now - w->start - packed_ns(w->last) > AT_ONCE_NS))
		report_of_task(w, now);
	return 0;
}

/* When it was asked for. If that was not seen: to the tick, and no more than a tick is none. */
static __always_inline __u64 asked(struct rcu_state *s, __u64 now)
{
	__u64 seen = __sync_lock_test_and_set(&waits[HG_NORMAL].asked, 0), age;

	if (seen && seen < now)
		return seen;
	age = jiffies_age(BPF_CORE_READ(s, gp_req_activity));

	return age > NS_PER_S / hz && age < now ? now - age : now;
}

SEC("fentry/rcu_gp_init")
int hg_gp_in(__u64 *ctx)
{
	struct rcu_state *s = (void *)rcu_state;
	struct hg_wait *w = &waits[HG_NORMAL];
	__u64 now = bpf_ktime_get_ns();

	if (!recording() || !s || !BPF_CORE_READ(s, gp_flags))
		return 0; /* nobody wants one */
	kthread_runs(w, now);
	wait_begin(w, now, asked(s, now), BPF_CORE_READ(s, gp_seq) + 1);
	return 0;
}

SEC("fentry/rcu_gp_fqs_loop")
int hg_waiting(__u64 *ctx)
{
	struct hg_wait *w = &waits[HG_NORMAL];

	if (w->from)
		w->waiting = bpf_ktime_get_ns();
	return 0;
}

SEC("fentry/force_qs_rnp")
int hg_scan(__u64 *ctx)
{
	struct hg_wait *w = &waits[HG_NORMAL];
	__u64 now;

	if (!w->from)
		return 0;
	now = bpf_ktime_get_ns();
	w->scans++;
	alive(w, now);
	kthread_runs(w, now);
	return 0;
}

SEC("fexit/rcu_gp_cleanup")
int hg_gp_out(__u64 *ctx)
{
	if (waits[HG_NORMAL].from)
		wait_end(HG_NORMAL, bpf_ktime_get_ns());
	return 0;
}

/* --- expedited ones: one at a time, by whatever task --- */

SEC("fentry/sync_rcu_exp_select_cpus")
int hg_exp_in(__u64 *ctx)
{
	struct rcu_state *s = (void *)rcu_state;
	struct hg_wait *w = &waits[HG_EXPEDITED];
	__u64 now = bpf_ktime_get_ns();

	if (!recording() || !s)
		return 0;
	w->kthread = bpf_get_current_task();
	wait_begin(w, now, now, BPF_CORE_READ(s, expedited_sequence));
	return 0;
}

SEC("fexit/sync_rcu_exp_select_cpus")
int hg_exp_waiting(__u64 *ctx)
{
	struct hg_wait *w = &waits[HG_EXPEDITED];

	if (w->from)
		w->waiting = bpf_ktime_get_ns();
	return 0;
}

/* CPUs, each for itself or, those that are idle or offline, by who selects. */
SEC("fentry/rcu_report_exp_cpu_mult")
int BPF_PROG(hg_exp_report, struct rcu_node *rnp, unsigned long mask)
{
	if (waits[HG_EXPEDITED].from && mask && rnp->expmask & mask)
		report_of_cpus(HG_EXPEDITED, mask, rnp->grplo);
	return 0;
}

/* A leaf's CPUs or readers have reported, with its lock held; nobody is left. */
SEC("fentry/__rcu_report_exp_rnp")
int BPF_PROG(hg_exp_task, struct rcu_node *rnp)
{
	struct hg_wait *w = &waits[HG_EXPEDITED];
	__u64 now;

	if (!w->from || rnp->expmask || rnp->exp_tasks)
		return 0;
	now = bpf_ktime_get_ns();
	if (!by_cpu(HG_EXPEDITED, now))
		report_of_task(w, now);
	return 0;
}

/* Its result is a bool, the lowest byte: whether it is over, or has but lasted long. */
SEC("fexit/synchronize_rcu_expedited_wait_once")
int hg_exp_out(__u64 *ctx)
{
	if ((ctx[1] & 0xff) && waits[HG_EXPEDITED].from)
		wait_end(HG_EXPEDITED, bpf_ktime_get_ns());
	return 0;
}

/* --- run by user space --- */

#define START_AHEAD_NS 1000000

static __always_inline void find_rcu(void)
{
	__u32 here = bpf_get_smp_processor_id();
	struct rcu_data *rdp = percpu_rcu_data(here);
	struct rcu_state *s = (void *)percpu_rcu_state(here);
	struct rcu_node *rnp;

	rcu_state = (__u64)s;
	rnp = rdp ? BPF_CORE_READ(rdp, mynode) : 0;
	leaf_level = rnp ? BPF_CORE_READ(rnp, level) : 0;
	waits[HG_NORMAL].kthread = s ? (__u64)BPF_CORE_READ(s, gp_kthread) : 0;
}

/* What is not over, and too long already. */
static __noinline int tell_ongoing(__u32 kind)
{
	struct hg_wait *w = &waits[kind & (HG_KINDS - 1)];
	__u64 now = bpf_ktime_get_ns(), from = w->from;

	if (from && from >= since && now - from > over_gp[kind & (HG_KINDS - 1)])
		send_holdup(kind, now, KD_HOLDUP_ONGOING | KD_HOLDUP_LOWER);
	return 0;
}

SEC("raw_tp")
int kd_control(struct kd_run_args *args)
{
	if (args->arg[0] == HG_START) {
		find_rcu();
		*(volatile __u64 *)&since = bpf_ktime_get_ns() + START_AHEAD_NS;
		return 0;
	}
	tell_ongoing(HG_NORMAL);
	tell_ongoing(HG_EXPEDITED);
	tell_ongoing(HG_TASKS);
	tell_ongoing(HG_TRACE);
	*(volatile __u64 *)&since = 0;
	return 0;
}

SEC("raw_tp")
int kd_tick(struct kd_run_args *args)
{
	__u64 full = reports_full + witness_full;

	return full ? send_total(KD_SRC_RCU_GP, KD_REC_LOST, KD_LOST_REPORTS, full) < 0 : 0;
}
