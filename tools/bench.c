// SPDX-License-Identifier: GPL-2.0-only
/* bench.c - `kdefer bench`: loads that make the kernel put things off, and what they measure. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bench.h"
#include "bench_guard.h"
#include "bpf_util.h"
#include "child.h"
#include "commands.h"
#include "common.h"
#include "doc.h"
#include "format.h"
#include "host.h"
#include "kernel.h"
#include "log.h"
#include "text.h"
#include "watch.h"

struct bench_command {
	struct common common; /* first: see common.h */
	bool list, metrics;
	const struct bench_load *load;
	void *options; /* of the load */
	struct bench_result result;
	struct model model; /* host and clock */
	struct output out;
	bool shows_progress;
	int status; /* of the load: 0 or a negative errno */
};

static const char *load_names(void)
{
	static char names[512];

	*names = '\0';
	for (size_t i = 0; bench_loads[i]; i++)
		text_append(names, sizeof(names), "%s%s", i ? ", " : "(", bench_loads[i]->name);
	text_append(names, sizeof(names), ")");
	return names;
}

#define GENERAL(member) .offset = offsetof(struct bench_command, member)
#define COMMON(member) .offset = offsetof(struct common, member)

static const struct opt list_options[] = {
	{ .name = "list",
	  .type = OPT_FLAG,
	  .help = "say what each load is; NAME --help says more",
	  .help_list = load_names,
	  GENERAL(list) },
	{ 0 },
};

/* These stand beside the options of a load, which go elsewhere: opts.h knows one place, so by call. */
static struct bench_command command;

static int set_flag(void *into, const char *value)
{
	(void)value;
	(void)into;
	return 0;
}

static int set_json(void *into, const char *value)
{
	command.common.json = true;
	return set_flag(into, value);
}

static int set_ndjson(void *into, const char *value)
{
	command.common.ndjson = true;
	return set_flag(into, value);
}

static int set_metrics(void *into, const char *value)
{
	command.metrics = true;
	return set_flag(into, value);
}

static const struct opt shown_options[] = {
	{ .name = "json", .type = OPT_CALL, .help = "one JSON document", .call = set_json },
	{ .name = "ndjson",
	  .type = OPT_CALL,
	  .help = "the same document on one line",
	  .call = set_ndjson },
	{ .name = "metrics",
	  .type = OPT_CALL,
	  .help = "figures as lines for kdefer record too (of itself in a command it runs)",
	  .call = set_metrics },
	{ 0 },
};

static const struct opt *const tables[] = { list_options, shown_options, NULL };

static const struct opts_command bench_opts = {
	.name = "bench",
	.summary = "Run a load that makes the kernel put things off, and measure it.",
	.usage = "[--list] [NAME [OPTIONS OF THE LOAD] [--metrics] [--json | --ndjson]]",
	.tables = tables,
	.max_args = 1,
};

/* --- what is shown --- */

static bool is_document(const struct bench_command *b)
{
	return b->common.json || b->common.ndjson;
}

/* Host and clock as in any other document. */
static int look_at_host(struct bench_command *b)
{
	struct kernel k;
	struct stream s;
	int err;

	kernel_probe_host(&k);
	stream_init(&s, model_record, &b->model);
	err = host_emit(&k, &s);
	kernel_free(&k);
	return err;
}

static int put_document(struct bench_command *b, FILE *out)
{
	const struct scope sc = common_scope(&b->common, false);
	struct json j;

	json_init(&j, out, b->common.json);
	doc_open(&j, bench_opts.name);
	if (b->status)
		doc_error(&j, b->status == -EINTR ? "ended by a signal: what is here was "
						    "measured before"
						  : log_last_error());
	doc_host(&j, &b->model);
	doc_clock(&j, &b->model, &sc);
	doc_bench(&j, b->load, &b->result);
	json_close(&j);
	return json_end(&j);
}

