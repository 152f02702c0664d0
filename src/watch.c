// SPDX-License-Identifier: GPL-2.0-only
/* watch.c - the loop of every command that measures, and the command it may run. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "log.h"
#include "session.h"
#include "watch.h"

static volatile sig_atomic_t came; /* the first signal that asked to end */
static volatile sig_atomic_t from_terminal;

static volatile sig_atomic_t starting;
static char starting_part[4096];

static void on_signal(int sig, siginfo_t *info, void *ctx)
{
	(void)ctx;
	if (starting && *starting_part)
		unlink(starting_part);
	if (came || starting) {
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

int watch_signalled(void)
{
	return came;
}

/* In the child: waits for the word to go, then becomes the command. */
static void __attribute__((noreturn)) become(char **argv, int go, int failed)
{
	char byte;
	int err;

	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	if (read(go, &byte, 1) != 1)
		_exit(125); /* the watcher gave up before the start */
	execvp(argv[0], argv);
	err = errno;
	if (write(failed, &err, sizeof(err)) < 0)
		_exit(125);
	_exit(err == ENOENT ? 127 : 126);
}

static int spawn(struct watch *w)
{
	int go[2], failed[2];

	if (pipe2(go, O_CLOEXEC))
		return -errno;
	if (pipe2(failed, O_CLOEXEC)) {
		int err = -errno;

		close(go[0]);
		close(go[1]);
		return err;
	}
	w->pid = fork();
	if (!w->pid) {
		close(go[1]);
		become(w->command, go[0], failed[1]);
	}
	close(go[0]);
	close(failed[1]);
	w->go = go[1];
	w->failed = failed[0];
	w->pidfd = w->pid > 0 ? (int)syscall(SYS_pidfd_open, w->pid, 0) : -1;
	return w->pid > 0 ? 0 : -errno;
}

/* Lets the command go; says so when it could not become what was asked. */
static void let_go(struct watch *w)
{
	int err = 0;

	if (write(w->go, "", 1) != 1)
		log_warn("the command did not start");
	close(w->go);
	w->go = -1;
	if (read(w->failed, &err, sizeof(err)) == sizeof(err))
		log_msg(LOG_ERROR, "cannot run %s: %s", w->command[0], strerror(err));
	close(w->failed);
}

static int exit_status(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Has the command ended? Takes its status then. */
static bool command_ended(struct watch *w)
{
	int status;

	if (!w->pid || waitpid(w->pid, &status, WNOHANG) != w->pid)
		return false;
	w->status = exit_status(status);
	w->pid = 0;
	return true;
}

/* A terminal sends its signals to the command too; others reach only us, and are passed on. */
static void pass_on_signal(struct watch *w)
{
	if (w->pid && came && !from_terminal)
		kill(w->pid, came);
}

/* Waits for the command, for a reader of our output that goes away, and at most until the time given. */
static int wait_for(struct watch *w, uint64_t ns)
{
	struct pollfd p[2] = {
		{ .fd = w->pid ? w->pidfd : -1, .events = POLLIN },
		{ .fd = STDOUT_FILENO }, /* errors alone */
	};
	struct timespec left = clock_timespec(ns);

	if (ppoll(p, 2, &left, &w->mask) < 0)
		return errno == EINTR ? 0 : -errno;
	w->closed = p[1].revents & POLLERR;
	return 0;
}

static int tick_until_end(struct session *s, struct watch *w)
{
	uint64_t begin = clock_mono_ns(),
		 end = w->duration_ns ? begin + w->duration_ns : UINT64_MAX;
	uint64_t next = begin + w->interval_ns;
	int err = 0;

	while (!err && !came && !w->closed && !command_ended(w)) {
		uint64_t now = clock_mono_ns(), until = next < end ? next : end;

		if (now >= end)
			break;
		if (now >= next) {
			err = session_tick(s);
			next += w->interval_ns;
			/* Late by whole intervals: skip them rather than catch up in a burst. */
			while (next <= now)
				next += w->interval_ns;
			continue;
		}
		err = wait_for(w, until - now);
	}
	return err;
}

int watch_run(struct session *s, struct watch *w)
{
	sigset_t block;
	int err = 0, stop_err;

	w->status = 0;
	w->pid = 0;
	w->go = -1;
	if (w->command)
		err = spawn(w);
	if (err)
		return log_err(err, "cannot start a process for the command: %s", strerror(-err));
	/* Blocked but while waiting: a signal that comes between the look and the wait is not missed. */
	sigemptyset(&block);
	sigaddset(&block, SIGINT);
	sigaddset(&block, SIGTERM);
	sigaddset(&block, SIGHUP);
	sigprocmask(SIG_BLOCK, &block, &w->mask);
	err = session_start(s);
	if (w->command && !err)
		let_go(w);
	if (!err)
		err = tick_until_end(s, w);
	stop_err = session_stop(s);
	sigprocmask(SIG_SETMASK, &w->mask, NULL);
	w->signal = came;
	pass_on_signal(w);
	if (w->go >= 0)
		close(w->go); /* never let go: it ends by itself */
	return err ? err : stop_err;
}

int watch_finish(struct watch *w)
{
	int status;

	while (w->pid) {
		pid_t got = waitpid(w->pid, &status, 0);

		if (got == w->pid) {
			w->status = exit_status(status);
			w->pid = 0;
		} else if (got < 0 && errno == EINTR) {
			pass_on_signal(w);
		} else {
			return -errno;
		}
	}
	return 0;
}
