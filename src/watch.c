// SPDX-License-Identifier: GPL-2.0-only
/* watch.c - the loop of every command that measures, and the command it may run. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "clock.h"
#include "events.h"
#include "log.h"
#include "session.h"
#include "stream.h"
#include "watch.h"

static volatile sig_atomic_t came; /* the first signal that asked to end */
static volatile sig_atomic_t from_terminal;

static volatile sig_atomic_t starting;
static void (*volatile last_words)(void);
static char starting_part[4096];

static void on_signal(int sig, siginfo_t *info, void *ctx)
{
	(void)ctx;
	if (starting && *starting_part)
		unlink(starting_part);
	if (came || starting) {
		if (last_words)
			last_words();
		signal(sig, SIG_DFL);
		raise(sig);
	}
	came = sig;
	from_terminal = info->si_code == SI_KERNEL;
}

void watch_signals(void)
{
	struct sigaction sa = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a file that may grow no more is an error of writing: EFBIG */
}

void watch_starting(const char *part)
{
	snprintf(starting_part, sizeof(starting_part), "%s", part ? part : "");
	starting = 1;
}

void watch_started(void)
{
	starting = 0;
}

void watch_last_words(void (*last)(void))
{
	last_words = last;
}

int watch_signalled(void)
{
	return came;
}

/* A terminal sends its signals to the command too; others reach only us, and are passed on. */
static void pass_on_signal(const struct watch *w)
{
	if (came && !from_terminal)
		child_signal(&w->child, came);
}

/* Waits for the command and its output, for a reader of ours that goes away, and at most until then. */
static int wait_for(struct watch *w, uint64_t ns)
{
	struct pollfd p[3 + WATCH_FDS] = {
		[2] = { .fd = w->marks ? -1 : STDOUT_FILENO }, /* errors alone */
	};
	struct timespec left = clock_timespec(ns);
	size_t more = w->poll ? w->poll(w->ctx, p + 3) : 0;
	int err;

	child_poll(&w->child, p);
	if (ppoll(p, 3 + more, &left, &w->mask) < 0 && errno != EINTR)
		return -errno;
	w->closed = p[2].revents & POLLERR;
	err = w->command ? child_serve(&w->child) : 0;
	return err || !w->woken ? err : w->woken(w->ctx);
}

static bool is_over(const struct watch *w)
{
	return came || w->closed || w->enough || (w->command && !child_runs(&w->child));
}

static int tick_until_end(struct session *s, struct watch *w)
{
	uint64_t begin = clock_mono_ns(),
		 end = w->duration_ns ? begin + w->duration_ns : UINT64_MAX;
	uint64_t next = begin + w->interval_ns, done = 0;
	int err = 0;

	while (!err && !is_over(w)) {
		uint64_t now = clock_mono_ns(), until = next < end ? next : end;
		uint64_t calibrate = session_calibrate(s), budget = UINT64_MAX;

		if (now >= end)
			break;
		if (next > now + w->interval_ns) /* it has been made shorter */
			next = now + w->interval_ns;
		if (now >= next) {
			if (++done == w->ticks)
				break; /* the last one is that of session_stop() */
			err = session_tick(s);
			next += w->interval_ns;
			/* Late by whole intervals: skip them rather than catch up in a burst. */
			while (next <= now)
				next += w->interval_ns;
			continue;
		}
		err = session_budget(s, &budget);
		if (budget < calibrate)
			calibrate = budget;
		if (calibrate < until)
			until = calibrate > now ? calibrate : now;
		if (!err)
			err = wait_for(w, until - now);
	}
	return err;
}

/* --- runs --- */

static bool is_of_b(const struct watch *w, unsigned int index)
{
	return w->other && (index & 1) != (index >> 1 & 1); /* A B B A */
}

static char **command_of(const struct watch *w, unsigned int index)
{
	return is_of_b(w, index) ? w->other : w->command;
}

/* The command as one line, as a person would have typed it, but for quotes; a shell's as it got it. */
static void join(char *text, size_t size, char *const *argv)
{
	size_t used = 0;

	if (!strcmp(argv[0], "/bin/sh") && argv[1] && !strcmp(argv[1], "-c") && argv[2] && !argv[3])
		argv += 2;
	for (*text = '\0'; *argv && used < size; argv++)
		used += (size_t)snprintf(text + used, size - used, "%s%s", used ? " " : "", *argv);
}

/* What of a long one a record has no room for still tells commands apart, which diff has to do. */
static void shorten(char *text, size_t room)
{
	char mark[32];
	size_t len = strlen(text);

	if (len <= room)
		return;
	len = (size_t)snprintf(mark, sizeof(mark), ".. (CRC %08lx)",
			       crc32(0, (const unsigned char *)text, (unsigned int)len));
	memcpy(text + room - len, mark, len + 1);
}

