// SPDX-License-Identifier: GPL-2.0-only
/* test_histogram.c - the layout, and quantiles against sorted samples. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "histogram.h"

#define SAMPLES 20000

/* A generator of our own, so that every run and host sees the same samples. */
static uint64_t next_random(void)
{
	static uint64_t x = 88172645463325252ull;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

/* In (0, 1]. */
static double next_share(void)
{
	return ((double)(next_random() >> 11) + 1) / 9007199254740992.0;
}

static uint64_t any_magnitude(void)
{
	uint64_t v = next_random();

	return v >> next_random() % 64;
}

static void falls_into_its_bucket(uint64_t v)
{
	unsigned int b = hist_bucket(v);

	assert_true(b < KD_HIST_BUCKETS);
	assert_true(hist_low(b) <= v);
	if (b == KD_HIST_BUCKETS - 1)
		assert_int_equal(hist_high(b), UINT64_MAX);
	else
		assert_true(v < hist_high(b));
}

static void powers_and_neighbours(void **state)
{
	unsigned int i;

	(void)state;
	falls_into_its_bucket(0);
	for (i = 0; i < 64; i++) {
		uint64_t power = 1ull << i;

		falls_into_its_bucket(power - 1);
		falls_into_its_bucket(power);
		falls_into_its_bucket(power + 1);
		/* A power of two begins a bucket, and from 8 on a group of 8. */
		assert_int_equal(hist_low(hist_bucket(power)), power);
		if (i >= KD_HIST_SUB_BITS)
			assert_int_equal(hist_bucket(power), 8 * (i - 2));
		if (i)
			assert_int_equal(hist_bucket(power - 1), hist_bucket(power) - 1);
	}
	assert_int_equal(hist_bucket(UINT64_MAX), KD_HIST_BUCKETS - 1);
	assert_int_equal(hist_bucket(1ull << 63), KD_HIST_BUCKETS - 8);
}

static void known_buckets(void **state)
{
	static const struct {
		uint64_t value;
		unsigned int bucket;
	} cases[] = {
		{ 0, 0 },   { 1, 1 },   { 7, 7 },     { 8, 8 },     { 15, 15 },
		{ 16, 16 }, { 17, 16 }, { 18, 17 },   { 31, 23 },   { 32, 24 },
		{ 35, 24 }, { 36, 25 }, { 1000, 63 }, { 1024, 64 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(hist_bucket(cases[i].value), cases[i].bucket);
}

/* Each bucket begins where the one before ends, from 0 to the end, and holds both its edges. */
static void buckets_partition_all_values(void **state)
{
	uint64_t expect = 0;
	unsigned int b;

	(void)state;
	for (b = 0; b < KD_HIST_BUCKETS; b++) {
		uint64_t low = hist_low(b), high = hist_high(b);
		bool last = b == KD_HIST_BUCKETS - 1;

		assert_int_equal(low, expect);
		assert_true(high > low);
		assert_int_equal(hist_bucket(low), b);
		assert_int_equal(hist_bucket(last ? high : high - 1), b);
		/* Narrow enough for 1/16 at the middle. */
		if (low)
			assert_true(high - low <= (low < 8 ? 1 : low / 8));
		expect = high;
	}
	assert_int_equal(expect, UINT64_MAX);
}

static void random_values_fall_right(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < 100000; i++)
		falls_into_its_bucket(any_magnitude());
}

static void empty(void **state)
{
	uint64_t v = 42;
	struct hist h;

	(void)state;
	memset(&h, 0xa5, sizeof(h));
	hist_init(&h);
	assert_int_equal(hist_count(&h), 0);
	assert_int_equal(h.sum, 0);
	assert_int_equal(h.min, UINT64_MAX);
	assert_int_equal(h.max, 0);
	assert_int_equal(hist_quantile(&h, 0.5, &v), -ENODATA);
	assert_int_equal(v, 42);
}

static void adds_up(void **state)
{
	struct hist h;

	(void)state;
	hist_init(&h);
	hist_add(&h, 100);
	assert_int_equal(h.min, 100);
	assert_int_equal(h.max, 100);
	hist_add(&h, 7);
	hist_add(&h, 103);
	hist_add(&h, 5000);
	hist_add(&h, 0);
	assert_int_equal(hist_count(&h), 5);
	assert_int_equal(h.sum, 5210);
	assert_int_equal(h.min, 0);
	assert_int_equal(h.max, 5000);
	assert_int_equal(h.bucket[hist_bucket(100)], 2);
	assert_int_equal(h.bucket[0], 1);
	assert_int_equal(h.bucket[7], 1);
	assert_int_equal(h.bucket[hist_bucket(5000)], 1);
}

static void merge_equals_adding_everything(void **state)
{
	struct hist all, one, two, nothing;
	int i;

	(void)state;
	hist_init(&all);
	hist_init(&one);
	hist_init(&two);
	hist_init(&nothing);
	for (i = 0; i < 5000; i++) {
		uint64_t v = any_magnitude();

		hist_add(&all, v);
		hist_add(next_random() & 1 ? &one : &two, v);
	}
	assert_true(hist_count(&one) > 0 && hist_count(&two) > 0);
	hist_merge(&one, &two);
	assert_memory_equal(&one, &all, sizeof(all));
	hist_merge(&one, &nothing);
	assert_memory_equal(&one, &all, sizeof(all));
	hist_merge(&nothing, &one);
	assert_memory_equal(&nothing, &all, sizeof(all));
}

/* --- distributions --- */

static uint64_t exponential(void)
{
	return (uint64_t)(-log(next_share()) * 5e6);
}

static uint64_t bimodal(void)
{
	return next_random() % 10 ? 2000 + next_random() % 1000
				  : 25000000 + next_random() % 9000000;
}

static uint64_t constant(void)
{
	return 1234567;
}

static uint64_t small(void)
{
	return next_random() % 20;
}

static uint64_t huge(void)
{
	return UINT64_MAX - next_random() % 1000;
}

static uint64_t (*const distributions[])(void) = {
	exponential, bimodal, constant, any_magnitude, small, huge,
};

#define DISTRIBUTIONS (sizeof(distributions) / sizeof(distributions[0]))

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void fill(struct hist *h, uint64_t *sorted, size_t n, uint64_t (*next)(void))
{
	size_t i;

	hist_init(h);
	for (i = 0; i < n; i++) {
		sorted[i] = next();
		hist_add(h, sorted[i]);
	}
	qsort(sorted, n, sizeof(sorted[0]), compare);
}

static void within_a_sixteenth(uint64_t got, uint64_t truth)
{
	uint64_t off = got > truth ? got - truth : truth - got;

	if (off > truth / 16)
		fail_msg("%llu is not within 1/16 of %llu", (unsigned long long)got,
			 (unsigned long long)truth);
}

static void quantiles_are_within_a_sixteenth(void **state)
{
	static const double shares[] = {
		0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999
	};
	static uint64_t sorted[SAMPLES];
	struct hist h;
	size_t d, i;
	uint64_t v;

	(void)state;
	for (d = 0; d < DISTRIBUTIONS; d++) {
		fill(&h, sorted, SAMPLES, distributions[d]);
		for (i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
			size_t rank = (size_t)ceil(shares[i] * SAMPLES - 1e-6);

			assert_int_equal(hist_quantile(&h, shares[i], &v), 0);
			within_a_sixteenth(v, sorted[rank - 1]);
			assert_true(v >= sorted[0] && v <= sorted[SAMPLES - 1]);
		}
	}
}

/* Few samples too: the rank must be right, not only nearly so. */
static void quantiles_of_few_samples(void **state)
{
	uint64_t sorted[64], v;
	struct hist h;
	size_t n;

	(void)state;
	for (n = 20; n <= 64; n++) {
		fill(&h, sorted, n, any_magnitude);
		assert_int_equal(hist_quantile(&h, 0.5, &v), 0);
		within_a_sixteenth(v, sorted[(n + 1) / 2 - 1]);
	}
	/* The lowest share of all is the smallest sample. */
	assert_int_equal(hist_quantile(&h, 1e-9, &v), 0);
	within_a_sixteenth(v, sorted[0]);
}

static void rank_is_exact(void **state)
{
	struct hist h;
	uint64_t v;
	int i;

	(void)state;
	hist_init(&h);
	for (i = 0; i < 90; i++)
		hist_add(&h, 2);
	for (i = 0; i < 10; i++)
		hist_add(&h, 5);
	assert_int_equal(hist_quantile(&h, 0.9, &v), 0);
	assert_int_equal(v, 2);
	hist_add(&h, 5); /* now 90 of 101 are below: not nine tenths any more */
	assert_int_equal(hist_quantile(&h, 0.9, &v), 0);
	assert_int_equal(v, 5);
}

static void quantiles_stay_between_the_extremes(void **state)
{
	/* Near the low and the high edge of one bucket, so that its middle lies outside [min, max]. */
	static const uint64_t values[] = { 1024, 1151, 1ull << 40, UINT64_MAX, 1ull << 63 };
	struct hist h;
	size_t i;
	uint64_t v;
	int n;

	(void)state;
	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		hist_init(&h);
		for (n = 0; n < 1000; n++)
			hist_add(&h, values[i]);
		assert_int_equal(hist_quantile(&h, 0.5, &v), 0);
		assert_int_equal(v, values[i]);
		assert_int_equal(hist_quantile(&h, 0.99, &v), 0);
		assert_int_equal(v, values[i]);
	}
}

/* A stream may bring counts without extremes: then the middle of the bucket is all there is. */
static void extremes_may_be_unknown(void **state)
{
	struct hist h;
	uint64_t v;

	(void)state;
	hist_init(&h);
	hist_put(&h, hist_bucket(1024), 1000);
	assert_int_equal(hist_quantile(&h, 0.5, &v), 0);
	assert_int_equal(v, 1024 + 64);

	/* The last buckets, where no other may stand in for one. */
	hist_init(&h);
	hist_put(&h, KD_HIST_BUCKETS - 2, 500);
	hist_put(&h, KD_HIST_BUCKETS - 1, 500);
	assert_int_equal(hist_quantile(&h, 0.5, &v), 0);
	assert_int_equal(hist_bucket(v), KD_HIST_BUCKETS - 2);
	assert_int_equal(hist_quantile(&h, 0.75, &v), 0);
	assert_int_equal(hist_bucket(v), KD_HIST_BUCKETS - 1);
}

static void too_few_samples_tell_nothing(void **state)
{
	static const struct {
		double q;
		uint64_t enough;
	} cases[] = {
		{ 0.5, 20 },      { 0.75, 40 },       { 0.9, 100 },  { 0.99, 1000 },
		{ 0.999, 10000 }, { 0.9999, 100000 }, { 0.001, 11 },
	};
	struct hist h;
	size_t i;
	uint64_t v;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		hist_init(&h);
		hist_add(&h, 3);
		hist_init(&h);
		hist_put(&h, 3, cases[i].enough - 1);
		v = 42;
		assert_int_equal(hist_quantile(&h, cases[i].q, &v), -ENODATA);
		assert_int_equal(v, 42);
		hist_put(&h, 3, 1);
		assert_int_equal(hist_quantile(&h, cases[i].q, &v), 0);
		assert_int_equal(v, 3);
	}
}

