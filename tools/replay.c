// SPDX-License-Identifier: GPL-2.0-only
/* replay.c - reads a capture for a command that shows it. */
#include <errno.h>

#include "capture.h"
#include "log.h"
#include "replay.h"
#include "watch.h"

struct replay {
	stream_sink take;
	void *ctx;
};

static int pass_on(void *ctx, const struct kd_rec *rec)
{
	const struct replay *r = ctx;

	return watch_signalled() ? -EINTR : r->take(r->ctx, rec);
}

/* Of what the capture did not hold, or this program did not take. */
static void say_what_is_missing(const struct common *c, const struct stream *s)
{
	const char *file = c->input;

	if (watch_signalled() && !c->follow)
		log_warn("%s: stopped by a signal: the rest of it was not read", file);
	stream_say_missing(s, file);
}

static int read_all(const struct common *c, struct replay *r, int (*stopped)(void),
		    struct capture_end *end)
{
	struct stream s;
	int err;

	stream_init(&s, pass_on, r);
	if (c->follow)
		err = capture_follow(c->input, &s, end, stopped);
	else
		err = capture_read(c->input, &s, end);
	if (err && !(err == -EINTR && (watch_signalled() || stopped())))
		return err;
	say_what_is_missing(c, &s);
	return 0;
}

int replay_to(const struct common *c, stream_sink take, void *ctx, struct capture_end *end)
{
	struct replay r = { .take = take, .ctx = ctx };

	return read_all(c, &r, watch_signalled, end);
}

int replay_until(const struct common *c, stream_sink take, void *ctx, int (*stopped)(void))
{
	struct replay r = { .take = take, .ctx = ctx };
	struct capture_end end;

	return read_all(c, &r, stopped, &end);
}

int replay(const struct common *c, stream_sink take, void *ctx)
{
	return replay_until(c, take, ctx, watch_signalled);
}
