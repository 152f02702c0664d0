// SPDX-License-Identifier: GPL-2.0-only
/* compare_judge.c - from what was measured to a verdict for each row, and the reason for it. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "format.h"
#include "log.h"
#include "stats.h"

#define WHY 512
#define POWER 0.8 /* "needs about N": to see it this often */
#define RANKS_NEED \
	1.05 /* a test by rank takes this many more values than one that trusts the noise */
#define COST_SHARE (1 / 3.0) /* of a change that may be our own */
#define UNITS_MAX 10000

/* Names */

const char *verdict_name(enum verdict v)
{
	static const char *const names[] = {
		[VERDICT_REGRESS] = "regress", [VERDICT_IMPROVE] = "improve",
		[VERDICT_CHANGED] = "changed", [VERDICT_INCONCLUSIVE] = "inconclusive",
		[VERDICT_SAME] = "same",       [VERDICT_NOT_COMPARABLE] = "not_comparable",
	};

	return names[v];
}

const char *level_name(enum unit_level level, size_t n)
{
	static const char *const names[][2] = {
		[LEVEL_HOST] = { "host", "hosts" },
		[LEVEL_BOOT] = { "boot", "boots" },
		[LEVEL_RUN] = { "run", "runs" },
		[LEVEL_INTERVAL] = { "interval", "intervals" },
	};

	return names[level][n != 1];
}

const char *test_name(enum test_kind test)
{
	static const char *const names[] = {
		[TEST_NONE] = "none",
		[TEST_MANN_WHITNEY] = "Mann-Whitney",
		[TEST_SIGNED_RANK] = "Wilcoxon signed rank",
		[TEST_T] = "t",
		[TEST_BOOTSTRAP] = "block bootstrap",
	};

	return names[test];
}

char *compare_row_name(const struct comparison *c, const struct compare_row *row, char *buf,
		       size_t size)
{
	const struct sample_subject *s = &c->t->subjects[row->subject];

	snprintf(buf, size, "%s%s%s", s->name, row->stat == STAT_VALUE ? "" : ".",
		 row->stat == STAT_VALUE ? "" : stat_name(row->stat));
	return buf;
}

/* --- how many it would take --- */

static double least_p(const struct comparison *c, size_t a, size_t b)
{
	return c->paired ? stats_signed_rank_least(a) : stats_mann_whitney_least(a, b);
}

size_t compare_least_units(const struct comparison *c, double p)
{
	size_t n = 2;

	while (n < UNITS_MAX && least_p(c, n, n) > p)
		n++;
	return n;
}

size_t compare_units_needed(const struct comparison *c, const struct measured *m, double change,
			    double p)
{
	double z = stats_normal_quantile(1 - p / 2) + stats_normal_quantile(POWER), n;
	size_t least = m->test == TEST_BOOTSTRAP ? 0 : compare_least_units(c, p), now = m->n[0];

	if (m->test == TEST_NONE || !m->relative || !(change > 0))
		return 0;
	if (m->test == TEST_BOOTSTRAP) /* in times as much: the caller knows how much there is */
		return (size_t)ceil(pow(z * m->noise / log1p(change), 2));
	n = 2 * RANKS_NEED * pow(z * m->noise / log1p(change), 2);
	if (!(n < UNITS_MAX))
		return 0;
	if (n < (double)least)
		n = (double)least;
	return n > (double)now ? (size_t)ceil(n) : now + 1;
}

/* --- floors --- */

/* A change below this is none, however sure: 1 us, a page, one of what is counted. */
static double absolute_floor(const struct sample_subject *s, enum sample_stat stat)
{
	if (s->kind == SUBJECT_VALUE)
		return 0;
	if (stat == STAT_RATE)
		return 1;
	return !strcmp(s->unit, "ns") ? 1000 : !strcmp(s->unit, "bytes") ? 4096 : 1;
}

static double relative_floor(const struct comparison *c, const struct measured *m)
{
	return fmax(c->conf.min_change, m->resolution);
}

