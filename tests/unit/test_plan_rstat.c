// SPDX-License-Identifier: GPL-2.0-only
/* How flushes of cgroup statistics are measured on kernels that have, or lack, functions and tracepoints. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <errno.h>

#include <cmocka.h>

#include "fixture_kernel.h"
#include "plan.h"

/* What a kernel is made of besides the fixture, space separated: functions, tracepoints, a type. */
struct made {
	const char *functions, *tracepoints, *type;
};

#define INTERRUPTED " irq_handler_entry irq_handler_exit softirq_entry softirq_exit sched_switch"

static const struct made by_subsys = {
	"css_rstat_flush bpf_rstat_flush mem_cgroup_css_rstat_flush blkcg_rstat_flush",
	"cgroup_rstat_lock_contended cgroup_rstat_locked cgroup_rstat_unlock" INTERRUPTED,
	"css_rstat_cpu",
};
static const struct made with_tracepoints = {
	"cgroup_rstat_flush cgroup_rstat_flush_hold cgroup_rstat_flush_locked bpf_rstat_flush",
	"cgroup_rstat_lock_contended cgroup_rstat_locked cgroup_rstat_unlock",
	"cgroup_rstat_cpu",
};
static const struct made irqsafe = {
	"cgroup_rstat_flush cgroup_rstat_flush_hold cgroup_rstat_flush_irqsafe "
	"cgroup_rstat_flush_locked bpf_rstat_flush rcu_sched_clock_irq",
	INTERRUPTED,
	"cgroup_rstat_cpu",
};
static const struct made neither = {
	"cgroup_rstat_flush cgroup_rstat_flush_hold cgroup_rstat_flush_locked bpf_rstat_flush",
	"",
	"cgroup_rstat_cpu",
};
static const struct made nothing = { "", "", "cgroup_rstat_cpu" };

static void add_each(struct kernel *k, const char *names, bool tracepoints)
{
	int proto = btf__add_func_proto(k->btf, 0);
	char name[64], typedefd[96];
	int n;

	for (; sscanf(names, " %63s%n", name, &n) == 1; names += n) {
		snprintf(typedefd, sizeof(typedefd), "btf_trace_%s", name);
		if (tracepoints) {
			btf__add_typedef(k->btf, typedefd, proto);
			continue;
		}
		btf__add_func(k->btf, name, BTF_FUNC_GLOBAL, proto);
		name_set_add(k->text, name);
	}
}

static struct kernel kernel_of(const struct made *m)
{
	struct kernel k = fixture(NULL);

	add_each(&k, m->functions, false);
	add_each(&k, m->tracepoints, true);
	btf__add_struct(k.btf, m->type, 16);
	btf__add_field(k.btf, "updated_next", btf__find_by_name(k.btf, "long"), 0, 0);
	name_set_seal(k.text);
	return k;
}

static struct plan plan_of(const struct kernel *k)
{
	struct plan_request want = everything();
	struct plan p;

	want.sources = 1u << KD_SRC_RSTAT;
	assert_int_equal(plan_resolve(&p, k, &want), 0);
	return p;
}

static const struct plan_entry *row(const struct plan *p, unsigned int measure)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->entry[i].measure->measure == measure)
			return &p->entry[i];
	fail_msg("no row of measure %u", measure);
	return NULL;
}

static void assert_way(const struct plan *p, unsigned int measure, enum backend backend,
		       const char *program, const char *said)
{
	const struct plan_entry *e = row(p, measure);
	bool found = false;

	assert_int_equal(e->state, PLAN_EXPECTED);
	assert_int_equal(e->way->backend, backend);
	for (int i = 0; e->way->hooks[i].program; i++)
		found |= (e->hooks >> i & 1) && !strcmp(e->way->hooks[i].program, program);
	assert_true(found);
	if (!strstr(e->reason, said) || (!*said && *e->reason))
		fail_msg("\"%s\" does not say \"%s\"", e->reason, said);
}

