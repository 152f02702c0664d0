// SPDX-License-Identifier: GPL-2.0-only
/* facts.c - settings of this kernel that bear on the measures, and what it does in words. */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "facts.h"
#include "file.h"
#include "kernel.h"

#define RCUTREE "/sys/module/rcutree/parameters/"
#define RCUPDATE "/sys/module/rcupdate/parameters/"

static const struct {
	const char *key, *name, *path;
} files[] = {
	{ "jiffies_till_first_fqs", "ticks to the first look for quiescent states",
	  RCUTREE "jiffies_till_first_fqs" },
	{ "jiffies_till_next_fqs", "ticks between further looks", RCUTREE "jiffies_till_next_fqs" },
	{ "blimit", "callbacks run in one go", RCUTREE "blimit" },
	{ "qhimark", "callbacks of a CPU that lift that limit", RCUTREE "qhimark" },
	{ "qlowmark", "and bring it back", RCUTREE "qlowmark" },
	{ "use_softirq", "callbacks run in softirq (N: kthreads)", RCUTREE "use_softirq" },
	{ "enable_rcu_lazy", "lazy callbacks (on offloaded CPUs)", RCUTREE "enable_rcu_lazy" },
	{ "rcu_normal_wake_from_gp", "synchronize_rcu() by the list path",
	  RCUTREE "rcu_normal_wake_from_gp" },
	{ "rcu_normal", "expedited grace periods made normal", "/sys/kernel/rcu_normal" },
	{ "rcu_expedited", "all grace periods made expedited", "/sys/kernel/rcu_expedited" },
	{ "rcu_cpu_stall_timeout", "seconds to a stall warning", RCUPDATE "rcu_cpu_stall_timeout" },
	{ "rcu_tasks_lazy_ms", "ms that Tasks callbacks may wait for company",
	  RCUPDATE "rcu_tasks_lazy_ms" },
	{ "nohz_full", "CPUs without a tick", "/sys/devices/system/cpu/nohz_full" },
	{ "isolated", "isolated CPUs", "/sys/devices/system/cpu/isolated" },
	{ "kptr_restrict", "kernel.kptr_restrict", "/proc/sys/kernel/kptr_restrict" },
	{ "perf_event_paranoid", "kernel.perf_event_paranoid",
	  "/proc/sys/kernel/perf_event_paranoid" },
	{ "unprivileged_bpf_disabled", "kernel.unprivileged_bpf_disabled",
	  "/proc/sys/kernel/unprivileged_bpf_disabled" },
	{ "bpf_stats_enabled", "kernel.bpf_stats_enabled", "/proc/sys/kernel/bpf_stats_enabled" },
};

static bool all_digits(const char *s)
{
	const char *digits = s + (*s == '-');

	return *digits && digits[strspn(digits, "0123456789")] == '\0' && strlen(s) < 19;
}

void facts_add(struct facts *f, const char *key, const char *name, const char *value)
{
	struct fact_row *r = &f->row[f->n];

	if (f->n == FACTS_MAX)
		return;
	f->n++;
	r->key = key;
	r->name = name;
	snprintf(r->value, sizeof(r->value), "%s", value);
	r->number = all_digits(r->value);
}

static void add_number(struct facts *f, const char *key, const char *name, unsigned int v)
{
	char text[32] = "";

	if (v)
		snprintf(text, sizeof(text), "%u", v);
	facts_add(f, key, name, text);
}

static void add_tri(struct facts *f, const char *key, const char *name, enum tri t)
{
	facts_add(f, key, name, t == UNKNOWN ? "" : t == YES ? "yes" : "no");
}

