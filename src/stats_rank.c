// SPDX-License-Identifier: GPL-2.0-only
/*
 * stats_rank.c - tests by rank: Mann-Whitney for two samples, Wilcoxon's signed ranks for pairs, with
 * the intervals that go with them.
 *
 * Ranks are doubled, so that midranks of ties are integers, and sums of them can be counted out.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats.h"

struct ranked {
	double value;
	bool second; /* of the second sample; of pairs: the difference is positive */
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return (x->value > y->value) - (x->value < y->value);
}

/* Sorts, and sets ranks[i] to twice the midrank of r[i]. Returns the sum over ties of t^3 - t. */
static double rank(struct ranked *r, size_t n, unsigned int *ranks)
{
	size_t i, first, end;
	double ties = 0, t;

	qsort(r, n, sizeof(*r), compare_ranked);
	for (first = 0; first < n; first = end) {
		for (end = first + 1; end < n && !(r[end].value > r[first].value); end++)
			;
		for (i = first; i < end; i++)
			ranks[i] = (unsigned int)(first + 1 + end);
		t = (double)(end - first);
		ties += t * t * t - t;
	}
	return ties;
}

/*
 * The share of all choices of k out of n ranks whose sum is at least `far` from the middle.
 * ways[j * width + s]: choices of j that sum to s.
 */
static int count_out(const unsigned int *ranks, size_t n, size_t k, unsigned int far, double *p)
{
	size_t width = n * (n + 1) + 1, i, j, s, middle = k * (n + 1);
	double *ways = calloc((k + 1) * width, sizeof(*ways)), all = 0, out = 0;

	if (!ways)
		return -ENOMEM;
	ways[0] = 1;
	for (i = 0; i < n; i++)
		for (j = i + 1 < k ? i + 1 : k; j > 0; j--)
			for (s = width; s-- > ranks[i];)
				ways[j * width + s] += ways[(j - 1) * width + s - ranks[i]];
	for (s = 0; s < width; s++) {
		all += ways[k * width + s];
		if ((s > middle ? s - middle : middle - s) >= far)
			out += ways[k * width + s];
	}
	free(ways);
	*p = out / all;
	return 0;
}

static double two_sided(double far, double sd)
{
	double p = 2 * stats_normal_p(-far / sd);

	return p > 1 ? 1 : p;
}

/* Against the middle, with the correction for continuity: one step of the doubled sum is half a rank. */
static double mann_whitney_normal(double far, double na, double nb, double ties)
{
	double n = na + nb, var = na * nb / 12 * (n + 1 - ties / (n * (n - 1)));

	if (!(var > 0))
		return 1;
	far = far > 0.5 ? far - 0.5 : 0;
	return two_sided(far, sqrt(var));
}

/*
 * ways[u], u = 0 .. na * nb: in how many ways na and nb values without ties stand in order with u
 * pairs (x, y), x of the first and y of the second, in which y is the lesser.
 */
static double *count_orders(size_t na, size_t nb)
{
	size_t width = na * nb + 1, i, j, s;
	double *ways = calloc((nb + 1) * width, sizeof(*ways));

	if (!ways)
		return NULL;
	ways[0] = 1;
	for (i = 0; i < na + nb;
	     i++) /* place i may hold the j-th of the second: i - j are before it */
		for (j = i + 1 < nb ? i + 1 : nb; j > 0; j--)
			for (s = width; s-- > i - (j - 1);)
				ways[j * width + s] += ways[(j - 1) * width + s - (i - (j - 1))];
	memmove(ways, ways + nb * width, width * sizeof(*ways));
	return ways;
}

/* The share of orders at least `far2` / 2 pairs from the middle. */
static double orders_out(const double *ways, size_t pairs, size_t far2)
{
	double all = 0, out = 0;
	size_t u;

	for (u = 0; u <= pairs; u++) {
		all += ways[u];
		if ((2 * u > pairs ? 2 * u - pairs : pairs - 2 * u) >= far2)
			out += ways[u];
	}
	return out / all;
}

/* ways: of values without ties; NULL where they are too many to count out. */
static int mann_whitney_p(const double *a, size_t na, const double *b, size_t nb,
			  const double *ways, struct stats_test *out)
{
	size_t n = na + nb, i, sum = 0, middle = nb * (n + 1), far;
	struct ranked *r = calloc(n, sizeof(*r));
	unsigned int *ranks = calloc(n, sizeof(*ranks));
	int err = r && ranks ? 0 : -ENOMEM;
	double ties;

	for (i = 0; !err && i < n; i++)
		r[i] = (struct ranked){ i < na ? a[i] : b[i - na], i >= na };
	if (!err) {
		ties = rank(r, n, ranks);
		for (i = 0; i < n; i++)
			sum += r[i].second ? ranks[i] : 0;
		far = sum > middle ? sum - middle : middle - sum;
		out->exact = ways;
		if (!ways)
			out->p = mann_whitney_normal((double)far / 2, (double)na, (double)nb, ties);
		else if (ties > 0)
			err = count_out(ranks, n, nb, (unsigned int)far, &out->p);
		else
			out->p = orders_out(ways, na * nb, far);
	}
	free(r);
	free(ranks);
	return err;
}

/*
 * How many values may be left out at each end of the sorted differences: the most for which
 * P(U < k) <= share, U being the number of pairs in order.
 */
static size_t mann_whitney_cut(const double *ways, size_t na, size_t nb, double share)
{
	double all = 0, below = 0, sd, k;
	size_t pairs = na * nb, u;

	if (!ways) {
		sd = sqrt((double)pairs * (double)(na + nb + 1) / 12);
		k = (double)pairs / 2 + stats_normal_quantile(share) * sd - 0.5;
		return k > 0 ? (size_t)k : 0;
	}
	for (u = 0; u <= pairs; u++)
		all += ways[u];
	for (u = 0; u <= pairs; u++) {
		below += ways[u];
		if (below > share * all)
			break;
	}
	return u;
}

