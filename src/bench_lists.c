// SPDX-License-Identifier: GPL-2.0-only
/* bench_lists.c - a process that looks at the lists of one map. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backlog.h"
#include "bench_lists.h"
#include "clock.h"
#include "log.h"
#include "model.h"
#include "session.h"
#include "stream.h"

#define READY_NS 30000000000ULL
#define AT_HAND "free_llist"

enum state { STARTING, READY, FAILED };

struct bench_lists_shared {
	int state;
	uint32_t map_id;          /* 0: looks do not count */
	uint64_t windows, closed; /* that were begun; of these, how many it has closed */
	struct bench_peaks seen;
	char why[256];
};

/* --- in the process that looks --- */

struct looker {
	struct bench_lists_shared *shared;
	struct model model;
	struct session *session;
};

static void keep_why(void *ctx, enum log_level level, const char *line)
{
	struct looker *k = ctx;

	if (level <= LOG_WARN && !*k->shared->why)
		snprintf(k->shared->why, sizeof(k->shared->why), "%s", line);
}

static int open_session(struct looker *k, struct stream *s)
{
	struct session_conf conf;

	session_conf_init(&conf);
	conf.want.sources = 1u << KD_SRC_MEMALLOC;
	conf.want.measures = 1ULL << KD_M_MEMALLOC_PENDING;
	model_init(&k->model);
	stream_init(s, model_record, &k->model);
	return session_open(&k->session, &conf, s) ?: session_start(k->session);
}

static struct bench_peak *peak_of(struct bench_peaks *p, const char *list)
{
	for (unsigned int i = 0; i < p->n; i++)
		if (!strcmp(p->peak[i].list, list))
			return &p->peak[i];
	if (p->n == BENCH_LISTS_MAX)
		return NULL;
	snprintf(p->peak[p->n].list, sizeof(p->peak[p->n].list), "%s", list);
	return &p->peak[p->n++];
}

struct sum {
	uint64_t length, bytes;
};

/* A list has a row for each size of its objects: a look is their sum. */
static void add_look(struct bench_peaks *p, const struct model *m, const struct backlog_row *row,
		     size_t n)
{
	struct sum sum[BENCH_LISTS_MAX] = { 0 };
	uint64_t waiting = 0;
	bool inexact = false;

	for (size_t i = 0; i < n; i++) {
		const char *list = backlog_list(m, &row[i]);
		struct bench_peak *peak = peak_of(p, list);

		inexact |= !row[i].exact;
		if (strcmp(list, AT_HAND))
			waiting += row[i].length;
		if (!peak)
			continue;
		sum[peak - p->peak].length += row[i].length;
		sum[peak - p->peak].bytes += row[i].bytes;
	}
	for (unsigned int i = 0; i < p->n; i++) {
		struct bench_peak *peak = &p->peak[i];

		peak->mean += ((double)sum[i].length - peak->mean) / (double)(p->looks + 1);
		if (sum[i].length > peak->length)
			peak->length = sum[i].length;
		if (sum[i].bytes > peak->bytes)
			peak->bytes = sum[i].bytes;
	}
	if (waiting > p->waiting)
		p->waiting = waiting;
	p->inexact += inexact;
	p->looks++;
}

static int look(struct looker *k, uint32_t map_id)
{
	char id[16];
	const struct backlog_filter only = { .key = BACKLOG_MAP_ID, .glob = id };
	const struct backlog_query q = {
		.scope = { .interval = true, .measures = 1ULL << KD_M_MEMALLOC_PENDING },
		.filters = &only,
		.nfilters = 1,
	};
	struct backlog_row *row;
	size_t n;
	int err = session_tick(k->session);

	snprintf(id, sizeof(id), "%u", map_id);
	if (!err)
		err = backlog_rows(&k->model, &q, &row, &n);
	if (err)
		return err;
	add_look(&k->shared->seen, &k->model, row, n);
	free(row);
	return 0;
}

