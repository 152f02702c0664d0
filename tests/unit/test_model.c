// SPDX-License-Identifier: GPL-2.0-only
/* The model against a second, plain computation of the same stream, and case by case. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "model.h"
#include "plan.h"
#include "records.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct model m;
static struct stream s;

static int setup(void **state)
{
	(void)state;
	forget_log();
	model_init(&m);
	stream_init(&s, model_record, &m);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	model_free(&m);
	return 0;
}

static void declare(uint32_t id)
{
	put_series(&s, id, KD_FL_RCU, KD_DIM_MAIN, 0, 0xf000 + id, "f");
}

static const struct series_hists *hists(uint32_t id)
{
	const struct series *x = model_series(&m, id);

	assert_non_null(x);
	assert_non_null(x->hists);
	return x->hists;
}

static void test_baseline_and_intervals(void **state)
{
	(void)state; /* bucket 36 holds 96..103, 37 holds 104..111 */
	declare(1);
	put_bucket(&s, 1, 36, 100);
	put_stat(&s, 1, 5000, 1, 900);
	assert_false(m.started);
	put_tick(&s, 5, 1);
	assert_true(m.started);
	assert_int_equal(m.ticks, 0);
	assert_int_equal(m.start_ns, 1500);
	assert_int_equal(hist_count(&hists(1)->run), 0);
	assert_true(hists(1)->run.min > hists(1)->run.max);

	put_bucket(&s, 1, 36, 103);
	put_stat(&s, 1, 5300, 97, 99);
	assert_int_equal(hist_count(&hists(1)->interval), 0); /* not before the tick */
	put_tick(&s, 6, 1);
	assert_int_equal(hists(1)->interval.bucket[36], 3);
	assert_int_equal(hists(1)->interval.sum, 300);
	assert_int_equal(hists(1)->interval.min, 97);
	assert_int_equal(hists(1)->interval.max, 99);

	put_bucket(&s, 1, 37, 1);
	put_stat(&s, 1, 5405, 105, 105);
	put_tick(&s, 7, 1);
	assert_int_equal(hists(1)->interval.bucket[36], 0);
	assert_int_equal(hists(1)->interval.bucket[37], 1);
	assert_int_equal(hists(1)->interval.sum, 105);
	assert_int_equal(hists(1)->run.bucket[36], 3);
	assert_int_equal(hists(1)->run.sum, 405);
	assert_int_equal(hists(1)->run.min, 97);
	assert_int_equal(hists(1)->run.max, 105);
	assert_int_equal(hists(1)->total.bucket[36], 103);
	assert_int_equal(m.ticks, 2);
	assert_int_equal(m.from_ns, 1600);
	assert_int_equal(m.to_ns, 1700);

	put_tick(&s, 8, 1); /* nothing happened */
	assert_int_equal(hist_count(&hists(1)->interval), 0);
	assert_int_equal(hists(1)->interval.sum, 0);
	assert_true(hists(1)->interval.min > hists(1)->interval.max);
	assert_int_equal(hist_count(&hists(1)->run), 4);
}

static void test_late_and_repeated_totals(void **state)
{
	(void)state;
	declare(1);
	put_tick(&s, 0, 1);
	put_bucket(&s, 1, 8, 10);
	put_bucket(&s, 1, 8, 10);
	put_bucket(&s, 1, 8, 7);
	put_stat(&s, 1, 100, 1, 0);
	put_stat(&s, 1, 60, 1, 0);
	put_tick(&s, 1, 1);
	assert_int_equal(hists(1)->interval.bucket[8], 10);
	assert_int_equal(hists(1)->interval.sum, 100);
	put_bucket(&s, 1, 8, 9);
	put_tick(&s, 2, 1);
	assert_int_equal(hist_count(&hists(1)->interval), 0);
	assert_int_equal(hist_count(&hists(1)->run), 10);
	put_bucket(&s, 1, 8, UINT64_MAX); /* the largest there is, and past it nothing */
	put_bucket(&s, 1, 8, 3);
	put_tick(&s, 3, 1);
	assert_true(hists(1)->run.bucket[8] == UINT64_MAX);
}

static void test_incomplete_ticks(void **state)
{
	(void)state; /* bucket 19 holds 22 and 23 */
	declare(1);
	put_tick(&s, 0, 1);
	put_bucket(&s, 1, 19, 1);
	put_stat(&s, 1, 23, 23, 23);
	put_tick(&s, 1, 0);
	assert_int_equal(m.ticks, 0);
	assert_int_equal(m.incomplete, 1);
	assert_int_equal(hist_count(&hists(1)->interval), 0);
	put_tick(&s, 1, 0); /* repeated */
	assert_int_equal(m.incomplete, 1);
	put_bucket(&s, 1, 19, 3);
	put_stat(&s, 1, 70, 22, 23);
	put_tick(&s, 2, 1);
	assert_int_equal(m.ticks, 1);
	assert_int_equal(m.from_ns, 1000);
	assert_int_equal(m.to_ns, 1200);
	assert_int_equal(hists(1)->interval.bucket[19], 3);
	assert_int_equal(hists(1)->interval.sum, 70);
	assert_int_equal(hists(1)->interval.min, 22);
	assert_int_equal(hists(1)->interval.max, 23);
	put_tick(&s, 3, 0);
	put_tick(&s, 3, 1); /* the same tick, ended after all */
	assert_int_equal(m.incomplete, 2);
	assert_int_equal(m.ticks, 2);
}

