// SPDX-License-Identifier: GPL-2.0-only
/* sources.c - all sources, in the order in which they are loaded, and share out memory. */
#include "source.h"

extern const struct source source_call_rcu, source_rcu_gp, source_memalloc, source_rstat;
extern const struct source source_holdup_gp, source_holdup_cb, source_holdup_rstat;

const struct source *const sources[] = { &source_call_rcu,     &source_rcu_gp,
					 &source_memalloc,     &source_rstat,
					 &source_holdup_gp,    &source_holdup_cb,
					 &source_holdup_rstat, 0 };

_Static_assert(sizeof(sources) / sizeof(sources[0]) <= SOURCES_MAX + 1, "SOURCES_MAX");