static bool is_big(const struct comparison *c, const struct compare_row *row)
{
	const struct sample_subject *s = &c->t->subjects[row->subject];
	const struct measured *m = &row->m;
	double apart = fabs(m->value[SIDE_NEW] - m->value[SIDE_BASE]);

	if (apart < absolute_floor(s, row->stat))
		return false;
	/* On a scale of ratios: 1/1.05 is as far away as 1.05. */
	return !m->relative || fabs(log1p(m->change)) >= log1p(relative_floor(c, m));
}

/* The whole interval is too near to no change to matter. */
static bool is_same(const struct comparison *c, const struct compare_row *row)
{
	const struct sample_subject *s = &c->t->subjects[row->subject];
	const struct measured *m = &row->m;
	double floor = relative_floor(c, m), least = absolute_floor(s, row->stat), base;

	if (isnan(m->lo) || isnan(m->hi))
		return false;
	if (c->unknown && floor < c->conf.boot_noise)
		floor = c->conf.boot_noise;
	if (c->unknown) /* the interval was made wider by as much */
		floor = (1 + floor) * (1 + c->conf.boot_noise) - 1;
	if (m->relative && fmax(fabs(log1p(m->lo)), fabs(log1p(m->hi))) <= log1p(floor))
		return true;
	base = m->relative ? m->value[SIDE_BASE] : 1;
	return fmax(fabs(m->lo), fabs(m->hi)) * base <= least;
}

/* --- doubts --- */

static int find_disturbed(const struct comparison *c, char *why, size_t size)
{
	const struct sample_run *r;
	size_t i;

	for (i = 0; i < c->t->nruns; i++) {
		r = &c->t->runs[i];
		if (!r->disturbed)
			continue;
		snprintf(why, size, "run %u of %s was disturbed: %s", r->index + 1,
			 c->t->files[r->file].path, r->disturbed);
		return 1;
	}
	return 0;
}

static double cost_of(const struct comparison *c, enum sample_side side)
{
	double sum = 0;
	size_t i, n = 0;

	for (i = 0; i < c->t->nruns; i++) {
		if (c->t->runs[i].side != side || isnan(c->t->runs[i].cost_ns))
			continue;
		sum += c->t->runs[i].cost_ns;
		n++;
	}
	return n ? sum / (double)n : NAN;
}

/*
 * What we cost is in each time that we measure, and is to be no great part of what changed, or of the
 * least change that would matter.
 */
static int find_own_cost(const struct comparison *c, const struct compare_row *row, char *why,
			 size_t size)
{
	const struct sample_subject *s = &c->t->subjects[row->subject];
	double base = cost_of(c, SIDE_BASE), new = cost_of(c, SIDE_NEW), change;
	char a[FMT_LEN], b[FMT_LEN];

	if (s->kind != SUBJECT_MEASURE || strcmp(s->unit, "ns") || row->stat == STAT_RATE)
		return 0;
	change = fmax(fabs(row->m.value[SIDE_NEW] - row->m.value[SIDE_BASE]),
		      row->m.value[SIDE_BASE] * c->conf.min_change);
	if (isnan(base) || isnan(new) || !(fabs(new - base) > change * COST_SHARE))
		return 0;
	snprintf(why, size,
		 "kdefer itself cost each event %s in base and %s in new: too near to the "
		 "change",
		 fmt_ns(a, sizeof(a), (uint64_t)base), fmt_ns(b, sizeof(b), (uint64_t) new));
	return 1;
}

int compare_doubt(const struct comparison *c, const struct compare_row *row, char *why, size_t size)
{
	if (c->t->subjects[row->subject].kind == SUBJECT_LOST)
		return 0;
	return find_disturbed(c, why, size) || find_own_cost(c, row, why, size);
}

/* --- verdicts --- */

static size_t fewest(const size_t n[SIDE_COUNT])
{
	return n[SIDE_BASE] < n[SIDE_NEW] ? n[SIDE_BASE] : n[SIDE_NEW];
}