static void test_repeated_ticks(void **state)
{
	(void)state;
	declare(1);
	put_tick(&s, 10, 1);
	put_tick(&s, 10, 1);
	put_bucket(&s, 1, 3, 5);
	put_tick(&s, 11, 1);
	put_tick(&s, 11, 1);
	put_tick(&s, 10, 1);
	put_tick(&s, 2, 0);
	assert_int_equal(m.ticks, 1);
	assert_int_equal(m.incomplete, 0);
	assert_int_equal(hists(1)->interval.bucket[3], 5); /* still that of tick 11 */
	assert_int_equal(m.from_ns, 2000);
	assert_int_equal(m.to_ns, 2100);
}

/* The first tick is the baseline even when it was cut short. */
static void test_incomplete_baseline(void **state)
{
	(void)state;
	declare(1);
	put_bucket(&s, 1, 3, 5);
	put_tick(&s, 0, 0);
	assert_true(m.started);
	assert_int_equal(m.incomplete, 1);
	put_bucket(&s, 1, 3, 7);
	put_tick(&s, 1, 1);
	assert_int_equal(hists(1)->run.bucket[3], 2);
}

static void test_lost_extremes(void **state)
{
	const unsigned int b = hist_bucket(1000), last = KD_HIST_BUCKETS - 1;

	(void)state;
	declare(1);
	put_tick(&s, 0, 1);
	put_bucket(&s, 1, b, 2);
	put_stat(&s, 1, 2000, UINT64_MAX, 0); /* says that there is none */
	put_tick(&s, 1, 1);
	assert_int_equal(hists(1)->interval.min, hist_low(b));
	assert_int_equal(hists(1)->interval.max, hist_high(b) - 1);
	assert_true(hists(1)->run.min > hists(1)->run.max); /* mended only when it is shown */

	put_bucket(&s, 1, b, 3); /* the counts say that a greater and a smaller value were there */
	put_bucket(&s, 1, 3, 1);
	put_stat(&s, 1, 3000, 5, 6);
	put_tick(&s, 2, 1);
	assert_int_equal(hists(1)->interval.min, 3);
	assert_int_equal(hists(1)->interval.max, hist_high(b) - 1);

	put_bucket(&s, 1, 3, 2); /* min > max, whatever they are, is no extreme */
	put_bucket(&s, 1, b, 4);
	put_stat(&s, 1, 4000, 3, 1000);
	put_stat(&s, 1, 4000, 2, 1);
	put_stat(&s, 1, 4000, 5000, 4000);
	put_tick(&s, 3, 1);
	assert_int_equal(hists(1)->interval.min, 3);
	assert_int_equal(hists(1)->interval.max, 1000);

	put_bucket(&s, 1, last, 1);
	put_tick(&s, 4, 1);
	assert_true(hists(1)->interval.min == hist_low(last));
	assert_true(hists(1)->interval.max == UINT64_MAX);
	assert_int_equal(hists(1)->run.min, 3);
}

static void test_late_extremes(void **state)
{
	(void)state;
	declare(1);
	put_tick(&s, 0, 1);
	put_stat(&s, 1, 500, 100, 200); /* before their counts: they wait */
	put_tick(&s, 1, 1);
	assert_int_equal(hists(1)->interval.sum, 500);
	assert_true(hists(1)->interval.min > hists(1)->interval.max);
	assert_true(hists(1)->run.min > hists(1)->run.max);
	put_bucket(&s, 1, hist_bucket(150), 3);
	put_tick(&s, 2, 1);
	assert_int_equal(hists(1)->interval.min, 100);
	assert_int_equal(hists(1)->interval.max, 200);

	put_stat(&s, 1, 500, 90, 300); /* after their counts: of the run */
	put_tick(&s, 3, 1);
	assert_true(hists(1)->interval.min > hists(1)->interval.max);
	assert_int_equal(hists(1)->run.min, 90);
	assert_int_equal(hists(1)->run.max, 300);
	assert_int_equal(hists(1)->run.sum, 500);
}

static const struct group *group_of(uint8_t flavour)
{
	size_t i;

	for (i = 0; i < m.ngroups; i++)
		if (m.groups[i].flavour == flavour)
			return &m.groups[i];
	fail_msg("no group of flavour %u", flavour);
	return NULL;
}

