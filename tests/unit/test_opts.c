// SPDX-License-Identifier: GPL-2.0-only
/* test_opts.c - what a command line means, the exact text of every refusal, and the help. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "log.h"
#include "opts.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define MS 1000000ull
#define S 1000000000ull

/* --- a command that has one of everything --- */

struct settings {
	bool json, full, verbose;
	uint64_t interval, delay, top, any, floor, memory;
	const char *output;
	struct {
		char text[32];
		int calls;
	} label;
	int pings;
};

static int take_label(void *into, const char *value)
{
	struct settings *s = (struct settings *)((char *)into - offsetof(struct settings, label));

	if (!strchr(value, '='))
		return log_err(-EDOM, "test: label \"%s\" has no =", value);
	snprintf(s->label.text, sizeof(s->label.text), "%s", value);
	s->label.calls++;
	return 7; /* no error: only a negative number is one */
}

static int take_ping(void *into, const char *value)
{
	assert_null(value);
	++*(int *)into;
	return 0;
}

#define AT(field) .offset = offsetof(struct settings, field)

static const struct opt output_options[] = {
	{ "json", 'j', OPT_FLAG, NULL, "one JSON document", AT(json) },
	{ "full", 0, OPT_FLAG, NULL, "all keys", AT(full) },
	{ "output", 'o', OPT_STR, "FILE", "write there", AT(output) },
	{},
};

static const struct opt own_options[] = {
	{ "interval", 'i', OPT_TIME, "TIME", "a line each", AT(interval), 100 * MS, 3600 * S },
	{ "delay", 'd', OPT_TIME, "TIME", "any time will do", AT(delay) },
	{ "top", 'n', OPT_U64, "N", "largest keys", AT(top), 1, 1000 },
	{ "any", 'a', OPT_U64, "N", "any number", AT(any) },
	{ "floor", 0, OPT_U64, "N", "no upper limit", AT(floor), 10 },
	{ "max-memory", 'm', OPT_SIZE, "SIZE", "kernel side", AT(memory), 1 << 20, 1ull << 33 },
	{ "label", 'l', OPT_CALL, "K=V", "remember this", AT(label), .call = take_label },
	{ "ping", 'p', OPT_CALL, NULL, "count it", AT(pings), .call = take_ping },
	{ "verbose", 'v', OPT_FLAG, NULL, "say more", AT(verbose) },
	{ "interactive", 0, OPT_FLAG, NULL, "never mind", AT(verbose) },
	{},
};

static const struct opt *const tables[] = { output_options, own_options, NULL };

static const struct opts_command runs = {
	.name = "hist",
	.summary = "Show how long work waits.",
	.usage = "[-i TIME] [-- COMMAND ...]",
	.tables = tables,
	.takes_command = true,
	.max_args = 2,
};

static const struct opts_command looks = {
	.name = "lists",
	.summary = "Show what waits.",
	.usage = "",
	.tables = tables,
};

/* --- what was said --- */

struct heard {
	int lines;
	char text[1024];
};

static void hear(void *ctx, enum log_level level, const char *line)
{
	struct heard *h = ctx;

	assert_int_equal(level, LOG_ERROR);
	h->lines++;
	snprintf(h->text, sizeof(h->text), "%s", line);
}

static struct settings set;
static struct opts_rest rest;
static struct heard heard;
static char store[16][128];
static char *argv[COUNT(store)];

/* The words of a command line; argv has strings of its own, as main() has. */
static int parse_words(const struct opts_command *cmd, const char *const *words)
{
	int argc;

	memset(&set, 0, sizeof(set));
	memset(&heard, 0, sizeof(heard));
	memset(&rest, 0xa5, sizeof(rest));
	memset(argv, 0, sizeof(argv));
	snprintf(store[0], sizeof(store[0]), "%s", cmd->name);
	argv[0] = store[0];
	for (argc = 1; words[argc - 1]; argc++) {
		assert_in_range(argc, 1, COUNT(argv) - 2);
		snprintf(store[argc], sizeof(store[argc]), "%s", words[argc - 1]);
		argv[argc] = store[argc];
	}
	log_set_sink(hear, &heard);
	return opts_parse(cmd, argc, argv, &set, &rest);
}

