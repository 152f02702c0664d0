/* SPDX-License-Identifier: GPL-2.0-only */
/* backlog_parts.h - between backlog*.c, for nobody else. */
#ifndef KDEFER_BACKLOG_PARTS_H
#define KDEFER_BACKLOG_PARTS_H

#include "backlog.h"

bool backlog_in_scope(const struct scope *sc, const struct level_key *k);
bool backlog_matches(const struct model *m, const struct backlog_query *q,
		     const struct backlog_row *r);

#endif
