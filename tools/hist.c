// SPDX-License-Identifier: GPL-2.0-only
/* hist.c - `kdefer hist`: how long deferred work waited, live or from a capture. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "common.h"
#include "doc.h"
#include "format.h"
#include "keep.h"
#include "log.h"
#include "output.h"
#include "show.h"
#include "view_hist.h"
#include "watch.h"

#define MS 1000000ULL
#define TICK_NS (1000 * MS)  /* between ticks where no interval was asked for */
#define SYNC_NS (10000 * MS) /* a crash costs a capture no more than this */
#define TOP_TEXT 10          /* what fits beside a histogram on one screen */
#define TOP_JSON 100

struct hist_command {
	struct common common; /* first: see common.h */
	uint64_t duration_ns, interval_ns;
	const char *output;
	bool force;
	/* at work: */
	struct show show;
	struct keep keep;
};

static const struct opt hist_options[] = {
	{ .name = "duration",
	  .letter = 'd',
	  .type = OPT_TIME,
	  .value = "TIME",
	  .help = "how long to measure (default: until Ctrl-C, or the end of COMMAND)",
	  .offset = offsetof(struct hist_command, duration_ns),
	  .min = MS },
	{ .name = "interval",
	  .letter = 'i',
	  .type = OPT_TIME,
	  .value = "TIME",
	  .help = "show each interval by itself (of a capture: its own intervals)",
	  .offset = offsetof(struct hist_command, interval_ns),
	  .min = 10 * MS },
	{ .name = "output",
	  .letter = 'o',
	  .type = OPT_STR,
	  .value = "FILE",
	  .help = "also write a capture, which --input shows again",
	  .offset = offsetof(struct hist_command, output) },
	{ .name = "force",
	  .type = OPT_FLAG,
	  .help = "overwrite the FILE of --output",
	  .offset = offsetof(struct hist_command, force) },
	{ 0 },
};

static const struct opt *const tables[] = {
	source_options, split_options,   hist_options, show_options,
	output_options, measure_options, NULL,
};

static const struct opts_command hist_opts = {
	.name = "hist",
	.summary = "Show how long deferred work waited: histograms, quantiles, keys.",
	.usage = "[-s SOURCES] [--split] [-d TIME] [-i TIME] [--by KEY] [--filter KEY=GLOB] "
		 "[--top N | --full] [--json | --ndjson] [-o FILE] "
		 "[--input FILE [--follow] | -- COMMAND ...]",
	.tables = tables,
	.takes_command = true,
};

/* --- showing --- */

static int put_document(const struct show *s, FILE *out, bool interval, const char *error)
{
	const struct hist_command *h = s->ctx;
	const struct scope sc = common_scope(&h->common, interval);
	const struct query q = common_query(&h->common, interval, TOP_JSON);
	const struct model *m = &s->model;
	struct metric *metrics;
	struct json j;
	size_t n;

	if (model_metrics(m, &q, &metrics, &n))
		return log_err(-ENOMEM, "out of memory");
	json_init(&j, out, h->common.json);
	doc_open(&j, hist_opts.name);
	if (error)
		doc_error(&j, error);
	if (interval)
		json_ku64(&j, "interval", m->ticks);
	doc_host(&j, m);
	doc_clock(&j, m, &sc);
	doc_labels(&j, m);
	doc_plan(&j, m, &sc);
	doc_metrics(&j, m, &sc, metrics, n);
	doc_flushes(&j, m, &sc, h->common.filters.f, h->common.filters.n);
	doc_lost(&j, m, &sc);
	doc_counts(&j, m, &sc);
	doc_self(&j, m, &sc, interval ? &s->before : NULL);
	doc_events(&j, m, &sc);
	if (!interval)
		doc_runs(&j, m);
	json_close(&j);
	free(metrics);
	return json_end(&j);
}

static int put_text(const struct show *s, FILE *out, bool interval)
{
	const struct hist_command *h = s->ctx;
	const struct scope sc = common_scope(&h->common, interval);
	const struct query q = common_query(&h->common, interval, TOP_TEXT);
	struct view_hist v = {
		.model = &s->model,
		.scope = &sc,
		.filters = h->common.filters.f,
		.nfilters = h->common.filters.n,
		.width = output_width(),
		.brief = s->shown,
	};
	struct metric *metrics;
	int err = model_metrics(&s->model, &q, &metrics, &v.n);

	if (err)
		return log_err(err, "out of memory");
	if (s->shown)
		fputc('\n', out);
	v.metrics = metrics;
	err = view_hist(out, &v);
	free(metrics);
	return err ? log_err(err, "out of memory") : 0;
}

/* --- from a capture --- */

static bool holds_dims(const struct model *m, unsigned int dims)
{
	size_t i;

	for (i = 0; i < m->nseries; i++)
		if (m->series[i].declared && dims >> m->series[i].dim & 1)
			return true;
	return false;
}

/* Series of other kinds than the main ones are recorded when asked for. */
static void say_that_keys_are_missing(const struct show *s)
{
	const struct hist_command *h = s->ctx;
	unsigned int by = common_query(&h->common, false, 0).by, i;

	for (i = 0; s->model.nseries && i < KEY_OTHER; i++) {
		unsigned int dims = key_dims(KEY_BIT(i));

		if (by >> i & 1 && !(dims >> KD_DIM_MAIN & 1) && !holds_dims(&s->model, dims))
			log_warn("%s: holds nothing by %s: it was not recorded with --by %s",
				 h->common.input, key_text((enum key_name)i),
				 key_text((enum key_name)i));
	}
}