#define parse(cmd, ...) parse_words(cmd, (const char *const[]){ __VA_ARGS__, NULL })

static void is_said(int err, int want, const char *text)
{
	assert_string_equal(heard.text, text);
	assert_int_equal(heard.lines, 1);
	assert_int_equal(err, want);
}

#define refused(text, ...) is_said(parse(__VA_ARGS__), -EINVAL, text)

static void accepted(int err)
{
	assert_string_equal(heard.text, "");
	assert_int_equal(heard.lines, 0);
	assert_int_equal(err, 0);
}

/* --- what is taken --- */

static void nothing(void **state)
{
	static const struct settings zero;

	(void)state;
	accepted(parse_words(&runs, (const char *const[]){ NULL }));
	assert_memory_equal(&set, &zero, sizeof(set));
	assert_int_equal(rest.nargs, 0);
	assert_ptr_equal(rest.args, argv + 1);
	assert_null(rest.args[0]);
	assert_null(rest.command);
	assert_ptr_equal(argv[0], store[0]);
}

static void defaults_stay(void **state)
{
	char name[] = "hist", flag[] = "-j", *args[] = { name, flag, NULL };

	(void)state;
	memset(&set, 0, sizeof(set));
	set.interval = 12345;
	set.output = "kept";
	set.verbose = true;
	accepted(opts_parse(&runs, 2, args, &set, &rest));
	assert_true(set.json);
	assert_true(set.verbose);
	assert_int_equal(set.interval, 12345);
	assert_string_equal(set.output, "kept");
}

static void no_arguments_at_all(void **state)
{
	char *none[] = { NULL };

	(void)state;
	memset(&heard, 0, sizeof(heard));
	accepted(opts_parse(&runs, 0, none, &set, &rest));
	assert_int_equal(rest.nargs, 0);
	assert_null(rest.args[0]);
}

static void every_way_to_give_a_value(void **state)
{
	(void)state;
	accepted(parse(&runs, "--interval=5s"));
	assert_int_equal(set.interval, 5 * S);
	accepted(parse(&runs, "--interval", "100ms"));
	assert_int_equal(set.interval, 100 * MS);
	accepted(parse(&runs, "-i5"));
	assert_int_equal(set.interval, 5 * S);
	accepted(parse(&runs, "-i", "1h"));
	assert_int_equal(set.interval, 3600 * S);
	accepted(parse(&runs, "-o", "-"));
	assert_string_equal(set.output, "-");
	accepted(parse(&runs, "--output="));
	assert_string_equal(set.output, "");
	accepted(parse(&runs, "--output=a=b"));
	assert_string_equal(set.output, "a=b");
	accepted(parse(&runs, "--output", "--json")); /* what needs a value takes it */
	assert_string_equal(set.output, "--json");
	assert_false(set.json);
	accepted(parse(&runs, "--output=--"));
	assert_string_equal(set.output, "--");
}

static void every_type(void **state)
{
	(void)state;
	accepted(parse(&runs, "--json", "--full", "-n", "20", "-a18446744073709551615",
		       "--floor=10", "-m", "64M", "--label", "a=b", "-p", "--ping", "-d", "0"));
	assert_true(set.json);
	assert_true(set.full);
	assert_false(set.verbose);
	assert_int_equal(set.top, 20);
	assert_int_equal(set.any, UINT64_MAX);
	assert_int_equal(set.floor, 10);
	assert_int_equal(set.memory, 64 << 20);
	assert_string_equal(set.label.text, "a=b");
	assert_int_equal(set.label.calls, 1);
	assert_int_equal(set.pings, 2);
}

static void a_value_points_into_argv(void **state)
{
	(void)state;
	accepted(parse(&runs, "--output=file", "x", "-j"));
	assert_ptr_equal(set.output, store[1] + strlen("--output="));
	accepted(parse(&runs, "x", "-ofile"));
	assert_ptr_equal(set.output, store[2] + 2);
	accepted(parse(&runs, "x", "-o", "file"));
	assert_ptr_equal(set.output, store[3]);
}

