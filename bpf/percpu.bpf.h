/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * percpu.bpf.h - the address of a static per-CPU variable on any CPU, and what hangs on such variables,
 * on kernels that list no data in kallsyms too (CONFIG_KALLSYMS_ALL=n), and under any kptr_restrict.
 *
 * The running task leads to the run queue of the CPU it runs on, which is one of these variables. BTF
 * says how far apart they are, so one address gives all of that CPU. Other CPUs are found by whatever
 * of three ways this kernel has; what is found is believed only if rcu_data there says it is that
 * CPU's. Done once, by kd_percpu, before anything else is run.
 */
#ifndef KDEFER_PERCPU_BPF_H
#define KDEFER_PERCPU_BPF_H

#include "ring.bpf.h"
#include "percpu.h"

const volatile struct percpu_where percpu;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* user space: a CPU each */
	__type(key, __u32);
	__type(value, __u64); /* where this CPU's section begins; 0: not found */
} percpu_bases SEC(".maps");

static __always_inline __u64 percpu_base(__u32 cpu)
{
	__u64 *base = bpf_map_lookup_elem(&percpu_bases, &cpu);

	return base ? *base : 0;
}

/* 0: this kernel has no such variable, or that CPU was not found. */
static __always_inline __u64 percpu_address(enum percpu_var var, __u32 cpu)
{
	__u64 base = percpu_base(cpu);

	return base && percpu.at[var] != PERCPU_ABSENT ? base + percpu.at[var] : 0;
}

static __always_inline struct rcu_data *percpu_rcu_data(__u32 cpu)
{
	return (void *)percpu_address(PERCPU_RCU_DATA, cpu);
}

/* --- finding them --- */

/* Takes `base` for that CPU's if what is there agrees. 1: it does. */
static __noinline int percpu_take(int cpu, __u64 base)
{
	struct rcu_data *rdp = (void *)(base + percpu.at[PERCPU_RCU_DATA]);
	struct rcu_node *rnp = BPF_CORE_READ(rdp, mynode);

	if (!base || !rnp || BPF_CORE_READ(rdp, cpu) != cpu || BPF_CORE_READ(rnp, grplo) > cpu ||
	    BPF_CORE_READ(rnp, grphi) < cpu)
		return 0;
	bpf_map_update_elem(&percpu_bases, &cpu, &base, BPF_ANY);
	return 1;
}

struct percpu_search {
	__u32 here;
	__u64 base;         /* of `here` */
	__u64 group, tasks; /* tables of pointers */
	__u64 at;           /* where in its section that is which `tasks` points to */
};

/* The kernel's own table of offsets. */
static long percpu_by_symbol(__u32 cpu, struct percpu_search *s)
{
	if (!percpu_base(cpu))
		percpu_take(cpu, s->base - word_at(percpu.offsets + 8 * (__u64)s->here) +
					 word_at(percpu.offsets + 8 * (__u64)cpu));
	return 0;
}

/* A group of tasks has a queue on each CPU, which knows its run queue. */
static long percpu_by_group(__u32 cpu, struct percpu_search *s)
{
	struct cfs_rq *q = (void *)word_at(s->group + 8 * (__u64)cpu);

	if (!percpu_base(cpu))
		percpu_take(cpu, (__u64)BPF_CORE_READ(q, rq) - percpu.at[PERCPU_RUNQUEUES]);
	return 0;
}

/* RCU Tasks has a table of pointers to its per-CPU part, one for each possible CPU. */
static long percpu_by_tasks(__u32 i, struct percpu_search *s)
{
	struct rcu_tasks_percpu *rtpcp = (void *)word_at(s->tasks + 8 * (__u64)i);
	__u32 cpu = BPF_CORE_READ(rtpcp, cpu);

	if (!percpu_base(cpu))
		percpu_take(cpu, (__u64)rtpcp - s->at);
	return 0;
}

static __noinline __u64 percpu_base_here(__u32 here)
{
	struct task_struct *current = (void *)bpf_get_current_task();
	__u64 rq = 0;

	if (bpf_core_field_exists(current->se.cfs_rq))
		rq = (__u64)BPF_CORE_READ(current, se.cfs_rq, rq);
	else if (percpu.runqueues && percpu.offsets)
		rq = percpu.runqueues + word_at(percpu.offsets + 8 * (__u64)here);
	return rq ? rq - percpu.at[PERCPU_RUNQUEUES] : 0;
}

static __always_inline void percpu_search_tasks(struct percpu_search *s, enum percpu_var var)
{
	struct rcu_tasks_percpu *rtpcp = (void *)percpu_address(var, s->here);

	if (!rtpcp || !bpf_core_field_exists(struct rcu_tasks, rtpcp_array))
		return;
	s->at = percpu.at[var];
	s->tasks = (__u64)BPF_CORE_READ(rtpcp, rtpp, rtpcp_array);
	if (s->tasks)
		bpf_loop(percpu.possible, percpu_by_tasks, s, 0);
}

/* 0: what can be found is found; -1: not even this CPU. */
SEC("raw_tp")
int kd_percpu(struct kd_run_args *args)
{
	struct task_struct *current = (void *)bpf_get_current_task();
	struct percpu_search s = { .here = bpf_get_smp_processor_id() };

	s.base = percpu_base_here(s.here);
	if (!percpu_take(s.here, s.base))
		return -1;
	percpu_search_tasks(&s, PERCPU_TASKS);
	percpu_search_tasks(&s, PERCPU_TASKS_RUDE);
	percpu_search_tasks(&s, PERCPU_TASKS_TRACE);
	if (percpu.group_array) {
		s.group = (__u64)BPF_CORE_READ(current, sched_task_group, cfs_rq);
		bpf_loop(percpu.cpus, percpu_by_group, &s, 0);
	}
	if (percpu.offsets)
		bpf_loop(percpu.cpus, percpu_by_symbol, &s, 0);
	return 0;
}

/* --- what hangs on them --- */

/* struct rcu_state begins with its tree of nodes, which each CPU hangs in. 0: not found. */
static __always_inline __u64 percpu_rcu_state(__u32 cpu)
{
	struct rcu_data *rdp = percpu_rcu_data(cpu);
	struct rcu_node *rnp, *up;
	int i;

	if (!rdp)
		return 0;
	rnp = BPF_CORE_READ(rdp, mynode);
	for (i = 0; i < 4; i++) { /* as many levels as a tree can have */
		up = BPF_CORE_READ(rnp, parent);
		if (!up)
			break;
		rnp = up;
	}
	return (__u64)rnp - bpf_core_field_offset(struct rcu_state, node);
}

/* struct rcu_tasks of a flavour, 0: none. */
static __always_inline __u64 percpu_rcu_tasks(enum percpu_var var, __u32 cpu)
{
	struct rcu_tasks_percpu *rtpcp = (void *)percpu_address(var, cpu);

	return rtpcp ? (__u64)BPF_CORE_READ(rtpcp, rtpp) : 0;
}

/* The SRCU domain that Tasks Trace is built on since 7.0; 0: none, or not used yet. */
static __always_inline __u64 percpu_trace_domain(__u32 cpu)
{
	struct srcu_data *sdp = (void *)percpu_address(PERCPU_TASKS_TRACE_SRCU, cpu);

	return sdp ? (__u64)BPF_CORE_READ(sdp, ssp) : 0;
}

#endif
