/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bench_watch.h - kdefer's own measures beside a load, where this kernel gives them: lengths of lists,
 * holds of a lock. A load that cannot be watched runs all the same.
 */
#ifndef KDEFER_BENCH_WATCH_H
#define KDEFER_BENCH_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "model.h"
#include "stream.h"

struct session;

struct bench_watch {
	struct session *session; /* NULL: nothing is watched */
	struct model model;
	struct stream stream;
	char reason[512]; /* why nothing is watched */
};

/*
 * Recording is on when it returns. 0, also where the kernel does not have it (see `reason`); -EINTR: a
 * signal came; another negative errno (logged). Drops the rights that are not needed any more: first
 * make what needs them.
 */
int bench_watch_start(struct bench_watch *w, unsigned int source, uint64_t measures);
/* The model knows what is now. 0 or a negative errno (logged). Nothing is watched: nothing happens. */
int bench_watch_tick(struct bench_watch *w);
/* The same, and what the model calls a run begins here. */
int bench_watch_rebase(struct bench_watch *w);
void bench_watch_end(struct bench_watch *w); /* detaches; all zero is fine */

/* Callbacks on the lists of RCU at the last tick, of all CPUs. */
uint64_t bench_watch_callbacks(const struct bench_watch *w);
/* Of a measure of the run, over all its keys: count and extremes. False: it is off, see why(). */
bool bench_watch_total(const struct bench_watch *w, unsigned int measure, struct hist *h);
/* Why a measure is off. Never NULL. */
const char *bench_watch_why(const struct bench_watch *w, unsigned int measure);

#endif
