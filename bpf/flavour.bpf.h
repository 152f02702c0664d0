/* SPDX-License-Identifier: GPL-2.0-only */
/* flavour.bpf.h - which flavour of RCU something of the kernel's is of. */
#ifndef KDEFER_FLAVOUR_BPF_H
#define KDEFER_FLAVOUR_BPF_H

#include "ring.bpf.h"

/* Since 7.0; 0 elsewhere, and where kallsyms shows no addresses. */
extern const void rcu_tasks_trace_srcu_struct __ksym __weak;

/* Tasks Trace is built on SRCU since 7.0: on a domain of its own. */
static __always_inline __u8 srcu_flavour(__u64 ssp)
{
	__u64 trace = (__u64)&rcu_tasks_trace_srcu_struct;

	return trace && ssp == trace ? KD_FL_TASKS_TRACE : KD_FL_SRCU;
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
