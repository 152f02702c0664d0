// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_compare.c - what a comparison says of made samples whose truth is known: noise of runs, of
 * boots, of intervals that resemble each other, and changes planted into it. Chance repeats, so
 * that a bound that holds once holds always; bounds are those of the binomial at 99.9%.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compare.h"
#include "log.h"
#include "normal.h"
#include "stats.h"

#define MS 1e6

/* How samples are made: a value is `middle` times what its host, boot and run make of it. */
struct plan {
	size_t boots, runs; /* of a side; runs in each boot */
	bool same_boot;     /* both sides in one boot */
	size_t metrics;
	double boot_cv, run_cv;
	double change; /* of the first metric, planted into new: 0.1 */
};

static const struct compare_conf plain = { .alpha = 0.05, .min_change = 0.05, .boot_noise = 0.10 };

static size_t add_metric(struct samples *t, size_t i)
{
	char name[32];
	struct sample_subject s = { .kind = SUBJECT_VALUE,
				    .source = (char *)"metric",
				    .measure = name,
				    .unit = "ms",
				    .better = KD_BETTER_LOWER,
				    .total = true };
	int at;

	snprintf(name, sizeof(name), "m%zu", i);
	at = samples_subject(t, &s);
	assert_true(at >= 0);
	return (size_t)at;
}

static void put(struct samples *t, size_t run, size_t subject, double v)
{
	struct sample_values *values = samples_values(t, run, subject);

	assert_non_null(values);
	values->v[STAT_VALUE] = v;
	values->count = 1;
}

static void make_boot(struct samples *t, struct rng *rng, const struct plan *p,
		      enum sample_side side, uint32_t boot)
{
	double *of_boot = calloc(p->metrics, sizeof(*of_boot)), v;
	size_t i, k;
	int run;

	for (k = 0; k < p->metrics; k++)
		of_boot[k] = exp(p->boot_cv * rng_normal(rng));
	for (i = 0; i < p->runs; i++) {
		run = samples_run(t, side, 0, boot);
		assert_true(run >= 0);
		for (k = 0; k < p->metrics; k++) {
			v = 10 * of_boot[k] * exp(p->run_cv * rng_normal(rng));
			if (side == SIDE_NEW && k == 0)
				v *= 1 + p->change;
			put(t, (size_t)run, add_metric(t, k), v);
		}
	}
	free(of_boot);
}

static void make(struct samples *t, struct rng *rng, const struct plan *p)
{
	char name[16];
	size_t i;
	int side;

	samples_init(t);
	assert_int_equal(samples_host(t, "host"), 0);
	for (side = 0; side < SIDE_COUNT; side++) {
		for (i = 0; i < p->boots; i++) {
			snprintf(name, sizeof(name), "%zu", p->same_boot ? 0 : side * p->boots + i);
			make_boot(t, rng, p, side, (uint32_t)samples_boot(t, name));
		}
	}
}

struct seen {
	size_t any;   /* pairs with a regression or an improvement in any metric */
	size_t found; /* pairs in which the first metric regressed */
	size_t told;  /* rows that are not inconclusive */
	enum unit_level level;
	size_t warnings;
};

static void look(const struct comparison *c, struct seen *s)
{
	bool any = false;
	size_t i;

	for (i = 0; i < c->nrows; i++) {
		if (!c->rows[i].gates) /* shown, and a family of their own */
			continue;
		any |= c->rows[i].verdict == VERDICT_REGRESS ||
		       c->rows[i].verdict == VERDICT_IMPROVE;
		s->told += c->rows[i].verdict != VERDICT_INCONCLUSIVE;
	}
	s->any += any;
	s->found += c->rows[0].verdict == VERDICT_REGRESS;
	s->level = c->level;
	s->warnings += c->nwarnings;
}

static struct seen try(const struct plan *p, const struct compare_conf *conf, size_t times,
		       uint64_t seed)
{
	struct seen s = { 0 };
	struct comparison c;
	struct samples t;
	struct rng rng;

	rng_seed(&rng, seed);
	while (times--) {
		make(&t, &rng, p);
		assert_int_equal(compare(&c, &t, conf), 0);
		look(&c, &s);
		compare_free(&c);
		samples_free(&t);
	}
	return s;
}