static void shares_outside_are_refused(void **state)
{
	static const double shares[] = { 0, 1, -0.5, 1.5, NAN, INFINITY };
	struct hist h;
	size_t i;
	uint64_t v = 42;

	(void)state;
	hist_init(&h);
	hist_put(&h, 3, 1000000);
	for (i = 0; i < sizeof(shares) / sizeof(shares[0]); i++)
		assert_int_equal(hist_quantile(&h, shares[i], &v), -EINVAL);
	assert_int_equal(v, 42);
}

static void folds_to_powers_of_two(void **state)
{
	static uint64_t sorted[SAMPLES];
	uint64_t rows[HIST_POW2_ROWS], expect[HIST_POW2_ROWS];
	struct hist h;
	size_t d, i;

	(void)state;
	for (d = 0; d < DISTRIBUTIONS; d++) {
		fill(&h, sorted, SAMPLES, distributions[d]);
		memset(rows, 0xa5, sizeof(rows));
		hist_fold(&h, rows);
		memset(expect, 0, sizeof(expect));
		for (i = 0; i < SAMPLES; i++) {
			unsigned int row = 0;

			while (row < 63 && sorted[i] >= 2ull << row)
				row++;
			expect[row]++;
		}
		assert_memory_equal(rows, expect, sizeof(rows));
	}
}

