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
#include "diff_options.h"
#include "doc.h"
#include "log.h"
#include "output.h"
#include "samples.h"

#define TEXT_PIPED 72
#define BISECT_BAD 1
#define RED_SHUFFLES_MAX 3 /* of 20 at 5%: more happen once in 60 times */

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

/* Where there is no comparison, what takes its place in the form that was asked for. 0 or a failure. */
static int put_word(struct diff_command *d, const char *verdict, int code, const char *why)
{
	bool markup = d->junit != d->markdown; /* with both it is not known which */
	FILE *out = d->json || markup ? output_begin(&d->out) : NULL;

	if (!out)
		return d->out.err;
	if (d->json)
		doc_diff_word(out, verdict, code, why);
	else if (d->junit)
		view_diff_junit_word(out, why, code != EXIT_DONE);
	else
		view_diff_markdown_word(out, verdict, why);
	return output_end(&d->out);
}

/* Ends without a comparison. */
static int end_without(struct diff_command *d, const char *verdict, int code, const char *why)
{
	int err;

	if (d->bisect && code)
		code = EXIT_UNWATCHED;
	err = put_word(d, verdict, code, why);
	if (err && err != -EPIPE && !code)
		code = EXIT_FAILED;
	if (d->status && write_status(d->status, verdict, code) && !code)
		code = EXIT_FAILED;
	return code;
}

/* After what was logged. */
static int fail(struct diff_command *d, const char *verdict, int code)
{
	char why[1024];

	snprintf(why, sizeof(why), "%s", log_last_error());
	return end_without(d, verdict, code, why);
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

static int without_base(struct diff_command *d)
{
	char why[1024];

	if (d->no_base != UNDECIDED_PASS) {
		log_err(-ENOENT, "diff: there is no base (%s): nothing can be compared",
			d->side[SIDE_BASE].s[0]);
		return fail(d, "no_base", EXIT_FAILED);
	}
	snprintf(why, sizeof(why), "there is no base (%s): nothing was compared",
		 d->side[SIDE_BASE].s[0]);
	log_warn("diff: %s", why);
	/* Neither good nor bad: of that a bisection can make nothing. */
	return end_without(d, "no_base", d->bisect ? EXIT_UNWATCHED : EXIT_DONE, why);
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
	int err, code;

	output_init(&d.out);
	err = diff_options(&d, argc, argv);
	if (err > 0)
		code = EXIT_DONE;
	else
		code = err ? fail(&d, "error", EXIT_USAGE) : diff(&d);
	diff_options_free(&d);
	return code;
}

const struct command command_diff = { &diff_opts, diff_run };
