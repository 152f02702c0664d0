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

/* How the kernel's locks tell who waits for them. */
enum rss_lock {
	RSS_LOCK_SILENT, /* not at all */
	RSS_LOCK_QUEUE,  /* a queued spinlock */
	RSS_LOCK_MUTEX,  /* kernels for real time */
};

/*
 * rss_waiters: arg[0] = unit without backlog, arg[1] = 1: spinlocks are known to have queues here. To be
 * run before any CPU is interrupted. Returns bit 0: the ring was full, and not all of it was written;
 * bit 1: queues of spinlocks have been used.
 */
#define RSS_FULL 1
#define RSS_USED 2

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

/* The same for those who wait for a lock. */
struct rss_queue {
	__u64 tail, node, deadline;
	__u64 walk; /* its number */
	__u32 word, cpu;
	__u32 found; /* nodes in the queue */
	__u32 leads; /* the node that was followed leads to the tail */
	__u32 cut;   /* a walk was */
	__u32 used;  /* some node was, at any time: spinlocks have queues here */
	__u32 up; /* of a tree: 1: all that hangs below node was seen, 2: what hangs left of it */
	__u32 n;  /* of a tree: nodes */
};

/* A node that was found to lead to the tail, so that others need not be followed further. */
struct rss_passed {
	__u64 node, walk;
};

#endif
