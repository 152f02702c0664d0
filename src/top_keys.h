/* SPDX-License-Identifier: GPL-2.0-only */
/* top_keys.h - the keys of `kdefer top`: one table, which handles them and writes the help. */
#ifndef KDEFER_TOP_KEYS_H
#define KDEFER_TOP_KEYS_H

#include <stddef.h>

enum top_action {
	ACT_NONE,
	ACT_UP,
	ACT_DOWN,
	ACT_PAGE_UP,
	ACT_PAGE_DOWN,
	ACT_FIRST,
	ACT_LAST,
	ACT_NEXT_TABLE,
	ACT_LAST_TABLE,
	ACT_NEXT_VIEW,
	ACT_LAST_VIEW,
	ACT_VIEW, /* by its digit */
	ACT_EVENTS,
	ACT_OPEN,
	ACT_BACK,
	ACT_SEARCH,
	ACT_SEARCH_NEXT,
	ACT_FILTER,
	ACT_SORT_NEXT,
	ACT_SORT_LAST,
	ACT_INVERT,
	ACT_HEAT,
	ACT_CPUS,
	ACT_ALL,
	ACT_WINDOW,
	ACT_PAUSE,
	ACT_STEP,
	ACT_INTERVAL,
	ACT_LONGER,
	ACT_SHORTER,
	ACT_RESET,
	ACT_RECORD,
	ACT_REDRAW,
	ACT_HELP,
	ACT_QUIT,
};

#define TOP_KEY_INPUTS 4

struct top_key {
	enum top_action action;
	int input[TOP_KEY_INPUTS]; /* enum input or a character; 0: none */
	const char *name;          /* as the help says it */
	const char *help;
	const char *brief; /* in the line of keys at the bottom; NULL: not there */
};

extern const struct top_key top_keys[];
extern const size_t top_nkeys;

enum top_action top_key_action(int input);

#endif
