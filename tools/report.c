// SPDX-License-Identifier: GPL-2.0-only
/* report.c - `kdefer report`: a whole capture in one page. */
#include <errno.h>
#include <stdlib.h>

#include "commands.h"
#include "common.h"
#include "doc.h"
#include "log.h"
#include "replay.h"
#include "view_report.h"

#ifndef KDEFER_VERSION
#define KDEFER_VERSION "unknown"
#endif

#define TOP 10
#define TOP_JSON 100

struct report_command {
	struct common common; /* first: see common.h */
	bool markdown;
	/* at work: */
	struct model model;
	struct output out;
	struct capture_end end;
	struct kd_rec_self before; /* what recording had cost when it began */
};

static const struct opt report_options[] = {
	{ .name = "top",
	  .type = OPT_U64,
	  .value = "N",
	  .help = "how many keys and worst waits (default 10)",
	  .offset = offsetof(struct report_command, common.top),
	  .min = 1,
	  .max = 1000 },
	{ .name = "json",
	  .type = OPT_FLAG,
	  .help = "one JSON document",
	  .offset = offsetof(struct report_command, common.json) },
	{ .name = "markdown",
	  .type = OPT_FLAG,
	  .help = "Markdown, e.g. for a comment on a pull request",
	  .offset = offsetof(struct report_command, markdown) },
	{ 0 },
};

static const struct opt *const tables[] = { source_options, report_options, NULL };

static const struct opts_command report_opts = {
	.name = "report",
	.summary = "Sum up a capture in one page, for a mail or a log.",
	.usage = "FILE [-s SOURCES] [--top N] [--json | --markdown]",
	.tables = tables,
	.max_args = 1,
};

static int put_document(const struct report_command *c, const struct report *r, FILE *out,
			const char *error)
{
	const struct model *m = &c->model;
	struct json j;
	int err = 0;

	json_init(&j, out, true);
	doc_open(&j, report_opts.name);
	if (error)
		doc_error(&j, error);
	doc_host(&j, m);
	doc_clock(&j, m, r->scope);
	doc_labels(&j, m);
	doc_plan(&j, m, r->scope);
	doc_metrics(&j, m, r->scope, r->metrics, r->n);
	doc_flushes(&j, m, r->scope, NULL, 0);
	doc_report(&j, r);
	if (scope_arms(m, r->scope)) {
		doc_holdups(&j, m, r->scope, NULL);
		err = doc_holdup_summary(&j, m, r->scope);
	}
	doc_lost(&j, m, r->scope);
	doc_counts(&j, m, r->scope);
	doc_self(&j, m, r->scope, &c->before);
	doc_events(&j, m, r->scope);
	doc_runs(&j, m);
	json_close(&j);
	json_end(&j);
	return err;
}

/* Text on a terminal may be wider than in a mail, and is no more useful for it. */
static int put(const struct report_command *c, const struct report *r, FILE *out, const char *error)
{
	struct sheet s;
	int err;

	if (c->common.json) {
		err = put_document(c, r, out, error);
	} else {
		sheet_init(&s, out, c->markdown, SHEET_WIDTH);
		err = view_report(&s, r);
	}
	return err ? log_err(err, "out of memory") : 0;
}

static int show(struct report_command *c, const char *error)
{
	const struct scope sc = common_scope(&c->common, false);
	const struct query q = common_query(&c->common, false, c->common.json ? TOP_JSON : 0);
	struct report r = {
		.model = &c->model,
		.scope = &sc,
		.top = c->common.top ? (size_t)c->common.top : TOP,
		.file = c->common.input,
		.cut = c->end.why,
		.version = KDEFER_VERSION,
		.before = &c->before,
	};
	struct metric *metrics;
	FILE *out;
	int err;

	if (model_metrics(&c->model, &q, &metrics, &r.n))
		return log_err(-ENOMEM, "out of memory");
	r.metrics = metrics;
	out = output_begin(&c->out);
	err = out ? put(c, &r, out, error) : c->out.err;
	if (out && output_end(&c->out))
		err = c->out.err;
	free(metrics);
	return err;
}

static int take(void *ctx, const struct kd_rec *rec)
{
	struct report_command *c = ctx;
	bool started = c->model.started;
	int err = model_record(&c->model, rec);

	if (!started)
		c->before = c->model.self;
	return err;
}

static int report(struct report_command *c)
{
	const struct scope sc = common_scope(&c->common, false);
	int err = replay_to(&c->common, take, c, &c->end);

	if (err)
		return common_fail(&c->out, report_opts.name, c->common.json, EXIT_FAILED);
	if (!scope_measured(&c->model, &sc)) {
		log_err(-ENODEV, "%s: nothing that was asked for was measured there",
			c->common.input);
		show(c, log_last_error());
		return EXIT_NOTHING;
	}
	err = show(c, NULL);
	return err && err != -EPIPE ? EXIT_FAILED : EXIT_DONE;
}

static int report_run(int argc, char **argv)
{
	struct report_command c = { 0 };
	bool json = wants_json(argc, argv);
	struct opts_rest rest;
	int err, code;

	common_init(&c.common);
	output_init(&c.out);
	err = opts_parse(&report_opts, argc, argv, &c, &rest);
	if (err > 0)
		return EXIT_DONE;
	if (!err && !rest.nargs)
		err = log_err(-EINVAL, "report: a capture is needed: kdefer report FILE");
	if (!err && c.markdown && c.common.json)
		err = log_err(-EINVAL, "report: --json and --markdown exclude each other");
	if (err)
		return common_fail(&c.out, report_opts.name, json, EXIT_USAGE);
	c.common.input = rest.args[0];
	common_want_holdups(&c.common);
	model_init(&c.model);
	code = report(&c);
	model_free(&c.model);
	return code;
}

const struct command command_report = { &report_opts, report_run };
