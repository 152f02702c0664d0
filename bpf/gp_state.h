/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * gp_state.h - what the two sides of the grace periods read as state share besides the stream. Only
 * bpf/gp_state.bpf.c and src/lists_rcu_gp.c include it.
 */
#ifndef KDEFER_GP_STATE_H
#define KDEFER_GP_STATE_H

#define GS_OWED_MAX 64 /* records of who owes, each flavour */

/* The grace period being looked at. */
struct gs_gp {
	__u64 root; /* rcu_state, rcu_tasks or srcu_struct */
	__u64 seq, age_ns;
	__u64 leaf;     /* the last whose readers were counted */
	__u64 counters; /* Tasks Trace since 7.0: those in use */
	__u32 flavour, state;
	__u32 cpus, tasks, leaves, flags, sent;
};

enum gs_step {
	GS_BEGIN, /* reads the grace period. 1: one is under way, and those who owe are to be looked for */
	GS_WALK, /* arg[2] = CPU to go on with, 0 first: those who owe. The next, or 0: all seen */
	GS_END,  /* writes KD_REC_GP. 1: the ring is full */
};

/*
 * gs_look: arg[0] = enum kd_flavour, arg[1] = enum gs_step, arg[3] = SRCU domains. Tasks flavours have, instead of GS_WALK, the
 * iterator gs_task over all tasks.
 */

#endif
