// SPDX-License-Identifier: GPL-2.0-only
/*
 * bench_rstat.c - `bench rstat`: readers of one memory.stat, each of which has the kernel flush the
 * statistics of all cgroups below it that were updated, beside processes that run into a limit of
 * memory and are killed, again and again.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "bench_crew.h"
#include "bench_guard.h"
#include "bench_loads.h"
#include "bench_memory.h"
#include "bench_watch.h"
#include "clock.h"
#include "histogram.h"
#include "log.h"

#define MS 1000000ULL
#define TICK_NS (250 * MS)
#define TOUCHED 16        /* pages that a process in a cgroup takes and gives back at a time */
#define TOUCH_US 10000    /* and how long it rests then */
#define STAT_SIZE 65536   /* memory.stat is shorter */
#define MEMBERS_MAX 10000 /* cgroups; readers and hogs too */

struct rstat_options {
	uint64_t readers, hogs, cgroups; /* readers 0: one for each CPU */
	uint64_t limit;
	uint64_t warm_up_ns, duration_ns;
	bool unwatched;
};

/* What processes share beside what each counts. */
struct phase {
	int measured; /* the window is on */
};

enum counts { READS, KILLS, RUNS };

struct rstat {
	struct bench_run *run;
	const struct rstat_options *o;
	unsigned int readers, hogs; /* of this part */
	struct bench_cgroup top;
	char hog_path[PATH_MAX + 16];
	struct bench_crew crew;
	struct bench_watch watch;
	struct phase *phase;
	struct hist *hist; /* one of each reader, shared */
	uint64_t begun_ns, ended_ns, reads, runs, runs_before, kills, kills_before;
};

/* --- readers --- */

static int read_stat(int fd, char *buf)
{
	ssize_t n = pread(fd, buf, STAT_SIZE, 0);

	return n > 0 ? 0 : n < 0 ? -errno : -EIO;
}

static int be_reader(const struct rstat *r, struct bench_seat *seat)
{
	char path[PATH_MAX + 32], *buf = malloc(STAT_SIZE);
	struct hist *h = &r->hist[seat->index];
	uint64_t *reads = &seat->slot->count[READS];
	int fd, err = 0;

	snprintf(path, sizeof(path), "%s/memory.stat", r->top.path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || !buf)
		return bench_seat_err(seat, -errno, "%s: %s", path, strerror(errno));
	bench_seat_wait(seat);
	while (!bench_seat_stopped(seat) && !err) {
		uint64_t begin = clock_mono_ns();

		err = read_stat(fd, buf);
		if (err || !__atomic_load_n(&r->phase->measured, __ATOMIC_RELAXED))
			continue;
		hist_add(h, clock_mono_ns() - begin);
		__atomic_store_n(reads, *reads + 1, __ATOMIC_RELAXED);
	}
	return err ? bench_seat_err(seat, err, "%s: %s", path, strerror(-err)) : 0;
}

/* --- hogs --- */

/* More than the limit allows, until it is killed for that. */
static void __attribute__((noreturn)) eat(const struct rstat *r, pid_t parent)
{
	struct bench_cgroup hogs = { .version = r->top.version };
	size_t size = 2 * r->o->limit, page = (size_t)sysconf(_SC_PAGESIZE);
	char *at;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(hogs.path, sizeof(hogs.path), "%.*s", (int)sizeof(hogs.path) - 1, r->hog_path);
	if (getppid() != parent || bench_cgroup_join(&hogs))
		_exit(2);
	at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		_exit(3);
	for (size_t i = 0; i < size; i += page)
		at[i] = 1;
	_exit(4);
}

