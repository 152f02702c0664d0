// SPDX-License-Identifier: GPL-2.0-only
/* test_bench_sums.c - what loads work out: when a stream is due, rates and costs of events. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "log.h"
#include "pace.h"
#include "trigger.h"
#include "trigger_sum.h"

#define S 1000000000ULL

/* --- pace --- */

static void one_by_one(void **state)
{
	const struct pace p = { .per_s = 1000, .burst = 1 };

	(void)state;
	assert_int_equal(pace_due(&p, 0), 1); /* the first at once */
	assert_int_equal(pace_due(&p, 999999), 1);
	assert_int_equal(pace_due(&p, 1000000), 2);
	assert_int_equal(pace_due(&p, S - 1), 1000);
	assert_int_equal(pace_next_ns(&p, 1), 1000000);
}

static void in_bursts(void **state)
{
	const struct pace p = { .per_s = 1000, .burst = 500 };

	(void)state;
	assert_int_equal(pace_due(&p, 0), 500);
	assert_int_equal(pace_due(&p, S / 2 - 1), 500);
	assert_int_equal(pace_due(&p, S / 2), 1000);
	assert_int_equal(pace_next_ns(&p, 500), S / 2);
}

/* When it says that the next is due, it is, and no nanosecond before; also where nothing divides. */
static void next_is_due(void **state)
{
	const struct pace paces[] = {
		{ 1, 1 },      { 3, 1 }, { 7, 3 }, { 999999937, 1 }, { PACE_MOST_PER_S, 1 },
		{ 12345, 678 }
	};

	(void)state;
	for (size_t i = 0; i < sizeof(paces) / sizeof(paces[0]); i++)
		for (uint64_t bursts = 1; bursts < 2000; bursts++) {
			uint64_t done = bursts * paces[i].burst, at = pace_next_ns(&paces[i], done);

			assert_true(pace_due(&paces[i], at) > done);
			assert_true(pace_due(&paces[i], at - 1) <= done);
		}
}

static void days_of_a_fast_stream(void **state)
{
	const struct pace p = { .per_s = PACE_MOST_PER_S, .burst = 1 };

	(void)state;
	assert_true(pace_due(&p, 86400 * S) == 86400 * S + 1);
	assert_true(pace_next_ns(&p, 86400 * S) == 86400 * S);
}

static void shares_add_up(void **state)
{
	uint64_t sum = 0;

	(void)state;
	for (unsigned int i = 0; i < 7; i++) {
		uint64_t share = pace_share(1000, 7, i);

		assert_true(share == 142 || share == 143);
		sum += share;
	}
	assert_int_equal(sum, 1000);
	assert_int_equal(pace_share(2, 3, 2), 0);
}

/* --- events --- */

static void rate_of_parts(void **state)
{
	struct trigger_sum s = { 0 };
	struct trigger_rate r;

	(void)state;
	assert_false(trigger_sum_rate(&s, &r));
	trigger_sum_step(&s, 100, S, 0); /* 100, 200, 300 a second, whatever the lengths */
	assert_true(trigger_sum_rate(&s, &r));
	assert_true(r.mean == 100 && r.sd < 0);
	trigger_sum_step(&s, 100, S / 2, 0);
	trigger_sum_step(&s, 600, 2 * S, 0);
	trigger_sum_step(&s, 1, 0, 0); /* no time has passed: no rate */
	assert_true(trigger_sum_rate(&s, &r));
	assert_true(fabs(r.mean - 200) < 1e-9);
	assert_true(fabs(r.sd - 100) < 1e-9);
}

static void no_more_parts_than_fit(void **state)
{
	struct trigger_sum s = { 0 };

	(void)state;
	for (int i = 0; i < 2 * TRIGGER_STEPS; i++)
		trigger_sum_step(&s, 1, S, 0);
	assert_int_equal(s.n, TRIGGER_STEPS);
}

/* 200 ns of a CPU against 50, however long they had to wait for it. */
static void cost_above_nothing(void **state)
{
	struct trigger_sum with = { 0 }, without = { 0 };
	struct trigger_rate cost;

	(void)state;
	assert_false(trigger_sum_cost(&with, &without, &cost));
	trigger_sum_step(&with, 0, S, S); /* a part without an event says nothing of its cost */
	assert_false(trigger_sum_cpu(&with, &cost));
	trigger_sum_step(&with, 1000000, S, 200000000);
	assert_false(trigger_sum_cost(&with, &without, &cost));
	trigger_sum_step(&without, 20000000, 3 * S, S);
	assert_true(trigger_sum_cost(&with, &without, &cost));
	assert_true(fabs(cost.mean - 150) < 1e-9 && cost.sd < 0);
}

