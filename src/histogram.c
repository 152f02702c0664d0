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
	hist_put(h, hist_bucket(value), 1);
	h->sum += value;
	if (value < h->min)
		h->min = value;
	if (value > h->max)
		h->max = value;
}

void hist_put(struct hist *h, unsigned int bucket, uint64_t n)
{
	h->bucket[bucket] += n;
	h->groups |= 1ULL << bucket / KD_HIST_SUB;
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

void hist_merge(struct hist *into, const struct hist *from)
{
	uint64_t left;
	unsigned int i, at;

	for (left = from->groups; left; left &= left - 1) {
		at = (unsigned int)__builtin_ctzll(left) * KD_HIST_SUB;
		for (i = at; i < at + KD_HIST_SUB; i++)
			into->bucket[i] += from->bucket[i];
	}
	into->groups |= from->groups;
	into->sum += from->sum;
	if (from->min < into->min)
		into->min = from->min;
	if (from->max > into->max)
		into->max = from->max;
}

uint64_t hist_count(const struct hist *h)
{
	uint64_t n = 0, left;

	for (left = h->groups; left; left &= left - 1)
		n += group_count(h, (unsigned int)__builtin_ctzll(left));
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
	uint64_t below = 0, left, n;
	unsigned int i, group;

	for (left = h->groups; left; left &= left - 1) {
		group = (unsigned int)__builtin_ctzll(left);
		n = group_count(h, group);
		if (below + n < rank) {
			below += n;
			continue;
		}
		for (i = group * KD_HIST_SUB; (below += h->bucket[i]) < rank; i++)
			;
		return middle(i);
	}
	return middle(KD_HIST_BUCKETS - 1);
}

int hist_quantile(const struct hist *h, double q, uint64_t *value)
{
	uint64_t n = hist_count(h), rank, v;

	if (!(q > 0 && q < 1))
		return -EINVAL;
	/* A little less than 10, because 1 - 0.9 is a little less than 0.1. */
	if ((double)(h->each > 1 ? n / h->each : n) * (1 - q) < 10 * (1 - 1e-9))
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

void hist_fold(const struct hist *h, uint64_t rows[HIST_POW2_ROWS])
{
	unsigned int i, group;
	uint64_t left;

	memset(rows, 0, HIST_POW2_ROWS * sizeof(rows[0]));
	rows[0] = h->bucket[0];
	for (i = 1; i < KD_HIST_SUB; i++)
		rows[31 - __builtin_clz(i)] += h->bucket[i];
	/* All of a later group lies between two powers of two. */
	for (left = h->groups & ~1ULL; left; left &= left - 1) {
		group = (unsigned int)__builtin_ctzll(left);
		rows[KD_HIST_SUB_BITS + group - 1] = group_count(h, group);
	}
}

void hist_mend(struct hist *h)
{
	unsigned int first = 0, last = KD_HIST_BUCKETS - 1;
	bool none = h->min > h->max;

	if (!hist_count(h))
		return; /* no counts to hold them against */
	for (first = (unsigned int)__builtin_ctzll(h->groups) * KD_HIST_SUB; !h->bucket[first];
	     first++)
		;
	for (last = (64 - (unsigned int)__builtin_clzll(h->groups)) * KD_HIST_SUB - 1;
	     !h->bucket[last]; last--)
		;
	if (none || (first < KD_HIST_BUCKETS - 1 && h->min >= hist_high(first)))
		h->min = hist_low(first);
	if (none || h->max < hist_low(last))
		h->max = last == KD_HIST_BUCKETS - 1 ? UINT64_MAX : hist_high(last) - 1;
}
