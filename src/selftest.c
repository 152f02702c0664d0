// SPDX-License-Identifier: GPL-2.0-only
/* selftest.c - whether these captures and rules can find anything, and do not find what is not there. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diff.h"
#include "stats.h"

#define SHUFFLES 20

static const double slowdowns[] = { 1.1, 1.25, 1.5, 2, 4, 8, 16 };

struct trial {
	struct samples *t;
	const struct compare_conf *conf;
	const struct rule *const *rules;
	size_t nrules;
};

/* 1: red; 0: not; -ENOMEM. */
static int is_red(const struct trial *trial)
{
	struct rule_result *results = calloc(trial->nrules + 1, sizeof(*results));
	struct comparison c;
	struct diff d = { .t = trial->t,
			  .c = &c,
			  .rules = trial->rules,
			  .results = results,
			  .nrules = trial->nrules };
	int red;

	if (!results)
		return -ENOMEM;
	red = compare(&c, trial->t, trial->conf);
	if (!red) {
		rules_judge(&c, trial->rules, trial->nrules, results);
		red = diff_verdict(&d) == VERDICT_REGRESS;
	}
	compare_free(&c);
	free(results);
	return red;
}

static void scale_new(struct samples *t, double scale)
{
	size_t i;

	for (i = 0; i < t->nruns; i++)
		t->runs[i].scale = t->runs[i].side == SIDE_NEW ? scale : 1;
}

static int find_slowdown(const struct trial *trial, struct selftest *s)
{
	size_t i;
	int red = 0;

	for (i = 0; !red && i < sizeof(slowdowns) / sizeof(slowdowns[0]); i++) {
		scale_new(trial->t, slowdowns[i]);
		red = is_red(trial);
		if (red > 0)
			s->slowdown = slowdowns[i];
	}
	scale_new(trial->t, 1);
	return red < 0 ? red : 0;
}

/* --- shuffles --- */

/*
 * What is dealt out together are units: boots stay whole, pairs change places within. Each changes sides
 * or not. Without pairs: so many do each way that their numbers stay. */
static void deal_lots(struct samples *t, const struct comparison *c, struct rng *rng,
		      const uint8_t *sides)
{
	size_t i, k, left[SIDE_COUNT];
	uint8_t side;

	left[SIDE_BASE] = c->units[SIDE_BASE];
	left[SIDE_NEW] = c->units[SIDE_NEW];
	for (i = 0; i < t->nruns; i++) {
		for (k = 0; k < i && compare_unit(c, &t->runs[k]) != compare_unit(c, &t->runs[i]);
		     k++)
			;
		if (k < i) { /* goes where the first of its lot went */
			side = c->paired ? t->runs[k].side ^ sides[k] ^ sides[i] : t->runs[k].side;
		} else if (c->paired) {
			side = sides[i] ^ (rng_next(rng) & 1);
		} else {
			side = rng_below(rng, left[SIDE_BASE] + left[SIDE_NEW]) >= left[SIDE_BASE];
			left[side]--;
		}
		t->runs[i].side = side;
	}
}

/* --- one run a side: its pieces are dealt instead --- */

static void add_piece(struct hist *h, const struct sample_segments *s, size_t i)
{
	bootstrap_add_segment(h, s, i);
	if (s->s[i].max > h->max)
		h->max = s->s[i].max;
}

/* Pieces i of one side or the other, in blocks, since neighbours resemble each other. */
static int deal_pieces(struct rng *rng, const struct sample_segments *a,
		       const struct sample_segments *b, struct sample_values *to)
{
	size_t n = a->n < b->n ? a->n : b->n, block = 1 + n / 12, i;
	bool swapped = false;
	struct hist all, one;
	unsigned int stat;

	to->segments = calloc(1, sizeof(*to->segments));
	if (!to->segments)
		return -ENOMEM;
	hist_init(&all);
	for (i = 0; i < n; i++) {
		if (i % block == 0)
			swapped = rng_next(rng) & 1;
		hist_init(&one);
		add_piece(&one, swapped ? b : a, i);
		add_piece(&all, swapped ? b : a, i);
		if (segments_add(to->segments, &one))
			return -ENOMEM;
	}
	to->count = hist_count(&all);
	for (stat = STAT_MEAN; stat <= STAT_P999; stat++)
		to->v[stat] = stat_of_hist(&all, (enum sample_stat)stat);
	return 0;
}