/* --- equal kernels --- */

/* 5% of 1,000 is 50, and up to 73 is chance. No floor helps here: each difference counts. */
#define ALARMS_MAX 73

static void test_equal_runs(void **state)
{
	struct compare_conf conf = plain;
	struct plan p = {
		.boots = 1, .runs = 10, .same_boot = true, .metrics = 10, .run_cv = 0.03
	};
	struct seen s;

	(void)state;
	conf.min_change = 0;
	s = try(&p, &conf, 1000, 1);
	assert_int_equal(s.level, LEVEL_RUN);
	assert_true(s.any <= ALARMS_MAX);
	assert_true(s.any >= 10); /* or it would find nothing at all */
}

/* Runs of a boot share what the boot made of them: boots are counted, not runs. */
static void test_equal_boots(void **state)
{
	struct compare_conf conf = plain;
	struct plan p = { .boots = 6, .runs = 4, .metrics = 5, .boot_cv = 0.05, .run_cv = 0.01 };
	struct seen s;

	(void)state;
	conf.min_change = 0;
	s = try(&p, &conf, 1000, 2);
	assert_int_equal(s.level, LEVEL_BOOT);
	assert_true(s.any <= ALARMS_MAX);
}

/* One boot a side with 2% between boots: more than half of such pairs differ in their runs. */
static void test_one_boot_each(void **state)
{
	struct compare_conf conf = plain;
	struct plan p = { .boots = 1, .runs = 10, .metrics = 10, .boot_cv = 0.02, .run_cv = 0.01 };
	struct seen s;

	(void)state;
	conf.min_change = 0;
	s = try(&p, &conf, 1000, 3);
	assert_int_equal(s.level, LEVEL_RUN);
	assert_true(s.any <= ALARMS_MAX);
	conf.boot_noise = 0; /* what it would be without */
	s = try(&p, &conf, 1000, 3);
	assert_true(s.any > 500);
}

/* A single new boot against several of the base. */
static void test_one_against_many(void **state)
{
	struct compare_conf conf = plain;
	struct samples t;
	struct comparison c;
	struct seen s = { 0 };
	struct rng rng;
	size_t round, i;

	(void)state;
	conf.min_change = 0;
	rng_seed(&rng, 4);
	for (round = 0; round < 1000; round++) {
		struct plan base = { .boots = 6, .runs = 1, .metrics = 5, .boot_cv = 0.03 };

		make(&t, &rng, &base);
		for (i = 7; i < t.nruns; i++) { /* leave one run of new */
			free(t.runs[i].values);
			t.runs[i].values = NULL;
		}
		t.nruns = 7;
		assert_int_equal(compare(&c, &t, &conf), 0);
		assert_int_equal(c.rows[0].m.test, TEST_T);
		look(&c, &s);
		compare_free(&c);
		samples_free(&t);
	}
	assert_true(s.any <= ALARMS_MAX);
	assert_true(s.any >= 20);
}

/* --- changes --- */

static void test_planted_change_is_found(void **state)
{
	struct plan p = { .boots = 1,
			  .runs = 10,
			  .same_boot = true,
			  .metrics = 50,
			  .run_cv = 0.03,
			  .change = 0.10 };
	struct seen s = try(&p, &plain, 200, 5);

	(void)state;
	assert_true(s.found >= 190);
	/* Nothing but that one: with the floor of 5% almost never another. */
	p.change = 0;
	s = try(&p, &plain, 200, 6);
	assert_true(s.any <= 4);
}

