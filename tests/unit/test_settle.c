// SPDX-License-Identifier: GPL-2.0-only
/* test_settle.c - what is waited for between the last attach and recording, and when it is past. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../bpf/defer.h"
#include "../../bpf/settle.h"
#include "fixture_kernel.h"
#include "settle.h"

#define TASKS (1u << KD_FL_TASKS | 1u << KD_FL_TASKS_RUDE | 1u << KD_FL_TASKS_TRACE)

/* Of rows that are asked for and on, whichever source they are of. */
static uint32_t flavours_of(unsigned int source, uint32_t flavours)
{
	struct plan_request want = everything();
	struct kernel k = fixture(NULL);
	struct plan p = { 0 };
	uint32_t got;

	want.sources = 1u << source;
	want.flavours = flavours;
	assert_int_equal(plan_resolve(&p, &k, &want), 0);
	for (size_t i = 0; i < p.n; i++)
		p.entry[i].state = PLAN_ON;
	got = settle_flavours(&p);
	for (size_t i = 0; i < p.n; i++)
		p.entry[i].state = PLAN_OFF;
	assert_int_equal(settle_flavours(&p), 0);
	plan_free(&p);
	kernel_free(&k);
	return got;
}

static void test_flavours(void **state)
{
	(void)state;
	assert_int_equal(flavours_of(KD_SRC_CALL_RCU, 1u << KD_FL_RCU), TASKS);
	assert_int_equal(flavours_of(KD_SRC_RCU_GP, 1u << KD_FL_TASKS), TASKS);
	assert_int_equal(flavours_of(KD_SRC_RCU_GP, ~0u), TASKS | 1u << KD_FL_SRCU);
	assert_int_equal(flavours_of(KD_SRC_MEMALLOC, ~0u), TASKS);
	assert_int_equal(flavours_of(KD_SRC_RSTAT, ~0u), 0);
}

static uint32_t answer(uint32_t seq, bool busy)
{
	return (seq & SETTLE_SEQ_MASK) << 1 | (busy ? SETTLE_BUSY : 0);
}

static void test_at_rest(void **state)
{
	struct settle_wait w = { 0 };

	(void)state;
	assert_true(settle_past(&w, SETTLE_ABSENT));
	assert_true(settle_past(&w, answer(40, false)));
	assert_false(w.waited);
	assert_false(settle_past(&w, answer(40, true)));
	assert_false(settle_past(&w, answer(41, true)));
	assert_true(settle_past(&w, answer(44, false)));
	assert_true(w.waited);
}

/* Others hand over all the time: ours are past after some grace periods, over the end of the numbers too. */
static void test_never_at_rest(void **state)
{
	static const uint32_t firsts[] = { 4, 5, SETTLE_SEQ_MASK - 6 };

	(void)state;
	for (size_t i = 0; i < sizeof(firsts) / sizeof(firsts[0]); i++) {
		struct settle_wait w = { 0 };
		uint32_t periods;

		for (periods = 0; periods < 10; periods++)
			if (settle_past(&w, answer(firsts[i] + 4 * periods, true)))
				break;
		assert_int_equal(periods, 4);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flavours),
		cmocka_unit_test(test_at_rest),
		cmocka_unit_test(test_never_at_rest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
