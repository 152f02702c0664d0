// SPDX-License-Identifier: GPL-2.0-only
/* bench_crew.c - processes of a load, and the window in which they are counted. */
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench_crew.h"
#include "clock.h"
#include "log.h"
#include "watch.h"

#define LOOK_NS 50000000ULL     /* how late a signal or a dead process is noticed at most */
#define READY_NS 30000000000ULL /* for all to be ready: a slow guest with many CPUs */
#define PROGRESS_NS 200000000ULL
#define STOP_NS 10000000000ULL /* then they are killed */

/* --- in a process of the crew --- */

void bench_seat_wait(struct bench_seat *seat)
{
	__atomic_store_n(&seat->slot->ready, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&seat->shared->go, __ATOMIC_ACQUIRE))
		syscall(SYS_futex, &seat->shared->go, FUTEX_WAIT, 0, NULL, NULL, 0);
}

int bench_seat_err(struct bench_seat *seat, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(seat->slot->error, sizeof(seat->slot->error), fmt, ap);
	va_end(ap);
	return err;
}

static int pin(struct bench_seat *seat)
{
	size_t size = CPU_ALLOC_SIZE(seat->cpu + 1);
	cpu_set_t *set;
	int err;

	if (seat->cpu < 0)
		return 0;
	set = CPU_ALLOC(seat->cpu + 1);
	if (!set)
		return -ENOMEM;
	CPU_ZERO_S(size, set);
	CPU_SET_S(seat->cpu, size, set);
	err = sched_setaffinity(0, size, set) ? -errno : 0;
	CPU_FREE(set);
	return err ? bench_seat_err(seat, err, "cannot run on CPU %d: %s", seat->cpu,
				    strerror(-err))
		   : 0;
}

/* A terminal's signals are for kdefer, which then stops us. */
static void __attribute__((noreturn))
sit_down(struct bench_seat *seat, pid_t parent, bench_work work, void *ctx)
{
	int err;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGTERM, SIG_DFL);
	/* What a process called kdefer waits for is left out by all kdefers: a load is no measuring. */
	prctl(PR_SET_NAME, BENCH_LOAD_COMM);
	err = pin(seat);
	if (!err)
		err = work(ctx, seat);
	_exit(err ? 1 : 0);
}

/* --- in kdefer --- */

static size_t shared_size(unsigned int n)
{
	return (n + 1) * sizeof(struct bench_slot);
}

static int start_one(struct bench_crew *c, unsigned int i, const int *cpus, bench_work work,
		     void *ctx)
{
	struct bench_seat seat = {
		.index = i,
		.cpu = cpus ? cpus[i] : -1,
		.slot = &c->slot[i],
		.shared = c->shared,
	};
	pid_t parent = getpid();

	c->pid[i] = fork();
	if (!c->pid[i])
		sit_down(&seat, parent, work, ctx);
	if (c->pid[i] > 0)
		return 0;
	c->pid[i] = 0;
	return log_err(-errno, "cannot start a process: %s", strerror(errno));
}

/* One that has ended without being told to, or badly. */
static int take_end(struct bench_crew *c, unsigned int i, int status, bool early)
{
	const char *error = c->slot[i].error;

	c->pid[i] = 0;
	if (WIFEXITED(status) && !WEXITSTATUS(status) && !early)
		return 0;
	if (*error)
		return log_err(-EIO, "%s", error);
	if (WIFSIGNALED(status))
		return log_err(-EIO, "a process of the load was killed by signal %d",
			       WTERMSIG(status));
	return log_err(-EIO, "a process of the load ended early");
}

static int look_after(struct bench_crew *c)
{
	for (unsigned int i = 0; c && i < c->n; i++) {
		int status;

		if (c->pid[i] && waitpid(c->pid[i], &status, WNOHANG) == c->pid[i])
			return take_end(c, i, status, true);
	}
	return 0;
}

static bool all_ready(const struct bench_crew *c)
{
	for (unsigned int i = 0; i < c->n; i++)
		if (!__atomic_load_n(&c->slot[i].ready, __ATOMIC_ACQUIRE))
			return false;
	return true;
}

static int until_ready(struct bench_crew *c)
{
	uint64_t end = clock_mono_ns() + READY_NS;

	while (!all_ready(c)) {
		int err = look_after(c);

		if (err)
			return err;
		if (watch_signalled())
			return -EINTR;
		if (clock_mono_ns() > end)
			return log_err(-ETIMEDOUT, "the processes of the load do not start");
		usleep(1000);
	}
	return 0;
}

static void release(struct bench_crew *c)
{
	if (c->shared)
		munmap(c->shared, shared_size(c->n));
	free(c->pid);
	memset(c, 0, sizeof(*c));
}

