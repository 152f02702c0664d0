// SPDX-License-Identifier: GPL-2.0-only
/*
 * compare.c - finds the unit that is counted, and measures each metric: values, change, interval, p.
 * What comes of it: compare_judge.c. Hosts and plans: compare_facts.c.
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "log.h"
#include "stats.h"

/* --- which unit --- */

uint32_t compare_unit(const struct comparison *c, const struct sample_run *r)
{
	switch (c->level) {
	case LEVEL_HOST:
		return r->host;
	case LEVEL_BOOT:
		return r->boot;
	default:
		return c->paired ? r->pair : (uint32_t)(r - c->t->runs);
	}
}

/* How many different ones a side has; *same: both have the same ones. */
static void count_names(const struct samples *t, enum unit_level level, size_t n[SIDE_COUNT],
			bool *same)
{
	bool seen[SIDE_COUNT];
	size_t i, id, names = t->nnames[level == LEVEL_BOOT];

	n[SIDE_BASE] = n[SIDE_NEW] = 0;
	*same = true;
	for (id = 0; id < names; id++) {
		seen[SIDE_BASE] = seen[SIDE_NEW] = false;
		for (i = 0; i < t->nruns; i++)
			if ((level == LEVEL_HOST ? t->runs[i].host : t->runs[i].boot) == id)
				seen[t->runs[i].side] = true;
		n[SIDE_BASE] += seen[SIDE_BASE];
		n[SIDE_NEW] += seen[SIDE_NEW];
		*same &= seen[SIDE_BASE] == seen[SIDE_NEW];
	}
}

static void count_runs(const struct samples *t, size_t n[SIDE_COUNT])
{
	size_t i;

	n[SIDE_BASE] = n[SIDE_NEW] = 0;
	for (i = 0; i < t->nruns; i++)
		n[t->runs[i].side]++;
}

/* Pairs of which both are there. */
static size_t count_pairs(const struct samples *t)
{
	size_t i, k, n = 0;

	for (i = 0; i < t->nruns; i++) {
		for (k = 0; k < i && (t->runs[k].pair != t->runs[i].pair ||
				      t->runs[k].side == t->runs[i].side);
		     k++)
			;
		n += k < i;
	}
	return n;
}

static bool varies(const size_t n[SIDE_COUNT])
{
	return n[SIDE_BASE] > 1 || n[SIDE_NEW] > 1;
}

/* The outermost thing of which a side has several. On the way: what each side has one of, another. */
static void choose_unit(struct comparison *c)
{
	static const char *const words[] = { [LEVEL_HOST] = "host", [LEVEL_BOOT] = "boot" };
	unsigned int level;
	bool same;

	for (level = LEVEL_HOST; level <= LEVEL_BOOT && !c->t->paired; level++) {
		c->level = level;
		count_names(c->t, level, c->units, &same);
		if (varies(c->units)) {
			c->paired = same;
			return;
		}
		if (!same && !c->unknown)
			c->unknown = words[level];
	}
	count_runs(c->t, c->units);
	c->level = varies(c->units) ? LEVEL_RUN : LEVEL_INTERVAL;
	if (c->t->paired) {
		c->level = LEVEL_RUN;
		c->paired = true;
		c->units[SIDE_BASE] = c->units[SIDE_NEW] = count_pairs(c->t);
	}
}

/* --- values by unit --- */

struct units {
	uint32_t *id;
	double *v;
	size_t n;
};

static void free_units(struct units *u)
{
	free(u->id);
	free(u->v);
}

/* A unit's value is the mean of its runs'. Those without a value do not count. */
static int gather(const struct comparison *c, enum sample_side side, size_t subject,
		  enum sample_stat stat, struct units *u)
{
	size_t i, k, *runs = calloc(c->t->nruns + 1, sizeof(*runs));
	double v;

