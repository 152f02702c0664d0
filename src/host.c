// SPDX-License-Identifier: GPL-2.0-only
/* host.c - facts about this host and this run, as KD_REC_HOST records. */
#include <cpuid.h>
#include <elf.h>
#include <errno.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "clock.h"
#include "file.h"
#include "format.h"
#include "host.h"
#include "kernel.h"
#include "kernel_config.h"
#include "stream.h"

int host_fact(struct stream *s, const char *name, const char *value)
{
	uint64_t buf[KD_REC_MAX / sizeof(uint64_t)];
	size_t room = KD_REC_MAX - offsetof(struct kd_rec_text, text) - strlen(name) - 2;
	char marked[KD_REC_MAX];
	const char *texts[] = { name, value };
	const struct kd_rec *rec;

	if (!value || !*value)
		return 0;
	if (strlen(value) > room) {
		snprintf(marked, sizeof(marked), "%.*s..", (int)room - 2, value);
		texts[1] = marked;
	}
	rec = stream_make_text(buf, KD_REC_HOST, 0, 0, texts, 2);
	return stream_record(s, rec, rec->len);
}

static int fact_u64(struct stream *s, const char *name, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	return host_fact(s, name, text);
}

static int fact_file(struct stream *s, const char *name, const char *path)
{
	char line[2048];

	return file_line(path, line, sizeof(line)) ? 0 : host_fact(s, name, line);
}

/* The GNU build id note among the kernel's notes, in hex. */
static int fact_build_id(struct stream *s)
{
	unsigned char notes[4096];
	char hex[2 * 64 + 1] = "";
	FILE *f = fopen("/sys/kernel/notes", "re");
	size_t len, at = 0;

	if (!f)
		return 0;
	len = fread(notes, 1, sizeof(notes), f);
	fclose(f);
	while (at + sizeof(Elf64_Nhdr) <= len) {
		Elf64_Nhdr n;
		size_t name, desc;

		memcpy(&n, notes + at, sizeof(n));
		name = at + sizeof(n);
		desc = name + ((n.n_namesz + 3UL) & ~3UL);
		at = desc + ((n.n_descsz + 3UL) & ~3UL);
		if (at > len || n.n_type != NT_GNU_BUILD_ID || n.n_namesz != 4 ||
		    memcmp(notes + name, "GNU", 4) || n.n_descsz > 64)
			continue;
		for (size_t i = 0; i < n.n_descsz; i++)
			snprintf(hex + 2 * i, 3, "%02x", notes[desc + i]);
	}
	return host_fact(s, "build_id", hex);
}

static int fact_numa(struct stream *s)
{
	glob_t g;
	int err = 0;

	if (!glob("/sys/devices/system/node/node[0-9]*", 0, NULL, &g)) {
		err = fact_u64(s, "numa_nodes", g.gl_pathc);
		globfree(&g);
	}
	return err;
}

/* Who runs below us, by the name it gives itself ("KVMKVMKVM", "Microsoft Hv", "TCGTCGTCGTCG"). */
static bool hypervisor(char *buf, size_t size)
{
	unsigned int eax, words[3], ecx;

	if (!file_line("/sys/hypervisor/type", buf, size))
		return true;
	if (!__get_cpuid(1, &eax, &words[0], &ecx, &words[1]) || !(ecx >> 31 & 1))
		return false;
	__cpuid(0x40000000, eax, words[0], words[1], words[2]);
	snprintf(buf, size, "%.12s", (const char *)words);
	return *buf;
}

static int fact_cpu(struct stream *s)
{
	char line[256];
	int err = 0;

	if (!file_field("/proc/cpuinfo", "model name", line, sizeof(line)))
		err = host_fact(s, "cpu_model", line);
	if (!err && hypervisor(line, sizeof(line)))
		err = host_fact(s, "hypervisor", line);
	return err;
}

static int fact_uname(struct stream *s)
{
	struct utsname u;
	int err;

	if (uname(&u))
		return 0;
	err = host_fact(s, "hostname", u.nodename);
	if (!err)
		err = host_fact(s, "kernel", u.release);
	if (!err)
		err = host_fact(s, "kernel_version", u.version);
	return err ? err : host_fact(s, "machine", u.machine);
}