static void put_text(const struct bench_command *b, FILE *out)
{
	struct utsname u = { 0 };

	uname(&u);
	fprintf(out, "%s on %s, %ld CPUs\n", b->load->name, u.release,
		sysconf(_SC_NPROCESSORS_ONLN));
	view_bench(out, b->load, &b->result, output_width());
	if (b->status == -EINTR)
		fputs("ended by a signal: what is above was measured before\n", out);
	if (b->metrics)
		view_bench_metrics(out, b->load, &b->result);
}

static int show(struct bench_command *b)
{
	FILE *out;
	int err;

	if (b->result.err)
		return log_err(b->result.err, "out of memory");
	out = output_begin(&b->out);
	if (!out)
		return -EIO;
	if (is_document(b))
		put_document(b, out);
	else
		put_text(b, out);
	err = output_end(&b->out);
	return err == -EPIPE ? 0 : err;
}

/* --- running a load --- */

/* A line that is written over; whole seconds, so that it does not flicker. */
static void progress(void *ctx, const char *what, uint64_t done_ns, uint64_t of_ns)
{
	struct bench_command *b = ctx;
	char of[FMT_LEN], line[80];

	snprintf(line, sizeof(line), "%s %s: %llu s", b->load->name, what,
		 (unsigned long long)(done_ns / 1000000000));
	if (of_ns)
		text_append(line, sizeof(line), " of %s", fmt_ns(of, sizeof(of), of_ns));
	fprintf(stderr, "\r%-70s", line);
	fflush(stderr);
	b->shows_progress = true;
}

static void clear_progress(struct bench_command *b)
{
	if (b->shows_progress)
		fprintf(stderr, "\r%70s\r", "");
	b->shows_progress = false;
}

static bool can_show_progress(void)
{
	const char *term = getenv("TERM");

	return isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb");
}

static int run_load(struct bench_command *b)
{
	struct bench_guard guard;
	struct bench_run run = {
		.result = &b->result,
		.guard = &guard,
		.progress = can_show_progress() ? progress : NULL,
		.ctx = b,
	};
	struct stream s;
	int err = bench_guard_start(&guard);

	if (err)
		return err;
	bpf_util_quiet();
	stream_init(&s, model_record, &b->model);
	host_emit_clock(&s);
	err = b->load->run(&run, b->options);
	clear_progress(b);
	bench_guard_end(&guard);
	return err;
}

static int code_of(int err)
{
	switch (err) {
	case 0:
		return EXIT_DONE;
	case -EINTR:
		return 128 + watch_signalled();
	case -ENODEV:
		return EXIT_NOTHING;
	default:
		return EXIT_FAILED;
	}
}

/* What there is is shown, also where a part of it could not be had. */
static int measure(struct bench_command *b)
{
	int err = run_load(b), shown;

	b->status = err;
	if (!b->result.nrows && err == -EINTR)
		log_err(err, "bench: ended by a signal before anything was measured");
	if (!b->result.nrows && err)
		return common_fail(&b->out, bench_opts.name, is_document(b), code_of(err));
	if (is_document(b))
		look_at_host(b);
	shown = show(b);
	return shown ? EXIT_FAILED : code_of(err);
}

/* --- the command --- */

static int put_list(struct bench_command *b)
{
	FILE *out = output_begin(&b->out);
	struct json j;

	if (!out)
		return EXIT_FAILED;
	json_init(&j, out, b->common.json);
	if (is_document(b)) {
		doc_open(&j, bench_opts.name);
		json_kopen(&j, "loads", '[');
	}
	for (size_t i = 0; bench_loads[i]; i++) {
		const struct bench_load *l = bench_loads[i];

		if (is_document(b)) {
			json_open(&j, '{');
			json_kstr(&j, "name", l->name);
			json_kstr(&j, "summary", l->summary);
			json_kstr(&j, "does", l->does);
			json_close(&j);
		} else {
			fprintf(out, "%-12s %s\n", l->name, l->summary);
		}
	}
	if (is_document(b)) {
		json_close(&j);
		json_close(&j);
		json_end(&j);
	}
	output_end(&b->out);
	return EXIT_DONE;
}

