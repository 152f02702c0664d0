// SPDX-License-Identifier: GPL-2.0-only
/* test_plan.c - the plan against fixture kernels: what is chosen, and the reason for what is not. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/btf.h>
#include <cmocka.h>

#include "cpus.h"
#include "fixture_kernel.h"
#include "catalog.h"
#include "kernel.h"
#include "model.h"
#include "plan.h"
#include "stream.h"

static struct plan resolve(const struct kernel *k)
{
	struct plan_request want = everything();
	struct plan p;

	assert_int_equal(plan_resolve(&p, k, &want), 0);
	assert_int_equal(p.n, plan_table_len);
	return p;
}

static void test_whole_kernel(void **state)
{
	struct kernel k = fixture(NULL);
	struct plan p = resolve(&k);
	char hooks[512];

	(void)state;
	assert_int_equal(p.entry[0].state, PLAN_EXPECTED);
	assert_int_equal(p.entry[0].way->backend, BACKEND_FENTRY);
	assert_string_equal(p.entry[0].reason, "");
	plan_hooks(&p.entry[0], hooks, sizeof(hooks));
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		assert_non_null(strstr(hooks, functions[i]));
	plan_free(&p);
	kernel_free(&k);
}

/* A hook that only serves a case which this kernel does not have is no lack. */
static void test_no_lazy_callbacks(void **state)
{
	struct kernel k = fixture("__call_rcu_common lazy_len");
	struct plan p = resolve(&k);

	(void)state;
	assert_int_equal(p.entry[0].state, PLAN_EXPECTED);
	assert_string_equal(p.entry[0].reason, "");
	plan_free(&p);
	kernel_free(&k);
}

static void test_optional_hook_missing(void **state)
{
	struct kernel k = fixture("rcutree_migrate_callbacks");
	struct plan p = resolve(&k);
	char hooks[512];

	(void)state;
	assert_int_equal(p.entry[0].state, PLAN_EXPECTED);
	assert_string_equal(p.entry[0].reason,
			    "without following callbacks of a CPU that goes offline");
	plan_hooks(&p.entry[0], hooks, sizeof(hooks));
	assert_null(strstr(hooks, "rcutree_migrate_callbacks"));
	plan_free(&p);
	kernel_free(&k);
}

/* What is changed on a whole kernel, and what must then be said. */
struct refusal {
	const char *name;
	const char *without;
	void (*change)(struct kernel *k);
	const char *reason; /* a part of it */
	const char *fix;
};

static void no_caps(struct kernel *k)
{
	k->caps = 0;
	k->root = false;
}

static void no_perfmon(struct kernel *k)
{
	k->caps = 1ULL << KERNEL_CAP_BPF;
	k->root = false;
}

static void no_btf(struct kernel *k)
{
	btf__free(k->btf);
	k->btf = NULL;
	k->btf_err = -ENOENT;
}

static void ftrace_off(struct kernel *k)
{
	k->ftrace_enabled = NO;
}

static void refused(struct kernel *k)
{
	k->fentry = NO;
	k->fentry_err = EPERM;
}

static void locked_down(struct kernel *k)
{
	refused(k);
	k->lockdown_confidentiality = YES;
}

static void no_trampolines(struct kernel *k)
{
	k->fentry = NO;
	k->fentry_err = EINVAL;
}

/* The helper is hidden then, and looks like one that the kernel does not know. */
static void cannot_read(struct kernel *k)
{
	k->read_kernel = NO;
	k->read_kernel_err = EINVAL;
	k->lockdown_integrity = k->lockdown_confidentiality = YES;
}

static void reading_refused(struct kernel *k)
{
	k->read_kernel = NO;
	k->read_kernel_err = EPERM;
	snprintf(k->lsm, sizeof(k->lsm), "capability,tomoyo");
}

/* Lockdown for integrity alone forbids nothing of ours: another one said no. */
static void integrity_only(struct kernel *k)
{
	refused(k);
	k->lockdown_integrity = YES;
	k->lockdown_confidentiality = NO;
}

static void in_container(struct kernel *k)
{
	refused(k);
	k->user_namespace = true;
}

static void overdue(struct kernel *k)
{
	k->tasks_gp = YES;
	k->tasks_gp_ns = 10200000000ULL;
	k->tasks_gp_overdue = true;
}