/* The same draws for both sides, the other way round: what one gets the other does not. */
static int deal_subject(const struct sample_values *a, const struct sample_values *b, uint64_t seed,
			struct sample_values *to_a, struct sample_values *to_b)
{
	struct rng rng;
	int err;

	if (!a->segments || !b->segments)
		return 0;
	rng_seed(&rng, seed);
	err = deal_pieces(&rng, a->segments, b->segments, to_a);
	rng_seed(&rng, seed);
	return err ? err : deal_pieces(&rng, b->segments, a->segments, to_b);
}

static void drop_dealt(struct sample_values *dealt, const struct sample_values *values, size_t n)
{
	size_t i;

	for (i = 0; dealt && i < n; i++)
		if (dealt[i].segments != values[i].segments)
			segments_free(dealt[i].segments);
	free(dealt);
}

static int shuffle_pieces(const struct trial *trial, uint64_t seed)
{
	struct sample_run *a = &trial->t->runs[0], *b = &trial->t->runs[1];
	struct sample_values *va = a->values, *vb = b->values, *da, *db;
	size_t n = a->nvalues < b->nvalues ? a->nvalues : b->nvalues, i;
	int err = 0;

	da = calloc(a->nvalues + 1, sizeof(*da));
	db = calloc(b->nvalues + 1, sizeof(*db));
	if (da && db) {
		memcpy(da, va, a->nvalues * sizeof(*da));
		memcpy(db, vb, b->nvalues * sizeof(*db));
		for (i = 0; !err && i < n; i++)
			err = deal_subject(&va[i], &vb[i], seed, &da[i], &db[i]);
		a->values = da;
		b->values = db;
		err = err ? err : is_red(trial);
		a->values = va;
		b->values = vb;
	} else {
		err = -ENOMEM;
	}
	drop_dealt(da, va, a->nvalues);
	drop_dealt(db, vb, b->nvalues);
	return err;
}

/* --- both --- */

static int shuffle(const struct trial *trial, const struct comparison *c, struct rng *rng,
		   const uint8_t *sides)
{
	size_t i;
	int red;

	if (c->level == LEVEL_INTERVAL)
		return trial->t->nruns == 2 ? shuffle_pieces(trial, rng_next(rng)) : 0;
	deal_lots(trial->t, c, rng, sides);
	red = is_red(trial);
	for (i = 0; i < trial->t->nruns; i++)
		trial->t->runs[i].side = sides[i];
	return red;
}

static int find_red_shuffles(const struct trial *trial, const struct comparison *c,
			     struct selftest *s)
{
	uint8_t *sides = calloc(trial->t->nruns + 1, sizeof(*sides));
	struct rng rng;
	size_t i;
	int red = 0;

	if (!sides)
		return -ENOMEM;
	for (i = 0; i < trial->t->nruns; i++)
		sides[i] = trial->t->runs[i].side;
	rng_seed_text(&rng, "shuffles");
	for (s->shuffles = 0; red >= 0 && s->shuffles < SHUFFLES; s->shuffles++) {
		red = shuffle(trial, c, &rng, sides);
		s->red += red > 0;
	}
	free(sides);
	return red < 0 ? red : 0;
}

int selftest_run(struct selftest *s, struct samples *t, const struct compare_conf *conf,
		 const struct rule *const *rules, size_t nrules)
{
	const struct trial trial = { t, conf, rules, nrules };
	struct comparison c;
	int err;

	memset(s, 0, sizeof(*s));
	err = compare(&c, t, conf);
	if (!err)
		err = find_slowdown(&trial, s);
	if (!err)
		err = find_red_shuffles(&trial, &c, s);
	compare_free(&c);
	s->done = !err;
	return err;
}