/* Deviations of 30 and 40 ns make one of 50. */
static void cost_is_as_uncertain_as_both(void **state)
{
	const double half =
		sqrt(0.5); /* of two values, the deviation is their distance times this */
	struct trigger_sum with = { 0 }, without = { 0 };
	struct trigger_rate cost;

	(void)state;
	trigger_sum_step(&with, 1000000, S, 200000000);
	trigger_sum_step(&with, 1000000, S, 200000000 + (uint64_t)(30000000 / half));
	trigger_sum_step(&without, 1000000, S, 100000000);
	trigger_sum_step(&without, 1000000, S, 100000000 + (uint64_t)(40000000 / half));
	assert_true(trigger_sum_cost(&with, &without, &cost));
	assert_true(fabs(cost.sd - 50) < 1e-3);
}

static void missed_and_foreign(void **state)
{
	struct trigger_sum s = { 0 };

	(void)state;
	trigger_sum_events(&s, 1000, 990, 8, 1);
	assert_int_equal(trigger_sum_missed(&s), 10);
	assert_int_equal(trigger_sum_foreign(&s), 0);
	trigger_sum_events(&s, 1000, 1020, 0, 0);
	assert_int_equal(trigger_sum_missed(&s), 0);
	assert_int_equal(trigger_sum_foreign(&s), 10);
	assert_int_equal(s.recursion, 8);
	assert_int_equal(s.no_room, 1);
}

static void counts_of_threads(void **state)
{
	unsigned int count[16];

	(void)state;
	assert_int_equal(trigger_counts(1, count, 16), 1);
	assert_int_equal(count[0], 1);
	assert_int_equal(trigger_counts(6, count, 16), 4);
	assert_int_equal(count[2], 4);
	assert_int_equal(count[3], 6);
	assert_int_equal(trigger_counts(8, count, 16), 4);
	assert_int_equal(count[3], 8);
	assert_int_equal(trigger_counts(1024, count, 4),
			 4); /* little room: the largest all the same */
	assert_int_equal(count[3], 1024);
}

static void quiet(void *ctx, enum log_level level, const char *line)
{
	(void)ctx;
	(void)level;
	(void)line;
}

static void ways_of_attaching(void **state)
{
	uint32_t kinds = 0;

	(void)state;
	assert_int_equal(trigger_parse("kprobe", &kinds), 0);
	assert_int_equal(kinds, 1u << TRIGGER_KPROBE);
	assert_int_equal(trigger_parse("tp_btf,kretprobe-multi,tp", &kinds), 0);
	assert_int_equal(kinds,
			 1u << TRIGGER_TP_BTF | 1u << TRIGGER_KRETPROBE_MULTI | 1u << TRIGGER_TP);
	log_set_sink(quiet, NULL);
	assert_int_equal(trigger_parse("kprobe,", &kinds), -EINVAL);
	assert_int_equal(trigger_parse("", &kinds), -EINVAL);
	assert_int_equal(trigger_parse("kprob", &kinds), -EINVAL);
	assert_int_equal(trigger_parse("kprobes", &kinds), -EINVAL);
	log_set_sink(NULL, NULL);
	for (int k = 0; k < TRIGGER_KINDS; k++) {
		assert_int_equal(trigger_parse(trigger_name(k), &kinds), 0);
		assert_int_equal(kinds, 1u << k);
		assert_non_null(strstr(trigger_names(), trigger_name(k)));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_by_one),
		cmocka_unit_test(in_bursts),
		cmocka_unit_test(next_is_due),
		cmocka_unit_test(days_of_a_fast_stream),
		cmocka_unit_test(shares_add_up),
		cmocka_unit_test(rate_of_parts),
		cmocka_unit_test(no_more_parts_than_fit),
		cmocka_unit_test(cost_above_nothing),
		cmocka_unit_test(cost_is_as_uncertain_as_both),
		cmocka_unit_test(missed_and_foreign),
		cmocka_unit_test(counts_of_threads),
		cmocka_unit_test(ways_of_attaching),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
