/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * opts.h - option tables. A command declares its options; parsing, range checks, messages and the
 * help text come from the table, so that they cannot disagree.
 */
#ifndef KDEFER_OPTS_H
#define KDEFER_OPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum opt_type {
	OPT_FLAG, /* bool */
	OPT_U64,  /* uint64_t, min..max */
	OPT_TIME, /* uint64_t ns, min..max */
	OPT_SIZE, /* uint64_t bytes, min..max */
	OPT_STR,  /* const char * (points into argv) */
	OPT_CALL, /* call(into + offset, value): 0, or a negative errno after it logged why */
};

struct opt {
	const char *name; /* long name without dashes */
	char letter;      /* short option, or 0 */
	enum opt_type type;
	const char *value; /* name of the value in the help; FLAG has none, CALL may have none */
	const char *help;  /* one line; a range is added to it */
	const char *(*help_list)(void); /* NULL, or what the help ends with */
	size_t offset;                  /* where it goes: offsetof in the command's structure */
	uint64_t min, max;              /* for numbers; max 0 = any */
	int (*call)(void *into, const char *value);
};

struct opts_command {
	const char *name;                /* "hist" */
	const char *summary;             /* one line */
	const char *usage;               /* "[-s SOURCES] [-d TIME] ... [-- COMMAND ...]" */
	const struct opt *const *tables; /* NULL-ended list; each table ends with .name == NULL */
	bool takes_command;              /* accepts -- COMMAND ... */
	int max_args;                    /* positional arguments allowed, before any -- */
};

struct opts_rest {
	char **args; /* positional arguments, NULL-terminated */
	int nargs;
	char **command; /* after "--", NULL-terminated; NULL when there is none */
};

/*
 * Parses argv[1..] into `into`, which holds the defaults. 0; 1 when -h/--help was asked for and
 * printed to stdout; -EINVAL after one line on standard error that names the option, the value, and
 * what would be right; what an OPT_CALL returned. Accepts --name=value, --name value, -xvalue,
 * -x value, bundled flags, and unambiguous prefixes of long names; of several the last counts.
 * Positional arguments are moved to the front of argv, so keep a copy to show the command line.
 */
int opts_parse(const struct opts_command *cmd, int argc, char **argv, void *into,
	       struct opts_rest *rest);

/* Usage, summary and options, within OPTS_HELP_COLUMNS or what opts_help_width() said. */
#define OPTS_HELP_COLUMNS 80
void opts_help(const struct opts_command *cmd, FILE *out);
/* How wide help is from now on; what is beyond the limits is cut to them. */
void opts_help_width(size_t columns);

#endif
