// SPDX-License-Identifier: GPL-2.0-only
/* Runs of the measured command in the model: what belongs to which, and what marks are worth. */
#include <errno.h>
#include <stdlib.h>

#include "model.h"
#include "plan.h"
#include "records.h"
#include "scope.h"

#define ID 1
#define BUCKET 36 /* holds 96..103 */

static struct model m;
static struct stream s;
static uint64_t counts_of_runs[8], ends;

static int on_run(void *ctx, const struct model *model, const struct run *r)
{
	const struct query q = { .one_run = true };
	struct metric *x;
	size_t n;

	(void)ctx;
	assert_int_equal(model_metrics(model, &q, &x, &n), 0);
	assert_ptr_equal(r, &model->runs[model->nruns - 1]);
	assert_int_equal(x[0].measure, KD_M_CALL_RCU_LATENCY);
	counts_of_runs[ends++] = hist_count(&x[0].hist);
	free(x);
	return 0;
}

static int setup(void **state)
{
	(void)state;
	forget_log();
	ends = 0;
	model_init(&m);
	m.on_run = on_run;
	stream_init(&s, model_record, &m);
	put_series(&s, ID, KD_FL_RCU, KD_DIM_MAIN, 0, 0xf000, "f");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	model_free(&m);
	return 0;
}

static int put_run(uint32_t index, uint8_t side, bool ended, uint16_t status, uint64_t mono)
{
	const char *command = "make bench";
	union record buf = { 0 };
	struct kd_rec_run *r = (struct kd_rec_run *)&buf;

	*r = (struct kd_rec_run){
		.rec = { .kind = KD_REC_RUN },
		.mono_ns = mono,
		.real_ns = 5000000 + mono,
		.index = index,
		.side = side,
		.ended = ended,
		.status = status,
	};
	stream_put_strings(r, sizeof(*r), &command, 1);
	return stream_record(&s, r, r->rec.len);
}

static int put_value(double value, uint8_t better, const char *name, const char *unit,
		     const char *text)
{
	const char *texts[] = { name, unit, text };
	union record buf = { 0 };
	struct kd_rec_value *r = (struct kd_rec_value *)&buf;

	*r = (struct kd_rec_value){
		.rec = { .kind = KD_REC_VALUE },
		.value = value,
		.better = better,
	};
	stream_put_strings(r, sizeof(*r), texts, 3);
	return stream_record(&s, r, r->rec.len);
}

/* An interval in which `n` more came, the extremes with them. */
static void put_interval(uint32_t tick, uint64_t total)
{
	put_bucket(&s, ID, BUCKET, total);
	put_stat(&s, ID, 100 * total, 97, 99 + tick);
	put_worst(&s, ID, 1000 + 100 * tick, 99 + tick, 0);
	put_total(&s, KD_REC_LOST, KD_LOST_TABLE_FULL, 10 * total);
	put_total(&s, KD_REC_COUNT, KD_CNT_DONE, total);
	put_tick(&s, tick, 1);
}

static void test_runs_and_the_gaps_between(void **state)
{
	const struct scope sc = { .one_run = true, .measures = UINT64_MAX };
	const struct query q = { .one_run = true };
	struct metric *x;
	size_t n;

	(void)state;
	put_interval(0, 1000); /* before recording began: nobody's */
	assert_int_equal(put_run(0, KD_SIDE_A, false, 0, 1001), 0);
	assert_true(m.running);
	put_interval(1, 1003);
	put_interval(2, 1005);
	put_run(0, KD_SIDE_A, true, 0, 1195);
	assert_false(m.running);
	assert_int_equal(counts_of_runs[0], 5);
	put_interval(3, 1105); /* the gap */
	assert_int_equal(hist_count(model_run_hist(&m, model_series(&m, ID))), 5);
	put_run(1, KD_SIDE_B, false, 0, 1301);
	assert_null(model_run_hist(&m, model_series(&m, ID)));
	put_interval(4, 1112);
	put_run(1, KD_SIDE_B, true, 137, 1399);
	assert_int_equal(counts_of_runs[1], 7);
	assert_int_equal(ends, 2);

	assert_int_equal(m.nruns, 2);
	assert_int_equal(m.runs[0].ticks, 2);
	assert_int_equal(m.runs[0].side, KD_SIDE_A);
	assert_int_equal(m.runs[0].begin_ns, 1001);
	assert_int_equal(m.runs[0].end_ns, 1195);
	assert_int_equal(m.runs[0].from_ns, 1000);
	assert_int_equal(m.runs[0].to_ns, 1200);
	assert_int_equal(m.runs[0].lost[KD_SRC_CALL_RCU][KD_LOST_TABLE_FULL], 50);
	assert_int_equal(m.runs[0].count[KD_SRC_CALL_RCU][KD_CNT_DONE], 5);
	assert_string_equal(m.runs[0].command, "make bench");
	assert_int_equal(m.runs[1].status, 137);
	assert_int_equal(m.runs[1].ticks, 1);
	assert_true(m.runs[0].ended && m.runs[1].ended);
	assert_false(m.runs[0].blurred || m.runs[1].blurred);

	/* What is asked of one run is that of the last; the whole has all. */
	assert_int_equal(scope_begin_ns(&m, &sc), 1300);
	assert_int_equal(scope_length_ns(&m, &sc), 100);
	assert_int_equal(scope_lost(&m, &sc, KD_SRC_CALL_RCU, KD_LOST_TABLE_FULL), 70);
	assert_int_equal(scope_count(&m, &sc, KD_SRC_CALL_RCU, KD_CNT_DONE), 7);
	assert_int_equal(model_metrics(&m, &q, &x, &n), 0);
	assert_int_equal(x[0].hist.sum, 700);
	assert_int_equal(x[0].hist.max, 103);
	assert_int_equal(x[0].worst->n, 1);
	assert_int_equal(x[0].worst->w[0].value, 103);
	free(x);
	assert_int_equal(hist_count(&model_series(&m, ID)->hists->run), 112);
}

