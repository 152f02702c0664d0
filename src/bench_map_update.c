// SPDX-License-Identifier: GPL-2.0-only
/*
 * bench_map_update.c - the load map-update: one process on each CPU, each of whose calls updates, looks
 * up and deletes one key several times. The hot path of a map's allocator: no grace period is waited for.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bench.h"
#include "bench_crew.h"
#include "bench_loads.h"
#include "bench_pull.h"
#include "bench_update.skel.h"
#include "bpf_util.h"
#include "log.h"
#include "stats.h"

#define SECOND 1000000000ULL
#define STEP_NS 20000000ULL
#define UNTIL_CALLS_NS (3600 * SECOND) /* with --calls: for how long at most */
#define RATES 64
#define COUNT_CALLS 0
#define LOOKS 8 /* at the counts of one moment, see look() */

static const struct kind {
	const char *name;
	enum bpf_map_type type;
	uint32_t flags;
} kinds[] = {
	{ "hash", BPF_MAP_TYPE_HASH, BPF_F_NO_PREALLOC },
	{ "hash_preallocated", BPF_MAP_TYPE_HASH, 0 },
	{ "lru_hash", BPF_MAP_TYPE_LRU_HASH, 0 },
	{ "percpu_hash", BPF_MAP_TYPE_PERCPU_HASH, BPF_F_NO_PREALLOC },
	{ "percpu_hash_preallocated", BPF_MAP_TYPE_PERCPU_HASH, 0 },
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

struct options {
	uint32_t kinds; /* bits */
	uint64_t max_entries, rounds, calls, processes;
	uint64_t duration_ns, warm_up_ns;
	struct bench_cpus cpus;
	enum bench_pull_how trigger;
};

/* --- options --- */

static int parse_kinds(void *into, const char *list)
{
	uint32_t *bits = into;
	char name[32];

	for (*bits = 0; *list;
	     list += list[strcspn(list, ",")] ? strcspn(list, ",") + 1 : strlen(list)) {
		size_t i;

		snprintf(name, sizeof(name), "%.*s", (int)strcspn(list, ","), list);
		for (i = 0; i < KINDS && strcmp(name, kinds[i].name); i++)
			;
		if (i == KINDS)
			return log_err(-EINVAL,
				       "bench map-update: --map: \"%s\" is none; use hash, "
				       "hash_preallocated, lru_hash, percpu_hash, "
				       "percpu_hash_preallocated",
				       name);
		*bits |= 1u << i;
	}
	return *bits ? 0 : log_err(-EINVAL, "bench map-update: --map: no map in \"\"");
}

#define FIELD(member) .offset = offsetof(struct options, member)

static const struct opt options[] = {
	{ .name = "map",
	  .type = OPT_CALL,
	  .value = "LIST",
	  .help = "which kinds: hash (without preallocation), hash_preallocated, lru_hash, "
		  "percpu_hash, percpu_hash_preallocated (default: all)",
	  FIELD(kinds),
	  .call = parse_kinds },
	{ .name = "max-entries",
	  .type = OPT_U64,
	  .value = "N",
	  .help = "elements that a map has room for (default 16384)",
	  FIELD(max_entries),
	  .min = 1,
	  .max = 1 << 24 },
	{ .name = "rounds",
	  .type = OPT_U64,
	  .value = "N",
	  .help = "of update, lookup and delete in a call (default 10)",
	  FIELD(rounds),
	  .min = 1,
	  .max = 10000 },
	{ .name = "duration",
	  .letter = 'd',
	  .type = OPT_TIME,
	  .value = "TIME",
	  .help = "how long is measured (default 5s)",
	  FIELD(duration_ns),
	  .min = SECOND / 10,
	  .max = 86400 * SECOND },
	{ .name = "calls",
	  .type = OPT_U64,
	  .value = "N",
	  .help = "measure until each process has made so many instead",
	  FIELD(calls),
	  .min = 1 },
	{ .name = "warm-up",
	  .type = OPT_TIME,
	  .value = "TIME",
	  .help = "before that (default 1s)",
	  FIELD(warm_up_ns),
	  .max = 86400 * SECOND },
	{ .name = "processes",
	  .type = OPT_U64,
	  .value = "N",
	  .help = "each on a CPU of its own (default: as many as CPUs)",
	  FIELD(processes),
	  .min = 1,
	  .max = 65535 },
	{ .name = "affinity",
	  .type = OPT_CALL,
	  .value = "CPUS",
	  .help = "which CPUs, in this order (default: those that can be used)",
	  FIELD(cpus),
	  .call = bench_parse_affinity },
	{ .name = "trigger",
	  .type = OPT_CALL,
	  .value = "NAME",
	  .help = "what runs the program: getpgid, test_run, or any (default: the first that "
		  "works)",
	  FIELD(trigger),
	  .call = bench_pull_parse },
	{ 0 },
};

static void defaults(void *into)
{
	*(struct options *)into = (struct options){
		.kinds = (1u << KINDS) - 1,
		.max_entries = 16384,
		.rounds = 10,
		.warm_up_ns = SECOND,
	};
}

static int check(const void *of)
{
	const struct options *o = of;

	if (o->calls && o->duration_ns)
		return log_err(-EINVAL,
			       "bench map-update: --calls and --duration exclude each other");
	return 0;
}

static void release(void *of)
{
	struct options *o = of;

	free(o->cpus.cpu);
}

static const struct bench_column columns[] = {
	{ .title = "MAP" },
	{ .title = "EVENTS/s PER CPU", .of = "events_per_cpu", .sd = true },
	{ .title = "LEAST", .of = "events_least", .rank = 1 },
	{ .title = "MOST", .of = "events_most", .rank = 1 },
	{ .title = "SUM", .of = "events" },
	{ .title = "FAILED", .of = "failed" },
	{ 0 },
};

/* --- one kind of map --- */

/* What was counted by then: calls by process, and by the program. */
struct moment {
	uint64_t *calls;
	struct bench_work work;
};

struct updating {
	struct bench_run *run;
	const struct options *o;
	const struct kind *kind;
	struct bench_cpus cpus;
	struct bench_update_bpf *skel;
	struct bench_pull trigger;
	struct bench_crew crew;
	struct moment begin, end, now; /* of the window, and one that is being read */
	uint64_t calls, begin_ns, end_ns;
	uint64_t calls_then, then_ns;
	double rate[RATES];
	unsigned int rates;
};

static int update(void *ctx, struct bench_seat *seat)
{
	struct updating *u = ctx;
	int err = 0;

	bench_pull_claim(&u->trigger, seat->index);
	bench_seat_wait(seat);
	while (!err && !bench_seat_stopped(seat)) {
		err = bench_pull_once(&u->trigger, BENCH_ROUNDS, seat->index);
		seat->slot->count[COUNT_CALLS]++;
	}
	return err ? bench_seat_err(seat, err,
				    "map-update: the kernel does not run the program: %s",
				    strerror(-err))
		   : 0;
}

static int load(struct updating *u)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = u->kind->flags);
	int fd = bpf_map_create(u->kind->type, "kdefer_bench", sizeof(uint32_t), sizeof(uint64_t),
				(uint32_t)u->o->max_entries, &opts);
	int err;

	if (fd < 0)
		return bench_no_map(&bench_map_update, u->o->max_entries, -errno);
	u->skel = bench_update_bpf__open();
	if (!u->skel) {
		err = -errno;
		close(fd);
		return log_err(err, "map-update: cannot open its program: %s", strerror(-err));
	}
	u->skel->rodata->rounds = (uint32_t)u->o->rounds;
	err = bpf_map__reuse_fd(u->skel->maps.map, fd);
	close(fd);
	if (!err)
		err = bench_pull_prepare(u->skel->maps.work, u->cpus.n);
	if (!err)
		err = bpf_util_load(u->skel->obj);
	if (err)
		return log_err(err == -EPERM ? -ENODEV : err,
			       "map-update: the kernel does not load its program: %s",
			       bpf_util_load_error(err));
	return bench_pull_open(&u->trigger, u->o->trigger, u->skel->maps.work,
			       u->skel->progs.kb_update_call, u->skel->progs.kb_update_run);
}

