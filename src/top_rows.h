/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * top_rows.h - what `kdefer top` shows, as rows: made of the model at the end of each interval by pure
 * functions, the same for screen and text. A snapshot owns all that it holds but the histories, so
 * that it can be looked at while the model goes on.
 */
#ifndef KDEFER_TOP_ROWS_H
#define KDEFER_TOP_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backlog.h"
#include "catalog.h"
#include "model.h"
#include "scope.h"
#include "track.h"

enum top_column {
	TOP_NAME, /* not a number */
	TOP_PENDING,
	TOP_TREND, /* of pending, else of done: drawn, not a number */
	TOP_BYTES,
	TOP_CHANGE, /* of pending, per second */
	TOP_IN,     /* handed over per second */
	TOP_DONE,   /* per second */
	TOP_P50,
	TOP_P99,
	TOP_MAX,
	TOP_OLDEST,
	TOP_LOST, /* since the baseline */
	TOP_COLUMNS,
};

enum top_kind {
	TOP_SUM,   /* overview: a source, over its flavours */
	TOP_PART,  /* overview: a flavour, or a measure of one */
	TOP_OFF,   /* overview: nothing of it is measured; `note` says why */
	TOP_KEY,   /* a key of a measure: function, map, cgroup */
	TOP_LIST,  /* a list of a source, over its keys */
	TOP_ENTRY, /* a key of a list */
};

struct top_row {
	enum top_kind kind;
	uint8_t source, flavour, measure;
	bool indent, exact, truncated, has_measure;
	bool timed;            /* its events have a value, of which there are quantiles */
	bool unsized;          /* entries whose bytes are not known are in it */
	bool lossy;            /* in the last interval */
	enum key_name by;      /* of TOP_KEY */
	char *name;            /* harmless (fmt_safe) */
	char *id;              /* the same row in other snapshots, and its history */
	char *note;            /* or NULL */
	double v[TOP_COLUMNS]; /* NAN: not known, or does not apply */
	uint32_t unusual;      /* bits of enum top_column */
	enum unit unit;
	uint64_t count;            /* of events in the window */
	bool rest;                 /* stands for keys that are not told apart */
	const struct hist *hist;   /* of the window; NULL: none */
	const struct track *track; /* or NULL */
};

struct top_cpu {
	double pending[KD_SRC_COUNT]; /* entries of lists of this CPU; NAN: none known */
	double done[KD_SRC_COUNT];    /* per second; NAN: not counted by CPU */
	uint32_t owes;                /* bits of enum kd_flavour: grace periods that wait for it */
};

struct top_gp {
	uint8_t flavour, state;
	uint64_t seq, age_ns;
	uint32_t cpus_owed, tasks_owed;
	bool idle;
	char *who; /* "CPUs 0-1, 3; kworker/2:1 (4711, CPU 2)"; "" */
};

struct top_event {
	char *when, *what, *detail; /* harmless; detail as long as it is */
	char *report; /* of a wait that was too long: all of it, a line for each thing that is said; or NULL */
};

struct top_snap {
	struct top_row *rows;
	size_t n;
	struct top_cpu *cpu;
	size_t ncpus;
	struct top_gp gp[KD_FL_COUNT];
	size_t ngps;
	struct top_event *events; /* newest first */
	size_t nevents;
	char *host;    /* "HOST  KERNEL" */
	char *time;    /* of its end */
	char *held;    /* what is held back; "" where that is not known */
	char *cost;    /* what the tool itself costs */
	char *warning; /* of what is missing in it; "" */
	uint64_t interval, length_ns;
	bool window;                     /* since the baseline, else of the interval */
	struct metric *metrics, *latest; /* of the window; of the interval, perhaps the same */
};

#define TOP_EVENTS_MAX 500
#define TOP_REPORTS_MAX 100 /* waits that were too long among these: the newest */
#define TOP_FILTERS 32
#define TOP_LISTS_MAX 500 /* keys of the lists of a source; the rest is "other" */

/* What was asked for, and what goes on from one snapshot to the next. */
struct top {
	struct scope scope; /* measures, flavours, addresses */
	unsigned int by;    /* as in struct query */
	size_t most;        /* keys of a breakdown; 0: TOP_KEYS_MAX */
	bool window;        /* show numbers since the baseline */
	bool all;           /* overview: each measure of a flavour */
	bool held;          /* an earlier snapshot is still shown: its histories must stay */
	/* its own: */
	const struct filter *filters;
	struct backlog_filter list_filters[TOP_FILTERS];
	size_t nfilters;
	bool no_lists; /* a filter is on a key that lists do not have */
	struct tracks tracks;
	struct kd_rec_self before, newest; /* what we had cost when the interval began and ended */
	uint64_t before_ns, newest_ns;
};

void top_init(struct top *t);
void top_free(struct top *t);
/* At most TOP_FILTERS, which stay where they are. What does not have their keys is left out, lists too. */
void top_filter(struct top *t, const struct filter *filters, size_t n);
/* History begins anew, as of this model. */
void top_reset(struct top *t, const struct model *m);

/* At the end of an interval, exactly once. 0 or -ENOMEM; *snap is to be freed in any case. */
int top_take(struct top *t, const struct model *m, struct top_snap *snap);
/* The same interval again, for another window or other settings: no history is added. */
int top_again(struct top *t, const struct model *m, struct top_snap *snap);
void top_snap_free(struct top_snap *s);

bool top_known(const struct top_row *r, enum top_column c);

#endif
