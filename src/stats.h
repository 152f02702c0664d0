/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stats.h - the statistics behind `kdefer diff`: distributions, tests by rank with their intervals.
 *
 * Nothing here knows what the numbers are. All p are two-sided. Everything is deterministic: the same
 * numbers give the same answer, also where chance is drawn on (struct rng).
 */
#ifndef KDEFER_STATS_H
#define KDEFER_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- distributions --- */

double stats_normal_p(double z);              /* P(Z <= z) */
double stats_normal_quantile(double p);       /* 0 < p < 1 */
double stats_t_p2(double t, double df);       /* two-sided: P(|T| >= |t|); df > 0 */
double stats_t_quantile(double p, double df); /* 0.5 <= p < 1 */

/* --- small things --- */

double stats_mean(const double *x, size_t n);
double stats_sd(const double *x, size_t n); /* of a sample: n - 1; 0 for n < 2 */
double stats_median(double *x, size_t n);   /* sorts x; n > 0 */
void stats_sort(double *x, size_t n);
double stats_lag1(const double *x,
		  size_t n); /* autocorrelation from one to the next, bias mended */

/* --- what a test says --- */

struct stats_test {
	double p;
	double estimate; /* of the shift of the second sample against the first */
	double lo, hi;   /* its confidence interval; infinite where so few values allow none */
	bool exact;      /* p is counted out, not approximated */
};

/*
 * Mann-Whitney, two independent samples; shift by Hodges and Lehmann: the median of all differences
 * y - x. With ties p is that of the permutations of the midranks themselves. Exact up to
 * STATS_EXACT values together, beyond that by the normal approximation, mended for ties. `level` is
 * that of the interval: 0.95. na, nb >= 1. 0 or -ENOMEM.
 */
#define STATS_EXACT 40
int stats_mann_whitney(const double *a, size_t na, const double *b, size_t nb, double level,
		       struct stats_test *out);
/*
 * Wilcoxon's signed ranks of n differences; those that are 0 say nothing and do not enter p. Estimate:
 * the median of the means of all pairs of differences.
 */
int stats_signed_rank(const double *d, size_t n, double level, struct stats_test *out);

/* The smallest p that these can give, whatever the values: all of one side above the other. */
double stats_mann_whitney_least(size_t na, size_t nb);
double stats_signed_rank_least(size_t n);

/*
 * Student's t where one side has a single value and the noise is that of the other, or of both. With
 * na, nb >= 1 and na + nb >= 3. No noise at all (sd 0) gives p of 1 without a shift, else 0.
 */
void stats_t_test(const double *a, size_t na, const double *b, size_t nb, double level,
		  struct stats_test *out);

/*
 * Holm's correction, in place: p[i] becomes the p that holds for all n together. NaN stay, and are
 * not counted. 0 or -ENOMEM.
 */
int stats_holm(double *p, size_t n);

/* --- chance, the same each time --- */

struct rng {
	uint64_t state;
};

void rng_seed(struct rng *r, uint64_t seed);
void rng_seed_text(struct rng *r, const char *text); /* by a name, so that order does not matter */
uint64_t rng_next(struct rng *r);
size_t rng_below(struct rng *r, size_t n); /* 0 .. n - 1; n > 0 */
double rng_unit(struct rng *r);            /* 0 < x < 1 */

#endif
