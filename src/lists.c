// SPDX-License-Identifier: GPL-2.0-only
/* lists.c - all that can be read as state, each by a file of its own. */
#include <stdarg.h>
#include <stdio.h>

#include "catalog.h"
#include "lists.h"

/* One line each: extern const struct lists lists_NAME, and its address below. */
extern const struct lists lists_call_rcu, lists_rcu_gp, lists_memalloc, lists_rstat;

const struct lists *const lists_sources[] = { &lists_call_rcu, &lists_rcu_gp, &lists_memalloc,
					      &lists_rstat, NULL };

_Static_assert(sizeof(lists_sources) / sizeof(lists_sources[0]) <= LISTS_MAX + 1, "LISTS_MAX");

void lists_refuse(struct plan *plan, unsigned int source, const char *fmt, ...)
{
	char reason[PLAN_TEXT];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(reason, sizeof(reason), fmt, ap);
	va_end(ap);
	for (size_t i = 0; i < plan->n; i++) {
		struct plan_entry *e = &plan->entry[i];

		if (e->measure->source == source && e->state != PLAN_OFF &&
		    measure_info(e->measure->measure)->pending)
			plan_refuse(e, NULL, "%s", reason);
	}
}
