// SPDX-License-Identifier: GPL-2.0-only
/* doc_doctor.c - what doctor found, as sections of the JSON document. */
#include <stdlib.h>
#include <string.h>

#include "catalog.h"
#include "kernel.h"
#include "view_doctor.h"
#include "view_doctor_parts.h"

const struct doctor_ability doctor_ability[DOCTOR_ABILITIES] = {
	{ "cap_bpf", "CAP_BPF" },
	{ "cap_perfmon", "CAP_PERFMON" },
	{ "cap_syslog", "CAP_SYSLOG (raw addresses)" },
	{ "btf", "BTF of this kernel" },
	{ "kallsyms", "kernel symbols" },
	{ "traceable", "list of traceable functions" },
	{ "read_kernel", "programs may read kernel memory" },
	{ "fentry", "fentry programs load" },
	{ "ftrace", "function tracing switched on" },
	{ "no_lockdown", "no lockdown for confidentiality" },
};

static enum tri tri(bool yes)
{
	return yes ? YES : NO;
}

void doctor_abilities(const struct kernel *k, enum tri has[DOCTOR_ABILITIES])
{
	enum tri lockdown = k->lockdown_confidentiality;
	const enum tri answers[DOCTOR_ABILITIES] = {
		tri(kernel_has_cap(k, KERNEL_CAP_BPF)),
		tri(kernel_has_cap(k, KERNEL_CAP_PERFMON)),
		tri(kernel_has_cap(k, KERNEL_CAP_SYSLOG)),
		tri(k->btf),
		tri(k->text),
		tri(k->traceable),
		k->read_kernel,
		k->fentry,
		k->ftrace_enabled,
		lockdown == UNKNOWN ? UNKNOWN : tri(lockdown == NO),
	};

	memcpy(has, answers, sizeof(answers));
}

static void put_abilities(struct json *j, const struct kernel *k)
{
	enum tri has[DOCTOR_ABILITIES];

	doctor_abilities(k, has);
	json_kopen(j, "abilities", '{');
	for (size_t i = 0; i < DOCTOR_ABILITIES; i++) {
		if (has[i] == UNKNOWN)
			json_knull(j, doctor_ability[i].key);
		else
			json_kbool(j, doctor_ability[i].key, has[i] == YES);
	}
	json_close(j);
}

static void put_variants(struct json *j, const struct kernel *k)
{
	struct variant v[VARIANTS];

	if (!k->btf) {
		json_knull(j, "variants");
		return;
	}
	facts_variants(k, v);
	json_kopen(j, "variants", '{');
	for (size_t i = 0; i < VARIANTS; i++) {
		json_kopen(j, v[i].subject, '{');
		json_kstr(j, "variant", v[i].name);
		json_kstr(j, "text", v[i].text);
		json_close(j);
	}
	json_close(j);
}

/* Under the keys of facts.c: numbers as numbers, what cannot be had as null. */
static void put_facts(struct json *j, const struct view_doctor *v)
{
	json_kopen(j, "facts", '{');
	for (size_t i = 0; i < v->facts->n; i++) {
		const struct fact_row *r = &v->facts->row[i];

		json_key(j, r->key);
		if (r->number)
			json_i64(j, strtoll(r->value, NULL, 10));
		else
			json_str(j, *r->value ? r->value : NULL);
	}
	put_variants(j, v->kernel);
	json_close(j);
}

static void put_held(struct json *j, const struct kernel *k)
{
	static const struct {
		unsigned int number;
		const char *name;
	} caps[] = {
		{ KERNEL_CAP_BPF, "CAP_BPF" },
		{ KERNEL_CAP_PERFMON, "CAP_PERFMON" },
		{ KERNEL_CAP_SYSLOG, "CAP_SYSLOG" },
		{ KERNEL_CAP_SYS_ADMIN, "CAP_SYS_ADMIN" },
	};

	json_kopen(j, "held", '[');
	for (size_t i = 0; i < sizeof(caps) / sizeof(caps[0]); i++)
		if (k->caps >> caps[i].number & 1)
			json_str(j, caps[i].name);
	json_close(j);
}

/* One entry for each measure; CAP_SYS_ADMIN stands for both. */
static void put_needed(struct json *j, const struct model *m)
{
	json_kopen(j, "needed", '[');
	for (size_t i = 0; i < m->nplan; i++) {
		const struct plan_row *row = &m->plan[i];
		const struct measure_info *info = measure_info(row->measure);

		if (i && m->plan[i - 1].measure == row->measure)
			continue;
		json_open(j, '{');
		json_kstr(j, "source", source_name(row->source));
		json_kstr(j, "measure", info ? info->name : NULL);
		json_kopen(j, "capabilities", '[');
		json_str(j, "CAP_BPF");
		json_str(j, "CAP_PERFMON");
		json_close(j);
		json_close(j);
	}
	json_close(j);
}

static void put_memory(struct json *j, const struct view_doctor *v)
{
	json_kopen(j, "memory", '[');
	for (unsigned int src = 0; src < KD_SRC_COUNT; src++) {
		const struct doctor_memory *m = &v->memory[src];

		if (!m->least && !m->taken)
			continue;
		json_open(j, '{');
		json_kstr(j, "source", source_name(src));
		json_ku64(j, "least_bytes", m->least);
		json_key(j, "bytes");
		if (m->taken)
			json_u64(j, m->taken);
		else
			json_null(j);
		json_close(j);
	}
	json_close(j);
}

void view_doctor_json(struct json *j, const struct view_doctor *v)
{
	put_abilities(j, v->kernel);
	put_facts(j, v);
	json_kopen(j, "capabilities", '{');
	put_held(j, v->kernel);
	put_needed(j, v->model);
	json_close(j);
	put_memory(j, v);
}
