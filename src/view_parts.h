/* SPDX-License-Identifier: GPL-2.0-only */
/* view_parts.h - what text views are made of: names, values, the table of keys. */
#ifndef KDEFER_VIEW_PARTS_H
#define KDEFER_VIEW_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "catalog.h"
#include "model.h"
#include "view_hist.h"

#define VIEW_NAME 80
#define VIEW_FUNC 1100 /* the longest name there is, all of it escaped */
#define VIEW_KEY 2300  /* with what stands beside it: together no longer than two such names */

/* All return buf. */

/* "call_rcu.latency"; with the flavour where the plan has several of this measure. */
char *view_name(char *buf, size_t size, const struct model *m, unsigned int source,
		unsigned int measure, unsigned int flavour);
/* A key's value with what stands beside it, harmless: "func [module]", "12 (my_map)"; "?" if none. */
char *view_key(char *buf, size_t size, const struct keys *k, enum key_name key);
/* " (upper bound)", " (lower bound)" or "" */
const char *view_bound(const struct metric *x);
char *view_value(char *buf, size_t size, enum unit unit, uint64_t v);
/* "call_rcu.latency: off: REASON (FIX)" */
char *view_off(char *buf, size_t size, const struct model *m, const struct plan_row *row);

bool view_is_total(const struct metric *x);

/* The breakdowns of the measure of this total, as tables behind an empty line. 0 or -ENOMEM. */
int view_keys(FILE *out, const struct view_hist *v, const struct metric *total);

#endif