static void letters_bundle(void **state)
{
	(void)state;
	accepted(parse(&runs, "-jvn20"));
	assert_true(set.json);
	assert_true(set.verbose);
	assert_int_equal(set.top, 20);
	accepted(parse(&runs, "-jo", "file", "-v"));
	assert_true(set.json);
	assert_string_equal(set.output, "file");
	assert_true(set.verbose);
	accepted(parse(&runs, "-ojv"));
	assert_string_equal(set.output, "jv");
	assert_false(set.json);
	accepted(parse(&runs, "-ppp"));
	assert_int_equal(set.pings, 3);
}

static void prefixes(void **state)
{
	(void)state;
	accepted(parse(&runs, "--interv", "5s", "--js", "--ma=2M"));
	assert_int_equal(set.interval, 5 * S);
	assert_true(set.json);
	assert_int_equal(set.memory, 2 << 20);
}

static const struct opt nested_names[] = {
	{ "base-file", 0, OPT_FLAG, NULL, "longer, and first", AT(full) },
	{ "base", 0, OPT_FLAG, NULL, "the whole name", AT(json) },
	{ "base-line", 0, OPT_FLAG, NULL, "longer, and last", AT(verbose) },
	{},
};

static const struct opt *const nested_tables[] = { nested_names, NULL };

static void a_whole_name_beats_a_longer_one(void **state)
{
	static const struct opts_command nested = {
		.name = "diff",
		.summary = "Compare.",
		.tables = nested_tables,
	};

	(void)state;
	accepted(parse(&nested, "--base"));
	assert_true(set.json);
	assert_false(set.full);
	assert_false(set.verbose);
	refused("diff: --bas is ambiguous: --base-file, --base, --base-line", &nested, "--bas");
	refused("diff: --base- is ambiguous: --base-file, --base-line", &nested, "--base-");
}

static void the_last_one_counts(void **state)
{
	(void)state;
	accepted(parse(&runs, "-n", "1", "--top=2", "-n3"));
	assert_int_equal(set.top, 3);
	accepted(parse(&runs, "-la=b", "-lc=d"));
	assert_string_equal(set.label.text, "c=d");
	assert_int_equal(set.label.calls, 2);
}

static void ranges_include_their_limits(void **state)
{
	(void)state;
	accepted(parse(&runs, "-n1"));
	accepted(parse(&runs, "-n1000"));
	accepted(parse(&runs, "-i100ms"));
	accepted(parse(&runs, "-i1h"));
	accepted(parse(&runs, "-m1M"));
	accepted(parse(&runs, "-m8G"));
	accepted(parse(&runs, "--floor=18446744073709551615"));
	accepted(parse(&runs, "-a0"));
}

/* --- arguments and commands --- */

static void arguments_may_stand_anywhere(void **state)
{
	(void)state;
	accepted(parse(&runs, "one", "-j", "-", "-n", "5"));
	assert_int_equal(rest.nargs, 2);
	assert_string_equal(rest.args[0], "one");
	assert_string_equal(rest.args[1], "-");
	assert_null(rest.args[2]);
	assert_null(rest.command);
	assert_true(set.json);
	assert_int_equal(set.top, 5);
	accepted(parse(&runs, "-j", "-v", "one", "-n5", "two"));
	assert_string_equal(rest.args[0], "one");
	assert_string_equal(rest.args[1], "two");
	assert_null(rest.args[2]);
}

static void a_command_is_left_alone(void **state)
{
	(void)state;
	accepted(parse(&runs, "-j", "one", "--", "make", "-j", "--", "--top=0"));
	assert_int_equal(rest.nargs, 1);
	assert_string_equal(rest.args[0], "one");
	assert_null(rest.args[1]);
	assert_non_null(rest.command);
	assert_string_equal(rest.command[0], "make");
	assert_string_equal(rest.command[1], "-j");
	assert_string_equal(rest.command[2], "--");
	assert_string_equal(rest.command[3], "--top=0");
	assert_null(rest.command[4]);
	assert_int_equal(set.top, 0);
	accepted(parse(&runs, "one", "two", "--", "ls")); /* no room between arguments and "--" */
	assert_int_equal(rest.nargs, 2);
	assert_null(rest.args[2]);
	assert_string_equal(rest.command[0], "ls");
}

