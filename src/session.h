/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * session.h - a measurement of the running kernel, from plan to detach. Everything that it learns
 * leaves as records through one stream.
 */
#ifndef KDEFER_SESSION_H
#define KDEFER_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "plan.h"
#include "stream.h"

struct session;
struct kernel;

struct session_conf {
	struct plan_request want;
	uint64_t attach_timeout_ns;
	uint64_t max_memory; /* bytes, kernel side, all sources together */
	uint64_t sample;     /* 1/N */
	/*
	 * What our programs may take of each CPU, as a share of its time; 0: whatever they do. Above it fewer
	 * events are followed, unless `sample` is fixed, lists are read without IPIs, or `budget_warns`.
	 */
	double budget;
	bool budget_warns;
	uint32_t dims; /* bits of enum kd_dim asked for besides MAIN */
	/*
	 * Waits longer than this are explained; 0: not armed. By measure: RCU_GP_DURATION (a grace period of
	 * any flavour), RCU_GP_WAIT (a caller), CALL_RCU_LATENCY (a callback), CALL_RCU_HOLDUP (one run of
	 * a callback), RSTAT_FLUSH, _WAIT and _HOLD. RCU_GP_HOLDUP and RSTAT_HOLDUP: the least of their
	 * source's. over_gp_ns: grace periods by flavour, which is what counts for these.
	 */
	uint64_t over_ns[KD_M_COUNT];
	uint64_t over_gp_ns[KD_FL_RCU_END];
	bool no_ipi;       /* lists of other CPUs are read from afar: not exact */
	bool writes_files; /* the caller still has files to rename: keep the right to */
	void (*before_attach)(
		void); /* called when there is something to detach from now on; may be NULL */
	int (*stopped)(void); /* true: a signal came, give up starting; may be NULL */
};

#define SESSION_ATTACH_TIMEOUT_NS 10000000000ULL
#define SESSION_MAX_MEMORY (64ULL << 20)

void session_conf_init(struct session_conf *c); /* the defaults */

/*
 * Probes the kernel, resolves the plan, loads, attaches, waits for the grace periods that this
 * caused; says HOST and PLAN records. 0; -ENODEV: nothing that was asked for can be measured here
 * (the PLAN records say why, the first reason is logged); -EINTR: stopped; all errors are logged.
 */
int session_open(struct session **s, const struct session_conf *conf, struct stream *out);

int session_start(struct session *s); /* recording on; the baseline tick */
/*
 * Called until it returns UINT64_MAX: what a run of our programs costs is measured at the beginning.
 * Returns when to call again (CLOCK_MONOTONIC).
 */
uint64_t session_calibrate(struct session *s);
/* The same for the budget: *next_ns is when to call again. 0 or a negative errno (logged). */
int session_budget(struct session *s, uint64_t *next_ns);
int session_tick(struct session *s); /* what changed, then KD_REC_TICK */
int session_stop(struct session *s); /* recording off, the last tick */
/*
 * After session_stop(): takes all hooks away, and records how long that took, if it was done in time.
 * session_close() does it too, for whoever has no use for the record.
 */
int session_detach(struct session *s);
/* Detaches; says so on standard error when it takes over a second. Frees s. NULL is fine. */
void session_close(struct session *s);

/*
 * For doctor: loads what the plan expects, attaches its hooks one by one, each detached again, and
 * makes the rows on or off. `bytes`: kernel memory that each source's tables took. 0, or a negative
 * errno (logged): it could not be tried.
 */
int session_try(const struct session_conf *conf, struct kernel *k, struct plan *p,
		uint64_t bytes[KD_SRC_COUNT]);

#endif