static int one_hog(const struct rstat *r, struct bench_seat *seat)
{
	pid_t parent = getpid(), pid = fork();
	int status;

	if (!pid)
		eat(r, parent);
	if (pid < 0)
		return bench_seat_err(seat, -errno, "cannot start a process: %s", strerror(errno));
	while (waitpid(pid, &status, WNOHANG) != pid) {
		if (bench_seat_stopped(seat))
			kill(pid, SIGKILL);
		usleep(1000);
	}
	if (bench_seat_stopped(seat))
		return 0;
	if (WIFEXITED(status))
		return bench_seat_err(seat, -EIO,
				      WEXITSTATUS(status) == 2 ? "%s: cannot be joined"
				      : WEXITSTATUS(status) == 4
					      ? "%s: its limit of memory does nothing"
					      : "%s: no memory for a process in it",
				      r->hog_path);
	__atomic_store_n(&seat->slot->count[RUNS], seat->slot->count[RUNS] + 1, __ATOMIC_RELAXED);
	return 0;
}

static int be_hog(const struct rstat *r, struct bench_seat *seat)
{
	int err = 0;

	bench_seat_wait(seat);
	while (!bench_seat_stopped(seat) && !err)
		err = one_hog(r, seat);
	return err;
}

/* --- who keeps a cgroup's statistics moving --- */

static int be_member(const struct rstat *r, struct bench_seat *seat, unsigned int i)
{
	struct bench_cgroup g = { .version = r->top.version };
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = TOUCHED * page;
	char *at;
	int err;

	if (snprintf(g.path, sizeof(g.path), "%s/c%u", r->top.path, i) >= (int)sizeof(g.path))
		return bench_seat_err(seat, -ENAMETOOLONG, "too long a path");
	err = bench_cgroup_join(&g);
	if (err)
		return bench_seat_err(seat, err, "%s: cannot be joined: %s", g.path,
				      strerror(-err));
	at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		return bench_seat_err(seat, -ENOMEM, "out of memory");
	bench_seat_wait(seat);
	while (!bench_seat_stopped(seat)) {
		for (size_t k = 0; k < size; k += page)
			at[k] = 1;
		madvise(at, size, MADV_DONTNEED);
		usleep(TOUCH_US);
	}
	return 0;
}

/* Readers first, then hogs, then members of cgroups. */
static int work(void *ctx, struct bench_seat *seat)
{
	const struct rstat *r = ctx;

	if (seat->index < r->readers)
		return be_reader(r, seat);
	if (seat->index < r->readers + r->hogs)
		return be_hog(r, seat);
	return be_member(r, seat, seat->index - r->readers - r->hogs);
}

/* --- cgroups --- */

static int make_below(struct rstat *r, const char *path)
{
	int err = bench_guard_cgroup(r->run->guard, path);

	if (!err && mkdir(path, 0755))
		err = log_err(-errno, "%s: %s", path, strerror(errno));
	return err;
}

static int make_hogs(struct rstat *r)
{
	struct bench_cgroup g = { .version = r->top.version };
	int err;

	snprintf(r->hog_path, sizeof(r->hog_path), "%s/hogs", r->top.path);
	err = make_below(r, r->hog_path);
	if (err)
		return err;
	snprintf(g.path, sizeof(g.path), "%.*s", (int)sizeof(g.path) - 1, r->hog_path);
	err = bench_cgroup_limit(&g, r->o->limit);
	if (err)
		return log_err(err, "%s: cannot be limited: %s", g.path, strerror(-err));
	/* No swapping in place of being killed; where there is none the file is not there. */
	bench_cgroup_write(g.path, "memory.swap.max", "0");
	return 0;
}

static int make_cgroups(struct rstat *r)
{
	char path[PATH_MAX + 32];
	int err = bench_cgroup_make(&r->top, r->run->guard, NULL);

	if (err)
		return log_err(err, "bench rstat: %s", r->top.why);
	if (r->top.version == 2)
		err = bench_cgroup_write(r->top.path, "cgroup.subtree_control", "+memory");
	if (err)
		return log_err(err, "%s: cannot count memory below it: %s", r->top.path,
			       strerror(-err));
	for (uint64_t i = 0; i < r->o->cgroups && !err; i++) {
		snprintf(path, sizeof(path), "%s/c%llu", r->top.path, (unsigned long long)i);
		err = make_below(r, path);
	}
	return err || !r->o->hogs ? err : make_hogs(r);
}

