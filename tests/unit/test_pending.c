// SPDX-License-Identifier: GPL-2.0-only
/* What the model knows of lists: sums, what was before, the most and the mean, grace periods, names. */
#include <errno.h>
#include <stdlib.h>

#include "model.h"
#include "records.h"

static struct model m;
static struct stream s;

static int setup(void **state)
{
	(void)state;
	model_init(&m);
	stream_init(&s, model_record, &m);
	forget_log();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	model_free(&m);
	return 0;
}

static const struct pending_node *node(unsigned int kind, uint16_t list, uint32_t cpu, uint64_t key)
{
	const struct level_key k = {
		.kind = (uint8_t)kind,
		.source = kind == PENDING_ALL ? 0 : KD_SRC_MEMALLOC,
		.list = kind <= PENDING_TOTAL ? list : 0,
		.cpu = cpu,
		.key = key,
		.unit_size = kind <= PENDING_KEY ? 64 : 0,
	};
	long at = level_table_find(&m.pending.table, &k);

	assert_true(at >= 0);
	return &m.pending.node[at];
}

/* Ticks are 100 ns apart: put_tick(). */
static void test_sums(void **state)
{
	(void)state;
	put_list(&s, KD_LIST_FREE_LLIST, 0, 7, 10);
	put_list(&s, KD_LIST_FREE_LLIST, 1, 7, 20);
	put_list(&s, KD_LIST_FREE_LLIST, 1, 8, 5);
	put_list(&s, KD_LIST_FREE_BY_RCU, 0, 7, 1);
	assert_int_equal(m.pending.table.n, 4 + 3 + 2 + 1 + 1);
	assert_int_equal(node(PENDING_ALL, 0, KD_CPU_NONE, 0)->length, 0); /* not before the tick */
	put_tick(&s, 0, 1);
	assert_int_equal(node(PENDING_LIST, KD_LIST_FREE_LLIST, 1, 7)->length, 20);
	assert_int_equal(node(PENDING_KEY, KD_LIST_FREE_LLIST, KD_CPU_NONE, 7)->length, 30);
	assert_int_equal(node(PENDING_KEY, KD_LIST_FREE_LLIST, KD_CPU_NONE, 7)->lists, 2);
	assert_int_equal(node(PENDING_TOTAL, KD_LIST_FREE_LLIST, KD_CPU_NONE, 0)->length, 35);
	assert_int_equal(node(PENDING_SOURCE, 0, KD_CPU_NONE, 0)->length, 36);
	assert_int_equal(node(PENDING_ALL, 0, KD_CPU_NONE, 0)->bytes, 36 * 64);
	assert_int_equal(node(PENDING_ALL, 0, KD_CPU_NONE, 0)->whole.begin, 36);
	put_list(&s, KD_LIST_FREE_LLIST, 1, 7, 0);
	put_list(&s, KD_LIST_FREE_LLIST, 0, 7, 50);
	put_list(&s, KD_LIST_FREE_LLIST, 0, 7, 12); /* the last one of an interval holds */
	put_tick(&s, 1, 1);
	assert_int_equal(node(PENDING_KEY, KD_LIST_FREE_LLIST, KD_CPU_NONE, 7)->length, 12);
	assert_int_equal(node(PENDING_KEY, KD_LIST_FREE_LLIST, KD_CPU_NONE, 7)->lists, 1);
	assert_int_equal(node(PENDING_KEY, KD_LIST_FREE_LLIST, KD_CPU_NONE, 7)->prev, 30);
	assert_int_equal(node(PENDING_KEY, KD_LIST_FREE_LLIST, KD_CPU_NONE, 7)->whole.begin, 30);
	assert_int_equal(node(PENDING_ALL, 0, KD_CPU_NONE, 0)->bytes, 18 * 64);
}

/* Flags and unknown bytes of parts are told of sums. */
static void test_doubts(void **state)
{
	struct kd_rec_pending r = a_list(KD_LIST_FREE_LLIST, 0, 7, 10);
	const struct pending_node *sum;

	(void)state;
	put_list(&s, KD_LIST_FREE_LLIST, 1, 7, 20);
	r.flags = KD_PENDING_TRUNCATED;
	r.bytes = KD_UNKNOWN;
	stream_record(&s, &r, sizeof(r));
	put_tick(&s, 0, 1);
	sum = node(PENDING_TOTAL, KD_LIST_FREE_LLIST, KD_CPU_NONE, 0);
	assert_int_equal(sum->inexact, 1);
	assert_int_equal(sum->truncated, 1);
	assert_int_equal(sum->unsized, 10);
	assert_int_equal(sum->bytes, 20 * 64);
	r.flags = KD_PENDING_EXACT;
	r.bytes = 640;
	stream_record(&s, &r, sizeof(r));
	put_tick(&s, 1, 1);
	assert_int_equal(sum->inexact, 0);
	assert_int_equal(sum->truncated, 0);
	assert_int_equal(sum->unsized, 0);
	assert_int_equal(sum->bytes, 30 * 64);
}