static void root_without_rights(struct kernel *k)
{
	k->caps = 0;
}

static void unreadable_btf(struct kernel *k)
{
	no_btf(k);
	k->btf_err = -EACCES;
}

static void suffixed_only(struct kernel *k)
{
	name_set_free(k->text);
	k->text = name_set_new();
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		name_set_add(k->text, strcmp(functions[i], "rcu_cblist_dequeue")
					      ? functions[i]
					      : "rcu_cblist_dequeue.part.0");
	name_set_seal(k->text);
}

static void notrace(struct kernel *k)
{
	k->traceable = name_set_new();
	name_set_add(k->traceable, "rcu_segcblist_enqueue");
	name_set_seal(k->traceable);
}

static void suffixed(struct kernel *k)
{
	name_set_add(k->text, "rcu_cblist_dequeue.isra.0");
	name_set_seal(k->text);
}

/* Its numbers of helpers end before ours. */
static void no_loops(struct kernel *k)
{
	btf__add_enum(k->btf, "bpf_func_id", 4);
	btf__add_enum_value(k->btf, "BPF_FUNC_map_lookup_elem", 1);
	no_trampolines(k);
}

static void no_fentry_type(struct kernel *k)
{
	btf__add_enum(k->btf, "bpf_func_id", 4);
	btf__add_enum_value(k->btf, "BPF_FUNC_loop", 181);
	btf__add_enum(k->btf, "bpf_attach_type", 4);
	btf__add_enum_value(k->btf, "BPF_TRACE_RAW_TP", 23);
	no_trampolines(k);
}

static const struct refusal refusals[] = {
	{ "old kernel", NULL, no_loops, "this kernel is too old: its BPF has no bpf_loop()",
	  "Linux 5.17 or newer" },
	{ "older kernel", NULL, no_fentry_type,
	  "this kernel is too old: its BPF has no fentry programs", "Linux 5.5 or newer" },
	{ "no capability", NULL, no_caps, "CAP_BPF and CAP_PERFMON missing: not root",
	  "run it as root" },
	{ "one capability", NULL, no_perfmon, "CAP_PERFMON missing: not root", "run it as root" },
	{ "no BTF", NULL, no_btf, "shows no BTF", "CONFIG_DEBUG_INFO_BTF=y" },
	{ "ftrace off", NULL, ftrace_off, "function tracing is switched off",
	  "kernel.ftrace_enabled=1" },
	{ "root without rights", NULL, root_without_rights, "CAP_BPF and CAP_PERFMON missing",
	  "give this root" },
	{ "unreadable BTF", NULL, unreadable_btf, "no right to read the kernel's BTF", "readable" },
	{ "policy", NULL, refused, "a security module or policy says no", "allow them" },
	{ "policy, integrity", NULL, integrity_only, "a security module or policy says no",
	  "allow them" },
	{ "lockdown, reading", NULL, cannot_read,
	  "lockdown (confidentiality) refuses programs that read kernel "
	  "memory",
	  "boot without lockdown" },
	{ "policy, reading", NULL, reading_refused, "(at work: capability,tomoyo)", "allow them" },
	{ "container", NULL, in_container, "capabilities of a user namespace do not count",
	  "outside" },
	{ "overdue", NULL, overdue, "a Tasks RCU grace period has been held up for 10.2 s",
	  "end the task" },
	{ "suffixed, in BTF", NULL, suffixed_only, "(rcu_cblist_dequeue.part.0)", "" },
	{ "lockdown", NULL, locked_down, "lockdown (confidentiality)", "boot without lockdown" },
	{ "no trampolines", NULL, no_trampolines, "refuses fentry programs",
	  "CONFIG_FUNCTION_TRACER=y" },
	{ "absent", "rcu_cblist_dequeue", NULL,
	  "no function rcu_cblist_dequeue (absent, or inlined)", "" },
	{ "suffixed", "rcu_cblist_dequeue", suffixed, "(rcu_cblist_dequeue.isra.0)", "" },
	{ "notrace", NULL, notrace, "rcu_cblist_dequeue cannot be traced", "" },
	{ "field", "n_cbs_invoked", NULL, "struct rcu_data has no field n_cbs_invoked", "" },
	{ "per-CPU data", "percpu:rcu_data", NULL, "no per-CPU variable rcu_data", "" },
	{ "no way to per-CPU data", "percpu:runqueues", NULL,
	  "BTF does not say where per-CPU data is", "" },
	{ "no group scheduling, no symbols", "cfs_rq", NULL, "rcu_data cannot be found",
	  "CONFIG_KALLSYMS_ALL=y" },
};