/* Of n sorted values: the median, and what is left when `cut` values go at each end. */
static void read_interval(double *sorted, size_t n, size_t cut, struct stats_test *out)
{
	out->estimate = stats_median(sorted, n);
	out->lo = -INFINITY;
	out->hi = INFINITY;
	if (cut && cut <= (n + 1) / 2) {
		out->lo = sorted[cut - 1];
		out->hi = sorted[n - cut];
	}
}

int stats_mann_whitney(const double *a, size_t na, const double *b, size_t nb, double level,
		       struct stats_test *out)
{
	bool exact = na + nb <= STATS_EXACT;
	double *ways = exact ? count_orders(na, nb) : NULL, *diff = calloc(na * nb, sizeof(*diff));
	size_t i, j;
	int err = diff && (ways || !exact) ? mann_whitney_p(a, na, b, nb, ways, out) : -ENOMEM;

	if (!err) {
		for (i = 0; i < na; i++)
			for (j = 0; j < nb; j++)
				diff[i * nb + j] = b[j] - a[i];
		read_interval(diff, na * nb, mann_whitney_cut(ways, na, nb, (1 - level) / 2), out);
	}
	free(ways);
	free(diff);
	return err;
}

double stats_mann_whitney_least(size_t na, size_t nb)
{
	double n = (double)(na + nb), p;

	if (!na || !nb)
		return 1;
	p = 2 * exp(lgamma((double)na + 1) + lgamma((double)nb + 1) - lgamma(n + 1));
	return p > 1 ? 1 : p;
}

/* --- signed ranks --- */

/* Share of all signs whose sum of positive ranks is at least `far` from the middle. */
static int signs_out(const unsigned int *ranks, size_t n, size_t middle2, size_t far2, double *p)
{
	size_t width = n * (n + 1) + 1, i, s;
	double *ways = calloc(width, sizeof(*ways)), out = 0;

	if (!ways)
		return -ENOMEM;
	ways[0] = 1;
	for (i = 0; i < n; i++)
		for (s = width; s-- > 0;)
			ways[s] = ways[s] / 2 + (s >= ranks[i] ? ways[s - ranks[i]] / 2 : 0);
	for (s = 0; s < width; s++)
		if ((2 * s > middle2 ? 2 * s - middle2 : middle2 - 2 * s) >= far2)
			out += ways[s];
	free(ways);
	*p = out > 1 ? 1 : out;
	return 0;
}

static double signed_rank_normal(double far, double n, double ties)
{
	double var = n * (n + 1) * (2 * n + 1) / 24 - ties / 48;

	if (!(var > 0))
		return 1;
	far = far > 0.5 ? far - 0.5 : 0;
	return two_sided(far, sqrt(var));
}

static int signed_rank_p(struct ranked *r, unsigned int *ranks, size_t n, struct stats_test *out)
{
	double ties = rank(r, n, ranks);
	size_t i, sum = 0, middle2 = n * (n + 1), far2;

	for (i = 0; i < n; i++)
		sum += r[i].second ? ranks[i] : 0;
	far2 = 2 * sum > middle2 ? 2 * sum - middle2 : middle2 - 2 * sum;
	out->exact = n <= STATS_EXACT;
	if (out->exact)
		return signs_out(ranks, n, middle2, far2, &out->p);
	out->p = signed_rank_normal((double)far2 / 4, (double)n, ties);
	return 0;
}

static int signed_rank_cut(size_t n, double share, size_t *cut)
{
	size_t sums = n * (n + 1) / 2, i, s;
	double *ways, below = 0;

	*cut = 0;
	if (n > STATS_EXACT) {
		double m = (double)n, sd = sqrt(m * (m + 1) * (2 * m + 1) / 24);
		double k = (double)sums / 2 + stats_normal_quantile(share) * sd - 0.5;

		*cut = k > 0 ? (size_t)k : 0;
		return 0;
	}
	ways = calloc(sums + 1, sizeof(*ways));
	if (!ways)
		return -ENOMEM;
	ways[0] = 1;
	for (i = 1; i <= n; i++)
		for (s = sums + 1; s-- > 0;)
			ways[s] = ways[s] / 2 + (s >= i ? ways[s - i] / 2 : 0);
	for (s = 0; s <= sums; s++) {
		below += ways[s];
		if (below > share)
			break;
		*cut = s + 1;
	}
	free(ways);
	return 0;
}

int stats_signed_rank(const double *d, size_t n, double level, struct stats_test *out)
{
	struct ranked *r = calloc(n, sizeof(*r));
	unsigned int *ranks = calloc(n, sizeof(*ranks));
	double *means = calloc(n * (n + 1) / 2, sizeof(*means));
	size_t i, j, m = 0, cut;
	int err = r && ranks && means ? signed_rank_cut(n, (1 - level) / 2, &cut) : -ENOMEM;

	if (!err) {
		for (i = 0; i < n; i++)
			if (fabs(d[i]) > 0)
				r[m++] = (struct ranked){ fabs(d[i]), d[i] > 0 };
		err = signed_rank_p(r, ranks, m, out);
	}
	if (!err) {
		for (m = 0, i = 0; i < n; i++)
			for (j = i; j < n; j++)
				means[m++] = (d[i] + d[j]) / 2;
		read_interval(means, m, cut, out);
	}
	free(r);
	free(ranks);
	free(means);
	return err;
}

double stats_signed_rank_least(size_t n)
{
	return n ? exp2(1 - (double)n) : 1;
}