static void test_by_subsys(void **state)
{
	struct kernel k = kernel_of(&by_subsys);
	struct plan p = plan_of(&k);

	(void)state;
	assert_way(&p, KD_M_RSTAT_FLUSH, BACKEND_FENTRY, "rs_css_in", "");
	assert_way(&p, KD_M_RSTAT_WAIT, BACKEND_TP_BTF, "rs_wait_in", "");
	assert_way(&p, KD_M_RSTAT_HOLD, BACKEND_TP_BTF, "rs_hold_out", "");
	assert_way(&p, KD_M_RSTAT_WORK, BACKEND_FENTRY, "rs_hold_in", "");
	assert_way(&p, KD_M_RSTAT_CGROUPS, BACKEND_FENTRY, "rs_visit_memory", "each CPU");
	assert_way(&p, KD_M_RSTAT_BLAME, BACKEND_TP_BTF, "rs_hold_in", "");
	assert_way(&p, KD_M_RSTAT_HELD, BACKEND_TP_BTF, "rs_hold_in", "");
	assert_way(&p, KD_M_RSTAT_IRQS, BACKEND_TP_BTF, "rs_softirq_on", "");
	assert_way(&p, KD_M_RSTAT_OFF_CPU, BACKEND_TP_BTF, "rs_switch", "");
	assert_way(&p, KD_M_RSTAT_FLUSH_BY_8, BACKEND_TP_BTF, "rs_switch", "");
	plan_free(&p);
	kernel_free(&k);
}

/* Where function hooks are refused the tracepoints give what they can, and say that it is a bound. */
static void test_refused(void **state)
{
	struct kernel k = kernel_of(&by_subsys);
	struct plan p;

	(void)state;
	k.fentry = NO;
	k.fentry_err = EPERM;
	p = plan_of(&k);
	assert_way(&p, KD_M_RSTAT_FLUSH, BACKEND_TP_BTF, "rs_hold_out", "a lower bound");
	assert_way(&p, KD_M_RSTAT_WORK, BACKEND_TP_BTF, "rs_hold_out", "a lower bound");
	assert_way(&p, KD_M_RSTAT_HOLD, BACKEND_TP_BTF, "rs_hold_out", "");
	assert_int_equal(row(&p, KD_M_RSTAT_CGROUPS)->state, PLAN_OFF);
	assert_non_null(strstr(row(&p, KD_M_RSTAT_CGROUPS)->reason, "refuses fentry programs"));
	plan_free(&p);
	kernel_free(&k);
}

static void test_one_lock(void **state)
{
	struct kernel k = kernel_of(&with_tracepoints);
	struct plan p = plan_of(&k);

	(void)state;
	assert_way(&p, KD_M_RSTAT_FLUSH, BACKEND_FENTRY, "rs_flush_in", "");
	assert_way(&p, KD_M_RSTAT_WAIT, BACKEND_TP_BTF, "rs_wait_in", "");
	assert_way(&p, KD_M_RSTAT_WORK, BACKEND_FENTRY, "rs_wait_in", "");
	plan_free(&p);
	kernel_free(&k);
}

static void test_no_tracepoints(void **state)
{
	struct kernel k = kernel_of(&irqsafe);
	struct plan p = plan_of(&k);

	(void)state;
	assert_way(&p, KD_M_RSTAT_FLUSH, BACKEND_FENTRY, "rs_irqsafe_in", "");
	assert_way(&p, KD_M_RSTAT_HOLD, BACKEND_FENTRY, "rs_tick", "else bounds");
	assert_way(&p, KD_M_RSTAT_WAIT, BACKEND_FENTRY, "rs_body_in", "the first wait");
	assert_way(&p, KD_M_RSTAT_BLAME, BACKEND_FENTRY, "rs_body_in", "an upper bound");
	assert_way(&p, KD_M_RSTAT_IRQS, BACKEND_FENTRY, "rs_irq_on", "");
	assert_way(&p, KD_M_RSTAT_OFF_CPU, BACKEND_FENTRY, "rs_switch", "");
	assert_int_equal(row(&p, KD_M_RSTAT_HELD)->state, PLAN_OFF);
	assert_non_null(strstr(row(&p, KD_M_RSTAT_HELD)->reason, "cgroup_rstat_lock"));
	plan_free(&p);
	kernel_free(&k);
}

static void test_untried(void **state)
{
	struct kernel k = kernel_of(&neither);
	struct plan p = plan_of(&k);

	(void)state;
	assert_way(&p, KD_M_RSTAT_FLUSH, BACKEND_FENTRY, "rs_flush_in", "");
	assert_way(&p, KD_M_RSTAT_HOLD, BACKEND_FENTRY, "rs_body_in", "not tried");
	plan_free(&p);
	kernel_free(&k);
}

static void test_nothing(void **state)
{
	struct kernel k = kernel_of(&nothing);
	struct plan p = plan_of(&k);

	(void)state;
	for (size_t i = 0; i < p.n; i++)
		if (p.entry[i].measure->measure != KD_M_RSTAT_PENDING) {
			assert_int_equal(p.entry[i].state, PLAN_OFF);
			assert_true(*p.entry[i].reason);
		}
	plan_free(&p);
	kernel_free(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_subsys), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_one_lock),  cmocka_unit_test(test_no_tracepoints),
		cmocka_unit_test(test_untried),   cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests_name("plan_rstat", tests, NULL, NULL);
}
