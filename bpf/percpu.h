/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * percpu.h - static per-CPU variables of the kernel that the two sides speak of by number. Where they
 * are is found without symbols: bpf/percpu.bpf.h says how, src/percpu.c fills in what BTF knows.
 */
#ifndef KDEFER_PERCPU_H
#define KDEFER_PERCPU_H

enum percpu_var {
	PERCPU_RUNQUEUES,
	PERCPU_RCU_DATA,
	PERCPU_KRC,
	PERCPU_TASKS, /* struct rcu_tasks_percpu of each flavour */
	PERCPU_TASKS_RUDE,
	PERCPU_TASKS_TRACE,      /* up to 6.19 */
	PERCPU_TASKS_TRACE_SRCU, /* since 7.0: struct srcu_data */
	PERCPU_THIS_CPU_OFF,     /* what to add to a per-CPU pointer */
	PERCPU_RSTAT_BACKLOG,    /* 6.17 on: head of a list of struct css_rstat_cpu */
	PERCPU_IRQ_REGS,         /* pointer to the registers of what an interrupt interrupted */
	PERCPU_KSOFTIRQD,        /* pointer to that kthread */
	PERCPU_PREEMPT_COUNT,    /* up to 6.1, and since 6.15 */
	PERCPU_HOT,              /* in between: struct pcpu_hot has it */
	PERCPU_CPUSTAT,          /* struct kernel_cpustat */
	PERCPU_TRACEPOINT_SRCU,  /* struct srcu_data of the domain that tracepoints hand over to */
	PERCPU_KSTACK_OFFSET,    /* 6.16 to 6.19: where the next system call begins its stack */
	PERCPU_KSTACK_RND, /* since 7.1: struct rnd_state, from which each system call takes that */
	PERCPU_QNODES,     /* array of struct qnode: places in queues of spinlocks */
	PERCPU_COUNT,
};

#define PERCPU_ABSENT (~0u)

/* A constant of each object that includes percpu.bpf.h. */
struct percpu_where {
	__u32 at[PERCPU_COUNT]; /* offset in the section of per-CPU data, or PERCPU_ABSENT */
	__u32 cpus;             /* numbers of CPUs are below it */
	__u32 possible;         /* how many there are */
	__u32 group_array; /* task_group.cfs_rq is an array of pointers (per-CPU data since 7.2) */
	__u64 offsets, runqueues; /* addresses of symbols, where needed and in kallsyms; else 0 */
};

#endif
