/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * show.h - how a command shows what it measures or what a capture holds: by interval or at the end,
 * as text or JSON. The command says what a piece of output is made of.
 */
#ifndef KDEFER_SHOW_H
#define KDEFER_SHOW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common.h"
#include "model.h"
#include "output.h"
#include "session.h"
#include "watch.h"

struct show {
	/* The command's: */
	const struct common *common;
	const char *command;
	bool by_interval; /* a piece for each interval, else one at the end */
	/* Both write one piece; 0 or a negative errno (logged). error: what the document has to say, or NULL. */
	int (*document)(const struct show *s, FILE *out, bool interval, const char *error);
	int (*text)(const struct show *s, FILE *out, bool interval);
	void *ctx;
	/* At work: */
	struct model model;
	struct output out;
	uint64_t shown;            /* pieces of output */
	struct kd_rec_self before; /* what we had cost when the interval began */
};

/* The command's fields are set. */
void show_init(struct show *s);
void show_free(struct show *s);
bool show_wants_document(const struct show *s);

/* A stream_sink; ctx is the struct show. */
int show_record(void *show, const struct kd_rec *rec);
/* What is still to be shown at the end: all, unless it was shown by interval. 0 or a negative errno. */
int show_finish(struct show *s, const char *error);
/* The exit code for how output ended: a reader that had enough is no failure. */
int show_code(int err);

/*
 * --input. `more` is called before the last piece if there is something to show, for what the command
 * has to say of the capture (may be NULL). Returns the exit code.
 */
int show_capture(struct show *s, const struct scope *sc, void (*more)(const struct show *s));

/*
 * The running kernel: opens a session, which the caller closes whatever comes, watches, shows. ready(),
 * if not NULL, is called when all is attached and may still change how long is watched. 0 or a negative
 * errno: logged, but for -EPIPE.
 */
int show_live(struct show *s, const struct session_conf *conf, struct stream *stream,
	      struct session **session, struct watch *w,
	      void (*ready)(const struct show *s, struct watch *w));

#endif
