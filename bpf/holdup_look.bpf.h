/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * holdup_look.bpf.h - how the task in charge of a grace period fares, and readers of RCU that were
 * preempted: looked at from the tick of whichever CPU comes first. A part of holdup_gp.bpf.c.
 */
#ifndef KDEFER_HOLDUP_LOOK_BPF_H
#define KDEFER_HOLDUP_LOOK_BPF_H

#include "holdup_told.bpf.h"

#define BLOCKED_MOST 8 /* preempted readers seen at one leaf */

static __always_inline void look_at_kthread(__u32 kind, __u64 now, bool say)
{
	struct hg_wait *w = &waits[kind & (HG_KINDS - 1)];
	struct task_struct *k = (void *)w->kthread;

	if (!k)
		return;
	if (witness_state(k) != KD_WIT_RUNNABLE) {
		kthread_runs(w, now);
		return;
	}
	if (!w->kthread_since)
		w->kthread_since = now;
	else if (say)
		tell_task(kind, (__u64)k, KD_ROLE_KTHREAD, 0);
}

struct hg_readers {
	__u64 node, head, leaf, now;
	__u32 kind, cpu, say, n;
};

/* How long it was seen not to run, if there is room to keep it. */
static __noinline int keep_blocked(struct hg_wait *w, __u64 pid, __u32 state, __u64 now)
{
	struct hg_blocked *b;
	int i;

	if (!w)
		return 0;
	for (i = 0; i < HG_BLOCKED; i++) {
		b = &w->blocked[i];
		if (b->pid && b->pid != pid)
			continue;
		b->pid = pid;
		if (b->since)
			b->ns += now - b->since;
		b->since = state == KD_WIT_RUNNING ? 0 : now;
		return 0;
	}
	return 0;
}

/* The list changes under us: a task that is not blocked at this leaf (any more) leads astray. */
static long reader_step(__u32 i, struct hg_readers *l)
{
	struct hg_cpu *c;
	struct task_struct *t;
	__u32 state, pid;

	if (!l->node || l->node == l->head)
		return 1;
	t = (void *)(l->node - bpf_core_field_offset(struct task_struct, rcu_node_entry));
	if ((__u64)BPF_CORE_READ(t, rcu_blocked_node) != l->leaf)
		return 1;
	l->n++;
	state = witness_state(t);
	pid = BPF_CORE_READ(t, pid);
	keep_blocked(&waits[l->kind & (HG_KINDS - 1)], pid, state, l->now);
	if (state == KD_WIT_RUNNING) {
		c = cpu_of(l->kind, BPF_CORE_READ(t, thread_info.cpu));
		if (c)
			c->reader_of = pid;
	} else if (l->say) {
		tell_task(l->kind, (__u64)t, KD_ROLE_TASK, KD_WIT_READER | KD_WIT_NEST_KNOWN);
	}
	l->node = word_at(l->node);
	return 0;
}

static long leaf_step(__u32 i, struct hg_readers *l)
{
	struct rcu_data *rdp = percpu_rcu_data(l->cpu);
	struct rcu_node *rnp;

	if (l->cpu >= percpu.cpus)
		return 1;
	if (!rdp) {
		l->cpu++;
		return 0;
	}
	rnp = BPF_CORE_READ(rdp, mynode);
	l->cpu = BPF_CORE_READ(rnp, grphi) + 1;
	l->node = l->kind == HG_NORMAL ? (__u64)BPF_CORE_READ(rnp, gp_tasks)
				       : (__u64)BPF_CORE_READ(rnp, exp_tasks);
	if (!l->node)
		return 0;
	l->leaf = (__u64)rnp;
	l->head = (__u64)&rnp->blkd_tasks;
	bpf_loop(BLOCKED_MOST, reader_step, l, 0);
	return 0;
}

static __noinline int look_at_readers(__u32 kind, __u64 now, bool say)
{
	struct hg_readers l = { .kind = kind, .now = now, .say = say };
	struct hg_wait *w = &waits[kind & (HG_KINDS - 1)];

	if (!bpf_core_field_exists(struct task_struct, rcu_node_entry))
		return 0;
	bpf_loop(percpu.cpus, leaf_step, &l, 0);
	if (l.n > w->most_blocked)
		w->most_blocked = l.n;
	return 0;
}

#endif
