/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bench_crew.h - the processes of a load: one on each CPU it is to run on, begun together, counted
 * over a window of known length. They die with kdefer, however it dies.
 */
#ifndef KDEFER_BENCH_CREW_H
#define KDEFER_BENCH_CREW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bench.h"

#define BENCH_COUNTS 14
#define BENCH_LOAD_COMM "kdefer-load" /* how these processes are called */

/* What one process shares with kdefer: a line of the cache of its own. */
struct bench_slot {
	uint64_t count[BENCH_COUNTS]; /* the load's own; only that process writes them */
	uint32_t ready;
	char error[396]; /* what it says when it fails */
} __attribute__((aligned(512)));

struct bench_shared {
	int go, stop;
};

/* A process as it sees itself. */
struct bench_seat {
	unsigned int index; /* 0, 1, ... */
	int cpu;            /* that it is pinned to; -1: none */
	struct bench_slot *slot;
	struct bench_shared *shared;
};

/*
 * What such a process does: makes itself ready, calls bench_seat_wait(), then works until
 * bench_seat_stopped(). 0, or what bench_seat_err() returned.
 */
typedef int (*bench_work)(void *ctx, struct bench_seat *seat);

void bench_seat_wait(struct bench_seat *seat); /* until all are ready and may go */
int bench_seat_err(struct bench_seat *seat, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static inline bool bench_seat_stopped(const struct bench_seat *seat)
{
	return __atomic_load_n(&seat->shared->stop, __ATOMIC_RELAXED);
}

struct bench_crew {
	unsigned int n;
	pid_t *pid; /* 0: has ended */
	struct bench_shared *shared;
	struct bench_slot *slot; /* n of them */
};

/* CPUs for processes, one each, in this order. */
struct bench_cpus {
	int *cpu;
	unsigned int n;
};

/* Of a list like "0-3,8", for an OPT_CALL. 0 or -EINVAL (logged). */
int bench_parse_affinity(void *cpus, const char *list);
/*
 * `wanted` of the CPUs that were asked for, or of those that this process may run on where none were;
 * 0 is all of them. Of those there may be too few: -ENODEV, logged. The caller frees out->cpu.
 */
int bench_choose_cpus(const struct bench_cpus *asked, uint64_t wanted, struct bench_cpus *out);

/*
 * Starts n processes and returns when all wait to go. cpus: that they are pinned to, one each; NULL:
 * none is. 0 or a negative errno (logged, and all ended again).
 */
int bench_crew_start(struct bench_crew *c, unsigned int n, const int *cpus, bench_work work,
		     void *ctx);
void bench_crew_go(struct bench_crew *c);
/* Tells them to stop, and waits for them. 0 or the first failure (logged). Counts stay readable. */
int bench_crew_finish(struct bench_crew *c);
/* The same, and lets go of the counts. All zero: nothing. */
int bench_crew_stop(struct bench_crew *c);
/* Of all, or of one; read while they go on. */
uint64_t bench_crew_sum(const struct bench_crew *c, unsigned int count);

/* --- windows --- */

enum bench_when { BENCH_BEGIN, BENCH_STEP, BENCH_END };

struct bench_window {
	const char *what; /* for progress: the case */
	uint64_t warm_up_ns;
	uint64_t duration_ns;
	uint64_t step_ns; /* how often step() is called in between; 0: never */
	/*
	 * At the begin of the window, at each step, and at its end, with the time that it is then (as
	 * clock_mono_ns()). 0: go on; 1: that is enough, this is the end; negative errno: give up (logged).
	 */
	int (*step)(void *ctx, enum bench_when when, uint64_t now_ns);
	void *ctx;
};

/*
 * Waits for warm-up and window. 0; -EINTR: a signal came (the END step was called if the window had
 * begun); or what went wrong (logged), a process that died too.
 */
int bench_window(struct bench_run *run, struct bench_crew *crew, const struct bench_window *w);

#endif