/* A key by which nothing was counted must not look like one that nothing happened by. */
static void say_unmatched(const struct hist_command *h)
{
	const struct query q = common_query(&h->common, false, 0);
	struct metric *metrics;
	bool any = false;
	size_t n, i;

	if (!h->show.model.started || model_metrics(&h->show.model, &q, &metrics, &n))
		return;
	for (i = 0; i < n; i++)
		any |= hist_count(&metrics[i].hist) > 0;
	for (unsigned int key = 0; any && key < KEY_OTHER; key++) {
		if (h->common.input && !(key_dims(KEY_BIT(key)) >> KD_DIM_MAIN & 1))
			continue; /* said before */
		for (i = 0; i < n && metrics[i].by != key; i++)
			;
		if (h->common.by >> key & 1 && !(KEY_GROUPS >> key & 1) && i == n)
			log_warn("hist: nothing here is told apart by %s",
				 key_text((enum key_name)key));
	}
	free(metrics);
}

/* --- live --- */

static int live_record(void *ctx, const struct kd_rec *rec)
{
	struct hist_command *h = ctx;

	keep_record(&h->keep, rec);
	return show_record(&h->show, rec);
}

/* That it is alive, to a person who waits for it. */
static void say_watching(const struct show *s, struct watch *w)
{
	char time[FMT_LEN];

	if (!isatty(STDERR_FILENO) || s->by_interval || w->command)
		return;
	if (w->duration_ns)
		log_info("watching for %s; Ctrl-C ends it sooner",
			 fmt_ns(time, sizeof(time), w->duration_ns));
	else
		log_info("watching; Ctrl-C ends it and shows what there is");
}

static int live(struct hist_command *h, char **command)
{
	struct watch w = {
		.duration_ns = h->duration_ns,
		.interval_ns = h->interval_ns ? h->interval_ns : TICK_NS,
		.command = command,
	};
	struct session *session = NULL;
	struct session_conf conf;
	struct stream s;
	int err;

	if (h->output && keep_open(&h->keep, h->output, h->force, SYNC_NS))
		return common_fail(&h->show.out, hist_opts.name, show_wants_document(&h->show),
				   EXIT_FAILED);
	common_conf(&h->common, &conf);
	conf.writes_files = h->keep.w;
	conf.budget = common_budget(&h->common, h->keep.w ? 0 : BUDGET_DEFAULT);
	conf.budget_warns = h->keep.w; /* a capture is there to be compared */
	conf.before_attach = watch_started;
	conf.stopped = watch_signalled;
	stream_init(&s, live_record, h);
	watch_starting(h->keep.w ? capture_part(h->keep.w) : NULL);
	err = show_live(&h->show, &conf, &s, &session, &w, say_watching);
	stream_say_missing(&s, NULL);
	keep_close(&h->keep);
	session_close(session);
	watch_finish(&w); /* the time may have been up before the command */
	if (err == -EINTR && !command)
		return 128 + watch_signalled();
	if (err && err != -EPIPE)
		return command ? EXIT_UNWATCHED : err == -ENODEV ? EXIT_NOTHING : EXIT_FAILED;
	if (h->keep.failed)
		return command ? EXIT_UNWATCHED : EXIT_FAILED;
	return command ? w.status : EXIT_DONE;
}

/* --- the command --- */

static int check(struct hist_command *h, const struct opts_rest *rest)
{
	const char *live_only = NULL;

	if (common_check(&h->common, hist_opts.name) ||
	    common_choose(&h->common, hist_opts.name, false))
		return -EINVAL;
	if (!h->common.input)
		return 0;
	if (rest->command)
		live_only = "a COMMAND";
	else if (h->duration_ns)
		live_only = "--duration";
	else if (h->output)
		live_only = "--output";
	else if (h->common.sample > 1)
		live_only = "--sample";
	else if (h->common.budget >= 0)
		live_only = "--budget";
	else if (h->common.split)
		live_only = "--split";
	if (!live_only)
		return 0;
	return log_err(-EINVAL, "%s: --input shows a capture, for which %s means nothing",
		       hist_opts.name, live_only);
}

static int hist_run(int argc, char **argv)
{
	struct hist_command h = { 0 };
	bool json = wants_json(argc, argv);
	struct opts_rest rest;
	int err, code;

	common_init(&h.common);
	h.show = (struct show){
		.common = &h.common,
		.command = hist_opts.name,
		.document = put_document,
		.text = put_text,
		.ctx = &h,
	};
	show_init(&h.show);
	err = opts_parse(&hist_opts, argc, argv, &h, &rest);
	if (err > 0)
		return EXIT_DONE;
	if (err || check(&h, &rest))
		return common_fail(&h.show.out, hist_opts.name, json, EXIT_USAGE);
	if (rest.command && show_wants_document(&h.show) && output_apart(&h.show.out))
		return EXIT_FAILED;
	h.show.by_interval = h.common.ndjson || (h.interval_ns && !h.common.json);
	if (h.common.input) {
		const struct scope sc = common_scope(&h.common, false);

		code = show_capture(&h.show, &sc, say_that_keys_are_missing);
	} else {
		code = live(&h, rest.command);
	}
	if (code == EXIT_DONE)
		say_unmatched(&h);
	show_free(&h.show);
	return code;
}

const struct command command_hist = { &hist_opts, hist_run };
