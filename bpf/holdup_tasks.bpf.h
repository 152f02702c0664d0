/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * holdup_tasks.bpf.h - why a grace period of Tasks RCU or Tasks Trace takes long: for whom it waits. A
 * part of holdup_gp.bpf.c.
 *
 *  - Tasks, and Tasks Trace up to 6.19: their kthread scans a list of holdouts again and again, and so
 *    do we. Who leaves it is known by the next scan only;
 *  - Tasks Trace since 7.0 is an SRCU domain: nobody keeps a list. As often as the kernel looks whether
 *    all readers have ended, we go through all tasks, for those that began on the counters that are
 *    not in use any more. There may be others: they are candidates.
 */
#ifndef KDEFER_HOLDUP_TASKS_BPF_H
#define KDEFER_HOLDUP_TASKS_BPF_H

#include "flavour.bpf.h"
#include "holdup_tick.bpf.h"
#include "srcu_gp.bpf.h"

#define HOLDOUTS_MOST 64 /* followed in one scan */
#define TASKS_MOST 4096  /* looked at in one go */
#define THREADS_MOST 256 /* of one process */
#define LOOK_NS 500000   /* one go is an RCU reader: no longer than about this */

static __always_inline bool is_old(__u32 kind, __u64 now)
{
	struct hg_wait *w = &waits[kind & (HG_KINDS - 1)];
	__u64 from = w->from;

	return from && from >= since && now - from > over_gp[kind & (HG_KINDS - 1)];
}

/* Somebody that is waited for: says so itself by a tick if it runs, else is told of here. */
static __noinline int see_holdout(__u32 kind, __u64 task, __u64 now, __u32 flags, bool say)
{
	struct task_struct *t = (void *)task;
	__u32 state = witness_state(t), pid = BPF_CORE_READ(t, pid);
	struct hg_cpu *c;

	keep_blocked(&waits[kind & (HG_KINDS - 1)], pid, state, now);
	if (!say)
		return 0;
	if (state == KD_WIT_RUNNING) {
		c = cpu_of(kind, BPF_CORE_READ(t, thread_info.cpu));
		if (c)
			c->reader_of = pid;
		return 0;
	}
	return tell_task(kind, task, KD_ROLE_TASK, flags);
}

/* --- lists of holdouts --- */

/* On the list of Tasks Trace are also those that could not be looked at yet. */
static __always_inline __u32 holdout_flags(__u32 kind, __u64 task)
{
	return kind == HG_TRACE ? trace_reader_flags((struct task_struct *)task) : 0;
}

struct hg_holdouts {
	__u64 node, head, at, now;
	__u32 kind, n, pid, cpu;
	bool say;
};

static long holdout_step(__u32 i, struct hg_holdouts *l)
{
	struct task_struct *t;

	if (!l->node || l->node == l->head)
		return 1;
	t = (void *)(l->node - l->at);
	l->n++;
	l->pid = BPF_CORE_READ(t, pid);
	l->cpu = BPF_CORE_READ(t, thread_info.cpu);
	see_holdout(l->kind, (__u64)t, l->now, holdout_flags(l->kind, (__u64)t), l->say);
	l->node = word_at(l->node);
	return 0;
}

/* Before a scan: the list is the kthread's own, and it is in it. */
static __noinline int see_holdouts(__u32 kind, __u64 head, __u64 at)
{
	struct hg_wait *w = &waits[kind & (HG_KINDS - 1)];
	struct hg_holdouts l = { .kind = kind, .head = head, .at = at };

	if (!w->from)
		return 0;
	l.now = bpf_ktime_get_ns();
	kthread_runs(w, l.now);
	if (!w->waiting)
		w->waiting = l.now;
	l.say = is_old(kind, l.now) && due(&w->tell, l.now, next_witness(w->from, l.now));
	l.node = word_at(head);
	bpf_loop(HOLDOUTS_MOST, holdout_step, &l, 0);
	if (w->holdouts > l.n) /* by the scan before */
		report(w, pack(w, l.now, l.cpu, KD_HOW_TASK));
	w->scans++;
	w->holdouts = l.n;
	w->one_pid = l.n == 1 ? l.pid : 0;
	w->one_cpu = l.cpu;
	if (l.n > w->most_blocked)
		w->most_blocked = l.n;
	return 0;
}

