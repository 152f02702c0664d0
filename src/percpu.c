// SPDX-License-Identifier: GPL-2.0-only
/* percpu.c - where the kernel's static per-CPU variables are, told to the objects that ask. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "bpf_util.h"
#include "cpus.h"
#include "percpu.h"

static const char *const names[PERCPU_COUNT] = {
	[PERCPU_RUNQUEUES] = "runqueues",
	[PERCPU_RCU_DATA] = "rcu_data",
	[PERCPU_KRC] = "krc",
	[PERCPU_TASKS] = "rcu_tasks__percpu",
	[PERCPU_TASKS_RUDE] = "rcu_tasks_rude__percpu",
	[PERCPU_TASKS_TRACE] = "rcu_tasks_trace__percpu",
	[PERCPU_THIS_CPU_OFF] = "this_cpu_off",
	[PERCPU_RSTAT_BACKLOG] = "rstat_backlog_list",
	[PERCPU_PREEMPT_COUNT] = "__preempt_count",
	[PERCPU_HOT] = "pcpu_hot",
	[PERCPU_CPUSTAT] = "kernel_cpustat",
	[PERCPU_TASKS_TRACE_SRCU] = "rcu_tasks_trace_srcu_struct_srcu_data",
	[PERCPU_IRQ_REGS] = "__irq_regs",
	[PERCPU_KSOFTIRQD] = "ksoftirqd",
	[PERCPU_TRACEPOINT_SRCU] = "tracepoint_srcu_srcu_data",
	[PERCPU_KSTACK_OFFSET] = "kstack_offset",
	[PERCPU_KSTACK_RND] = "kstack_rnd_state",
	[PERCPU_QNODES] = "qnodes",
};

const char *percpu_name(enum percpu_var var)
{
	return names[var];
}

/* An array of pointers is a pointer to a pointer; per-CPU data one to the thing itself. */
static bool is_array_of_pointers(const struct kernel *k, const char *type, const char *field)
{
	const struct btf_type *t = kernel_field_type(k, type, field);

	if (!t || !btf_is_ptr(t))
		return false;
	t = btf__type_by_id(k->btf, t->type);
	return t && btf_is_ptr(t);
}

/* Symbols are looked up only where nothing else would lead to every CPU: it takes reading all of them. */
static bool needs_symbols(const struct percpu_where *w, const struct kernel *k)
{
	if (!kernel_has_field(k, "sched_entity", "cfs_rq"))
		return true;
	if (w->group_array)
		return false;
	return !kernel_has_field(k, "rcu_tasks", "rtpcp_array") ||
	       (w->at[PERCPU_TASKS] == PERCPU_ABSENT && w->at[PERCPU_TASKS_RUDE] == PERCPU_ABSENT &&
		w->at[PERCPU_TASKS_TRACE] == PERCPU_ABSENT);
}

/* Addresses are 0 for whoever may not see them. */
static void find_symbols(struct percpu_where *w)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	unsigned long long address;
	char line[1024], name[128];

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%llx %*c %127s", &address, name) != 2)
			continue;
		if (!strcmp(name, "__per_cpu_offset"))
			w->offsets = address;
		else if (!strcmp(name, names[PERCPU_RUNQUEUES]))
			w->runqueues = address;
	}
	if (f)
		fclose(f);
}

int percpu_fill(struct percpu_where *w, const struct kernel *k)
{
	int *cpus = NULL, n = k->possible_cpus;

	for (int i = 0; i < PERCPU_COUNT; i++) {
		int at = kernel_percpu_at(k, names[i]);

		w->at[i] = at < 0 ? PERCPU_ABSENT : (__u32)at;
	}
	if (!cpus_read("possible", &cpus, &n))
		free(cpus);
	w->possible = (__u32)n;
	w->cpus = (__u32)k->possible_cpus;
	w->group_array = is_array_of_pointers(k, "task_group", "cfs_rq");
	if (needs_symbols(w, k))
		find_symbols(w);
	return w->at[PERCPU_RUNQUEUES] == PERCPU_ABSENT || w->at[PERCPU_RCU_DATA] == PERCPU_ABSENT
		       ? -ENOENT
		       : 0;
}

void percpu_size(struct bpf_map *bases, const struct percpu_where *w)
{
	bpf_map__set_max_entries(bases, w->cpus);
}

int percpu_find(int prog_fd)
{
	uint64_t args[4] = { 0 };
	uint32_t answer = 0;
	int err = bpf_util_run(prog_fd, args, &answer);

	return err ? err : answer ? -ENODATA : 0;
}
