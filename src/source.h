/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * source.h - what a source of deferrals is to the session: one file in bpf/, one here, a row in the
 * plan, a row in the catalog. Nothing else knows its skeleton.
 */
#ifndef KDEFER_SOURCE_H
#define KDEFER_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel.h"
#include "plan.h"

struct rs_own;

struct source_conf {
	const struct kernel *kernel;
	struct plan *plan;   /* rows of this source: which hooks to load */
	int ring_fd;         /* the session's ring buffer, which the source's object shares */
	uint64_t max_memory; /* bytes of kernel memory for the tables of this source */
	uint64_t sample;     /* follow 1 of N; 1 = all */
	bool thinnable; /* `thin` may be called: what is followed can be made less, and more again */
	uint32_t dims;  /* bits of enum kd_dim that are asked for besides MAIN */
	/* By measure: ns from which on a wait is reported; 0: it is not armed. Of holdup sources. */
	const uint64_t *over_ns;
	const uint64_t *over_gp_ns; /* by flavour: grace periods; see session_conf */
};

/* A program of the source that the plan uses, ready to be attached. */
struct source_hook {
	const char *program; /* serves every row of the plan whose way names it */
	const char *target;
	int prog_fd;
	int attach_type; /* enum bpf_attach_type */
};

/* Of one CPU, since the object was loaded. */
struct cpu_runs {
	uint64_t n;        /* runs of programs */
	uint64_t left_out; /* of these, such as only left out an event, by `thin` */
};

struct source {
	unsigned int id; /* enum kd_source_id */
	bool holdup; /* reports waits that are too long: serves the rows of holdup measures only */

	/*
	 * Opens and loads the object: tables sized to max_memory, only the programs of rows that are
	 * not off. A row that cannot be loaded is refused in the plan with its reason. Returns 0,
	 * -ENODEV when no row is left, or another negative errno (logged).
	 */
	int (*load)(void **state, struct source_conf *conf);
	/* Fills hooks (room for max) with what is to be attached; returns how many. */
	size_t (*hooks)(void *state, struct source_hook *hooks, size_t max);
	/* Recording on: from the next event on this is a measurement. */
	int (*start)(void *state);
	/*
	 * Writes what changed into the ring for the interval that ends; `cursor` is 0 first, then what
	 * was returned. 0: all written; > 0: drain the ring and come again; negative errno: failed.
	 */
	int64_t (*tick)(void *state, uint32_t cursor, uint32_t interval);
	/*
	 * Adds the runs on each CPU (room for `cpus`). 0 or a negative errno (not logged). NULL: they are
	 * not counted.
	 */
	int (*runs)(void *state, struct cpu_runs *by_cpu, int cpus);
	/*
	 * From now on 1 of 2^shift events is followed, and counted for as many. 0; -EAGAIN: to be asked
	 * again, for what began before to end; another negative errno (not logged). NULL: it cannot be done.
	 */
	int (*thin)(void *state, unsigned int shift);
	/* Whether, when `runs` was asked, something that was left out had not ended. With `thin`. */
	bool (*is_thin)(void *state);
	/* ns of a run that only leaves an event out, measured now; 0: it could not be. With `thin`. */
	double (*left_out_ns)(void *state);
	/* Recording off. What is under way still ends. */
	void (*stop)(void *state);
	/* Frees everything; all programs go as soon as their links are closed. */
	void (*unload)(void *state);
	/* Bytes of kernel memory its maps take. */
	uint64_t (*kernel_bytes)(void *state);
	/* Bytes that `load` would need at least, for the message when max_memory is too small. */
	uint64_t (*least_bytes)(const struct kernel *k, uint32_t dims);
	/* What its programs counted of their own time, for src/session_cost_rstat.c. Only rstat has it. */
	int (*own)(void *state, struct rs_own *own);
};

/* --- what every source does with its object and its rows (source_util.c) --- */

struct bpf_object;

/* Loads only programs that rows in the plan use, and those that are no hook of any row (run by us). */
void source_choose_programs(struct bpf_object *obj, const struct plan *plan, unsigned int source);
/* The hooks of all rows that are not off, each program once. */
size_t source_collect_hooks(struct bpf_object *obj, const struct plan *plan, unsigned int source,
			    struct source_hook *hooks, size_t max);
/* Whether a row of the plan is one of those that this source hooks for. */
bool source_serves(const struct source *src, const struct plan_entry *e);
/* What `runs` does where programs count them by bpf/runs.bpf.h. */
int source_cell_runs(const struct bpf_object *obj, struct cpu_runs *by_cpu, int cpus);
/* Switches off all rows of a source that are not off yet; those of its lists and holdups are not its own. */
void source_refuse(struct plan *plan, unsigned int source, const char *reason_fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The same for the rows of its holdups. */
void holdup_refuse(struct plan *plan, unsigned int source, const char *reason_fmt, ...)
	__attribute__((format(printf, 3, 4)));

#define BEGINNINGS_MAX 64

/* The hooks of a source that see beginnings: their programs end in "_in". What they missed explains ends. */
struct beginnings {
	int fd[BEGINNINGS_MAX];
	uint64_t missed[BEGINNINGS_MAX]; /* when recording began */
	size_t n;
};

void beginnings_collect(struct beginnings *b, const struct source_hook *hooks, size_t n);
void beginnings_start(struct beginnings *b);
uint64_t beginnings_missed(const struct beginnings *b); /* events that they were not given since */

#define SOURCES_MAX 12
extern const struct source *const sources[]; /* NULL-terminated */

#endif