static void dashes_alone_end_the_options(void **state)
{
	(void)state;
	accepted(parse(&looks, "-j", "--"));
	assert_true(set.json);
	assert_int_equal(rest.nargs, 0);
	assert_null(rest.command);
}

static void wrong_arguments(void **state)
{
	(void)state;
	refused("hist: unexpected argument \"three\" (see kdefer hist --help)", &runs, "one", "two",
		"-j", "three");
	refused("lists: unexpected argument \"a\\x1bb\" (see kdefer lists --help)", &looks,
		"a\033b");
	refused("lists: unexpected argument \"-\" (see kdefer lists --help)", &looks, "-");
	refused("lists: takes no command, but \"ls\" follows \"--\"", &looks, "--", "ls", "-l");
	refused("hist: no command after \"--\"", &runs, "-j", "--");
}

/* --- what is refused --- */

static void unknown_options(void **state)
{
	(void)state;
	refused("hist: unknown option --foo (see kdefer hist --help)", &runs, "--foo");
	refused("hist: unknown option --foo (see kdefer hist --help)", &runs, "--foo=bar");
	refused("hist: unknown option --jsonx (see kdefer hist --help)", &runs, "--jsonx");
	refused("hist: unknown option --JSON (see kdefer hist --help)", &runs, "--JSON");
	refused("hist: unknown option --=x (see kdefer hist --help)", &runs, "--=x");
	refused("hist: unknown option ---json (see kdefer hist --help)", &runs, "---json");
	refused("lists: unknown option -x (see kdefer lists --help)", &looks, "-x");
	refused("hist: unknown option -x (see kdefer hist --help)", &runs, "-jxv");
	refused("hist: unknown option -\\xc3 (see kdefer hist --help)", &runs, "-\xc3\xa4");
	refused("hist: unknown option --\\x1b[2J (see kdefer hist --help)", &runs, "--\033[2J");
	/* A dash among letters is a letter too, and ends nothing. */
	refused("hist: unknown option -- (see kdefer hist --help)", &runs, "-j-");
}

static void ambiguous_prefixes(void **state)
{
	(void)state;
	refused("hist: --f is ambiguous: --full, --floor", &runs, "--f");
	refused("hist: --f is ambiguous: --full, --floor", &runs, "--f=1");
	refused("hist: --inter is ambiguous: --interval, --interactive", &runs, "--inter", "5s");
}

/* More candidates than a line has room for: the list ends somewhere, and nothing breaks. */
static void very_many_candidates(void **state)
{
	static char names[100][32];
	static struct opt many[COUNT(names) + 1];
	static const struct opt *const many_tables[] = { many, NULL };
	static const struct opts_command cmd = {
		.name = "many",
		.summary = "Many.",
		.tables = many_tables,
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(names); i++) {
		snprintf(names[i], sizeof(names[i]), "candidate-%03zu", i);
		many[i] = (struct opt){ names[i], 0, OPT_FLAG, NULL, "one of many", AT(json) };
	}
	assert_int_equal(parse(&cmd, "--cand"), -EINVAL);
	assert_int_equal(heard.lines, 1);
	heard.text[59] = '\0';
	assert_string_equal(heard.text,
			    "many: --cand is ambiguous: --candidate-000, --candidate-001");
	accepted(parse(&cmd, "--candidate-099"));
	assert_true(set.json);
}

static void missing_values(void **state)
{
	(void)state;
	refused("hist: --interval needs a value: --interval TIME", &runs, "--interval");
	refused("hist: --interval needs a value: --interval TIME", &runs, "-i");
	refused("hist: --output needs a value: --output FILE", &runs, "-jo");
	refused("hist: --label needs a value: --label K=V", &runs, "-j", "--lab");
	refused("hist: --top needs a value: --top N", &runs, "--top", "--", "make");
}

