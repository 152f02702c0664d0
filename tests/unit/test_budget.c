// SPDX-License-Identifier: GPL-2.0-only
/* --budget: which share is followed, from what our programs took of each CPU. */
#include "budget.h"
#include "records.h"

#define CALM 6 /* looks */

static struct budget b;

static int setup(void **state)
{
	(void)state;
	b = (struct budget){ .share = 0.01 };
	return 0;
}

/* Looks at the same load again and again. */
static unsigned int looks(int n, const struct budget_cpu *c, size_t cpus)
{
	unsigned int shift = b.shift;

	while (n-- > 0)
		shift = budget_next(&b, c, cpus);
	return shift;
}

static void within_the_budget_all_are_followed(void **state)
{
	static const struct budget_cpu c[] = { { 0.002, 0.0079, 0.001 }, { 0, 0.009, 0 } };
	static const struct budget_cpu none[1];

	(void)state;
	assert_int_equal(looks(20, c, 2), 0);
	assert_int_equal(looks(20, none, 1), 0);
	assert_int_equal(looks(1, NULL, 0), 0);
}

static void fewer_at_once_and_as_many_as_it_allows(void **state)
{
	/* 2.5% for all: half takes 1.25%, a quarter 0.625%. */
	static const struct budget_cpu c[] = { { 0, 0.025, 0 } };

	(void)state;
	assert_int_equal(looks(1, c, 1), 2);
	assert_int_equal(looks(20, c, 1), 2);
}

static void the_busiest_cpu_decides(void **state)
{
	static const struct budget_cpu c[] = { { 0, 0.001, 0 },
					       { 0.001, 0.1, 0.001 },
					       { 0, 0, 0 } };
	size_t cpu;

	(void)state;
	assert_float_equal(budget_share(c, 3, 0, &cpu), 0.101, 1e-9);
	assert_int_equal(cpu, 1);
	/* What is fixed, and what leaving out costs, is taken off first: 0.001 + 0.00625 + 0.00094. */
	assert_int_equal(looks(1, c, 3), 4);
	assert_float_equal(budget_share(c, 3, 4, NULL), 0.001 + 0.1 / 16 + 0.001 * 15 / 16, 1e-9);
}

static void more_only_when_it_stays_calm(void **state)
{
	static const struct budget_cpu flood[] = { { 0, 0.08, 0 } }, calm[] = { { 0, 0.001, 0 } };

	(void)state;
	assert_int_equal(looks(1, flood, 1), 3);
	assert_int_equal(looks(CALM - 1, calm, 1), 3);
	assert_int_equal(looks(1, flood, 1), 3); /* it was none */
	assert_int_equal(looks(CALM - 1, calm, 1), 3);
	assert_int_equal(looks(1, calm, 1), 0);
}

static void more_only_with_room_to_spare(void **state)
{
	/* A quarter of 0.038 is 0.95%: within the budget, but the next look might find it passed. */
	static const struct budget_cpu flood[] = { { 0, 0.06, 0 } }, less[] = { { 0, 0.038, 0 } };
	static const struct budget_cpu fewer[] = { { 0, 0.025, 0 } };

	(void)state;
	assert_int_equal(looks(1, flood, 1), 3);
	assert_int_equal(looks(50, less, 1), 3);
	assert_int_equal(looks(CALM, fewer, 1), 2); /* 0.625% */
}

/* A load that comes and goes with every look is not followed in its turns. */
static void it_does_not_swing(void **state)
{
	static const struct budget_cpu flood[] = { { 0, 0.08, 0 } }, calm[] = { { 0, 0, 0 } };
	unsigned int changes = 0, was = 0, now;

	(void)state;
	for (int i = 0; i < 100; i++) {
		now = budget_next(&b, i & 1 ? calm : flood, 1);
		changes += now != was;
		was = now;
	}
	assert_int_equal(changes, 1);
}

/* Where calling our programs alone takes more, no more is given up than is gained by it. */
static void what_cannot_be_kept(void **state)
{
	static const struct budget_cpu c[] = { { 0, 0.15, 0.03 } };
	static const struct budget_cpu fixed[] = { { 0.05, 0, 0 } };
	static const struct budget_cpu beside[] = { { 0.5, 0, 0 }, { 0, 0.08, 0 } };
	unsigned int shift = looks(20, c, 1);

	(void)state;
	assert_in_range(shift, 1, BUDGET_SHIFT_MOST - 1);
	assert_true(budget_share(c, 1, shift, NULL) <=
		    1.1 * budget_share(c, 1, BUDGET_SHIFT_MOST, NULL));
	b.shift = 0;
	assert_int_equal(looks(20, fixed, 1), 0); /* nothing would be gained */
	assert_int_equal(looks(1, beside, 2), 3); /* but on the other CPU */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(within_the_budget_all_are_followed, setup),
		cmocka_unit_test_setup(fewer_at_once_and_as_many_as_it_allows, setup),
		cmocka_unit_test_setup(the_busiest_cpu_decides, setup),
		cmocka_unit_test_setup(more_only_when_it_stays_calm, setup),
		cmocka_unit_test_setup(more_only_with_room_to_spare, setup),
		cmocka_unit_test_setup(it_does_not_swing, setup),
		cmocka_unit_test_setup(what_cannot_be_kept, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
