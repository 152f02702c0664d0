/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * histogram.h - log-linear histograms of unsigned 64-bit values (layout: bpf/defer.h).
 *
 * Units are the caller's (nanoseconds for every latency here). Merge is addition.
 */
#ifndef KDEFER_HISTOGRAM_H
#define KDEFER_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../bpf/defer.h"

struct hist {
	uint64_t bucket[KD_HIST_BUCKETS];
	uint64_t sum;
	uint64_t min;    /* UINT64_MAX while empty */
	uint64_t max;    /* 0 while empty */
	uint64_t groups; /* bit g: group g of buckets may hold counts, all others are 0 */
	uint64_t each;   /* counts that one sample may stand for, at most; 0 is 1 */
};

void hist_init(struct hist *h);
void hist_add(struct hist *h, uint64_t value);
void hist_put(struct hist *h, unsigned int bucket, uint64_t n); /* n more in it; no extremes */
void hist_merge(struct hist *into, const struct hist *from);
uint64_t hist_count(const struct hist *h);

unsigned int hist_bucket(uint64_t value);
uint64_t hist_low(unsigned int bucket);  /* inclusive */
uint64_t hist_high(unsigned int bucket); /* exclusive; UINT64_MAX (inclusive) for the last bucket */

/*
 * The value below which a share q (0 < q < 1) of the samples lies, within 1/16, and never outside
 * [min, max], where those are known. Returns -ENODATA when it cannot be told: empty, or fewer than
 * 10/(1-q) samples for certain; -EINVAL for another q.
 */
int hist_quantile(const struct hist *h, double q, uint64_t *value);

/*
 * Extremes can be lost, late, or given up by the kernel (KD_LOST_EXTREME), while the counts stay true:
 * where the counts say otherwise, the edge of the outermost bucket takes the place of the extreme.
 */
void hist_mend(struct hist *h);

/* Folded to powers of two, for text: rows[i] counts values in [2^i, 2^(i+1)), rows[0] 0 and 1. */
#define HIST_POW2_ROWS 64
void hist_fold(const struct hist *h, uint64_t rows[HIST_POW2_ROWS]);

#endif
