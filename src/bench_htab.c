// SPDX-License-Identifier: GPL-2.0-only
/*
 * bench_htab.c - the load htab-mem: elements of a hash map are added, overwritten and deleted as fast
 * as it goes, and what that does to memory is watched.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "bench_htab.h"
#include "bench_loads.h"
#include "file.h"
#include "log.h"

static const char *const case_names[] = {
	[HTAB_NO_OP] = "no_op",
	[HTAB_OVERWRITE] = "overwrite",
	[HTAB_ADD_DELETE] = "batch_add_batch_del",
	[HTAB_PAIRS] = "add_del_on_diff_cpu",
};

const char *htab_case_name(enum htab_case of)
{
	return case_names[of];
}

/* --- options --- */

static int parse_case(void *into, const char *name)
{
	for (int i = 0; i < HTAB_CASES; i++)
		if (!strcmp(name, case_names[i])) {
			*(enum htab_case *)into = (enum htab_case)i;
			return 0;
		}
	return log_err(-EINVAL,
		       "bench htab-mem: --use-case: \"%s\" is none; use no_op, overwrite, "
		       "batch_add_batch_del or add_del_on_diff_cpu",
		       name);
}

#define FIELD(member) .offset = offsetof(struct htab_options, member)
#define SECOND 1000000000ULL

static const struct opt options[] = {
	{ .name = "use-case",
	  .type = OPT_CALL,
	  .value = "NAME",
	  .help = "no_op, overwrite (default), batch_add_batch_del or add_del_on_diff_cpu",
	  FIELD(use_case),
	  .call = parse_case },
	{ .name = "all", .type = OPT_FLAG, .help = "one after the other: the table", FIELD(all) },
	{ .name = "max-entries",
	  .type = OPT_U64,
	  .value = "N",
	  .help = "elements that the map has room for (default 16384)",
	  FIELD(max_entries),
	  .min = 1,
	  .max = 1 << 24 },
	{ .name = "full",
	  .type = OPT_FLAG,
	  .help = "as many keys as the map has room for; without, half as many",
	  FIELD(full) },
	{ .name = "keys",
	  .type = OPT_U64,
	  .value = "N",
	  .help = "keys of each producer instead (64 as in the kernel's own benchmark)",
	  FIELD(keys),
	  .min = 1,
	  .max = 1 << 22 },
	{ .name = "batch",
	  .type = OPT_U64,
	  .value = "N",
	  .help = "updates in one program run, 0: the whole share of a producer (default 64)",
	  FIELD(batch),
	  .max = 1 << 22 },
	{ .name = "value-size",
	  .type = OPT_SIZE,
	  .value = "SIZE",
	  .help = "bytes of a value (default 8)",
	  FIELD(value_size),
	  .min = 1,
	  .max = BENCH_VALUE_MAX },
	{ .name = "preallocated",
	  .type = OPT_FLAG,
	  .help = "a map that allocates all of its elements when it is made",
	  FIELD(preallocated) },
	{ .name = "producers",
	  .type = OPT_U64,
	  .value = "N",
	  .help = "processes, each on a CPU of its own (default: as many as CPUs)",
	  FIELD(producers),
	  .min = 1,
	  .max = 65535 },
	{ .name = "affinity",
	  .type = OPT_CALL,
	  .value = "CPUS",
	  .help = "which CPUs, in this order (default: those that can be used)",
	  FIELD(cpus),
	  .call = bench_parse_affinity },
	{ .name = "duration",
	  .letter = 'd',
	  .type = OPT_TIME,
	  .value = "TIME",
	  .help = "how long is measured (default 10s)",
	  FIELD(duration_ns),
	  .min = SECOND / 10,
	  .max = 86400 * SECOND },
	{ .name = "warm-up",
	  .type = OPT_TIME,
	  .value = "TIME",
	  .help = "before that (default 3s)",
	  FIELD(warm_up_ns),
	  .max = 86400 * SECOND },
	{ .name = "trigger",
	  .type = OPT_CALL,
	  .value = "NAME",
	  .help = "what runs the program: getpgid, test_run, or any (default: the first that "
		  "works)",
	  FIELD(trigger),
	  .call = bench_pull_parse },
	{ .name = "look",
	  .type = OPT_TIME,
	  .value = "TIME",
	  .help = "how often lists of freed memory are read, 0: never (default 100ms)",
	  FIELD(look_ns),
	  .max = 60 * SECOND },
	{ .name = "limit",
	  .type = OPT_SIZE,
	  .value = "SIZE",
	  .help = "memory that it may take (default: half of what is available)",
	  FIELD(limit),
	  .min = 1 << 20 },
	{ 0 },
};

static void defaults(void *into)
{
	*(struct htab_options *)into = (struct htab_options){
		.use_case = HTAB_OVERWRITE,
		.max_entries = 16384,
		.batch = 64,
		.value_size = 8,
		.duration_ns = 10 * SECOND,
		.warm_up_ns = 3 * SECOND,
		.look_ns = SECOND / 10,
	};
}