static void values_of_flags(void **state)
{
	(void)state;
	refused("hist: --json takes no value", &runs, "--json=yes");
	refused("hist: --json takes no value", &runs, "--js=");
	refused("hist: --ping takes no value", &runs, "--ping=1");
	refused("hist: --help takes no value", &runs, "--help=top");
}

static void no_times(void **state)
{
	(void)state;
	refused("hist: --interval: \"5x\" is no time; use e.g. 100ms, 5s, 2m", &runs, "--interval",
		"5x");
	refused("hist: --interval: \"\" is no time; use e.g. 100ms, 5s, 2m", &runs, "--interval=");
	refused("hist: --interval: \"-1s\" is no time; use e.g. 100ms, 5s, 2m", &runs, "-i", "-1s");
	refused("hist: --delay: \"soon\" is no time; use e.g. 100ms, 5s, 2m", &runs, "-dsoon");
}

static void no_sizes_and_numbers(void **state)
{
	(void)state;
	refused("hist: --max-memory: \"64Q\" is no size; use e.g. 64k, 16M, 1G", &runs, "-m64Q");
	refused("hist: --top: \"ten\" is no whole number", &runs, "--top", "ten");
	refused("hist: --top: \"\" is no whole number", &runs, "--top=");
	refused("hist: --top: \"1.5\" is no whole number", &runs, "--top", "1.5");
	refused("hist: --top: \"-1\" is no whole number", &runs, "--top", "-1");
	refused("hist: --any: \" 1\" is no whole number", &runs, "--any", " 1");
	refused("hist: --any: \"0x10\" is no whole number", &runs, "--any", "0x10");
	refused("hist: --any: \"10k\" is no whole number", &runs, "--any", "10k");
}

static void out_of_range(void **state)
{
	(void)state;
	refused("hist: --top: \"0\" is out of range; use 1 to 1000", &runs, "-n0");
	refused("hist: --top: \"1001\" is out of range; use 1 to 1000", &runs, "-n", "1001");
	refused("hist: --top: \"99999999999999999999\" is out of range; use 1 to 1000", &runs,
		"--top=99999999999999999999");
	refused("hist: --interval: \"99ms\" is out of range; use 100ms to 1h", &runs, "-i99ms");
	refused("hist: --interval: \"3601\" is out of range; use 100ms to 1h", &runs, "-i3601");
	refused("hist: --interval: \"999999999999\" is out of range; use 100ms to 1h", &runs,
		"-i999999999999");
	refused("hist: --max-memory: \"1023k\" is out of range; use 1M to 8G", &runs, "-m1023k");
	refused("hist: --max-memory: \"9G\" is out of range; use 1M to 8G", &runs, "-m9G");
	refused("hist: --floor: \"9\" is out of range; use at least 10", &runs, "--floor=9");
	refused("hist: --floor: \"18446744073709551616\" is too large", &runs,
		"--floor=18446744073709551616");
	refused("hist: --any: \"18446744073709551616\" is too large", &runs,
		"-a18446744073709551616");
	refused("hist: --delay: \"99999999999\" is too large", &runs, "-d99999999999");
}

static void a_refused_value_changes_nothing(void **state)
{
	(void)state;
	parse(&runs, "-n0");
	assert_int_equal(set.top, 0);
	parse(&runs, "-n5", "-n1001");
	assert_int_equal(set.top, 5);
}

static void what_a_call_says_stands(void **state)
{
	(void)state;
	is_said(parse(&runs, "--label", "ab", "--foo"), -EDOM, "test: label \"ab\" has no =");
}

static void the_first_error_is_the_only_one(void **state)
{
	(void)state;
	refused("hist: unknown option --foo (see kdefer hist --help)", &runs, "--foo", "--bar",
		"-n0");
}

/* --- help --- */

static char *help_text(const struct opts_command *cmd)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	opts_help(cmd, out);
	fclose(out);
	return text;
}

