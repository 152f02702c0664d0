// SPDX-License-Identifier: GPL-2.0-only
/* diff.c - `kdefer diff`: whether one kernel is worse than another, from captures of both. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "common.h"
#include "diff.h"
#include "doc.h"
#include "log.h"
#include "output.h"
#include "samples.h"
#include "text.h"

#define FILES_MAX 1024
#define RULES_MAX 256
#define NAMES_MAX 64
#define TEXT_PIPED 72
#define BISECT_BAD 1
#define RED_SHUFFLES_MAX 3 /* of 20 at 5%: more happen once in 60 times */

struct strings {
	const char *s[FILES_MAX];
	size_t n;
};

enum undecided { UNDECIDED_FOUR, UNDECIDED_PASS, UNDECIDED_FAIL };

struct diff_command {
	struct strings side[SIDE_COUNT];
	struct rule *rules[RULES_MAX];
	size_t nrules;
	struct sample_alias aliases[NAMES_MAX];
	size_t naliases;
	const char *varies[NAMES_MAX];
	size_t nvaries;
	double boot_noise, min_change;
	uint8_t inconclusive, no_base; /* enum undecided */
	bool bisect, warn_only, selftest, full, json, markdown, junit;
	const char *status;
	/* at work: */
	struct output out;
	char command_line[2048];
};

/* --- options --- */

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

static const struct opts_command diff_opts = {
	.name = "diff",
	.summary = "Compare captures of two kernels: what is worse, beyond the noise.",
	.usage = "[--fail-on RULE]... [--json | --markdown | --junit] "
		 "BASE NEW | AB_CAPTURE | --base FILE... --new FILE...",
	.tables = tables,
	.max_args = 2,
};

/* "--base a b c" as "--base=a --base=b --base=c", so that a shell's wildcards can be used. */
struct spread {
	char **argv;
	char *text; /* what had to be written anew */
	size_t used;
	int n;
};

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

/* --- how it ends --- */

static int exit_of_verdict(const struct diff_command *d, const struct diff *report)
{
	static const int of_undecided[] = { [UNDECIDED_FOUR] = EXIT_INCONCLUSIVE,
					    [UNDECIDED_PASS] = EXIT_DONE,
					    [UNDECIDED_FAIL] = EXIT_REGRESSION };
	enum verdict v = diff_verdict(report);

	if (diff_no_match(report))
		return EXIT_FAILED;
	if (v == VERDICT_NOT_COMPARABLE)
		return EXIT_INCOMPARABLE;
	if (v == VERDICT_REGRESS)
		return EXIT_REGRESSION;
	/* Of totals nothing was asked, so that not to know is no failure. */
	return v == VERDICT_INCONCLUSIVE && d->nrules ? of_undecided[d->inconclusive] : EXIT_DONE;
}

static bool selftest_failed(const struct selftest *s)
{
	return s->done && (!(s->slowdown > 0) || s->red > RED_SHUFFLES_MAX);
}

static int final_exit(const struct diff_command *d, const struct diff *report)
{
	int code = exit_of_verdict(d, report);

	if (selftest_failed(&report->selftest) && code != EXIT_REGRESSION)
		code = EXIT_FAILED;
	if (d->bisect) {
		if (code == EXIT_REGRESSION)
			return BISECT_BAD;
		return code == EXIT_DONE && diff_verdict(report) != VERDICT_INCONCLUSIVE
			       ? EXIT_DONE
			       : EXIT_UNWATCHED;
	}
	if (d->warn_only && (code == EXIT_REGRESSION || code == EXIT_INCONCLUSIVE))
		return EXIT_DONE;
	return code;
}

/* Written whole or not at all: nobody reads half of it, or that of the time before. */
/* A device, a pipe or a link is written through, never replaced. */
static int write_status(const char *path, const char *verdict, int code)
{
	struct stat st;
	bool through = !lstat(path, &st) && !S_ISREG(st.st_mode);
	char *part;
	FILE *f;
	int err;

	if (asprintf(&part, "%s%s", path, through ? "" : ".part") < 0)
		return log_err(-ENOMEM, "out of memory");
	f = fopen(part, "we");
	err = f ? 0 : -errno;
	if (f && fprintf(f, "verdict=%s\nexit=%d\n", verdict, code) < 0)
		err = -errno;
	if (f && fclose(f))
		err = -errno;
	if (!err && !through && rename(part, path))
		err = -errno;
	if (err && f && !through)
		unlink(part);
	free(part);
	return err ? log_err(err, "%s: cannot write: %s", path, strerror(-err)) : 0;
}