static void test_better_and_worse(void **state)
{
	struct plan p = { .boots = 1,
			  .runs = 8,
			  .same_boot = true,
			  .metrics = 1,
			  .run_cv = 0.02,
			  .change = 0.5 };
	struct comparison c;
	struct samples t;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 7);
	make(&t, &rng, &p);
	assert_int_equal(compare(&c, &t, &plain), 0);
	assert_int_equal(c.rows[0].verdict, VERDICT_REGRESS);
	assert_true(c.rows[0].m.lo < 0.5 && c.rows[0].m.hi > 0.5);
	assert_int_equal(compare_verdict(&c), VERDICT_REGRESS);
	compare_free(&c);
	t.subjects[0].better = KD_BETTER_HIGHER;
	assert_int_equal(compare(&c, &t, &plain), 0);
	assert_int_equal(c.rows[0].verdict, VERDICT_IMPROVE);
	compare_free(&c);
	t.subjects[0].better = KD_BETTER_NONE;
	assert_int_equal(compare(&c, &t, &plain), 0);
	assert_int_equal(c.rows[0].verdict, VERDICT_CHANGED);
	assert_false(c.rows[0].gates);
	compare_free(&c);
	samples_free(&t);
}

static void add_file(struct samples *t, size_t i, const char *fact, const char *value)
{
	struct sample_file *f = &t->files[i];

	f->path = strdup(i ? "new" : "base");
	f->side[i ? SIDE_NEW : SIDE_BASE] = true;
	f->facts = calloc(1, sizeof(*f->facts));
	f->facts[0] = (struct sample_fact){ strdup(fact), strdup(value) };
	f->nfacts = 1;
}

/* Whether two captures whose one fact is `fact` are compared; `says` if not: what the reason begins with. */
static void expect_compared(const char *fact, const char *base, const char *new, bool varies,
			    const char *says)
{
	const char *const names[] = { fact };
	struct compare_conf conf = plain;
	struct plan p = { .boots = 1, .runs = 8, .same_boot = true, .metrics = 1, .run_cv = 0.02 };
	struct comparison c;
	struct samples t;
	struct rng rng;

	conf.varies = names;
	conf.nvaries = varies;
	rng_seed(&rng, 21);
	make(&t, &rng, &p);
	t.files = calloc(2, sizeof(*t.files));
	t.nfiles = 2;
	add_file(&t, 0, fact, base);
	add_file(&t, 1, fact, new);
	assert_int_equal(compare(&c, &t, &conf), 0);
	if (says) {
		assert_non_null(c.incomparable);
		assert_int_equal(strncmp(c.incomparable, fact, strlen(fact)), 0);
		assert_non_null(strstr(c.incomparable, says));
	} else {
		assert_null(c.incomparable);
	}
	compare_free(&c);
	samples_free(&t);
}

/* The machine and the way of measuring must be one; the kernel is what people compare. */
static void test_what_must_be_equal(void **state)
{
	static const char *const must[] = { "machine",    "cpu_model", "cpus_online", "numa_nodes",
					    "hypervisor", "command",   "sampling" };
	static const char *const may[] = { "kernel", "kernel_version", "cmdline", "hostname" };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(must) / sizeof(must[0]); i++) {
		expect_compared(must[i], "a", "b", false, "differs: a in base, b in new");
		expect_compared(must[i], "a", "b", true, NULL);
		expect_compared(must[i], "a", "a", false, NULL);
		expect_compared(must[i], "", "b", false, "differs: (none) in base, b in new");
		assert_true(compare_must_equal(must[i]));
		assert_non_null(strstr(compare_must_equal_list(), must[i]));
	}
	for (i = 0; i < sizeof(may) / sizeof(may[0]); i++) {
		expect_compared(may[i], "a", "b", false, NULL);
		assert_false(compare_must_equal(may[i]));
	}
}

