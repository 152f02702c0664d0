/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * holdup_tick.bpf.h - what ticks see of a grace period that is under way: what they interrupt on each
 * CPU, how the task in charge fares, readers that were preempted. A part of holdup_gp.bpf.c.
 */
#ifndef KDEFER_HOLDUP_TICK_BPF_H
#define KDEFER_HOLDUP_TICK_BPF_H

#include "holdup_wait.bpf.h"

const volatile bool has_task_from_pid;

extern struct task_struct *bpf_task_from_pid(__s32 pid) __ksym __weak;
extern void bpf_task_release(struct task_struct *p) __ksym __weak;

#define WITNESS_NS 10000000ULL     /* at most one from a CPU in that time ... */
#define WITNESS_SHARE 16           /* ... and in this share of the wait's age */
#define WITNESS_MOST 512           /* of one wait */
#define BLOCKED_MOST 8             /* preempted readers seen at one leaf */
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

/* --- what the tick interrupts --- */

#define USER_REGS 21
#define HG_PREEMPT_BITS 0x00ff
#define HG_SOFTIRQ_BITS 0xff00

/* What is the state of a CPU in user mode where a program of ours looks: programs are readers themselves. */
__u32 base_nesting = 1, base_count;

struct hg_seen {
	__u64 task;
	__u64 gap; /* since the tick before */
	__u32 pid;
	__u16 flags; /* KD_WIT_* */
};

static __always_inline __u32 preempt_count_of(__u32 cpu)
{
	__u64 at = percpu_address(PERCPU_PREEMPT_COUNT, cpu);
	__u32 count = 0;

	if (!at && bpf_core_field_exists(struct pcpu_hot, preempt_count)) {
		at = percpu_address(PERCPU_HOT, cpu);
		if (at)
			at += bpf_core_field_offset(struct pcpu_hot, preempt_count);
	}
	if (at)
		bpf_probe_read_kernel(&count, sizeof(count), (void *)at);
	return count & (HG_PREEMPT_BITS | HG_SOFTIRQ_BITS);
}

static __always_inline void see(struct hg_seen *seen, __u32 here, int user)
{
	struct task_struct *t = (void *)bpf_get_current_task();
	__u32 count = preempt_count_of(here), nesting = 0;

	seen->task = (__u64)t;
	seen->pid = (__u32)bpf_get_current_pid_tgid();
	seen->gap = 0;
	seen->flags = KD_WIT_RUNNING;
	if (bpf_core_field_exists(t->rcu_read_lock_nesting)) {
		nesting = BPF_CORE_READ(t, rcu_read_lock_nesting);
		seen->flags |= KD_WIT_NEST_KNOWN;
	}
	if (user) {
		seen->flags |= KD_WIT_USER;
		base_nesting = nesting;
		base_count = count;
		return;
	}
	if (!seen->pid && !(count & HG_SOFTIRQ_BITS)) {
		seen->flags |= KD_WIT_USER | KD_WIT_IDLE;
		return;
	}
	if ((int)(nesting - base_nesting) > 0)
		seen->flags |= KD_WIT_READER;
	if (count != base_count)
		seen->flags |= KD_WIT_BARRED;
}

static __always_inline bool owes(__u32 kind, __u32 cpu)
{
	struct rcu_data *rdp = percpu_rcu_data(cpu);
	struct rcu_node *rnp;
	__u64 mask;

	if (!rdp)
		return false;
	rnp = BPF_CORE_READ(rdp, mynode);
	mask = kind == HG_NORMAL ? BPF_CORE_READ(rnp, qsmask) : BPF_CORE_READ(rnp, expmask);
	return mask & BPF_CORE_READ(rdp, grpmask);
}

/* --- the flight recorder --- */

static __always_inline void begin_record(struct hg_cpu *c, __u64 start, __u32 here)
{
	__u64 reported = c->reported;

	__builtin_memset(c, 0, offsetof(struct hg_cpu, early));
	c->early[0].when = c->early[1].when = 0;
	c->reported = reported;
	c->start = c->tick = c->last = start;
	c->switches = switches_of(here);
	c->steal = steal_of(here);
}

static __always_inline void record_gap(struct hg_cpu *c, __u64 now)
{
	__u64 gap = now > c->last ? now - c->last : 0;

	if (gap > c->gap) {
		c->gap = gap;
		c->gap_end = now;
	}
	c->last = now;
}