static int fact_kernel(const struct kernel *k, struct stream *s)
{
	int err = host_fact(s, "preempt", k->preempt);

	if (!err)
		err = host_fact(s, "preempt_from", preempt_from_name(k));
	if (!err)
		err = fact_u64(s, "cpus_online", (uint64_t)k->online_cpus);
	if (!err)
		err = fact_u64(s, "cpus_possible", (uint64_t)k->possible_cpus);
	if (!err && k->hz)
		err = fact_u64(s, "hz", k->hz);
	if (!err && k->first_fqs_jiffies)
		err = fact_u64(s, "first_fqs_jiffies", k->first_fqs_jiffies);
	return err;
}

/* How RCU learns of quiescent states here: what a long grace period is held against. */
static int fact_rcu(const struct kernel *k, struct stream *s)
{
	uint64_t v;
	int err = 0;

	if (k->btf)
		err = host_fact(s, "preempt_rcu",
				kernel_has_field(k, "task_struct", "rcu_read_lock_nesting") ? "yes"
											    : "no");
	if (!err && !file_u64("/sys/module/rcutree/parameters/jiffies_to_sched_qs", &v) && v &&
	    v < 1000000)
		err = fact_u64(s, "to_sched_qs_jiffies", v);
	return err;
}

/* Options that bear on what is measured here; a kernel's whole configuration is thousands of lines. */
static bool config_matters(const char *line)
{
	static const char *const parts[] = {
		"CONFIG_HZ",    "CONFIG_PREEMPT",      "RCU", "CONFIG_NO_HZ", "CONFIG_SLUB",
		"CONFIG_MEMCG", "CONFIG_DEBUG_OBJECTS"
	};

	if (strncmp(line, "CONFIG_", 7))
		return false;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strstr(line, parts[i]))
			return true;
	return false;
}

static int fact_option(void *ctx, char *line)
{
	char *value = strchr(line, '='), name[600];

	if (!value || !config_matters(line))
		return 0;
	*value++ = '\0';
	snprintf(name, sizeof(name), "config.%s", line);
	return host_fact(ctx, name, value);
}

static int fact_config(struct stream *s)
{
	int err = kernel_config_each(fact_option, s);

	return err == -ENOENT ? 0 : err;
}

/* Which lists of BPF memory wait for what differs; an empty list would not tell. */
static int fact_memalloc(const struct kernel *k, struct stream *s)
{
	bool there = k->btf && kernel_has_field(k, "bpf_mem_cache", "free_by_rcu");
	bool trace_lists = there && kernel_has_field(k, "bpf_mem_cache", "free_by_rcu_ttrace");

	return there ? host_fact(s, "memalloc_variant", trace_lists ? "B" : "A") : 0;
}

int host_emit(const struct kernel *k, struct stream *s)
{
	int err = fact_uname(s);

	if (!err)
		err = fact_kernel(k, s);
	if (!err)
		err = fact_rcu(k, s);
	if (!err)
		err = fact_file(s, "boot_id", "/proc/sys/kernel/random/boot_id");
	if (!err)
		err = fact_file(s, "cmdline", "/proc/cmdline");
	if (!err)
		err = fact_file(s, "taint", "/proc/sys/kernel/tainted");
	if (!err)
		err = fact_memalloc(k, s);
	if (!err)
		err = fact_build_id(s);
	if (!err)
		err = fact_numa(s);
	if (!err)
		err = fact_config(s);
	return err ? err : fact_cpu(s);
}

int host_emit_clock(struct stream *s)
{
	uint64_t mono = clock_mono_ns(), real = clock_ns(CLOCK_REALTIME),
		 boot = clock_ns(CLOCK_BOOTTIME);
	char start[FMT_LEN];
	int err = host_fact(s, "start", fmt_rfc3339(start, sizeof(start), real));

	if (!err)
		err = fact_u64(s, "realtime_ns", real);
	if (!err)
		err = fact_u64(s, "monotonic_ns", mono);
	return err ? err : fact_u64(s, "boottime_ns", boot);
}