int bench_crew_start(struct bench_crew *c, unsigned int n, const int *cpus, bench_work work,
		     void *ctx)
{
	void *at = mmap(NULL, shared_size(n), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	int err = 0;

	memset(c, 0, sizeof(*c));
	if (at == MAP_FAILED)
		return log_err(-errno, "out of memory");
	c->shared = at;
	c->slot = (struct bench_slot *)at + 1;
	c->n = n;
	c->pid = calloc(n, sizeof(*c->pid));
	if (!c->pid)
		err = log_err(-ENOMEM, "out of memory");
	for (unsigned int i = 0; i < n && !err; i++)
		err = start_one(c, i, cpus, work, ctx);
	if (!err)
		err = until_ready(c);
	if (err) {
		for (unsigned int i = 0; c->pid && i < n; i++)
			if (c->pid[i])
				kill(c->pid[i], SIGKILL);
		bench_crew_stop(c);
	}
	return err;
}

static void wake(int *word)
{
	__atomic_store_n(word, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

void bench_crew_go(struct bench_crew *c)
{
	wake(&c->shared->go);
}

/* Those that do not end in time are killed. */
static void reap(struct bench_crew *c, int *err)
{
	uint64_t end = clock_mono_ns() + STOP_NS;

	for (unsigned int i = 0; c->pid && i < c->n; i++) {
		bool killed = false;
		int status;

		while (c->pid[i] && waitpid(c->pid[i], &status, WNOHANG) != c->pid[i]) {
			if (clock_mono_ns() > end && !killed) {
				kill(c->pid[i], SIGKILL);
				killed = true;
			}
			usleep(500);
		}
		if (!c->pid[i])
			continue;
		if (*err)
			c->pid[i] = 0; /* said already */
		else
			*err = take_end(c, i, status, false);
	}
}

int bench_crew_finish(struct bench_crew *c)
{
	bool never = c->shared && !all_ready(c);
	int err = never; /* what a start that failed has said */

	if (!c->shared)
		return 0;
	wake(&c->shared->stop);
	wake(&c->shared->go);
	reap(c, &err);
	return never ? 0 : err;
}

int bench_crew_stop(struct bench_crew *c)
{
	int err = bench_crew_finish(c);

	release(c);
	return err;
}

uint64_t bench_crew_sum(const struct bench_crew *c, unsigned int count)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < c->n; i++)
		sum += __atomic_load_n(&c->slot[i].count[count], __ATOMIC_RELAXED);
	return sum;
}

/* --- windows --- */

static void sleep_until(uint64_t until)
{
	const struct timespec t = clock_timespec(until);

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

struct waiting {
	struct bench_run *run;
	struct bench_crew *crew;
	const struct bench_window *w;
	uint64_t begun, shown;
};

static void show(struct waiting *x, uint64_t now)
{
	if (!x->run->progress || now - x->shown < PROGRESS_NS)
		return;
	x->shown = now;
	x->run->progress(x->run->ctx, x->w->what, now - x->begun,
			 x->w->warm_up_ns + x->w->duration_ns);
}

/* 0, -EINTR at a signal, or the failure of a process. */
static int wait_until(struct waiting *x, uint64_t until)
{
	for (uint64_t now = clock_mono_ns(); now < until; now = clock_mono_ns()) {
		int err = look_after(x->crew);

		if (err)
			return err;
		if (watch_signalled())
			return -EINTR;
		show(x, now);
		sleep_until(until - now > LOOK_NS ? now + LOOK_NS : until);
	}
	return 0;
}

static int call(const struct bench_window *w, enum bench_when when)
{
	return w->step ? w->step(w->ctx, when, clock_mono_ns()) : 0;
}

int bench_window(struct bench_run *run, struct bench_crew *crew, const struct bench_window *w)
{
	struct waiting x = { .run = run, .crew = crew, .w = w, .begun = clock_mono_ns() };
	uint64_t next, end;
	int err = wait_until(&x, x.begun + w->warm_up_ns), last;

	if (!err)
		err = call(w, BENCH_BEGIN);
	if (err < 0)
		return err;
	next = clock_mono_ns();
	end = next + w->duration_ns;
	while (!err && clock_mono_ns() < end) {
		next += w->step_ns ? w->step_ns : w->duration_ns;
		err = wait_until(&x, next < end ? next : end);
		if (!err && next < end)
			err = call(w, BENCH_STEP);
	}
	if (err < 0 && err != -EINTR)
		return err;
	last = call(w, BENCH_END);
	return last < 0 ? last : err < 0 ? err : 0;
}