/* --- the window --- */

static void take_rate(struct updating *u, uint64_t now_ns)
{
	uint64_t calls = bench_crew_sum(&u->crew, COUNT_CALLS);

	u->rate[u->rates++ % RATES] =
		(double)(calls - u->calls_then) * 1e9 / (double)(now_ns - u->then_ns);
	u->calls_then = calls;
	u->then_ns = now_ns;
}

static uint64_t calls_of(const struct updating *u, unsigned int i)
{
	return __atomic_load_n(&u->crew.slot[i].count[COUNT_CALLS], __ATOMIC_RELAXED);
}

/*
 * What the processes and the program counted at one moment: of several looks that with the fewest calls
 * made meanwhile, since whoever looks may have to wait for the CPU in between.
 */
static void look(struct updating *u, struct moment *at)
{
	uint64_t fewest = UINT64_MAX;

	for (int i = 0; i < LOOKS && fewest > u->crew.n; i++) {
		struct moment *now = &u->now, swap;
		uint64_t meanwhile = 0;

		for (unsigned int p = 0; p < u->crew.n; p++)
			now->calls[p] = calls_of(u, p);
		bench_pull_sum(&u->trigger, &now->work);
		for (unsigned int p = 0; p < u->crew.n; p++)
			meanwhile += calls_of(u, p) - now->calls[p];
		if (meanwhile >= fewest)
			continue;
		fewest = meanwhile;
		swap = *at;
		*at = *now;
		*now = swap;
	}
}

