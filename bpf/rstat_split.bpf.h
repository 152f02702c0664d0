/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rstat_split.bpf.h - where it is asked for: what a flush spends its time with besides waits, and what
 * it would be if the lock was given up at every 8th CPU instead of each. A part of rstat.bpf.c.
 */
#ifndef KDEFER_RSTAT_SPLIT_BPF_H
#define KDEFER_RSTAT_SPLIT_BPF_H

const volatile __u32 split; /* it is */

/*
 * In a flush, neither waiting nor holding: what comes then is told apart. Interrupts that come in a
 * wait, and on PREEMPT_RT in a hold, are a part of that.
 */
static __always_inline bool splits_here(struct rs_task *t)
{
	return t->began && !t->wait_from && !(by_lock && t->got);
}

/* --- the lock --- */

/* It has got it: before the first hold of a flush there is nothing that a longer hold would spare. */
static __always_inline void split_got(struct rs_task *t)
{
	struct rs_split *s = &t->split;
	__u64 gap = t->got - t->ended, kept = s->irqs - s->irqs_ago + s->off - s->off_ago;

	if (split && t->began && s->holds && s->holds % RS_GROUP && gap > kept)
		s->spared += gap - kept;
}

static __always_inline void split_gave(struct rs_task *t, __u64 held)
{
	struct rs_split *s = &t->split;

	if (!split)
		return;
	s->group += held;
	if (!t->began) { /* a reader's own, or behind a flush that kept the lock: no CPU follows */
		if (!s->many && followed(t))
			rs_add(t, RS_HOLD_BY_8, s->group);
		s->group = 0;
		return;
	}
	s->held += held;
	s->irqs_ago = s->irqs;
	s->off_ago = s->off;
	s->holds++;
	if (s->holds % RS_GROUP)
		return;
	if (!s->many && followed(t))
		rs_add(t, RS_HOLD_BY_8, s->group);
	s->group = 0;
}

/* One lock around a flush may be given up at each CPU, or when somebody wants it: then it is cpu. */
static __always_inline void split_cpus(struct rs_task *t, __s32 cpu)
{
	__s32 to = cpu < 0 ? (__s32)final_cpu : cpu;

	if (shape == RS_GLOBAL_BODY && to - t->last_cpu > 1)
		t->split.many = 1;
}

/* A flush is over that took so long; with its last hold, or while it still holds the lock. */
static __always_inline void split_over(struct rs_task *t, __u64 took, __u64 now)
{
	struct rs_split *s = &t->split;

	if (!split)
		return;
	if (t->got)
		s->held += now - t->got;
	if (t->how & RS_CUT) { /* known up to its last hold */
		s->irqs = s->irqs_ago;
		s->off = s->off_ago;
	}
	rs_add(t, RS_IRQS, s->irqs);
	rs_add(t, RS_OFF_CPU, s->off);
	if (!by_lock)
		return;
	rs_add(t, RS_HELD, s->held);
	if (s->many)
		return;
	if (s->group && !t->got)
		rs_add(t, RS_HOLD_BY_8, s->group);
	rs_add(t, RS_FLUSH_BY_8, took - s->spared);
}

/* --- interrupts and softirqs, which may come within each other --- */

static __noinline int irq_begins(void)
{
	struct rs_task *t = task_find();

	count_run();
	if (!t || !t->began)
		return 0;
	t->split.own++;
	if (!t->split.irq_depth++)
		t->split.irq_from = splits_here(t) ? bpf_ktime_get_ns() : 0;
	return 0;
}

/* One that had begun before the flush that it does has no beginning here. */
static __noinline int irq_ends(void)
{
	struct rs_task *t = task_find();
	__u64 from, now;

	count_run();
	if (!t || !t->began)
		return 0;
	t->split.own++;
	if (!t->split.irq_depth)
		return 0;
	/* Before it counts as ended: another may come at the end of a softirq, and begin anew. */
	from = *(volatile __u64 *)&t->split.irq_from;
	now = bpf_ktime_get_ns();
	barrier();
	if (!--t->split.irq_depth && from)
		t->split.irqs += now - from;
	return 0;
}

#define INTERRUPT(name, begins, ends)                    \
	SEC("tp_btf/" #begins) int name##_on(__u64 *ctx) \
	{                                                \
		count_run();                             \
		return irq_begins();                     \
	}                                                \
	SEC("tp_btf/" #ends) int name##_off(__u64 *ctx)  \
	{                                                \
		count_run();                             \
		return irq_ends();                       \
	}

INTERRUPT(rs_irq, irq_handler_entry, irq_handler_exit)
INTERRUPT(rs_softirq, softirq_entry, softirq_exit)
/* Of x86, which has these apart. */
INTERRUPT(rs_timer, local_timer_entry, local_timer_exit)
INTERRUPT(rs_resched, reschedule_entry, reschedule_exit)
INTERRUPT(rs_call, call_function_entry, call_function_exit)
INTERRUPT(rs_call_one, call_function_single_entry, call_function_single_exit)
INTERRUPT(rs_irq_work, irq_work_entry, irq_work_exit)

/* --- switches --- */

static __always_inline struct rs_task *task_of(__u64 task)
{
	struct task_struct *p = (void *)task;
	__u64 key = (__u32)BPF_CORE_READ(p, pid);

	return key ? task_by(key) : NULL;
}

/* One in a softirq, which PREEMPT_RT allows, is a part of that. */
SEC("tp_btf/sched_switch")
int rs_switch(__u64 *ctx)
{
	struct rs_task *from = task_of(ctx[1]), *to = task_of(ctx[2]);
	__u64 now = bpf_ktime_get_ns();

	count_run();
	if (from)
		from->split.own++;
	if (from && splits_here(from) && !from->split.irq_depth)
		from->split.off_from = now;
	if (to && to->split.off_from) {
		to->split.off += now - to->split.off_from;
		to->split.off_from = 0;
	}
	return 0;
}

#endif
