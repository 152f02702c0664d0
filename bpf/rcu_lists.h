/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rcu_lists.h - what the two sides of the pending lists of call_rcu share besides the stream. Only
 * bpf/rcu_lists.bpf.c and src/lists_call_rcu.c include it.
 */
#ifndef KDEFER_RCU_LISTS_H
#define KDEFER_RCU_LISTS_H

#define RL_LISTS 8 /* of one callback list, by enum kd_list: done to invoking; and room */

/* One callback list as it was seen. */
struct rl_seen {
	__u64 length[RL_LISTS];
	__u64 age_ns[2]; /* of lazy and bypass, or KD_UNKNOWN */
	__u64 len;       /* the kernel's count of all of them */
	__u64 exact;     /* all at one moment */
	__u64 invoked;   /* callbacks that this CPU ran, by the kernel's own count */
};

/*
 * What is being written. Not on the stack: of what lies there the verifier of 6.1 takes a zero for one
 * that stays, and the code for other lengths for dead.
 */
struct rl_out {
	struct rl_seen l;
	__u64 deadline, key;
	__u32 flavour, cpu, unit, first, list, flags;
	__u32 stop; /* where to go on */
};

/*
 * rl_see: arg[0] = CPU whose rcu_data is read, into the map `seen`; arg[1] = 1: run on that CPU.
 * rl_emit: arg[0] = enum kd_flavour, arg[1] = where to go on, 0 first, arg[2] = SRCU domains. Returns
 * where to go on, or 0: all written.
 */

#endif