static void test_worst(void **state)
{
	const struct group *g;
	uint64_t v;
	int i;

	(void)state;
	declare(1);
	put_series(&s, 2, KD_FL_SRCU, KD_DIM_MAIN, 0, 1, "g");
	put_worst(&s, 1, 1, 999999, 0); /* before the baseline */
	put_tick(&s, 0, 1);
	for (v = 1; v <= 25; v++) {
		put_worst(&s, 1, 100 + v, (v * 7) % 26, (uint32_t)v); /* 1..25, mixed */
		put_worst(&s, 1, 100 + v, (v * 7) % 26, (uint32_t)v);
	}
	put_worst(&s, 2, 1, 77, 3);
	put_tick(&s, 1, 1);
	g = group_of(KD_FL_RCU);
	assert_int_equal(g->interval.n, MODEL_WORST);
	for (i = 0; i < MODEL_WORST; i++) {
		assert_int_equal(g->interval.w[i].value, 25 - i);
		assert_int_equal(g->run.w[i].value, 25 - i);
		assert_int_equal((g->run.w[i].mono_ns - 100) * 7 % 26, 25 - i);
	}
	assert_int_equal(group_of(KD_FL_SRCU)->run.n, 1);
	assert_int_equal(group_of(KD_FL_SRCU)->run.w[0].cpu, 3);

	put_worst(&s, 1, 500, 20, 1); /* another one of that value */
	put_worst(&s, 1, 600, 3, 1);
	put_tick(&s, 2, 1);
	assert_int_equal(g->interval.n, 2);
	assert_int_equal(g->interval.w[0].value, 20);
	assert_int_equal(g->run.w[5].value, 20);
	assert_int_equal(g->run.w[6].value, 20);
	assert_int_equal(g->run.w[9].value, 17);
	put_tick(&s, 3, 1);
	assert_int_equal(g->interval.n, 0);
	assert_int_equal(g->run.n, MODEL_WORST);
}

/* Who did it comes in a longer record; the way into the program that looks is no part of the stack. */
static void test_worst_who(void **state)
{
	struct kd_rec_worst_who r = {
		.worst = { .rec = { .kind = KD_REC_WORST, .len = sizeof(r), .id = 1 },
			   .mono_ns = 500,
			   .value = 30 },
		.pid = 12,
		.tgid = 10,
		.comm = "reader",
		.cgroup = 77,
		.stack = "bpf_prog_12_x bpf_trampoline_9 css_rstat_flush cpu_stat_show 0x0 0x0",
	};
	const struct worst *w;

	(void)state;
	declare(1);
	put_tick(&s, 0, 1);
	assert_int_equal(stream_record(&s, &r, sizeof(r)), 0);
	put_worst(&s, 1, 400, 20, 1);
	put_tick(&s, 1, 1);
	w = group_of(KD_FL_RCU)->run.w;
	assert_int_equal(w[0].pid, 12);
	assert_int_equal(w[0].tgid, 10);
	assert_int_equal(w[0].cgroup_id, 77);
	assert_string_equal(w[0].comm, "reader");
	assert_string_equal(w[0].stack, "css_rstat_flush cpu_stat_show");
	assert_int_equal(w[1].value, 20);
	assert_int_equal(w[1].pid, 0);
	memset(r.stack, 'x', sizeof(r.stack)); /* no NUL, from a hostile capture */
	memset(r.comm, 'y', sizeof(r.comm));
	r.worst.value = 40;
	stream_record(&s, &r, sizeof(r));
	put_tick(&s, 2, 1);
	w = group_of(KD_FL_RCU)->run.w;
	assert_int_equal(strlen(w[0].stack), sizeof(r.stack) - 1);
	assert_int_equal(strlen(w[0].comm), sizeof(r.comm) - 1);
}

static void test_anonymous_series(void **state)
{
	(void)state;
	put_tick(&s, 0, 1);
	put_bucket(&s, 9, 3, 5);
	put_stat(&s, 9, 15, 3, 3);
	put_worst(&s, 9, 1, 3, 0);
	put_tick(&s, 1, 1);
	assert_null(model_series(&m, 9));
	assert_int_equal(m.nseries, 1);
	assert_int_equal(m.ngroups, 0);
	put_bucket(&s, 9, 3, 6);
	declare(9);
	put_tick(&s, 2, 1);
	assert_int_equal(hists(9)->run.bucket[3], 6);
	assert_int_equal(hists(9)->interval.bucket[3], 1);
	assert_int_equal(group_of(KD_FL_RCU)->interval.n, 1); /* the orphan found its group */
	assert_int_equal(group_of(KD_FL_RCU)->run.w[0].series, 9);
	assert_int_equal(m.orphans.n, 0);
}

