// SPDX-License-Identifier: GPL-2.0-only
/* Callers that the trampolines of our own hooks hide. */
#include <string.h>

#include "own_callers.h"
#include "records.h"

#define GP_ID 21905U /* 0x180005591: object 1, the kernel, and this function */

static const struct own_callers hooked = { .n = 2,
					   .btf_id = { 17, GP_ID },
					   .function = { "synchronize_rcu", "rcu_tasks_wait_gp" } };

static void expect_series(const char *name, const char *expected)
{
	struct kd_rec_series r = { .rec = { .kind = KD_REC_SERIES, .len = sizeof(r) },
				   .source = KD_SRC_RCU_GP,
				   .dim = KD_DIM_MAIN,
				   .key = { 1, 2 } };
	union own_callers_buf buf;
	const struct kd_rec_series *out;

	strcpy(r.name, name);
	out = own_callers_name(&hooked, &r, sizeof(r), &buf);
	assert_string_equal(out->name, expected);
	assert_int_equal(out->key[1], 2);
	assert_int_equal(out->rec.len, sizeof(r));
}

static void expect_caller(enum kd_wait what, const char *name, const char *expected)
{
	struct kd_rec_holdup r = { .rec = { .kind = KD_REC_HOLDUP, .len = sizeof(r) },
				   .what = what,
				   .pid = 7 };
	union own_callers_buf buf;
	const struct kd_rec_holdup *out;

	strcpy(r.name, name);
	out = own_callers_name(&hooked, &r, sizeof(r), &buf);
	assert_string_equal(out->name, expected);
	assert_int_equal(out->pid, 7);
}

static void test_named(void **state)
{
	(void)state;
	expect_series("bpf_trampoline_6442472849", "rcu_tasks_wait_gp");
	/* As kernels before 6.6 have it, and with the module that the kernel takes it for. */
	expect_series("bpf_trampoline_6442472849_0 [bpf]", "rcu_tasks_wait_gp");
	expect_caller(KD_WAIT_CALLER, "bpf_trampoline_6442472849", "rcu_tasks_wait_gp");
}

static void test_kept(void **state)
{
	(void)state;
	expect_series("rcu_barrier", "rcu_barrier");
	expect_series("", "");
	/* Another tracer's; another program's, whatever its number; no number. */
	expect_series("bpf_trampoline_6442472850", "bpf_trampoline_6442472850");
	expect_series("bpf_trampoline_4294989201", "bpf_trampoline_4294989201");
	expect_series("bpf_trampoline_", "bpf_trampoline_");
	expect_caller(KD_WAIT_GP, "bpf_trampoline_6442472849", "bpf_trampoline_6442472849");
}

static void test_other_records(void **state)
{
	struct kd_rec_hist r = { .rec = { .kind = KD_REC_HIST, .len = sizeof(r) } };
	union own_callers_buf buf;

	(void)state;
	assert_ptr_equal(own_callers_name(&hooked, &r, sizeof(r), &buf), &r);
}

static void test_full(void **state)
{
	struct own_callers c = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 2 * OWN_CALLERS_MAX; i++)
		own_callers_add(&c, i, "f");
	assert_int_equal(c.n, OWN_CALLERS_MAX);
	own_callers_add_program(&c, -1, "no program");
	assert_int_equal(c.n, OWN_CALLERS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_named),
		cmocka_unit_test(test_kept),
		cmocka_unit_test(test_other_records),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
