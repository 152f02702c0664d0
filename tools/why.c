// SPDX-License-Identifier: GPL-2.0-only
/* why.c - `kdefer why`: explains each wait that is too long, as it comes, live or from a capture. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "catalog.h"
#include "commands.h"
#include "common.h"
#include "doc.h"
#include "format.h"
#include "log.h"
#include "output.h"
#include "show.h"
#include "view_why.h"
#include "watch.h"

#ifndef KDEFER_VERSION
#define KDEFER_VERSION "unknown"
#endif

#define MS 1000000ULL
#define TICK_NS (250 * MS) /* a report is shown this long after its wait's end at most */

struct why_command {
	struct common common; /* first: see common.h */
	uint64_t duration_ns, count;
	struct report_filter filter[FILTERS_MAX];
	size_t nfilters;
	/* at work: */
	char command_line[2048];
	struct show show;
	struct watch watch;
	uint64_t told;
	bool has_head;
};

static int parse_reports(void *command, const char *text)
{
	struct why_command *c = command;
	const char *equals = strchr(text, '=');
	struct report_filter f;
	char name[16];

	if (!equals || equals == text || !equals[1])
		return log_err(-EINVAL,
			       "--filter: \"%s\" is no KEY=GLOB; use e.g. cause=long_reader", text);
	snprintf(name, sizeof(name), "%.*s", (int)(equals - text), text);
	if (report_key_by_name(name, &f.key))
		return log_err(-EINVAL, "--filter: reports have no key \"%s\"; known: %s", name,
			       report_key_list());
	if (c->nfilters == FILTERS_MAX)
		return log_err(-EINVAL, "--filter: more than %d of them", FILTERS_MAX);
	f.glob = equals + 1;
	c->filter[c->nfilters++] = f;
	return 0;
}

static const struct opt why_options[] = {
	{ .name = "duration",
	  .letter = 'd',
	  .type = OPT_TIME,
	  .value = "TIME",
	  .help = "how long to watch (default: until Ctrl-C)",
	  .offset = offsetof(struct why_command, duration_ns),
	  .min = MS },
	{ .name = "count",
	  .letter = 'n',
	  .type = OPT_U64,
	  .value = "COUNT",
	  .help = "end after so many reports",
	  .offset = offsetof(struct why_command, count),
	  .min = 1 },
	{ .name = "filter",
	  .type = OPT_CALL,
	  .value = "KEY=GLOB",
	  .help = "show only reports that match; keys: cause, comm, pid, cpu, cgroup, func, "
		  "flavour",
	  .call = parse_reports },
	{ 0 },
};

static const struct opt *const tables[] = {
	source_options, over_options, why_options, output_options, measure_options, NULL,
};

static const struct opts_command why_opts = {
	.name = "why",
	.summary = "Explain waits that are too long: cause, who, evidence.",
	.usage = "[-s SOURCES] [--over LIMITS] [-d TIME] [-n COUNT] [--filter KEY=GLOB] "
		 "[--json | --ndjson] [--input FILE [--follow]]",
	.tables = tables,
};

/* --- showing --- */

static struct scope scope_of(const struct why_command *c)
{
	struct scope sc = common_scope(&c->common, false);

	sc.reports = c->filter;
	sc.nreports = c->nfilters;
	return sc;
}

static int put_document(const struct show *s, FILE *out, const struct holdup *one,
			const char *error)
{
	const struct why_command *c = s->ctx;
	const struct scope sc = scope_of(c);
	const struct model *m = &s->model;
	struct json j;
	int err = 0;

	json_init(&j, out, c->common.json);
	doc_open(&j, why_opts.name);
	if (error)
		doc_error(&j, error);
	doc_host(&j, m);
	doc_clock(&j, m, &sc);
	doc_labels(&j, m);
	doc_plan(&j, m, &sc);
	if (one || c->common.json)
		doc_holdups(&j, m, &sc, one);
	if (!one)
		err = doc_holdup_summary(&j, m, &sc);
	doc_lost(&j, m, &sc);
	doc_self(&j, m, &sc, NULL);
	if (!one)
		doc_events(&j, m, &sc);
	json_close(&j);
	return err ? log_err(err, "out of memory") : json_end(&j);
}

static int put_end_document(const struct show *s, FILE *out, bool interval, const char *error)
{
	(void)interval;
	return put_document(s, out, NULL, error);
}

static void put_head(struct why_command *c, struct sheet *sheet)
{
	const struct scope sc = scope_of(c);
	const struct why_head head = {
		.model = &c->show.model,
		.scope = &sc,
		.version = KDEFER_VERSION,
		.command_line = c->command_line,
		.file = c->common.input,
	};

	view_why_head(sheet, &head);
	c->has_head = true;
}