/* Processes that the kernel has killed there; v1 counts them elsewhere. */
static uint64_t oom_kills(const struct rstat *r)
{
	char path[PATH_MAX + 64], line[128];
	unsigned long long n = 0;
	FILE *f;

	if (!r->o->hogs)
		return 0;
	snprintf(path, sizeof(path), "%s/%s", r->hog_path,
		 r->top.version == 2 ? "memory.events" : "memory.oom_control");
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "oom_kill ", 9))
			n = strtoull(line + 9, NULL, 10);
	if (f)
		fclose(f);
	return n;
}

/* --- a window --- */

static int step(void *ctx, enum bench_when when, uint64_t now)
{
	struct rstat *r = ctx;
	int err;

	if (when == BENCH_BEGIN) {
		err = bench_watch_rebase(&r->watch);
		r->kills_before = oom_kills(r);
		r->runs_before = bench_crew_sum(&r->crew, RUNS);
		r->begun_ns = clock_mono_ns();
		__atomic_store_n(&r->phase->measured, 1, __ATOMIC_RELAXED);
		return err;
	}
	if (when == BENCH_END) {
		__atomic_store_n(&r->phase->measured, 0, __ATOMIC_RELAXED);
		r->ended_ns = now;
		r->kills = oom_kills(r) - r->kills_before;
		r->runs = bench_crew_sum(&r->crew, RUNS) - r->runs_before;
	}
	return bench_watch_tick(&r->watch);
}

static void put_reads(struct bench_row *row, const struct rstat *r, const struct hist *h)
{
	uint64_t rows[HIST_POW2_ROWS], n = hist_count(h);
	double seconds = (double)(r->ended_ns - r->begun_ns) / 1e9;
	int mode = 0;
	uint64_t p99;

	bench_value(row, "reads", (double)n, "count", KD_BETTER_HIGHER);
	bench_value(row, "rate", (double)n / seconds, "/s", KD_BETTER_HIGHER);
	if (!n) {
		bench_absent(row, "mode", "ns", KD_BETTER_LOWER, "no read ended in the window");
		return;
	}
	hist_fold(h, rows);
	for (int i = 0; i < HIST_POW2_ROWS; i++)
		if (rows[i] > rows[mode])
			mode = i;
	bench_value(row, "mode", ldexp(1, mode), "ns", KD_BETTER_LOWER);
	bench_value(row, "mean", (double)h->sum / (double)n, "ns", KD_BETTER_LOWER);
	if (!hist_quantile(h, 0.99, &p99))
		bench_value(row, "p99", (double)p99, "ns", KD_BETTER_LOWER);
	else
		bench_absent(row, "p99", "ns", KD_BETTER_LOWER, "fewer than 1000 reads");
	bench_value(row, "longest", (double)h->max, "ns", KD_BETTER_LOWER);
	bench_hist(row, "read", "ns", h);
}

/* What kdefer's own hooks saw of the whole machine: how many, their mean, the longest. */
static void put_watched(struct bench_row *row, const struct rstat *r, const char *name,
			unsigned int measure)
{
	char mean[32], longest[32], count[32];
	struct hist h;

	snprintf(count, sizeof(count), "%s_count", name);
	snprintf(mean, sizeof(mean), "%s_mean", name);
	snprintf(longest, sizeof(longest), "%s_longest", name);
	if (!bench_watch_total(&r->watch, measure, &h)) {
		bench_absent(row, longest, "ns", KD_BETTER_LOWER, "%s",
			     r->o->unwatched ? "--unwatched was asked for"
					     : bench_watch_why(&r->watch, measure));
		return;
	}
	bench_value(row, count, (double)hist_count(&h), "count", KD_BETTER_NONE);
	if (!hist_count(&h)) {
		bench_absent(row, longest, "ns", KD_BETTER_LOWER, "there was none in the window");
		return;
	}
	bench_value(row, mean, (double)h.sum / (double)hist_count(&h), "ns", KD_BETTER_LOWER);
	bench_value(row, longest, (double)h.max, "ns", KD_BETTER_LOWER);
}