static int by_value(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* "0-3 6" of a sorted list. */
static void put_ranges(char *buf, size_t size, const int *cpu, size_t n)
{
	size_t used = 0, last;

	buf[0] = '\0';
	for (size_t i = 0; i < n && used + 32 < size; i = last + 1) {
		for (last = i; last + 1 < n && cpu[last + 1] == cpu[last] + 1; last++)
			;
		used += (size_t)snprintf(buf + used, size - used, "%s%d", used ? "," : "", cpu[i]);
		if (last > i)
			used += (size_t)snprintf(buf + used, size - used, "-%d", cpu[last]);
	}
}

/* An offloaded CPU has a kthread that runs its callbacks, "rcuop/3" or "rcuos/3". */
static bool offload_thread(const char *pid, int *cpu)
{
	char path[300], comm[64];

	snprintf(path, sizeof(path), "/proc/%s/comm", pid);
	return !file_line(path, comm, sizeof(comm)) && !strncmp(comm, "rcuo", 4) &&
	       comm[4] != 'g' && sscanf(comm + 5, "/%d", cpu) == 1;
}

static void add_offloaded(struct facts *f)
{
	static const char key[] = "offloaded_cpus", name[] = "CPUs whose callbacks are offloaded";
	int cpus[4096];
	char text[FACT_LEN];
	struct dirent *e;
	DIR *dir = opendir("/proc");
	size_t n = 0;

	if (!dir) {
		facts_add(f, key, name, "");
		return;
	}
	while ((e = readdir(dir)))
		if (isdigit((unsigned char)e->d_name[0]) && n < sizeof(cpus) / sizeof(cpus[0]) &&
		    offload_thread(e->d_name, &cpus[n]))
			n++;
	closedir(dir);
	qsort(cpus, n, sizeof(cpus[0]), by_value);
	put_ranges(text, sizeof(text), cpus, n);
	facts_add(f, key, name, n ? text : "none");
}

static void add_lockdown(struct facts *f, const struct kernel *k)
{
	facts_add(f, "lockdown", "lockdown",
		  k->lockdown_integrity == UNKNOWN     ? ""
		  : k->lockdown_confidentiality == YES ? "confidentiality"
		  : k->lockdown_integrity == YES       ? "integrity"
						       : "none");
}

static void add_seccomp(struct facts *f)
{
	static const char *const modes[] = { "off", "strict", "filter" };
	char text[64];

	if (file_field("/proc/self/status", "Seccomp", text, sizeof(text)) || *text < '0' ||
	    *text > '2')
		facts_add(f, "seccomp", "seccomp of this process", "");
	else
		facts_add(f, "seccomp", "seccomp of this process", modes[*text - '0']);
}

static void add_preempt(struct facts *f, const struct kernel *k)
{
	const char *from = preempt_from_name(k);

	facts_add(f, "preempt", "preemption model", k->preempt);
	facts_add(f, "preempt_from",
		  k->preempt_from == PREEMPT_BOOTED
			  ? "preemption model known from (it may have been changed since)"
			  : "preemption model known from",
		  from ? from : "");
}

static void add_tasks_gp(struct facts *f, const struct kernel *k)
{
	char text[64];

	snprintf(text, sizeof(text), k->tasks_gp == YES ? "under way for %llu.%llu s" : "none",
		 (unsigned long long)(k->tasks_gp_ns / 1000000000),
		 (unsigned long long)(k->tasks_gp_ns / 100000000 % 10));
	facts_add(f, "tasks_grace_period", "Tasks RCU grace period",
		  k->tasks_gp == UNKNOWN ? "" : text);
}

static void add_files(struct facts *f)
{
	char text[FACT_LEN];

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (file_line(files[i].path, text, sizeof(text)))
			text[0] = '\0';
		else if (!*text || !strcmp(text, "(null)"))
			snprintf(text, sizeof(text), "none"); /* an empty list of CPUs */
		facts_add(f, files[i].key, files[i].name, text);
	}
}

void facts_read(struct facts *f, const struct kernel *k)
{
	f->n = 0;
	add_preempt(f, k);
	add_number(f, "hz", "ticks a second (HZ)", k->hz);
	add_files(f);
	add_offloaded(f);
	add_tasks_gp(f, k);
	add_lockdown(f, k);
	facts_add(f, "lsm", "security modules", k->lsm);
	add_seccomp(f);
	facts_add(f, "user_namespace", "in a user namespace", k->user_namespace ? "yes" : "no");
	facts_add(f, "btf", "BTF", k->btf ? "yes" : "no");
	add_tri(f, "ftrace_enabled", "function tracing on", k->ftrace_enabled);
	add_tri(f, "kallsyms_all", "kallsyms lists data", kernel_has_data(k, "rcu_data"));
	facts_add(f, "tracefs", "list of traceable functions",
		  k->traceable       ? "yes"
		  : k->traceable_err ? strerror(-k->traceable_err)
				     : "");
}

