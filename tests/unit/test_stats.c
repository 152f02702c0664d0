// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_stats.c - tests and distributions against published tables, and against counting out all
 * permutations here, another way than the library does it.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "normal.h"
#include "stats.h"

#define assert_near(a, b, eps) assert_true(fabs((a) - (b)) <= (eps))
#define ROWS(t) (sizeof(t) / sizeof((t)[0]))

/* --- distributions: any table has these --- */

static void test_normal(void **state)
{
	(void)state;
	assert_near(stats_normal_p(0), 0.5, 1e-15);
	assert_near(stats_normal_p(1), 0.8413447, 1e-7);
	assert_near(stats_normal_p(-2.5), 0.0062097, 1e-7);
	assert_near(stats_normal_quantile(0.975), 1.959964, 1e-6);
	assert_near(stats_normal_quantile(0.0005), -3.290527, 1e-6);
}

static void test_student(void **state)
{
	static const struct {
		double p, df, t;
	} table[] = { { 0.975, 1, 12.706 }, { 0.975, 2, 4.303 },   { 0.975, 5, 2.571 },
		      { 0.975, 10, 2.228 }, { 0.975, 30, 2.042 },  { 0.975, 120, 1.980 },
		      { 0.995, 5, 4.032 },  { 0.9995, 10, 4.587 }, { 0.95, 3, 2.353 } };
	size_t i;

	(void)state;
	for (i = 0; i < ROWS(table); i++) {
		assert_near(stats_t_quantile(table[i].p, table[i].df), table[i].t, 0.0006);
		assert_near(stats_t_p2(table[i].t, table[i].df), 2 * (1 - table[i].p), 0.0001);
	}
	assert_near(stats_t_p2(0, 7), 1, 1e-12);
	assert_near(stats_t_p2(INFINITY, 7), 0, 0);
}

/* --- Mann-Whitney --- */

/* Two samples without ties in which `u` pairs stand the wrong way round. */
static void make_samples(size_t na, size_t nb, size_t u, double *a, double *b)
{
	size_t i, j = 0, left = u, move;

	/* The k-th of b, from the first on, moves left over as many of a as are still to be had. */
	for (i = 0; i < na; i++)
		a[i] = (double)(i + 1);
	for (j = 0; j < nb; j++) {
		move = left < na ? left : na;
		left -= move;
		b[j] = (double)(na - move) + 0.5 + (double)j * 1e-6;
	}
}

/* The greatest U that is significant at 0.05, two-sided, as published. */
static void test_mann_whitney_table(void **state)
{
	static const struct {
		size_t na, nb, u;
	} table[] = { { 4, 4, 0 },    { 5, 5, 2 },     { 6, 6, 5 },    { 7, 9, 12 },
		      { 8, 8, 13 },   { 3, 5, 0 },     { 10, 10, 23 }, { 5, 12, 11 },
		      { 12, 15, 49 }, { 20, 20, 127 }, { 15, 20, 90 } };
	double a[20], b[20];
	struct stats_test t;
	size_t i;

	(void)state;
	for (i = 0; i < ROWS(table); i++) {
		make_samples(table[i].na, table[i].nb, table[i].u, a, b);
		assert_int_equal(stats_mann_whitney(a, table[i].na, b, table[i].nb, 0.95, &t), 0);
		assert_true(t.exact);
		assert_true(t.p <= 0.05);
		make_samples(table[i].na, table[i].nb, table[i].u + 1, a, b);
		assert_int_equal(stats_mann_whitney(a, table[i].na, b, table[i].nb, 0.95, &t), 0);
		assert_true(t.p > 0.05);
	}
}

/* All choices of which of the values are of the second sample, by sums of midranks. */
static double count_choices(const double *x, size_t n, size_t nb, unsigned int chosen)
{
	double ranks[16], sum = 0, middle = (double)(nb * (n + 1)) / 2, far, all = 0, out = 0;
	unsigned int mask;
	size_t i, j;

	for (i = 0; i < n; i++)
		for (ranks[i] = 0.5, j = 0; j < n; j++)
			ranks[i] += x[j] < x[i] ? 1 : x[j] > x[i] ? 0 : 0.5;
	for (i = 0; i < n; i++)
		sum += chosen >> i & 1 ? ranks[i] : 0;
	far = fabs(sum - middle);
	for (mask = 0; mask < 1u << n; mask++) {
		if ((size_t)__builtin_popcount(mask) != nb)
			continue;
		for (sum = 0, i = 0; i < n; i++)
			sum += mask >> i & 1 ? ranks[i] : 0;
		all++;
		out += fabs(sum - middle) >= far - 1e-9;
	}
	return out / all;
}

/* Few different values, so that there are ties of all kinds. */
static void test_mann_whitney_counted(void **state)
{
	double x[12];
	struct stats_test t;
	struct rng rng;
	size_t na, nb, i, round;

	(void)state;
	rng_seed(&rng, 1);
	for (round = 0; round < 60; round++) {
		na = 1 + rng_below(&rng, 6);
		nb = 1 + rng_below(&rng, 6);
		for (i = 0; i < na + nb; i++)
			x[i] = (double)rng_below(&rng, 2 + round % 9);
		assert_int_equal(stats_mann_whitney(x, na, x + na, nb, 0.95, &t), 0);
		assert_near(t.p, count_choices(x, na + nb, nb, ((1u << nb) - 1) << na), 1e-9);
	}
}

