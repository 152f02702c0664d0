/* SPDX-License-Identifier: GPL-2.0-only */
/* scope.h - what of the model was asked for: every view takes it, so that text and JSON agree. */
#ifndef KDEFER_SCOPE_H
#define KDEFER_SCOPE_H

#include <stdbool.h>
#include <stdint.h>

#include "model.h"
#include "report_filter.h"

struct scope {
	bool interval;          /* the last ended interval, else the whole run */
	bool one_run;           /* the last of m->runs instead */
	uint64_t measures;      /* bits of enum kd_measure_id */
	const uint32_t *hidden; /* by measure: bits of flavours not asked for; NULL: none */
	bool raw_addresses;     /* addresses of functions too */
	const struct report_filter *reports; /* of long waits: those that match all of these */
	size_t nreports;
};

bool scope_has_measure(const struct scope *sc, unsigned int measure);
bool scope_has(const struct scope *sc, unsigned int measure, unsigned int flavour);
bool scope_has_source(const struct scope *sc, unsigned int source); /* one of its measures */

/* When the window began (CLOCK_MONOTONIC), and how long it is. */
uint64_t scope_begin_ns(const struct model *m, const struct scope *sc);
uint64_t scope_length_ns(const struct model *m, const struct scope *sc);

/* What was lost and counted in the window; a level (KD_CNT_OPEN) is as at its end. */
uint64_t scope_lost(const struct model *m, const struct scope *sc, unsigned int source,
		    unsigned int what);
uint64_t scope_count(const struct model *m, const struct scope *sc, unsigned int source,
		     unsigned int what);

/* Whether it happened in the window. What came before recording began belongs to the first interval. */
bool scope_has_event(const struct model *m, const struct scope *sc, const struct event *e);
/* Whether a report was asked for, and told in the window. */
bool scope_has_holdup(const struct model *m, const struct scope *sc, const struct holdup *h);
/* Whether reports of some kind were asked for, and made. */
bool scope_arms(const struct model *m, const struct scope *sc);
/* Whether a kind of loss can happen to what the scope asks of this source: lists have their own. */
bool scope_may_lose(const struct scope *sc, unsigned int source, unsigned int what);

/* 1/N of the events were followed: N, at least 1; where that changed, the greatest of the window. */
uint64_t scope_sampling(const struct model *m, const struct scope *sc);
/* Whether that is about this measure: what --budget leaves out is of one. */
bool scope_is_sampled(const struct model *m, const struct scope *sc, unsigned int measure,
		      unsigned int flavour);

/* Some measure of the scope is on, or left totals. */
bool scope_measured(const struct model *m, const struct scope *sc);

#endif
