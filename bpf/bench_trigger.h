/* SPDX-License-Identifier: GPL-2.0-only */
/* bench_trigger.h - what the two sides of `bench trigger` share. */
#ifndef KDEFER_BENCH_TRIGGER_H
#define KDEFER_BENCH_TRIGGER_H

#define TRIGGER_SLOTS 1024 /* a power of two; CPUs with higher numbers are not used */

/* Events that the attached program counted on a CPU; a cache line each, so that none waits for another. */
struct trigger_slot {
	unsigned long long hits;
	unsigned long long pad[7];
};

#endif
