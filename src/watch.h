/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * watch.h - the loop of every command that measures: ticks at its interval, until the time is up,
 * the command ends, or a signal asks to end.
 */
#ifndef KDEFER_WATCH_H
#define KDEFER_WATCH_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "child.h"

struct session;
struct stream;

#define WATCH_FDS 4

struct watch {
	uint64_t duration_ns; /* 0: until the command ends or a signal comes */
	uint64_t ticks; /* it ends with the tick of this number, late or not; 0: no such end */
	uint64_t interval_ns; /* between ticks, > 0 */
	char **command;       /* NULL-terminated argv, or NULL */
	/*
	 * Where each run of the command leaves marks and its own figures (KD_REC_RUN, KD_REC_VALUE). Its
	 * output is read then, and passed on; standard output is nobody else's. NULL: one run, no marks.
	 */
	struct stream *marks;
	char **other; /* of side B, run in turn with the command, which is side A: A B B A A B ... */
	unsigned int repeat; /* runs of each side; 0 is one */
	/*
	 * More to wait for, of a person who watches. `poll` fills in at most WATCH_FDS descriptors and returns
	 * how many; `woken` is called after each wait, whatever ended it, and may change interval_ns; 0, or a
	 * negative errno that ends the watch. Both NULL, or none.
	 */
	size_t (*poll)(void *ctx, struct pollfd *p);
	int (*woken)(void *ctx);
	void *ctx;
	bool enough; /* set while it goes on: end it now, but leave the command alone */
	/* filled: */
	int status; /* of the first run that did not end well, as a shell says it; or 0 */
	unsigned int runs, badly; /* that ended; of these, not with status 0 */
	int signal;               /* which signal ended the watch; 0 = none */
	bool closed;              /* nobody reads standard output any more: that ended it */
	/* private: */
	struct child child;
	bool stopped, late;
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
/* Called when a second signal is about to end the process at once, from its handler. */
void watch_last_words(void (*last)(void));
int watch_signalled(void); /* the signal that came, or 0 */

/*
 * Starts the command stopped, starts the session, lets the command go, ticks, and again for every run,
 * then stops the session. A run begins and ends with a tick, so that what is counted belongs to it.
 * The command sees the end as a terminal would give it: on a signal to us it gets the same.
 * 0, or a negative errno: measuring failed (logged; the command is not left running unwatched).
 */
int watch_run(struct session *s, struct watch *w);

/* When the time is up before the command: waits for its end and takes its status. Call after printing. */
int watch_finish(struct watch *w);

#endif
