// SPDX-License-Identifier: GPL-2.0-only
/* test_rules.c - rules of --fail-on: what is one, and what each says of samples whose truth is known. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rules.h"
#include "stats.h"

#define MS 1e6

/* --- reading --- */

/* Numbers and enums only: pointers of the copy point into what is gone. */
static struct rule parsed(const char *text)
{
	struct rule r;
	char wrong[256] = "";
	int err = rule_parse(&r, text, wrong, sizeof(wrong));

	if (err)
		print_message("%s: %s\n", text, wrong);
	assert_int_equal(err, 0);
	assert_string_equal(r.text, text);
	return r;
}

static void test_relative(void **state)
{
	struct rule r;
	char wrong[256];

	(void)state;
	assert_int_equal(rule_parse(&r, "call_rcu.latency.p99 > +20%", wrong, sizeof(wrong)), 0);
	assert_string_equal(r.source, "call_rcu");
	assert_string_equal(r.measure, "latency");
	assert_int_equal(r.kind, SUBJECT_MEASURE);
	assert_int_equal(r.stat, STAT_P99);
	assert_int_equal(r.op, RULE_ABOVE);
	assert_true(r.relative);
	assert_true(fabs(r.limit - 0.2) < 1e-12);
	assert_int_equal(r.npairs, 0);
	assert_true(fabs(parsed("call_rcu.latency.p99 > 20%").limit - 0.2) < 1e-12);
	assert_true(fabs(parsed("call_rcu.latency.p99>2x").limit - 1) < 1e-12);
	assert_true(fabs(parsed("  rcu_gp.wait.mean<-7.5%  ").limit + 0.075) < 1e-12);
	assert_int_equal(parsed("rcu_gp.wait.mean <= 0.5x").op, RULE_AT_MOST);
	assert_int_equal(parsed("memalloc.pending.peak > 2x").kind, SUBJECT_LEVEL);
	assert_int_equal(parsed("call_rcu.latency.rate < -50%").stat, STAT_RATE);
}

static void test_values(void **state)
{
	struct rule r;

	(void)state;
	r = parsed("rcu_gp.duration.max >= 250ms in 3 of 5");
	assert_false(r.relative);
	assert_true(fabs(r.limit - 250 * MS) < 1);
	assert_int_equal(r.op, RULE_AT_LEAST);
	assert_int_equal(r.k, 3);
	assert_int_equal(r.n, 5);
	r = parsed("lost.any > 0");
	assert_int_equal(r.kind, SUBJECT_LOST);
	assert_int_equal(r.stat, STAT_VALUE);
	assert_true(fabs(r.limit) < 1e-12);
	assert_int_equal(r.n, 0);
	assert_true(fabs(parsed("memalloc.pending.peak > 64k").limit - 65536) < 1);
	assert_true(fabs(parsed("metric.a.b.c < 12.5").limit - 12.5) < 1e-12);
	assert_true(fabs(parsed("metric.t < -3").limit + 3) < 1e-12);
	assert_true(fabs(parsed("rcu_gp.duration.max > 0").limit) < 1e-12);
}

static void test_keys(void **state)
{
	struct rule r;
	char wrong[256];

	(void)state;
	assert_int_equal(
		rule_parse(&r, "rstat.hold[subsystem=memory].p99 > +10%", wrong, sizeof(wrong)), 0);
	assert_int_equal(r.npairs, 1);
	assert_string_equal(r.pairs[0].name, "subsystem");
	assert_string_equal(r.pairs[0].glob, "memory");
	assert_int_equal(
		rule_parse(&r, "call_rcu.latency[rcu,func=a.b>c*].max > 1s", wrong, sizeof(wrong)),
		0);
	assert_int_equal(r.npairs, 2);
	assert_null(r.pairs[0].name);
	assert_string_equal(r.pairs[1].glob, "a.b>c*");
	assert_string_equal(r.measure, "latency");
}

