/* SPDX-License-Identifier: GPL-2.0-only */
/* fixture_kernel.h - a kernel made of what call_rcu needs, for tests to take pieces away. */
#ifndef KDEFER_FIXTURE_KERNEL_H
#define KDEFER_FIXTURE_KERNEL_H

#include <stdbool.h>
#include <string.h>

#include <bpf/btf.h>

#include "kernel.h"
#include "plan.h"

/* Functions that every kernel of the matrix has, and what call_rcu reads of them. */
static const char *const functions[] = {
	"rcu_segcblist_enqueue", "rcu_cblist_dequeue",       "rcu_segcblist_extract_done_cbs",
	"rcu_cblist_enqueue",    "rcu_cblist_flush_enqueue", "rcutree_migrate_callbacks",
	"__call_rcu_common",
};

static const struct {
	const char *type, *field;
} fields[] = {
	{ "rcu_data", "cblist" },        { "rcu_data", "barrier_head" },
	{ "rcu_data", "n_cbs_invoked" }, { "rcu_data", "lazy_len" },
	{ "rcu_segcblist", "len" },      { "rcu_cblist", "head" },
	{ "callback_head", "func" },     { "sched_entity", "cfs_rq" },
};

/* Static per-CPU variables. */
static const char *const variables[] = { "runqueues", "rcu_data" };

/* Leaves out the functions and fields named in `without` (space separated). */
static bool left_out(const char *without, const char *name)
{
	const char *at = without ? strstr(without, name) : NULL;

	return at && (at == without || at[-1] == ' ') &&
	       (!at[strlen(name)] || at[strlen(name)] == ' ');
}

static void add_types(struct btf *btf, const char *without)
{
	int u64 = btf__add_int(btf, "long", 8, 0), proto = btf__add_func_proto(btf, 0);
	const char *type = "";

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (!left_out(without, functions[i]))
			btf__add_func(btf, functions[i], BTF_FUNC_GLOBAL, proto);
	for (size_t i = 0, at = 0; i < sizeof(fields) / sizeof(fields[0]); i++, at += 64) {
		if (strcmp(type, fields[i].type)) {
			type = fields[i].type;
			at = 0;
			btf__add_struct(btf, type, 512);
		}
		if (!left_out(without, fields[i].field))
			btf__add_field(btf, fields[i].field, u64, (__u32)at, 0);
	}
}

static void add_variables(struct btf *btf, const char *without)
{
	int u64 = btf__find_by_name(btf, "long"), var[8];
	size_t n = sizeof(variables) / sizeof(variables[0]);

	for (size_t i = 0; i < n; i++) {
		char name[64] = "percpu:";

		strcat(name, variables[i]);
		var[i] = left_out(without, name)
				 ? 0
				 : btf__add_var(btf, variables[i], BTF_VAR_STATIC, u64);
	}
	btf__add_datasec(btf, ".data..percpu", 4096);
	for (size_t i = 0; i < n; i++)
		if (var[i])
			btf__add_datasec_var_info(btf, var[i], (__u32)(64 * i + 64), 8);
}

static struct kernel fixture(const char *without)
{
	struct kernel k = { 0 };

	k.btf = btf__new_empty();
	add_types(k.btf, without);
	add_variables(k.btf, without);
	k.text = name_set_new();
	k.data = name_set_new();
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (!left_out(without, functions[i]))
			name_set_add(k.text, functions[i]);
	if (!left_out(without, "symbol:rcu_data"))
		name_set_add(k.data, "rcu_data");
	name_set_seal(k.text);
	name_set_seal(k.data);
	k.root = true;
	k.caps = ~0ULL;
	k.fentry = k.read_kernel = YES;
	k.ftrace_enabled = YES;
	k.possible_cpus = k.online_cpus = 4;
	return k;
}

static struct plan_request everything(void)
{
	return (struct plan_request){
		.sources = ~0u, .measures = ~0ULL, .flavours = ~0u, .backends = ~0u
	};
}

#endif
