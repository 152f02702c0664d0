/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * view_blame.h - flushes of cgroup statistics as text: whose the others wait for, by flusher and by
 * cgroup, and what they spend their time with.
 */
#ifndef KDEFER_VIEW_BLAME_H
#define KDEFER_VIEW_BLAME_H

#include <stdio.h>

#include "sheet.h"
#include "view_hist.h"

/* Behind an empty line, where rstat.blame was measured and somebody waited; else nothing. 0 or -ENOMEM. */
int view_blame(FILE *out, const struct view_hist *v);
int sheet_blame(struct sheet *s, const struct model *m, const struct scope *sc);

/* The same where it was asked for what flushes spend their time with, and there were any. */
int view_split(FILE *out, const struct view_hist *v);
int sheet_split(struct sheet *s, const struct model *m, const struct scope *sc);

#endif
