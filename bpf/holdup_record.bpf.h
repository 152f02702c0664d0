/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * holdup_record.bpf.h - what each CPU saw of a grace period that is under way: what its ticks
 * interrupted, counted as a flight recorder does. A part of holdup_gp.bpf.c.
 */
#ifndef KDEFER_HOLDUP_RECORD_BPF_H
#define KDEFER_HOLDUP_RECORD_BPF_H

#include "holdup_wait.bpf.h"

/* --- what the tick interrupts --- */

#define USER_REGS 21
#define HG_MIX 0x9e3779b97f4a7c15ULL
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
	__builtin_memset(c, 0, offsetof(struct hg_cpu, reported_of));
	c->early[0].when = c->early[1].when = 0;
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

/*
 * RCU asks for its softirq or kthread at each tick, as long as this CPU has something to report, or has not
 * so much as noticed the grace period. Nothing keeps them from running here but their turn.
 */
static __always_inline bool has_work(struct rcu_data *rdp, __u32 flags)
{
	__u8 no_qs = 1;

	if (flags & (KD_WIT_BARRED | KD_WIT_IDLE))
		return false;
	bpf_probe_read_kernel(&no_qs, 1, &rdp->cpu_no_qs);
	return (!no_qs && BPF_CORE_READ(rdp, core_needs_qs)) ||
	       BPF_CORE_READ(rdp, gp_seq) != BPF_CORE_READ(rdp, mynode, gp_seq);
}

/* What RCU itself knows of this CPU. */
static __always_inline void record_rcu(struct hg_cpu *c, __u32 here, __u32 flags, __u64 now)
{
	struct rcu_data *rdp = percpu_rcu_data(here);

	if (!rdp)
		return;
	if (!c->urgent && BPF_CORE_READ(rdp, rcu_urgent_qs))
		c->urgent = now;
	if (has_work(rdp, flags)) {
		if (!c->unreported)
			c->unreported = now;
	} else if (c->unreported) {
		c->unreported_ns += now - c->unreported;
		c->unreported = 0;
	}
}

/*
 * A kernel that randomizes where system calls begin their stacks (randomize_kstack_offset=) draws
 * anew for each: in the task, on the CPU, or from a generator of the CPU's. Such a kernel tells one stay
 * in the kernel from the same call again and again, whose registers may be the same each time.
 */
#define MARK_IN_TASK bpf_core_field_exists(struct task_struct, kstack_offset)

static __always_inline __u64 stack_mark(struct hg_seen *seen, __u32 here)
{
	__u64 words[2] = {}, at = percpu_address(PERCPU_KSTACK_RND, here);
	struct task_struct *t = (void *)seen->task;
	__u32 offset = 0;

	if (at) {
		bpf_probe_read_kernel(words, sizeof(words), (void *)at);
		return words[0] ^ words[1] * HG_MIX;
	}
	if (MARK_IN_TASK) {
		offset = BPF_CORE_READ(t, kstack_offset);
	} else {
		at = percpu_address(PERCPU_KSTACK_OFFSET, here);
		if (at)
			bpf_probe_read_kernel(&offset, sizeof(offset), (void *)at);
	}
	if (offset)
		marks_move = 1; /* 0 until the first is drawn */
	return offset;
}

/* Of a CPU's mark the next task's calls draw, too. */
static __always_inline bool mark_moved(struct hg_cpu *c, struct hg_seen *seen, __u32 here)
{
	__u64 mark = stack_mark(seen, here), runs = switches_of(here);
	bool moved = c->mark && mark != c->mark;

	if (moved && !MARK_IN_TASK)
		marks_move = 1;
	moved = moved && (MARK_IN_TASK || runs == c->runs);
	c->mark = mark;
	c->runs = runs;
	return moved;
}

/* The registers of user mode as they were when the kernel was entered from there. 0: unknown. */
static __noinline __u64 user_registers(void)
{
	__u64 regs[USER_REGS] = {}, sum = 0;
	int i;

	if (bpf_probe_read_kernel(regs, sizeof(regs),
				  (void *)bpf_task_pt_regs(bpf_get_current_task_btf())))
		return 0;
	for (i = 0; i < USER_REGS; i++)
		sum = (sum ^ regs[i]) * HG_MIX;
	return sum;
}

/* Traces of user mode, where the tick does not land in it. */
static __always_inline void record_passes(struct hg_cpu *c, struct hg_seen *seen, __u32 here)
{
	bool moved = mark_moved(c, seen, here);
	__u64 regs;

	if (seen->flags & KD_WIT_USER) {
		c->task = 0;
		return;
	}
	regs = user_registers();
	if (c->task == seen->task && (moved || (regs && regs != c->regs)))
		c->passes++;
	c->task = seen->task;
	c->regs = regs;
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
		record_rcu(c, here, seen->flags, now);
	record_passes(c, seen, here);
	count_tick(c, seen->flags);
	return 0;
}

#endif
