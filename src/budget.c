// SPDX-License-Identifier: GPL-2.0-only
/* budget.c - which share of the events to follow so that our programs keep to their budget. */
#include <stdbool.h>

#include "budget.h"

/* Looks come twice a second: a load that comes and goes is not followed at each of its turns. */
#define CALM_LOOKS 6
/* Of the budget, what a fuller share may take: the next look must not find it passed again. */
#define ROOM 0.7
/* Above what is left at the thinnest share: less of this is not worth half of the events. */
#define ABOUT_AS_LITTLE 1.1

static double share_of(const struct budget_cpu *c, unsigned int shift)
{
	double followed = 1.0 / (double)(1u << shift);

	return c->fixed + c->followed * followed + c->left_out * (1 - followed);
}

double budget_share(const struct budget_cpu *c, size_t n, unsigned int shift, size_t *cpu)
{
	double most = 0;

	if (cpu)
		*cpu = 0;
	for (size_t i = 0; i < n; i++) {
		double share = share_of(&c[i], shift);

		if (share <= most)
			continue;
		most = share;
		if (cpu)
			*cpu = i;
	}
	return most;
}

/* The fullest share that takes no more than this of any CPU, or about as little as it can there. */
static unsigned int fullest(const struct budget_cpu *c, size_t n, double allowed)
{
	unsigned int shift = 0;

	for (size_t i = 0; i < n; i++) {
		double least = ABOUT_AS_LITTLE * share_of(&c[i], BUDGET_SHIFT_MOST);
		double most = allowed > least ? allowed : least;

		while (shift < BUDGET_SHIFT_MOST && share_of(&c[i], shift) > most)
			shift++;
	}
	return shift;
}

unsigned int budget_next(struct budget *b, const struct budget_cpu *c, size_t n)
{
	unsigned int need = fullest(c, n, b->share), roomy = fullest(c, n, ROOM * b->share);

	if (need > b->shift)
		b->shift = need;
	else if (roomy < b->shift && ++b->calm >= CALM_LOOKS)
		b->shift = roomy;
	else if (roomy < b->shift)
		return b->shift;
	b->calm = 0;
	return b->shift;
}