/* What is read as state may be had all the same. */
static bool any_hooked(const struct plan *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->entry[i].state != PLAN_OFF &&
		    !measure_info(p->entry[i].measure->measure)->pending)
			return true;
	return false;
}

static void test_refusals(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		struct kernel k = fixture(refusals[i].without);
		struct plan p;

		if (refusals[i].change)
			refusals[i].change(&k);
		p = resolve(&k);
		if (p.entry[0].state != PLAN_OFF ||
		    !strstr(p.entry[0].reason, refusals[i].reason) ||
		    !strstr(p.entry[0].fix, refusals[i].fix))
			fail_msg("%s: state %d, \"%s\", fix \"%s\"", refusals[i].name,
				 p.entry[0].state, p.entry[0].reason, p.entry[0].fix);
		assert_false(any_hooked(&p));
		plan_free(&p);
		kernel_free(&k);
	}
}

/* Of two ways to per-CPU data one is enough; symbols of data are not needed where the other is. */
static void test_percpu_ways(void **state)
{
	static const char *const symbols[] = { "runqueues", "__per_cpu_offset" };
	struct kernel k = fixture("cfs_rq");
	struct plan p;

	(void)state;
	for (size_t i = 0; i < 2; i++)
		name_set_add(k.data, symbols[i]);
	name_set_seal(k.data);
	p = resolve(&k);
	assert_int_equal(p.entry[0].state, PLAN_EXPECTED);
	plan_free(&p);
	kernel_free(&k);
	k = fixture("symbol:rcu_data");
	p = resolve(&k);
	assert_int_equal(p.entry[0].state, PLAN_EXPECTED);
	assert_int_equal(kernel_percpu_at(&k, "rcu_data") - kernel_percpu_at(&k, "runqueues"), 64);
	plan_free(&p);
	kernel_free(&k);
}

static void test_backends_not_allowed(void **state)
{
	struct kernel k = fixture(NULL);
	struct plan_request want = everything();
	struct plan p;

	(void)state;
	want.backends = 1u << BACKEND_STATE | 1u << BACKEND_TP_BTF;
	assert_int_equal(plan_resolve(&p, &k, &want), 0);
	assert_int_equal(p.entry[0].state, PLAN_OFF);
	assert_string_equal(p.entry[0].reason, "none of the backends allowed can give it");
	plan_free(&p);
	want = everything();
	want.sources = 1u << KD_SRC_RSTAT;
	assert_int_equal(plan_resolve(&p, &k, &want), 0);
	for (size_t i = 0; i < p.n; i++)
		assert_int_equal(p.entry[i].measure->source, KD_SRC_RSTAT);
	plan_free(&p);
	kernel_free(&k);
}

/* Attaching there stalls 6.1 for good: no way of the table may name such a function, now or later. */
static void test_forbidden(void **state)
{
	(void)state;
	assert_non_null(plan_forbidden("__rcu_read_lock"));
	assert_non_null(plan_forbidden("__rcu_read_unlock"));
	for (size_t i = 0; i < plan_table_len; i++)
		for (const struct plan_way *w = plan_table[i].ways; w->hooks; w++)
			for (const struct plan_hook *h = w->hooks; h->program; h++)
				assert_null(plan_forbidden(h->target));
}

static void test_attach_reasons(void **state)
{
	static const struct {
		int err;
		void (*change)(struct kernel *k);
		const char *reason, *fix;
	} cases[] = {
		{ 0, NULL, "", "" },
		{ -E2BIG, NULL, "too many programs are attached", "end other tools" },
		{ -EBUSY, NULL, "another tracer holds it", "" },
		{ -EBUSY, notrace, "it cannot be traced (notrace)", "" },
		{ -EPERM, NULL, "a security module or policy", "" },
		{ -ETIME, NULL, "not attached in time", "a longer --attach-timeout" },
		{ -ETIME, overdue, "held up for 10.2 s", "end the task" },
		{ -ENODEV, NULL, "switched it off", "" },
		{ -524, NULL, "of this shape", "" },
	};
	char reason[PLAN_TEXT], fix[PLAN_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kernel k = fixture(NULL);

		k.tasks_gp = NO;
		if (cases[i].change)
			cases[i].change(&k);
		plan_attach_reason(&k, "rcu_cblist_dequeue", cases[i].err, reason, fix);
		assert_non_null(strstr(reason, cases[i].reason));
		assert_non_null(strstr(fix, cases[i].fix));
		assert_int_equal(!*reason, !cases[i].err);
		kernel_free(&k);
	}
}