static void help_is_exact(void **state)
{
	char *text = help_text(&runs);

	(void)state;
	assert_string_equal(text, "Usage: kdefer hist [-i TIME] [-- COMMAND ...]\n"
				  "\n"
				  "Show how long work waits.\n"
				  "\n"
				  "Options:\n"
				  "  -j, --json             one JSON document\n"
				  "      --full             all keys\n"
				  "  -o, --output FILE      write there\n"
				  "  -i, --interval TIME    a line each (100ms to 1h)\n"
				  "  -d, --delay TIME       any time will do\n"
				  "  -n, --top N            largest keys (1 to 1000)\n"
				  "  -a, --any N            any number\n"
				  "      --floor N          no upper limit (at least 10)\n"
				  "  -m, --max-memory SIZE  kernel side (1M to 8G)\n"
				  "  -l, --label K=V        remember this\n"
				  "  -p, --ping             count it\n"
				  "  -v, --verbose          say more\n"
				  "      --interactive      never mind\n"
				  "  -h, --help             show this help\n");
	free(text);
}

static void help_of_a_command_without_anything(void **state)
{
	static const struct opts_command bare = { .name = "bare", .summary = "Nothing." };
	char *text = help_text(&bare);

	(void)state;
	assert_string_equal(text, "Usage: kdefer bare\n\nNothing.\n\nOptions:\n"
				  "  -h, --help  show this help\n");
	free(text);
	accepted(parse_words(&bare, (const char *const[]){ NULL }));
}

static const struct opt wordy_options[] = {
	{ "an-option-with-a-very-long-name", 'x', OPT_STR, "ITS-VALUE",
	  "has its help on the next line, because the column would otherwise leave no room for it",
	  AT(output) },
	{ "short", 0, OPT_TIME, "TIME",
	  "is explained at such length that the explanation takes two lines, and its range",
	  AT(delay), S, 60 * S },
	{},
};

static const struct opt *const wordy_tables[] = { wordy_options, NULL };

static const struct opts_command wordy = {
	.name = "wordy",
	.summary =
		"A summary that is longer than a line should be, so that it must go on in a second "
		"one.",
	.usage = "FILE [-s SOURCES] [-d TIME] [-i TIME] [--repeat N | --ab A_CMD B_CMD --repeat N] "
		 "[--label K=V]... [-- COMMAND ...]",
	.tables = wordy_tables,
};

static void help_wraps(void **state)
{
	char *text = help_text(&wordy);

	(void)state;
	assert_string_equal(
		text,
		"Usage: kdefer wordy FILE [-s SOURCES] [-d TIME] [-i TIME]\n"
		"       [--repeat N | --ab A_CMD B_CMD --repeat N] [--label K=V]...\n"
		"       [-- COMMAND ...]\n"
		"\n"
		"A summary that is longer than a line should be, so that it must go on in a\n"
		"second one.\n"
		"\n"
		"Options:\n"
		"  -x, --an-option-with-a-very-long-name ITS-VALUE\n"
		"                    has its help on the next line, because the column would\n"
		"                    otherwise leave no room for it\n"
		"      --short TIME  is explained at such length that the explanation takes two\n"
		"                    lines, and its range (1s to 1m)\n"
		"  -h, --help        show this help\n");
	free(text);
}

/* The last column that is used: 30 of the left ones, 80 of all. */
static void help_fills_its_columns(void **state)
{
	static const struct opt edge[] = {
		{ "an-option-of-22-column", 0, OPT_FLAG, NULL,
		  "has help beside it, to the last column of a line", AT(json) },
		{ "an-option-of-23-columns", 0, OPT_FLAG, NULL,
		  "has help below it, and one column more than lines", AT(json) },
		{},
	};
	static const struct opt *const edge_tables[] = { edge, NULL };
	static const struct opts_command cmd = {
		.name = "edge",
		.tables = edge_tables,
		.summary = "A summary that ends in the eightieth column of its line, "
			   "as can be counted here.",
	};
	char *text = help_text(&cmd);

	(void)state;
	assert_string_equal(
		text,
		"Usage: kdefer edge\n\n"
		"A summary that ends in the eightieth column of its line, as can be counted here.\n"
		"\n"
		"Options:\n"
		"      --an-option-of-22-column  has help beside it, to the last column of a line\n"
		"      --an-option-of-23-columns\n"
		"                                has help below it, and one column more than\n"
		"                                lines\n"
		"  -h, --help                    show this help\n");
	free(text);
}