static uint64_t mean(const struct pending_node *n, uint64_t *peak)
{
	struct pending_span span = n->whole;

	pending_hold(&span, m.to_ns, n);
	*peak = span.peak;
	return (uint64_t)(span.area / (m.to_ns - m.start_ns));
}

static void test_peak_and_mean(void **state)
{
	const struct pending_node *n;
	uint64_t peak;

	(void)state;
	put_list(&s, KD_LIST_FREE_LLIST, 0, 7, 1000); /* before the baseline: its level */
	put_tick(&s, 0, 1);
	put_list(&s, KD_LIST_FREE_LLIST, 0, 7, 10);
	put_tick(&s, 1, 1);
	put_tick(&s, 2, 1);
	put_list(&s, KD_LIST_FREE_LLIST, 0, 7, 70);
	put_tick(&s, 3, 1);
	put_list(&s, KD_LIST_FREE_LLIST, 0, 7, 0);
	put_tick(&s, 4, 1);
	n = node(PENDING_LIST, KD_LIST_FREE_LLIST, 0, 7);
	/* Four intervals that end at 10, 10, 70 and 0. */
	assert_int_equal(mean(n, &peak), 90 / 4);
	assert_int_equal(peak, 70); /* the look that it begins with is of the time before */
}

/* Doubts are of the whole span, not of its last look; the first look is not in it. */
static void test_doubts_of_span(void **state)
{
	struct kd_rec_pending r = a_list(KD_LIST_FREE_LLIST, 0, 7, 10);
	struct pending_span span;

	(void)state;
	r.flags = KD_PENDING_TRUNCATED;
	stream_record(&s, &r, sizeof(r));
	put_tick(&s, 0, 1);
	r.flags = KD_PENDING_EXACT;
	stream_record(&s, &r, sizeof(r));
	put_tick(&s, 1, 1);
	pending_whole_span(&m, node(PENDING_TOTAL, KD_LIST_FREE_LLIST, KD_CPU_NONE, 0), &span);
	assert_false(span.truncated);
	assert_false(span.inexact);
	r.flags = 0;
	stream_record(&s, &r, sizeof(r));
	put_tick(&s, 2, 1);
	r.flags = KD_PENDING_EXACT;
	stream_record(&s, &r, sizeof(r));
	put_tick(&s, 3, 1);
	pending_whole_span(&m, node(PENDING_TOTAL, KD_LIST_FREE_LLIST, KD_CPU_NONE, 0), &span);
	assert_true(span.inexact);
	assert_false(span.truncated);
}

/* The most of a sum is seen at one tick, not the sum of what each had at its own time. */
static void test_peak_of_sum(void **state)
{
	uint64_t peak;

	(void)state;
	put_tick(&s, 0, 1);
	put_list(&s, KD_LIST_FREE_LLIST, 0, 7, 100);
	put_tick(&s, 1, 1);
	put_list(&s, KD_LIST_FREE_LLIST, 0, 7, 0);
	put_list(&s, KD_LIST_FREE_LLIST, 1, 7, 90);
	put_tick(&s, 2, 1);
	mean(node(PENDING_KEY, KD_LIST_FREE_LLIST, KD_CPU_NONE, 7), &peak);
	assert_int_equal(peak, 100);
}

static void put_run(uint32_t index, uint8_t ended)
{
	union record r = { 0 };
	struct kd_rec_run *run = (void *)&r;

	run->rec = (struct kd_rec){ .kind = KD_REC_RUN, .len = sizeof(*run) + 8 };
	run->index = index;
	run->ended = ended;
	strcpy(run->command, "true");
	assert_int_equal(stream_record(&s, &r, run->rec.len), 0);
}

static void check_run(uint64_t peak, uint64_t area)
{
	const struct pending_node *n = node(PENDING_LIST, KD_LIST_FREE_LLIST, 0, 7);
	const struct run *run = &m.runs[m.nruns - 1];
	struct pending_span span;

	pending_run_span(&m, n, &span);
	assert_int_equal(span.peak, peak);
	assert_int_equal((uint64_t)span.area, area);
	assert_int_equal(span.since_ns, run->to_ns);
}

