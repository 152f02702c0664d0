// SPDX-License-Identifier: GPL-2.0-only
/* Which grace periods can be explained, on kernels that have, or lack, what it takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <errno.h>

#include <cmocka.h>

#include "fixture_kernel.h"
#include "plan.h"

#define TASKS "rcu_tasks_wait_gp rcu_tasks_postscan check_all_holdout_tasks rcu_sched_clock_irq"
#define TRACE "rcu_tasks_wait_gp check_all_holdout_tasks_trace rcu_sched_clock_irq"
#define SRCU "srcu_gp_start process_srcu"

/* Functions, space separated, and a structure with two fields. */
struct made {
	const char *functions, *type, *field[2];
};

static struct kernel kernel_of(const struct made *m)
{
	struct kernel k = fixture(NULL);
	int proto = btf__add_func_proto(k.btf, 0), u64 = btf__find_by_name(k.btf, "long");
	const char *names = m->functions;
	char name[64];
	int n;

	for (; sscanf(names, " %63s%n", name, &n) == 1; names += n) {
		btf__add_func(k.btf, name, BTF_FUNC_GLOBAL, proto);
		name_set_add(k.text, name);
	}
	btf__add_struct(k.btf, "rcu_tasks", 8);
	btf__add_field(k.btf, "name", u64, 0, 0);
	btf__add_struct(k.btf, m->type, 16);
	btf__add_field(k.btf, m->field[0], u64, 0, 0);
	if (m->field[1])
		btf__add_field(k.btf, m->field[1], u64, 64, 0);
	name_set_seal(k.text);
	return k;
}

static struct plan plan_of(const struct kernel *k)
{
	struct plan_request want = everything();
	struct plan p;

	want.measures = 1ULL << KD_M_RCU_GP_HOLDUP;
	assert_int_equal(plan_resolve(&p, k, &want), 0);
	return p;
}

static const struct plan_entry *row(const struct plan *p, unsigned int flavour)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->entry[i].measure->flavour == flavour)
			return &p->entry[i];
	fail_msg("no row of flavour %u", flavour);
	return NULL;
}

static bool uses(const struct plan_entry *e, const char *program)
{
	for (int i = 0; e->way && e->way->hooks[i].program; i++)
		if ((e->hooks >> i & 1) && !strcmp(e->way->hooks[i].program, program))
			return true;
	return false;
}

/* The list of holdouts is what tells for whom it waits: without the scan there is nothing to tell. */
static void test_tasks(void **state)
{
	static const struct made all = { TASKS, "task_struct", { "rcu_tasks_holdout_list" } };
	static const struct made no_scan = { "rcu_tasks_wait_gp rcu_sched_clock_irq",
					     "task_struct",
					     { "rcu_tasks_holdout_list" } };
	struct kernel k = kernel_of(&all);
	struct plan p = plan_of(&k);

	(void)state;
	assert_int_equal(row(&p, KD_FL_TASKS)->state, PLAN_EXPECTED);
	assert_true(uses(row(&p, KD_FL_TASKS), "hg_holdouts_in"));
	assert_true(uses(row(&p, KD_FL_TASKS), "hg_tasks_waiting"));
	assert_false(uses(row(&p, KD_FL_TASKS), "hg_tasks_sync_in")); /* not in this kernel */
	assert_int_equal(row(&p, KD_FL_TASKS_TRACE)->state, PLAN_OFF);
	plan_free(&p);
	kernel_free(&k);
	k = kernel_of(&no_scan);
	p = plan_of(&k);
	assert_int_equal(row(&p, KD_FL_TASKS)->state, PLAN_OFF);
	assert_non_null(strstr(row(&p, KD_FL_TASKS)->reason, "check_all_holdout_tasks"));
	plan_free(&p);
	kernel_free(&k);
}

static void test_trace_of_its_own(void **state)
{
	static const struct made own = { TRACE, "task_struct", { "trc_holdout_list" } };
	struct kernel k = kernel_of(&own);
	struct plan p = plan_of(&k);

	(void)state;
	assert_int_equal(row(&p, KD_FL_TASKS_TRACE)->state, PLAN_EXPECTED);
	assert_true(uses(row(&p, KD_FL_TASKS_TRACE), "hg_trace_holdouts_in"));
	assert_false(uses(row(&p, KD_FL_TASKS_TRACE), "hg_srcu_in"));
	plan_free(&p);
	kernel_free(&k);
}

/* What cannot be told is said, not left to be guessed. */
static void test_nobody_notes(void **state)
{
	static const struct made old = { SRCU " rcu_tasks_rude_wait_gp",
					 "srcu_struct",
					 { "srcu_gp_seq", "srcu_last_gp_end" } };
	struct kernel k = kernel_of(&old);
	struct plan p = plan_of(&k);
	static const uint8_t flavours[] = { KD_FL_SRCU, KD_FL_TASKS_RUDE };

	(void)state;
	for (size_t i = 0; i < sizeof(flavours); i++) {
		assert_int_equal(row(&p, flavours[i])->state, PLAN_EXPECTED);
		assert_non_null(strstr(row(&p, flavours[i])->reason, "does not show"));
	}
	plan_free(&p);
	kernel_free(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tasks),
		cmocka_unit_test(test_trace_of_its_own),
		cmocka_unit_test(test_nobody_notes),
	};

	return cmocka_run_group_tests_name("plan_holdup", tests, NULL, NULL);
}
