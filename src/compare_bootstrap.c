// SPDX-License-Identifier: GPL-2.0-only
/*
 * compare_bootstrap.c - one run a side: how far a statistic would move if its intervals had fallen
 * another way. Intervals are drawn in blocks, since each resembles the one before it.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "stats.h"

#define RESAMPLES 400
#define INTERVALS_LEAST 8 /* fewer say nothing of how they vary */
#define BLOCKS_LEAST 4

#define STATS 5 /* STAT_MEAN .. STAT_P999; an extreme cannot be resampled */
_Static_assert(STAT_P999 == STATS - 1 && STAT_MEAN == 0, "those first");

struct bootstrap_side {
	double sd[STATS]; /* of the logarithm; NaN: not to be told */
	double blocks;    /* how many there are that do not depend on each other */
};

struct bootstrap {
	struct bootstrap_side side[SIDE_COUNT];
};

void bootstrap_free(struct bootstrap *b)
{
	free(b);
}

static const struct sample_segments *segments_of(const struct comparison *c, size_t subject,
						 enum sample_side side)
{
	const struct sample_run *r;
	size_t i;

	for (i = 0; i < c->t->nruns; i++) {
		r = &c->t->runs[i];
		if (r->side == side && subject < r->nvalues)
			return r->values[subject].segments;
	}
	return NULL;
}

static uint64_t count_of(const struct sample_segments *s, size_t i)
{
	uint64_t n = 0;
	uint32_t k;

	for (k = 0; k < s->s[i].n; k++)
		n += s->cells[s->s[i].first + k].count;
	return n;
}

/* From how much the mean of an interval says of the next: blocks as long as that lasts. */
static size_t block_length(const struct sample_segments *s)
{
	double means[SEGMENTS_MAX], rho, length;
	size_t i, n = 0;
	uint64_t count;

	for (i = 0; i < s->n; i++) {
		count = count_of(s, i);
		if (count)
			means[n++] = (double)s->s[i].sum / (double)count;
	}
	rho = stats_lag1(means, n);
	length = cbrt(6 * rho * rho / pow(1 - rho * rho, 2) * (double)s->n);
	return length < 1 ? 1 : (size_t)ceil(length);
}

void bootstrap_add_segment(struct hist *h, const struct sample_segments *s, size_t i)
{
	const struct sample_segment *g = &s->s[i];
	uint32_t k;

	for (k = 0; k < g->n; k++)
		hist_put(h, s->cells[g->first + k].bucket, s->cells[g->first + k].count);
	h->sum += g->sum;
}

static void draw(struct rng *rng, const struct sample_segments *s, size_t length, struct hist *h)
{
	size_t drawn = 0, at, i;

	hist_init(h);
	while (drawn < s->n) {
		at = rng_below(rng, s->n);
		for (i = 0; i < length && drawn < s->n; i++, drawn++)
			bootstrap_add_segment(h, s, (at + i) % s->n);
	}
}

/* A statistic that some resamples do not have, for want of samples, is none. */
static void resample(struct rng *rng, const struct sample_segments *s, struct bootstrap_side *out)
{
	size_t length = block_length(s), i, stat;
	double logs[STATS][RESAMPLES];
	struct hist h;

	out->blocks = (double)s->n / (double)length;
	for (i = 0; i < RESAMPLES; i++) {
		draw(rng, s, length, &h);
		for (stat = 0; stat < STATS; stat++)
			logs[stat][i] = log(stat_of_hist(&h, (enum sample_stat)stat));
	}
	for (stat = 0; stat < STATS; stat++)
		out->sd[stat] = stats_sd(logs[stat], RESAMPLES) *
				sqrt(out->blocks / fmax(out->blocks - 1, 0.5));
}

static struct bootstrap *make(const struct comparison *c, size_t subject)
{
	struct bootstrap *b = calloc(1, sizeof(*b));
	const struct sample_segments *s;
	struct rng rng;
	unsigned int side;

	rng_seed_text(&rng, c->t->subjects[subject].name);
	for (side = 0; b && side < SIDE_COUNT; side++) {
		s = segments_of(c, subject, side);
		if (s && s->n >= INTERVALS_LEAST)
			resample(&rng, s, &b->side[side]);
	}
	return b;
}

static double shift_of(const struct comparison *c, size_t subject, enum sample_stat stat)
{
	double log_of[SIDE_COUNT] = { NAN, NAN };
	const struct sample_run *r;
	size_t i;

	for (i = 0; i < c->t->nruns; i++) {
		r = &c->t->runs[i];
		log_of[r->side] = log(samples_get(c->t, r, subject, stat));
	}
	return log_of[SIDE_NEW] - log_of[SIDE_BASE];
}

int compare_bootstrap(const struct comparison *c, size_t subject, enum sample_stat stat,
		      double *log_shift, double *se, double *df)
{
	const struct bootstrap_side *a, *b;
	double va, vb;

	if (stat >= STATS)
		return -ENODATA;
	if (!c->boots[subject])
		c->boots[subject] = make(c, subject);
	if (!c->boots[subject])
		return -ENOMEM;
	a = &c->boots[subject]->side[SIDE_BASE];
	b = &c->boots[subject]->side[SIDE_NEW];
	*log_shift = shift_of(c, subject, stat);
	va = a->sd[stat] * a->sd[stat];
	vb = b->sd[stat] * b->sd[stat];
	*se = sqrt(va + vb);
	if (a->blocks < BLOCKS_LEAST || b->blocks < BLOCKS_LEAST || !isfinite(*log_shift) ||
	    !isfinite(*se))
		return -ENODATA;
	*df = *se > 0 ? pow(va + vb, 2) / (va * va / (a->blocks - 1) + vb * vb / (b->blocks - 1))
		      : a->blocks + b->blocks - 2;
	return 0;
}
