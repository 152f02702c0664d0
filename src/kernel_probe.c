// SPDX-License-Identifier: GPL-2.0-only
/* kernel_probe.c - gathers the facts about the running kernel that can be read. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <bpf/btf.h>
#include <linux/capability.h>

#include "cpus.h"
#include "file.h"
#include "kernel.h"
#include "kernel_config.h"
#include "kernel_preempt.h"

static uint64_t effective_caps(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };

	if (syscall(SYS_capget, &head, data))
		return 0;
	return (uint64_t)data[1].effective << 32 | data[0].effective;
}

/* A line of kallsyms, "ADDRESS T name\t[module]": its type and name. NULL: it is none. */
static const char *symbol_of(char *line, char *type)
{
	char *name = strchr(line, ' ');

	if (!name || !name[1] || name[2] != ' ')
		return NULL;
	*type = name[1];
	name += 3;
	name[strcspn(name, "\t\n ")] = '\0';
	return name;
}

/* SRCU domains are known by nothing but their names. Functions are among them, which is found out later. */
static int keep_srcu(struct kernel *k, const char *name, uint64_t address)
{
	struct kernel_symbol *more = reallocarray(k->srcu, k->nsrcu + 1, sizeof(*more));

	if (!more)
		return -ENOMEM;
	k->srcu = more;
	more[k->nsrcu] = (struct kernel_symbol){ .name = strdup(name), .address = address };
	return more[k->nsrcu++].name ? 0 : -ENOMEM;
}

static void keep_address(struct kernel *k, const char *name, uint64_t address)
{
	static const char *const names[KERNEL_AT_COUNT] = {
		[KERNEL_RSTAT_LOCK] = "cgroup_rstat_lock",
		[KERNEL_RSTAT_BASE_LOCK] = "rstat_base_lock",
		[KERNEL_VIRT_SPIN_KEY] = "virt_spin_lock_key",
	};

	for (int i = 0; i < KERNEL_AT_COUNT; i++)
		if (!strcmp(name, names[i]))
			k->at[i] = address;
}

static int keep_symbol(struct kernel *k, char *line, kernel_wanted wanted)
{
	char type;
	const char *name = symbol_of(line, &type);
	int err = 0;

	if (name && strstr(name, "srcu"))
		err = keep_srcu(k, name, strtoull(line, NULL, 16));
	if (name && strstr(name, "_lock"))
		keep_address(k, name, strtoull(line, NULL, 16));
	if (err || !name || !wanted(name, strlen(name)))
		return err;
	if (type == 'T' || type == 'W')
		err = name_set_add(k->global, name);
	return err ? err : name_set_add(strchr("tTwW", type) ? k->text : k->data, name);
}

static int read_symbols(struct kernel *k, kernel_wanted wanted)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	char line[1024];
	int err = 0;

	if (!f)
		return 0;
	k->text = name_set_new();
	k->global = name_set_new();
	k->data = name_set_new();
	while (!err && k->text && k->global && k->data && fgets(line, sizeof(line), f))
		err = keep_symbol(k, line, wanted);
	fclose(f);
	if (!k->text || !k->global || !k->data || err)
		return -ENOMEM;
	name_set_seal(k->text);
	name_set_seal(k->global);
	name_set_seal(k->data);
	return 0;
}

static FILE *open_traceable(void)
{
	FILE *f = fopen("/sys/kernel/tracing/available_filter_functions", "re");

	return f ? f : fopen("/sys/kernel/debug/tracing/available_filter_functions", "re");
}

static int read_traceable(struct kernel *k, kernel_wanted wanted)
{
	FILE *f = open_traceable();
	char line[1024], name[512];
	int err = 0;

	if (!f) {
		k->traceable_err = -errno;
		return 0;
	}
	k->traceable = name_set_new();
	while (!err && k->traceable && fgets(line, sizeof(line), f))
		if (sscanf(line, "%511s", name) == 1 && wanted(name, strlen(name)))
			err = name_set_add(k->traceable, name);
	fclose(f);
	if (!k->traceable || err)
		return -ENOMEM;
	name_set_seal(k->traceable);
	return 0;
}

/* "none [integrity] confidentiality": the one in brackets holds, and each includes those before it. */
static void read_lockdown(struct kernel *k)
{
	char line[128];

	k->lockdown_integrity = k->lockdown_confidentiality = UNKNOWN;
	if (file_line("/sys/kernel/security/lockdown", line, sizeof(line)))
		return;
	k->lockdown_confidentiality = strstr(line, "[confidentiality]") ? YES : NO;
	k->lockdown_integrity = strstr(line, "[none]") ? NO : YES;
}