/* What stands above was written in a piece of its own. */
static void begin_sheet(struct why_command *c, struct sheet *sheet, FILE *out)
{
	sheet_init(sheet, out, false, SHEET_WIDTH);
	sheet->begun = c->has_head;
	if (!c->has_head)
		put_head(c, sheet);
}

static int put_text(const struct show *s, FILE *out, bool interval)
{
	struct why_command *c = s->ctx;
	const struct scope sc = scope_of(c);
	struct sheet sheet;
	int err;

	(void)interval;
	begin_sheet(c, &sheet, out);
	err = view_why_summary(&sheet, &s->model, &sc);
	return err ? log_err(err, "out of memory") : 0;
}

static int put_piece(struct why_command *c, const struct holdup *h)
{
	FILE *out = output_begin(&c->show.out);
	struct sheet sheet;
	int err = 0, written;

	if (!out)
		return c->show.out.err;
	if (c->common.ndjson) {
		err = put_document(&c->show, out, h, NULL);
	} else {
		begin_sheet(c, &sheet, out);
		if (h)
			view_why_report(&sheet, &c->show.model, h);
	}
	written = output_end(&c->show.out);
	return err ? err : written;
}

static int on_holdup(void *ctx, const struct model *m, const struct holdup *h)
{
	struct show *s = ctx;
	struct why_command *c = s->ctx;
	const struct scope sc = scope_of(c);

	if (!scope_has_holdup(m, &sc, h))
		return 0;
	if (c->count && c->told == c->count) { /* it came before the watch had ended */
		holdups_drop_newest(&c->show.model.holdups);
		return 0;
	}
	c->told++;
	if (c->told == c->count)
		c->watch.enough = true;
	return c->common.json ? 0 : put_piece(c, h);
}

/* --- live --- */

/* What is watched stands there before anything happens: that may take hours. */
static void ready(const struct show *s, struct watch *w)
{
	struct why_command *c = s->ctx;
	char time[FMT_LEN];

	if (!show_wants_document(s))
		put_piece(c, NULL);
	if (!isatty(STDERR_FILENO))
		return;
	if (w->duration_ns)
		log_info("watching for %s; Ctrl-C ends it sooner",
			 fmt_ns(time, sizeof(time), w->duration_ns));
	else
		log_info("watching; Ctrl-C ends it");
}

static int live(struct why_command *c)
{
	struct session *session = NULL;
	struct session_conf conf;
	struct stream s;
	int err;

	c->watch.duration_ns = c->duration_ns;
	c->watch.interval_ns = TICK_NS;
	common_conf(&c->common, &conf);
	limits_apply(&c->common.over, &conf);
	conf.before_attach = watch_started;
	conf.stopped = watch_signalled;
	stream_init(&s, show_record, &c->show);
	watch_starting(NULL);
	err = limits_emit(&c->common.over, &s);
	if (!err)
		err = show_live(&c->show, &conf, &s, &session, &c->watch, ready);
	stream_say_missing(&s, NULL);
	session_close(session);
	if (err == -EINTR)
		return 128 + watch_signalled();
	return err == -ENODEV ? EXIT_NOTHING : show_code(err);
}

/* --- the command --- */

static int check(struct why_command *c)
{
	struct common *common = &c->common;

	if (common_check(common, why_opts.name))
		return -EINVAL;
	if (common->budget > 0)
		log_warn(
			"why: --budget: runs of programs that look at waits are not counted, so it is not "
			"watched");
	if (common->input && (common->over.given || c->duration_ns))
		return log_err(-EINVAL, "%s: --input shows a capture, for which %s means nothing",
			       why_opts.name, c->duration_ns ? "--duration" : "--over");
	return common_choose_holdups(common, why_opts.name);
}

static int why_run(int argc, char **argv)
{
	static struct why_command c;
	bool json = wants_json(argc, argv);
	struct opts_rest rest;
	int err, code;

	common_init(&c.common);
	common_line(c.command_line, sizeof(c.command_line), argc,
		    argv); /* parsing moves arguments */
	c.show = (struct show){
		.common = &c.common,
		.command = why_opts.name,
		.document = put_end_document,
		.text = put_text,
		.ctx = &c,
	};
	show_init(&c.show);
	c.show.model.on_holdup = on_holdup;
	err = opts_parse(&why_opts, argc, argv, &c, &rest);
	if (err > 0)
		return EXIT_DONE;
	if (err || check(&c))
		return common_fail(&c.show.out, why_opts.name, json, EXIT_USAGE);
	if (c.common.input) {
		const struct scope sc = scope_of(&c);

		code = show_capture(&c.show, &sc, NULL);
	} else {
		code = live(&c);
	}
	show_free(&c.show);
	return code;
}

const struct command command_why = { &why_opts, why_run };
