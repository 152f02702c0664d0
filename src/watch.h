/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * watch.h - the loop of every command that measures: ticks at its interval, until the time is up,
 * the command ends, or a signal asks to end.
 */
#ifndef KDEFER_WATCH_H
#define KDEFER_WATCH_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct session;

struct watch {
	uint64_t duration_ns; /* 0: until the command ends or a signal comes */
	uint64_t interval_ns; /* between ticks, > 0 */
	char **command;       /* NULL-terminated argv, or NULL */
	/* filled: */
	int status;  /* how the command ended, as a shell says it: 0..125, 126, 127, 128+n */
	int signal;  /* which signal ended the watch; 0 = none */
	bool closed; /* nobody reads standard output any more: that ended it */
	/* private: */
	pid_t pid; /* of the command while it runs */
	int pidfd, go, failed;
	sigset_t mask; /* signals blocked outside the wait, but for ours */
};

/*
 * SIGINT, SIGTERM, SIGHUP end the watch, a second one ends the process; SIGPIPE is ignored (writes
 * say EPIPE). Call first in main(), before anything is attached.
 */
void watch_signals(void);

/*
 * Until watch_started() there is nothing to show and nothing to detach: a signal removes the file
 * `part` (NULL: none) and ends the process at once, however long a step of the start-up takes.
 */
void watch_starting(const char *part);
void watch_started(void);
int watch_signalled(void); /* the signal that came, or 0 */

/*
 * Starts the command stopped, starts the session, lets the command go, ticks, stops the session.
 * The command sees the end as a terminal would give it: on a signal to us it gets the same.
 * 0, or a negative errno: measuring failed (logged; the command is not left running unwatched).
 */
int watch_run(struct session *s, struct watch *w);

/* When the time is up before the command: waits for its end and takes its status. Call after printing. */
int watch_finish(struct watch *w);

#endif
