/* SPDX-License-Identifier: GPL-2.0-only */
/* view_lists_parts.h - between view_lists.c and view_lists_keys.c; its marks also for view_top.c. */
#ifndef KDEFER_VIEW_LISTS_PARTS_H
#define KDEFER_VIEW_LISTS_PARTS_H

#include "view_lists.h"

#define LISTS_CELL 1100 /* the longest name there is, all of it escaped */

const char *lists_mark(bool exact, bool truncated); /* "~", ">=" or "" */
/* All return buf: "~1,234" is not exact, ">=1,234" is at least so many, "-" is not known. */
char *lists_length(char *buf, size_t size, const struct backlog_row *r);
char *lists_bytes(char *buf, size_t size, const struct backlog_row *r);
char *lists_age(char *buf, size_t size, const struct backlog_row *r);
char *lists_change(char *buf, size_t size, const struct view_lists *v, const struct backlog_row *r);

/* The tables of a source behind its headline: by list, then by key. 0 or -ENOMEM. */
int lists_tables(FILE *out, const struct view_lists *v, unsigned int source,
		 const struct backlog_row *totals, size_t n);

#endif
