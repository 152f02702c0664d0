/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * events.h - what happens to the host while it is measured, and may explain a wait: looked for at each
 * tick, from files that stay open, since opening one at each tick would hand over a callback of our own.
 */
#ifndef KDEFER_EVENTS_H
#define KDEFER_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

struct kd_rec;
struct stream;

struct events_clocks {
	uint64_t mono_ns, real_ns, boot_ns; /* read together */
};

struct events {
	struct stream *out;
	int online_fd, stat_fd, log_fd; /* -1: cannot be had */
	char online[256];               /* CPUs, as the kernel writes them */
	struct events_clocks clocks;
	uint64_t cpu_total, cpu_steal; /* ticks of all CPUs */
	uint64_t stat_ns, steal_said_ns;
	uint64_t kdefer_waits, kdefer_callbacks; /* of another kdefer, totals */
	uint64_t waits_said, callbacks_said;
};

/* Opens what it reads, and says whether another kdefer measures. 0, or what the stream said. */
int events_open(struct events *e, struct stream *out);
/* The first look has nothing to compare with. 0, or what the stream said. */
int events_look(struct events *e);
void events_close(struct events *e);

/* A record of a tick's: what our hooks saw another kdefer do is said by the next look. */
void events_take(struct events *e, const struct kd_rec *rec);

/* One event, now. `detail` may be "". */
int events_say(struct stream *out, const char *what, const char *detail);

/* --- what looks are made of --- */

/*
 * A record of /dev/kmsg: what it tells of, or NULL. *detail is its text, inside of `record`, which is
 * changed. Only what the kernel itself wrote counts.
 */
const char *events_of_log(char *record, const char **detail);
/* What became of the clocks since `before`, with its detail (of size bytes); NULL: they just went on. */
const char *events_of_clocks(const struct events_clocks *before, const struct events_clocks *now,
			     char *detail, unsigned int size);

#endif
