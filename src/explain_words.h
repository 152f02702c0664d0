/* SPDX-License-Identifier: GPL-2.0-only */
/* explain_words.h - what explain.c says: tables of words. */
#ifndef KDEFER_EXPLAIN_WORDS_H
#define KDEFER_EXPLAIN_WORDS_H

#include <stddef.h>

/* What passing a hook of the plan's table, or the state that is read, means. NULL: not a target of it. */
const char *explain_meaning(const char *target);
/* The n-th paragraph of what a measure (enum kd_measure_id) shows, of those read or reported; NULL: no more. */
const char *explain_state(unsigned int measure, size_t n);

#endif