/* Ends without a comparison. */
static int fail(struct diff_command *d, const char *verdict, int code)
{
	if (d->bisect && code)
		code = EXIT_UNWATCHED;
	if (d->status && write_status(d->status, verdict, code) && !code)
		code = EXIT_FAILED;
	return code ? common_fail(&d->out, diff_opts.name, d->json, code) : code;
}

/* --- the command --- */

static size_t width_of_text(void)
{
	size_t width = output_width();

	if (!isatty(STDOUT_FILENO))
		return TEXT_PIPED;
	return width;
}

static int show(struct diff_command *d, const struct diff *report)
{
	FILE *out = output_begin(&d->out);
	int err, written;

	if (!out)
		return d->out.err;
	if (d->json)
		err = doc_diff(out, report);
	else if (d->markdown)
		err = view_diff_markdown(out, report);
	else if (d->junit)
		err = view_diff_junit(out, report);
	else
		err = view_diff(out, report, width_of_text());
	written = output_end(&d->out);
	if (err)
		return log_err(err, "cannot make the report: %s", strerror(-err));
	return written == -EPIPE ? 0 : written;
}

static const char *verdict_word(const struct diff *report)
{
	return diff_no_match(report) ? "error" : verdict_name(diff_verdict(report));
}

static void say_what_fails(const struct diff *report)
{
	size_t i;

	for (i = 0; i < report->nrules; i++)
		if (report->results[i].outcome == OUTCOME_NO_MATCH)
			log_err(-EINVAL, "diff: --fail-on '%s' %s: nothing was judged by it",
				report->rules[i]->text, report->results[i].why);
	if (selftest_failed(&report->selftest))
		log_err(-EINVAL, "diff: the self-test failed: %s",
			report->selftest.slowdown > 0 ? "shuffled labels turn the gate red"
						      : "no slowdown turns the gate red");
}

static int report(struct diff_command *d, struct samples *t, const struct comparison *c,
		  const struct selftest *selftest)
{
	struct rule_result *results = calloc(d->nrules + 1, sizeof(*results));
	struct diff r = { .t = t,
			  .c = c,
			  .rules = (const struct rule *const *)d->rules,
			  .results = results,
			  .nrules = d->nrules,
			  .selftest = *selftest,
			  .command_line = d->command_line,
			  .full = d->full };
	int code, unshown;

	if (!results) {
		log_err(-ENOMEM, "out of memory");
		return fail(d, "error", EXIT_FAILED);
	}
	rules_judge(c, r.rules, r.nrules, results);
	code = r.exit = final_exit(d, &r);
	say_what_fails(&r);
	unshown = show(d, &r);
	if (unshown && !code)
		code = d->bisect ? EXIT_UNWATCHED : EXIT_FAILED;
	if (d->status && write_status(d->status, unshown ? "error" : verdict_word(&r), code))
		code = d->bisect ? EXIT_UNWATCHED : code ? code : EXIT_FAILED;
	free(results);
	return code;
}

static bool has_runs(const struct samples *t, enum sample_side side)
{
	size_t i;

	for (i = 0; i < t->nruns; i++)
		if (t->runs[i].side == side)
			return true;
	return false;
}

static int compare_sides(struct diff_command *d, struct samples *t)
{
	const struct compare_conf conf = { .alpha = COMPARE_ALPHA,
					   .min_change = d->min_change,
					   .boot_noise = d->boot_noise,
					   .varies = d->varies,
					   .nvaries = d->nvaries };
	struct selftest selftest = { 0 };
	struct comparison c;
	int code;

	if (!has_runs(t, SIDE_BASE) || !has_runs(t, SIDE_NEW)) {
		log_err(-ENODATA, "diff: %s holds no whole run: there is nothing to compare",
			has_runs(t, SIDE_BASE) ? "new" : "base");
		return fail(d, "error", EXIT_FAILED);
	}
	if (compare(&c, t, &conf))
		return fail(d, "error", EXIT_FAILED);
	if (d->selftest &&
	    selftest_run(&selftest, t, &conf, (const struct rule *const *)d->rules, d->nrules)) {
		compare_free(&c);
		return fail(d, "error", EXIT_FAILED);
	}
	code = report(d, t, &c, &selftest);
	compare_free(&c);
	return code;
}

