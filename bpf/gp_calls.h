/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * gp_calls.h - the functions in which somebody waits for grace periods: both ends of each are hooked, by
 * programs called after it, for how long that takes (rcu_gp.bpf.c) and why (holdup_caller.bpf.h).
 */
#ifndef KDEFER_GP_CALLS_H
#define KDEFER_GP_CALLS_H

enum gp_call {
	CALL_NONE,
	CALL_SYNC,
	CALL_BARRIER,
	CALL_SYNC_EXP,
	CALL_SYNC_TASKS,
	CALL_BARRIER_TASKS,
	CALL_SYNC_RUDE,
	CALL_BARRIER_RUDE,
	CALL_SYNC_TRACE,
	CALL_BARRIER_TRACE,
	CALL_SYNC_SRCU,
	CALL_SYNC_SRCU_EXP,
	CALL_BARRIER_SRCU,
};

/* CALL(name of programs, function, enum gp_call, enum kd_flavour: that of a domain is asked for) */
#define GP_CALLS(CALL)                                                                         \
	CALL(sync, synchronize_rcu, CALL_SYNC, KD_FL_RCU)                                      \
	CALL(barrier, rcu_barrier, CALL_BARRIER, KD_FL_RCU)                                    \
	CALL(sync_exp, synchronize_rcu_expedited, CALL_SYNC_EXP, KD_FL_EXPEDITED)              \
	CALL(tasks_sync, synchronize_rcu_tasks, CALL_SYNC_TASKS, KD_FL_TASKS)                  \
	CALL(tasks_bar, rcu_barrier_tasks, CALL_BARRIER_TASKS, KD_FL_TASKS)                    \
	CALL(rude_sync, synchronize_rcu_tasks_rude, CALL_SYNC_RUDE, KD_FL_TASKS_RUDE)          \
	CALL(rude_bar, rcu_barrier_tasks_rude, CALL_BARRIER_RUDE, KD_FL_TASKS_RUDE)            \
	CALL(trace_sync, synchronize_rcu_tasks_trace, CALL_SYNC_TRACE, KD_FL_TASKS_TRACE)      \
	CALL(trace_bar, rcu_barrier_tasks_trace, CALL_BARRIER_TRACE, KD_FL_TASKS_TRACE)        \
	CALL(srcu_sync, synchronize_srcu, CALL_SYNC_SRCU, flavour_of_domain(ctx))              \
	CALL(srcu_exp, synchronize_srcu_expedited, CALL_SYNC_SRCU_EXP, flavour_of_domain(ctx)) \
	CALL(srcu_bar, srcu_barrier, CALL_BARRIER_SRCU, flavour_of_domain(ctx))

/* One function calls the other where the kernel is told to expedite all, and its caller waits for both. */
#define GP_CALL_INSIDE(inner, outer)                           \
	(((outer) == CALL_SYNC && (inner) == CALL_SYNC_EXP) || \
	 ((outer) == CALL_SYNC_SRCU && (inner) == CALL_SYNC_SRCU_EXP))

#endif
