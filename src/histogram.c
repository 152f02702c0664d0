// SPDX-License-Identifier: GPL-2.0-only
/* histogram.c - where a value falls in the log-linear layout of defer.h, and reading it back. */
#include <errno.h>
#include <string.h>

#include "histogram.h"

void hist_init(struct hist *h)
{
	memset(h, 0, sizeof(*h));
	h->min = UINT64_MAX;
}

void hist_add(struct hist *h, uint64_t value)
{
	h->bucket[hist_bucket(value)]++;
	h->sum += value;
	if (value < h->min)
		h->min = value;
	if (value > h->max)
		h->max = value;
}

void hist_merge(struct hist *into, const struct hist *from)
{
	unsigned int i;

	for (i = 0; i < KD_HIST_BUCKETS; i++)
		into->bucket[i] += from->bucket[i];
	into->sum += from->sum;
	if (from->min < into->min)
		into->min = from->min;
	if (from->max > into->max)
		into->max = from->max;
}

uint64_t hist_count(const struct hist *h)
{
	uint64_t n = 0;
	unsigned int i;

	for (i = 0; i < KD_HIST_BUCKETS; i++)
		n += h->bucket[i];
	return n;
}

unsigned int hist_bucket(uint64_t value)
{
	unsigned int shift;

	if (value < KD_HIST_SUB)
		return (unsigned int)value;
	/* What is left of the value's leading bits is KD_HIST_SUB .. 2 * KD_HIST_SUB - 1. */
	shift = 63 - (unsigned int)__builtin_clzll(value) - KD_HIST_SUB_BITS;
	return shift * KD_HIST_SUB + (unsigned int)(value >> shift);
}

uint64_t hist_low(unsigned int bucket)
{
	unsigned int group = bucket / KD_HIST_SUB;
	uint64_t sub = bucket % KD_HIST_SUB;

	return group ? (KD_HIST_SUB + sub) << (group - 1) : sub;
}

uint64_t hist_high(unsigned int bucket)
{
	return bucket < KD_HIST_BUCKETS - 1 ? hist_low(bucket + 1) : UINT64_MAX;
}

static uint64_t middle(unsigned int bucket)
{
	uint64_t low = hist_low(bucket);

	return low + (hist_high(bucket) - low) / 2;
}

/* The rank-th smallest (1 = first) as its bucket's middle. The caller made sure that it exists. */
static uint64_t value_at(const struct hist *h, uint64_t rank)
{
	uint64_t below = 0;
	unsigned int i;

	for (i = 0; i < KD_HIST_BUCKETS - 1; i++) {
		below += h->bucket[i];
		if (below >= rank)
			break;
	}
	return middle(i);
}

int hist_quantile(const struct hist *h, double q, uint64_t *value)
{
	uint64_t n = hist_count(h), rank, v;

	if (!(q > 0 && q < 1))
		return -EINVAL;
	/* A little less than 10, because 1 - 0.9 is a little less than 0.1. */
	if ((double)n * (1 - q) < 10 * (1 - 1e-9))
		return -ENODATA;
	rank = (uint64_t)(q * (double)n);
	if ((double)rank < q * (double)n)
		rank++;
	v = value_at(h, rank);
	/* Extremes can be missing (min > max) where the stream brought counts only. */
	if (h->min <= h->max)
		v = v < h->min ? h->min : v > h->max ? h->max : v;
	*value = v;
	return 0;
}

/* Most groups of most histograms are empty, and a view asks of thousands of histograms at a time. */
static uint64_t group_count(const struct hist *h, unsigned int group)
{
	const uint64_t *b = &h->bucket[group * KD_HIST_SUB];
	uint64_t n = 0;
	unsigned int i;

	for (i = 0; i < KD_HIST_SUB; i++)
		n += b[i];
	return n;
}

static bool group_empty(const struct hist *h, unsigned int group)
{
	const uint64_t *b = &h->bucket[group * KD_HIST_SUB];
	uint64_t any = 0;
	unsigned int i;

	for (i = 0; i < KD_HIST_SUB; i++)
		any |= b[i];
	return !any;
}

void hist_fold(const struct hist *h, uint64_t rows[HIST_POW2_ROWS])
{
	unsigned int i, group;

	memset(rows, 0, HIST_POW2_ROWS * sizeof(rows[0]));
	rows[0] = h->bucket[0];
	for (i = 1; i < KD_HIST_SUB; i++)
		rows[31 - __builtin_clz(i)] += h->bucket[i];
	/* All of a later group lies between two powers of two. */
	for (group = 1; group < KD_HIST_GROUPS; group++)
		rows[KD_HIST_SUB_BITS + group - 1] = group_count(h, group);
}

void hist_mend(struct hist *h)
{
	unsigned int from = 0, to = KD_HIST_GROUPS, first, last;
	bool none = h->min > h->max;

	while (from < to && group_empty(h, from))
		from++;
	if (from == to)
		return; /* no counts to hold them against */
	while (group_empty(h, to - 1))
		to--;
	for (first = from * KD_HIST_SUB; !h->bucket[first]; first++)
		;
	for (last = to * KD_HIST_SUB - 1; !h->bucket[last]; last--)
		;
	if (none || (first < KD_HIST_BUCKETS - 1 && h->min >= hist_high(first)))
		h->min = hist_low(first);
	if (none || h->max < hist_low(last))
		h->max = last == KD_HIST_BUCKETS - 1 ? UINT64_MAX : hist_high(last) - 1;
}