/* Brackets stay together only while a line has room for them. */
static void help_stays_within_80_columns(void **state)
{
	static const struct opts_command wide = {
		.name = "wide",
		.summary = "Wide.",
		.usage = "[one two three four five six seven eight nine ten eleven twelve thirteen "
			 "fourteen] [fifteen]",
	};
	const struct opts_command *commands[] = { &runs, &looks, &wordy, &wide };
	size_t i, words = 0;
	char *text, *line;

	(void)state;
	for (i = 0; i < COUNT(commands); i++) {
		text = help_text(commands[i]);
		for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
			assert_in_range(strlen(line), 1, 80);
			assert_int_not_equal(line[strlen(line) - 1], ' ');
			words += strstr(line, "fourteen] [fifteen]") != NULL;
		}
		free(text);
	}
	assert_int_equal(words, 1);
}

/* Runs the parser with standard output in a file, and returns what came there. */
static int parse_to_file(const char *const *words, char *got, size_t size)
{
	FILE *file = tmpfile();
	int saved, err;
	size_t len;

	assert_non_null(file);
	fflush(stdout);
	saved = dup(STDOUT_FILENO);
	dup2(fileno(file), STDOUT_FILENO);
	err = parse_words(&runs, words);
	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	rewind(file);
	len = fread(got, 1, size - 1, file);
	got[len] = '\0';
	fclose(file);
	return err;
}

static void help_is_an_option(void **state)
{
	static const char *const lines[][4] = {
		{ "--help" },        { "-h" },          { "-jh" }, { "--he" },
		{ "-n", "5", "-h" }, { "-h", "--foo" },
	};
	char got[4096], *expect = help_text(&runs);
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(lines); i++) {
		assert_int_equal(parse_to_file(lines[i], got, sizeof(got)), 1);
		assert_string_equal(got, expect);
		assert_int_equal(heard.lines, 0);
	}
	/* After "--" it is the command's. */
	assert_int_equal(
		parse_to_file((const char *const[]){ "--", "ls", "-h", NULL }, got, sizeof(got)),
		0);
	assert_string_equal(got, "");
	/* Errors do not print it. */
	assert_int_equal(
		parse_to_file((const char *const[]){ "-n0", "-h", NULL }, got, sizeof(got)),
		-EINVAL);
	assert_string_equal(got, "");
	free(expect);
}

static int stop_listening(void **state)
{
	(void)state;
	log_set_sink(NULL, NULL);
	return 0;
}

int main(void)
{
#define TEST(f) cmocka_unit_test_teardown(f, stop_listening)
	const struct CMUnitTest tests[] = {
		TEST(nothing),
		TEST(defaults_stay),
		TEST(no_arguments_at_all),
		TEST(every_way_to_give_a_value),
		TEST(every_type),
		TEST(a_value_points_into_argv),
		TEST(letters_bundle),
		TEST(prefixes),
		TEST(a_whole_name_beats_a_longer_one),
		TEST(the_last_one_counts),
		TEST(ranges_include_their_limits),
		TEST(arguments_may_stand_anywhere),
		TEST(a_command_is_left_alone),
		TEST(dashes_alone_end_the_options),
		TEST(wrong_arguments),
		TEST(unknown_options),
		TEST(ambiguous_prefixes),
		TEST(very_many_candidates),
		TEST(missing_values),
		TEST(values_of_flags),
		TEST(no_times),
		TEST(no_sizes_and_numbers),
		TEST(out_of_range),
		TEST(a_refused_value_changes_nothing),
		TEST(what_a_call_says_stands),
		TEST(the_first_error_is_the_only_one),
		TEST(help_is_exact),
		TEST(help_of_a_command_without_anything),
		TEST(help_wraps),
		TEST(help_fills_its_columns),
		TEST(help_stays_within_80_columns),
		TEST(help_is_an_option),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
