/* SPDX-License-Identifier: GPL-2.0-only */
/* replay.h - --input: a capture on the way that live records take, for every command that shows. */
#ifndef KDEFER_REPLAY_H
#define KDEFER_REPLAY_H

#include "capture.h"
#include "common.h"
#include "stream.h"

/*
 * Hands all records of c->input to `take`; with c->follow, also those that are still to be written.
 * 0 also for a capture that was cut, or when a signal ended it: what is missing is logged, and there may
 * be enough to show. Else a negative errno: logged, but for what `take` returned.
 */
int replay(const struct common *c, stream_sink take, void *ctx);
/* The same; *end says how far it came. */
int replay_to(const struct common *c, stream_sink take, void *ctx, struct capture_end *end);
/* The same; while more of the capture is awaited, `stopped` is asked every 50 ms: true ends it, as a signal. */
int replay_until(const struct common *c, stream_sink take, void *ctx, int (*stopped)(void));

#endif
