/* SPDX-License-Identifier: GPL-2.0-only */
/* normal.h - planted data: samples of a normal distribution (Box and Muller), by the library's chance. */
#ifndef KDEFER_TEST_NORMAL_H
#define KDEFER_TEST_NORMAL_H

#include <math.h>

#include "stats.h"

static double rng_normal(struct rng *r)
{
	double u = rng_unit(r), v = rng_unit(r);

	return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

#endif
