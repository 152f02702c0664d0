// SPDX-License-Identifier: GPL-2.0-only
/* top_screen.c - `kdefer top` on a terminal. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "log.h"
#include "restate.h"
#include "screen.h"
#include "top_draw.h"
#include "top_screen.h"

#define MS 1000000ULL
#define SYNC_NS (10000 * MS) /* a crash costs a recording no more than this */

/* --- what is said while the terminal is ours --- */

static void hold(void *ctx, enum log_level level, const char *line)
{
	struct top_screen *t = ctx;

	snprintf(t->ui.message, sizeof(t->ui.message), "%s", line);
	if (t->nheld == TOP_HELD_LINES) {
		t->dropped++;
		return;
	}
	t->held[t->nheld] = strdup(line);
	t->level[t->nheld] = (int)level;
	t->nheld += t->held[t->nheld] != NULL;
}

static void say_held(struct top_screen *t)
{
	for (size_t i = 0; i < t->nheld; i++) {
		log_msg((enum log_level)t->level[i], "%s", t->held[i]);
		free(t->held[i]);
	}
	if (t->dropped)
		log_warn("%zu more messages were not kept", t->dropped);
	t->nheld = t->dropped = 0;
}

/* --- open and close --- */

static int draw(struct top_screen *t)
{
	int rows, columns, err;

	if (!t->open)
		return 0;
	screen_size(&rows, &columns);
	t->canvas.ascii = screen_ascii();
	err = canvas_resize(&t->canvas, rows, columns);
	if (!err && t->any)
		err = top_draw(&t->ui, &t->snap, &t->canvas);
	else if (!err)
		canvas_text(&t->canvas, 0, 0, STYLE_BOLD, "the first interval is under way ...",
			    columns);
	if (err)
		return log_err(err, "out of memory");
	screen_put(&t->canvas);
	return 0;
}

int top_screen_open(struct top_screen *t, char *why)
{
	int err = screen_open(why);

	if (err)
		return err;
	watch_last_words(screen_restore);
	log_set_sink(hold, t);
	t->open = true;
	return draw(t);
}

static void end_recording(struct top_screen *t)
{
	if (!t->ui.recording)
		return;
	keep_close(&t->keep);
	t->ui.recording = NULL;
	if (!t->keep.failed)
		log_info("recorded into %s", t->path);
}

void top_screen_close(struct top_screen *t)
{
	end_recording(t);
	if (t->open) {
		screen_close();
		watch_last_words(NULL);
		log_set_sink(NULL, NULL);
	}
	t->open = false;
	say_held(t);
	top_snap_free(&t->snap);
	top_ui_free(&t->ui);
	canvas_free(&t->canvas);
}

/* --- recording --- */

static int to_keep(void *ctx, const struct kd_rec *rec)
{
	struct top_screen *t = ctx;

	keep_record(&t->keep, rec);
	return t->keep.failed ? -EIO : 0;
}

static void begin_recording(struct top_screen *t)
{
	time_t now = time(NULL);
	struct stream s;
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(t->path, sizeof(t->path), "kdefer-%Y%m%d-%H%M%S.kdefer", &tm);
	if (!t->model->started || keep_open(&t->keep, t->path, false, SYNC_NS))
		return;
	t->ui.recording = t->path;
	stream_init(&s, to_keep, t);
	if (restate(t->model, &s)) {
		keep_close(&t->keep);
		t->ui.recording = NULL;
		return;
	}
	snprintf(t->ui.message, sizeof(t->ui.message), "recording into %s (r: end)", t->path);
}

void top_screen_record(struct top_screen *t, const struct kd_rec *rec)
{
	if (!t->ui.recording)
		return;
	keep_record(&t->keep, rec);
	if (t->keep.failed || t->keep.full)
		end_recording(t);
}

/* --- keys --- */

static int again(struct top_screen *t)
{
	struct top_snap s;
	int err;

	if (!t->any)
		return 0;
	err = top_again(t->top, t->model, &s);
	if (err) {
		top_snap_free(&s);
		return log_err(err, "out of memory");
	}
	top_snap_free(&t->snap);
	t->snap = s;
	return 0;
}

