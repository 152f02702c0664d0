// SPDX-License-Identifier: GPL-2.0-only
/* view_events.c - what happened meanwhile, as text. */
#include <inttypes.h>

#include "format.h"
#include "text.h"
#include "view_events.h"

#define INDENT 2
#define WORDS 600

static void put_event(FILE *out, const struct event *e, size_t width)
{
	char when[FMT_LEN], what[WORDS], detail[WORDS], text[2 * WORDS + FMT_LEN];

	fmt_safe(what, sizeof(what), e->what);
	fmt_safe(detail, sizeof(detail), e->detail);
	snprintf(text, sizeof(text), "%s%s%s%s%s",
		 e->realtime_ns ? fmt_time(when, sizeof(when), e->realtime_ns) : "",
		 e->realtime_ns ? "  " : "", what, *detail ? ": " : "", detail);
	fprintf(out, "%*s", INDENT, "");
	text_wrap(out, text, INDENT, 2 * INDENT, width);
}

void view_events(FILE *out, const struct model *m, const struct scope *sc, size_t most,
		 size_t width)
{
	size_t i, n = 0, seen = 0;

	for (i = 0; i < m->nevents; i++)
		n += scope_has_event(m, sc, &m->events[i]);
	if (!n)
		return;
	if (n > most)
		fprintf(out, "\nEVENTS, the last %zu of %zu\n", most, n);
	else
		fprintf(out, "\nEVENTS\n");
	for (i = 0; i < m->nevents; i++)
		if (scope_has_event(m, sc, &m->events[i]) && ++seen + most > n)
			put_event(out, &m->events[i], width);
}
