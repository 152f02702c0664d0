// SPDX-License-Identifier: GPL-2.0-only
/* terminal.c - finds the description of the terminal. */
#define NCURSES_NOMACROS 1
#include <curses.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#include <unistd.h>

#include "terminal.h"
#include "terminfo.h" /* made by make: built_in[] */

static bool use_built_in(const char *name)
{
	for (size_t i = 0; i < sizeof(built_in) / sizeof(built_in[0]); i++)
		if (!strcmp(built_in[i].name, name))
			return !setenv("TERMINFO", built_in[i].entry, 1);
	return false;
}

static char *capability(const char *name)
{
	char *s = tigetstr((char *)name);

	return s == (char *)-1 ? NULL : s;
}

static const char *what_is_wrong(const char *name)
{
	int found;

	if (!isatty(STDOUT_FILENO))
		return "standard output is no terminal";
	if (!name || !*name)
		return "TERM is not set";
	if (!strcmp(name, "dumb") || !strcmp(name, "unknown"))
		return "TERM says that it can do nothing";
	if (setupterm(name, STDOUT_FILENO, &found) != OK &&
	    (!use_built_in(name) || setupterm(name, STDOUT_FILENO, &found) != OK))
		return "this type of terminal is not known here";
	if (!capability("cup") || !capability("clear"))
		return "this type of terminal cannot be drawn on";
	return NULL;
}

int terminal_find(char *why, size_t size)
{
	const char *wrong = what_is_wrong(getenv("TERM"));

	if (!wrong)
		return 0;
	snprintf(why, size, "%s", wrong);
	return -ENOTTY;
}

static char *into, *end;

static int collect(int c)
{
	if (into < end)
		*into++ = (char)c;
	return c;
}

size_t terminal_restore_text(char *buf, size_t size)
{
	/* Attributes, colours, the keypad, the cursor, the screen that was there. */
	static const char *const names[] = { "sgr0", "op", "rmkx", "cnorm", "rmcup" };

	into = buf;
	end = buf + size;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (capability(names[i]))
			tputs(capability(names[i]), 1, collect);
	collect('\r');
	del_curterm(cur_term); /* ncurses makes its own */
	return (size_t)(into - buf);
}