static void say_no_value(const struct comparison *c, const struct compare_row *row, char *why)
{
	const struct measured *m = &row->m;
	unsigned int side = m->n[SIDE_BASE] ? SIDE_NEW : SIDE_BASE;
	const char *name = side == SIDE_BASE ? "base" : "new";
	char n[FMT_LEN], needs[FMT_LEN];

	if (c->t->subjects[row->subject].kind == SUBJECT_VALUE || !m->samples[side])
		snprintf(why, WHY, "not seen in %s", name);
	else
		snprintf(why, WHY, "cannot tell: %s sample%s in %s, %s needs about %s a run",
			 fmt_count(n, sizeof(n), m->samples[side]),
			 m->samples[side] == 1 ? "" : "s", name, stat_name(row->stat),
			 fmt_count(needs, sizeof(needs), stat_needs(row->stat)));
}

static double alpha_each(const struct comparison *c, const struct compare_row *row)
{
	return row->gates && c->family ? c->conf.alpha / (double)c->family : c->conf.alpha;
}

static const char *level_names_a_side(const struct comparison *c)
{
	static const char *const names[] = { [LEVEL_HOST] = "hosts a side",
					     [LEVEL_BOOT] = "boots a side",
					     [LEVEL_RUN] = "runs a side",
					     [LEVEL_INTERVAL] = "intervals a side" };

	return names[c->level];
}

static void say_cannot_tell(const struct comparison *c, const struct compare_row *row, char *why)
{
	const struct measured *m = &row->m;
	size_t needs = compare_units_needed(c, m, relative_floor(c, m), alpha_each(c, row));
	size_t have = fewest(m->n);

	if (m->test == TEST_BOOTSTRAP && needs > 1)
		snprintf(
			why, WHY,
			"cannot tell: one run a side, needs one about %zu times as long, or several",
			needs);
	else if (m->test != TEST_BOOTSTRAP && needs && m->n[SIDE_BASE] != m->n[SIDE_NEW])
		snprintf(why, WHY, "cannot tell: %zu and %zu %s, needs about %zu a side",
			 m->n[SIDE_BASE], m->n[SIDE_NEW], level_name(c->level, 2), needs);
	else if (m->test != TEST_BOOTSTRAP && needs)
		snprintf(why, WHY, "cannot tell: %zu %s, needs about %zu", have,
			 c->paired ? "pairs" : level_names_a_side(c), needs);
	else
		snprintf(why, WHY, "cannot tell from %zu %s a side", have,
			 level_name(c->level == LEVEL_INTERVAL ? LEVEL_RUN : c->level, have));
}

static bool is_worse(const struct comparison *c, const struct compare_row *row)
{
	bool more = row->m.value[SIDE_NEW] > row->m.value[SIDE_BASE];

	if (row->m.test != TEST_NONE)
		more = row->m.change > 0;
	return (c->t->subjects[row->subject].better == KD_BETTER_LOWER) == more;
}

static bool has_direction(const struct comparison *c, const struct compare_row *row)
{
	return c->t->subjects[row->subject].better != KD_BETTER_NONE && row->stat != STAT_RATE;
}

static void judge_change(const struct comparison *c, struct compare_row *row, char *why)
{
	const struct measured *m = &row->m;
	bool within = c->unknown && (!m->relative || (m->lo <= 0 && m->hi >= 0));

	if (compare_doubt(c, row, why, WHY) || within) {
		if (!*why && m->relative)
			snprintf(why, WHY,
				 "one %s a side, and %ss may differ by %.3g%% (--boot-noise)",
				 c->unknown, c->unknown, c->conf.boot_noise * 100);
		else if (!*why)
			snprintf(why, WHY, "one %s a side, and what %ss differ by is not known",
				 c->unknown, c->unknown);
		row->suspect = has_direction(c, row) && is_worse(c, row);
		row->verdict = VERDICT_INCONCLUSIVE;
		return;
	}
	if (!has_direction(c, row))
		row->verdict = VERDICT_CHANGED;
	else
		row->verdict = is_worse(c, row) ? VERDICT_REGRESS : VERDICT_IMPROVE;
}

