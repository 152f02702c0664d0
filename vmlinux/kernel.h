/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel.h - the contract with the kernel: every structure and field that kdefer reads, and no other.
 *
 * All accesses are relocated at load time (CO-RE), so order and size here mean nothing. Each field ends
 * with the versions it stands for, FIRST..LAST, either end open; where a layout differs, a second
 * structure with a ___suffix describes it. tests/contract holds this file against the BTF of
 * every kernel of the matrix, so a wrong range is an error, not a comment.
 */
#ifndef KDEFER_VMLINUX_KERNEL_H
#define KDEFER_VMLINUX_KERNEL_H

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* BTF calls struct rcu_head by its other name. */
struct callback_head {
	struct callback_head *next; /* 6.1.. */
	/* Set before the list is joined, zeroed before the call. */
	void (*func)(void *head); /* 6.1.. */
};

/* A plain list; the batch being invoked is one, on the stack of who invokes it. */
struct rcu_cblist {
	struct callback_head *head; /* 6.1.. */
	long len;                   /* 6.1.. */
};

struct rcu_segcblist {
	struct callback_head *head; /* 6.1.. */
};

/* len counts all that is not yet invoked: every segment, the bypass list, the batch in progress. */
struct rcu_segcblist___atomic {
	struct {
		long counter;
	} len; /* 6.1.. with CONFIG_RCU_NOCB_CPU (a plain long without) */
};

struct task_struct {
	struct {
		void *next;
	} trc_holdout_list; /* 6.1..6.19 Tasks Trace has its own readers' lists; since 7.0 it is an SRCU domain */
};

struct work_struct {
	void (*func)(struct work_struct *work); /* 6.1.. */
};

struct delayed_work {
	struct work_struct work; /* 6.1.. */
};

/* Grace periods of an SRCU domain. The low two bits of srcu_gp_seq are 0 between grace periods. */
struct srcu_struct___v6_1 {
	unsigned long srcu_gp_seq;      /* 6.1..6.3 */
	unsigned long srcu_last_gp_end; /* 6.1..6.3 ns of CLOCK_MONOTONIC */
	struct delayed_work work;       /* 6.1..6.3 process_srcu() */
};

struct srcu_usage;

struct srcu_struct {
	struct srcu_usage *srcu_sup; /* 6.4.. */
};

struct srcu_usage {
	unsigned long srcu_gp_seq;      /* 6.4.. */
	unsigned long srcu_last_gp_end; /* 6.4.. ns of CLOCK_MONOTONIC */
	struct delayed_work work;       /* 6.4.. process_srcu() */
	struct srcu_struct *srcu_ssp;   /* 6.4.. */
};

struct rcu_tasks {
	char *name; /* 6.1.. "RCU Tasks", "RCU Tasks Rude", "RCU Tasks Trace" */
};

struct rcu_data {
	struct rcu_segcblist cblist;       /* 6.1.. */
	struct callback_head barrier_head; /* 6.1.. what rcu_barrier() queues, by no call_rcu() */
	struct rcu_cblist nocb_bypass;     /* 6.1.. CONFIG_RCU_NOCB_CPU */
	struct task_struct
		*nocb_cb_kthread;    /* 6.1.. CONFIG_RCU_NOCB_CPU; not NULL: may be offloaded */
	long lazy_len;               /* 6.12.. CONFIG_RCU_LAZY */
	unsigned long n_cbs_invoked; /* 6.1.. grows at the end of each batch */
};

struct rcu_tasks_percpu {
	struct rcu_segcblist cblist; /* 6.1.. */
};

#pragma clang attribute pop

#endif
