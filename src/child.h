/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * child.h - a command that is measured: made ready, let go when recording is on, waited for. Where
 * its standard output is read, it is passed on as it comes, and lines of its own figures are heard:
 *
 *   kdefer-metric NAME VALUE UNIT lower|higher|none
 */
#ifndef KDEFER_CHILD_H
#define KDEFER_CHILD_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "../bpf/defer.h"

/* Set for a command whose lines are read, so that one may print figures only where they are heard. */
#define CHILD_METRICS_ENV "KDEFER_METRICS"
#define CHILD_LINE 1024 /* a line of figures is no longer than this */

struct child_value {
	const char *name, *unit, *text;
	double value;
	enum kd_better better;
};

struct child {
	int status; /* how it ended, as a shell says it: 0..125, 126, 127, 128+n */
	/* Called for each line of figures; NULL: standard output is the command's own affair. */
	int (*on_value)(void *ctx, const struct child_value *v);
	void *ctx;
	uint64_t malformed; /* lines of figures that are none */
	bool cut;           /* some of what it printed could not be passed on: logged */
	/* private: */
	char *const *argv;
	pid_t pid; /* 0: none runs */
	int pidfd, go, failed;
	int out;            /* its standard output, or -1 */
	char pending[4096]; /* read, not yet passed on */
	size_t pending_at, pending_len;
	char line[CHILD_LINE];
	size_t line_len; /* CHILD_LINE: too long for figures */
};

void child_init(struct child *c);

/* A process that will become the command, with these signals blocked. 0 or a negative errno (logged). */
int child_spawn(struct child *c, char *const *argv, const sigset_t *mask);
void child_go(struct child *c); /* one that cannot be run is logged, and ends with 126 or 127 */
bool child_runs(const struct child *c);

/* What to wait for: its end, and its output or the room for it. */
void child_poll(const struct child *c, struct pollfd p[2]);
/*
 * After the wait: passes on what it printed; takes the status of one that has ended, when all of that is
 * passed on. 0 or what on_value returned.
 */
int child_serve(struct child *c);

void child_signal(const struct child *c, int sig); /* where none runs, nothing */
void child_drop(struct child *c);                  /* one that was never let go ends by itself */

/* A line without its newline. 1: figures (v points into the line, which is changed); 0: none; -EINVAL. */
int child_parse_value(char *line, struct child_value *v);

#endif
