/* SPDX-License-Identifier: GPL-2.0-only */
/* session_state.h - what a session holds. Only src/session.c and src/session_tick.c include it. */
#ifndef KDEFER_SESSION_STATE_H
#define KDEFER_SESSION_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../bpf/defer.h"
#include "events.h"
#include "kernel.h"
#include "listers.h"
#include "plan.h"
#include "session.h"
#include "source.h"
#include "stream.h"

#define HOOKS_MAX 128

struct attach;
struct ring_buffer;

struct session {
	struct session_conf conf;
	struct stream *out;
	struct kernel kernel;
	struct plan plan;
	int ring_fd;
	int statm_fd; /* /proc/self/statm */
	struct ring_buffer *ring;
	void *state[SOURCES_MAX]; /* by index in sources[]; NULL: not loaded */
	struct source_hook hook[HOOKS_MAX];
	unsigned int owner[HOOKS_MAX]; /* source id */
	struct attach *attach;         /* the process that holds the links */
	int link[HOOKS_MAX];
	uint64_t missed[HOOKS_MAX]; /* at the start */
	size_t nhooks;
	struct listers listers;
	struct events events;
	bool looking;      /* what the ring holds are whole snapshots */
	uint32_t interval; /* the one being filled */
	uint64_t skipped;  /* ticks left incomplete */
	bool recording;
	int sink_err;
	struct kd_rec_self self;
};

#endif
