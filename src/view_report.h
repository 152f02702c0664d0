/* SPDX-License-Identifier: GPL-2.0-only */
/* view_report.h - a whole capture in one page, fit for a mail or a commit message. */
#ifndef KDEFER_VIEW_REPORT_H
#define KDEFER_VIEW_REPORT_H

#include "json.h"
#include "model.h"
#include "scope.h"
#include "sheet.h"

struct report {
	const struct model *model;
	const struct scope *scope;
	const struct metric *metrics; /* of model_metrics(), main keys */
	size_t n;
	size_t top;       /* keys, worst waits */
	const char *file; /* its name */
	const char *cut;  /* why it has no end, or NULL */
	const char *version;
	const struct kd_rec_self *before; /* what it had cost when recording began */
};

/* 0 or -ENOMEM. */
int view_report(struct sheet *s, const struct report *r);
/* Its parts that JSON has no section for elsewhere: file, complete, lists with their peaks. */
void doc_report(struct json *j, const struct report *r);

/* --- between view_report.c and report_parts.c --- */
char *report_time(char *buf, size_t size, uint64_t real_ns); /* 0: "?" */
int report_lists(struct sheet *s, const struct report *r);
int report_runs(struct sheet *s, const struct report *r);

#endif
