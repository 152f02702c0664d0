// SPDX-License-Identifier: GPL-2.0-only
/* test_doctor.c - what doctor says of fixture kernels: text that fits, JSON, and the commands of --explain. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "explain.h"
#include "explain_words.h"
#include "catalog.h"
#include "facts.h"
#include "fixture_kernel.h"
#include "format.h"
#include "json.h"
#include "model.h"
#include "stream.h"
#include "view_doctor.h"

struct scene {
	struct kernel kernel;
	struct plan plan;
	struct model model;
	struct facts facts;
	struct doctor_memory memory[KD_SRC_COUNT];
	char *text;
	size_t size;
};

static void set(struct scene *s, void (*change)(struct kernel *k))
{
	struct plan_request want = everything();
	struct stream stream;

	memset(s, 0, sizeof(*s));
	s->kernel = fixture(NULL);
	if (change)
		change(&s->kernel);
	assert_int_equal(plan_resolve(&s->plan, &s->kernel, &want), 0);
	model_init(&s->model);
	stream_init(&stream, model_record, &s->model);
	assert_int_equal(plan_emit(&s->plan, &stream), 0);
	facts_add(&s->facts, "hz", "ticks a second (HZ)", "250");
	facts_add(&s->facts, "rcu_tasks_lazy_ms", "ms that Tasks callbacks may wait for company",
		  "-1");
	facts_add(&s->facts, "lsm", "security modules", "");
	facts_add(&s->facts, "offloaded_cpus", "CPUs whose callbacks are offloaded", "0-3,8");
	s->memory[KD_SRC_CALL_RCU] = (struct doctor_memory){ .least = 200000, .taken = 10000000 };
}

static void strike(struct scene *s)
{
	free(s->text);
	model_free(&s->model);
	plan_free(&s->plan);
	kernel_free(&s->kernel);
}

static struct view_doctor view(const struct scene *s, size_t width)
{
	return (struct view_doctor){ .model = &s->model,
				     .kernel = &s->kernel,
				     .facts = &s->facts,
				     .memory = s->memory,
				     .width = width };
}

static const char *show(struct scene *s, size_t width)
{
	struct view_doctor v = view(s, width);
	FILE *out;

	free(s->text);
	out = open_memstream(&s->text, &s->size);
	view_doctor_text(out, &v);
	fclose(out);
	return s->text;
}

static const char *document(struct scene *s)
{
	struct view_doctor v = view(s, 80);
	struct json j;
	FILE *out;

	free(s->text);
	out = open_memstream(&s->text, &s->size);
	json_init(&j, out, false);
	json_open(&j, '{');
	view_doctor_json(&j, &v);
	json_close(&j);
	assert_int_equal(json_end(&j), 0);
	fclose(out);
	return s->text;
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no \"%s\" in:\n%s", part, text);
}

static void assert_fits(const char *text, size_t width)
{
	char line[1024];

	while (*text) {
		size_t len = strcspn(text, "\n");

		snprintf(line, sizeof(line), "%.*s", (int)len, text);
		if (fmt_width(line) > width || (len && line[len - 1] == ' '))
			fail_msg("not within %zu: \"%s\"", width, line);
		text += len + (text[len] == '\n');
	}
}

static void no_rights(struct kernel *k)
{
	k->root = false;
	k->caps = 0;
	k->fentry = k->read_kernel = UNKNOWN;
}

static void no_btf(struct kernel *k)
{
	btf__free(k->btf);
	k->btf = NULL;
	k->btf_err = -ENOENT;
}

static void policy(struct kernel *k)
{
	k->fentry = NO;
	k->fentry_err = EPERM;
}

static void test_fits(void **state)
{
	static void (*const changes[])(struct kernel * k) = { NULL, no_rights, no_btf, policy };
	static const size_t widths[] = { 40, 72, 80, 200 };
	struct scene s;

	(void)state;
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		set(&s, changes[i]);
		for (size_t w = 0; w < sizeof(widths) / sizeof(widths[0]); w++)
			assert_fits(show(&s, widths[w]), widths[w]);
		strike(&s);
	}
}

static void test_text(void **state)
{
	struct scene s;
	const char *text;

	(void)state;
	set(&s, NULL);
	text = show(&s, 200);
	assert_has(text, "\ncall_rcu.latency: how long callbacks wait");
	assert_has(text, "\n  rcu: expected (fentry)\n");
	assert_has(text, "hooks:   rcu_segcblist_enqueue rcu_cblist_dequeue");
	assert_has(text, "\n  yes      CAP_BPF\n");
	assert_has(text, "\n  ticks a second (HZ): 250\n");
	assert_has(text, "\n  call_rcu: at least 195 KiB, by default 9.54 MiB\n");
	assert_null(strstr(text, "security modules")); /* not known: not said */
	assert_has(text, "\n  rstat: This kernel has no flush of cgroup statistics.\n");
	strike(&s);
}