/* A run of the command: from the tick before its begin to the one before its end. */
static void test_one_run(void **state)
{
	(void)state;
	put_tick(&s, 0, 1);
	put_list(&s, KD_LIST_FREE_LLIST, 0, 7, 100);
	put_tick(&s, 1, 1);
	put_list(&s, KD_LIST_FREE_LLIST, 0, 7, 4);
	put_tick(&s, 2, 1);
	put_run(0, 0);
	put_tick(&s, 3, 1);
	put_list(&s, KD_LIST_FREE_LLIST, 0, 7, 9);
	put_tick(&s, 4, 1);
	put_run(0, 1);
	check_run(9, 100 * (4 + 9));
	put_list(&s, KD_LIST_FREE_LLIST, 0, 7, 50); /* after it */
	put_tick(&s, 5, 1);
	check_run(9, 100 * (4 + 9));
	put_run(1, 0);
	put_tick(&s, 6, 1); /* nothing changes in the second */
	put_tick(&s, 7, 1);
	put_run(1, 1);
	check_run(50, 100 * (50 + 50));
	put_list(&s, KD_LIST_FREE_LLIST, 0, 7, 60);
	put_tick(&s, 8, 1);
	put_list(&s, KD_LIST_FREE_LLIST, 0, 7, 70);
	put_tick(&s, 9, 1);
	check_run(50, 100 * (50 + 50));
}

static void test_ages(void **state)
{
	struct kd_rec_pending r = a_list(KD_LIST_FREE_BY_RCU, 0, 7, 10);
	const struct pending_node *n;

	(void)state;
	r.age_ns = 5000;
	stream_record(&s, &r, sizeof(r));
	put_tick(&s, 0, 1);
	put_tick(&s, 1, 1);
	n = node(PENDING_LIST, KD_LIST_FREE_BY_RCU, 0, 7);
	assert_int_equal(n->age_ns, 5000);
	assert_int_equal(m.to_ns - n->age_at_ns, 100);
	r.length = 0;
	stream_record(&s, &r, sizeof(r));
	put_tick(&s, 2, 1);
	assert_true(n->age_ns == KD_UNKNOWN);
}

static void put_gp(uint8_t flavour, uint8_t state, uint32_t cpus, uint32_t tasks)
{
	struct kd_rec_gp r = { .rec = HEADER(r, KD_REC_GP, 0),
			       .flavour = flavour,
			       .state = state,
			       .cpus_owed = cpus,
			       .tasks_owed = tasks,
			       .flags = KD_PENDING_EXACT };

	assert_int_equal(stream_record(&s, &r, sizeof(r)), 0);
}

static void put_owed(uint8_t flavour, uint32_t cpu)
{
	struct kd_rec_owed r = { .rec = HEADER(r, KD_REC_OWED, 0), .flavour = flavour, .cpu = cpu };

	assert_int_equal(stream_record(&s, &r, sizeof(r)), 0);
}

static void test_grace_periods(void **state)
{
	const struct level_key owed = { .kind = PENDING_LIST,
					.source = KD_SRC_RCU_GP,
					.flavour = KD_FL_RCU,
					.list = KD_LIST_CPUS_OWED,
					.cpu = KD_CPU_NONE };

	(void)state;
	put_owed(KD_FL_RCU, 3);
	put_owed(KD_FL_RCU, 5);
	put_gp(KD_FL_RCU, KD_GP_WAITING, 2, 0);
	put_gp(KD_FL_TASKS, KD_GP_IDLE, 0, 0);
	put_tick(&s, 0, 1);
	assert_true(m.pending.gp[KD_FL_RCU].known);
	assert_int_equal(m.pending.gp[KD_FL_RCU].nowed, 2);
	assert_int_equal(m.pending.gp[KD_FL_RCU].owed[1].cpu, 5);
	assert_true(m.pending.gp[KD_FL_TASKS].known);
	assert_false(m.pending.gp[KD_FL_SRCU].known);
	assert_int_equal(m.pending.node[level_table_find(&m.pending.table, &owed)].length, 2);
	put_owed(KD_FL_RCU, 1);
	put_gp(KD_FL_RCU, KD_GP_WAITING, 1, 0);
	put_owed(KD_FL_RCU, 6); /* twice between two ticks: the second holds */
	put_gp(KD_FL_RCU, KD_GP_WAITING, 1, 0);
	put_tick(&s, 1, 1);
	assert_int_equal(m.pending.gp[KD_FL_RCU].nowed, 1);
	assert_int_equal(m.pending.gp[KD_FL_RCU].owed[0].cpu, 6);
	assert_false(m.pending.gp[KD_FL_TASKS].known); /* not seen again: not known */
	for (uint32_t i = 0; i < 200; i++)
		put_owed(KD_FL_RCU, i);
	put_gp(KD_FL_RCU, KD_GP_WAITING, 200, 0);
	put_tick(&s, 2, 1);
	assert_int_equal(m.pending.gp[KD_FL_RCU].nowed, PENDING_OWED_MAX);
	assert_int_equal(m.pending.node[level_table_find(&m.pending.table, &owed)].length, 200);
}

