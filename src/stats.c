// SPDX-License-Identifier: GPL-2.0-only
/*
 * stats.c - distributions, small statistics, chance. Tests by rank: stats_rank.c.
 *
 * The normal and t distribution are written out here, because the library that has them, GSL, comes
 * under a licence that does not go with GPL-2.0-only, and the tests by rank below it would have to be
 * our own anyway: those of libraries do not count out ties.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats.h"

/* --- distributions --- */

double stats_normal_p(double z)
{
	return 0.5 * erfc(-z / M_SQRT2);
}

/* By halving: slow, exact to the last bits, and called a few times only. */
double stats_normal_quantile(double p)
{
	double lo = -40, hi = 40, mid;
	int i;

	for (i = 0; i < 100; i++) {
		mid = (lo + hi) / 2;
		if (stats_normal_p(mid) < p)
			lo = mid;
		else
			hi = mid;
	}
	return (lo + hi) / 2;
}

static double not_zero(double x)
{
	return fabs(x) < 1e-300 ? 1e-300 : x;
}

/* The continued fraction of the incomplete beta function, by Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
	double c = 1, d = 1 / not_zero(1 - (a + b) * x / (a + 1)), f = d, even, odd, step;
	int m;

	for (m = 1; m < 500; m++) {
		even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		d = 1 / not_zero(1 + even * d);
		c = not_zero(1 + even / c);
		f *= d * c;
		odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		d = 1 / not_zero(1 + odd * d);
		c = not_zero(1 + odd / c);
		step = d * c;
		f *= step;
		if (fabs(step - 1) < 1e-15)
			break;
	}
	return f;
}

/* Regularised incomplete beta function. */
static double beta_p(double a, double b, double x)
{
	double front;

	if (x <= 0)
		return 0;
	if (x >= 1)
		return 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double stats_t_p2(double t, double df)
{
	return isinf(t) ? 0 : beta_p(df / 2, 0.5, df / (df + t * t));
}

double stats_t_quantile(double p, double df)
{
	double lo = 0, hi = 1e9, mid;
	int i;

	for (i = 0; i < 200; i++) {
		mid = (lo + hi) / 2;
		if (1 - stats_t_p2(mid, df) / 2 < p)
			lo = mid;
		else
			hi = mid;
	}
	return (lo + hi) / 2;
}

/* --- small things --- */

double stats_mean(const double *x, size_t n)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < n; i++)
		sum += x[i];
	return n ? sum / (double)n : 0;
}

double stats_sd(const double *x, size_t n)
{
	double mean = stats_mean(x, n), sum = 0;
	size_t i;

	if (n < 2)
		return 0;
	for (i = 0; i < n; i++)
		sum += (x[i] - mean) * (x[i] - mean);
	return sqrt(sum / (double)(n - 1));
}

static int compare_double(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

void stats_sort(double *x, size_t n)
{
	if (n)
		qsort(x, n, sizeof(*x), compare_double);
}

double stats_median(double *x, size_t n)
{
	stats_sort(x, n);
	return n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

double stats_lag1(const double *x, size_t n)
{
	double mean = stats_mean(x, n), num = 0, den = 0, r;
	size_t i;

	if (n < 4)
		return 0;
	for (i = 0; i < n; i++) {
		den += (x[i] - mean) * (x[i] - mean);
		if (i)
			num += (x[i] - mean) * (x[i - 1] - mean);
	}
	if (!(den > 0))
		return 0;
	r = num / den;
	/* Short series show less of it than there is. */
	r += (1 + 4 * r) / (double)n;
	return r < 0 ? 0 : r > 0.95 ? 0.95 : r;
}

/* --- Student --- */

void stats_t_test(const double *a, size_t na, const double *b, size_t nb, double level,
		  struct stats_test *out)
{
	double sa = stats_sd(a, na), sb = stats_sd(b, nb), df = (double)(na + nb - 2), se, half;

	out->estimate = stats_mean(b, nb) - stats_mean(a, na);
	out->exact = false;
	se = sqrt(((double)(na - 1) * sa * sa + (double)(nb - 1) * sb * sb) / df *
		  (1 / (double)na + 1 / (double)nb));
	half = se * stats_t_quantile(0.5 + level / 2, df);
	out->lo = out->estimate - half;
	out->hi = out->estimate + half;
	if (se > 0)
		out->p = stats_t_p2(out->estimate / se, df);
	else
		out->p = fabs(out->estimate) > 0 ? 0 : 1;
}

/* --- many tests at once --- */

struct ranked {
	double p;
	size_t at;
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->p < y->p || x->p > y->p)
		return x->p < y->p ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

int stats_holm(double *p, size_t n)
{
	struct ranked *r = calloc(n + 1, sizeof(*r));
	size_t i, m = 0;
	double least = 0, mended;

	if (!r)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		if (!isnan(p[i]))
			r[m++] = (struct ranked){ p[i], i };
	qsort(r, m, sizeof(*r), compare_ranked);
	for (i = 0; i < m; i++) {
		mended = r[i].p * (double)(m - i);
		if (mended > 1)
			mended = 1;
		if (mended > least)
			least = mended;
		p[r[i].at] = least;
	}
	free(r);
	return 0;
}

/* --- chance: splitmix64 --- */

void rng_seed(struct rng *r, uint64_t seed)
{
	r->state = seed;
}

void rng_seed_text(struct rng *r, const char *text)
{
	uint64_t h = 0xcbf29ce484222325ULL; /* FNV-1a */

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 0x100000001b3ULL;
	rng_seed(r, h);
}

uint64_t rng_next(struct rng *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

size_t rng_below(struct rng *r, size_t n)
{
	return (size_t)(((unsigned __int128)rng_next(r) * n) >> 64);
}

double rng_unit(struct rng *r)
{
	return ((double)(rng_next(r) >> 11) + 0.5) / 9007199254740992.0;
}
