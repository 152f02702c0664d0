// SPDX-License-Identifier: GPL-2.0-only
/* top_keys.c - the keys of `kdefer top`. */
#include "screen.h"
#include "top_keys.h"

const struct top_key top_keys[] = {
	{ ACT_HELP,
	  { '?', 'h', INPUT_F1 },
	  "? h F1",
	  "these keys, and what columns mean",
	  "?Help" },
	{ ACT_UP, { INPUT_UP, 'k' }, "Up k", "a row up", NULL },
	{ ACT_DOWN, { INPUT_DOWN, 'j' }, "Down j", "a row down", NULL },
	{ ACT_PAGE_UP, { INPUT_PAGE_UP }, "PgUp", "a page up", NULL },
	{ ACT_PAGE_DOWN, { INPUT_PAGE_DOWN }, "PgDn", "a page down", NULL },
	{ ACT_FIRST, { INPUT_HOME }, "Home", "the first row", NULL },
	{ ACT_LAST, { INPUT_END }, "End", "the last row", NULL },
	{ ACT_OPEN,
	  { INPUT_ENTER },
	  "Enter",
	  "open what is selected: a source, an event",
	  "EnterOpen" },
	{ ACT_BACK, { INPUT_ESCAPE }, "Esc", "back; ends search and filter", NULL },
	{ ACT_NEXT_VIEW, { INPUT_TAB }, "Tab", "the next view", "TabView" },
	{ ACT_LAST_VIEW, { INPUT_BACK_TAB }, "Shift-Tab", "the view before", NULL },
	{ ACT_VIEW, { 0 }, "0 .. 9", "a view by its number: 0 is the overview", NULL },
	{ ACT_EVENTS, { 'e' }, "e", "the events", "eEvents" },
	{ ACT_NEXT_TABLE, { INPUT_RIGHT, 'l' }, "Right l", "the next table of a source", NULL },
	{ ACT_LAST_TABLE, { INPUT_LEFT }, "Left", "the table before", NULL },
	{ ACT_SEARCH, { '/' }, "/", "search a row by a part of its name", "/Search" },
	{ ACT_SEARCH_NEXT, { 'n' }, "n", "the next such row", NULL },
	{ ACT_FILTER,
	  { '\\', INPUT_F1 + 3 },
	  "\\ F4",
	  "show only rows with this in their name",
	  "\\Filter" },
	{ ACT_SORT_NEXT, { '>', INPUT_F1 + 5, '.' }, "> F6", "sort by the next column", ">Sort" },
	{ ACT_SORT_LAST, { '<', ',' }, "<", "sort by the column before", NULL },
	{ ACT_INVERT, { 'I' }, "I", "turn the order round", "IInvert" },
	{ ACT_HEAT, { 'H' }, "H", "below: a histogram, or a heat map over time", "HHeat" },
	{ ACT_CPUS, { 'c' }, "c", "below: each CPU", "cCPUs" },
	{ ACT_ALL, { 'a' }, "a", "overview: all measures of a source", NULL },
	{ ACT_WINDOW, { 'w' }, "w", "numbers of the interval, or since the baseline", NULL },
	{ ACT_RESET, { 'z' }, "z", "a new baseline: history begins anew", NULL },
	{ ACT_PAUSE, { 'p', ' ' }, "p Space", "hold the display; a capture stops", "pPause" },
	{ ACT_STEP, { 's' }, "s", "a capture: one interval on", NULL },
	{ ACT_INTERVAL, { 'd' }, "d", "set the time between looks", NULL },
	{ ACT_LONGER, { '+', '=' }, "+", "look half as often", NULL },
	{ ACT_SHORTER, { '-' }, "-", "look twice as often", NULL },
	{ ACT_RECORD, { 'r' }, "r", "start or end a recording into a file", "rRecord" },
	{ ACT_REDRAW, { INPUT_REDRAW }, "Ctrl-L", "draw all anew", NULL },
	{ ACT_QUIT, { 'q', 'Q', INPUT_F10 }, "q F10", "quit", "qQuit" },
};

const size_t top_nkeys = sizeof(top_keys) / sizeof(top_keys[0]);

enum top_action top_key_action(int input)
{
	if (input >= '0' && input <= '9')
		return ACT_VIEW;
	for (size_t i = 0; i < top_nkeys; i++)
		for (int k = 0; k < TOP_KEY_INPUTS; k++)
			if (top_keys[i].input[k] && top_keys[i].input[k] == input)
				return top_keys[i].action;
	return ACT_NONE;
}
