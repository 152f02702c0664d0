/* SPDX-License-Identifier: GPL-2.0-only */
/* session_state.h - what a session holds. Only src/session.c and src/session_tick.c include it. */
#ifndef KDEFER_SESSION_STATE_H
#define KDEFER_SESSION_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../bpf/defer.h"
#include "../bpf/rstat.h"
#include "budget.h"
#include "cgroup_names.h"
#include "events.h"
#include "kernel.h"
#include "listers.h"
#include "own_callers.h"
#include "plan.h"
#include "session.h"
#include "settle.h"
#include "source.h"
#include "stream.h"

#define HOOKS_MAX 128

struct attach;
struct ring_buffer;

#define COST_RUNS_LEAST 20 /* fewer say nothing: the first of them find cold caches */

struct cost_runs {
	uint64_t n, ns;
};

/* Runs of programs of rstat: src/session_cost_rstat.c. */
struct cost_rstat {
	struct rs_own before; /* when the kernel began to time them */
	/* Of one run, in ns; NAN: not known. edge: what lies before its first look at the clock, and behind its last. */
	double edge, visit, tick, split;
};

/* What our programs cost: src/session_cost.c. */
struct cost {
	int stats_fd; /* while it is open the kernel times BPF programs; -1 */
	int err;      /* of saying so */
	uint64_t until_ns, look_ns;
	uint32_t anew;                      /* sources whose first runs are left out: a bit each */
	struct cost_runs before[HOOKS_MAX]; /* when the kernel began to */
	double run_ns[KD_SRC_COUNT];        /* of one run; 0: not known */
	double left_out_ns[KD_SRC_COUNT];   /* of one that only leaves an event out; 0: not known */
	struct cost_rstat rstat;
	uint64_t runs[KD_SRC_COUNT], left_out[KD_SRC_COUNT];
};

struct cpu_looked;

/* What --budget does: src/session_budget.c. */
struct budget_state {
	struct budget b;
	bool acts;  /* follows fewer events where that helps; else it only warns */
	bool again; /* the last change is not done with on all CPUs */
	unsigned int ends_shift;
	bool over, warned;
	uint64_t look_ns, last_ns; /* when to look, when that was done last */
	struct cpu_looked *looked; /* by source and CPU; NULL: there is no budget */
	struct budget_cpu *cpu;
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
	struct own_callers callers;
	struct settle *settle; /* until all is attached; NULL */
	struct attach *attach; /* the process that holds the links */
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
	struct budget_state budget;
};

void cost_init(struct session *s);
int cost_open(struct session *s); /* with all rights */
void cost_close(struct session *s);
void cost_take(struct session *s, const void *record, size_t size); /* each that a program wrote */

int budget_open(struct session *s); /* before sources are loaded */
void budget_close(struct session *s);
void budget_ticked(struct session *s); /* s->self has been told */

int cost_emit(struct session *s, bool last); /* fills in s->self too */
/* Of one hook, since the kernel began to time them. */
struct cost_runs cost_hook_since(const struct session *s, size_t hook);
int cost_put_total(struct session *s, unsigned int source, enum kd_count what, double ns);
bool cost_rstat_is_enough(const struct session *s);
uint64_t cost_rstat_runs(const struct session *s); /* of those that find the edges, while timed */
int cost_rstat_begins(struct session *s);
int cost_rstat_timed(struct session *s);
int cost_rstat_emit(struct session *s);

#endif