static void put_part(const struct rstat *r)
{
	struct bench_row *row = bench_row(r->run->result, r->hogs ? "with-hogs" : "without-hogs");
	struct hist all;

	hist_init(&all);
	for (unsigned int i = 0; i < r->readers; i++)
		hist_merge(&all, &r->hist[i]);
	bench_param(row, "readers", r->readers);
	bench_param(row, "hogs", r->hogs);
	bench_param(row, "cgroups", r->o->cgroups);
	if (r->hogs)
		bench_param(row, "limit_bytes", r->o->limit);
	put_reads(row, r, &all);
	put_watched(row, r, "hold", KD_M_RSTAT_HOLD);
	put_watched(row, r, "wait", KD_M_RSTAT_WAIT);
	put_watched(row, r, "flush", KD_M_RSTAT_FLUSH);
	if (r->hogs) {
		bench_value(row, "oom_kills", (double)r->kills, "count", KD_BETTER_NONE);
		bench_value(row, "hogs_ended", (double)r->runs, "count", KD_BETTER_NONE);
	}
}

static void clear_hists(struct rstat *r)
{
	for (unsigned int i = 0; i < r->readers; i++)
		hist_init(&r->hist[i]);
}

static int measure_part(struct rstat *r, unsigned int hogs)
{
	const struct bench_window w = {
		.what = hogs ? "with hogs" : "without hogs",
		.warm_up_ns = r->o->warm_up_ns,
		.duration_ns = r->o->duration_ns,
		.step_ns = TICK_NS,
		.step = step,
		.ctx = r,
	};
	int err, ended;

	r->hogs = hogs;
	r->ended_ns = 0;
	clear_hists(r);
	err = bench_crew_start(&r->crew, r->readers + hogs + (unsigned int)r->o->cgroups, NULL,
			       work, r);
	if (err)
		return err;
	bench_crew_go(&r->crew);
	err = bench_window(r->run, &r->crew, &w);
	ended = bench_crew_finish(&r->crew);
	if (r->ended_ns)
		put_part(r);
	bench_crew_stop(&r->crew);
	return err ? err : ended;
}

/* --- a run --- */

