/* SPDX-License-Identifier: GPL-2.0-only */
/* view_blame.h - whose flushes of cgroup statistics the others wait for: by flusher and by cgroup. */
#ifndef KDEFER_VIEW_BLAME_H
#define KDEFER_VIEW_BLAME_H

#include <stdio.h>

#include "view_hist.h"

/* Behind an empty line, where rstat.blame was measured and somebody waited; else nothing. 0 or -ENOMEM. */
int view_blame(FILE *out, const struct view_hist *v);

#endif
