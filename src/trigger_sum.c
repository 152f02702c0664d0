// SPDX-License-Identifier: GPL-2.0-only
/* trigger_sum.c - from counted events to rates and costs. */
#include <math.h>

#include "stats.h"
#include "trigger_sum.h"

void trigger_sum_step(struct trigger_sum *s, uint64_t events, uint64_t ns)
{
	if (s->n < TRIGGER_STEPS && ns)
		s->rate[s->n++] = (double)events * 1e9 / (double)ns;
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

bool trigger_sum_rate(const struct trigger_sum *s, struct trigger_rate *rate)
{
	if (!s->n)
		return false;
	rate->mean = stats_mean(s->rate, s->n);
	rate->sd = s->n > 1 ? stats_sd(s->rate, s->n) : -1;
	return true;
}

/* Of one event in nanoseconds of a CPU, as the deviations of two rates make it uncertain. */
bool trigger_sum_cost(const struct trigger_sum *s, const struct trigger_sum *empty,
		      unsigned int threads, struct trigger_rate *cost)
{
	struct trigger_rate with, without;
	double a, b;

	if (!trigger_sum_rate(s, &with) || !trigger_sum_rate(empty, &without) || with.mean <= 0 ||
	    without.mean <= 0)
		return false;
	a = threads * 1e9 / with.mean;
	b = threads * 1e9 / without.mean;
	cost->mean = a - b;
	cost->sd = -1;
	if (with.sd >= 0 && without.sd >= 0)
		cost->sd = hypot(a * with.sd / with.mean, b * without.sd / without.mean);
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