static void *share(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

static int prepare(struct rstat *r)
{
	const uint64_t measures =
		1ULL << KD_M_RSTAT_HOLD | 1ULL << KD_M_RSTAT_WAIT | 1ULL << KD_M_RSTAT_FLUSH;
	unsigned int n = (unsigned int)r->o->readers;
	int err;

	if (!n)
		n = (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);
	r->readers = n;
	r->phase = share(sizeof(*r->phase));
	r->hist = share(n * sizeof(*r->hist));
	if (!r->phase || !r->hist)
		return log_err(-ENOMEM, "out of memory");
	err = make_cgroups(r);
	if (!err && !r->o->unwatched)
		err = bench_watch_start(&r->watch, KD_SRC_RSTAT, measures);
	return err;
}

static void put_notes(const struct rstat *r)
{
	if (r->watch.session)
		bench_note(
			r->run->result,
			"Reads are slower by what kdefer's hooks on the lock and the flush cost; "
			"with --unwatched there are none. Holds, waits and flushes are those of the "
			"whole machine.");
}

static int run_rstat(struct bench_run *run, const void *options)
{
	struct rstat *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return log_err(-ENOMEM, "out of memory");
	r->run = run;
	r->o = options;
	err = prepare(r);
	if (!err)
		err = measure_part(r, 0);
	if (!err && r->o->hogs)
		err = measure_part(r, (unsigned int)r->o->hogs);
	put_notes(r);
	bench_watch_end(&r->watch);
	if (r->hist)
		munmap(r->hist, r->readers * sizeof(*r->hist));
	if (r->phase)
		munmap(r->phase, sizeof(*r->phase));
	free(r);
	return err;
}

static void set_defaults(void *options)
{
	struct rstat_options *o = options;

	o->hogs = 4;
	o->cgroups = 100;
	o->limit = 64ULL << 20;
	o->warm_up_ns = 500 * MS;
	o->duration_ns = 5000 * MS;
}

#define FIELD(member) .offset = offsetof(struct rstat_options, member)

static const struct opt options[] = {
	{ .name = "readers",
	  .type = OPT_U64,
	  .value = "N",
	  .help = "processes that read memory.stat (default: one for each CPU)",
	  FIELD(readers),
	  .min = 1,
	  .max = MEMBERS_MAX },
	{ .name = "hogs",
	  .type = OPT_U64,
	  .value = "N",
	  .help = "processes that are killed for want of memory, again and again (default 4)",
	  FIELD(hogs),
	  .max = MEMBERS_MAX },
	{ .name = "cgroups",
	  .type = OPT_U64,
	  .value = "N",
	  .help = "cgroups with a process that keeps their statistics moving (default 100)",
	  FIELD(cgroups),
	  .max = MEMBERS_MAX },
	{ .name = "limit",
	  .type = OPT_SIZE,
	  .value = "SIZE",
	  .help = "memory of all hogs together (default 64M)",
	  FIELD(limit),
	  .min = 4ULL << 20,
	  .max = 1ULL << 40 },
	{ .name = "duration",
	  .letter = 'd',
	  .type = OPT_TIME,
	  .value = "TIME",
	  .help = "without hogs, and again with them (default 5s)",
	  FIELD(duration_ns),
	  .min = 100 * MS,
	  .max = 86400000 * MS },
	{ .name = "warm-up",
	  .type = OPT_TIME,
	  .value = "TIME",
	  .help = "before each of these (default 500ms)",
	  FIELD(warm_up_ns),
	  .max = 600000 * MS },
	{ .name = "unwatched",
	  .type = OPT_FLAG,
	  .help = "without kdefer's own hooks: reads only, and these as fast as they are",
	  FIELD(unwatched) },
	{ 0 },
};

static const struct bench_column columns[] = {
	{ .title = "LOAD" },
	{ .title = "READS", .of = "reads" },
	{ .title = "READS/S", .of = "rate", .rank = 1 },
	{ .title = "MODE US", .of = "mode", .scale = 1e3, .decimals = 1 },
	{ .title = "P99 US", .of = "p99", .scale = 1e3, .decimals = 1, .rank = 2 },
	{ .title = "LONGEST US", .of = "longest", .scale = 1e3, .decimals = 1 },
	{ .title = "HOLD US", .of = "hold_longest", .scale = 1e3, .decimals = 1 },
	{ .title = "WAIT US", .of = "wait_longest", .scale = 1e3, .decimals = 1, .rank = 3 },
	{ .title = "OOM KILLS", .of = "oom_kills" },
	{ 0 },
};

const struct bench_load bench_rstat = {
	.name = "rstat",
	.summary =
		"Readers of cgroup statistics, with and without processes that run out of memory.",
	.usage = "[--readers N] [--hogs N] [--cgroups N] [--limit SIZE] [--duration TIME] "
		 "[--warm-up TIME] [--unwatched]",
	.does = "Makes a cgroup, and in it others with a small process each. Readers keep CPUs busy; every "
		"read takes a lock that other readers of statistics on this machine wait for, with interrupts "
		"off. Hogs fill a cgroup of limited memory until the kernel kills them, which it logs every "
		"time. All of it is removed again.",
	.options = options,
	.size = sizeof(struct rstat_options),
	.defaults = set_defaults,
	.columns = columns,
	.run = run_rstat,
};