/* What RCU itself knows of this CPU. */
static __always_inline void record_rcu(struct hg_cpu *c, __u32 here, __u64 now)
{
	struct rcu_data *rdp = percpu_rcu_data(here);
	__u8 no_qs = 1;

	if (!rdp)
		return;
	if (!c->urgent && BPF_CORE_READ(rdp, rcu_urgent_qs))
		c->urgent = now;
	bpf_probe_read_kernel(&no_qs, 1, &rdp->cpu_no_qs);
	if (!no_qs && BPF_CORE_READ(rdp, core_needs_qs)) {
		if (!c->unreported)
			c->unreported = now;
	} else if (c->unreported) {
		c->unreported_ns += now - c->unreported;
		c->unreported = 0;
	}
}

/* A trace of user mode: registers as they were when the kernel was entered from there. */
static __always_inline void record_passes(struct hg_cpu *c, struct hg_seen *seen)
{
	__u64 regs[USER_REGS] = {}, sum = 0;
	struct task_struct *t;
	int i;

	if (seen->flags & KD_WIT_USER) {
		c->task = 0;
		return;
	}
	t = bpf_get_current_task_btf();
	if (bpf_probe_read_kernel(regs, sizeof(regs), (void *)bpf_task_pt_regs(t)))
		return;
	for (i = 0; i < USER_REGS; i++)
		sum = (sum ^ regs[i]) * 0x9e3779b97f4a7c15ULL;
	if (c->task == seen->task && c->regs != sum)
		c->passes++;
	c->task = seen->task;
	c->regs = sum;
}

static __always_inline void count_tick(struct hg_cpu *c, __u32 flags)
{
	c->ticks++;
	if (flags & KD_WIT_USER)
		c->user++;
	else if (flags & KD_WIT_READER)
		c->reader++;
	else if (!(flags & KD_WIT_BARRED))
		c->bare++;
	if (flags & KD_WIT_BARRED)
		c->barred++;
}

static __noinline int record(__u32 kind, struct hg_cpu *c, struct hg_seen *seen, __u64 now)
{
	struct hg_wait *w = &waits[kind & (HG_KINDS - 1)];
	__u64 start = *(volatile __u64 *)&w->start;
	__u32 here = bpf_get_smp_processor_id();

	if (!c || !seen || !start)
		return 0;
	if (c->start != start)
		begin_record(c, start, here);
	seen->gap = now > c->tick ? now - c->tick : 0;
	c->tick = now;
	alive(w, now);
	if (!owes(kind, here))
		return 0; /* it has reported: what runs here now is in nobody's way */
	record_gap(c, now);
	if (kind == HG_NORMAL)
		record_rcu(c, here, now);
	record_passes(c, seen);
	count_tick(c, seen->flags);
	return 0;
}

/* --- witnesses --- */

/* Before the limit: kept here, and sent if the wait gets too long. */
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

/* --- looks: at the task in charge, and at readers that were preempted --- */

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

/* --- the tick --- */

/* Nothing is under way. Is something asked for, and nobody starts it? */
static __always_inline void see_request(void)
{
	struct rcu_state *s = (void *)rcu_state;
	struct hg_wait *w = &waits[HG_NORMAL];
	__u64 now, age;

	if (!s || !(BPF_CORE_READ(s, gp_flags) & 1))
		return;
	now = bpf_ktime_get_ns();
	if (!due(&w->look, now, now + NS_PER_S / 2 / hz))
		return;
	age = jiffies_age(BPF_CORE_READ(s, gp_req_activity));
	look_at_kthread(HG_NORMAL, now,
			age > over_gp[HG_NORMAL] && due(&w->tell, now, now + WITNESS_NS));
}

static __noinline int see_asked(void *ctx, __u32 kind, struct hg_cpu *c, struct hg_seen *seen)
{
	if (!c || !seen)
		return 0;
	if (c->rival_of && seen->pid != c->rival_of && !(seen->flags & KD_WIT_IDLE))
		tell_cpu(ctx, kind, KD_ROLE_RIVAL, seen, c->rival_of);
	c->rival_of = 0;
	return 0;
}

static __always_inline void look(__u32 kind, __u64 now, __u64 from, bool old)
{
	struct hg_wait *w = &waits[kind & (HG_KINDS - 1)];
	bool say;

	if (!due(&w->look, now, now + NS_PER_S / 2 / hz))
		return;
	say = old && due(&w->tell, now, next_witness(from, now));
	look_at_kthread(kind, now, say);
	if (now - from > over_gp[kind & (HG_KINDS - 1)] / 4)
		look_at_readers(kind, now, say);
}

static __noinline int tick_early(void *ctx, __u32 kind, struct hg_cpu *c, struct hg_seen *seen,
				 __u64 now)
{
	__u64 from = waits[kind & (HG_KINDS - 1)].from;

	if (!c || !seen)
		return 0;
	if (seen->gap > GAP_NS && seen->gap == c->gap && owes(kind, bpf_get_smp_processor_id()))
		return keep_early(ctx, &c->early[1], seen, now);
	if (!c->early[0].when && now - from > over_gp[kind & (HG_KINDS - 1)] / 2 &&
	    owes(kind, bpf_get_smp_processor_id()))
		keep_early(ctx, &c->early[0], seen, now);
	return 0;
}

