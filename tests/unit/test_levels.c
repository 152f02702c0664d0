// SPDX-License-Identifier: GPL-2.0-only
/* Whole snapshots go in, what changed comes out. */
#include <errno.h>
#include <stdlib.h>

#include "levels.h"
#include "records.h"

#define MS 1000000ULL

struct out {
	struct stream s;
	struct kd_rec_pending r[64];
	size_t n;
	int answer;
};

static int see(void *ctx, const struct kd_rec *rec)
{
	struct out *out = ctx;

	assert_int_equal(rec->kind, KD_REC_PENDING);
	assert_true(out->n < 64);
	memcpy(&out->r[out->n++], rec, sizeof(out->r[0]));
	return out->answer;
}

static struct levels lv;
static struct out out;

static int setup(void **state)
{
	(void)state;
	levels_init(&lv, 16);
	memset(&out, 0, sizeof(out));
	stream_init(&out.s, see, &out);
	forget_log();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	levels_free(&lv);
	return 0;
}

static void take(uint16_t list, uint32_t cpu, uint64_t key, uint64_t length)
{
	const struct kd_rec_pending r = a_list(list, cpu, key, length);

	assert_int_equal(levels_take(&lv, &r, &out.s), 0);
}

static void begin(uint64_t now_ns)
{
	out.n = 0;
	levels_begin(&lv, 0, now_ns);
}

static void end(bool complete)
{
	assert_int_equal(levels_end(&lv, complete, &out.s), 0);
}

static void test_only_changes(void **state)
{
	(void)state;
	begin(MS);
	take(KD_LIST_FREE_LLIST, 0, 7, 96);
	take(KD_LIST_FREE_LLIST, 1, 7, 64);
	end(true);
	assert_int_equal(out.n, 2); /* the first snapshot is the whole state */
	begin(2 * MS);
	take(KD_LIST_FREE_LLIST, 0, 7, 96);
	take(KD_LIST_FREE_LLIST, 1, 7, 65);
	end(true);
	assert_int_equal(out.n, 1);
	assert_int_equal(out.r[0].cpu, 1);
	assert_int_equal(out.r[0].length, 65);
	begin(3 * MS);
	take(KD_LIST_FREE_LLIST, 1, 7, 65);
	take(KD_LIST_FREE_LLIST, 0, 7, 96);
	end(true);
	assert_int_equal(out.n, 0); /* whatever their order */
}

/* Each part of what tells lists apart does. */
static void test_told_apart(void **state)
{
	struct kd_rec_pending r[] = {
		a_list(KD_LIST_FREE_LLIST, 0, 7, 1), a_list(KD_LIST_FREE_BY_RCU, 0, 7, 1),
		a_list(KD_LIST_FREE_LLIST, 1, 7, 1), a_list(KD_LIST_FREE_LLIST, 0, 8, 1),
		a_list(KD_LIST_FREE_LLIST, 0, 7, 1), a_list(KD_LIST_FREE_LLIST, 0, 7, 1),
		a_list(KD_LIST_FREE_LLIST, 0, 7, 1),
	};

	(void)state;
	r[4].unit_size = 128;
	r[5].flavour = KD_FL_SRCU;
	r[6].source = KD_SRC_RSTAT;
	begin(MS);
	for (size_t i = 0; i < 7; i++)
		assert_int_equal(levels_take(&lv, &r[i], &out.s), 0);
	end(true);
	assert_int_equal(out.n, 7);
	begin(2 * MS);
	for (size_t i = 0; i < 7; i++)
		assert_int_equal(levels_take(&lv, &r[i], &out.s), 0);
	end(true);
	assert_int_equal(out.n, 0);
}

static void test_gone(void **state)
{
	(void)state;
	begin(MS);
	take(KD_LIST_FREE_LLIST, 0, 7, 96);
	take(KD_LIST_FREE_LLIST, 1, 7, 64);
	end(true);
	begin(2 * MS);
	take(KD_LIST_FREE_LLIST, 1, 7, 64);
	end(false);
	assert_int_equal(out.n, 0); /* what was not looked for is not gone */
	begin(3 * MS);
	take(KD_LIST_FREE_LLIST, 1, 7, 64);
	end(true);
	assert_int_equal(out.n, 1);
	assert_int_equal(out.r[0].cpu, 0);
	assert_int_equal(out.r[0].length, 0);
	assert_int_equal(out.r[0].bytes, 0);
	assert_true(out.r[0].age_ns == KD_UNKNOWN);
	begin(4 * MS);
	take(KD_LIST_FREE_LLIST, 1, 7, 64);
	end(true);
	assert_int_equal(out.n, 0); /* said once */
	begin(5 * MS);
	take(KD_LIST_FREE_LLIST, 0, 7, 3);
	take(KD_LIST_FREE_LLIST, 1, 7, 64);
	end(true);
	assert_int_equal(out.n, 1); /* and there again */
	assert_int_equal(out.r[0].length, 3);
}

/* A list that was there but empty needs no word when it is not seen any more. */
static void test_empty_goes_silently(void **state)
{
	(void)state;
	begin(MS);
	take(KD_LIST_FREE_LLIST, 0, 7, 0);
	end(true);
	assert_int_equal(out.n, 1);
	begin(2 * MS);
	end(true);
	assert_int_equal(out.n, 0);
}