static void test_names(void **state)
{
	const uint64_t a = KD_NAME_MAP | KD_SRC_MEMALLOC << 8;

	(void)state;
	assert_null(pending_text(&m.pending, KD_NAME_MAP, KD_SRC_MEMALLOC, 7, 0));
	put_text(&s, KD_REC_NAME, a, 7, "flows", "hash");
	assert_string_equal(pending_text(&m.pending, KD_NAME_MAP, KD_SRC_MEMALLOC, 7, 0), "flows");
	assert_string_equal(pending_text(&m.pending, KD_NAME_MAP, KD_SRC_MEMALLOC, 7, 2), "reason");
	assert_string_equal(pending_text(&m.pending, KD_NAME_MAP, KD_SRC_MEMALLOC, 7, 99), "");
	put_text(&s, KD_REC_NAME, a, 7, "other", "hash");
	assert_string_equal(pending_text(&m.pending, KD_NAME_MAP, KD_SRC_MEMALLOC, 7, 0), "other");
	assert_null(pending_text(&m.pending, KD_NAME_MAP, KD_SRC_CALL_RCU, 7, 0));
	assert_null(pending_text(&m.pending, KD_NAME_DOMAIN, KD_SRC_MEMALLOC, 7, 0));
	assert_null(pending_text(&m.pending, KD_NAME_MAP, KD_SRC_MEMALLOC, 8, 0));
}

static void test_absurd(void **state)
{
	(void)state;
	put_list(&s, KD_LIST_FREE_LLIST, 0, 7, KD_PENDING_MOST + 1);
	put_list(&s, KD_LIST_COUNT, 0, 7, 1);
	put_list(&s, KD_LIST_MAX, 0, 7, 1);
	assert_int_equal(s.bad, 3);
	assert_int_equal(m.pending.table.n, 0);
	put_list(&s, KD_LIST_UNKNOWN, 0, 7, 1);
	assert_int_equal(s.bad, 3);
}

/* More lists than there is room for: the rest is left out whole, with its sums, and counted. */
static void test_bound(void **state)
{
	const struct pending_node *all;
	uint64_t taken = 0;

	(void)state;
	for (uint64_t i = 0; i < PENDING_NODES_MAX; i++) {
		uint64_t refused = m.refused;

		put_list(&s, KD_LIST_FREE_LLIST, 0, i, 1);
		taken += m.refused == refused;
	}
	put_tick(&s, 0, 1);
	all = node(PENDING_ALL, 0, KD_CPU_NONE, 0);
	assert_int_equal(all->length, taken);
	assert_int_equal(taken + m.refused, PENDING_NODES_MAX);
	assert_in_range(taken, PENDING_NODES_MAX / 2 - PENDING_KINDS, PENDING_NODES_MAX / 2);
	assert_logged("too many lists");
}

/* Against sums made the plain way. */
static void test_random(void **state)
{
	uint64_t seed = 88172645463325252ull, level[4][4] = { { 0 } }, peak = 0, area = 0;

	(void)state;
	put_tick(&s, 0, 1);
	for (uint32_t tick = 1; tick < 500; tick++) {
		uint64_t sum = 0, got_peak;

		for (uint64_t i = below(&seed, 6); i; i--) {
			uint32_t cpu = (uint32_t)below(&seed, 4);
			uint64_t key = below(&seed, 4);

			level[cpu][key] = below(&seed, 100);
			put_list(&s, KD_LIST_WAITING_FOR_GP, cpu, key, level[cpu][key]);
		}
		put_tick(&s, tick, 1);
		for (int i = 0; i < 16; i++)
			sum += level[i / 4][i % 4];
		area += sum;
		peak = sum > peak ? sum : peak;
		if (!sum && !m.pending.table.n)
			continue;
		assert_int_equal(node(PENDING_ALL, 0, KD_CPU_NONE, 0)->length, sum);
		assert_int_equal(mean(node(PENDING_ALL, 0, KD_CPU_NONE, 0), &got_peak),
				 area / tick);
		assert_int_equal(got_peak, peak);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_sums, setup, teardown),
		cmocka_unit_test_setup_teardown(test_doubts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_peak_and_mean, setup, teardown),
		cmocka_unit_test_setup_teardown(test_doubts_of_span, setup, teardown),
		cmocka_unit_test_setup_teardown(test_peak_of_sum, setup, teardown),
		cmocka_unit_test_setup_teardown(test_one_run, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ages, setup, teardown),
		cmocka_unit_test_setup_teardown(test_grace_periods, setup, teardown),
		cmocka_unit_test_setup_teardown(test_names, setup, teardown),
		cmocka_unit_test_setup_teardown(test_absurd, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bound, setup, teardown),
		cmocka_unit_test_setup_teardown(test_random, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
