/* SPDX-License-Identifier: GPL-2.0-only */
/* top_screen.h - `kdefer top` on a terminal: keys, drawing, recording. For top.c. */
#ifndef KDEFER_TOP_SCREEN_H
#define KDEFER_TOP_SCREEN_H

#include "canvas.h"
#include "keep.h"
#include "top_ui.h"
#include "watch.h"

#define TOP_HELD_LINES 32

struct top_screen {
	struct top *top;
	struct model *model;
	struct watch *watch; /* NULL: a capture is shown */
	struct top_ui ui;
	struct top_snap snap;
	struct canvas canvas;
	bool open, quit, any; /* any: there is a snapshot */
	bool own_pace;        /* of a capture: the person has set the time between intervals */
	bool step;
	bool follow;
	struct keep keep; /* of a recording */
	char path[64];
	char *held[TOP_HELD_LINES]; /* said meanwhile: goes to standard error at the end */
	int level[TOP_HELD_LINES];
	size_t nheld, dropped;
};

/* 0; or a negative errno when there is no terminal to draw on: `why` as of screen_open(). */
int top_screen_open(struct top_screen *t, char *why);
void top_screen_close(struct top_screen *t);

/* At the end of an interval; of a capture it returns when the next is to come. 0 or a negative errno. */
int top_screen_interval(struct top_screen *t, const struct model *m);
/* Keys that came. 0 or a negative errno. */
int top_screen_keys(struct top_screen *t);
/* The capture holds no more: until the person quits. */
int top_screen_end(struct top_screen *t);
void top_screen_record(struct top_screen *t, const struct kd_rec *rec);

#endif
