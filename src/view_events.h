/* SPDX-License-Identifier: GPL-2.0-only */
/* view_events.h - what happened meanwhile, as text: a line for each. */
#ifndef KDEFER_VIEW_EVENTS_H
#define KDEFER_VIEW_EVENTS_H

#include <stddef.h>
#include <stdio.h>

#include "model.h"
#include "scope.h"

/* A heading and the newest `most` events of the scope, an empty line before them; nothing where none is. */
void view_events(FILE *out, const struct model *m, const struct scope *sc, size_t most,
		 size_t width);

#endif
