/* SPDX-License-Identifier: GPL-2.0-only */
/* pace.h - when what of a steady or bursty stream is due. Times count from its beginning. */
#ifndef KDEFER_PACE_H
#define KDEFER_PACE_H

#include <stdint.h>

struct pace {
	uint64_t per_s; /* > 0 */
	uint64_t burst; /* that come together, >= 1 */
};

#define PACE_MOST_PER_S 1000000000ULL

/* How many are due by then: whole bursts, the first at 0. */
uint64_t pace_due(const struct pace *p, uint64_t now_ns);
/* When the one after the first `done` is due; `done` is a multiple of the burst. */
uint64_t pace_next_ns(const struct pace *p, uint64_t done);
/* The share of one of n, so that all together are what was asked for; index < n. */
uint64_t pace_share(uint64_t all, unsigned int n, unsigned int index);

#endif
