// SPDX-License-Identifier: GPL-2.0-only
/* sources.c - all sources, in the order of enum kd_source_id. */
#include "source.h"

extern const struct source source_call_rcu, source_rcu_gp, source_memalloc, source_rstat;

const struct source *const sources[] = { &source_call_rcu, &source_rcu_gp, &source_memalloc,
					 &source_rstat, 0 };
