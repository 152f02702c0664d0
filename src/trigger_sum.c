// SPDX-License-Identifier: GPL-2.0-only
/* trigger_sum.c - from counted events to rates and costs. */
#include <math.h>

#include "stats.h"
#include "trigger_sum.h"

void trigger_sum_step(struct trigger_sum *s, uint64_t events, uint64_t ns, uint64_t cpu_ns)
{
	if (s->n < TRIGGER_STEPS && ns)
		s->rate[s->n++] = (double)events * 1e9 / (double)ns;
	if (s->ncpu < TRIGGER_STEPS && events)
		s->cpu[s->ncpu++] = (double)cpu_ns / (double)events;
}

void trigger_sum_events(struct trigger_sum *s, uint64_t made, uint64_t hits, uint64_t recursion,
			uint64_t no_room)
{
	s->made += made;
	s->hits += hits;
	s->recursion += recursion;
	s->no_room += no_room;
}

uint64_t trigger_sum_missed(const struct trigger_sum *s)
{
	return s->made > s->hits ? s->made - s->hits : 0;
}

uint64_t trigger_sum_foreign(const struct trigger_sum *s)
{
	return s->hits > s->made ? s->hits - s->made : 0;
}

static bool summarize(const double *x, unsigned int n, struct trigger_rate *r)
{
	if (!n)
		return false;
	r->mean = stats_mean(x, n);
	r->sd = n > 1 ? stats_sd(x, n) : -1;
	return true;
}

bool trigger_sum_rate(const struct trigger_sum *s, struct trigger_rate *rate)
{
	return summarize(s->rate, s->n, rate);
}

bool trigger_sum_cpu(const struct trigger_sum *s, struct trigger_rate *cpu)
{
	return summarize(s->cpu, s->ncpu, cpu);
}

bool trigger_sum_cost(const struct trigger_sum *s, const struct trigger_sum *empty,
		      struct trigger_rate *cost)
{
	struct trigger_rate with, without;

	if (!trigger_sum_cpu(s, &with) || !trigger_sum_cpu(empty, &without))
		return false;
	cost->mean = with.mean - without.mean;
	cost->sd = with.sd >= 0 && without.sd >= 0 ? hypot(with.sd, without.sd) : -1;
	return true;
}

unsigned int trigger_counts(unsigned int most, unsigned int *count, unsigned int room)
{
	unsigned int n = 0;

	for (unsigned int i = 1; i < most && n + 1 < room; i *= 2)
		count[n++] = i;
	count[n++] = most;
	return n;
}