static void test_declared_again(void **state)
{
	const struct series *x;

	(void)state;
	put_series(&s, 4, KD_FL_RCU, KD_DIM_MAIN, KD_SERIES_LAZY, 1, "old [mod]");
	put_tick(&s, 0, 1);
	put_bucket(&s, 4, 3, 5);
	put_series(&s, 4, KD_FL_RCU, KD_DIM_MAIN, KD_SERIES_LAZY, 1, "old [mod]");
	put_tick(&s, 1, 1);
	x = model_series(&m, 4);
	assert_string_equal(x->name[0], "old");
	assert_string_equal(x->name[1], "mod");
	assert_int_equal(x->hists->run.bucket[3], 5);
	put_series(&s, 4, KD_FL_SRCU, KD_DIM_MAIN, 0, 2, "new");
	put_bucket(&s, 4, 3, 7);
	put_tick(&s, 2, 1);
	x = model_series(&m, 4);
	assert_string_equal(x->name[0], "new");
	assert_null(x->name[1]);
	assert_int_equal(x->flavour, KD_FL_SRCU);
	assert_int_equal(x->flags, 0);
	assert_int_equal(x->key[0], 2);
	assert_int_equal(x->hists->run.bucket[3], 7);
	assert_int_equal(m.nseries, 1);
	put_worst(&s, 4, 1, 3, 0);
	put_tick(&s, 3, 1);
	assert_int_equal(group_of(KD_FL_SRCU)->run.n, 1);
	assert_int_equal(group_of(KD_FL_RCU)->run.n, 0);
}

static void test_names(void **state)
{
	static const struct {
		const char *name, *func, *module;
	} cases[] = {
		{ "func", "func", NULL },
		{ "func [mod]", "func", "mod" },
		{ "bpf_prog_1 [bpf]", "bpf_prog_1", "bpf" },
		{ "", NULL, NULL },
		{ "func []", "func []", NULL },
		{ "func[mod]", "func[mod]", NULL },
		{ "func [mod", "func [mod", NULL },
		{ "func mod]", "func mod]", NULL },
		{ "[mod]", "[mod]", NULL },
		{ " [mod]", NULL, "mod" },
		{ "a [b] [c]", "a [b]", "c" },
		{ "[", "[", NULL },
		{ "]", "]", NULL },
		{ " [", " [", NULL },
		{ "x [[y]", "x [[y]", NULL },
	};
	const struct series *x;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		put_series(&s, 1, KD_FL_RCU, KD_DIM_MAIN, 0, 1, cases[i].name);
		x = model_series(&m, 1);
		assert_true(!x->name[0] == !cases[i].func && !x->name[1] == !cases[i].module);
		if (x->name[0])
			assert_string_equal(x->name[0], cases[i].func);
		if (x->name[1])
			assert_string_equal(x->name[1], cases[i].module);
	}
}

static void test_losses_and_counts(void **state)
{
	typeof(m.source[0]) *src = &m.source[KD_SRC_CALL_RCU];

	(void)state;
	assert_false(src->seen);
	put_total(&s, KD_REC_LOST, KD_LOST_TABLE_FULL, 100);
	put_total(&s, KD_REC_COUNT, KD_CNT_BEGUN, 1000);
	put_total(&s, KD_REC_COUNT, KD_CNT_OPEN, 50);
	assert_true(src->seen);
	assert_false(m.source[KD_SRC_RSTAT].seen);
	put_tick(&s, 0, 1);
	assert_int_equal(src->base[KD_LOST_TABLE_FULL], 100);
	assert_int_equal(src->interval[KD_LOST_TABLE_FULL], 0);
	assert_int_equal(src->cinterval[KD_CNT_OPEN], 50);

	put_total(&s, KD_REC_LOST, KD_LOST_TABLE_FULL, 130);
	put_total(&s, KD_REC_LOST, KD_LOST_TABLE_FULL, 120);
	put_total(&s, KD_REC_COUNT, KD_CNT_BEGUN, 1300);
	put_total(&s, KD_REC_COUNT, KD_CNT_BEGUN, 1000);
	put_total(&s, KD_REC_COUNT, KD_CNT_OPEN, 20); /* a level may fall */
	put_tick(&s, 1, 0);
	assert_int_equal(src->interval[KD_LOST_TABLE_FULL], 0);
	put_tick(&s, 2, 1);
	assert_int_equal(src->interval[KD_LOST_TABLE_FULL], 30);
	assert_int_equal(src->total[KD_LOST_TABLE_FULL] - src->base[KD_LOST_TABLE_FULL], 30);
	assert_int_equal(src->cinterval[KD_CNT_BEGUN], 300);
	assert_int_equal(src->ctotal[KD_CNT_BEGUN] - src->cbase[KD_CNT_BEGUN], 300);
	assert_int_equal(src->cinterval[KD_CNT_OPEN], 20);
	assert_int_equal(src->ctotal[KD_CNT_OPEN] - src->cbase[KD_CNT_OPEN], 20);

	put_tick(&s, 3, 1);
	assert_int_equal(src->interval[KD_LOST_TABLE_FULL], 0);
	assert_int_equal(src->cinterval[KD_CNT_BEGUN], 0);
	assert_int_equal(src->cinterval[KD_CNT_OPEN], 20);
}

