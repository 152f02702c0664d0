/* SPDX-License-Identifier: GPL-2.0-only */
/* holdup_rstat.h - what the two sides of reports on flushes of cgroup statistics share besides the stream. */
#ifndef KDEFER_HOLDUP_RSTAT_H
#define KDEFER_HOLDUP_RSTAT_H

#define HR_HOLDS 64 /* long holds of the lock that are remembered; a power of two */

/* A task that flushes, or has to do with the lock. */
struct hr_task {
	__u64 began; /* ns: the flush; 0: none that is hooked */
	__u64 cgrp;  /* what is flushed */
	__u64 lock;  /* which lock that takes; 0: unknown */
	__u64 asked, got;
	__u64 held, waited, holds;
	__u64 visited, visited_before; /* cgroups, once for each CPU; before this hold */
	__u64 longest_wait, longest_wait_from;
	__u32 sub;     /* enum kd_flavour */
	__u32 irqsafe; /* the lock is held from beginning to end */
	__u64 alone;   /* it was seen from when it had the lock */
};

struct hr_hold {
	__u64 lock, from, to, cgroup;
	__u32 pid, tgid, prio, cpu;
	char comm[16];
};

enum hr_run { HR_START, HR_STOP };

#endif