static int check(const void *of)
{
	const struct htab_options *o = of;

	if (o->keys && o->full)
		return log_err(-EINVAL, "bench htab-mem: --keys and --full exclude each other");
	if (o->producers && o->cpus.n && o->producers > o->cpus.n)
		return log_err(
			-EINVAL,
			"bench htab-mem: --affinity: %u CPUs for %llu producers, each of which "
			"needs one of its own",
			o->cpus.n, (unsigned long long)o->producers);
	if (!o->all && o->use_case == HTAB_PAIRS && o->producers % 2)
		return log_err(
			-EINVAL,
			"bench htab-mem: add_del_on_diff_cpu works in pairs: --producers has "
			"to be even");
	return 0;
}

static void release(void *of)
{
	struct htab_options *o = of;

	free(o->cpus.cpu);
}

static const struct bench_column columns[] = {
	{ .title = "NAME" },
	{ .title = "LOOP k/s", .of = "loops", .scale = 1e3, .decimals = 2, .sd = true },
	{ .title = "AVG MiB", .of = "memory_average", .scale = 1 << 20, .decimals = 2 },
	{ .title = "PEAK MiB", .of = "memory_peak", .scale = 1 << 20, .decimals = 2 },
	{ .title = "FAILED", .of = "failed" },
	{ .title = "Mop/s", .of = "map_ops", .scale = 1e6, .decimals = 2 },
	{ .title = "WAITING", .of = "waiting_peak", .rank = 1 },
	{ 0 },
};

/* --- sizes --- */

unsigned int htab_share(const struct htab_options *o, unsigned int shares)
{
	uint64_t all = o->full ? o->max_entries : (o->max_entries + 1) / 2;

	if (o->keys)
		return (unsigned int)o->keys;
	return all / shares ? (unsigned int)(all / shares) : 1;
}

unsigned int htab_batch(const struct htab_options *o, unsigned int keys)
{
	return o->batch && o->batch < keys ? (unsigned int)o->batch : keys;
}

/* --- the cases --- */

static int run_case(struct htab *h, enum htab_case of)
{
	const struct bench_cpus all = h->cpus;
	int err;

	if (of == HTAB_PAIRS)
		h->cpus.n &= ~1u;
	if (!h->cpus.n) {
		if (!h->o->all)
			err = log_err(-ENODEV, "htab-mem: add_del_on_diff_cpu needs two CPUs");
		else
			err = htab_absent(h, of, "it needs two CPUs");
	} else {
		err = htab_measure(h, of);
	}
	h->cpus = all;
	return err;
}

static int run_cases(struct htab *h)
{
	int err = 0;

	if (!h->o->all)
		return run_case(h, h->o->use_case);
	for (int i = 0; i < HTAB_CASES && !err; i++)
		err = run_case(h, (enum htab_case)i);
	return err;
}

/* Half of what could be had now; 0: not known. */
static uint64_t default_limit(void)
{
	char text[64];

	if (file_field("/proc/meminfo", "MemAvailable", text, sizeof(text)))
		return 0;
	return strtoull(text, NULL, 10) * 1024 / 2;
}

static int htab_mem(struct bench_run *run, const void *of)
{
	struct htab h = { .run = run, .o = of };
	int err = bench_choose_cpus(&h.o->cpus, h.o->producers, &h.cpus);

	h.limit = h.o->limit ? h.o->limit : default_limit();
	if (!err && h.o->look_ns && !h.o->preallocated)
		err = bench_lists_start(&h.lists, h.o->look_ns);
	if (!err)
		err = run_cases(&h);
	bench_lists_stop(&h.lists);
	free(h.cpus.cpu);
	return err;
}

const struct bench_load bench_htab_mem = {
	.name = "htab-mem",
	.summary = "Memory of a hash map whose elements come and go: loops, average, peak.",
	.usage = "[--use-case NAME | --all] [--max-entries N] [--full | --keys N] [--batch N] "
		 "[--value-size SIZE] [--preallocated] [--producers N] [--affinity CPUS] "
		 "[-d TIME] [--warm-up TIME] [--trigger NAME] [--look TIME] [--limit SIZE]",
	.does = "On each CPU, or as many as --producers says, one process keeps the kernel at work "
		"without a pause, for --warm-up and --duration, with --all four times. What it frees "
		"waits for grace periods, and on some kernels memory grows by gigabytes in seconds: "
		"it is in a cgroup of its own, which may take --limit. Where the tracepoint of the "
		"system call getpgid() is used, a program is attached to that, and every system call "
		"of the host takes the slower way of traced ones meanwhile. Every --look the CPUs "
		"are interrupted to read their lists. The map, the program and the cgroup are gone "
		"with it; so is the memory controller where it had to be switched on for that.",
	.options = options,
	.size = sizeof(struct htab_options),
	.defaults = defaults,
	.check = check,
	.release = release,
	.columns = columns,
	.run = htab_mem,
};
