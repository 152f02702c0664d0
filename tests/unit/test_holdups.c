// SPDX-License-Identifier: GPL-2.0-only
/* Reports of long waits in the model: their witnesses, bounds, windows, and what a recording takes over. */
#include "../golden/made_waits.h"
#include "model.h"
#include "records.h"
#include "restate.h"
#include "scope.h"
#include "tally.h"

#include <errno.h>
#include <stdlib.h>

static struct model m;
static struct stream s;
static struct made_wait made;

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

static void say_witnesses(struct stream *to, size_t from, size_t end)
{
	for (size_t i = from; i < end && i < made.n; i++)
		assert_int_equal(stream_record(to, &made.witness[i], sizeof(made.witness[i])), 0);
}

static void say_end(struct stream *to)
{
	assert_int_equal(stream_record(to, &made.rec, sizeof(made.rec)), 0);
}

static void a_wait_of(uint32_t id, uint64_t length_ns)
{
	made_gp(&made, KD_FL_RCU, 100, id);
	made.rec.rec.id = id;
	made.rec.end_ns = made.rec.begin_ns + length_ns;
}

static void witnesses_come_by_source_and_id(void **state)
{
	(void)state;
	a_wait_of(7, 100 * MADE_MS);
	made_seen(&made, KD_ROLE_CPU, 1, 10, "a", 0, 60, "");
	made_seen(&made, KD_ROLE_CPU, 1, 11, "b", 0, 50, "");
	made_seen(&made, KD_ROLE_CPU, 1, 12, "c", 0, 70, "");
	made.witness[2].source = KD_SRC_CALL_RCU; /* another wait with the same number */
	say_witnesses(&s, 0, 3);
	say_end(&s);
	assert_int_equal(m.holdups.n, 1);
	assert_int_equal(m.holdups.h[0].nwitness, 2);
	assert_int_equal(m.holdups.h[0].witness[0].pid, 11); /* by time */
	assert_int_equal(m.holdups.npending, 1);
	/* The number comes again: a new wait, without the witnesses of the old one. */
	say_end(&s);
	assert_int_equal(m.holdups.n, 2);
	assert_int_equal(m.holdups.h[1].nwitness, 0);
}

static void the_first_and_the_last_are_kept(void **state)
{
	const struct holdup *h;

	(void)state;
	a_wait_of(1, 1000 * MADE_MS);
	for (uint64_t i = 0; i < MADE_MAX; i++)
		made_seen(&made, KD_ROLE_CPU, 0, (uint32_t)i + 1, "x", 0, i, "");
	say_witnesses(&s, 0, MADE_MAX);
	say_end(&s);
	h = &m.holdups.h[0];
	assert_int_equal(h->nwitness, HOLDUP_WITNESSES);
	assert_int_equal(h->unseen, MADE_MAX - HOLDUP_WITNESSES);
	assert_int_equal(h->witness[0].pid, 1);
	assert_int_equal(h->witness[HOLDUP_WITNESSES / 2 - 1].pid, HOLDUP_WITNESSES / 2);
	assert_int_equal(h->witness[HOLDUP_WITNESSES / 2].pid, MADE_MAX - HOLDUP_WITNESSES / 2 + 1);
	assert_int_equal(h->witness[HOLDUP_WITNESSES - 1].pid, MADE_MAX);
}

static void the_shortest_give_way(void **state)
{
	uint64_t least = UINT64_MAX;

	(void)state;
	for (uint32_t i = 0; i < HOLDUPS_MAX + 10; i++) {
		a_wait_of(i, (i % 2 ? 1000 + i : 100000 + i) * MADE_MS);
		say_end(&s);
	}
	assert_int_equal(m.holdups.n, HOLDUPS_MAX);
	assert_int_equal(m.holdups.left_out, 10);
	for (size_t i = 0; i < m.holdups.n; i++)
		least = holdup_ns(&m.holdups.h[i]) < least ? holdup_ns(&m.holdups.h[i]) : least;
	/* The ten with odd numbers from 1 on are gone. */
	assert_int_equal(least, 1021 * MADE_MS);
	assert_int_equal(m.holdups.left_out_ns, 10 * 1010 * MADE_MS);
}