/* After it: is nobody left? */
static __noinline int saw_holdouts(__u32 kind, __u64 head)
{
	struct hg_wait *w = &waits[kind & (HG_KINDS - 1)];

	if (!w->from || word_at(head) != head)
		return 0;
	w->last_pid = w->one_pid;
	w->done = bpf_ktime_get_ns();
	report(w, pack(w, w->done, w->one_cpu, KD_HOW_TASK));
	return 0;
}

static __always_inline __u64 argument(__u64 *ctx)
{
	__u64 arg = 0;

	bpf_get_func_arg(ctx, 0, &arg);
	return arg;
}

#define HOLDOUTS(program, function, kind, field)                                       \
	SEC("fentry/" #function)                                                       \
	int program##_in(__u64 *ctx)                                                   \
	{                                                                              \
		return see_holdouts(kind, argument(ctx),                               \
				    bpf_core_field_offset(struct task_struct, field)); \
	}                                                                              \
	SEC("fexit/" #function)                                                        \
	int program##_out(__u64 *ctx)                                                  \
	{                                                                              \
		return saw_holdouts(kind, argument(ctx));                              \
	}

HOLDOUTS(hg_holdouts, check_all_holdout_tasks, HG_TASKS, rcu_tasks_holdout_list)
HOLDOUTS(hg_trace_holdouts, check_all_holdout_tasks_trace, HG_TRACE, trc_holdout_list)

static __always_inline int now_waiting(__u32 kind)
{
	struct hg_wait *w = &waits[kind & (HG_KINDS - 1)];

	if (w->from && !w->waiting)
		w->waiting = bpf_ktime_get_ns();
	return 0;
}

SEC("fexit/rcu_tasks_postscan")
int hg_tasks_waiting(__u64 *ctx)
{
	return now_waiting(HG_TASKS);
}

SEC("fexit/rcu_tasks_trace_postscan")
int hg_trace_waiting(__u64 *ctx)
{
	return now_waiting(HG_TRACE);
}

/* Which of those that share the function; HG_KINDS: none that is followed. */
static __noinline __u32 tasks_kind(__u64 *ctx)
{
	switch (tasks_flavour((struct rcu_tasks *)argument(ctx))) {
	case KD_FL_TASKS:
		return HG_TASKS;
	case KD_FL_TASKS_TRACE:
		return HG_TRACE;
	}
	return HG_KINDS;
}

SEC("fentry/rcu_tasks_wait_gp")
int hg_tasks_in(__u64 *ctx)
{
	struct rcu_tasks *rtp = (void *)argument(ctx);
	__u32 kind = tasks_kind(ctx);
	__u64 now = bpf_ktime_get_ns();
	struct hg_wait *w;

	if (!recording() || kind >= HG_KINDS)
		return 0;
	w = &waits[kind & (HG_KINDS - 1)];
	w->kthread = bpf_get_current_task();
	wait_begin(w, now, now, BPF_CORE_READ(rtp, tasks_gp_seq));
	return 0;
}

SEC("fexit/rcu_tasks_wait_gp")
int hg_tasks_out(__u64 *ctx)
{
	__u32 kind = tasks_kind(ctx);

	if (kind < HG_KINDS && waits[kind & (HG_KINDS - 1)].from)
		wait_end(kind, bpf_ktime_get_ns());
	return 0;
}

/* --- Tasks Trace as an SRCU domain --- */

struct hg_all_tasks {
	__u64 leader, first; /* of processes: the next, and where we began */
	__u64 node, head;    /* of the threads of one */
	__u64 counters;      /* what readers begin on now */
	__u64 now;
	__u32 n;
	bool say;
};

static long thread_step(__u32 i, struct hg_all_tasks *l)
{
	struct task_struct *t;

	if (!l->node || l->node == l->head)
		return 1;
	t = (void *)(l->node - bpf_core_field_offset(struct task_struct, thread_node));
	l->node = word_at(l->node);
	if (BPF_CORE_READ(t, trc_reader_nesting) > 0) {
		__u64 began_on = (__u64)BPF_CORE_READ(t, trc_reader_scp);

		if (began_on && began_on != l->counters) {
			l->n++;
			see_holdout(HG_TRACE, (__u64)t, l->now,
				    KD_WIT_READER | KD_WIT_NEST_KNOWN | KD_WIT_CANDIDATE, l->say);
		}
	}
	return 0;
}

/* Tasks come and go: one that is not there any more ends the walk, or leads to one that is. */
static long process_step(__u32 i, struct hg_all_tasks *l)
{
	struct task_struct *t = (void *)l->leader;
	struct signal_struct *signal;

	if (!(i & 63) && bpf_ktime_get_ns() - l->now > LOOK_NS)
		return 1;
	signal = BPF_CORE_READ(t, signal);
	l->head = (__u64)&signal->thread_head;
	l->node = signal ? word_at(l->head) : 0;
	bpf_loop(THREADS_MOST, thread_step, l, 0);
	l->leader = word_at(l->leader + bpf_core_field_offset(struct task_struct, tasks)) -
		    bpf_core_field_offset(struct task_struct, tasks);
	return !l->leader || l->leader == l->first;
}

static __noinline int see_candidates(__u64 ssp, __u64 now)
{
	struct task_struct *current = (void *)bpf_get_current_task();
	struct hg_wait *w = &waits[HG_TRACE];
	struct hg_all_tasks l = { .now = now };

	if (!bpf_core_field_exists(struct task_struct, trc_reader_scp))
		return 0;
	l.first = l.leader = (__u64)BPF_CORE_READ(current, group_leader);
	l.counters = (__u64)BPF_CORE_READ((struct srcu_struct *)ssp, srcu_ctrp);
	l.say = is_old(HG_TRACE, now) && due(&w->tell, now, next_witness(w->from, now));
	w->scans++;
	if (!l.say && now - w->from < over_gp[HG_TRACE] / 4)
		return 0;
	bpf_loop(TASKS_MOST, process_step, &l, 0);
	if (l.n > w->most_blocked)
		w->most_blocked = l.n;
	return 0;
}

static __always_inline bool is_ours(__u64 ssp)
{
	return ssp && srcu_flavour(ssp) == KD_FL_TASKS_TRACE;
}

/* The domain's lock is held. The one before ended in the process_srcu() that we are in. */
SEC("fentry/srcu_gp_start")
int hg_srcu_in(__u64 *ctx)
{
	struct hg_wait *w = &waits[HG_TRACE];
	__u64 ssp = argument(ctx), now;

	if (!recording() || !is_ours(ssp))
		return 0;
	if (w->from)
		wait_end(HG_TRACE, srcu_last_gp_end(ssp));
	now = bpf_ktime_get_ns();
	w->kthread = 0;
	wait_begin(w, now, now, srcu_gp_seq(ssp));
	w->waiting = now;
	return 0;
}

SEC("fexit/process_srcu")
int hg_srcu_out(__u64 *ctx)
{
	struct hg_wait *w = &waits[HG_TRACE];
	__u64 ssp = srcu_of_work(argument(ctx));

	if (!w->from || !is_ours(ssp))
		return 0;
	if (srcu_gp_seq(ssp) & 3)
		return see_candidates(ssp, bpf_ktime_get_ns());
	if (srcu_last_gp_end(ssp) >= w->start)
		wait_end(HG_TRACE, srcu_last_gp_end(ssp));
	return 0;
}

#endif