static void __attribute__((noreturn)) look_on(struct looker *k, uint64_t interval_ns)
{
	uint64_t closed = 0;
	int err = 0;

	while (!err) {
		uint64_t windows = __atomic_load_n(&k->shared->windows, __ATOMIC_ACQUIRE);
		uint32_t map_id = __atomic_load_n(&k->shared->map_id, __ATOMIC_ACQUIRE);
		struct timespec t = clock_timespec(interval_ns);

		if (map_id) {
			err = look(k, map_id);
		} else if (closed != windows) {
			closed = windows;
			__atomic_store_n(&k->shared->closed, closed, __ATOMIC_RELEASE);
		} else {
			t = clock_timespec(2000000);
		}
		nanosleep(&t, NULL);
	}
	__atomic_store_n(&k->shared->state, FAILED, __ATOMIC_RELEASE);
	_exit(1);
}

static void __attribute__((noreturn))
become_looker(struct bench_lists_shared *shared, pid_t parent, uint64_t interval_ns)
{
	struct looker k = { .shared = shared };
	struct stream s;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGTERM, SIG_DFL);
	log_set_sink(keep_why, &k);
	if (open_session(&k, &s)) {
		__atomic_store_n(&shared->state, FAILED, __ATOMIC_RELEASE);
		_exit(1);
	}
	__atomic_store_n(&shared->state, READY, __ATOMIC_RELEASE);
	look_on(&k, interval_ns);
}

/* --- in kdefer --- */

static bool is_alive(struct bench_lists *l)
{
	bool failed = __atomic_load_n(&l->shared->state, __ATOMIC_ACQUIRE) == FAILED;

	if (l->pid && waitpid(l->pid, NULL, WNOHANG) == l->pid)
		l->pid = 0;
	if (failed || !l->pid) {
		snprintf(l->why, sizeof(l->why), "%s",
			 *l->shared->why ? l->shared->why : "the process that looked has ended");
		return false;
	}
	return true;
}

static void wait_ready(struct bench_lists *l)
{
	uint64_t end = clock_mono_ns() + READY_NS;

	while (is_alive(l)) {
		if (__atomic_load_n(&l->shared->state, __ATOMIC_ACQUIRE) == READY)
			return;
		if (clock_mono_ns() > end) {
			snprintf(l->why, sizeof(l->why), "it takes too long to get ready");
			break;
		}
		usleep(2000);
	}
	bench_lists_stop(l);
}

int bench_lists_start(struct bench_lists *l, uint64_t interval_ns)
{
	pid_t parent = getpid();

	memset(l, 0, sizeof(*l));
	l->shared = mmap(NULL, sizeof(*l->shared), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (l->shared == MAP_FAILED) {
		l->shared = NULL;
		return log_err(-ENOMEM, "out of memory");
	}
	l->pid = fork();
	if (!l->pid)
		become_looker(l->shared, parent, interval_ns);
	if (l->pid < 0) {
		l->pid = 0;
		return log_err(-errno, "cannot start a process: %s", strerror(errno));
	}
	wait_ready(l);
	return 0;
}

void bench_lists_begin(struct bench_lists *l, uint32_t map_id)
{
	if (!l->pid)
		return;
	memset(&l->shared->seen, 0, sizeof(l->shared->seen));
	__atomic_add_fetch(&l->shared->windows, 1, __ATOMIC_RELEASE);
	__atomic_store_n(&l->shared->map_id, map_id, __ATOMIC_RELEASE);
}

void bench_lists_end(struct bench_lists *l)
{
	if (l->pid)
		__atomic_store_n(&l->shared->map_id, 0, __ATOMIC_RELEASE);
}

bool bench_lists_seen(struct bench_lists *l, struct bench_peaks *p)
{
	if (!l->pid)
		return false;
	while (is_alive(l) && __atomic_load_n(&l->shared->closed, __ATOMIC_ACQUIRE) !=
				      __atomic_load_n(&l->shared->windows, __ATOMIC_ACQUIRE))
		usleep(2000);
	*p = l->shared->seen;
	if (!p->looks && !*l->why)
		snprintf(l->why, sizeof(l->why), "the window was too short for a look");
	return p->looks;
}

void bench_lists_stop(struct bench_lists *l)
{
	if (l->pid) {
		kill(l->pid, SIGKILL);
		waitpid(l->pid, NULL, 0);
		l->pid = 0;
	}
	if (l->shared)
		munmap(l->shared, sizeof(*l->shared));
	l->shared = NULL;
}
