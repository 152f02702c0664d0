/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * runs.bpf.h - how often our programs run, which is what they cost.
 *
 * Counted by each program that runs seldom. One on a hot path counts here only what it does not do:
 * what it does moves a count of its own, from which its runs follow.
 */
#ifndef KDEFER_RUNS_BPF_H
#define KDEFER_RUNS_BPF_H

#include "ring.bpf.h"

#define RUN_CELLS 64 /* a power of two; CPUs share them */

/* A line of the cache each. */
struct {
	__u64 n, pad[7];
} run_cells[RUN_CELLS];

__u64 runs_on; /* recording */

static __always_inline void count_run(void)
{
	if (*(volatile __u64 *)&runs_on)
		__sync_fetch_and_add(&run_cells[bpf_get_smp_processor_id() & (RUN_CELLS - 1)].n, 1);
}

static __always_inline __u64 runs_counted(void)
{
	__u64 sum = 0;
	int i;

	for (i = 0; i < RUN_CELLS; i++)
		sum += *(volatile __u64 *)&run_cells[i].n;
	return sum;
}

#endif