static void test_refused(void **state)
{
	static const char *const texts[] = {
		"",
		" ",
		">",
		"> 5%",
		"call_rcu",
		"call_rcu.latency",
		"call_rcu.latency.p99",
		"call_rcu.latency.p99 >",
		"call_rcu.latency > 5%",
		"call_rcu.latency.p98 > 5%",
		"call_rcu.latency.peak > 5%",
		"memalloc.pending.p99 > 5%",
		"callrcu.latency.p99 > 5%",
		"call_rcu.latncy.p99 > 5%",
		"call_rcu.latency.p99 > 5",
		"call_rcu.latency.p99 > +5ms",
		"call_rcu.latency.p99 > 5%%",
		"call_rcu.latency.p99 > five",
		"call_rcu.latency.p99 = 5%",
		"call_rcu.latency.p99 > -100%",
		"call_rcu.latency.p99 > 0x",
		"call_rcu.latency.p99 > -1x",
		"call_rcu.latency.p99 > nan%",
		"call_rcu.latency.p99 > inf",
		"lost.everything > 0",
		"lost. > 0",
		"metric. > 0",
		"call_rcu.latency[].p99 > 5%",
		"call_rcu.latency[a=].p99 > 5%",
		"call_rcu.latency[=a].p99 > 5%",
		"call_rcu.latency[a=b.p99 > 5%",
		"call_rcu.latency[a=b]p99 > 5%",
		"call_rcu[a=b].latency.p99 > 5%",
		"call_rcu.latency[a,b,c,d,e,f,g].p99 > 5%",
		"call_rcu.latency.max > 5ms in 3",
		"call_rcu.latency.max > 5ms in 3 of",
		"call_rcu.latency.max > 5ms in 3 of 2",
		"call_rcu.latency.max > 5ms in 0 of 2",
		"call_rcu.latency.max > 5ms of 3 in 4",
		"call_rcu.latency.max > 5ms in 3 of 5 x",
		"call_rcu.latency.max > 5% in 3 of 5",
		"call_rcu.latency.max > 5ms in 99999999999 of 99999999999",
		"lost.any > -5e999",
	};
	char longest[RULE_TEXT + 1], wrong[256];
	struct rule r;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		*wrong = '\0';
		if (rule_parse(&r, texts[i], wrong, sizeof(wrong)) != -EINVAL || !*wrong)
			fail_msg("taken for a rule: %s", texts[i]);
	}
	memset(longest, 'x', sizeof(longest) - 1);
	longest[RULE_TEXT] = '\0';
	assert_int_equal(rule_parse(&r, longest, wrong, sizeof(wrong)), -EINVAL);
}

/* --- judging --- */

struct made {
	struct samples t;
	struct comparison c;
};

static void add_values(struct samples *t, size_t n, const double *base, const double *new,
		       struct sample_subject *s, enum sample_stat stat)
{
	struct sample_values *v;
	int at = samples_subject(t, s);
	size_t i;

	assert_true(at >= 0);
	for (i = 0; i < 2 * n; i++) {
		v = samples_values(t, i, (size_t)at);
		assert_non_null(v);
		v->v[stat] = i < n ? base[i] : new[i - n];
		v->count = 5000;
	}
}

/* n runs a side in one boot: a total, and one of its keys that is a hundred times as much in new. */
static void make(struct made *m, size_t n, const double *base, const double *new)
{
	const struct compare_conf conf = { .alpha = 0.05, .min_change = 0.05, .boot_noise = 0.1 };
	struct sample_subject s = { .kind = SUBJECT_MEASURE,
				    .source = (char *)"rcu_gp",
				    .measure = (char *)"duration",
				    .pairs = { { "flavour", (char *)"rcu" },
					       { "caller", (char *)"cleanup_net" } },
				    .npairs = 1,
				    .unit = "ns",
				    .better = KD_BETTER_LOWER,
				    .total = true };
	double much[16];
	size_t i;

	samples_init(&m->t);
	assert_int_equal(samples_host(&m->t, "host"), 0);
	assert_int_equal(samples_boot(&m->t, "boot"), 0);
	m->t.files = calloc(1, sizeof(*m->t.files));
	m->t.files[0].path = strdup("made");
	m->t.nfiles = 1;
	for (i = 0; i < 2 * n; i++)
		assert_int_equal(samples_run(&m->t, i < n ? SIDE_BASE : SIDE_NEW, 0, 0), (int)i);
	add_values(&m->t, n, base, new, &s, STAT_P99);
	s.npairs = 2;
	s.total = false;
	for (i = 0; i < n; i++)
		much[i] = 100 * new[i];
	add_values(&m->t, n, base, much, &s, STAT_P99);
	assert_int_equal(compare(&m->c, &m->t, &conf), 0);
}

static void drop(struct made *m)
{
	compare_free(&m->c);
	samples_free(&m->t);
}

static enum outcome judged(const struct made *m, const char *text)
{
	struct rule r;
	const struct rule *list = &r;
	struct rule_result out;
	char wrong[256];

	assert_int_equal(rule_parse(&r, text, wrong, sizeof(wrong)), 0);
	rules_judge(&m->c, &list, 1, &out);
	return out.outcome;
}

/* Ten a side, 1.00 to 1.09 ms before and 1.50 to 1.635 ms after: half as much again, give or take 6%. */
static void make_half_more(struct made *m)
{
	double base[10], new[10];
	size_t i;

	for (i = 0; i < 10; i++) {
		base[i] = MS * (1 + 0.01 * (double)i);
		new[i] = 1.5 * base[i];
	}
	make(m, 10, base, new);
}