static void test_refusal_said_once(void **state)
{
	struct scene s;
	const char *text, *why;

	(void)state;
	set(&s, policy);
	text = show(&s, 300);
	assert_has(text, "\n  rcu, srcu, tasks, tasks_rude, tasks_trace, kfree: off\n");
	why = strstr(text, "a security module or policy says no");
	assert_non_null(why);
	assert_has(text, "fix:     allow them in that policy\n");
	assert_has(text, "\n0 of ");
	strike(&s);
}

static void test_json(void **state)
{
	struct scene s;
	const char *text;

	(void)state;
	set(&s, NULL);
	text = document(&s);
	assert_has(
		text,
		"\"facts\":{\"hz\":250,\"rcu_tasks_lazy_ms\":-1,\"lsm\":null,\"offloaded_cpus\":\"0-3,8\",");
	assert_has(text, "\"rstat\":{\"variant\":null,");
	assert_has(text, "\"held\":[\"CAP_BPF\",\"CAP_PERFMON\",\"CAP_SYSLOG\",\"CAP_SYS_ADMIN\"]");
	assert_has(
		text,
		"{\"source\":\"call_rcu\",\"measure\":\"latency\",\"capabilities\":[\"CAP_BPF\",\"CAP_PERFMON\"]}");
	assert_has(text, "{\"source\":\"call_rcu\",\"least_bytes\":200000,\"bytes\":10000000}");
	strike(&s);
	set(&s, no_rights);
	text = document(&s);
	assert_has(text, "\"held\":[]");
	assert_has(text, "\"fentry\":null");
	strike(&s);
	set(&s, no_btf);
	assert_has(document(&s), "\"variants\":null");
	strike(&s);
}

