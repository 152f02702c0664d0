/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * settle.bpf.c - whether a flavour of RCU is at rest, looked at as state, from afar, between attaching
 * and recording: attaching hands over callbacks of its own. Nothing is hooked, nothing is written.
 */
#include "cblist.bpf.h"
#include "percpu.bpf.h"
#include "srcu_gp.bpf.h"
#include "settle.h"

struct st_sum {
	__u64 waiting;
	__u32 var;
};

static long add_tasks(__u32 cpu, struct st_sum *s)
{
	struct rcu_tasks_percpu *p = (void *)percpu_address(s->var & 15, cpu);

	if (p)
		s->waiting += cblist_len((__u64)&p->cblist);
	return 0;
}

static long add_srcu(__u32 cpu, struct st_sum *s)
{
	struct srcu_data *p = (void *)percpu_address(s->var & 15, cpu);

	if (p)
		s->waiting += cblist_len((__u64)&p->srcu_cblist);
	return 0;
}

static __always_inline int answer(__u64 seq, __u64 waiting)
{
	return (seq & SETTLE_SEQ_MASK) << 1 | (waiting || seq & 3);
}

static __noinline int look_tasks(__u32 var)
{
	__u64 rtp = percpu_rcu_tasks(var & 15, bpf_get_smp_processor_id());
	struct st_sum s = { .var = var & 15 };

	if (!rtp)
		return SETTLE_ABSENT;
	bpf_loop(percpu.cpus, add_tasks, &s, 0);
	return answer(BPF_CORE_READ((struct rcu_tasks *)rtp, tasks_gp_seq), s.waiting);
}

/* A domain that nothing has used yet has nothing to wait for. */
static __noinline int look_srcu(__u32 var)
{
	struct srcu_data *sdp = (void *)percpu_address(var & 15, bpf_get_smp_processor_id());
	struct st_sum s = { .var = var & 15 };
	__u64 ssp = sdp ? (__u64)BPF_CORE_READ(sdp, ssp) : 0;

	if (!ssp)
		return SETTLE_ABSENT;
	bpf_loop(percpu.cpus, add_srcu, &s, 0);
	return answer(srcu_gp_seq(ssp), s.waiting);
}

SEC("raw_tp")
int st_look(struct kd_run_args *args)
{
	switch (args->arg[0]) {
	case KD_FL_TASKS:
		return look_tasks(PERCPU_TASKS);
	case KD_FL_TASKS_RUDE:
		return look_tasks(PERCPU_TASKS_RUDE);
	case KD_FL_TASKS_TRACE:
		if (percpu.at[PERCPU_TASKS_TRACE_SRCU] != PERCPU_ABSENT)
			return look_srcu(PERCPU_TASKS_TRACE_SRCU);
		return look_tasks(PERCPU_TASKS_TRACE);
	case KD_FL_SRCU:
		return look_srcu(PERCPU_TRACEPOINT_SRCU);
	}
	return SETTLE_ABSENT;
}