static void test_mann_whitney_least(void **state)
{
	double a[6] = { 1, 2, 3, 4, 5, 6 }, b[6] = { 11, 12, 13, 14, 15, 16 };
	struct stats_test t;

	(void)state;
	assert_near(stats_mann_whitney_least(4, 4), 0.028571, 1e-6);
	assert_near(stats_mann_whitney_least(6, 6), 0.002165, 1e-6);
	assert_near(stats_mann_whitney_least(1, 1), 1, 1e-9);
	assert_int_equal(stats_mann_whitney(a, 6, b, 6, 0.95, &t), 0);
	assert_near(t.p, stats_mann_whitney_least(6, 6), 1e-9);
	assert_near(t.estimate, 10, 1e-9);
	/* With three a side not even all of the differences make a 95% interval. */
	assert_int_equal(stats_mann_whitney(a, 3, b, 3, 0.95, &t), 0);
	assert_true(isinf(t.lo) && isinf(t.hi));
}

/* An end of the interval is the shift at which the test just does not object any more. */
static void test_mann_whitney_interval(void **state)
{
	double a[7], b[8], moved[8];
	struct stats_test t, at;
	struct rng rng;
	size_t i, round;

	(void)state;
	rng_seed(&rng, 2);
	for (round = 0; round < 20; round++) {
		for (i = 0; i < 8; i++) {
			a[i % 7] = rng_normal(&rng);
			b[i] = 1 + rng_normal(&rng);
		}
		assert_int_equal(stats_mann_whitney(a, 7, b, 8, 0.95, &t), 0);
		assert_true(t.lo < t.estimate && t.estimate < t.hi);
		for (i = 0; i < 8; i++)
			moved[i] = b[i] - t.lo + 1e-9;
		assert_int_equal(stats_mann_whitney(a, 7, moved, 8, 0.95, &at), 0);
		assert_true(at.p < 0.05);
		for (i = 0; i < 8; i++)
			moved[i] = b[i] - t.lo - 1e-9;
		assert_int_equal(stats_mann_whitney(a, 7, moved, 8, 0.95, &at), 0);
		assert_true(at.p >= 0.05);
	}
}

static double normal_p(double na, double nb, double u)
{
	double sd = sqrt(na * nb * (na + nb + 1) / 12);

	return erfc((fabs(u - na * nb / 2) - 0.5) / sd / M_SQRT2);
}

/* Where counting out ends the approximation is within 0.004 of it, and takes over. */
static void test_normal_takes_over(void **state)
{
	double a[22], b[22];
	struct stats_test t;
	size_t u;

	(void)state;
	for (u = 60; u < 200; u += 20) {
		make_samples(20, 20, u, a, b);
		assert_int_equal(stats_mann_whitney(a, 20, b, 20, 0.95, &t), 0);
		assert_true(t.exact);
		assert_near(t.p, normal_p(20, 20, (double)u), 0.004);
		make_samples(21, 20, u, a, b);
		assert_int_equal(stats_mann_whitney(a, 21, b, 20, 0.95, &t), 0);
		assert_false(t.exact);
		assert_near(t.p, normal_p(21, 20, (double)u), 1e-9);
	}
}

/* --- signed ranks --- */

/* The sum of ranks of the negative ones is t. */
static void make_differences(size_t n, size_t t, double *d)
{
	size_t i;

	for (i = n; i > 0; i--) {
		d[i - 1] = (double)i;
		if (t >= i) {
			t -= i;
			d[i - 1] = -(double)i;
		}
	}
}

static void test_signed_rank_table(void **state)
{
	static const struct {
		size_t n, t;
	} table[] = { { 6, 0 },   { 7, 2 },   { 8, 3 },   { 9, 5 },  { 10, 8 },
		      { 12, 13 }, { 15, 25 }, { 20, 52 }, { 25, 89 } };
	struct stats_test t;
	double d[25];
	size_t i;

	(void)state;
	for (i = 0; i < ROWS(table); i++) {
		make_differences(table[i].n, table[i].t, d);
		assert_int_equal(stats_signed_rank(d, table[i].n, 0.95, &t), 0);
		assert_true(t.exact && t.p <= 0.05);
		make_differences(table[i].n, table[i].t + 1, d);
		assert_int_equal(stats_signed_rank(d, table[i].n, 0.95, &t), 0);
		assert_true(t.p > 0.05);
	}
	assert_near(stats_signed_rank_least(6), 0.03125, 1e-12);
}

