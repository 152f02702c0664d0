/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * compare.h - two sides of a table of samples held against each other: a row per metric, with a
 * verdict that is about kernels and not about noise.
 *
 * The unit that is counted is the outermost thing that varies: host > boot > run > interval. Where
 * each side has one boot only, what boots differ by is not known, and a change counts only beyond
 * `boot_noise`.
 */
#ifndef KDEFER_COMPARE_H
#define KDEFER_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "samples.h"

enum verdict {
	VERDICT_REGRESS,
	VERDICT_IMPROVE,
	VERDICT_CHANGED, /* of what has no better and worse */
	VERDICT_INCONCLUSIVE,
	VERDICT_SAME,
	VERDICT_NOT_COMPARABLE,
	VERDICT_COUNT,
};

enum unit_level { LEVEL_HOST, LEVEL_BOOT, LEVEL_RUN, LEVEL_INTERVAL };

enum test_kind { TEST_NONE, TEST_MANN_WHITNEY, TEST_SIGNED_RANK, TEST_T, TEST_BOOTSTRAP };

struct compare_conf {
	double alpha;              /* of all gated rows together: 0.05 */
	double min_change;         /* smaller ones are `same`: 0.05 */
	double boot_noise;         /* 0.10 */
	const char *const *varies; /* facts that may differ though they must not */
	size_t nvaries;
};

#define COMPARE_ALPHA 0.05
#define COMPARE_MIN_CHANGE 0.05
#define COMPARE_BOOT_NOISE 0.10

/* What was measured of one metric. */
struct measured {
	size_t n[SIDE_COUNT];         /* units with a value */
	double value[SIDE_COUNT];     /* their medians; NaN: none */
	uint64_t samples[SIDE_COUNT]; /* below them */
	bool relative; /* change, lo, hi are shares of the base: 0.1 is 10%; else differences */
	double change, lo, hi; /* NaN: not to be told; lo, hi infinite: too few units */
	double p;              /* NaN: no test */
	double noise;          /* standard deviation of a unit, on the scale of change */
	double resolution;     /* of the histogram, a share */
	enum test_kind test;
	bool exact;
	const char *none; /* why there is no test, else NULL */
};

struct compare_row {
	size_t subject;
	enum sample_stat stat;
	bool gates;
	struct measured m;
	double corrected; /* p for all of its family; NaN: none */
	enum verdict verdict;
	bool suspect; /* inconclusive, but would be a regression if it were not for `why` */
	char *why;    /* "" where there is nothing to say */
};

struct bootstrap; /* compare_bootstrap.c */

struct comparison {
	const struct samples *t;
	struct compare_conf conf;
	enum unit_level level;
	bool paired;
	const char *
		unknown; /* "boot", "host": each side has one, so what these differ by is unknown */
	size_t units[SIDE_COUNT]; /* of that level */
	struct compare_row *rows;
	size_t nrows;
	size_t family; /* rows that gate and have a test */
	char **differences, **warnings, **notes;
	size_t ndifferences, nwarnings, nnotes;
	char *incomparable;       /* why nothing can be compared, or NULL */
	struct bootstrap **boots; /* by subject, NULL until asked for */
};

/* Compares all. -ENOMEM (logged) or 0. The table must outlive it. */
int compare(struct comparison *c, const struct samples *t, const struct compare_conf *conf);
void compare_free(struct comparison *c);

/* One metric, with an interval of this level (0.95). 0 or -ENOMEM. */
int compare_measure(const struct comparison *c, size_t subject, enum sample_stat stat, double level,
		    struct measured *out);
/* Why this change, however sure, is none of the kernel's: what disturbed a run, our own cost. 1: so. */
int compare_doubt(const struct comparison *c, const struct compare_row *row, char *why,
		  size_t size);
/* Why this subject cannot be compared at all. 1: so. */
int compare_barred(const struct comparison *c, size_t subject, char *why, size_t size);

/* The verdict over all rows that gate. */
enum verdict compare_verdict(const struct comparison *c);

/* Whether subjects of this kind have this statistic. */
bool compare_has_stat(enum sample_kind kind, enum sample_stat stat);

const char *verdict_name(enum verdict v);
const char *level_name(enum unit_level level, size_t n); /* "run", "runs" */
/* "Mann-Whitney test, exact" */
const char *test_name(enum test_kind test);
/* Name of a row: "rcu_gp.duration[flavour=rcu].p99". Returns buf. */
char *compare_row_name(const struct comparison *c, const struct compare_row *row, char *buf,
		       size_t size);

/* Facts that must be equal unless --varies names them. */
bool compare_must_equal(const char *name);
const char *compare_must_equal_list(void); /* "machine, cpu_model, ..." */

/* --- between compare.c and its parts --- */

/* Which unit of the level that is counted a run belongs to. */
uint32_t compare_unit(const struct comparison *c, const struct sample_run *r);

/* compare_facts.c: differences, warnings, and what bars any comparison. 0 or -ENOMEM. */
int compare_facts(struct comparison *c);
/* Adds a line to one of the lists. 0 or -ENOMEM. */
int compare_say(char ***list, size_t *n, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* compare_judge.c: sets verdicts and why. 0 or -ENOMEM. */
int compare_judge(struct comparison *c);
/* The fewest units a side with which these tests can give a p this small. */
size_t compare_least_units(const struct comparison *c, double p);
/* About how many units a side it takes to tell a change of this share, at this p. 0: unknown. */
size_t compare_units_needed(const struct comparison *c, const struct measured *m, double change,
			    double p);
/* Standard error of the statistic's logarithm, and its degrees of freedom. 0; -ENODATA; -ENOMEM. */
int compare_bootstrap(const struct comparison *c, size_t subject, enum sample_stat stat,
		      double *log_shift, double *se, double *df);
void bootstrap_free(struct bootstrap *b);
/* Adds the counts and the sum of segment i; no extremes. */
void bootstrap_add_segment(struct hist *h, const struct sample_segments *s, size_t i);

#endif