static void judge_row(const struct comparison *c, struct compare_row *row, char *why)
{
	const struct measured *m = &row->m;

	row->verdict = VERDICT_INCONCLUSIVE;
	if (compare_barred(c, row->subject, why, WHY))
		row->verdict = VERDICT_NOT_COMPARABLE;
	else if (!m->n[SIDE_BASE] || !m->n[SIDE_NEW])
		say_no_value(c, row, why);
	else if (m->test == TEST_NONE)
		snprintf(why, WHY, "cannot tell: %s", m->none);
	else if (row->corrected <= c->conf.alpha && is_big(c, row))
		judge_change(c, row, why);
	else if (!is_same(c, row))
		say_cannot_tell(c, row, why);
	else if (!compare_doubt(c, row, why, WHY))
		row->verdict = VERDICT_SAME;
}

/* Those that gate are one family, those that are shown another. */
static int correct(struct comparison *c, bool gating)
{
	double *p = calloc(c->nrows + 1, sizeof(*p));
	size_t i;
	char why[WHY];

	if (!p)
		return -ENOMEM;
	for (i = 0; i < c->nrows; i++) {
		p[i] = c->rows[i].gates == gating ? c->rows[i].m.p : NAN;
		if (compare_barred(c, c->rows[i].subject, why, sizeof(why)))
			p[i] = NAN;
		c->family += gating && !isnan(p[i]);
	}
	if (stats_holm(p, c->nrows)) {
		free(p);
		return -ENOMEM;
	}
	for (i = 0; i < c->nrows; i++)
		if (c->rows[i].gates == gating)
			c->rows[i].corrected = p[i];
	free(p);
	return 0;
}

/* Before anything else: with so few units no difference, however great, could be told. */
static int note_too_few(struct comparison *c)
{
	double least = least_p(c, c->units[SIDE_BASE], c->units[SIDE_NEW]), p;
	size_t n = fewest(c->units);

	if (c->level == LEVEL_INTERVAL || !c->family)
		return 0;
	if (c->paired)
		least = stats_signed_rank_least(n);
	else if (n < 2)
		return 0; /* another test, which has no such limit */
	p = c->conf.alpha / (double)c->family;
	if (least <= p)
		return 0;
	return compare_say(
		&c->warnings, &c->nwarnings,
		"too few %s for %zu metrics: with %zu and %zu no p is below %.2g, and %.2g "
		"is needed: %zu a side would do, or a --fail-on rule for what matters",
		c->paired ? "pairs" : level_name(c->level, 2), c->family, c->units[SIDE_BASE],
		c->units[SIDE_NEW], least, p, compare_least_units(c, p));
}

/* A gate without anything that gates would be green for ever. */
static int note_nothing_gates(struct comparison *c)
{
	size_t i;

	for (i = 0; i < c->nrows; i++)
		if (c->rows[i].gates)
			return 0;
	return compare_say(&c->warnings, &c->nwarnings,
			   "no total has a value on either side: there is nothing to compare");
}

int compare_judge(struct comparison *c)
{
	int err = correct(c, true);
	char why[WHY];
	size_t i;

	if (!err)
		err = correct(c, false);
	if (!err)
		err = note_too_few(c);
	if (!err)
		err = note_nothing_gates(c);
	for (i = 0; !err && i < c->nrows; i++) {
		*why = '\0';
		judge_row(c, &c->rows[i], why);
		c->rows[i].why = strdup(why);
		err = c->rows[i].why ? 0 : -ENOMEM;
	}
	return err;
}

enum verdict compare_verdict(const struct comparison *c)
{
	size_t n[VERDICT_COUNT] = { 0 }, i, all = 0;
	bool suspect = false;

	for (i = 0; i < c->nrows; i++) {
		if (!c->rows[i].gates)
			continue;
		n[c->rows[i].verdict]++;
		suspect |= c->rows[i].suspect;
		all++;
	}
	if (n[VERDICT_REGRESS])
		return VERDICT_REGRESS;
	if (n[VERDICT_NOT_COMPARABLE] == all)
		return VERDICT_NOT_COMPARABLE;
	if (suspect || n[VERDICT_INCONCLUSIVE] + n[VERDICT_NOT_COMPARABLE] == all)
		return VERDICT_INCONCLUSIVE;
	return n[VERDICT_IMPROVE] ? VERDICT_IMPROVE : VERDICT_SAME;
}