static void witnesses_of_all_are_bounded(void **state)
{
	size_t witnesses = 0;

	(void)state;
	for (uint32_t i = 0; i < 400; i++) {
		a_wait_of(i, (100 + i) * MADE_MS);
		for (uint64_t k = 0; k < HOLDUP_WITNESSES; k++)
			made_seen(&made, KD_ROLE_CPU, 0, 1, "x", 0, k, "");
		say_witnesses(&s, 0, made.n);
		say_end(&s);
	}
	for (size_t i = 0; i < m.holdups.n; i++)
		witnesses += m.holdups.h[i].nwitness;
	assert_int_equal(witnesses, m.holdups.nwitness);
	assert_true(witnesses <= HOLDUPS_WITNESSES);
	assert_int_equal(m.holdups.n + m.holdups.left_out, 400);
}

static void waits_without_an_end_are_bounded(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < HOLDUPS_PENDING + 5; i++) {
		a_wait_of(i, MADE_MS);
		made_seen(&made, KD_ROLE_CPU, 0, 1, "x", 0, i, "");
		say_witnesses(&s, 0, 1);
	}
	assert_int_equal(m.holdups.npending, HOLDUPS_PENDING);
	assert_int_equal(m.holdups.ended_without, 5);
}

static void frames_end_where_they_end(void **state)
{
	struct kd_rec_witness w = { .stack = "  first second+0x1  third 0x0 0x0 fourth" };
	char buf[8], long_buf[16];

	(void)state;
	assert_true(witness_frame(&w, 0, buf, sizeof(buf)));
	assert_string_equal(buf, "first");
	assert_true(witness_frame(&w, 1, buf, sizeof(buf)));
	assert_string_equal(buf, "second+"); /* cut */
	assert_true(witness_frame(&w, 2, buf, sizeof(buf)));
	assert_false(witness_frame(&w, 3, buf, sizeof(buf)));
	memset(w.stack, 0, sizeof(w.stack));
	assert_false(witness_frame(&w, 0, buf, sizeof(buf)));
	/* As the kernel prints functions: their sizes are left out, their modules are not. */
	snprintf(w.stack, sizeof(w.stack), "a+0x1f/0x40 b+0x0/0x9 [mod] c+0x2/0x3 0x0");
	assert_true(witness_frame(&w, 0, long_buf, sizeof(long_buf)));
	assert_string_equal(long_buf, "a+0x1f");
	assert_true(witness_frame(&w, 1, long_buf, sizeof(long_buf)));
	assert_string_equal(long_buf, "b+0x0 [mod]");
	assert_true(witness_frame(&w, 2, long_buf, sizeof(long_buf)));
	assert_string_equal(long_buf, "c+0x2");
	assert_false(witness_frame(&w, 3, long_buf, sizeof(long_buf)));
}

static size_t in_scope(const struct scope *sc)
{
	size_t n = 0;

	for (size_t i = 0; i < m.holdups.n; i++)
		n += scope_has_holdup(&m, sc, &m.holdups.h[i]);
	return n;
}

