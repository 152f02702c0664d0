// SPDX-License-Identifier: GPL-2.0-only
/* diff_options.c - the command line of `kdefer diff`. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "diff_options.h"
#include "log.h"
#include "text.h"

static int add_string(struct strings *list, const char *s)
{
	if (list->n == FILES_MAX)
		return log_err(-EINVAL, "diff: more than %d captures a side", FILES_MAX);
	list->s[list->n++] = s;
	return 0;
}

static int take_base(void *into, const char *value)
{
	return add_string(&((struct diff_command *)into)->side[SIDE_BASE], value);
}

static int take_new(void *into, const char *value)
{
	return add_string(&((struct diff_command *)into)->side[SIDE_NEW], value);
}

static int take_rule(void *into, const char *value)
{
	struct diff_command *d = into;
	struct rule *r = NULL;
	char wrong[256];

	if (d->nrules == RULES_MAX)
		return log_err(-EINVAL, "diff: more than %d rules", RULES_MAX);
	r = malloc(sizeof(*r));
	if (!r)
		return log_err(-ENOMEM, "out of memory");
	d->rules[d->nrules++] = r;
	if (rule_parse(r, value, wrong, sizeof(wrong)))
		return log_err(-EINVAL, "diff: --fail-on '%s': %s", value, wrong);
	return 0;
}

static int take_alias(void *into, const char *value)
{
	struct diff_command *d = into;
	const char *eq = strchr(value, '=');
	char *old;

	if (!eq || eq == value || !eq[1])
		return log_err(-EINVAL,
			       "diff: --alias is OLD=NEW, as in old_name=new_name, not '%s'",
			       value);
	if (d->naliases == NAMES_MAX)
		return log_err(-EINVAL, "diff: more than %d aliases", NAMES_MAX);
	old = strndup(value, (size_t)(eq - value));
	if (!old)
		return log_err(-ENOMEM, "out of memory");
	d->aliases[d->naliases++] = (struct sample_alias){ old, eq + 1 };
	return 0;
}

static int take_varies(void *into, const char *value)
{
	struct diff_command *d = into;

	if (!compare_must_equal(value))
		return log_err(-EINVAL, "diff: --varies '%s': what has to be equal is %s", value,
			       compare_must_equal_list());
	if (d->nvaries == NAMES_MAX)
		return log_err(-EINVAL, "diff: more than %d --varies", NAMES_MAX);
	d->varies[d->nvaries++] = value;
	return 0;
}

static int take_percent(double *into, const char *option, const char *value)
{
	char *end;
	double v = strtod(value, &end);

	if (end == value || (*end && strcmp(end, "%")) || !(v >= 0 && v <= 1000))
		return log_err(-EINVAL, "diff: %s is a percentage from 0 to 1000, not '%s'", option,
			       value);
	*into = v / 100;
	return 0;
}

static int take_boot_noise(void *into, const char *value)
{
	return take_percent(&((struct diff_command *)into)->boot_noise, "--boot-noise", value);
}

static int take_min_change(void *into, const char *value)
{
	return take_percent(&((struct diff_command *)into)->min_change, "--min-change", value);
}

static int take_inconclusive(void *into, const char *value)
{
	struct diff_command *d = into;

	if (!strcmp(value, "4"))
		d->inconclusive = UNDECIDED_FOUR;
	else if (!strcmp(value, "pass"))
		d->inconclusive = UNDECIDED_PASS;
	else if (!strcmp(value, "fail"))
		d->inconclusive = UNDECIDED_FAIL;
	else
		return log_err(-EINVAL, "diff: --inconclusive is pass, fail or 4, not '%s'", value);
	return 0;
}

static int take_no_base(void *into, const char *value)
{
	struct diff_command *d = into;

	if (!strcmp(value, "pass"))
		d->no_base = UNDECIDED_PASS;
	else if (!strcmp(value, "fail"))
		d->no_base = UNDECIDED_FAIL;
	else
		return log_err(-EINVAL, "diff: --no-base is pass or fail, not '%s'", value);
	return 0;
}

#define FIELD(member) .offset = offsetof(struct diff_command, member)

static const struct opt side_options[] = {
	{ .name = "base",
	  .type = OPT_CALL,
	  .value = "FILE...",
	  .help = "captures of the base: all names that follow",
	  .call = take_base },
	{ .name = "new",
	  .type = OPT_CALL,
	  .value = "FILE...",
	  .help = "captures of what is held against it",
	  .call = take_new },
	{ .name = "alias",
	  .type = OPT_CALL,
	  .value = "OLD=NEW",
	  .help = "a function or list of the base that has a new name",
	  .call = take_alias },
	{ .name = "varies",
	  .type = OPT_CALL,
	  .value = "KEY",
	  .help = "this may differ between the sides, as cpus_online or command",
	  .call = take_varies },
	{ 0 },
};

static const struct opt gate_options[] = {
	{ .name = "fail-on",
	  .type = OPT_CALL,
	  .value = "RULE",
	  .help = "what is a regression, as 'rcu_gp.duration.p99 > +20%'; may be given often",
	  .call = take_rule },
	{ .name = "inconclusive",
	  .type = OPT_CALL,
	  .value = "WHAT",
	  .help = "a rule that cannot be decided: pass, fail, or exit code 4 (default)",
	  .call = take_inconclusive },
	{ .name = "no-base",
	  .type = OPT_CALL,
	  .value = "WHAT",
	  .help = "where there is no base yet: pass or fail (default: an error)",
	  .call = take_no_base },
	{ .name = "min-change",
	  .type = OPT_CALL,
	  .value = "PCT",
	  .help = "smaller changes are none (default: 5)",
	  .call = take_min_change },
	{ .name = "boot-noise",
	  .type = OPT_CALL,
	  .value = "PCT",
	  .help = "what boots may differ by where each side has one (default: 10)",
	  .call = take_boot_noise },
	{ .name = "bisect",
	  .type = OPT_FLAG,
	  .help = "exit codes for git bisect run: 0 good, 1 bad, 125 anything else",
	  FIELD(bisect) },
	{ .name = "warn-only",
	  .type = OPT_FLAG,
	  .help = "say it, but end with 0 where it would be 3 or 4",
	  FIELD(warn_only) },
	{ .name = "self-test",
	  .type = OPT_FLAG,
	  .help = "first show that a slowdown turns it red, and shuffled labels do not",
	  FIELD(selftest) },
	{ 0 },
};

static const struct opt form_options[] = {
	{ .name = "json", .type = OPT_FLAG, .help = "one JSON document", FIELD(json) },
	{ .name = "markdown",
	  .type = OPT_FLAG,
	  .help = "for a comment on a pull request",
	  FIELD(markdown) },
	{ .name = "junit", .type = OPT_FLAG, .help = "JUnit's XML", FIELD(junit) },
	{ .name = "full",
	  .type = OPT_FLAG,
	  .help = "rows too that neither gate nor changed",
	  FIELD(full) },
	{ .name = "status",
	  .type = OPT_STR,
	  .value = "FILE",
	  .help = "also write verdict and exit code there",
	  FIELD(status) },
	{ 0 },
};

static const struct opt *const tables[] = { side_options, gate_options, form_options, NULL };

const struct opts_command diff_opts = {
	.name = "diff",
	.summary = "Compare captures of two kernels: what is worse, beyond the noise.",
	.usage = "[--fail-on RULE]... [--json | --markdown | --junit] "
		 "BASE NEW | AB_CAPTURE | --base FILE... --new FILE...",
	.tables = tables,
	.max_args = 2,
};

/* So that a shell's wildcards can be used. */
static char *write_option(struct spread *s, size_t room, const char *option, const char *value)
{
	char *at = s->text + s->used;

	s->used += (size_t)snprintf(at, room - s->used, "%s=%s", option, value) + 1;
	return at;
}

