// SPDX-License-Identifier: GPL-2.0-only
/*
 * bench_callbacks.c - `bench callbacks`: RCU callbacks at a known rate, in bursts, or all at once, and
 * behind readers of known length, so that there is something to see on a quiet machine. `bench hold`:
 * the readers alone.
 *
 * A file that is created and removed on tmpfs hands over three or four callbacks of as many functions,
 * as the kernel has it; new credentials hand over one, of put_cred_rcu(), in a tenth of the time.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "bench_crew.h"
#include "bench_guard.h"
#include "bench_loads.h"
#include "bench_watch.h"
#include "clock.h"
#include "hold.h"
#include "log.h"
#include "pace.h"

#define MS 1000000ULL
#define LOOK_NS (100 * MS)      /* between looks at the lists */
#define FLOOD_LOOK_NS (10 * MS) /* a drain is known to that */
#define FLOOD_LIMIT_NS (120000 * MS)
#define SLICE_NS MS /* a stream is no finer than that: a sleep for each would cost more than it */

enum way { WAY_FILES, WAY_CREDS };

struct callbacks_options {
	uint64_t rate, burst, threads, flood;
	uint64_t duration_ns;
	uint64_t hold_ns, rest_ns;
	const char *way_name;
};

enum counts { MADE, READERS, HELD_NS, HELD_LEAST, HELD_MOST };

struct making {
	struct bench_run *run;
	const struct callbacks_options *o;
	enum way way;
	char folder[128]; /* of files */
	struct hold *hold;
	struct bench_crew crew;
	struct bench_watch watch;
	unsigned int streams; /* processes that make callbacks; the one after them is the reader */
	int *cpus;            /* theirs */
	/* of the window: */
	uint64_t begun_ns, ended_ns, made; /* between these two */
	uint64_t waited_before, waiting_most;
	double waiting_sum;
	unsigned int looks;
	uint64_t handed_ns, drained_ns; /* of a flood, when; 0: not yet */
};

/* --- in a process that makes callbacks --- */

static int make_by_file(const char *path)
{
	int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);

	if (fd < 0 || close(fd) || unlink(path))
		return -errno;
	return 0;
}

/* The same credentials again: the old ones go behind a grace period. */
static int make_by_creds(void)
{
	return prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0) ? -errno : 0;
}

static int make_one(const struct making *m, const char *path)
{
	return m->way == WAY_FILES ? make_by_file(path) : make_by_creds();
}

static int make_some(const struct making *m, struct bench_seat *seat, const char *path, uint64_t n)
{
	uint64_t *made = &seat->slot->count[MADE];

	for (uint64_t i = 0; i < n && !bench_seat_stopped(seat); i++) {
		int err = make_one(m, path);

		if (err)
			return bench_seat_err(seat, err, "%s: %s",
					      m->way == WAY_FILES ? path : "new credentials",
					      strerror(-err));
		__atomic_store_n(made, *made + 1, __ATOMIC_RELAXED);
	}
	return 0;
}

