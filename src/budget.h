/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * budget.h - which share of the events to follow so that our programs keep to their budget: --budget.
 * Pure functions of what they took on each CPU; who asks and who obeys is src/session_budget.c.
 */
#ifndef KDEFER_BUDGET_H
#define KDEFER_BUDGET_H

#include <stddef.h>

#define BUDGET_SHIFT_MOST 10 /* the thinnest share is 1 of 2^10 */

/* What our programs take of one CPU, as shares of its time. */
struct budget_cpu {
	double fixed;    /* those whose events cannot be left out */
	double followed; /* the others, if each event were followed ... */
	double left_out; /* ... and if none were */
};

struct budget {
	double share;       /* allowed of each CPU, > 0 */
	unsigned int shift; /* 1 of 2^shift is followed now */
	unsigned int calm;  /* looks in a row at which more could have been followed */
};

/* What our programs would take of the busiest CPU; *cpu, if not NULL: which it is. */
double budget_share(const struct budget_cpu *c, size_t n, unsigned int shift, size_t *cpu);

/*
 * One look: the shift to go on with, kept in b->shift too. Fewer events at once, as soon as there is
 * too much; more of them only when it has been calm for some looks, and then with room to spare. Where
 * even the thinnest share takes more than is allowed, the fullest that takes about as little.
 */
unsigned int budget_next(struct budget *b, const struct budget_cpu *c, size_t n);

#endif
