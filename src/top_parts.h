/* SPDX-License-Identifier: GPL-2.0-only */
/* top_parts.h - between the files that make a snapshot, for nobody else. */
#ifndef KDEFER_TOP_PARTS_H
#define KDEFER_TOP_PARTS_H

#include "backlog.h"
#include "top_rows.h"

struct top_index;

/* One snapshot on its way. */
struct top_job {
	struct top *t;
	const struct model *m;
	struct top_snap *s;
	bool fresh;  /* its numbers enter the history */
	size_t room; /* of s->rows */
	size_t nlatest, nshown;
	struct top_index *index; /* of s->latest, where another window is shown */
	int err;
};

/* A new row, or NULL: no memory, which is kept in j->err. name is harmless, id told apart. */
struct top_row *top_add(struct top_job *j, enum top_kind kind, unsigned int source,
			const char *name, const char *id);
/* Its history: looked up, and of a fresh snapshot continued. */
struct track *top_track(struct top_job *j, struct top_row *r);
/*
 * Enters what is in the row into its history, and marks what is unusual. hist: of the interval. Returns
 * the history where it was continued, else NULL.
 */
struct track *top_remember(struct top_job *j, struct top_row *r, const struct hist *hist);
/* Rate and quantiles of a metric of s->metrics, in the window that is shown. */
void top_set_metric(struct top_job *j, struct top_row *r, const struct metric *x);
const struct metric *top_latest(const struct top_job *j, const struct metric *x);
struct backlog_query top_backlog(const struct top_job *j);
/* strdup() that keeps its failure in j->err. */
char *top_string(struct top_job *j, const char *s);
/* log2 of the lowest value of a heat map. */
unsigned int top_first_octave(enum unit unit);

void top_add_overview(struct top_job *j);
void top_add_keys(struct top_job *j);
void top_add_lists(struct top_job *j);
void top_add_cpus(struct top_job *j);
void top_add_head(struct top_job *j);

#endif