static void test_marks_that_do_not_fit(void **state)
{
	(void)state;
	put_interval(0, 0);
	put_run(3, 0, true, 0, 1000); /* no run goes on */
	assert_int_equal(m.nruns, 0);
	put_run(0, 0, false, 0, 1000);
	put_run(0, 0, false, 0, 1000); /* repeated */
	put_run(7, 0, true, 0, 1100);  /* of another */
	assert_true(m.running);
	put_interval(1, 5);
	put_run(1, 0, false, 0, 1100); /* the first was never ended */
	put_interval(2, 7);
	put_run(1, 0, true, 0, 1100);
	put_run(1, 0, true, 0, 1100);
	assert_int_equal(m.nruns, 2);
	assert_false(m.runs[0].ended);
	assert_int_equal(ends, 1);
	assert_int_equal(counts_of_runs[0], 2);
	assert_true(put_run(2, KD_SIDE_COUNT, false, 0, 1200) == 0 && s.bad == 1);
}

static void test_a_border_that_was_cut_short(void **state)
{
	(void)state;
	put_interval(0, 0);
	put_run(0, 0, false, 0, 1000);
	put_interval(1, 5);
	put_bucket(&s, ID, BUCKET, 9);
	put_tick(&s, 2, 0);
	put_run(0, 0, true, 0, 1200);
	assert_true(m.runs[0].blurred);
	put_run(1, 0, false, 0, 1200);
	assert_true(m.runs[1].blurred);
}

static void test_too_many(void **state)
{
	uint32_t i;

	(void)state;
	put_interval(0, 0);
	for (i = 0; i < MODEL_RUNS_MAX + 10; i++) {
		put_run(i, 0, false, 0, i);
		if (i >= MODEL_RUNS_MAX)
			assert_false(m.running); /* counts must not go to another run */
		m.on_run = NULL;
		put_run(i, 0, true, 0, i);
	}
	assert_int_equal(m.nruns, MODEL_RUNS_MAX);
	assert_int_equal(m.refused, 10);
	assert_logged("too many runs");
}

static void test_values(void **state)
{
	(void)state;
	put_interval(0, 0);
	put_value(1, KD_BETTER_LOWER, "early", "", "1"); /* of no run */
	put_run(0, 0, false, 0, 1000);
	put_value(12.5, KD_BETTER_LOWER, "latency", "us", "12.50");
	put_value(-3e9, KD_BETTER_HIGHER, "ops", "", "-3e9");
	assert_int_equal(s.bad, 0);
	put_value(0.0 / 0.0, 0, "nan", "", "nan");
	put_value(1.0 / 0.0, 0, "inf", "", "inf");
	put_value(1, 0, "", "us", "1");
	put_value(1, KD_BETTER_COUNT, "x", "us", "1");
	assert_int_equal(s.bad, 4);
	put_interval(1, 1);
	put_run(0, 0, true, 0, 1100);
	put_value(1, KD_BETTER_LOWER, "late", "", "1");
	assert_int_equal(m.runs[0].nvalues, 2);
	assert_string_equal(m.runs[0].values[0].name, "latency");
	assert_string_equal(m.runs[0].values[0].unit, "us");
	assert_string_equal(m.runs[0].values[0].text, "12.50");
	assert_true(m.runs[0].values[0].value == 12.5);
	assert_int_equal(m.runs[0].values[1].better, KD_BETTER_HIGHER);
	assert_string_equal(m.runs[0].values[1].unit, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_runs_and_the_gaps_between, setup, teardown),
		cmocka_unit_test_setup_teardown(test_marks_that_do_not_fit, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_border_that_was_cut_short, setup, teardown),
		cmocka_unit_test_setup_teardown(test_too_many, setup, teardown),
		cmocka_unit_test_setup_teardown(test_values, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