static bool is_missing(const char *path)
{
	return access(path, F_OK) && errno == ENOENT;
}

/*
 * The base of a first job is not there yet. Only then --no-base speaks; what is broken, or was cut off
 * as FILE.part, is an error.
 */
static bool base_is_missing(const struct diff_command *d)
{
	char part[4096];
	size_t i;

	for (i = 0; i < d->side[SIDE_BASE].n; i++) {
		snprintf(part, sizeof(part), "%s.part", d->side[SIDE_BASE].s[i]);
		if (!is_missing(d->side[SIDE_BASE].s[i]) || !is_missing(part))
			return false;
	}
	return true;
}

static int put_no_base(struct diff_command *d)
{
	FILE *out = output_begin(&d->out);
	struct json j;

	if (!out)
		return EXIT_FAILED;
	json_init(&j, out, true);
	doc_open(&j, diff_opts.name);
	json_kstr(&j, "verdict", "no_base");
	json_ku64(&j, "exit", EXIT_DONE);
	json_close(&j);
	json_end(&j);
	return output_end(&d->out) ? EXIT_FAILED : EXIT_DONE;
}

static int without_base(struct diff_command *d)
{
	if (d->no_base == UNDECIDED_PASS) {
		log_warn("diff: there is no base (%s): nothing was compared",
			 d->side[SIDE_BASE].s[0]);
		if (d->json && put_no_base(d))
			return EXIT_FAILED;
		/* Neither good nor bad: of that a bisection can make nothing. */
		return fail(d, "no_base", d->bisect ? EXIT_UNWATCHED : EXIT_DONE);
	}
	log_err(-ENOENT, "diff: there is no base (%s): nothing can be compared",
		d->side[SIDE_BASE].s[0]);
	return fail(d, "no_base", EXIT_FAILED);
}

static int read_all(struct diff_command *d, struct samples *t)
{
	bool alone = !d->side[SIDE_NEW].n;
	unsigned int side;
	size_t i;
	int err = 0;

	for (side = 0; side < SIDE_COUNT; side++)
		for (i = 0; !err && i < d->side[side].n; i++)
			err = samples_read(t, d->side[side].s[i], alone ? SIDE_COUNT : side);
	return err;
}

static int diff(struct diff_command *d)
{
	struct samples t;
	int code;

	if (d->no_base != UNDECIDED_FOUR && base_is_missing(d))
		return without_base(d);
	samples_init(&t);
	t.aliases = d->aliases;
	t.naliases = d->naliases;
	code = read_all(d, &t) ? fail(d, "error", EXIT_FAILED) : compare_sides(d, &t);
	samples_free(&t);
	return code;
}

static int diff_run(int argc, char **argv)
{
	struct diff_command d = { .boot_noise = COMPARE_BOOT_NOISE,
				  .min_change = COMPARE_MIN_CHANGE };
	struct spread spread = { 0 };
	struct opts_rest rest;
	int err, code;

	output_init(&d.out);
	d.json = wants_json(argc, argv); /* for errors among the options */
	keep_command_line(&d, argc, argv);
	err = spread_files(&spread, argc, argv);
	if (!err)
		err = opts_parse(&diff_opts, spread.n, spread.argv, &d, &rest);
	if (err > 0)
		code = EXIT_DONE;
	else if (err || take_args(&d, &rest))
		code = fail(&d, "error", EXIT_USAGE);
	else
		code = diff(&d);
	while (d.nrules)
		free(d.rules[--d.nrules]);
	while (d.naliases)
		free((char *)d.aliases[--d.naliases].old);
	free(spread.argv);
	free(spread.text);
	return code;
}

const struct command command_diff = { &diff_opts, diff_run };
