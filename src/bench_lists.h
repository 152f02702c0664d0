/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bench_lists.h - how long the lists of freed BPF memory of a map become while a load runs: kdefer's
 * own readers of them, in a process beside the load.
 */
#ifndef KDEFER_BENCH_LISTS_H
#define KDEFER_BENCH_LISTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define BENCH_LISTS_MAX 32

struct bench_peak {
	char list[48];
	uint64_t length, bytes; /* the most at one look, over all CPUs and sizes */
	double mean;            /* over all looks */
};

struct bench_lists_shared;

struct bench_lists {
	pid_t pid; /* 0: not looking */
	struct bench_lists_shared *shared;
	char why[256]; /* it cannot look: why */
};

/* What one window has shown. */
struct bench_peaks {
	uint64_t looks;
	uint64_t waiting; /* the most at one look on all lists but free_llist, which is at hand */
	uint64_t inexact; /* looks at which a list was not walked to its end */
	unsigned int n;
	struct bench_peak peak[BENCH_LISTS_MAX];
};

/*
 * Starts the process; it looks every interval_ns. 0, also where lists cannot be read here (why), or a
 * negative errno (logged).
 */
int bench_lists_start(struct bench_lists *l, uint64_t interval_ns);
void bench_lists_begin(struct bench_lists *l, uint32_t map_id); /* looks begin to count */
void bench_lists_end(struct bench_lists *l);                    /* the window is over */
/* What it has shown; once the load is stopped, which else keeps us waiting. False: nothing (why). */
bool bench_lists_seen(struct bench_lists *l, struct bench_peaks *p);
void bench_lists_stop(struct bench_lists *l);

#endif