static int serve(struct top_screen *t, enum top_ask ask)
{
	switch (ask) {
	case ASK_QUIT:
		t->quit = true;
		if (t->watch)
			t->watch->enough = true;
		return 0;
	case ASK_STEP:
		t->step = true;
		return 0;
	case ASK_INTERVAL:
		t->own_pace = true;
		if (t->watch)
			t->watch->interval_ns = t->ui.interval_ns;
		return 0;
	case ASK_RECORD:
		if (t->ui.recording)
			end_recording(t);
		else
			begin_recording(t);
		return 0;
	case ASK_RESET:
		model_rebase(t->model);
		top_reset(t->top, t->model);
		return again(t);
	case ASK_ALL:
		t->top->all = !t->top->all;
		return again(t);
	case ASK_WINDOW:
		t->top->window = !t->top->window;
		return again(t);
	default:
		return 0;
	}
}

int top_screen_keys(struct top_screen *t)
{
	bool any = false;
	int err = 0, input;

	while (!err && !t->quit && (input = screen_input()) != INPUT_NONE) {
		err = serve(t, top_ui_input(&t->ui, &t->snap, input));
		any = true;
	}
	return err || !any || t->quit ? err : draw(t);
}

/* --- a capture goes by --- */

static int wait_for_keys(struct top_screen *t, uint64_t ns)
{
	const struct timespec left = clock_timespec(ns);
	struct pollfd p[SCREEN_FDS];

	screen_poll(p);
	if (ppoll(p, SCREEN_FDS, &left, NULL) < 0 && errno != EINTR)
		return log_err(-errno, "cannot wait for keys: %s", strerror(errno));
	if (watch_signalled() || (p[0].revents & (POLLERR | POLLHUP)))
		t->quit = true;
	return top_screen_keys(t);
}

static bool is_held(const struct top_screen *t)
{
	return t->ui.paused || t->ui.ended;
}

/* Until the next interval is to be shown. */
static int pace(struct top_screen *t)
{
	uint64_t begin = clock_mono_ns(), now = begin;
	int err = 0;

	if (!t->own_pace)
		t->ui.interval_ns = t->model->to_ns - t->model->from_ns;
	while (!err && !t->quit && !t->step) {
		uint64_t end = begin + (t->follow ? 0 : t->ui.interval_ns);

		now = clock_mono_ns();
		if (!is_held(t) && now >= end)
			break;
		err = wait_for_keys(t, is_held(t) ? 3600000 * MS : end - now);
	}
	t->step = false;
	return err;
}

int top_screen_end(struct top_screen *t)
{
	int err;

	t->ui.ended = true;
	err = draw(t);
	if (!err)
		err = pace(t);
	while (!err && !t->quit) /* a step leads nowhere now */
		err = pace(t);
	return err;
}

/* --- an interval --- */

static bool is_same_event(const struct top_event *a, const struct top_event *b)
{
	return !strcmp(a->when, b->when) && !strcmp(a->what, b->what) &&
	       !strcmp(a->detail, b->detail);
}

/* Newer ones push an event down: who reads one goes on reading it. The newest stays the newest. */
static void keep_event(struct top_screen *t, const struct top_snap *next)
{
	const struct top_event *e = t->snap.events + t->ui.event;

	if (t->ui.event >= t->snap.nevents || (!t->ui.event && t->ui.view != VIEW_EVENT))
		return;
	for (size_t i = t->ui.event; i < next->nevents; i++)
		if (is_same_event(e, &next->events[i])) {
			t->ui.event = i;
			return;
		}
}

int top_screen_interval(struct top_screen *t, const struct model *m)
{
	bool hidden = t->ui.paused && t->watch && t->any;
	struct top_snap s;
	int err;

	t->top->held = hidden;
	err = top_take(t->top, m, &s);
	if (err) {
		top_snap_free(&s);
		return log_err(err, "out of memory");
	}
	if (hidden) { /* what is shown stands still; the history goes on */
		top_snap_free(&s);
		return 0;
	}
	keep_event(t, &s);
	top_snap_free(&t->snap);
	t->snap = s;
	t->any = true;
	if (t->quit)
		return 0;
	err = draw(t);
	return err || t->watch ? err : pace(t);
}
