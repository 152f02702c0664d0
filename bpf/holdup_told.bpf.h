/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * holdup_told.bpf.h - who was seen while a grace period took too long, and its report as it ends. A part of
 * holdup_gp.bpf.c.
 */
#ifndef KDEFER_HOLDUP_TOLD_BPF_H
#define KDEFER_HOLDUP_TOLD_BPF_H

#include "holdup_record.bpf.h"

const volatile bool has_task_from_pid;

extern struct task_struct *bpf_task_from_pid(__s32 pid) __ksym __weak;
extern void bpf_task_release(struct task_struct *p) __ksym __weak;

#define WITNESS_NS 10000000ULL     /* at most one from a CPU in that time ... */
#define WITNESS_SHARE 16           /* ... and in this share of the wait's age */
#define WITNESS_MOST 512           /* of one wait */
#define GAP_NS (3 * NS_PER_S / hz) /* without a tick: worth telling */

static __always_inline bool due(__u64 *when, __u64 now, __u64 next)
{
	__u64 was = *(volatile __u64 *)when;

	return now >= was && __sync_val_compare_and_swap(when, was, next) == was;
}

static __always_inline __u64 next_witness(__u64 from, __u64 now)
{
	__u64 step = (now - from) / WITNESS_SHARE;

	return now + (step > WITNESS_NS ? step : WITNESS_NS);
}

static __always_inline struct kd_rec_witness *tell(__u32 kind, __u8 role)
{
	struct hg_wait *w = &waits[kind & (HG_KINDS - 1)];

	if (__sync_fetch_and_add(&w->told, 1) >= WITNESS_MOST)
		return 0;
	return witness_reserve(wait_id(w->id, kind), KD_SRC_RCU_GP, role);
}

/* --- before the limit: kept here, and sent if the wait gets too long --- */

static __noinline int keep_early(void *ctx, struct hg_early *e, struct hg_seen *seen, __u64 now)
{
	struct witness_stack *s;
	struct task_struct *t;

	if (!e || !seen)
		return 0;
	t = (void *)seen->task;
	e->when = now;
	e->gap = seen->gap;
	e->flags = seen->flags;
	e->pid = seen->pid;
	e->tgid = BPF_CORE_READ(t, tgid);
	e->prio = BPF_CORE_READ(t, prio);
	e->cgroup = BPF_CORE_READ(t, cgroups, dfl_cgrp, kn, id);
	bpf_probe_read_kernel_str(e->comm, sizeof(e->comm), &t->comm);
	e->ip[0] = 0;
	s = witness_scratch();
	if (s && !(seen->flags & KD_WIT_USER) && bpf_get_stack(ctx, s, WITNESS_BYTES, 0) > 0)
		witness_frames(e->ip, witness_find_at(witness_interrupted()));
	return 0;
}

static __noinline int tell_early(__u32 kind, __u32 cpu, struct hg_early *e)
{
	struct kd_rec_witness *r;

	if (!e || !e->when)
		return 0;
	r = tell(kind, KD_ROLE_CPU);
	if (!r)
		return 0;
	r->mono_ns = e->when;
	r->cpu = cpu;
	r->flags = e->flags;
	r->pid = e->pid;
	r->tgid = e->tgid;
	r->prio = e->prio;
	r->cgroup = e->cgroup;
	__builtin_memcpy(r->comm, e->comm, sizeof(r->comm));
	r->comm[sizeof(r->comm) - 1] = '\0';
	if (e->gap > GAP_NS) {
		r->flags |= KD_WIT_GAP;
		r->gap_ns = e->gap;
	}
	if (e->ip[0])
		bpf_snprintf(r->stack, sizeof(r->stack), WITNESS_FORMAT, e->ip, sizeof(e->ip));
	e->when = 0;
	witness_submit(r);
	return 0;
}

/* --- as it is seen --- */

static __noinline int tell_cpu(void *ctx, __u32 kind, __u8 role, struct hg_seen *seen, __u32 of)
{
	struct kd_rec_witness *r;

	if (!seen)
		return 0;
	r = tell(kind, role);
	if (!r)
		return 0;
	witness_task(r, (struct task_struct *)seen->task);
	r->cpu = bpf_get_smp_processor_id();
	r->flags |= seen->flags;
	r->of_pid = of;
	if (seen->gap > GAP_NS) {
		r->flags |= KD_WIT_GAP;
		r->gap_ns = seen->gap;
	}
	if (!(seen->flags & KD_WIT_USER))
		witness_stack_here(ctx, r);
	witness_submit(r);
	return 0;
}

/* Where a task that does not run waits. */
static __noinline int stack_of(struct kd_rec_witness *r, __u32 pid)
{
	struct witness_stack *s = witness_scratch();
	struct task_struct *t;
	long got;

	if (!has_task_from_pid || !s || !r)
		return 0;
	t = bpf_task_from_pid(pid);
	if (!t)
		return 0;
	got = bpf_get_task_stack(t, s, WITNESS_BYTES, 0);
	bpf_task_release(t);
	if (got > 0)
		witness_names(r, 0);
	return 0;
}

/* One that does not run here. What runs in its stead says so itself, by the next tick of its CPU. */
static __noinline int tell_task(__u32 kind, __u64 task, __u8 role, __u32 flags)
{
	struct kd_rec_witness *r;
	struct hg_cpu *c;

	r = tell(kind, role);
	if (!r)
		return 0;
	witness_task(r, (struct task_struct *)task);
	r->flags |= flags;
	if (r->flags & KD_WIT_RUNNABLE) {
		c = cpu_of(kind, r->cpu);
		if (c)
			c->rival_of = r->pid;
	}
	if (!(r->flags & KD_WIT_RUNNING))
		stack_of(r, r->pid);
	witness_submit(r);
	return 0;
}

/* --- its end --- */

static __noinline int wait_end(__u32 kind, __u64 now)
{
	struct hg_wait *w = &waits[kind & (HG_KINDS - 1)];
	struct hg_cpu *c;
	__u32 cpu;

	kthread_runs(w, now);
	keep_past(kind, now);
	if (now - w->from > over_gp[kind & (HG_KINDS - 1)] && recording() && w->from >= since) {
		cpu = PACK_CPU(w->last);
		c = cpu_of(kind, cpu);
		if (c && c->start == w->start) {
			tell_early(kind, cpu, &c->early[0]);
			tell_early(kind, cpu, &c->early[1]);
		}
		send_holdup(kind, now, 0);
	}
	wait_forget(w);
	return 0;
}

#endif