static void test_facts(void **state)
{
	char name[32];
	int i;

	(void)state;
	assert_null(model_fact(&m, "hz"));
	put_text(&s, KD_REC_HOST, 0, 0, "hz", "250");
	put_text(&s, KD_REC_HOST, 0, 0, "hz", "1000");
	put_text(&s, KD_REC_HOST, 0, 0, "a", "first");
	put_text(&s, KD_REC_HOST, 0, 0, "z", "");
	assert_int_equal(m.nfacts, 3);
	assert_string_equal(model_fact(&m, "hz"), "1000");
	assert_string_equal(model_fact(&m, "a"), "first");
	assert_string_equal(model_fact(&m, "z"), "");
	assert_null(model_fact(&m, "h"));
	assert_null(model_fact(&m, "hzz"));
	for (i = 3; i < 2 * MODEL_ROWS_MAX; i++) {
		snprintf(name, sizeof(name), "n%u", (unsigned int)i * 2654435761u);
		put_text(&s, KD_REC_HOST, 0, 0, name, name);
	}
	assert_int_equal(m.nfacts, MODEL_ROWS_MAX);
	assert_int_equal(m.refused, MODEL_ROWS_MAX);
	assert_logged("too many facts");
	for (i = 1; i < MODEL_ROWS_MAX; i++) {
		assert_true(strcmp(m.facts[i - 1].name, m.facts[i].name) < 0);
		assert_string_equal(model_fact(&m, m.facts[i].name), m.facts[i].value);
	}
	put_text(&s, KD_REC_HOST, 0, 0, "hz", "100"); /* one that is known is still replaced */
	assert_string_equal(model_fact(&m, "hz"), "100");
}

static void test_numbers(void **state)
{
	static const struct {
		const char *text;
		uint64_t value;
	} cases[] = {
		{ "0", 0 },  { "42", 42 }, { "18446744073709551615", UINT64_MAX },
		{ "", 7 },   { "-1", 7 },  { "18446744073709551616", 7 },
		{ " 1", 7 }, { "1x", 7 },  { "+1", 7 },
	};
	size_t i;

	(void)state;
	assert_int_equal(model_fact_u64(&m, "n", 7), 7);
	for (i = 0; i < COUNT(cases); i++) {
		put_text(&s, KD_REC_HOST, 0, 0, "n", cases[i].text);
		assert_true(model_fact_u64(&m, "n", 7) == cases[i].value);
	}
}

static void test_realtime(void **state)
{
	(void)state;
	assert_int_equal(model_realtime(&m, 5), 0);
	put_text(&s, KD_REC_HOST, 0, 0, "realtime_ns", "1700000000000000123");
	assert_int_equal(model_realtime(&m, 5), 0);
	put_text(&s, KD_REC_HOST, 0, 0, "monotonic_ns", "1000");
	assert_int_equal(model_realtime(&m, 1000), 1700000000000000123);
	assert_int_equal(model_realtime(&m, 1877), 1700000000000001000);
	assert_int_equal(model_realtime(&m, 877), 1700000000000000000);
	assert_int_equal(model_realtime(&m, UINT64_MAX), 0); /* beyond all time */
	put_text(&s, KD_REC_HOST, 0, 0, "realtime_ns", "10");
	assert_int_equal(model_realtime(&m, 1), 0);
}

static void test_plan(void **state)
{
	(void)state;
	put_plan(&s, KD_FL_RCU, PLAN_OFF);
	put_plan(&s, KD_FL_SRCU, PLAN_EXPECTED);
	put_plan(&s, KD_FL_RCU, PLAN_ON);
	assert_int_equal(m.nplan, 2);
	assert_int_equal(m.plan[0].flavour, KD_FL_RCU);
	assert_int_equal(m.plan[0].state, PLAN_ON);
	assert_int_equal(m.plan[0].meaning, 1);
	assert_string_equal(m.plan[0].backend, "tp_btf");
	assert_string_equal(m.plan[0].hooks, "hook_a hook_b");
	assert_string_equal(m.plan[0].reason, "reason");
	assert_string_equal(m.plan[0].fix, "fix");
	assert_int_equal(m.plan[1].state, PLAN_EXPECTED);
}

static void test_events(void **state)
{
	const int n = 3 * MODEL_ROWS_MAX + 5;
	char text[16];
	int i;

	(void)state;
	for (i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "%d", i);
		put_text(&s, KD_REC_EVENT, (uint64_t)i, 2, "what", text);
		put_text(&s, KD_REC_EVENT, (uint64_t)i, 2, "what", text); /* repeated */
		assert_int_equal(m.nevents, i < MODEL_ROWS_MAX ? i + 1 : MODEL_ROWS_MAX);
		assert_int_equal(m.events[m.nevents - 1].realtime_ns, i);
	}
	for (i = 0; i < MODEL_ROWS_MAX; i++) {
		snprintf(text, sizeof(text), "%d", n - MODEL_ROWS_MAX + i);
		assert_string_equal(m.events[i].detail, text);
		assert_string_equal(m.events[i].what, "what");
		assert_int_equal(m.events[i].mono_ns, 2);
	}
}

static void test_self(void **state)
{
	struct {
		struct kd_rec_self self;
		uint64_t newer;
	} r = { .self = { .rec = { KD_REC_SELF, sizeof(r), 0 }, .events = 5, .sample = 16 } };

	(void)state;
	stream_record(&s, &r, sizeof(r));
	assert_int_equal(m.self.events, 5);
	assert_int_equal(m.self.sample, 16);
}