/* All signs, with ties and zeros. */
static double count_signs(const double *d, size_t n)
{
	double ranks[16], size[16], sum = 0, total = 0, far, out = 0;
	size_t m = 0, i, j;
	unsigned int mask, positive = 0;

	for (i = 0; i < n; i++) {
		if (fabs(d[i]) > 0) {
			positive |= d[i] > 0 ? 1u << m : 0;
			size[m++] = fabs(d[i]);
		}
	}
	for (i = 0; i < m; i++) {
		for (ranks[i] = 0.5, j = 0; j < m; j++)
			ranks[i] += size[j] < size[i] ? 1 : size[j] > size[i] ? 0 : 0.5;
		total += ranks[i];
		sum += positive >> i & 1 ? ranks[i] : 0;
	}
	far = fabs(sum - total / 2);
	for (mask = 0; mask < 1u << m; mask++) {
		for (sum = 0, i = 0; i < m; i++)
			sum += mask >> i & 1 ? ranks[i] : 0;
		out += fabs(sum - total / 2) >= far - 1e-9;
	}
	return out / (double)(1u << m);
}

static void test_signed_rank_counted(void **state)
{
	struct stats_test t;
	struct rng rng;
	double d[12];
	size_t n, i, round;

	(void)state;
	rng_seed(&rng, 3);
	for (round = 0; round < 60; round++) {
		n = 1 + rng_below(&rng, 12);
		for (i = 0; i < n; i++)
			d[i] = (double)rng_below(&rng, 3 + round % 9) - 2;
		assert_int_equal(stats_signed_rank(d, n, 0.95, &t), 0);
		assert_near(t.p, count_signs(d, n), 1e-9);
	}
}

/* --- what must not break --- */

static void test_degenerate(void **state)
{
	double one = 5, other = 7, equal[4] = { 3, 3, 3, 3 }, zero[3] = { 0 };
	struct stats_test t;

	(void)state;
	assert_int_equal(stats_mann_whitney(&one, 1, &other, 1, 0.95, &t), 0);
	assert_near(t.p, 1, 1e-12);
	assert_int_equal(stats_mann_whitney(equal, 4, equal, 4, 0.95, &t), 0);
	assert_near(t.p, 1, 1e-12);
	assert_near(t.estimate, 0, 0);
	assert_near(t.lo, 0, 0);
	assert_int_equal(stats_signed_rank(zero, 3, 0.95, &t), 0);
	assert_near(t.p, 1, 1e-12);
	stats_t_test(equal, 4, &one, 1, 0.95, &t);
	assert_near(t.p, 0, 0);
	stats_t_test(equal, 4, equal, 1, 0.95, &t);
	assert_near(t.p, 1, 0);
	assert_near(stats_sd(&one, 1), 0, 0);
	assert_near(stats_lag1(equal, 4), 0, 0);
}

static void test_holm(void **state)
{
	double p[] = { 0.01, 0.04, NAN, 0.03, 0.005 };

	(void)state;
	/* Sorted: .005 * 4, .01 * 3, .03 * 2, .04 -> .06, never below the one before. */
	assert_int_equal(stats_holm(p, 5), 0);
	assert_near(p[4], 0.02, 1e-12);
	assert_near(p[0], 0.03, 1e-12);
	assert_near(p[3], 0.06, 1e-12);
	assert_near(p[1], 0.06, 1e-12);
	assert_true(isnan(p[2]));
}

static void test_autocorrelation(void **state)
{
	double x[2000];
	struct rng rng;
	size_t i;

	(void)state;
	rng_seed(&rng, 4);
	x[0] = 0;
	for (i = 1; i < 2000; i++)
		x[i] = 0.6 * x[i - 1] + rng_normal(&rng);
	assert_near(stats_lag1(x, 2000), 0.6, 0.05);
	for (i = 0; i < 2000; i++)
		x[i] = rng_normal(&rng);
	assert_near(stats_lag1(x, 2000), 0, 0.07);
}

static void test_chance_repeats(void **state)
{
	struct rng a, b;
	double sum = 0, squares = 0, z;
	int i;

	(void)state;
	rng_seed_text(&a, "call_rcu.latency");
	rng_seed_text(&b, "call_rcu.latency");
	for (i = 0; i < 1000; i++)
		assert_true(rng_next(&a) == rng_next(&b));
	for (i = 0; i < 20000; i++) {
		z = rng_normal(&a);
		sum += z;
		squares += z * z;
		assert_true(rng_below(&a, 7) < 7);
	}
	/* Four standard errors. */
	assert_near(sum / 20000, 0, 4 / sqrt(20000));
	assert_near(squares / 20000, 1, 4 * sqrt(2.0 / 20000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_normal),
		cmocka_unit_test(test_student),
		cmocka_unit_test(test_mann_whitney_table),
		cmocka_unit_test(test_mann_whitney_counted),
		cmocka_unit_test(test_mann_whitney_least),
		cmocka_unit_test(test_mann_whitney_interval),
		cmocka_unit_test(test_normal_takes_over),
		cmocka_unit_test(test_signed_rank_table),
		cmocka_unit_test(test_signed_rank_counted),
		cmocka_unit_test(test_degenerate),
		cmocka_unit_test(test_holm),
		cmocka_unit_test(test_autocorrelation),
		cmocka_unit_test(test_chance_repeats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