/* Where among the arguments a load is named; 0: nowhere. */
static int find_load(int argc, char **argv, const struct bench_load **load)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		*load = bench_find(argv[i]);
		if (*load)
			return i;
	}
	return 0;
}

static int check(struct bench_command *b)
{
	if (b->common.json && b->common.ndjson)
		return log_err(-EINVAL, "bench: --json and --ndjson exclude each other");
	if (b->metrics && is_document(b))
		return log_err(-EINVAL, "bench: --metrics are lines of text: without --json and "
					"--ndjson");
	return 0;
}

/* No load is named: the list, or what is wrong. */
static int without_load(struct bench_command *b, int argc, char **argv)
{
	bool json = wants_json(argc, argv);
	struct opts_rest rest;
	int err = opts_parse(&bench_opts, argc, argv, b, &rest);

	if (err > 0)
		return EXIT_DONE;
	if (!err)
		err = check(b);
	if (!err && rest.nargs)
		err = log_err(-EINVAL, "bench: no load \"%s\" (kdefer bench --list shows them)",
			      rest.args[0]);
	else if (!err && !b->list)
		err = log_err(-EINVAL, "bench: which load? (kdefer bench --list shows them)");
	return err ? common_fail(&b->out, bench_opts.name, json, EXIT_USAGE) : put_list(b);
}

static void put_does(const struct bench_load *load)
{
	fputs("\nWhat it does to the machine: ", stdout);
	text_wrap(stdout, load->does, strlen("What it does to the machine: "), 0,
		  TEXT_WIDTH_DEFAULT);
}

/* 0; 1: the help was shown; -EINVAL. */
static int parse_load(struct bench_command *b, int argc, char **argv)
{
	const struct opt *const load_tables[] = { b->load->options, shown_options, NULL };
	char name[64], usage[1024];
	const struct opts_command opts = {
		.name = name,
		.summary = b->load->summary,
		.usage = usage,
		.tables = load_tables,
	};
	struct opts_rest rest;
	int err;

	snprintf(name, sizeof(name), "%s %s", bench_opts.name, b->load->name);
	snprintf(usage, sizeof(usage), "%s [--metrics] [--json | --ndjson]", b->load->usage);
	err = opts_parse(&opts, argc, argv, b->options, &rest);
	if (err > 0)
		put_does(b->load);
	if (!err)
		err = check(b);
	return err || !b->load->check ? err : b->load->check(b->options);
}

/* In a command that `kdefer record` runs, figures are printed without being asked for. */
static void hear_recorder(struct bench_command *b)
{
	if (!getenv(CHILD_METRICS_ENV))
		return;
	if (is_document(b))
		log_warn("bench: with --json its figures do not become metrics of the recording");
	else
		b->metrics = true;
}

static int with_load(struct bench_command *b, int argc, char **argv)
{
	bool json = wants_json(argc, argv);
	int err;

	b->options = calloc(1, b->load->size);
	if (!b->options) {
		log_err(-ENOMEM, "out of memory");
		return common_fail(&b->out, bench_opts.name, json, EXIT_FAILED);
	}
	b->load->defaults(b->options);
	err = parse_load(b, argc, argv);
	if (err > 0)
		return EXIT_DONE;
	if (err)
		return common_fail(&b->out, bench_opts.name, json, EXIT_USAGE);
	hear_recorder(b);
	return measure(b);
}

static int bench_run(int argc, char **argv)
{
	struct bench_command *b = &command;
	int at, code;

	common_init(&b->common);
	output_init(&b->out);
	model_init(&b->model);
	bench_result_init(&b->result);
	at = find_load(argc, argv, &b->load);
	if (at) {
		memmove(argv + at, argv + at + 1, (size_t)(argc - at) * sizeof(*argv));
		code = with_load(b, argc - 1, argv);
	} else {
		code = without_load(b, argc, argv);
	}
	bench_result_free(&b->result);
	model_free(&b->model);
	if (b->options && b->load->release)
		b->load->release(b->options);
	free(b->options);
	return code;
}

const struct command command_bench = { &bench_opts, bench_run };