static void test_change(void **state)
{
	struct made m;

	(void)state;
	make_half_more(&m);
	assert_int_equal(judged(&m, "rcu_gp.duration.p99 > +20%"), OUTCOME_FAIL);
	assert_int_equal(judged(&m, "rcu_gp.duration.p99 > +50%"), OUTCOME_INCONCLUSIVE);
	assert_int_equal(judged(&m, "rcu_gp.duration.p99 > +80%"), OUTCOME_PASS);
	assert_int_equal(judged(&m, "rcu_gp.duration.p99 > 1.2x"), OUTCOME_FAIL);
	assert_int_equal(judged(&m, "rcu_gp.duration.p99 < +20%"), OUTCOME_PASS);
	assert_int_equal(judged(&m, "rcu_gp.duration.p99 < +80%"), OUTCOME_FAIL);
	/* Too few under it, of one statistic; none at all, of another name; of a key. */
	assert_int_equal(judged(&m, "rcu_gp.duration.p999 > +20%"), OUTCOME_INCONCLUSIVE);
	assert_int_equal(judged(&m, "rcu_gp.wait.p99 > +20%"), OUTCOME_NO_MATCH);
	assert_int_equal(judged(&m, "rcu_gp.duration[caller=nobody].p99 > +20%"), OUTCOME_NO_MATCH);
	drop(&m);
}

static void test_which_rows(void **state)
{
	struct made m;

	(void)state;
	make_half_more(&m);
	/* The key grew a hundredfold; the total did not, and a rule without a key means totals. */
	assert_int_equal(judged(&m, "rcu_gp.duration.p99 > 10x"), OUTCOME_PASS);
	assert_int_equal(judged(&m, "rcu_gp.duration[flavour=rcu].p99 > 10x"), OUTCOME_PASS);
	assert_int_equal(judged(&m, "rcu_gp.duration[rcu].p99 > 10x"), OUTCOME_PASS);
	assert_int_equal(judged(&m, "rcu_gp.duration[caller=cleanup_net].p99 > 10x"), OUTCOME_FAIL);
	assert_int_equal(judged(&m, "rcu_gp.duration[caller=clean*].p99 > 10x"), OUTCOME_FAIL);
	assert_int_equal(judged(&m, "rcu_gp.duration[rcu,clean*].p99 > 10x"), OUTCOME_FAIL);
	assert_int_equal(judged(&m, "rcu_gp.duration[flavour=tasks].p99 > 10x"), OUTCOME_NO_MATCH);
	drop(&m);
}

static void test_each_run(void **state)
{
	struct made m;

	(void)state;
	make_half_more(&m); /* new: 1.5, 1.515 .. 1.635 ms */
	assert_int_equal(judged(&m, "rcu_gp.duration.p99 > 2ms"), OUTCOME_PASS);
	assert_int_equal(judged(&m, "rcu_gp.duration.p99 > 1.6ms"), OUTCOME_FAIL);
	assert_int_equal(judged(&m, "rcu_gp.duration.p99 > 1.6ms in 3 of 10"), OUTCOME_FAIL);
	assert_int_equal(judged(&m, "rcu_gp.duration.p99 > 1.6ms in 4 of 10"), OUTCOME_PASS);
	/* Fewer runs than it speaks of: those that are missing could still decide; more: which? */
	assert_int_equal(judged(&m, "rcu_gp.duration.p99 > 1.6ms in 4 of 11"),
			 OUTCOME_INCONCLUSIVE);
	assert_int_equal(judged(&m, "rcu_gp.duration.p99 > 1.6ms in 3 of 5"), OUTCOME_INCONCLUSIVE);
	assert_int_equal(judged(&m, "rcu_gp.duration.p999 > 1.6ms"), OUTCOME_INCONCLUSIVE);
	drop(&m);
}

static void test_disturbed(void **state)
{
	struct made m;

	(void)state;
	make_half_more(&m);
	m.t.runs[19].disturbed = strdup("rcu_stall"); /* the greatest of new */
	assert_int_equal(judged(&m, "rcu_gp.duration.p99 > +20%"), OUTCOME_INCONCLUSIVE);
	assert_int_equal(judged(&m, "rcu_gp.duration.p99 > +80%"), OUTCOME_INCONCLUSIVE);
	assert_int_equal(judged(&m, "rcu_gp.duration.p99 > 1.61ms"), OUTCOME_FAIL);
	assert_int_equal(judged(&m, "rcu_gp.duration.p99 > 1.63ms"), OUTCOME_INCONCLUSIVE);
	drop(&m);
}