static int refuse_third(void *ctx, const struct model *model)
{
	int *n = ctx;

	assert_ptr_equal(model, &m);
	return ++*n == 3 ? -ECANCELED : 0;
}

static void test_on_interval(void **state)
{
	int n = 0;

	(void)state;
	m.on_interval = refuse_third;
	m.ctx = &n;
	assert_int_equal(put_tick(&s, 0, 1), 0);
	assert_int_equal(n, 0);
	assert_int_equal(put_tick(&s, 1, 1), 0);
	assert_int_equal(put_tick(&s, 2, 0), 0);
	assert_int_equal(n, 1);
	assert_int_equal(put_tick(&s, 3, 1), 0);
	assert_int_equal(put_tick(&s, 4, 1), -ECANCELED);
}

/* Clocks that go back must not give intervals of 500 years. */
static void test_time_goes_back(void **state)
{
	struct kd_rec_tick r = { .rec = HEADER(r, KD_REC_TICK, 0), .complete = 1 };
	static const uint64_t times[] = { 500, 700, 600, 900 };
	uint32_t i;

	(void)state;
	for (i = 0; i < COUNT(times); i++) {
		r.tick = i;
		r.mono_ns = times[i];
		stream_record(&s, &r, sizeof(r));
		assert_true(m.to_ns >= m.from_ns);
	}
	assert_int_equal(m.start_ns, 500);
	assert_int_equal(m.from_ns, 700);
	assert_int_equal(m.to_ns, 900);
}

static void test_bounds(void **state)
{
	const uint32_t n = MODEL_SERIES_MAX + 5000;
	uint32_t i;

	(void)state;
	for (i = 0; i < n; i++)
		assert_int_equal(put_series(&s, i * 2654435761u, KD_FL_RCU, KD_DIM_MAIN, 0, i, "f"),
				 0);
	assert_int_equal(m.nseries, MODEL_SERIES_MAX);
	assert_int_equal(m.refused, 5000);
	assert_logged("too many series in this stream");
	assert_null(strstr(strstr(logged, "too many") + 1, "too many")); /* said once */
	for (i = 0; i < n; i++) {
		const struct series *x = model_series(&m, i * 2654435761u);

		assert_true(i < MODEL_SERIES_MAX ? x && x->key[0] == i : !x);
	}
	/* totals of a known one are taken, of one more are not */
	put_tick(&s, 0, 1);
	put_bucket(&s, 0, 3, 4);
	put_bucket(&s, 1, 3, 4);
	put_tick(&s, 1, 1);
	assert_int_equal(hists(0)->run.bucket[3], 4);
	assert_int_equal(m.refused, 5001);
}

/* Totals for ids that were never declared take no more memory than MODEL_HISTS_MAX of them. */
static void test_bound_of_anonymous(void **state)
{
	uint32_t i;

	(void)state;
	put_tick(&s, 0, 1);
	for (i = 0; i < MODEL_HISTS_MAX + 100; i++) {
		put_bucket(&s, UINT32_MAX - i, 3, 1);
		put_stat(&s, UINT32_MAX - i, 3, 3, 3);
		put_worst(&s, UINT32_MAX - i, 1, 1, 1);
	}
	assert_int_equal(m.nseries, MODEL_HISTS_MAX);
	assert_int_equal(m.nhists, MODEL_HISTS_MAX);
	assert_int_equal(m.refused, 200);
	put_tick(&s, 1, 1);
	declare(UINT32_MAX);
	assert_int_equal(hists(UINT32_MAX)->run.bucket[3], 1);
}

/*
 * Ids that meet in the slots of any hash that is known beforehand, and ticks without end: work must
 * not grow with the square of either. Done in seconds, or the alarm ends the test.
 */
static void test_no_hang(void **state)
{
	uint32_t i;

	(void)state;
	alarm(120);
	for (i = 0; i < MODEL_SERIES_MAX; i++)
		put_series(&s, i << 15 | i >> 17, KD_FL_RCU, KD_DIM_MAIN, 0, i, "");
	for (i = 0; i < MODEL_HISTS_MAX; i++)
		put_bucket(&s, i << 15 | i >> 17, i % KD_HIST_BUCKETS, 1);
	for (i = 0; i < 1000000; i++)
		put_tick(&s, i, 1);
	assert_int_equal(m.ticks, 999999);
	alarm(0);
}

/* --- random streams against a plain computation --- */

#define IDS 7
#define STEPS 400

/* What one series is: in the kernel, and as far as it was delivered. */
struct plain {
	uint64_t real[KD_HIST_BUCKETS], known[KD_HIST_BUCKETS];
	uint64_t at_base[KD_HIST_BUCKETS], at_prev[KD_HIST_BUCKETS];
	uint64_t sum, known_sum, base_sum, prev_sum;
	uint64_t slot_min, slot_max; /* the kernel's, of this tick */
	uint64_t min, max;           /* delivered since the last complete tick */
	uint64_t run_min, run_max;
	uint64_t dirty; /* groups not sent since they changed */
	bool any;       /* something was delivered */
};