static void fold_edges(void **state)
{
	static const struct {
		uint64_t value;
		unsigned int row;
	} cases[] = {
		{ 0, 0 },           { 1, 0 },
		{ 2, 1 },           { 3, 1 },
		{ 4, 2 },           { 7, 2 },
		{ 8, 3 },           { 15, 3 },
		{ 16, 4 },          { (1ull << 63) - 1, 62 },
		{ 1ull << 63, 63 }, { UINT64_MAX, 63 },
	};
	uint64_t rows[HIST_POW2_ROWS];
	struct hist h;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		hist_init(&h);
		hist_add(&h, cases[i].value);
		hist_fold(&h, rows);
		assert_int_equal(rows[cases[i].row], 1);
	}
}

/* Extremes that the counts contradict give way to the edge of the outermost bucket, others stay. */
static void test_mend(void **state)
{
	const unsigned int low = hist_bucket(1000), high = hist_bucket(5000000);
	struct hist h;

	(void)state;
	hist_init(&h);
	hist_mend(&h);
	assert_true(h.min == UINT64_MAX && h.max == 0); /* nothing to hold them against */

	hist_put(&h, low, 1);
	hist_put(&h, high, 2);
	hist_mend(&h); /* no extremes at all */
	assert_true(h.min == hist_low(low) && h.max == hist_high(high) - 1);

	h.min = 1001;
	h.max = 4999999;
	hist_mend(&h); /* possible: left alone */
	assert_true(h.min == 1001 && h.max == 4999999);

	h.min = 2000000;
	h.max = 3000000;
	hist_mend(&h);
	assert_true(h.min == hist_low(low) && h.max == hist_high(high) - 1);

	hist_init(&h);
	hist_put(&h, KD_HIST_BUCKETS - 1, 1);
	hist_mend(&h);
	assert_true(h.max == UINT64_MAX);
}

