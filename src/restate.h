/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * restate.h - the state of a model as records, so that a capture can begin at any moment: what was said
 * before it is said again, and the newest tick becomes its baseline.
 */
#ifndef KDEFER_RESTATE_H
#define KDEFER_RESTATE_H

#include "model.h"

/* Between two ticks. 0, or what the sink said. Events, runs and worst samples so far are not part of it. */
int restate(const struct model *m, struct stream *out);

#endif
