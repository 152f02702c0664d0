/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * doc.h - the sections of the JSON document kdefer/1, each written from the model by one function:
 * a command calls those that it produces. What is absent is null or not there, never zero.
 */
#ifndef KDEFER_DOC_H
#define KDEFER_DOC_H

#include <stddef.h>

#include "backlog.h"
#include "json.h"
#include "model.h"
#include "scope.h"

#define DOC_SCHEMA "kdefer/1"

/* Opens the document: "{", schema, command, version. The caller closes it. */
void doc_open(struct json *j, const char *command);
void doc_host(struct json *j, const struct model *m);
void doc_clock(struct json *j, const struct model *m, const struct scope *sc); /* duration_ns too */
void doc_plan(struct json *j, const struct model *m, const struct scope *sc);
void doc_metrics(struct json *j, const struct model *m, const struct scope *sc,
		 const struct metric *metrics, size_t n);
/* 0 or -ENOMEM: then nothing of the section is written. */
int doc_pending(struct json *j, const struct model *m, const struct backlog_query *q);
int doc_debt(struct json *j, const struct model *m, const struct backlog_query *q);
void doc_gp(struct json *j, const struct model *m, const struct backlog_query *q);
/* blame and split of cgroup statistics, where measured; 0 or -ENOMEM: then it is cut short. */
int doc_flushes(struct json *j, const struct model *m, const struct scope *sc,
		const struct filter *filters, size_t nfilters);
void doc_lost(struct json *j, const struct model *m, const struct scope *sc);
void doc_counts(struct json *j, const struct model *m, const struct scope *sc);
/* `before`: what the tool had cost when the window began; NULL: all that it has cost. */
void doc_self(struct json *j, const struct model *m, const struct scope *sc,
	      const struct kd_rec_self *before);
void doc_events(struct json *j, const struct model *m, const struct scope *sc);
/* Waits that were too long; `one`: this one alone, else all of the window. */
void doc_holdups(struct json *j, const struct model *m, const struct scope *sc,
		 const struct holdup *one);
/* These by cause, task and function. 0 or -ENOMEM. */
int doc_holdup_summary(struct json *j, const struct model *m, const struct scope *sc);
void doc_runs(struct json *j, const struct model *m);   /* where a command was run */
void doc_labels(struct json *j, const struct model *m); /* where there are any */
void doc_error(struct json *j, const char *error);

#endif
