/* SPDX-License-Identifier: GPL-2.0-only */
/* diff.h - a comparison with its rules as a report: the verdict over all, and its four forms. */
#ifndef KDEFER_DIFF_H
#define KDEFER_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "compare.h"
#include "rules.h"

struct selftest {
	bool done;
	double slowdown; /* the least that turned the gate red: 1.5 is half as much again; 0: none did */
	unsigned int shuffles, red; /* of labels, and how many turned it red */
};

struct diff {
	const struct samples *t;
	const struct comparison *c;
	const struct rule *const *rules;
	const struct rule_result *results;
	size_t nrules;
	struct selftest selftest;
	const char *command_line; /* as a person would type it again */
	bool full;                /* rows that say nothing too */
	int exit;
};

/* Over all: that of the rules where there are any, else that of the totals. */
enum verdict diff_verdict(const struct diff *d);
bool diff_no_match(const struct diff *d); /* some rule names nothing in these captures */

/* Rows in the order of their importance. *n rows; free() it. NULL: no memory. */
const struct compare_row **diff_sorted(const struct diff *d, size_t *n);
/* Whether a short report leaves this row out. */
bool diff_is_dull(const struct compare_row *row);

/* Values and changes as people read them. All return buf. */
char *diff_value(char *buf, size_t size, const struct diff *d, const struct compare_row *row,
		 double v);
char *diff_change(char *buf, size_t size, const struct diff *d, const struct compare_row *row,
		  double change);
/* "+80% .. +120%"; "" where there is none. */
char *diff_interval(char *buf, size_t size, const struct diff *d, const struct compare_row *row);
/* "Mann-Whitney over runs, 8 and 8, exact p, ..." */
char *diff_method(char *buf, size_t size, const struct diff *d);

/* Plain ASCII, lines of at most `width`. 0 or -ENOMEM. */
int view_diff(FILE *out, const struct diff *d, size_t width);
int view_diff_markdown(FILE *out, const struct diff *d);
int view_diff_junit(FILE *out, const struct diff *d);
/* The document, "{" to "}". 0, or what the writer said. */
int doc_diff(FILE *out, const struct diff *d);

/* The same where nothing was compared: why, and that this is no failure or one. */
void view_diff_markdown_word(FILE *out, const char *verdict, const char *why);
void view_diff_junit_word(FILE *out, const char *why, bool failed);
void doc_diff_word(FILE *out, const char *verdict, int code, const char *why);

/*
 * Whether the gate can turn red at all, and stays green where labels mean nothing: compares scaled
 * and shuffled copies of the samples, which are as they were afterwards. 0 or -ENOMEM.
 */
int selftest_run(struct selftest *s, struct samples *t, const struct compare_conf *conf,
		 const struct rule *const *rules, size_t nrules);

#endif