static __noinline int tick_late(void *ctx, __u32 kind, struct hg_cpu *c, struct hg_seen *seen,
				__u64 now)
{
	__u32 here = bpf_get_smp_processor_id();
	__u64 from = waits[kind & (HG_KINDS - 1)].from;

	if (!c || !seen)
		return 0;
	if (now < c->next && seen->gap <= GAP_NS)
		return 0;
	if (c->reader_of == seen->pid && seen->pid) {
		c->next = next_witness(from, now);
		c->reader_of = 0;
		return tell_cpu(ctx, kind, KD_ROLE_TASK, seen, 0);
	}
	if (!owes(kind, here))
		return 0;
	c->next = next_witness(from, now);
	tell_early(kind, here, &c->early[0]);
	tell_early(kind, here, &c->early[1]);
	return tell_cpu(ctx, kind, KD_ROLE_CPU, seen, 0);
}

/* What this tick sees of a wait of one kind. */
static __noinline int tick_of(void *ctx, __u32 kind, int user)
{
	struct hg_wait *w = &waits[kind & (HG_KINDS - 1)];
	__u64 now, from = *(volatile __u64 *)&w->from, start = *(volatile __u64 *)&w->start;
	__u32 here = bpf_get_smp_processor_id();
	struct hg_cpu *c = cpu_of(kind, here);
	struct hg_seen seen;
	bool old;

	if (!c || !(c->rival_of | (from && start)))
		return 0;
	see(&seen, here, user);
	now = bpf_ktime_get_ns();
	if (from && start)
		record(kind, c, &seen, now);
	if (c->rival_of)
		see_asked(ctx, kind, c, &seen);
	if (!from || !start)
		return 0;
	old = now - from > over_gp[kind & (HG_KINDS - 1)] && from >= since;
	look(kind, now, from, old);
	return old ? tick_late(ctx, kind, c, &seen, now) : tick_early(ctx, kind, c, &seen, now);
}

/* Whether a task is in a reader of Tasks Trace. */
static __always_inline __u32 trace_reader_flags(struct task_struct *t)
{
	if (!bpf_core_field_exists(t->trc_reader_nesting))
		return 0;
	return KD_WIT_NEST_KNOWN | (BPF_CORE_READ(t, trc_reader_nesting) > 0 ? KD_WIT_READER : 0);
}

/* Of those that wait for tasks: one of these runs here, or what runs in the stead of one. */
static __noinline int tick_of_tasks(void *ctx, __u32 kind, int user)
{
	struct hg_wait *w = &waits[kind & (HG_KINDS - 1)];
	struct hg_cpu *c = cpu_of(kind, bpf_get_smp_processor_id());
	__u64 now = bpf_ktime_get_ns(), from = *(volatile __u64 *)&w->from;
	struct hg_seen seen;

	if (!c || !from)
		return 0;
	if (due(&w->look, now, now + NS_PER_S / 2 / hz))
		look_at_kthread(kind, now,
				now - from > over_gp[kind & (HG_KINDS - 1)] &&
					due(&w->tell_kthread, now, next_witness(from, now)));
	if (!(c->reader_of | c->rival_of))
		return 0;
	see(&seen, bpf_get_smp_processor_id(), user);
	if (c->rival_of)
		see_asked(ctx, kind, c, &seen);
	if (c->reader_of == seen.pid && seen.pid) {
		if (kind == HG_TRACE)
			seen.flags = (seen.flags & ~(KD_WIT_READER | KD_WIT_NEST_KNOWN)) |
				     trace_reader_flags((void *)seen.task);
		tell_cpu(ctx, kind, KD_ROLE_TASK, &seen, 0);
	}
	c->reader_of = 0;
	return 0;
}

SEC("fentry/rcu_sched_clock_irq")
int BPF_PROG(hg_tick, int user)
{
	if (!recording())
		return 0;
	if (over_gp[HG_NORMAL] != ~0ULL) {
		if (!waits[HG_NORMAL].from)
			see_request();
		tick_of(ctx, HG_NORMAL, user);
	}
	if (over_gp[HG_EXPEDITED] != ~0ULL && waits[HG_EXPEDITED].from)
		tick_of(ctx, HG_EXPEDITED, user);
	if (over_gp[HG_TASKS] != ~0ULL && waits[HG_TASKS].from)
		tick_of_tasks(ctx, HG_TASKS, user);
	if (over_gp[HG_TRACE] != ~0ULL && waits[HG_TRACE].from)
		tick_of_tasks(ctx, HG_TRACE, user);
	return 0;
}

#endif
