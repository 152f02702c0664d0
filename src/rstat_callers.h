/* SPDX-License-Identifier: GPL-2.0-only */
/* rstat_callers.h - which functions on the stack of a flush say for whom it is done, or of what. */
#ifndef KDEFER_RSTAT_CALLERS_H
#define KDEFER_RSTAT_CALLERS_H

#include "../bpf/defer.h"
#include "../bpf/rstat.h"

/*
 * Their addresses in this kernel, ascending, the rest of `ranges` unused; none at all where kallsyms
 * shows no addresses. `text` is that of the kernel without its modules; all where unknown. 0 or a negative errno (logged).
 */
int rstat_callers(struct rs_range ranges[RS_RANGES], struct rs_range *text);

#endif
