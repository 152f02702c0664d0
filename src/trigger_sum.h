/* SPDX-License-Identifier: GPL-2.0-only */
/* trigger_sum.h - what measured events come to: rates with their deviation, costs, what was missed. */
#ifndef KDEFER_TRIGGER_SUM_H
#define KDEFER_TRIGGER_SUM_H

#include <stdbool.h>
#include <stdint.h>

#define TRIGGER_STEPS 32 /* rates of one sum; what comes beyond is left out */

struct trigger_sum {
	double rate[TRIGGER_STEPS]; /* events per second, of parts of the window */
	unsigned int n;
	double cpu[TRIGGER_STEPS]; /* nanoseconds of a CPU for one event, of those with events */
	unsigned int ncpu;
	uint64_t made, hits;         /* from the first event to the last, warm-up included */
	uint64_t recursion, no_room; /* missed, as far as the kernel counts it */
};

struct trigger_rate {
	double mean, sd; /* sd negative: of a single value there is none */
};

/* A part of the window: events, its length, and the time that those who made them had a CPU. */
void trigger_sum_step(struct trigger_sum *s, uint64_t events, uint64_t ns, uint64_t cpu_ns);
void trigger_sum_events(struct trigger_sum *s, uint64_t made, uint64_t hits, uint64_t recursion,
			uint64_t no_room);

/* Events that were made and that the program did not count, whoever missed them. */
uint64_t trigger_sum_missed(const struct trigger_sum *s);
/* Events that the program counted beyond those that were made: somebody else's. */
uint64_t trigger_sum_foreign(const struct trigger_sum *s);

/* Per second. False: nothing was measured. */
bool trigger_sum_rate(const struct trigger_sum *s, struct trigger_rate *rate);
/* Nanoseconds of a CPU for each event, which others that want the CPU do not change. False: not known. */
bool trigger_sum_cpu(const struct trigger_sum *s, struct trigger_rate *cpu);
/* The same, above that of events with nothing attached. */
bool trigger_sum_cost(const struct trigger_sum *s, const struct trigger_sum *empty,
		      struct trigger_rate *cost);

/* 1, 2, 4 ... and `most` itself; returns how many. */
unsigned int trigger_counts(unsigned int most, unsigned int *count, unsigned int room);

#endif
