/* SPDX-License-Identifier: GPL-2.0-only */
/* own_cost.h - what our programs took of the host: estimates, as src/session_cost.c makes them. */
#ifndef KDEFER_OWN_COST_H
#define KDEFER_OWN_COST_H

#include <stdbool.h>
#include <stddef.h>

#include "model.h"
#include "scope.h"

/* The name of the fact that says what the estimate leaves out, and why. */
#define OWN_COST_UNKNOWN "own_cost_unknown"

/*
 * Some of our programs run while a measure of rstat goes on: what they took, as a share of the time
 * measured in the scope. NAN: not a measure of that kind, or not known. 1 or more: the estimate is longer
 * than what was measured, and so says nothing (own_cost_is_possible()).
 */
double own_cost_share(const struct model *m, const struct scope *sc, unsigned int measure);
bool own_cost_is_possible(double share);

/*
 * "1.2M events, about 31 ms in our programs (0.31% of one CPU); ..." of the window; "" where no
 * program of ours was attached.
 */
char *own_cost_text(char *buf, size_t size, const struct model *m, const struct scope *sc);

#endif