/* With --calls: all have made them. */
static bool is_enough(const struct updating *u)
{
	for (unsigned int i = 0; i < u->crew.n; i++)
		if (calls_of(u, i) - u->begin.calls[i] < u->o->calls)
			return false;
	return u->o->calls;
}

static int step(void *ctx, enum bench_when when, uint64_t now_ns)
{
	struct updating *u = ctx;
	uint64_t part = (u->o->duration_ns ? u->o->duration_ns : 5 * SECOND) / 5;

	if (when == BENCH_BEGIN) {
		look(u, &u->begin);
		u->calls_then = bench_crew_sum(&u->crew, COUNT_CALLS);
		u->begin_ns = u->then_ns = now_ns;
		return 0;
	}
	if (now_ns - u->then_ns >= (part < SECOND ? part : SECOND))
		take_rate(u, now_ns);
	if (when == BENCH_STEP)
		return is_enough(u);
	look(u, &u->end);
	u->end_ns = now_ns;
	return 0;
}

static int measure(struct updating *u)
{
	const struct bench_window w = {
		.what = u->kind->name,
		.warm_up_ns = u->o->warm_up_ns,
		.duration_ns = u->o->calls         ? UNTIL_CALLS_NS
			       : u->o->duration_ns ? u->o->duration_ns
						   : 5 * SECOND,
		.step_ns = STEP_NS,
		.step = step,
		.ctx = u,
	};
	int err, stopped;

	u->begin.calls = calloc(u->cpus.n, sizeof(*u->begin.calls));
	u->end.calls = calloc(u->cpus.n, sizeof(*u->end.calls));
	u->now.calls = calloc(u->cpus.n, sizeof(*u->now.calls));
	if (!u->begin.calls || !u->end.calls || !u->now.calls)
		return log_err(-ENOMEM, "out of memory");
	err = bench_crew_start(&u->crew, u->cpus.n, u->cpus.cpu, update, u);
	if (err)
		return err;
	bench_crew_go(&u->crew);
	err = bench_window(u->run, &u->crew, &w);
	stopped = bench_crew_finish(&u->crew);
	u->calls = bench_crew_sum(&u->crew, COUNT_CALLS);
	bench_crew_stop(&u->crew);
	return err && err != -EINTR ? err : stopped ? stopped : err;
}

/* --- the row --- */