static void sleep_until(uint64_t until)
{
	const struct timespec t = clock_timespec(until);

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static int make_stream(const struct making *m, struct bench_seat *seat, const char *path)
{
	const struct pace p = {
		.per_s = pace_share(m->o->rate, m->streams, seat->index),
		.burst = m->o->burst,
	};
	uint64_t begin = clock_mono_ns(), done = 0;
	int err = 0;

	while (p.per_s && !bench_seat_stopped(seat) && !err) {
		uint64_t now = clock_mono_ns() - begin, due = pace_due(&p, now), next;

		if (due > done)
			err = make_some(m, seat, path, due - done);
		done = due;
		next = pace_next_ns(&p, done);
		sleep_until(begin + (next > now + SLICE_NS ? next : now + SLICE_NS));
	}
	return err;
}

static int make_all(const struct making *m, struct bench_seat *seat, const char *path)
{
	int err = 0;

	while (!bench_seat_stopped(seat) && !err)
		err = make_some(m, seat, path, UINT64_MAX);
	return err;
}

static void idle(const struct bench_seat *seat)
{
	while (!bench_seat_stopped(seat))
		usleep(1000);
}

static void count_reader(struct bench_slot *slot, uint64_t ns)
{
	slot->count[HELD_NS] += ns;
	if (!slot->count[READERS] || ns < slot->count[HELD_LEAST])
		slot->count[HELD_LEAST] = ns;
	if (ns > slot->count[HELD_MOST])
		slot->count[HELD_MOST] = ns;
	__atomic_store_n(&slot->count[READERS], slot->count[READERS] + 1, __ATOMIC_RELEASE);
}

static int be_reader(const struct making *m, struct bench_seat *seat)
{
	while (!bench_seat_stopped(seat)) {
		int64_t held = hold_once(m->hold, m->o->hold_ns);

		if (held < 0)
			return bench_seat_err(seat, (int)held, "cannot run the reader: %s",
					      strerror((int)-held));
		if (!bench_seat_stopped(
			    seat)) /* one that was cut short is no reader of that length */
			count_reader(seat->slot, (uint64_t)held);
		sleep_until(clock_mono_ns() + m->o->rest_ns);
	}
	return 0;
}

static int work(void *ctx, struct bench_seat *seat)
{
	const struct making *m = ctx;
	char path[160];
	int err;

	snprintf(path, sizeof(path), "%s/%u", m->folder, seat->index);
	bench_seat_wait(seat);
	if (seat->index == m->streams)
		return be_reader(m, seat);
	if (m->o->flood) {
		err = make_some(m, seat, path, pace_share(m->o->flood, m->streams, seat->index));
		idle(seat);
		return err;
	}
	return m->o->rate ? make_stream(m, seat, path) : make_all(m, seat, path);
}

/* --- the window --- */

static void see_flood(struct making *m, uint64_t now, uint64_t waiting)
{
	/* A hundredth of it is taken for what others queue meanwhile. */
	uint64_t low = m->waited_before + m->o->flood / 100;

	if (!m->handed_ns && bench_crew_sum(&m->crew, MADE) >= m->o->flood)
		m->handed_ns = now;
	else if (m->handed_ns && !m->drained_ns && (!m->watch.session || waiting <= low))
		m->drained_ns = now;
}

static int look(struct making *m, uint64_t now)
{
	uint64_t waiting;
	int err = bench_watch_tick(&m->watch);

	if (err)
		return err;
	waiting = m->watch.session ? bench_watch_callbacks(&m->watch) : 0;
	m->waiting_sum += (double)waiting;
	m->looks++;
	if (waiting > m->waiting_most)
		m->waiting_most = waiting;
	if (m->o->flood)
		see_flood(m, now, waiting);
	return m->drained_ns != 0;
}

static int step(void *ctx, enum bench_when when, uint64_t now)
{
	struct making *m = ctx;

	if (when == BENCH_BEGIN) {
		m->begun_ns = now;
		return 0;
	}
	if (when == BENCH_END) {
		m->ended_ns = now;
		m->made = bench_crew_sum(&m->crew, MADE);
		return 0;
	}
	return look(m, now);
}

static int wait_for_it(struct making *m, const char *what)
{
	const struct bench_window w = {
		.what = what,
		.duration_ns = m->o->flood ? FLOOD_LIMIT_NS : m->o->duration_ns,
		.step_ns = m->o->flood ? FLOOD_LOOK_NS : LOOK_NS,
		.step = step,
		.ctx = m,
	};

	bench_crew_go(&m->crew);
	return bench_window(m->run, &m->crew, &w);
}

/* --- what is handed back --- */

static void put_reader(struct bench_row *row, const struct making *m)
{
	const struct bench_slot *s = &m->crew.slot[m->streams];
	uint64_t n = __atomic_load_n(&s->count[READERS], __ATOMIC_ACQUIRE);

	bench_param(row, "hold_ns", m->o->hold_ns);
	bench_param(row, "rest_ns", m->o->rest_ns);
	bench_value(row, "readers", (double)n, "count", KD_BETTER_NONE);
	if (!n) {
		bench_absent(row, "held", "ns", KD_BETTER_NONE,
			     "no reader ended while it was measured");
		return;
	}
	bench_value(row, "held", (double)s->count[HELD_NS] / (double)n, "ns", KD_BETTER_NONE);
	bench_value(row, "held_least", (double)s->count[HELD_LEAST], "ns", KD_BETTER_NONE);
	bench_value(row, "held_most", (double)s->count[HELD_MOST], "ns", KD_BETTER_NONE);
}

static void put_waiting(struct bench_row *row, const struct making *m)
{
	if (m->watch.session && m->looks) {
		bench_value(row, "waiting", m->waiting_sum / m->looks, "count", KD_BETTER_LOWER);
		bench_value(row, "waiting_peak", (double)m->waiting_most, "count", KD_BETTER_LOWER);
		return;
	}
	bench_absent(row, "waiting", "count", KD_BETTER_LOWER, "%s",
		     bench_watch_why(&m->watch, KD_M_CALL_RCU_PENDING));
	bench_absent(row, "waiting_peak", "count", KD_BETTER_LOWER, "%s",
		     bench_watch_why(&m->watch, KD_M_CALL_RCU_PENDING));
}

static void put_flood(struct bench_row *row, const struct making *m)
{
	if (m->handed_ns)
		bench_value(row, "handed_over", (double)(m->handed_ns - m->begun_ns), "ns",
			    KD_BETTER_NONE);
	if (!m->watch.session)
		bench_absent(row, "drain", "ns", KD_BETTER_LOWER, "%s",
			     bench_watch_why(&m->watch, KD_M_CALL_RCU_PENDING));
	else if (m->drained_ns)
		bench_value(row, "drain", (double)(m->drained_ns - m->handed_ns), "ns",
			    KD_BETTER_LOWER);
	else
		bench_absent(row, "drain", "ns", KD_BETTER_LOWER,
			     "they were still on the lists at the end");
}

static const char *case_name(const struct callbacks_options *o)
{
	if (o->flood)
		return "flood";
	if (!o->rate)
		return "full-speed";
	return o->burst > 1 ? "bursts" : "steady";
}

static void put_making(const struct making *m)
{
	struct bench_row *row = bench_row(m->run->result, case_name(m->o));
	double seconds = (double)(m->ended_ns - m->begun_ns) / 1e9;

	bench_param_text(row, "way", m->o->way_name);
	bench_param(row, "threads", m->streams);
	if (m->o->flood)
		bench_param(row, "flood", m->o->flood);
	else if (m->o->rate)
		bench_param(row, "asked_per_s", m->o->rate);
	if (m->o->burst > 1)
		bench_param(row, "burst", m->o->burst);
	bench_value(row, "made", (double)bench_crew_sum(&m->crew, MADE), "count", KD_BETTER_NONE);
	if (!m->o->flood && seconds > 0)
		bench_value(row, "rate", (double)m->made / seconds, "/s", KD_BETTER_HIGHER);
	if (m->o->flood)
		put_flood(row, m);
	put_waiting(row, m);
	if (m->hold)
		put_reader(row, m);
}

static void put_readers(const struct making *m)
{
	put_reader(bench_row(m->run->result, "hold"), m);
}

/* --- a run --- */

/* Somewhere in memory: on a disk a file is more than its callbacks. */
static int make_folder(struct making *m)
{
	static const char *const places[] = { "/dev/shm", "/tmp", "/run" };
	struct statfs fs;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (statfs(places[i], &fs) || fs.f_type != TMPFS_MAGIC || access(places[i], W_OK))
			continue;
		snprintf(m->folder, sizeof(m->folder), "%s/kdefer-bench.%d", places[i], getpid());
		if (bench_guard_folder(m->run->guard, m->folder))
			return -EPIPE;
		return mkdir(m->folder, 0700)
			       ? log_err(-errno, "%s: %s", m->folder, strerror(errno))
			       : 0;
	}
	return log_err(-ENODEV,
		       "bench callbacks: no tmpfs at /dev/shm, /tmp or /run to make files on; "
		       "use --way creds");
}