static void test_pairs(void **state)
{
	struct compare_conf conf = plain;
	struct comparison c;
	struct samples t;
	struct rng rng;
	size_t i;
	double slow;
	int run;

	(void)state;
	rng_seed(&rng, 8);
	samples_init(&t);
	assert_int_equal(samples_host(&t, "host"), 0);
	assert_int_equal(samples_boot(&t, "boot"), 0);
	t.paired = true;
	/* The host slows down as it goes: each pair sees a fifth of change, and the sides overlap. */
	for (i = 0; i < 16; i++) {
		run = samples_run(&t, i % 2 ? SIDE_NEW : SIDE_BASE, 0, 0);
		t.runs[run].pair = (uint32_t)i / 2;
		slow = 1 + 0.3 * (double)(i / 2);
		put(&t, (size_t)run, add_metric(&t, 0),
		    10 * slow * (i % 2 ? 1.2 : 1) * exp(0.005 * rng_normal(&rng)));
	}
	assert_int_equal(compare(&c, &t, &conf), 0);
	assert_int_equal(c.rows[0].m.test, TEST_SIGNED_RANK);
	assert_int_equal(c.rows[0].verdict, VERDICT_REGRESS);
	assert_true(fabs(c.rows[0].m.change - 0.2) < 0.02);
	compare_free(&c);
	t.paired = false;
	assert_int_equal(compare(&c, &t, &conf), 0);
	assert_int_equal(c.rows[0].verdict, VERDICT_INCONCLUSIVE);
	compare_free(&c);
	samples_free(&t);
}

/* Six hosts, slow and fast ones, each booted with both kernels: hosts are the unit, and their own pairs. */
static void test_hosts(void **state)
{
	struct comparison c;
	struct samples t;
	struct rng rng;
	char name[16];
	size_t i;
	int run;

	(void)state;
	rng_seed(&rng, 21);
	samples_init(&t);
	for (i = 0; i < 12; i++) {
		snprintf(name, sizeof(name), "host %zu", i / 2);
		assert_int_equal(samples_host(&t, name), (int)i / 2);
		snprintf(name, sizeof(name), "boot %zu", i);
		run = samples_run(&t, i % 2 ? SIDE_NEW : SIDE_BASE, (uint32_t)i / 2,
				  (uint32_t)samples_boot(&t, name));
		put(&t, (size_t)run, add_metric(&t, 0),
		    (double)(1 + i / 2) * (i % 2 ? 1.2 : 1) * exp(0.01 * rng_normal(&rng)));
	}
	assert_int_equal(compare(&c, &t, &plain), 0);
	assert_int_equal(c.level, LEVEL_HOST);
	assert_true(c.paired);
	assert_int_equal(c.rows[0].verdict, VERDICT_REGRESS);
	compare_free(&c);
	/* On other hosts it is another matter: what these differ by hides it. */
	for (i = 1; i < 12; i += 2) {
		snprintf(name, sizeof(name), "other %zu", i);
		t.runs[i].host = (uint32_t)samples_host(&t, name);
	}
	assert_int_equal(compare(&c, &t, &plain), 0);
	assert_int_equal(c.level, LEVEL_HOST);
	assert_false(c.paired);
	assert_int_equal(c.rows[0].verdict, VERDICT_INCONCLUSIVE);
	compare_free(&c);
	samples_free(&t);
}

/* --- one run a side: intervals --- */

#define INTERVALS 60

/* Intervals whose level follows that of the one before. */
static void add_intervals(struct samples *t, struct rng *rng, enum sample_side side, double change)
{
	struct sample_subject s = { .kind = SUBJECT_MEASURE,
				    .source = (char *)"rcu_gp",
				    .measure = (char *)"duration",
				    .unit = "ns",
				    .better = KD_BETTER_LOWER,
				    .total = true };
	int run = samples_run(t, side, 0, 0), at = samples_subject(t, &s);
	struct sample_values *v = samples_values(t, (size_t)run, (size_t)at);
	double level = rng_normal(rng);
	struct hist all, one;
	size_t i, k;

	v->segments = calloc(1, sizeof(*v->segments));
	assert_non_null(v->segments);
	hist_init(&all);
	for (i = 0; i < INTERVALS; i++) {
		level = 0.6 * level + 0.8 * rng_normal(rng);
		hist_init(&one);
		for (k = 0; k < 60; k++)
			hist_add(&one, (uint64_t)(20 * MS * (1 + change) *
						  exp(0.08 * level + 0.3 * rng_normal(rng))));
		hist_merge(&all, &one);
		assert_int_equal(segments_add(v->segments, &one), 0);
	}
	v->count = hist_count(&all);
	for (k = STAT_MEAN; k <= STAT_MAX; k++)
		v->v[k] = stat_of_hist(&all, (enum sample_stat)k);
}