/* What each kernel of the matrix does, by what it has. */
static void test_variants(void **state)
{
	static const struct {
		const char *has; /* functions, or TYPE.FIELD */
		const char *rstat, *tasks_trace, *memalloc;
	} cases[] = {
		{ "cgroup_rstat_flush cgroup_rstat_flush_locked cgroup_rstat_flush_irqsafe call_rcu_tasks_trace "
		  "bpf_mem_cache.free_llist",
		  "R1", "own", "A" },
		{ "cgroup_rstat_flush cgroup_rstat_flush_locked", "R2", NULL, NULL },
		{ "cgroup_rstat_flush", "R4", NULL, NULL },
		{ "css_rstat_flush bpf_mem_cache.free_llist bpf_mem_cache.free_by_rcu_ttrace", "R5",
		  NULL, "B" },
		{ "css_rstat_flush css_rstat_cpu.lnode", "R6", NULL, NULL },
		{ "css_rstat_flush __css_rstat_updated css_rstat_cpu.lnode task_struct.trc_reader_scp "
		  "bpf_mem_cache.free_llist bpf_mem_cache.free_by_rcu_ttrace bpf_mem_cache.dtor",
		  "R7", "srcu_fast", "C" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kernel k = { .btf = btf__new_empty() };
		int u64 = btf__add_int(k.btf, "long", 8, 0), proto = btf__add_func_proto(k.btf, 0);
		char list[512], type[64] = "", *word, *dot, *save = NULL;
		struct variant v[VARIANTS];
		unsigned int at = 0;

		snprintf(list, sizeof(list), "%s", cases[i].has);
		for (word = strtok_r(list, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
			dot = strchr(word, '.');
			if (!dot) {
				btf__add_func(k.btf, word, BTF_FUNC_GLOBAL, proto);
				continue;
			}
			*dot = '\0';
			if (strcmp(type, word)) {
				snprintf(type, sizeof(type), "%s", word);
				btf__add_struct(k.btf, type, 64);
				at = 0;
			}
			btf__add_field(k.btf, dot + 1, u64, 64 * at++, 0);
		}
		facts_variants(&k, v);
		assert_string_equal(v[0].name ? v[0].name : "", cases[i].rstat);
		assert_string_equal(v[1].name ? v[1].name : "",
				    cases[i].tasks_trace ? cases[i].tasks_trace : "");
		assert_string_equal(v[2].name ? v[2].name : "",
				    cases[i].memalloc ? cases[i].memalloc : "");
		kernel_free(&k);
	}
}

static const char *explained(struct scene *s, bool fprobe)
{
	struct plan one = { .entry = s->plan.entry, .n = 1 };
	FILE *out;

	free(s->text);
	out = open_memstream(&s->text, &s->size);
	explain(out, &s->kernel, &one, fprobe, 80);
	fclose(out);
	return s->text;
}

static void test_explain(void **state)
{
	struct scene s;
	const char *text;

	(void)state;
	set(&s, NULL);
	text = explained(&s, true);
	assert_has(text, "rcu_cblist_dequeue: a callback is taken off its list to be run");
	assert_has(text, "\ncd /sys/kernel/tracing\necho 'f:kdcheck/enq rcu_segcblist_enqueue ");
	text = explained(&s, false);
	assert_has(text, "\necho 'p:kdcheck/enq rcu_segcblist_enqueue ");
	assert_has(text, "kprobe_profile");
	strike(&s);
}

/* Whatever some kernel makes a way of: what it means is said of it, and of nothing else. */
static void test_each_target_has_a_meaning(void **state)
{
	(void)state;
	for (size_t i = 0; i < plan_table_len; i++)
		for (const struct plan_way *w = plan_table[i].ways; w->hooks; w++)
			for (const struct plan_hook *h = w->hooks; h->program; h++)
				if (!explain_meaning(h->target))
					fail_msg("no meaning of %s", h->target);
	assert_null(explain_meaning("schedule"));
}

/* What no event tells is in words. */
static void test_what_is_read_or_reported_is_said(void **state)
{
	(void)state;
	for (size_t i = 0; i < plan_table_len; i++) {
		const struct measure_info *m = measure_info(plan_table[i].measure);

		if ((m->pending || m->holdup) && !explain_state(m->id, 0))
			fail_msg("nothing is said of %s.%s", source_name(m->source), m->name);
	}
	assert_null(explain_state(KD_M_CALL_RCU_LATENCY, 0));
}

/* A count: not the times of the work. */
static void test_explain_refills(void **state)
{
	struct plan_entry entry = { .state = PLAN_ON };
	struct plan one = { .entry = &entry, .n = 1 };
	struct scene s = { .kernel = { .btf = btf__new_empty() } };
	int u32 = btf__add_int(s.kernel.btf, "int", 4, 0);
	FILE *out;

	(void)state;
	for (size_t i = 0; i < plan_table_len; i++)
		if (plan_table[i].measure == KD_M_MEMALLOC_REFILL_FAILED)
			entry.measure = &plan_table[i];
	for (int with = 0; with < 2; with++) {
		if (with) {
			btf__add_struct(s.kernel.btf, "bpf_mem_cache", 64);
			btf__add_field(s.kernel.btf, "refill_work", u32, 64, 0);
			btf__add_field(s.kernel.btf, "free_cnt", u32, 320, 0);
		}
		out = open_memstream(&s.text, &s.size);
		explain(out, &s.kernel, &one, true, 80);
		fclose(out);
		if (with) {
			assert_has(s.text, "bpf_mem_refill free=+32($arg1):s32' >>");
			assert_has(s.text, "'hist:keys=free:sort=free'");
			assert_null(strstr(s.text, "microseconds"));
		} else {
			assert_has(s.text, "there is no way to check");
		}
		free(s.text);
	}
	btf__free(s.kernel.btf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fits),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_refusal_said_once),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_variants),
		cmocka_unit_test(test_explain),
		cmocka_unit_test(test_each_target_has_a_meaning),
		cmocka_unit_test(test_what_is_read_or_reported_is_said),
		cmocka_unit_test(test_explain_refills),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