/* The reader has a CPU for itself, if there is more than one. */
static int place(struct making *m)
{
	unsigned int n = m->streams + (m->hold != NULL), used;
	struct bench_cpus all;
	int err = bench_choose_cpus(&(struct bench_cpus){ 0 }, 0, &all);

	if (err)
		return err;
	m->cpus = calloc(n, sizeof(*m->cpus));
	used = all.n > 1 && m->hold ? all.n - 1 : all.n;
	for (unsigned int i = 0; m->cpus && i < n; i++)
		m->cpus[i] = i < m->streams ? all.cpu[i % used] : all.cpu[all.n - 1];
	free(all.cpu);
	return m->cpus ? 0 : log_err(-ENOMEM, "out of memory");
}

static int prepare(struct making *m)
{
	int err = m->o->hold_ns ? hold_open(&m->hold) : 0;

	if (!err && m->streams && m->way == WAY_FILES)
		err = make_folder(m);
	if (!err)
		err = place(m);
	if (!err && m->streams)
		err = bench_watch_start(&m->watch, KD_SRC_CALL_RCU, 1ULL << KD_M_CALL_RCU_PENDING);
	if (!err && m->watch.session)
		m->waited_before = bench_watch_callbacks(&m->watch);
	return err;
}

/* Nobody has to wait for a reader that is not measured any more. */
static int finish(struct making *m)
{
	if (m->hold)
		hold_release(m->hold);
	return bench_crew_finish(&m->crew);
}

