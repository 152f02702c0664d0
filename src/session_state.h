/* SPDX-License-Identifier: GPL-2.0-only */
/* session_state.h - what a session holds. Only src/session.c and src/session_tick.c include it. */
#ifndef KDEFER_SESSION_STATE_H
#define KDEFER_SESSION_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../bpf/defer.h"
#include "cgroup_names.h"
#include "events.h"
#include "kernel.h"
#include "listers.h"
#include "plan.h"
#include "session.h"
#include "settle.h"
#include "source.h"
#include "stream.h"

#define HOOKS_MAX 128

struct attach;
struct ring_buffer;

struct cost_runs {
	uint64_t n, ns;
};

/* What our programs cost: src/session_cost.c. */
struct cost {
	int stats_fd; /* while it is open the kernel times BPF programs; -1 */
	int err;      /* of saying so */
	uint64_t until_ns, look_ns;
	struct cost_runs before[HOOKS_MAX]; /* when the kernel began to */
	double run_ns[KD_SRC_COUNT];        /* of one run; 0: not known */
	double in_flush, in_hold;           /* shares of that of rstat */
	uint64_t runs[KD_SRC_COUNT];
};

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
	struct settle *settle;         /* until all is attached; NULL */
	struct attach *attach;         /* the process that holds the links */
	int link[HOOKS_MAX];
	uint64_t missed[HOOKS_MAX]; /* at the start */
	size_t nhooks;
	struct listers listers;
	struct events events;
	struct cgroup_names cgroups;
	bool looking;      /* what the ring holds are whole snapshots */
	uint32_t interval; /* the one being filled */
	uint64_t skipped;  /* ticks left incomplete */
	bool recording;
	int sink_err;
	struct kd_rec_self self;
	struct cost cost;
};

void cost_init(struct session *s);
int cost_open(struct session *s); /* with all rights */
void cost_close(struct session *s);
void cost_take(struct session *s, const void *record, size_t size); /* each that a program wrote */
int cost_emit(struct session *s, bool last);                        /* fills in s->self too */

#endif
