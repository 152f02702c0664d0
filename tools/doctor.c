// SPDX-License-Identifier: GPL-2.0-only
/* doctor.c - `kdefer doctor`: what can be measured here and how; what not, why, what would help. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf_util.h"
#include "catalog.h"
#include "commands.h"
#include "common.h"
#include "doc.h"
#include "explain.h"
#include "facts.h"
#include "host.h"
#include "kernel.h"
#include "log.h"
#include "output.h"
#include "source.h"
#include "view_doctor.h"
#include "watch.h"

struct doctor_command {
	struct common common; /* first: see common.h */
	struct model model;   /* host and plan, as they would be in a capture */
	struct kernel kernel;
	struct plan plan;
	struct facts facts;
	struct doctor_memory memory[KD_SRC_COUNT];
	struct output out;
	bool try;
	const char *explain; /* SOURCE.MEASURE; NULL: not asked for */
};

/* Of the output options those that fit: there are no intervals and no captures of a doctor. */
static const struct opt doctor_options[] = {
	{ .name = "try",
	  .type = OPT_FLAG,
	  .help = "attach each hook for real, one at a time, and detach it",
	  .offset = offsetof(struct doctor_command, try) },
	{ .name = "explain",
	  .type = OPT_STR,
	  .value = "MEASURE",
	  .help = "its hooks, and how to check its number with tracefs (call_rcu.latency)",
	  .offset = offsetof(struct doctor_command, explain) },
	{ .name = "json",
	  .type = OPT_FLAG,
	  .help = "one JSON document",
	  .offset = offsetof(struct common, json) },
	{ .name = "ndjson",
	  .type = OPT_FLAG,
	  .help = "the same document on one line",
	  .offset = offsetof(struct common, ndjson) },
	{ .name = "backends",
	  .type = OPT_CALL,
	  .value = "LIST",
	  .help = "what would be left with these only: tp_btf, fentry, kprobe, state",
	  .offset = offsetof(struct common, want),
	  .call = parse_backends },
	{ .name = "attach-timeout",
	  .type = OPT_TIME,
	  .value = "TIME",
	  .help = "how long --try waits for one hook (default 10s)",
	  .offset = offsetof(struct common, attach_timeout_ns),
	  .min = 10000000 },
	{ 0 },
};

static const struct opt *const tables[] = { source_options, doctor_options, NULL };

static const struct opts_command doctor_opts = {
	.name = "doctor",
	.summary = "Show what can be measured here, what not, and what would help.",
	.usage = "[-s SOURCES] [--try] [--explain MEASURE] [--backends LIST] [--json | --ndjson]",
	.tables = tables,
};

/* --- what is shown --- */

static struct view_doctor view(const struct doctor_command *d)
{
	return (struct view_doctor){
		.model = &d->model,
		.kernel = &d->kernel,
		.facts = &d->facts,
		.memory = d->memory,
		.tried = d->try,
		.width = output_width(),
	};
}

static int put_document(const struct doctor_command *d, FILE *out, const char *error)
{
	const struct scope sc = common_scope(&d->common, false);
	const struct view_doctor v = view(d);
	struct json j;

	json_init(&j, out, d->common.json);
	doc_open(&j, doctor_opts.name);
	if (error)
		doc_error(&j, error);
	doc_host(&j, &d->model);
	doc_plan(&j, &d->model, &sc);
	view_doctor_json(&j, &v);
	json_close(&j);
	return json_end(&j);
}

static void put_text(const struct doctor_command *d, FILE *out)
{
	const struct view_doctor v = view(d);

	if (d->explain)
		explain(out, &d->kernel, &d->plan, explain_fprobe(), v.width);
	else
		view_doctor_text(out, &v);
}

/* --- the command --- */

static void ask_memory(struct doctor_command *d)
{
	for (size_t i = 0; sources[i]; i++)
		if (d->common.want.sources >> sources[i]->id & 1)
			d->memory[sources[i]->id].least += sources[i]->least_bytes(&d->kernel, 0);
}

/* What a measurement would find out by attaching for real. */
static int try_plan(struct doctor_command *d)
{
	uint64_t bytes[KD_SRC_COUNT] = { 0 };
	struct session_conf conf;
	int err;

	common_conf(&d->common, &conf);
	conf.want.measures = d->common.want.measures; /* those that come if asked for, too */
	err = session_try(&conf, &d->kernel, &d->plan, bytes);
	for (unsigned int src = 0; src < KD_SRC_COUNT; src++)
		d->memory[src].taken = bytes[src];
	return err;
}

static int probe(struct doctor_command *d)
{
	int err = plan_probe(&d->kernel, true, d->common.attach_timeout_ns, NULL);

	if (err)
		return err;
	facts_read(&d->facts, &d->kernel);
	ask_memory(d);
	return plan_resolve(&d->plan, &d->kernel, &d->common.want);
}

/* The same records as a measurement begins with, so that plan and host look the same everywhere. */
static int examine(struct doctor_command *d)
{
	struct stream s;
	int err;

	bpf_util_quiet();
	stream_init(&s, model_record, &d->model);
	err = probe(d);
	if (!err && d->try)
		err = try_plan(d);
	if (!err)
		err = host_emit(&d->kernel, &s);
	if (!err)
		err = plan_emit(&d->plan, &s);
	return err ? log_err(err, "cannot look at this kernel: %s", strerror(-err)) : 0;
}

static int show(struct doctor_command *d)
{
	bool document = d->common.json || d->common.ndjson;
	size_t usable = view_doctor_usable(&d->model);
	const char *error = usable ? NULL : "nothing that was asked for can be measured here";
	FILE *out = output_begin(&d->out);
	int err;

	if (!out)
		return EXIT_FAILED;
	if (document)
		put_document(d, out, error);
	else
		put_text(d, out);
	err = output_end(&d->out);
	if (err && err != -EPIPE)
		return EXIT_FAILED;
	return usable || d->explain ? EXIT_DONE : EXIT_NOTHING;
}

/* --explain takes one measure, and stands for -s with it. */
static int check(struct doctor_command *d)
{
	if (common_check(&d->common, doctor_opts.name))
		return -EINVAL;
	if (!d->explain)
		return 0;
	if (!strchr(d->explain, '.') || strchr(d->explain, ','))
		return log_err(-EINVAL,
			       "--explain: \"%s\" is no SOURCE.MEASURE; use e.g. call_rcu.latency",
			       d->explain);
	if (d->common.json || d->common.ndjson)
		return log_err(
			-EINVAL,
			"doctor: --explain is text for a person: without --json and --ndjson");
	return parse_sources(&d->common.want, d->explain);
}

static int doctor_run(int argc, char **argv)
{
	struct doctor_command d = { 0 };
	bool json = wants_json(argc, argv);
	struct opts_rest rest;
	int err, code;

	common_init(&d.common);
	d.common.want.measures |= holdup_measures();
	output_init(&d.out);
	err = opts_parse(&doctor_opts, argc, argv, &d, &rest);
	if (err > 0)
		return EXIT_DONE;
	if (err || check(&d))
		return common_fail(&d.out, doctor_opts.name, json, EXIT_USAGE);
	model_init(&d.model);
	watch_starting(NULL); /* a signal ends it at once: nothing is begun that it has to finish */
	err = examine(&d);
	code = err ? common_fail(&d.out, doctor_opts.name, json, EXIT_FAILED) : show(&d);
	model_free(&d.model);
	plan_free(&d.plan);
	kernel_free(&d.kernel);
	return code;
}

const struct command command_doctor = { &doctor_opts, doctor_run };
