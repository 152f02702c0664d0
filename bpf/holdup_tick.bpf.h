/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * holdup_tick.bpf.h - the tick of a CPU, while a grace period is under way. A part of holdup_gp.bpf.c.
 */
#ifndef KDEFER_HOLDUP_TICK_BPF_H
#define KDEFER_HOLDUP_TICK_BPF_H

#include "holdup_look.bpf.h"

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
