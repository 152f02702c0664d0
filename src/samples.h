/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * samples.h - what `kdefer diff` compares: for each run of each side one value per metric, with where
 * the run stands: side > host > boot > run > interval.
 *
 * A subject is what statistics are of: a total or a key of a measure, a list, a number that the
 * measured command gave, a kind of loss. A metric is a subject and a statistic.
 */
#ifndef KDEFER_SAMPLES_H
#define KDEFER_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../bpf/defer.h"
#include "histogram.h"

enum sample_side { SIDE_BASE, SIDE_NEW, SIDE_COUNT };

enum sample_stat {
	STAT_MEAN,
	STAT_P50,
	STAT_P90,
	STAT_P99,
	STAT_P999,
	STAT_MAX,
	STAT_RATE,  /* events per second */
	STAT_PEAK,  /* of a level: its greatest */
	STAT_VALUE, /* the only one there is: of the measured command; of losses, their number */
	STAT_COUNT,
};

/* Units of values; STAT_RATE is per second whatever the unit. */
#define UNIT_TEXT_LEN 32
#define SAMPLE_PAIRS 6

struct sample_pair {
	const char *name; /* "flavour": static */
	char *value;
};

enum sample_kind { SUBJECT_MEASURE, SUBJECT_LEVEL, SUBJECT_VALUE, SUBJECT_LOST };

struct sample_subject {
	enum sample_kind kind;
	char *source, *measure; /* "rcu_gp", "duration"; a command's own: "metric", its name */
	struct sample_pair pairs[SAMPLE_PAIRS];
	size_t npairs;
	char *name; /* "rcu_gp.duration[flavour=rcu]": no two have the same */
	char unit[UNIT_TEXT_LEN];
	uint8_t better; /* enum kd_better, of its values */
	bool total;     /* judged without being asked for; else a row by key */
};

/* A piece of a run: histograms of a total, only the buckets that are not empty. */
struct sample_segment {
	uint32_t first, n; /* in cells */
	uint64_t sum, max;
};

struct sample_cell {
	uint16_t bucket;
	uint64_t count;
};

/* The intervals of a run, for when there is only this one. Neighbours are merged beyond a bound. */
#define SEGMENTS_MAX 256
struct sample_segments {
	struct sample_segment s[SEGMENTS_MAX];
	size_t n;
	struct sample_cell *cells;
	size_t ncells, room;
};

struct sample_values {
	double v[STAT_COUNT];             /* NaN: none */
	float resolution[STAT_COUNT];     /* see stat_resolution() */
	uint64_t count;                   /* of samples below them */
	struct sample_segments *segments; /* or NULL */
};

struct sample_run {
	uint8_t side;
	uint32_t host, boot, file; /* numbers of their own kind, from 0 */
	uint32_t pair;             /* --ab: A and B of one pair share it */
	uint32_t index;            /* of its file */
	uint64_t duration_ns;
	double cost_ns;               /* our own, each event; NaN: not known */
	double scale;                 /* what its times are multiplied by: 1, but in a self-test */
	char *disturbed;              /* what happened meanwhile, or NULL */
	struct sample_values *values; /* by subject; nvalues may be less than nsubjects */
	size_t nvalues;
};

struct sample_fact {
	char *name, *value;
};

/* What a capture says of one measure and flavour that it was to watch. */
struct sample_plan {
	char *source, *measure, *flavour; /* flavour: "" for none */
	bool on;
	uint32_t meaning;
	char *reason;
};

struct sample_file {
	char *path;
	bool side[SIDE_COUNT];     /* both: an --ab capture */
	struct sample_fact *facts; /* sorted by name */
	size_t nfacts;
	struct sample_plan *plan;
	size_t nplan;
	uint32_t host, boot;
	size_t runs;
	char *cut; /* the file was cut: what was found, or NULL */
};

struct sample_alias {
	const char *old, *new;
};

struct samples {
	struct sample_subject *subjects;
	size_t nsubjects;
	struct sample_run *runs;
	size_t nruns;
	struct sample_file *files;
	size_t nfiles;
	char **names[2]; /* of hosts, of boots */
	size_t nnames[2];
	bool paired;  /* the sides are A and B of --ab */
	bool refused; /* a bound was reached */
	size_t nvalues;
	struct sample_values trash; /* where values beyond the bound go */

	/* The caller's wishes, set before reading. */
	const struct sample_alias *aliases; /* keys of the base that have a new name */
	size_t naliases;
};

/* Bounds; what goes beyond is left out with a warning. */
#define SAMPLES_RUNS_MAX 2048
#define SAMPLES_SUBJECTS_MAX 4096
#define SAMPLES_VALUES_MAX (1u << 20) /* some 130 MB */
#define SAMPLES_KEYS 100              /* of a measure, the greatest counts */

void samples_init(struct samples *t);
void samples_free(struct samples *t);

/*
 * Reads a capture as base or new (or as both, when it holds runs of --ab: -EINVAL when it does not
 * and `side` is SIDE_COUNT). 0 or a negative errno, logged.
 */
int samples_read(struct samples *t, const char *path, enum sample_side side);

/* --- building a table; the numbers returned are indices, negative errno: -ENOMEM, -E2BIG --- */

/* Number of the host or boot of this name. */
int samples_host(struct samples *t, const char *name);
int samples_boot(struct samples *t, const char *name);
/* The subject like this one, added if it is new; takes copies. Its name is made here. */
int samples_subject(struct samples *t, const struct sample_subject *like);
int samples_run(struct samples *t, enum sample_side side, uint32_t host, uint32_t boot);
/* Values of a subject in a run, all NaN when new. NULL: no memory. */
struct sample_values *samples_values(struct samples *t, size_t run, size_t subject);

/* NaN where there is none; of a self-test, scaled. */
double samples_get(const struct samples *t, const struct sample_run *r, size_t subject,
		   enum sample_stat stat);

/* Adds an interval. 0 or -ENOMEM. */
int segments_add(struct sample_segments *s, const struct hist *h);
void segments_free(struct sample_segments *s);

/* --- statistics of histograms --- */

const char *stat_name(enum sample_stat stat);
int stat_by_name(const char *name, enum sample_stat *stat);
/* Samples that this statistic needs to be told: 10/(1-q) for a quantile, else 1. */
uint64_t stat_needs(enum sample_stat stat);
/*
 * NaN: too few samples. A quantile is read inside its bucket, so that it moves with the data and not
 * in steps of the bucket's width, which would look like a change.
 */
double stat_of_hist(const struct hist *h, enum sample_stat stat);
/* What a quantile can be off by, as a share of it, because a bucket does not say where its samples are. */
double stat_resolution(const struct hist *h, enum sample_stat stat);

#endif