	u->n = 0;
	u->id = calloc(c->t->nruns + 1, sizeof(*u->id));
	u->v = calloc(c->t->nruns + 1, sizeof(*u->v));
	for (i = 0; runs && u->id && u->v && i < c->t->nruns; i++) {
		const struct sample_run *r = &c->t->runs[i];

		v = samples_get(c->t, r, subject, stat);
		if (r->side != side || isnan(v))
			continue;
		for (k = 0; k < u->n && u->id[k] != compare_unit(c, r); k++)
			;
		if (k == u->n)
			u->id[u->n++] = compare_unit(c, r);
		u->v[k] += (v - u->v[k]) / (double)++runs[k];
	}
	free(runs);
	return runs && u->id && u->v ? 0 : -ENOMEM;
}

/* Leaves only units that both sides have, in the same order. */
static void match_units(struct units *a, struct units *b)
{
	size_t i, k, n = 0;

	for (i = 0; i < a->n; i++) {
		for (k = n; k < b->n && b->id[k] != a->id[i]; k++)
			;
		if (k == b->n)
			continue;
		double v = b->v[k];

		b->v[k] = b->v[n];
		b->id[k] = b->id[n];
		b->v[n] = v;
		b->id[n] = a->id[n] = a->id[i];
		a->v[n++] = a->v[i];
	}
	a->n = b->n = n;
}

static bool all_positive(const struct units *u)
{
	size_t i;

	for (i = 0; i < u->n; i++)
		if (!(u->v[i] > 0))
			return false;
	return true;
}

static void to_logs(struct units *u)
{
	size_t i;

	for (i = 0; i < u->n; i++)
		u->v[i] = log(u->v[i]);
}

static double median_of(const struct units *u)
{
	double *copy, m = NAN;

	if (!u->n)
		return NAN;
	copy = malloc(u->n * sizeof(*copy));
	if (copy) {
		memcpy(copy, u->v, u->n * sizeof(*copy));
		m = stats_median(copy, u->n);
	}
	free(copy);
	return m;
}

static double pooled_sd(const struct units *a, const struct units *b)
{
	double sa = stats_sd(a->v, a->n), sb = stats_sd(b->v, b->n);
	size_t na = a->n ? a->n - 1 : 0, nb = b->n ? b->n - 1 : 0;

	return na + nb ? sqrt(((double)na * sa * sa + (double)nb * sb * sb) / (double)(na + nb))
		       : 0;
}

/* --- one metric --- */

static int test_pairs(struct units *a, struct units *b, double level, struct measured *m,
		      struct stats_test *t)
{
	size_t i;

	if (a->n < 2) {
		m->none = "a single pair";
		return -ENODATA;
	}
	for (i = 0; i < a->n; i++)
		b->v[i] -= a->v[i];
	m->test = TEST_SIGNED_RANK;
	m->noise = stats_sd(b->v, b->n) / M_SQRT2; /* as if of two samples */
	return stats_signed_rank(b->v, b->n, level, t);
}

static int test_units(const struct comparison *c, struct units *a, struct units *b, double level,
		      struct measured *m, struct stats_test *t)
{
	if (c->paired)
		return test_pairs(a, b, level, m, t);
	m->noise = pooled_sd(a, b);
	if (a->n > 1 && b->n > 1) {
		m->test = TEST_MANN_WHITNEY;
		return stats_mann_whitney(a->v, a->n, b->v, b->n, level, t);
	}
	if (a->n + b->n < 4) {
		m->none = a->n + b->n == 2 ? "one value a side" : "one value against two";
		return -ENODATA;
	}
	/* Equal values to the last bit are no noise of 0 but too coarse a scale. */
	if (!(m->noise > 0)) {
		m->none = "one value against equal ones, which show no noise";
		return -ENODATA;
	}
	m->test = TEST_T;
	stats_t_test(a->v, a->n, b->v, b->n, level, t);
	return 0;
}