static size_t try_intervals(double change, size_t times, uint64_t seed)
{
	struct compare_conf conf = plain;
	struct comparison c;
	struct samples t;
	struct seen s = { 0 };
	struct rng rng;
	size_t i;

	conf.min_change = 0;
	rng_seed(&rng, seed);
	for (i = 0; i < times; i++) {
		samples_init(&t);
		assert_int_equal(samples_host(&t, "host"), 0);
		assert_int_equal(samples_boot(&t, "boot"), 0);
		add_intervals(&t, &rng, SIDE_BASE, 0);
		add_intervals(&t, &rng, SIDE_NEW, change);
		assert_int_equal(compare(&c, &t, &conf), 0);
		assert_int_equal(c.level, LEVEL_INTERVAL);
		assert_int_equal(c.rows[0].m.test, TEST_BOOTSTRAP);
		look(&c, &s);
		compare_free(&c);
		samples_free(&t);
	}
	return s.any;
}

static void test_equal_intervals(void **state)
{
	(void)state;
	/* 5% of 100 is 5, and up to 13 is chance. Found at 1,000, which takes longer: 61. */
	if (getenv("LONG"))
		assert_true(try_intervals(0, 1000, 9) <= ALARMS_MAX);
	else
		assert_true(try_intervals(0, 100, 9) <= 13);
	assert_true(try_intervals(0.3, 30, 10) >= 28);
}

/* --- histograms: the middle and the tail --- */

static void add_hist(struct samples *t, enum sample_side side, const struct hist *h, double cost)
{
	struct sample_subject s = { .kind = SUBJECT_MEASURE,
				    .source = (char *)"call_rcu",
				    .measure = (char *)"latency",
				    .unit = "ns",
				    .better = KD_BETTER_LOWER,
				    .total = true };
	int run = samples_run(t, side, 0, 0), at = samples_subject(t, &s);
	struct sample_values *v = samples_values(t, (size_t)run, (size_t)at);
	size_t k;

	t->runs[run].cost_ns = cost;
	v->count = hist_count(h);
	for (k = STAT_MEAN; k <= STAT_MAX; k++) {
		v->v[k] = stat_of_hist(h, (enum sample_stat)k);
		v->resolution[k] = (float)stat_resolution(h, (enum sample_stat)k);
	}
}

/* One in `rare` takes `times` as long; all take `all` as long. */
static void make_hists(struct samples *t, uint64_t seed, size_t rare, double times, double all,
		       double cost)
{
	struct rng rng;
	struct hist h;
	size_t i, k;
	double v;

	samples_init(t);
	rng_seed(&rng, seed);
	assert_int_equal(samples_host(t, "host"), 0);
	assert_int_equal(samples_boot(t, "boot"), 0);
	t->files = calloc(1, sizeof(*t->files));
	t->files[0].path = strdup("made");
	t->nfiles = 1;
	for (i = 0; i < 16; i++) {
		hist_init(&h);
		for (k = 0; k < 4000; k++) {
			v = 10 * MS * exp(0.4 * rng_normal(&rng));
			if (i % 2)
				v *= all * (k % rare ? 1 : times);
			hist_add(&h, (uint64_t)v);
		}
		add_hist(t, i % 2 ? SIDE_NEW : SIDE_BASE, &h, i % 2 ? cost : 100);
	}
}

static const struct compare_row *row_of(const struct comparison *c, enum sample_stat stat)
{
	size_t i;

	for (i = 0; i < c->nrows; i++)
		if (c->rows[i].stat == stat)
			return &c->rows[i];
	fail_msg("no row");
	return NULL;
}