static struct plain plain[IDS];
static struct kd_rec_hist old; /* will be delivered late */
static uint32_t old_id;
static uint64_t edges[KD_HIST_BUCKETS + 1]; /* lower edge of each bucket, by counting up */

static void make_edges(void)
{
	uint64_t low = 0, width = 1;
	int i;

	for (i = 0; i < KD_HIST_BUCKETS; i++) {
		edges[i] = low;
		low += width;
		if (i % 8 == 7 && i > 8)
			width *= 2;
	}
}

static int plain_bucket(uint64_t v)
{
	int i = 0;

	while (i < KD_HIST_BUCKETS - 1 && edges[i + 1] <= v)
		i++;
	return i;
}

static uint64_t plain_top(int bucket)
{
	return bucket == KD_HIST_BUCKETS - 1 ? UINT64_MAX : edges[bucket + 1] - 1;
}

static void sample(struct plain *p, uint64_t *seed)
{
	uint64_t v = next_random(seed) >> below(seed, 64);
	int b = plain_bucket(v);

	p->real[b]++;
	p->dirty |= 1ull << b / 8;
	p->sum += v >> 10; /* sums that do not wrap; they need not fit the values here */
	p->slot_min = v < p->slot_min ? v : p->slot_min;
	p->slot_max = v > p->slot_max ? v : p->slot_max;
}

static void deliver_hist(uint32_t id, const struct kd_rec_hist *r)
{
	struct plain *p = &plain[id];
	int i;

	stream_record(&s, r, sizeof(*r));
	for (i = 0; i < 8; i++)
		if (r->count[i] > p->known[r->group * 8 + i])
			p->known[r->group * 8 + i] = r->count[i];
	p->any = true;
}

static void deliver_stat(uint32_t id, const struct kd_rec_stat *r)
{
	struct plain *p = &plain[id];

	stream_record(&s, r, sizeof(*r));
	p->known_sum = r->sum > p->known_sum ? r->sum : p->known_sum;
	if (r->min <= r->max) {
		p->min = r->min < p->min ? r->min : p->min;
		p->max = r->max > p->max ? r->max : p->max;
	}
	p->any = true;
}

/* Sends what changed of a series; some of it is lost, repeated, or comes late. */
static void send(uint32_t id, uint64_t *seed, bool all)
{
	struct plain *p = &plain[id];
	struct kd_rec_stat stat = {
		.rec = HEADER(stat, KD_REC_STAT, id),
		.sum = p->sum,
		.min = p->slot_min,
		.max = p->slot_max,
	};
	uint32_t g;

	for (g = 0; g < KD_HIST_GROUPS; g++) {
		struct kd_rec_hist r = { .rec = HEADER(r, KD_REC_HIST, id), .group = g };

		memcpy(r.count, &p->real[g * 8], sizeof(r.count));
		if (!all && (!(p->dirty >> g & 1) || !below(seed, 4)))
			continue;
		p->dirty &= ~(1ull << g);
		deliver_hist(id, &r);
		if (!below(seed, 5))
			deliver_hist(id, &r);
		if (!below(seed, 3) && old.rec.len)
			deliver_hist(old_id, &old);
		if (!below(seed, 3)) {
			old = r;
			old_id = id;
		}
	}
	if (all || below(seed, 4))
		deliver_stat(id, &stat);
	p->slot_min = UINT64_MAX; /* lost or not, the next tick has the other slot */
	p->slot_max = 0;
}

/* Expected extremes of an interval: what STAT said, unless the counts say otherwise. */
static void expect_extremes(const struct plain *p, uint64_t *min, uint64_t *max)
{
	int first = -1, last = -1, i;

	for (i = 0; i < KD_HIST_BUCKETS; i++) {
		if (p->known[i] == p->at_prev[i])
			continue;
		first = first < 0 ? i : first;
		last = i;
	}
	*min = UINT64_MAX;
	*max = 0;
	if (first < 0)
		return;
	*min = p->min > p->max || p->min > plain_top(first) ? edges[first] : p->min;
	*max = p->min > p->max || p->max < edges[last] ? plain_top(last) : p->max;
}

static void check_series(uint32_t id)
{
	const struct series *x = model_series(&m, id);
	struct plain *p = &plain[id];
	uint64_t min, max;
	int i;

	if (!p->any) {
		assert_null(x->hists);
		return;
	}
	for (i = 0; i < KD_HIST_BUCKETS; i++) {
		assert_int_equal(x->hists->total.bucket[i], p->known[i]);
		assert_int_equal(x->hists->interval.bucket[i], p->known[i] - p->at_prev[i]);
		assert_int_equal(x->hists->run.bucket[i], p->known[i] - p->at_base[i]);
	}
	assert_int_equal(x->hists->interval.sum, p->known_sum - p->prev_sum);
	assert_int_equal(x->hists->run.sum, p->known_sum - p->base_sum);

	expect_extremes(p, &min, &max);
	assert_true(x->hists->interval.min == min && x->hists->interval.max == max);
	if (min <= max || p->run_min <= p->run_max) { /* else the extremes wait for their counts */
		/* An edge that mends an interval never enters the run. */
		p->run_min = p->min < p->run_min ? p->min : p->run_min;
		p->run_max = p->max > p->run_max ? p->max : p->run_max;
		p->min = UINT64_MAX;
		p->max = 0;
	}
	assert_true(x->hists->run.min == p->run_min && x->hists->run.max == p->run_max);
	memcpy(p->at_prev, p->known, sizeof(p->at_prev));
	p->prev_sum = p->known_sum;
}

