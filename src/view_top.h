/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * view_top.h - rows of `kdefer top` in words and numbers: cells and lines that the screen shows too,
 * and all of an interval as plain text.
 */
#ifndef KDEFER_VIEW_TOP_H
#define KDEFER_VIEW_TOP_H

#include <stdio.h>

#include "top_rows.h"

struct top_column_info {
	const char *title;
	const char *help;
	int width; /* on the screen */
	int rank;  /* where there is no room, the highest goes first; 0 stays */
};

const struct top_column_info *top_column_info(enum top_column c);

/* A number as people read it; "" where it does not apply, "-" where it is not known. Returns buf. */
char *top_cell(char *buf, size_t size, const struct top_row *r, enum top_column c);
/* What the trend of a row is of. */
enum track_what top_trend(const struct top_row *r);
/* Levels 0 to 8 of the newest n intervals, oldest first; -1: not known. */
void top_trend_levels(const struct top_row *r, int *level, int n);

/* "rcu number 418020, waiting, 1.01 s old; waits for CPU 3". Returns buf. */
char *top_gp_line(char *buf, size_t size, const struct top_gp *g);
/* Flavours whose grace period is not under way: "tasks, srcu"; "" where there are none. */
char *top_gp_idle(char *buf, size_t size, const struct top_snap *s);

/* One interval. first: what does not change is said too. 0 or -ENOMEM. */
int view_top(FILE *out, const struct top_snap *s, size_t width, bool first);

#endif
