/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rules.h - rules of --fail-on: what a side may not show, or may not have become.
 *
 *   RULE    METRIC OP LIMIT [in K of N]
 *   METRIC  SOURCE.MEASURE[KEY=VALUE,...].STAT   keys, in brackets, may be left out: all totals then
 *           SOURCE.pending.peak|mean             the sum over the lists, unless [list=NAME] is given
 *           metric.NAME                          what the measured command said of itself
 *           lost.any, lost.KIND
 *   OP      > >= < <=
 *   LIMIT   +20% -5% (of the base), 2x (of the base), 250ms, 64M, 0 (of each new run)
 */
#ifndef KDEFER_RULES_H
#define KDEFER_RULES_H

#include <stdbool.h>
#include <stddef.h>

#include "compare.h"
#include "samples.h"

enum rule_op { RULE_ABOVE, RULE_AT_LEAST, RULE_BELOW, RULE_AT_MOST };

#define RULE_TEXT 512

struct rule {
	char text[RULE_TEXT]; /* as it was written */
	char work[RULE_TEXT]; /* cut into pieces: where the pointers below point */
	enum sample_kind kind;
	const char *source, *measure;
	struct {
		const char *name; /* NULL: of whatever key */
		const char *glob; /* fnmatch(3) pattern */
	} pairs[SAMPLE_PAIRS];
	size_t npairs;
	enum sample_stat stat;
	enum rule_op op;
	bool relative;
	double limit; /* relative: a share, +20% is 0.2 and 2x is 1; else in the metric's unit */
	unsigned int k, n; /* "in k of n" runs; 0: not said */
};

/*
 * Reads a rule. -EINVAL with one line of what is wrong in `wrong`. Pointers of the rule point into
 * itself, so that it must not be moved.
 */
int rule_parse(struct rule *r, const char *text, char *wrong, size_t size);

enum outcome {
	OUTCOME_PASS,
	OUTCOME_FAIL,
	OUTCOME_INCONCLUSIVE,
	OUTCOME_NOT_COMPARABLE,
	OUTCOME_NO_MATCH, /* names no metric of these captures: an error */
};
const char *outcome_name(enum outcome o);

struct rule_result {
	enum outcome outcome;
	size_t matched; /* metrics */
	char why[512];  /* of the metric that decided */
};

/* Judges all; they are a family of their own. */
void rules_judge(const struct comparison *c, const struct rule *const *rules, size_t n,
		 struct rule_result *out);

#endif