static int note_preempt_option(void *ctx, char *line)
{
	preempt_config_line(ctx, line);
	return 0;
}

/* Without debugfs the kernel does not show it: what it was built with and booted with tells. */
static void derive_preempt(struct kernel *k)
{
	struct preempt_config config = { 0 };
	char cmdline[8192];
	bool known = !file_line("/proc/cmdline", cmdline, sizeof(cmdline)), fixed;
	const char *model;

	if (kernel_config_each(note_preempt_option, &config))
		return;
	model = preempt_model(&config, known ? cmdline : NULL, &fixed);
	snprintf(k->preempt, sizeof(k->preempt), "%s", model);
	k->preempt_from = !*model ? PREEMPT_UNKNOWN : fixed ? PREEMPT_BUILT : PREEMPT_BOOTED;
}

static void read_preempt(struct kernel *k)
{
	char line[128], *open, *close;
	uint64_t rt = 0;

	if (!file_u64("/sys/kernel/realtime", &rt) && rt) {
		snprintf(k->preempt, sizeof(k->preempt), "rt");
		k->preempt_from = PREEMPT_SHOWN;
		return;
	}
	if (file_line("/sys/kernel/debug/sched/preempt", line, sizeof(line)))
		line[0] = '\0';
	open = strchr(line, '(');
	close = open ? strchr(open, ')') : NULL;
	if (!close) {
		derive_preempt(k);
		return;
	}
	*close = '\0';
	snprintf(k->preempt, sizeof(k->preempt), "%.15s", open + 1);
	k->preempt_from = PREEMPT_SHOWN;
}

/* The coarse clocks advance with the tick, and their resolution is its length. */
static unsigned int tick_hz(void)
{
	struct timespec res;

	if (clock_getres(CLOCK_MONOTONIC_COARSE, &res) || res.tv_sec || res.tv_nsec <= 0)
		return 0;
	return (unsigned int)((1000000000L + res.tv_nsec / 2) / res.tv_nsec);
}

static void read_cpus(struct kernel *k)
{
	int *cpus;

	if (!cpus_read("online", &cpus, &k->online_cpus))
		free(cpus);
	if (!cpus_read("possible", &cpus, &k->possible_cpus)) {
		k->possible_cpus =
			cpus[k->possible_cpus - 1] + 1; /* per-CPU arrays are indexed by number */
		free(cpus);
	}
}

/* The host's own maps all ids onto themselves. */
static bool in_user_namespace(void)
{
	char line[128];
	unsigned long long inside, outside, count;

	return !file_line("/proc/self/uid_map", line, sizeof(line)) &&
	       sscanf(line, "%llu %llu %llu", &inside, &outside, &count) == 3 &&
	       (inside || outside || count != 4294967295ULL);
}

static void read_settings(struct kernel *k)
{
	uint64_t v;

	k->hz = tick_hz();
	if (!file_u64("/sys/module/rcutree/parameters/jiffies_till_first_fqs", &v) && v < 1000000)
		k->first_fqs_jiffies = (unsigned int)v;
	k->kptr_restrict = file_u64("/proc/sys/kernel/kptr_restrict", &v) ? -1 : (int)v;
	k->user_namespace = in_user_namespace();
	if (file_line("/sys/kernel/security/lsm", k->lsm, sizeof(k->lsm)))
		k->lsm[0] = '\0';
	read_cpus(k);
	read_lockdown(k);
	read_preempt(k);
}

void kernel_probe_host(struct kernel *k)
{
	memset(k, 0, sizeof(*k));
	k->root = geteuid() == 0;
	k->caps = effective_caps();
	k->fentry = k->read_kernel = k->tasks_gp = k->ftrace_enabled = UNKNOWN;
	errno = 0;
	k->btf = btf__load_vmlinux_btf();
	if (!k->btf)
		k->btf_err = errno ? -errno : -ENOENT;
	read_settings(k);
}

int kernel_probe(struct kernel *k, kernel_wanted wanted)
{
	kernel_probe_host(k);
	return read_symbols(k, wanted);
}

int kernel_probe_ftrace(struct kernel *k, kernel_wanted wanted, bool thorough)
{
	uint64_t v;

	k->ftrace_enabled = file_u64("/proc/sys/kernel/ftrace_enabled", &v) ? UNKNOWN
			    : v                                             ? YES
									    : NO;
	return thorough ? read_traceable(k, wanted) : 0;
}
