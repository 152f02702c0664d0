/* SPDX-License-Identifier: GPL-2.0-only */
/* view_why.h - reports of long waits as text that can go into a mail as it is. */
#ifndef KDEFER_VIEW_WHY_H
#define KDEFER_VIEW_WHY_H

#include "holdups.h"
#include "model.h"
#include "scope.h"
#include "sheet.h"

struct why_head {
	const struct model *model;
	const struct scope *scope;
	const char *version;
	const char *command_line; /* what the person typed */
	const char *file;         /* the capture that is shown; NULL: the running kernel */
};

/* What was watched, by which limits, and what could not be. */
void view_why_head(struct sheet *s, const struct why_head *w);
/* One report. */
void view_why_report(struct sheet *s, const struct model *m, const struct holdup *h);
/* "rcu grace period 1234 took 152 ms: kernel_loop (94%), CPU 3, bench": the same in a line. */
char *view_why_line(char *buf, size_t size, const struct model *m, const struct holdup *h);
/* By cause, task and function; losses. 0 or -ENOMEM. */
int view_why_summary(struct sheet *s, const struct model *m, const struct scope *sc);
/* The longest `most` of them, a line each, behind that summary: for a page on a whole capture. */
int view_why_worst(struct sheet *s, const struct model *m, const struct scope *sc, size_t most);

#endif
