/* SPDX-License-Identifier: GPL-2.0-only */
/* flavour.bpf.h - which flavour of RCU something of the kernel's is of. */
#ifndef KDEFER_FLAVOUR_BPF_H
#define KDEFER_FLAVOUR_BPF_H

#include "percpu.bpf.h"

__u64 trace_domain; /* once it is known */

static __noinline int is_trace_domain(__u64 ssp)
{
	if (!trace_domain)
		trace_domain = percpu_trace_domain(bpf_get_smp_processor_id());
	return ssp == trace_domain;
}

/* Tasks Trace is built on SRCU since 7.0: on a domain of its own. */
static __always_inline __u8 srcu_flavour(__u64 ssp)
{
	if (percpu.at[PERCPU_TASKS_TRACE_SRCU] != PERCPU_ABSENT && is_trace_domain(ssp))
		return KD_FL_TASKS_TRACE;
	return KD_FL_SRCU;
}

/* "RCU Tasks", "RCU Tasks Rude" or "RCU Tasks Trace": what differs comes after the first word. */
static __always_inline __u8 tasks_flavour(struct rcu_tasks *rtp)
{
	char name[16] = {};
	char *from = BPF_CORE_READ(rtp, name);

	bpf_probe_read_kernel_str(name, sizeof(name), from);
	switch (name[10]) {
	case 'R':
		return KD_FL_TASKS_RUDE;
	case 'T':
		return KD_FL_TASKS_TRACE;
	}
	return KD_FL_TASKS;
}

#endif