/* What another lister saw is none of this one's business. */
static void test_owners(void **state)
{
	(void)state;
	begin(MS);
	take(KD_LIST_FREE_LLIST, 0, 7, 96);
	end(true);
	out.n = 0;
	levels_begin(&lv, 1, 2 * MS);
	end(true);
	assert_int_equal(out.n, 0);
	begin(3 * MS);
	end(true);
	assert_int_equal(out.n, 1);
}

static void take_aged(uint64_t age_ns)
{
	struct kd_rec_pending r = a_list(KD_LIST_FREE_BY_RCU, 0, 7, 5);

	r.age_ns = age_ns;
	assert_int_equal(levels_take(&lv, &r, &out.s), 0);
}

static void look_aged(uint64_t now_ns, uint64_t age_ns, size_t said)
{
	begin(now_ns);
	take_aged(age_ns);
	end(true);
	assert_int_equal(out.n, said);
}

/* An entry that only grows older is nothing new; another oldest entry is. */
static void test_ages(void **state)
{
	(void)state;
	look_aged(1000 * MS, 500 * MS, 1);
	look_aged(2000 * MS, 1500 * MS, 0);
	look_aged(60000 * MS, 59530 * MS, 0);
	look_aged(61000 * MS, 100 * MS, 1);
	look_aged(62000 * MS, KD_UNKNOWN, 1);
	look_aged(63000 * MS, KD_UNKNOWN, 0);
	look_aged(64000 * MS, 64000 * MS, 1);
}

static void test_flags_are_news(void **state)
{
	struct kd_rec_pending r = a_list(KD_LIST_FREE_LLIST, 0, 7, 1024);

	(void)state;
	begin(MS);
	assert_int_equal(levels_take(&lv, &r, &out.s), 0);
	end(true);
	begin(2 * MS);
	r.flags |= KD_PENDING_TRUNCATED;
	assert_int_equal(levels_take(&lv, &r, &out.s), 0);
	end(true);
	assert_int_equal(out.n, 1);
	assert_int_equal(out.r[0].flags, KD_PENDING_EXACT | KD_PENDING_TRUNCATED);
}

/* A full table says how much it left out, keeps what it has, and has room again when lists are gone. */
static void test_bound(void **state)
{
	(void)state;
	begin(MS);
	for (uint32_t cpu = 0; cpu < 20; cpu++)
		take(KD_LIST_FREE_LLIST, cpu, 7, 1 + cpu);
	end(true);
	assert_int_equal(out.n, 16);
	assert_int_equal(lv.refused[KD_SRC_MEMALLOC], 4);
	begin(2 * MS);
	for (uint32_t cpu = 10; cpu < 20; cpu++)
		take(KD_LIST_FREE_LLIST, cpu, 7, 1 + cpu);
	end(true);
	assert_int_equal(lv.refused[KD_SRC_MEMALLOC], 8);
	assert_int_equal(out.n, 10); /* gone */
	begin(3 * MS);
	for (uint32_t cpu = 10; cpu < 20; cpu++)
		take(KD_LIST_FREE_LLIST, cpu, 7, 1 + cpu);
	end(true);
	assert_int_equal(lv.refused[KD_SRC_MEMALLOC], 8);
	assert_int_equal(out.n, 4);
}

/* Against a model that keeps everything: what the stream says is at every tick what the snapshot held. */
static void test_random(void **state)
{
	uint64_t seed = 88172645463325252ull, held[16] = { 0 }, truth[16];

	(void)state;
	for (int round = 0; round < 2000; round++) {
		begin(MS * (uint64_t)round);
		memset(truth, 0, sizeof(truth));
		for (uint32_t i = 0; i < 16; i++) {
			truth[i] = below(&seed, 3) ? 0 : below(&seed, 3);
			if (truth[i])
				take(KD_LIST_WAITING_FOR_GP, i, i % 3, truth[i]);
		}
		end(true);
		for (size_t i = 0; i < out.n; i++)
			held[out.r[i].cpu] = out.r[i].length;
		assert_memory_equal(held, truth, sizeof(held));
	}
	assert_int_equal(lv.refused[KD_SRC_MEMALLOC], 0);
}

/* What the sink says ends the look, and nothing is left undone behind it. */
static void test_sink_fails(void **state)
{
	(void)state;
	begin(MS);
	take(KD_LIST_FREE_LLIST, 0, 7, 96);
	end(true);
	begin(2 * MS);
	out.answer = -EPIPE;
	assert_int_equal(levels_end(&lv, true, &out.s), -EPIPE);
	out.answer = 0;
	begin(3 * MS);
	end(true);
	assert_int_equal(out.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_only_changes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_told_apart, setup, teardown),
		cmocka_unit_test_setup_teardown(test_gone, setup, teardown),
		cmocka_unit_test_setup_teardown(test_empty_goes_silently, setup, teardown),
		cmocka_unit_test_setup_teardown(test_owners, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ages, setup, teardown),
		cmocka_unit_test_setup_teardown(test_flags_are_news, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bound, setup, teardown),
		cmocka_unit_test_setup_teardown(test_random, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sink_fails, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
