/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rcu_gp.h - what the two sides of the rcu_gp source share besides the stream. Only
 * bpf/rcu_gp.bpf.c and src/source_rcu_gp.c include it.
 */
#ifndef KDEFER_RCU_GP_H
#define KDEFER_RCU_GP_H

/*
 * Lists of worst samples for each flavour of each measure. Not one a CPU, for our programs can be
 * preempted: each takes one that is free.
 */
#define RG_BINS 4
#define RG_LISTS (2 * KD_FL_RCU_END * RG_BINS)
KD_STATIC_ASSERT((RG_LISTS & (RG_LISTS - 1)) == 0);

/* Something that began: a call that waits, or a grace period. */
struct rg_open {
	__u64 when;   /* ns; RG_SKIP: left out by sampling */
	__u64 caller; /* address in the function that called; 0 unknown, or a grace period */
	__u32 cpu;
	__u8 what;    /* enum rg_what */
	__u8 flavour; /* enum kd_flavour */
	__u16 pad;
};

KD_STATIC_ASSERT(sizeof(struct rg_open) == 24);

#define RG_SKIP 1ULL

/* What the run-on-demand program is asked (struct kd_run_args.arg[0]). */
enum rg_run {
	RG_START,
	RG_STOP,
};

/*
 * kd_tick: arg[0] = cursor (0 first), arg[1] = the interval that ends, arg[2] = beginnings that the
 * kernel kept from our programs since the start. Returns the next cursor, 0 = done.
 */

#endif