static void set_baseline(struct plain *p)
{
	memcpy(p->at_base, p->known, sizeof(p->at_base));
	memcpy(p->at_prev, p->known, sizeof(p->at_prev));
	p->base_sum = p->prev_sum = p->known_sum;
	p->min = p->run_min = UINT64_MAX;
	p->max = p->run_max = 0;
}

static void one_random_stream(uint64_t *seed)
{
	uint32_t tick = (uint32_t)below(seed, 1000), id;
	int baseline_at = (int)below(seed, 50), step, n;
	bool complete;

	memset(plain, 0, sizeof(plain));
	old.rec.len = 0;
	for (id = 0; id < IDS; id++) {
		put_series(&s, id, KD_FL_RCU, KD_DIM_MAIN, 0, id, "f");
		plain[id].slot_min = UINT64_MAX;
		set_baseline(&plain[id]);
	}
	for (step = 0; step < STEPS; step++) {
		for (id = 0; id < IDS - 1; id++) { /* the last one never has a sample */
			for (n = (int)below(seed, 4); n; n--)
				sample(&plain[id], seed);
			if (below(seed, 2) || step == STEPS - 1)
				send(id, seed, step == STEPS - 1);
		}
		complete = below(seed, 4) || step == STEPS - 1;
		if (step < baseline_at || (step > baseline_at && !below(seed, 3) && !complete))
			continue;
		put_tick(&s, ++tick, complete || step == baseline_at);
		if (!below(seed, 5))
			put_tick(&s, tick - (uint32_t)below(seed, 2),
				 1 & (complete || step == baseline_at));
		for (id = 0; id < IDS; id++) {
			if (step == baseline_at)
				set_baseline(&plain[id]);
			else if (complete)
				check_series(id);
		}
	}
	/* whatever was lost on the way, all is there in the end */
	for (id = 0; id < IDS - 1; id++)
		assert_memory_equal(hists(id)->total.bucket, plain[id].real,
				    sizeof(plain[id].real));
}

static void test_random_streams(void **state)
{
	uint64_t seed = 77;
	int round;

	make_edges();
	for (round = 0; round < 12; round++) {
		one_random_stream(&seed);
		teardown(state);
		setup(state);
	}
}

/* Any valid record whatever, in any order: the model keeps its promises to views. */
static void test_random_records(void **state)
{
	union record buf;
	uint64_t seed = 5;
	static const uint16_t kinds[] = { 1, 2, 3, 4, 5, 6, 7, 64, 65, 66, 67 };
	size_t i, n;
	int round;

	(void)state;
	for (round = 0; round < 200000; round++) {
		n = 4 + below(&seed, 40);
		for (i = 0; i < n; i++)
			buf.word[i] = below(&seed, 2) ? below(&seed, 3)
						      : next_random(&seed) >> below(&seed, 64);
		buf.rec.kind = kinds[below(&seed, COUNT(kinds))];
		buf.rec.len = (uint16_t)(8 * n);
		buf.rec.id = (uint32_t)below(&seed, 50);
		if (buf.rec.kind == KD_REC_SERIES)
			memset(buf.byte + 288 - 8, 0, 8);
		if (buf.rec.kind >= KD_REC_HOST)
			buf.word[n - 1] = 0;
		assert_int_equal(stream_record(&s, &buf, 8 * n), 0);
	}
	assert_true(s.records > 50000);
	assert_true(m.nseries <= 50 && m.ngroups <= KD_FL_COUNT * KD_SRC_COUNT * KD_M_COUNT);
	for (i = 0; i < m.nseries; i++)
		assert_true(!m.series[i].declared ||
			    model_series(&m, m.series[i].id) == &m.series[i]);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_baseline_and_intervals),
		TEST(test_late_and_repeated_totals),
		TEST(test_incomplete_ticks),
		TEST(test_repeated_ticks),
		TEST(test_incomplete_baseline),
		TEST(test_lost_extremes),
		TEST(test_late_extremes),
		TEST(test_worst),
		TEST(test_worst_who),
		TEST(test_anonymous_series),
		TEST(test_declared_again),
		TEST(test_names),
		TEST(test_losses_and_counts),
		TEST(test_facts),
		TEST(test_numbers),
		TEST(test_realtime),
		TEST(test_plan),
		TEST(test_events),
		TEST(test_self),
		TEST(test_on_interval),
		TEST(test_time_goes_back),
		TEST(test_bounds),
		TEST(test_bound_of_anonymous),
		TEST(test_no_hang),
		TEST(test_random_streams),
		TEST(test_random_records),
	};

	return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