/* As the kernel shows a patch: a folder for it, its object, and each function in it. */
static void test_livepatched(void **state)
{
	char dir[] = "/tmp/test_plan.XXXXXX", path[3][256], reason[PLAN_TEXT], fix[PLAN_TEXT];
	struct kernel k = fixture(NULL);

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path[0], sizeof(path[0]), "%s/fix_it", dir);
	snprintf(path[1], sizeof(path[1]), "%s/fix_it/vmlinux", dir);
	snprintf(path[2], sizeof(path[2]), "%s/fix_it/vmlinux/call_rcu,1", dir);
	for (int i = 0; i < 3; i++)
		assert_int_equal(mkdir(path[i], 0700), 0);
	k.livepatch = dir;
	plan_attach_reason(&k, "call_rcu", -EBUSY, reason, fix);
	assert_string_equal(reason, "it is livepatched (by fix_it)");
	plan_attach_reason(&k, "call_rcu_hurry", -EBUSY, reason, fix);
	assert_non_null(strstr(reason, "another tracer holds it"));
	for (int i = 3; i--;)
		assert_int_equal(rmdir(path[i]), 0);
	assert_int_equal(rmdir(dir), 0);
	kernel_free(&k);
}

static void test_wanted_names(void **state)
{
	(void)state;
	assert_true(plan_wants("rcu_cblist_dequeue", 18));
	assert_true(plan_wants("rcu_cblist_dequeue.isra.0", 25));
	assert_true(plan_wants("rcu_data", 8));
	assert_false(plan_wants("rcu_cblist_dequeue_x", 20));
	assert_false(plan_wants("rcu", 3));
}

/* The rows travel as records and come out of the model as they went in. */
static void test_emit(void **state)
{
	struct kernel k = fixture("rcu_cblist_dequeue");
	struct plan p = resolve(&k);
	struct model m;
	struct stream s;

	(void)state;
	model_init(&m);
	stream_init(&s, model_record, &m);
	assert_int_equal(plan_emit(&p, &s), 0);
	assert_int_equal(m.nplan, p.n);
	assert_int_equal(m.plan[0].state, PLAN_OFF);
	assert_int_equal(m.plan[0].meaning, 1);
	assert_string_equal(m.plan[0].backend, "none");
	assert_string_equal(m.plan[0].reason, p.entry[0].reason);
	model_free(&m);
	plan_free(&p);
	kernel_free(&k);
}

static void test_cpu_lists(void **state)
{
	static const struct {
		const char *text;
		int n, last;
	} good[] = { { "0", 1, 0 }, { "0-3", 4, 3 }, { "0-1,4,6-7", 5, 7 }, { "0-511", 512, 511 } };
	static const char *const bad[] = { "",   "a",          "1-",  "3-1", "0,,1",
					   "-1", "0-99999999", "0 1", "0-3x" };
	int *cpus, n;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(cpus_parse(good[i].text, &cpus, &n), 0);
		assert_int_equal(n, good[i].n);
		assert_int_equal(cpus[n - 1], good[i].last);
		free(cpus);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(cpus_parse(bad[i], &cpus, &n), -EINVAL);
		assert_null(cpus);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_kernel),
		cmocka_unit_test(test_no_lazy_callbacks),
		cmocka_unit_test(test_optional_hook_missing),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_percpu_ways),
		cmocka_unit_test(test_backends_not_allowed),
		cmocka_unit_test(test_forbidden),
		cmocka_unit_test(test_attach_reasons),
		cmocka_unit_test(test_livepatched),
		cmocka_unit_test(test_wanted_names),
		cmocka_unit_test(test_emit),
		cmocka_unit_test(test_cpu_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