static void windows(void **state)
{
	uint32_t hidden[KD_M_COUNT] = { 0 };
	struct scope sc = { .measures = UINT64_MAX, .hidden = hidden };

	(void)state;
	put_tick(&s, 0, 1);
	a_wait_of(1, MADE_MS);
	say_end(&s);
	put_tick(&s, 1, 1);
	sc.interval = true;
	assert_int_equal(in_scope(&sc), 1);
	a_wait_of(2, MADE_MS);
	say_end(&s);
	a_wait_of(3, MADE_MS);
	say_end(&s);
	put_tick(&s, 2, 1);
	assert_int_equal(in_scope(&sc), 2);
	sc.interval = false;
	assert_int_equal(in_scope(&sc), 3);
	hidden[KD_M_RCU_GP_HOLDUP] = 1u << KD_FL_RCU;
	assert_int_equal(in_scope(&sc), 0);
	hidden[KD_M_RCU_GP_HOLDUP] = 0;
	sc.measures = 1ULL << KD_M_CALL_RCU_HOLDUP;
	assert_int_equal(in_scope(&sc), 0);
	model_rebase(&m);
	assert_int_equal(m.holdups.n, 0);
}

/* A recording that begins while a wait goes on has what was seen of it so far. */
static void what_goes_on_is_said_again(void **state)
{
	struct stream again;
	struct model b;

	(void)state;
	model_init(&b);
	stream_init(&again, model_record, &b);
	put_tick(&s, 0, 1);
	made_long_reader(&made);
	say_end(&s); /* one that is over, of before */
	say_witnesses(&s, 0, 3);
	assert_int_equal(restate(&m, &again), 0);
	assert_int_equal(again.bad + again.unknown, 0);
	assert_int_equal(b.holdups.n, 0);
	say_witnesses(&again, 3, made.n);
	say_end(&again);
	assert_int_equal(b.holdups.n, 1);
	assert_int_equal(b.holdups.h[0].nwitness,
			 made.n < HOLDUP_WITNESSES ? made.n : HOLDUP_WITNESSES);
	model_free(&b);
}

static size_t told;

static int on_holdup(void *ctx, const struct model *of, const struct holdup *h)
{
	assert_null(ctx);
	assert_ptr_equal(h, &of->holdups.h[of->holdups.n - 1]);
	told++;
	return told == 3 ? -EPIPE : 0;
}

static void each_is_told_as_it_comes(void **state)
{
	(void)state;
	told = 0;
	m.on_holdup = on_holdup;
	a_wait_of(1, MADE_MS);
	say_end(&s);
	say_end(&s);
	assert_int_equal(stream_record(&s, &made.rec, sizeof(made.rec)), -EPIPE);
	assert_int_equal(told, 3);
}

static void sums(void **state)
{
	const struct scope sc = { .measures = UINT64_MAX };
	const struct holdup **list;
	struct tally t;
	size_t n;

	(void)state;
	for (int i = 0; i < 3; i++) {
		made_long_reader(&made);
		say_witnesses(&s, 0, made.n);
		say_end(&s);
	}
	made_unknown(&made);
	say_end(&s);
	assert_int_equal(tally_make(&t, &m, &sc), 0);
	assert_int_equal(t.n, 2);
	assert_int_equal(t.reports, 4);
	assert_int_equal(t.unknown, 1);
	assert_int_equal(t.row[0].cause, CAUSE_LONG_READER);
	assert_int_equal(t.row[0].count, 3);
	assert_string_equal(t.row[0].comm, "reader");
	assert_string_equal(t.row[0].func, "bpf_prog_0f3b_hold");
	assert_int_equal(t.row[0].max_ns, 306 * MADE_MS);
	free(t.row);
	assert_int_equal(tally_worst(&m, &sc, 2, &list, &n), 0);
	assert_int_equal(n, 2);
	assert_true(holdup_ns(list[0]) >= holdup_ns(list[1]));
	free(list);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(witnesses_come_by_source_and_id),
		TEST(the_first_and_the_last_are_kept),
		TEST(the_shortest_give_way),
		TEST(witnesses_of_all_are_bounded),
		TEST(waits_without_an_end_are_bounded),
		TEST(frames_end_where_they_end),
		TEST(windows),
		TEST(what_goes_on_is_said_again),
		TEST(each_is_told_as_it_comes),
		TEST(sums),
	};

	return cmocka_run_group_tests_name("holdups", tests, NULL, NULL);
}