static int measure(struct making *m, const char *what, void (*put)(const struct making *m))
{
	int err = prepare(m), ended;

	if (!err)
		err = bench_crew_start(&m->crew, m->streams + (m->hold != NULL), m->cpus, work, m);
	if (!err) {
		err = wait_for_it(m, what);
		ended = finish(m);
		err = err ? err : ended;
		if (m->ended_ns)
			put(m);
		bench_crew_stop(&m->crew);
	}
	bench_watch_end(&m->watch);
	hold_close(m->hold);
	free(m->cpus);
	return err;
}

static int run_callbacks(struct bench_run *run, const void *options)
{
	const struct callbacks_options *o = options;
	struct making m = {
		.run = run,
		.o = o,
		.way = strcmp(o->way_name, "creds") ? WAY_FILES : WAY_CREDS,
		.streams = (unsigned int)o->threads,
	};

	return measure(&m, o->flood ? "flood" : "stream", put_making);
}

static int run_hold(struct bench_run *run, const void *options)
{
	struct making m = { .run = run, .o = options };

	return measure(&m, "readers", put_readers);
}

/* --- the loads --- */

static void set_defaults(void *options)
{
	struct callbacks_options *o = options;

	o->rate = 10000;
	o->burst = 1;
	o->threads = 1;
	o->duration_ns = 5000 * MS;
	o->rest_ns = 100 * MS;
	o->way_name = "files";
}

static int check(const void *options)
{
	const struct callbacks_options *o = options;

	if (strcmp(o->way_name, "files") && strcmp(o->way_name, "creds"))
		return log_err(-EINVAL,
			       "bench callbacks: --way: \"%s\" is not known; known: files, creds",
			       o->way_name);
	if (o->rate && o->rate < o->threads)
		return log_err(
			-EINVAL,
			"bench callbacks: --rate: less than one a second for each of %llu threads",
			(unsigned long long)o->threads);
	if (o->burst > 1 && (!o->rate || o->flood))
		return log_err(-EINVAL, "bench callbacks: --burst: needs a --rate, and no --flood");
	return 0;
}

static void set_hold_defaults(void *options)
{
	struct callbacks_options *o = options;

	o->hold_ns = 200 * MS;
	o->rest_ns = 100 * MS;
	o->duration_ns = 5000 * MS;
	o->way_name = "";
}

#define FIELD(member) .offset = offsetof(struct callbacks_options, member)

/* What both have. */
#define DURATION_OPTION                                                               \
	{                                                                             \
		.name = "duration", .letter = 'd', .type = OPT_TIME, .value = "TIME", \
		.help = "how long (default 5s)", FIELD(duration_ns), .min = 100 * MS, \
		.max = 86400000 * MS                                                  \
	}
#define REST_OPTION                                                                               \
	{                                                                                         \
		.name = "rest", .type = OPT_TIME, .value = "TIME",                                \
		.help = "from one reader to the next (default 100ms)", FIELD(rest_ns), .min = MS, \
		.max = 3600000 * MS                                                               \
	}

