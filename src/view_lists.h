/* SPDX-License-Identifier: GPL-2.0-only */
/* view_lists.h - pending lists as text for a terminal or a mail. Pure ASCII but for kernel strings. */
#ifndef KDEFER_VIEW_LISTS_H
#define KDEFER_VIEW_LISTS_H

#include <stddef.h>
#include <stdio.h>

#include "backlog.h"

struct view_lists {
	const struct model *model;
	const struct backlog_query *query;
	size_t width; /* columns */
	bool brief;   /* not the first: what does not change is not said again */
};

/*
 * What is held back in all, then for each source totals by list and the largest keys, grace periods
 * and who owes them, what is off and why. 0 or -ENOMEM.
 */
int view_lists(FILE *out, const struct view_lists *v);

#define LISTS_NAME 1100 /* the longest name there is, all of it escaped */

/* What a list is of, harmless: "flows (12)", a domain, "other (7)"; "-" where it has no key. Returns buf. */
char *view_lists_key(char *buf, size_t size, const struct model *m, const struct backlog_row *r,
		     bool raw_addresses);
/* Who a grace period waits for, as far as known: "1, 3, 5-7", "kworker/2:1 (4711, CPU 2)". Returns buf. */
char *view_lists_owed(char *buf, size_t size, const struct pending_gp *g, bool tasks);

#endif
