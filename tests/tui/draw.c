// SPDX-License-Identifier: GPL-2.0-only
/*
 * draw.c - screens of `kdefer top` as text, without a terminal: reads a capture, presses keys, prints
 * what is drawn. Usage: draw CAPTURE COLUMNSxROWS [ascii] [KEY...]; a key is a character or a name.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture.h"
#include "screen.h"
#include "top_draw.h"

struct drawn {
	struct model model;
	struct top top;
	struct top_ui ui;
	struct top_snap snap;
};

static int on_interval(void *ctx, const struct model *m)
{
	struct drawn *d = ctx;

	top_snap_free(&d->snap);
	return top_take(&d->top, m, &d->snap);
}

static int take(void *ctx, const struct kd_rec *rec)
{
	struct drawn *d = ctx;
	bool started = d->model.started;
	int err = model_record(&d->model, rec);

	if (!started && d->model.started)
		top_reset(&d->top, &d->model);
	return err;
}

static int input_of(const char *name)
{
	static const struct {
		const char *name;
		int input;
	} names[] = {
		{ "Enter", INPUT_ENTER }, { "Down", INPUT_DOWN },      { "Right", INPUT_RIGHT },
		{ "Tab", INPUT_TAB },     { "PgDn", INPUT_PAGE_DOWN }, { "End", INPUT_END },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i].name, name))
			return names[i].input;
	return (unsigned char)*name;
}

static int press(struct drawn *d, const char *key)
{
	enum top_ask ask = top_ui_input(&d->ui, &d->snap, input_of(key));

	if (ask != ASK_ALL && ask != ASK_WINDOW)
		return 0;
	d->top.all ^= ask == ASK_ALL;
	d->top.window ^= ask == ASK_WINDOW;
	top_snap_free(&d->snap);
	return top_again(&d->top, &d->model, &d->snap);
}

int main(int argc, char **argv)
{
	static struct drawn d;
	struct canvas c = { 0 };
	struct capture_end end;
	struct stream s;
	int rows, columns, err, i = 3;

	if (argc < 3 || sscanf(argv[2], "%dx%d", &columns, &rows) != 2) {
		fprintf(stderr, "usage: %s CAPTURE COLUMNSxROWS [ascii] [KEY...]\n", argv[0]);
		return 2;
	}
	model_init(&d.model);
	d.model.on_interval = on_interval;
	d.model.ctx = &d;
	top_init(&d.top);
	d.top.scope.measures = UINT64_MAX;
	top_ui_init(&d.ui);
	d.ui.replay = true;
	stream_init(&s, take, &d);
	err = capture_read(argv[1], &s, &end);
	if (i < argc && !strcmp(argv[i], "ascii")) {
		c.ascii = true;
		i++;
	}
	for (; !err && i < argc; i++)
		err = press(&d, argv[i]);
	if (!err)
		err = canvas_resize(&c, rows, columns);
	if (!err)
		err = top_draw(&d.ui, &d.snap, &c);
	canvas_print(&c, stdout);
	canvas_free(&c);
	top_snap_free(&d.snap);
	top_ui_free(&d.ui);
	top_free(&d.top);
	model_free(&d.model);
	return err ? 1 : 0;
}