static int spread_files(struct spread *s, int argc, char **argv)
{
	const char *option = NULL;
	size_t room = 1;
	bool over = false;
	int i;

	for (i = 0; i < argc; i++)
		room += strlen(argv[i]) + sizeof("--base=");
	s->argv = calloc((size_t)argc + 1, sizeof(*s->argv));
	s->text = malloc(room);
	if (!s->argv || !s->text)
		return log_err(-ENOMEM, "out of memory");
	for (i = 0; i < argc; i++) {
		over |= !strcmp(argv[i], "--");
		if (!over && (!strcmp(argv[i], "--base") || !strcmp(argv[i], "--new"))) {
			option = i + 1 < argc && argv[i + 1][0] != '-' ? argv[i] : NULL;
			if (option)
				continue; /* said with each name */
		} else if (argv[i][0] == '-') {
			option = NULL;
		}
		s->argv[s->n++] = option ? write_option(s, room, option, argv[i]) : argv[i];
	}
	return 0;
}

static void keep_command_line(struct diff_command *d, int argc, char **argv)
{
	int i;

	for (i = 0; i < argc; i++)
		text_append(d->command_line, sizeof(d->command_line),
			    strchr(argv[i], ' ') || !*argv[i] ? "%s'%s'" : "%s%s", i ? " " : "",
			    argv[i]);
}

static int take_args(struct diff_command *d, const struct opts_rest *rest)
{
	bool named = d->side[SIDE_BASE].n || d->side[SIDE_NEW].n;

	if (d->json + d->markdown + d->junit > 1)
		return log_err(-EINVAL, "diff: only one of --json, --markdown and --junit");
	if (named && rest->nargs)
		return log_err(-EINVAL, "diff: '%s' beside --base and --new: of which side is it?",
			       rest->args[0]);
	if (named && (!d->side[SIDE_BASE].n || !d->side[SIDE_NEW].n))
		return log_err(-EINVAL, "diff: --base and --new belong together");
	if (named)
		return 0;
	if (!rest->nargs)
		return log_err(-EINVAL,
			       "diff: needs two captures, BASE and NEW, or one recorded with --ab");
	d->side[SIDE_BASE].s[d->side[SIDE_BASE].n++] = rest->args[0];
	if (rest->nargs > 1)
		d->side[SIDE_NEW].s[d->side[SIDE_NEW].n++] = rest->args[1];
	return 0;
}

/* After a wrong option none of those behind it was taken. */
static void find_forms(struct diff_command *d, int argc, char **argv)
{
	if (!d->status)
		d->status = option_value(argc, argv, "status", 2);
	d->junit |= option_given(argc, argv, "junit", 2);
	d->markdown |= option_given(argc, argv, "markdown", 2);
	d->bisect |= option_given(argc, argv, "bisect", 2);
}

int diff_options(struct diff_command *d, int argc, char **argv)
{
	struct opts_rest rest;
	int err;

	d->json = wants_json(argc, argv); /* for errors among the options */
	keep_command_line(d, argc, argv);
	err = spread_files(&d->spread, argc, argv);
	if (!err)
		err = opts_parse(&diff_opts, d->spread.n, d->spread.argv, d, &rest);
	if (!err)
		err = take_args(d, &rest);
	if (err < 0)
		find_forms(d, argc, argv);
	return err;
}

void diff_options_free(struct diff_command *d)
{
	while (d->nrules)
		free(d->rules[--d->nrules]);
	while (d->naliases)
		free((char *)d->aliases[--d->naliases].old);
	free(d->spread.argv);
	free(d->spread.text);
}