static const struct opt callbacks_options[] = {
	{ .name = "rate",
	  .letter = 'r',
	  .type = OPT_U64,
	  .value = "N",
	  .help = "files or credentials a second, by all threads (default 10000; 0: all they can)",
	  FIELD(rate),
	  .max = PACE_MOST_PER_S },
	{ .name = "burst",
	  .type = OPT_U64,
	  .value = "N",
	  .help = "so many at once, at the same rate",
	  FIELD(burst),
	  .min = 1,
	  .max = PACE_MOST_PER_S },
	{ .name = "flood",
	  .type = OPT_U64,
	  .value = "N",
	  .help = "N as fast as can be, and then the time until the lists are as before",
	  FIELD(flood),
	  .min = 1,
	  .max = PACE_MOST_PER_S },
	{ .name = "way",
	  .type = OPT_STR,
	  .value = "WAY",
	  .help = "files: create and remove one, three or four callbacks; creds: new credentials, one",
	  FIELD(way_name) },
	{ .name = "threads",
	  .letter = 'p',
	  .type = OPT_U64,
	  .value = "N",
	  .help = "processes that make them, a CPU each (default 1)",
	  FIELD(threads),
	  .min = 1,
	  .max = 4096 },
	{ .name = "hold",
	  .type = OPT_TIME,
	  .value = "TIME",
	  .help = "meanwhile, readers of RCU of that length, one after another",
	  FIELD(hold_ns),
	  .min = MS,
	  .max = HOLD_LONGEST_NS },
	REST_OPTION,
	DURATION_OPTION,
	{ 0 },
};

static const struct opt hold_options[] = {
	{ .name = "hold",
	  .type = OPT_TIME,
	  .value = "TIME",
	  .help = "length of a reader (default 200ms)",
	  FIELD(hold_ns),
	  .min = MS,
	  .max = HOLD_LONGEST_NS },
	REST_OPTION,
	DURATION_OPTION,
	{ 0 },
};

static const struct bench_column callbacks_columns[] = {
	{ .title = "LOAD" },
	{ .title = "MADE", .of = "made" },
	{ .title = "MADE/S", .of = "rate" },
	{ .title = "WAITING", .of = "waiting" },
	{ .title = "PEAK", .of = "waiting_peak" },
	{ .title = "HANDED OVER MS", .of = "handed_over", .scale = 1e6, .decimals = 1, .rank = 1 },
	{ .title = "DRAIN MS", .of = "drain", .scale = 1e6, .decimals = 1 },
	{ .title = "READERS", .of = "readers", .rank = 1 },
	{ 0 },
};

static const struct bench_column hold_columns[] = {
	{ .title = "LOAD" },
	{ .title = "READERS", .of = "readers" },
	{ .title = "LEAST MS", .of = "held_least", .scale = 1e6, .decimals = 3 },
	{ .title = "MEAN MS", .of = "held", .scale = 1e6, .decimals = 3 },
	{ .title = "MOST MS", .of = "held_most", .scale = 1e6, .decimals = 3 },
	{ 0 },
};

const struct bench_load bench_callbacks = {
	.name = "callbacks",
	.summary =
		"RCU callbacks at a known rate, in bursts or all at once, and behind long readers.",
	.usage = "[--rate N] [--burst N | --flood N] [--way WAY] [--threads N] [--hold TIME] "
		 "[--rest TIME] [--duration TIME]",
	.does = "Creates and removes files in a folder of its own in memory (/dev/shm, /tmp or /run), or "
		"gives its own threads new credentials that are the old ones; what that frees goes behind a "
		"grace period. A flood takes memory until it has run: some hundred bytes for each. With "
		"--hold one CPU is in a loop of the kernel's for that long, so that nothing else runs "
		"there, and no grace period of RCU ends meanwhile anywhere on the machine.",
	.options = callbacks_options,
	.size = sizeof(struct callbacks_options),
	.defaults = set_defaults,
	.check = check,
	.columns = callbacks_columns,
	.run = run_callbacks,
};

const struct bench_load bench_hold = {
	.name = "hold",
	.summary =
		"Readers of RCU of known length, one after another: grace periods wait for them.",
	.usage = "[--hold TIME] [--rest TIME] [--duration TIME]",
	.does = "One CPU is in a loop of the kernel's, in a read-side section of RCU, for as long as it is "
		"told: nothing else runs there, and no grace period of RCU ends meanwhile anywhere on the "
		"machine. The kernel's own alarm about a stall comes later than the longest that can be "
		"asked for, unless it was set to come early.",
	.options = hold_options,
	.size = sizeof(struct callbacks_options),
	.defaults = set_hold_defaults,
	.columns = hold_columns,
	.run = run_hold,
};