static void test_too_few(void **state)
{
	double base[] = { 1 * MS, 1.1 * MS, 1.2 * MS, 1.3 * MS }, new[4];
	struct made m;
	size_t i;

	(void)state;
	for (i = 0; i < 4; i++)
		new[i] = 10 * base[i];
	/* Four a side can tell at 5%: p is .029 at least. Three cannot, however great the change. */
	make(&m, 4, base, new);
	assert_int_equal(judged(&m, "rcu_gp.duration.p99 > +20%"), OUTCOME_FAIL);
	drop(&m);
	make(&m, 3, base, new);
	assert_int_equal(judged(&m, "rcu_gp.duration.p99 > +20%"), OUTCOME_INCONCLUSIVE);
	drop(&m);
}

/* Rules are a family: the more there are, the more each needs. */
static void test_family(void **state)
{
	double base[] = { 1 * MS, 1.1 * MS, 1.2 * MS, 1.3 * MS }, new[4];
	struct rule rules[2];
	const struct rule *list[2] = { &rules[0], &rules[1] };
	struct rule_result out[2];
	char wrong[256];
	struct made m;
	size_t i;

	(void)state;
	for (i = 0; i < 4; i++)
		new[i] = 10 * base[i];
	make(&m, 4, base, new);
	assert_int_equal(rule_parse(&rules[0], "rcu_gp.duration.p99 > +20%", wrong, sizeof(wrong)),
			 0);
	assert_int_equal(rule_parse(&rules[1], "rcu_gp.duration[cleanup_net].p99 > +20%", wrong,
				    sizeof(wrong)),
			 0);
	rules_judge(&m.c, list, 1, out);
	assert_int_equal(out[0].outcome, OUTCOME_FAIL);
	rules_judge(&m.c, list, 2, out);
	assert_int_equal(out[0].outcome, OUTCOME_INCONCLUSIVE);
	drop(&m);
}

static void test_nothing_seen(void **state)
{
	double none[4] = { NAN, NAN, NAN, NAN };
	struct made m;
	size_t i, k;

	(void)state;
	make(&m, 4, none, none);
	for (i = 0; i < 8; i++)
		for (k = 0; k < 2; k++)
			m.t.runs[i].values[k].count = 0;
	assert_int_equal(judged(&m, "rcu_gp.duration.p99 > +20%"), OUTCOME_INCONCLUSIVE);
	assert_int_equal(judged(&m, "rcu_gp.duration.max > 1s"), OUTCOME_INCONCLUSIVE);
	drop(&m);
}

static void test_zeros(void **state)
{
	double zero[4] = { 0 }, some[4] = { 1, 2, 3, 4 };
	struct made m;

	(void)state;
	make(&m, 4, zero, some);
	assert_int_equal(judged(&m, "rcu_gp.duration.p99 > +20%"), OUTCOME_INCONCLUSIVE);
	drop(&m);
	make(&m, 4, zero, zero);
	assert_int_equal(judged(&m, "rcu_gp.duration.p99 > +20%"), OUTCOME_PASS);
	drop(&m);
}

/* Parts of rules in any order, with a letter changed now and then: no crash, and a reason each time. */
static void test_nonsense(void **state)
{
	static const char *const parts[] = { "call_rcu", "rcu_gp",  ".",    "latency", "duration",
					     "p99",      "max",     "[",    "]",       "=",
					     ",",        "flavour", "rcu",  " ",       ">",
					     "<=",       "+20%",    "2x",   "250ms",   "in",
					     "3",        "of",      "5",    "lost",    "any",
					     "metric",   "pending", "peak", "%s",      "\\",
					     "-",        "1e999",   "\xff" };
	char text[RULE_TEXT + 64], wrong[256];
	struct rule r;
	struct rng rng;
	size_t round, n, len;
	int err;

	(void)state;
	rng_seed(&rng, 20);
	for (round = 0; round < 100000; round++) {
		*text = '\0';
		for (n = rng_below(&rng, 14), len = 0; n; n--)
			len += (size_t)snprintf(
				text + len, sizeof(text) - len, "%s",
				parts[rng_below(&rng, sizeof(parts) / sizeof(parts[0]))]);
		if (len && !rng_below(&rng, 4))
			text[rng_below(&rng, len)] = (char)(1 + rng_below(&rng, 255));
		*wrong = '\0';
		err = rule_parse(&r, text, wrong, sizeof(wrong));
		assert_true(err == 0 || (err == -EINVAL && *wrong));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_relative),     cmocka_unit_test(test_values),
		cmocka_unit_test(test_keys),         cmocka_unit_test(test_refused),
		cmocka_unit_test(test_change),       cmocka_unit_test(test_which_rows),
		cmocka_unit_test(test_each_run),     cmocka_unit_test(test_disturbed),
		cmocka_unit_test(test_too_few),      cmocka_unit_test(test_family),
		cmocka_unit_test(test_nothing_seen), cmocka_unit_test(test_zeros),
		cmocka_unit_test(test_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