static int test_intervals(const struct comparison *c, size_t subject, enum sample_stat stat,
			  double level, struct measured *m, struct stats_test *t)
{
	double shift, se, df, half;
	int err = compare_bootstrap(c, subject, stat, &shift, &se, &df);

	if (err) {
		m->none = stat == STAT_MAX || stat == STAT_PEAK
				  ? "one extreme a side"
				  : "one run a side, too few intervals";
		return err;
	}
	m->test = TEST_BOOTSTRAP;
	m->noise = se;
	half = se * stats_t_quantile(0.5 + level / 2, df);
	*t = (struct stats_test){ .p = se > 0            ? stats_t_p2(shift / se, df)
				       : fabs(shift) > 0 ? 0
							 : 1,
				  .estimate = shift,
				  .lo = shift - half,
				  .hi = shift + half };
	return 0;
}

/* From logarithms to shares. Where one boot each leaves room for noise, the interval is wider by it. */
static void take_test(const struct comparison *c, const struct stats_test *t, struct measured *m)
{
	double noise = c->unknown ? log1p(c->conf.boot_noise) : 0;

	m->p = t->p;
	m->exact = t->exact;
	m->change = m->relative ? expm1(t->estimate) : t->estimate;
	m->lo = m->relative ? expm1(t->lo - noise) : t->lo;
	m->hi = m->relative ? expm1(t->hi + noise) : t->hi;
}

static void look_at_samples(const struct comparison *c, size_t subject, enum sample_stat stat,
			    struct measured *m)
{
	const struct sample_run *r;
	size_t i;

	for (i = 0; i < c->t->nruns; i++) {
		r = &c->t->runs[i];
		if (subject >= r->nvalues)
			continue;
		m->samples[r->side] += r->values[subject].count;
		m->resolution = fmax(m->resolution, r->values[subject].resolution[stat]);
	}
}

static int measure_units(const struct comparison *c, size_t subject, enum sample_stat stat,
			 double level, struct units u[SIDE_COUNT], struct measured *m)
{
	struct stats_test t;
	int err;

	if (c->paired)
		match_units(&u[SIDE_BASE], &u[SIDE_NEW]);
	m->n[SIDE_BASE] = u[SIDE_BASE].n;
	m->n[SIDE_NEW] = u[SIDE_NEW].n;
	m->value[SIDE_BASE] = median_of(&u[SIDE_BASE]);
	m->value[SIDE_NEW] = median_of(&u[SIDE_NEW]);
	if (!u[SIDE_BASE].n || !u[SIDE_NEW].n) {
		m->none = "no value";
		return 0;
	}
	m->relative = all_positive(&u[SIDE_BASE]) && all_positive(&u[SIDE_NEW]);
	m->change = m->value[SIDE_NEW] - m->value[SIDE_BASE];
	if (m->relative) {
		m->change /= m->value[SIDE_BASE];
		to_logs(&u[SIDE_BASE]);
		to_logs(&u[SIDE_NEW]);
	}
	err = c->level == LEVEL_INTERVAL ? test_intervals(c, subject, stat, level, m, &t)
					 : test_units(c, &u[SIDE_BASE], &u[SIDE_NEW], level, m, &t);
	if (!err)
		take_test(c, &t, m);
	return err == -ENODATA ? 0 : err;
}

int compare_measure(const struct comparison *c, size_t subject, enum sample_stat stat, double level,
		    struct measured *out)
{
	struct units u[SIDE_COUNT] = { 0 };
	int err = gather(c, SIDE_BASE, subject, stat, &u[SIDE_BASE]);

	memset(out, 0, sizeof(*out));
	out->change = out->lo = out->hi = out->p = NAN;
	look_at_samples(c, subject, stat, out);
	if (!err)
		err = gather(c, SIDE_NEW, subject, stat, &u[SIDE_NEW]);
	if (!err)
		err = measure_units(c, subject, stat, level, u, out);
	free_units(&u[SIDE_BASE]);
	free_units(&u[SIDE_NEW]);
	return err;
}

/* --- all of them --- */

bool compare_has_stat(enum sample_kind kind, enum sample_stat stat)
{
	switch (kind) {
	case SUBJECT_MEASURE:
		return stat <= STAT_RATE;
	case SUBJECT_LEVEL:
		return stat == STAT_PEAK || stat == STAT_MEAN;
	default:
		return stat == STAT_VALUE;
	}
}