/* Where a sample stands for several counts, fewer of them tell nothing of the tail. */
static void quantiles_of_samples_that_stand_for_many(void **state)
{
	struct hist h;
	uint64_t v;

	(void)state;
	hist_init(&h);
	hist_put(&h, hist_bucket(1000), 100);
	assert_int_equal(hist_quantile(&h, 0.9, &v), 0);
	h.each = 4;
	assert_int_equal(hist_quantile(&h, 0.9, &v), -ENODATA);
	assert_int_equal(hist_quantile(&h, 0.5, &v), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(powers_and_neighbours),
		cmocka_unit_test(known_buckets),
		cmocka_unit_test(buckets_partition_all_values),
		cmocka_unit_test(random_values_fall_right),
		cmocka_unit_test(empty),
		cmocka_unit_test(adds_up),
		cmocka_unit_test(merge_equals_adding_everything),
		cmocka_unit_test(quantiles_are_within_a_sixteenth),
		cmocka_unit_test(quantiles_of_few_samples),
		cmocka_unit_test(quantiles_of_samples_that_stand_for_many),
		cmocka_unit_test(rank_is_exact),
		cmocka_unit_test(quantiles_stay_between_the_extremes),
		cmocka_unit_test(extremes_may_be_unknown),
		cmocka_unit_test(too_few_samples_tell_nothing),
		cmocka_unit_test(shares_outside_are_refused),
		cmocka_unit_test(folds_to_powers_of_two),
		cmocka_unit_test(test_mend),
		cmocka_unit_test(fold_edges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
