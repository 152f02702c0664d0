// SPDX-License-Identifier: GPL-2.0-only
/*
 * rstat_callers.c - which functions on the stack of a flush say for whom it is done, or of what.
 *
 * Looked up here and once: to ask the kernel for the name of an address takes far longer than a hold
 * of the lock does.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "rstat_callers.h"

static const struct {
	const char *function;
	uint8_t class, sub;
} callers[] = {
	{ "memory_stat_show", KD_FC_MEMORY_STAT, KD_FL_SUB_MEMORY },
	{ "memory_stat_format", KD_FC_MEMORY_STAT, KD_FL_SUB_MEMORY },
	{ "memcg_stat_show", KD_FC_MEMORY_STAT, KD_FL_SUB_MEMORY },
	{ "memcg_stat_format", KD_FC_MEMORY_STAT, KD_FL_SUB_MEMORY },
	{ "memcg1_stat_format", KD_FC_MEMORY_STAT, KD_FL_SUB_MEMORY },
	{ "memory_numa_stat_show", KD_FC_MEMORY_STAT, KD_FL_SUB_MEMORY },
	{ "memcg_numa_stat_show", KD_FC_MEMORY_STAT, KD_FL_SUB_MEMORY },
	{ "cpu_stat_show", KD_FC_CPU_STAT, KD_FL_SUB_BASE },
	{ "cpu_local_stat_show", KD_FC_CPU_STAT, KD_FL_SUB_BASE },
	{ "cgroup_base_stat_cputime_show", KD_FC_CPU_STAT, KD_FL_SUB_BASE },
	{ "blkcg_print_stat", KD_FC_IO_STAT, KD_FL_SUB_IO },
	{ "flush_memcg_stats_dwork", KD_FC_PERIODIC, KD_FL_SUB_MEMORY },
	{ "obj_cgroup_may_zswap", KD_FC_ZSWAP, KD_FL_SUB_MEMORY },
	{ "zswap_shrinker_count", KD_FC_ZSWAP, KD_FL_SUB_MEMORY },
	{ "zswap_shrinker_scan", KD_FC_ZSWAP, KD_FL_SUB_MEMORY },
	{ "shrink_node", KD_FC_RECLAIM, KD_FL_SUB_MEMORY },
	{ "shrink_many", KD_FC_RECLAIM, KD_FL_SUB_MEMORY },
	{ "shrink_slab", KD_FC_RECLAIM, KD_FL_SUB_MEMORY },
	{ "balance_pgdat", KD_FC_RECLAIM, KD_FL_SUB_MEMORY },
	{ "count_shadow_nodes", KD_FC_RECLAIM, KD_FL_SUB_MEMORY },
	{ "workingset_refault", KD_FC_RECLAIM, KD_FL_SUB_MEMORY },
	{ "css_rstat_exit", KD_FC_REMOVAL, KD_FL_NONE },
	{ "cgroup_rstat_exit", KD_FC_REMOVAL, KD_FL_NONE },
	{ "css_killed_work_fn", KD_FC_REMOVAL, KD_FL_NONE },
	{ "mem_cgroup_css_offline", KD_FC_REMOVAL, KD_FL_SUB_MEMORY },
	{ "css_release_work_fn", KD_FC_REMOVAL, KD_FL_NONE },
	{ "css_free_rwork_fn", KD_FC_REMOVAL, KD_FL_NONE },
	{ "bpf_mem_cgroup_flush_stats", KD_FC_BPF, KD_FL_SUB_MEMORY },
	{ "bpf_iter_run_prog", KD_FC_BPF, KD_FL_NONE },
	{ "bpf_prog_test_run_syscall", KD_FC_BPF, KD_FL_NONE },
	/* Not for whom, but of what: who is further out says for whom. */
	{ "__mem_cgroup_flush_stats", KD_FC_OTHER, KD_FL_SUB_MEMORY },
	{ "mem_cgroup_flush_stats", KD_FC_OTHER, KD_FL_SUB_MEMORY },
	{ "mem_cgroup_flush_stats_ratelimited", KD_FC_OTHER, KD_FL_SUB_MEMORY },
	{ "do_flush_stats", KD_FC_OTHER, KD_FL_SUB_MEMORY },
};

#define CALLERS (sizeof(callers) / sizeof(callers[0]))

struct found {
	uint64_t *text; /* addresses of all functions of the core kernel */
	size_t ntext, room;
	struct rs_range *ranges;
	size_t nranges;
};

/* The compiler may have added a suffix (.isra.0, .part.0 and such). */
static int caller_of(const char *name)
{
	size_t len = strcspn(name, ".");

	for (size_t i = 0; i < CALLERS; i++)
		if (strlen(callers[i].function) == len && !strncmp(callers[i].function, name, len))
			return (int)i;
	return -1;
}

static int add_text(struct found *f, uint64_t address)
{
	if (f->ntext == f->room) {
		size_t room = f->room ? 2 * f->room : 1u << 16;
		uint64_t *text = reallocarray(f->text, room, sizeof(*text));

		if (!text)
			return -ENOMEM;
		f->text = text;
		f->room = room;
	}
	f->text[f->ntext++] = address;
	return 0;
}

static int read_symbols(struct found *f)
{
	FILE *in = fopen("/proc/kallsyms", "re");
	unsigned long long address;
	char line[768], name[512], type;
	int err = 0, i;

	if (!in)
		return -errno;
	while (!err && fgets(line, sizeof(line), in)) {
		if (strchr(line, '['))
			break; /* modules come last */
		if (sscanf(line, "%llx %c %511s", &address, &type, name) != 3 || !address ||
		    !strchr("tTwW", type))
			continue;
		err = add_text(f, address);
		i = caller_of(name);
		if (i >= 0 && f->nranges < RS_RANGES)
			f->ranges[f->nranges++] = (struct rs_range){
				.from = address,
				.says = callers[i].class | (uint32_t)callers[i].sub << 8,
			};
	}
	fclose(in);
	return err;
}

static int by_address(const void *pa, const void *pb)
{
	const uint64_t *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

static int by_from(const void *pa, const void *pb)
{
	const struct rs_range *a = pa, *b = pb;

	return (a->from > b->from) - (a->from < b->from);
}

/* A function ends where the next begins. */
static void set_ends(struct found *f)
{
	size_t at = 0;

	qsort(f->text, f->ntext, sizeof(*f->text), by_address);
	qsort(f->ranges, f->nranges, sizeof(*f->ranges), by_from);
	for (size_t i = 0; i < f->nranges; i++) {
		while (at < f->ntext && f->text[at] <= f->ranges[i].from)
			at++;
		f->ranges[i].to = at < f->ntext ? f->text[at] : f->ranges[i].from;
	}
}

int rstat_callers(struct rs_range ranges[RS_RANGES], struct rs_range *text)
{
	struct found f = { .ranges = ranges };
	int err;

	for (size_t i = 0; i < RS_RANGES; i++)
		ranges[i] = (struct rs_range){ .from = UINT64_MAX };
	err = read_symbols(&f);
	if (!err)
		set_ends(&f);
	*text = (struct rs_range){ .to = UINT64_MAX };
	if (!err && f.ntext) {
		text->from = f.text[0];
		text->to = f.text[f.ntext - 1];
	}
	free(f.text);
	return err ? log_err(err, "rstat: cannot read /proc/kallsyms: %s", strerror(-err)) : 0;
}