static void put_events(struct bench_row *row, const struct updating *u)
{
	double s = (double)(u->end_ns - u->begin_ns) / 1e9, sum = 0, least = -1, most = 0;
	size_t n = u->rates < RATES ? u->rates : RATES;

	for (unsigned int i = 0; i < u->cpus.n; i++) {
		double rate = (double)(u->end.calls[i] - u->begin.calls[i]) / s;

		sum += rate;
		least = least < 0 || rate < least ? rate : least;
		most = rate > most ? rate : most;
	}
	bench_value_sd(row, "events_per_cpu", sum / u->cpus.n,
		       n > 1 ? stats_sd(u->rate, n) / u->cpus.n : -1, "/s", KD_BETTER_HIGHER);
	bench_value(row, "events_least", least, "/s", KD_BETTER_HIGHER);
	bench_value(row, "events_most", most, "/s", KD_BETTER_HIGHER);
	bench_value(row, "events", sum, "/s", KD_BETTER_HIGHER);
}

static void put_operations(struct bench_row *row, const struct updating *u)
{
	const struct bench_work *a = &u->begin.work, *b = &u->end.work;
	struct bench_work all;
	double s = (double)(u->end_ns - u->begin_ns) / 1e9;
	uint64_t failed = 0;

	for (int f = 0; f < BENCH_FAILURES; f++)
		failed += b->failed[f] - a->failed[f];
	bench_value(row, "map_ops",
		    (double)(b->updates + b->lookups + b->deletes - a->updates - a->lookups -
			     a->deletes) /
			    s,
		    "/s", KD_BETTER_HIGHER);
	bench_value(row, "failed", (double)failed, "count", KD_BETTER_LOWER);
	bench_pull_sum(&u->trigger, &all);
	bench_value(row, "missed", (double)(u->calls - all.runs), "count", KD_BETTER_LOWER);
}

static void put_row(struct updating *u)
{
	struct bench_row *row = bench_row(u->run->result, u->kind->name);

	bench_param(row, "processes", u->cpus.n);
	bench_param(row, "max_entries", u->o->max_entries);
	bench_param(row, "rounds", u->o->rounds);
	bench_param_text(row, "trigger", bench_pull_name(&u->trigger));
	bench_param(row, "duration_ns", u->end_ns - u->begin_ns);
	put_events(row, u);
	put_operations(row, u);
}

/* Every round takes out what it put in: nothing may be left. */
static int check_empty(const struct updating *u)
{
	uint32_t key;

	if (bpf_map_get_next_key(bpf_map__fd(u->skel->maps.map), NULL, &key))
		return 0;
	return log_err(-EIO, "map-update: %s left element %u: its figures mean nothing",
		       u->kind->name, key);
}

static int measure_kind(struct updating *u)
{
	int err = load(u);

	if (!err)
		err = measure(u);
	if ((!err || err == -EINTR) && u->end_ns)
		err = check_empty(u) ?: err;
	if ((!err || err == -EINTR) && u->end_ns)
		put_row(u);
	bench_pull_close(&u->trigger);
	bench_update_bpf__destroy(u->skel);
	free(u->begin.calls);
	free(u->end.calls);
	free(u->now.calls);
	return err;
}

static int map_update(struct bench_run *run, const void *of)
{
	const struct options *o = of;
	struct bench_cpus cpus;
	int err = bench_choose_cpus(&o->cpus, o->processes, &cpus);

	for (size_t i = 0; i < KINDS && !err; i++) {
		struct updating u = { .run = run, .o = o, .kind = &kinds[i], .cpus = cpus };

		if (o->kinds >> i & 1)
			err = measure_kind(&u);
	}
	free(cpus.cpu);
	return err;
}

const struct bench_load bench_map_update = {
	.name = "map-update",
	.summary = "Update, lookup and delete in hash maps, on each CPU: calls a second.",
	.usage = "[--map LIST] [--max-entries N] [--rounds N] [-d TIME | --calls N] "
		 "[--warm-up TIME] [--processes N] [--affinity CPUS] [--trigger NAME]",
	.does = "On each CPU, or as many as --processes says, one process keeps the kernel at work "
		"without a pause, for --warm-up and --duration, for each kind of map. Where the "
		"tracepoint of the system call getpgid() is used, a program is attached to that, "
		"and every system call of the host takes the slower way of traced ones meanwhile. "
		"A process has one element in the map at a time, so that memory does not grow. Maps "
		"and programs are gone with it.",
	.options = options,
	.size = sizeof(struct options),
	.defaults = defaults,
	.check = check,
	.release = release,
	.columns = columns,
	.run = map_update,
};