/* Totals by what their middle, mean and tail say. An extreme or the far tail is one event's. */
static bool gates(const struct sample_subject *s, enum sample_stat stat)
{
	if (!s->total || s->better == KD_BETTER_NONE || s->kind == SUBJECT_LOST)
		return false;
	return s->kind != SUBJECT_MEASURE || stat == STAT_MEAN || stat == STAT_P50 ||
	       stat == STAT_P99;
}

static bool seen_anywhere(const struct comparison *c, size_t subject, enum sample_stat stat)
{
	size_t i;

	for (i = 0; i < c->t->nruns; i++)
		if (!isnan(samples_get(c->t, &c->t->runs[i], subject, stat)))
			return true;
	return false;
}

/* Losses that none had, events that never came: nothing to show. */
static bool is_empty(const struct comparison *c, size_t subject, enum sample_stat stat)
{
	size_t i;

	if (stat != (c->t->subjects[subject].kind == SUBJECT_LOST ? STAT_VALUE : STAT_RATE))
		return false;
	for (i = 0; i < c->t->nruns; i++)
		if (samples_get(c->t, &c->t->runs[i], subject, stat) > 0)
			return false;
	return true;
}

/* A quantile that too few samples lie under is a row that says so; a subject without any is none. */
static bool makes_row(const struct comparison *c, size_t subject, enum sample_stat stat)
{
	const struct sample_subject *s = &c->t->subjects[subject];

	if (!compare_has_stat(s->kind, stat) || is_empty(c, subject, stat))
		return false;
	if (seen_anywhere(c, subject, stat))
		return true;
	return gates(s, stat) && stat != STAT_MEAN && seen_anywhere(c, subject, STAT_MEAN);
}

static int add_rows(struct comparison *c, size_t subject)
{
	struct compare_row *row;
	unsigned int stat;
	int err = 0;

	for (stat = 0; !err && stat < STAT_COUNT; stat++) {
		if (!makes_row(c, subject, stat))
			continue;
		row = reallocarray(c->rows, c->nrows + 1, sizeof(*row));
		if (!row)
			return -ENOMEM;
		c->rows = row;
		row = &row[c->nrows++];
		memset(row, 0, sizeof(*row));
		row->subject = subject;
		row->stat = stat;
		row->gates = gates(&c->t->subjects[subject], stat);
		row->corrected = NAN;
		err = compare_measure(c, subject, stat, 1 - c->conf.alpha, &row->m);
	}
	return err;
}

int compare_say(char ***list, size_t *n, const char *fmt, ...)
{
	char **grown = reallocarray(*list, *n + 1, sizeof(*grown));
	va_list args;
	int len;

	if (!grown)
		return -ENOMEM;
	*list = grown;
	va_start(args, fmt);
	len = vasprintf(&grown[*n], fmt, args);
	va_end(args);
	if (len < 0)
		return -ENOMEM;
	(*n)++;
	return 0;
}

int compare(struct comparison *c, const struct samples *t, const struct compare_conf *conf)
{
	size_t i;
	int err;

	memset(c, 0, sizeof(*c));
	c->t = t;
	c->conf = *conf;
	choose_unit(c);
	c->boots = calloc(t->nsubjects + 1, sizeof(*c->boots));
	err = c->boots ? compare_facts(c) : -ENOMEM;
	for (i = 0; !err && i < t->nsubjects; i++)
		err = add_rows(c, i);
	if (!err)
		err = compare_judge(c);
	return err ? log_err(err, "out of memory while comparing") : 0;
}

static void free_list(char **list, size_t n)
{
	while (n)
		free(list[--n]);
	free(list);
}

void compare_free(struct comparison *c)
{
	size_t i;

	for (i = 0; i < c->nrows; i++)
		free(c->rows[i].why);
	for (i = 0; c->boots && i < c->t->nsubjects; i++)
		bootstrap_free(c->boots[i]);
	free(c->boots);
	free(c->rows);
	free_list(c->differences, c->ndifferences);
	free_list(c->warnings, c->nwarnings);
	free_list(c->notes, c->nnotes);
	free(c->incomparable);
	memset(c, 0, sizeof(*c));
}