static void test_tail_and_middle(void **state)
{
	struct comparison c;
	struct samples t;

	(void)state;
	/* 2% take 4 times as long: the tail is another, the median the same, the mean 6% more. */
	make_hists(&t, 11, 50, 4, 1, 100);
	assert_int_equal(compare(&c, &t, &plain), 0);
	assert_int_equal(row_of(&c, STAT_P99)->verdict, VERDICT_REGRESS);
	assert_int_equal(row_of(&c, STAT_P50)->verdict, VERDICT_SAME);
	assert_true(fabs(row_of(&c, STAT_MEAN)->m.change - 0.06) < 0.01);
	compare_free(&c);
	samples_free(&t);
	/* All take 20% longer. */
	make_hists(&t, 12, 50, 1, 1.2, 100);
	assert_int_equal(compare(&c, &t, &plain), 0);
	assert_int_equal(row_of(&c, STAT_P50)->verdict, VERDICT_REGRESS);
	assert_int_equal(row_of(&c, STAT_MEAN)->verdict, VERDICT_REGRESS);
	assert_true(fabs(row_of(&c, STAT_P50)->m.change - 0.2) < 0.03);
	assert_true(fabs(row_of(&c, STAT_P99)->m.change - 0.2) < 0.04);
	compare_free(&c);
	samples_free(&t);
}

/* All in one bucket, which says no more than that: a step to the next one is no change by itself. */
static void test_one_bucket(void **state)
{
	struct comparison c;
	struct samples t;
	struct hist h;
	size_t i;

	(void)state;
	make_hists(&t, 13, 50, 1, 1, 100);
	t.nruns = 0; /* its host, boot and file only */
	for (i = 0; i < 16; i++) {
		if (t.runs[i].values)
			free(t.runs[i].values);
		t.runs[i].values = NULL;
	}
	for (i = 0; i < 16; i++) {
		hist_init(&h);
		hist_put(&h, hist_bucket(10 * 1000 * 1000) + i % 2, 5000);
		h.sum = 5000 * 10 * 1000 * 1000ULL;
		add_hist(&t, i % 2 ? SIDE_NEW : SIDE_BASE, &h, 100);
	}
	assert_int_equal(compare(&c, &t, &plain), 0);
	assert_true(row_of(&c, STAT_P50)->corrected < 0.05);
	assert_int_not_equal(row_of(&c, STAT_P50)->verdict, VERDICT_REGRESS);
	compare_free(&c);
	samples_free(&t);
}

/* --- doubts --- */

static void test_own_cost(void **state)
{
	struct comparison c;
	struct samples t;

	(void)state;
	/* 2 ms more, and we cost 0.6 ms more: less than a third of it. Then 0.8 ms. */
	make_hists(&t, 14, 50, 1, 1.2, 100 + 0.6 * MS);
	assert_int_equal(compare(&c, &t, &plain), 0);
	assert_int_equal(row_of(&c, STAT_MEAN)->verdict, VERDICT_REGRESS);
	compare_free(&c);
	samples_free(&t);
	make_hists(&t, 14, 50, 1, 1.2, 100 + 0.8 * MS);
	assert_int_equal(compare(&c, &t, &plain), 0);
	assert_int_equal(row_of(&c, STAT_MEAN)->verdict, VERDICT_INCONCLUSIVE);
	assert_true(row_of(&c, STAT_MEAN)->suspect);
	assert_non_null(strstr(row_of(&c, STAT_MEAN)->why, "kdefer itself cost"));
	compare_free(&c);
	samples_free(&t);
}

static void test_disturbed(void **state)
{
	struct comparison c;
	struct samples t;

	(void)state;
	make_hists(&t, 15, 50, 1, 1.5, 100);
	t.runs[3].disturbed = strdup("suspend");
	assert_int_equal(compare(&c, &t, &plain), 0);
	assert_int_equal(row_of(&c, STAT_MEAN)->verdict, VERDICT_INCONCLUSIVE);
	assert_non_null(strstr(row_of(&c, STAT_MEAN)->why, "suspend"));
	compare_free(&c);
	samples_free(&t);
}

/* --- too little --- */