/* --- in words --- */

#define ALL_CPUS " Each flush visits all possible CPUs, online or not."

static struct variant rstat(const struct kernel *k)
{
	static const char one[] = "rstat";

	if (kernel_has_func(k, "css_rstat_flush")) {
		if (kernel_has_func(k, "__css_rstat_updated"))
			return (struct variant){
				one, "R7",
				"A flush takes one subsystem; updates go to lockless "
				"lists of each CPU, by __css_rstat_updated()." ALL_CPUS
			};
		if (kernel_has_field(k, "css_rstat_cpu", "lnode"))
			return (struct variant){
				one, "R6",
				"A flush takes one subsystem; updates go to lockless "
				"lists of each CPU." ALL_CPUS
			};
		return (struct variant){ one, "R5",
					 "A flush takes one subsystem, and its lock again for each "
					 "CPU; updates take a lock of the CPU." ALL_CPUS };
	}
	if (!kernel_has_func(k, "cgroup_rstat_flush"))
		return (struct variant){ one, NULL,
					 "This kernel has no flush of cgroup statistics." };
	if (!kernel_has_func(k, "cgroup_rstat_flush_locked"))
		return (struct variant){
			one, "R4",
			"A flush takes all subsystems, and the one global lock again "
			"for each CPU. kdefer was not tried on such a kernel." ALL_CPUS
		};
	if (kernel_has_func(k, "cgroup_rstat_flush_irqsafe"))
		return (struct variant){ one, "R1",
					 "A flush takes all subsystems under one global lock; some "
					 "flushes keep interrupts off all the way." ALL_CPUS };
	if (kernel_has_tp(k, "cgroup_rstat_locked"))
		return (struct variant){
			one, "R3",
			"A flush takes all subsystems under one global lock, which "
			"has tracepoints." ALL_CPUS
		};
	return (struct variant){ one, "R2",
				 "A flush takes all subsystems under one global lock, without "
				 "tracepoints. kdefer was not tried on such a kernel." ALL_CPUS };
}

static struct variant tasks_trace(const struct kernel *k)
{
	static const char one[] = "tasks_trace";

	if (kernel_has_field(k, "task_struct", "trc_reader_scp"))
		return (struct variant){ one, "srcu_fast",
					 "Tasks Trace is an SRCU domain: its callbacks are SRCU "
					 "ones, and its grace periods contain normal ones." };
	if (kernel_has_func(k, "call_rcu_tasks_trace"))
		return (struct variant){
			one, "own",
			"Tasks Trace has lists, a kthread and grace periods of its "
			"own, each with a normal one in it."
		};
	return (struct variant){ one, NULL, "This kernel has no Tasks Trace RCU." };
}

static struct variant memalloc(const struct kernel *k)
{
	static const char one[] = "memalloc";

	if (!kernel_has_field(k, "bpf_mem_cache", "free_llist"))
		return (struct variant){ one, NULL, "This kernel has no BPF memory allocator." };
	if (!kernel_has_field(k, "bpf_mem_cache", "free_by_rcu_ttrace"))
		return (struct variant){
			one, "A", "Freed BPF memory waits once: for a Tasks Trace grace period."
		};
	if (!kernel_has_field(k, "bpf_mem_cache", "dtor"))
		return (struct variant){
			one, "B",
			"Freed BPF memory waits for a normal grace period where it may "
			"be reused, and for a Tasks Trace one before it goes back."
		};
	return (struct variant){
		one, "C",
		"Freed BPF memory waits as in variant B, and each cache may have a "
		"destructor for what it gives back."
	};
}

void facts_variants(const struct kernel *k, struct variant v[VARIANTS])
{
	v[0] = rstat(k);
	v[1] = tasks_trace(k);
	v[2] = memalloc(k);
}
