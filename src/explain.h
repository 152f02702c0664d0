/* SPDX-License-Identifier: GPL-2.0-only */
/* explain.h - what a measure hooks, what that means, and how to check its number without kdefer. */
#ifndef KDEFER_EXPLAIN_H
#define KDEFER_EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct kernel;
struct plan;

/*
 * The plan holds the rows of one measure. The commands are for this kernel's tracefs, to be pasted
 * into a root shell; fprobe: whether its dynamic_events takes fprobe events.
 */
void explain(FILE *out, const struct kernel *k, const struct plan *p, bool fprobe, size_t width);

/* Does the running kernel take fprobe events? */
bool explain_fprobe(void);

#endif
