/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rstat_state.h - what the two sides of the pending lists of rstat share besides the stream. Only
 * bpf/rstat_state.bpf.c and src/lists_rstat.c include it.
 */
#ifndef KDEFER_RSTAT_STATE_H
#define KDEFER_RSTAT_STATE_H

/* The lists of one CPU, in the order in which they are written: a tree and a backlog each. */
enum rss_unit {
	RSS_BASE,
	RSS_BASE_BACKLOG,
	RSS_MEMORY,
	RSS_MEMORY_BACKLOG,
	RSS_IO,
	RSS_IO_BACKLOG,
	RSS_UNITS,
};

/*
 * rss_look: arg[0] = CPU, arg[1] = 1: run on that CPU, arg[2] = unit to begin with. Returns the unit
 * to go on with when the ring was full or its time was up, RSS_UNITS: all written.
 */

/*
 * State of the loops, which one program runs at a time. Not on the stack, where verifiers (6.19) follow
 * every value that a counter may have, until memory is out.
 */
struct rss_walk {
	__u64 root, node, css, deadline;
	__u32 cpu, n;
	__u32 up;   /* what hangs below node was seen */
	__u32 torn; /* a pointer led nowhere: it was changed meanwhile */
	__u32 done;
	__u32 first, there, stop; /* units to look at */
};

#endif
