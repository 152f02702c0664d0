/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * flushes.h - flushes of cgroup statistics as rows of several measures: by subsystem, cgroup or flusher,
 * what they spent their time with, and how long others waited behind them. Text and JSON show these.
 */
#ifndef KDEFER_FLUSHES_H
#define KDEFER_FLUSHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model.h"
#include "scope.h"

/* Sums over bounds, and but for totals over subsystems: a flush or hold of any kind is time all the same. */
struct flush_row {
	const struct keys *keys; /* NULL: of the rest, or a total */
	uint8_t subsystem;       /* of a total */
	uint64_t flushes, flush_ns, work_ns, hold_ns;
	uint64_t behind_ns; /* what others waited */
	bool bound;         /* behind_ns is one */
	bool lower;         /* some of the flushes were longer than was seen */
	uint64_t held_ns, irqs_ns, off_cpu_ns;
	const struct hist *hold, *hold_by_8; /* of a total; may be NULL */
	uint64_t by_8, by_8_ns; /* flushes, if the lock was given up at every 8th CPU */
};

struct flush_rows {
	struct metric *metrics;
	size_t nmetrics;
	struct flush_row
		*row; /* what others waited most for comes first, then the longest in all */
	size_t n;
	enum key_name by;   /* KEY_NONE: totals */
	uint64_t waited_ns; /* all waits for the locks that are seen */
};

/* 0 or -ENOMEM; to be freed in either case. Rows point into it. */
int flush_rows_collect(struct flush_rows *all, const struct model *m, const struct scope *sc,
		       const struct filter *filters, size_t nfilters, enum key_name by);
void flush_rows_free(struct flush_rows *all);

/*
 * How much of all waiting would vanish at least if the first of these rows did not flush: 0 to 1. What
 * it waited itself would vanish too, in part behind others. False where that does not follow: nobody
 * waited, the row is of the rest, or its time is a bound.
 */
bool flush_gain(const struct flush_rows *all, double *share);

/* Whether rstat.blame was asked for, and is measured. */
bool flush_is_blamed(const struct model *m, const struct scope *sc);

/* A total's time in flush, in parts that add up to it. */
struct flush_split {
	uint64_t wait_ns, held_ns, irqs_ns, off_cpu_ns, rest_ns;
	bool knows_held, knows_irqs, knows_off_cpu; /* else a part of the rest */
};

/* Whether what flushes spend their time with was asked for, and some of it is measured. */
bool flush_is_split(const struct model *m, const struct scope *sc);
void flush_split(struct flush_split *s, const struct model *m, const struct scope *sc,
		 const struct flush_row *row);
/*
 * How much shorter flushes would be at most if the lock was given up at every 8th CPU: 0 to 1. At most,
 * since what our own programs take between the holds of a group is in it.
 */
bool flush_by_8(const struct flush_row *row, double *shorter);

#endif