static void test_too_few_runs(void **state)
{
	struct plan p = {
		.boots = 1, .runs = 6, .same_boot = true, .metrics = 50, .run_cv = 0.01, .change = 1
	};
	struct seen s = try(&p, &plain, 1, 16);

	(void)state;
	/* Six a side give no p below .0022, and 50 metrics need .001. Seven give .0006. */
	assert_int_equal(s.found, 0);
	assert_int_equal(s.warnings, 1);
	p.runs = 7;
	s = try(&p, &plain, 1, 16);
	assert_int_equal(s.found, 1);
	assert_int_equal(s.warnings, 0);
	/* Four for a single metric; three for none. */
	p.metrics = 1;
	p.runs = 4;
	s = try(&p, &plain, 1, 17);
	assert_int_equal(s.found, 1);
	p.runs = 3;
	s = try(&p, &plain, 1, 17);
	assert_int_equal(s.found, 0);
	assert_int_equal(s.warnings, 1);
}

static void test_next_to_nothing(void **state)
{
	struct plan p = { .boots = 1, .runs = 1, .same_boot = true, .metrics = 3, .run_cv = 0.1 };
	struct comparison c;
	struct samples t;
	struct rng rng;

	(void)state;
	samples_init(&t);
	assert_int_equal(compare(&c, &t, &plain), 0);
	assert_int_equal(c.nrows, 0);
	compare_free(&c);
	rng_seed(&rng, 18);
	make(&t, &rng, &p);
	assert_int_equal(compare(&c, &t, &plain), 0);
	assert_int_equal(c.rows[0].verdict, VERDICT_INCONCLUSIVE);
	compare_free(&c);
	t.runs[0].values[0].v[STAT_VALUE] = t.runs[1].values[0].v[STAT_VALUE] = 0;
	t.runs[0].values[1].v[STAT_VALUE] = NAN;
	t.runs[0].values[2].v[STAT_VALUE] = -5;
	assert_int_equal(compare(&c, &t, &plain), 0);
	assert_int_equal(c.nrows, 3);
	compare_free(&c);
	samples_free(&t);
}

/* --- segments --- */

/* More intervals than pieces: neighbours merge, and nothing of them is lost. */
static void test_segments_merge(void **state)
{
	struct sample_segments *s = calloc(1, sizeof(*s));
	uint64_t count = 0, sum = 0;
	struct hist h;
	size_t i, k;

	(void)state;
	for (i = 0; i < 5000; i++) {
		hist_init(&h);
		for (k = 0; k < i % 7; k++)
			hist_add(&h, i * 1000 + k);
		assert_int_equal(segments_add(s, &h), 0);
	}
	assert_true(s->n <= SEGMENTS_MAX && s->n >= SEGMENTS_MAX / 4);
	for (i = 0; i < s->n; i++) {
		sum += s->s[i].sum;
		for (k = 0; k < s->s[i].n; k++) {
			count += s->cells[s->s[i].first + k].count;
			assert_true(!k || s->cells[s->s[i].first + k].bucket >
						  s->cells[s->s[i].first + k - 1].bucket);
		}
	}
	for (i = 0; i < 5000; i++)
		for (k = 0; k < i % 7; k++) {
			count--;
			sum -= i * 1000 + k;
		}
	assert_int_equal(count, 0);
	assert_int_equal(sum, 0);
	segments_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_runs),
		cmocka_unit_test(test_equal_boots),
		cmocka_unit_test(test_one_boot_each),
		cmocka_unit_test(test_one_against_many),
		cmocka_unit_test(test_planted_change_is_found),
		cmocka_unit_test(test_better_and_worse),
		cmocka_unit_test(test_what_must_be_equal),
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_hosts),
		cmocka_unit_test(test_equal_intervals),
		cmocka_unit_test(test_tail_and_middle),
		cmocka_unit_test(test_one_bucket),
		cmocka_unit_test(test_own_cost),
		cmocka_unit_test(test_disturbed),
		cmocka_unit_test(test_too_few_runs),
		cmocka_unit_test(test_next_to_nothing),
		cmocka_unit_test(test_segments_merge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
