// SPDX-License-Identifier: GPL-2.0-only
/* main.c - finds the command and runs it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "common.h"
#include "log.h"
#include "output.h"
#include "text.h"
#include "watch.h"

#ifndef KDEFER_VERSION
#define KDEFER_VERSION "unknown"
#endif

#define NAME_MAX_LEN 32

static const struct command *const commands[] = { &command_top,  &command_hist,   &command_lists,
						  &command_why,  &command_record, &command_report,
						  &command_diff, &command_bench,  &command_doctor };
#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static const struct command *find(const char *name)
{
	size_t i;

	for (i = 0; i < COMMANDS; i++)
		if (!strcmp(commands[i]->opts->name, name))
			return commands[i];
	return NULL;
}

static void put_help(FILE *out)
{
	size_t i, width = output_width();

	fputs("Usage: kdefer COMMAND [OPTIONS]\n\n", out);
	text_wrap(out, "Shows what the Linux kernel has put off, and how long it waited.", 0, 0,
		  width);
	fputs("\nCommands:\n", out);
	for (i = 0; i < COMMANDS; i++) {
		fprintf(out, "  %-8s ", commands[i]->opts->name);
		text_wrap(out, commands[i]->opts->summary, 11, 11, width);
	}
	fputc('\n', out);
	text_wrap(out,
		  "kdefer help COMMAND shows a command's options, kdefer --version the version.", 0,
		  0, width);
}

/* --- a name that is no command --- */

static size_t least(size_t a, size_t b, size_t c)
{
	size_t m = a < b ? a : b;

	return m < c ? m : c;
}

/* Letters to add, drop or change to make b of a (Levenshtein); names are short. */
static size_t distance(const char *a, const char *b)
{
	size_t row[NAME_MAX_LEN + 1], i, j, corner, above, len = strlen(b);

	if (len > NAME_MAX_LEN)
		return len;
	for (j = 0; j <= len; j++)
		row[j] = j;
	for (i = 0; a[i]; i++) {
		corner = row[0];
		row[0] = i + 1;
		for (j = 0; j < len; j++) {
			above = row[j + 1];
			row[j + 1] = least(above + 1, row[j] + 1, corner + (a[i] != b[j]));
			corner = above;
		}
	}
	return row[len];
}

static const char *most_like(const char *name)
{
	size_t i, d, best = 3; /* what is further away is another word */
	const char *found = NULL;

	for (i = 0; i < COMMANDS; i++) {
		d = distance(name, commands[i]->opts->name);
		if (d < best) {
			best = d;
			found = commands[i]->opts->name;
		}
	}
	return found;
}

static int unknown(const char *name, bool json)
{
	const char *like = most_like(name);
	struct output out;

	output_init(&out);
	if (like)
		log_err(0, "no command \"%s\"; did you mean \"%s\"? (kdefer help lists them)", name,
			like);
	else
		log_err(0, "no command \"%s\" (kdefer help lists them)", name);
	return common_fail(&out, name, json, EXIT_USAGE);
}

/* --- what the arguments ask for --- */

static int help(const char *name)
{
	const struct command *c = name ? find(name) : NULL;

	if (name && !c)
		return unknown(name, false);
	if (c)
		opts_help(c->opts, stdout);
	else
		put_help(stdout);
	return EXIT_DONE;
}

static bool is_one_of(const char *arg, const char *a, const char *b)
{
	return !strcmp(arg, a) || !strcmp(arg, b);
}

static int dispatch(int argc, char **argv)
{
	const struct command *c;

	if (argc < 2) {
		put_help(stderr);
		return EXIT_USAGE;
	}
	if (is_one_of(argv[1], "-h", "--help"))
		return help(NULL);
	if (!strcmp(argv[1], "help"))
		return help(argv[2]);
	if (is_one_of(argv[1], "-V", "--version")) {
		puts("kdefer " KDEFER_VERSION);
		return EXIT_DONE;
	}
	if (argv[1][0] == '-') {
		log_err(0, "unknown option %s; a command comes first (kdefer help lists them)",
			argv[1]);
		return EXIT_USAGE;
	}
	c = find(argv[1]);
	return c ? c->run(argc - 1, argv + 1) : unknown(argv[1], wants_json(argc - 1, argv + 1));
}

int main(int argc, char **argv)
{
	int code, err;

	watch_signals();
	if (output_check())
		return EXIT_FAILED;
	opts_help_width(output_width());
	code = dispatch(argc, argv);
	err = output_finish();
	return err && err != -EPIPE && !code ? EXIT_FAILED : code;
}