static int mark(const struct watch *w, unsigned int index, bool ended)
{
	union {
		struct kd_rec_run run;
		char room[KD_REC_MAX];
	} buf = { .run = {
			  .rec = { .kind = KD_REC_RUN },
			  .mono_ns = clock_mono_ns(),
			  .real_ns = clock_ns(CLOCK_REALTIME),
			  .index = index,
			  .ended = ended,
			  .status = child_runs(&w->child) ? KD_STATUS_UNKNOWN
							  : (__u16)w->child.status,
		  } };
	static char command[128 << 10]; /* the longest single argument that there can be */
	const char *text = command;

	if (!w->marks)
		return 0;
	if (w->other)
		buf.run.side = is_of_b(w, index) ? KD_SIDE_B : KD_SIDE_A;
	join(command, sizeof(command), command_of(w, index));
	shorten(command, KD_REC_MAX - offsetof(struct kd_rec_run, command) - 1);
	stream_put_strings(&buf, offsetof(struct kd_rec_run, command), &text, 1);
	return stream_record(w->marks, &buf, buf.run.rec.len);
}

static int on_value(void *ctx, const struct child_value *v)
{
	struct watch *w = ctx;
	const char *const texts[] = { v->name, v->unit, v->text };
	union {
		struct kd_rec_value value;
		char room[KD_REC_MAX];
	} buf = { .value = {
			  .rec = { .kind = KD_REC_VALUE },
			  .value = v->value,
			  .better = (__u8)v->better,
		  } };

	if (w->late) {
		log_warn("the time was up when the command printed %s: it is left out", v->name);
		return 0;
	}
	stream_put_strings(&buf, offsetof(struct kd_rec_value, text), texts, 3);
	return stream_record(w->marks, &buf, buf.value.rec.len);
}

/* In the capture too, or a figure would be missing there without a word. */
static void say_malformed(struct watch *w)
{
	char detail[64];

	if (!w->child.malformed)
		return;
	snprintf(detail, sizeof(detail), "%" PRIu64 " line%s", w->child.malformed,
		 w->child.malformed == 1 ? "" : "s");
	w->child.malformed = 0;
	if (w->marks)
		events_say(w->marks, "metric_malformed", detail);
}

static void take_status(struct watch *w)
{
	w->runs++;
	w->badly += w->child.status != 0;
	if (!w->status)
		w->status = w->child.status;
}

/* Something else than the command's own end ends it all: the run that goes on has no end. */
static bool is_cut(const struct watch *w)
{
	return came || w->closed || w->enough;
}

static int run_once(struct session *s, struct watch *w, unsigned int index, bool last)
{
	int err = index ? child_spawn(&w->child, command_of(w, index), &w->mask) : 0;

	if (!err && index)
		err = session_tick(s); /* what happened between the runs */
	if (!err)
		err = mark(w, index, false);
	if (err)
		return err;
	child_go(&w->child);
	err = tick_until_end(s, w);
	if (!child_runs(&w->child))
		take_status(w);
	if (err || is_cut(w))
		return err;
	say_malformed(w);
	w->stopped = last;
	err = last ? session_stop(s) : session_tick(s);
	return err ? err : mark(w, index, true);
}

static bool cannot_be_run(const struct child *c)
{
	return c->status == 126 || c->status == 127;
}

static int run_all(struct session *s, struct watch *w)
{
	unsigned int n = (w->repeat ? w->repeat : 1) * (w->other ? 2 : 1), i;
	int err = 0;

	for (i = 0; i < n && !err && !is_cut(w); i++) {
		err = run_once(s, w, i, i == n - 1);
		if (cannot_be_run(&w->child))
			break;
	}
	return err;
}

/* Blocked but while waiting: a signal that comes between the look and the wait is not missed. */
static void block_signals(struct watch *w)
{
	sigset_t block;

	sigemptyset(&block);
	sigaddset(&block, SIGINT);
	sigaddset(&block, SIGTERM);
	sigaddset(&block, SIGHUP);
	sigprocmask(SIG_BLOCK, &block, &w->mask);
}

int watch_run(struct session *s, struct watch *w)
{
	int err = 0, stop_err = 0;

	w->status = 0;
	child_init(&w->child);
	if (w->marks) {
		w->child.on_value = on_value;
		w->child.ctx = w;
	}
	block_signals(w);
	if (w->command)
		err = child_spawn(&w->child, w->command, &w->mask);
	if (!err) {
		err = session_start(s);
		if (!err)
			err = w->command ? run_all(s, w) : tick_until_end(s, w);
		if (!w->stopped)
			stop_err = session_stop(s);
	}
	w->late = true;
	sigprocmask(SIG_SETMASK, &w->mask, NULL);
	w->signal = came;
	pass_on_signal(w);
	child_drop(&w->child);
	return err ? err : stop_err;
}

int watch_finish(struct watch *w)
{
	struct pollfd p[2];
	int err = 0;

	if (!child_runs(&w->child))
		return 0;
	while (!err && child_runs(&w->child)) {
		child_poll(&w->child, p);
		if (poll(p, 2, -1) < 0 && errno == EINTR)
			pass_on_signal(w);
		err = child_serve(&w->child);
	}
	take_status(w);
	return err;
}
