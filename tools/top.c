// SPDX-License-Identifier: GPL-2.0-only
/* top.c - `kdefer top`: what is put off, how long it waits and what holds it up, while it happens. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "commands.h"
#include "common.h"
#include "log.h"
#include "output.h"
#include "replay.h"
#include "screen.h"
#include "top_rows.h"
#include "top_screen.h"
#include "view_top.h"
#include "watch.h"

#define MS 1000000ULL
#define TICK_NS (1000 * MS)

struct top_command {
	struct common common; /* first: see common.h */
	uint64_t interval_ns, count;
	bool batch, no_ipi;
	/* at work: */
	struct model model;
	struct top top;
	struct output out;
	struct watch watch;
	struct top_screen screen;
	uint64_t shown; /* intervals */
};

#define FIELD(member) .offset = offsetof(struct top_command, member)

static const struct opt top_options[] = {
	{ .name = "interval",
	  .letter = 'i',
	  .type = OPT_TIME,
	  .value = "TIME",
	  .help = "between looks (default 1s; of a capture: its own intervals)",
	  FIELD(interval_ns),
	  .min = 10 * MS },
	{ .name = "batch",
	  .type = OPT_FLAG,
	  .help = "plain text for each interval, also where there is a terminal",
	  FIELD(batch) },
	{ .name = "count",
	  .letter = 'n',
	  .type = OPT_U64,
	  .value = "COUNT",
	  .help = "end after so many intervals (default: never; of a capture: at its end)",
	  FIELD(count),
	  .min = 1 },
	{ .name = "by",
	  .type = OPT_CALL,
	  .value = "KEY",
	  .help = "tables of sources go by these keys: a comma list of",
	  .help_list = key_list,
	  FIELD(common.by),
	  .call = parse_by },
	{ .name = "filter",
	  .type = OPT_CALL,
	  .value = "KEY=GLOB",
	  .help = "only what matches, e.g. func=nf_*; several must all match",
	  FIELD(common.filters),
	  .call = parse_filter },
	{ .name = "raw-addresses",
	  .type = OPT_FLAG,
	  .help = "show kernel addresses too",
	  FIELD(common.raw_addresses) },
	{ .name = "no-ipi",
	  .type = OPT_FLAG,
	  .help = "interrupt no CPU: its lists are read from afar, which is not exact",
	  FIELD(no_ipi) },
	{ .name = "input",
	  .type = OPT_STR,
	  .value = "FILE",
	  .help = "show a capture instead of the running kernel",
	  FIELD(common.input) },
	{ .name = "follow",
	  .type = OPT_FLAG,
	  .help = "go on reading a capture that is still being written",
	  FIELD(common.follow) },
	{ 0 },
};

static const struct opt *const tables[] = {
	source_options, over_options, top_options, measure_options, NULL,
};

static const struct opts_command top_opts = {
	.name = "top",
	.summary = "Watch what is put off, how long it waits, what holds it up.",
	.usage =
		"[-s SOURCES] [--over LIMITS] [-i TIME] [--batch] [-n COUNT] [--by KEY] [--filter KEY=GLOB] "
		"[--input FILE [--follow]]",
	.tables = tables,
};

/* --- plain text --- */

static int show_text(struct top_command *c, const struct top_snap *s)
{
	FILE *out = output_begin(&c->out);
	int err, written;

	if (!out)
		return c->out.err;
	if (c->shown)
		fputc('\n', out);
	err = view_top(out, s, output_width(), !c->shown);
	written = output_end(&c->out);
	return err ? log_err(err, "out of memory") : written;
}

/* Ends a replay that has shown enough: a code that nothing else uses. */
#define ENOUGH (-ECANCELED)

static int text_interval(struct top_command *c, const struct model *m)
{
	struct top_snap s;
	int err = top_take(&c->top, m, &s);

	if (err)
		log_err(err, "out of memory");
	else if (!c->count || c->shown < c->count)
		err = show_text(c, &s);
	top_snap_free(&s);
	return err;
}

static int on_interval(void *ctx, const struct model *m)
{
	struct top_command *c = ctx;
	int err = c->screen.open ? top_screen_interval(&c->screen, m) : text_interval(c, m);

	c->shown++;
	if (err || (!c->screen.quit && (!c->count || c->shown < c->count)))
		return err;
	c->watch.enough = true;
	return c->common.input ? ENOUGH : 0;
}

/* --- the screen --- */

/* Plain text where there is no terminal to draw on; a person who may have expected one is told why. */
static void open_screen(struct top_command *c)
{
	char why[SCREEN_WHY];

	c->screen.top = &c->top;
	c->screen.model = &c->model;
	c->screen.watch = c->common.input ? NULL : &c->watch;
	c->screen.follow = c->common.follow;
	top_ui_init(&c->screen.ui);
	c->screen.ui.replay = c->common.input;
	c->screen.ui.file = c->common.input;
	c->screen.ui.interval_ns = c->interval_ns ? c->interval_ns : TICK_NS;
	c->screen.own_pace = c->common.input && c->interval_ns;
	if (c->batch || !isatty(STDOUT_FILENO))
		return;
	if (top_screen_open(&c->screen, why))
		log_info("plain text: %s", why);
}

static size_t poll_screen(void *ctx, struct pollfd *p)
{
	(void)ctx;
	screen_poll(p);
	return SCREEN_FDS;
}

static int woken(void *ctx)
{
	struct top_command *c = ctx;

	return top_screen_keys(&c->screen);
}

_Static_assert(SCREEN_FDS <= WATCH_FDS, "the watch has room for what the screen waits for");

/* --- where records come from --- */

static int take(void *ctx, const struct kd_rec *rec)
{
	struct top_command *c = ctx;
	bool started = c->model.started;
	int err;

	top_screen_record(&c->screen, rec);
	err = model_record(&c->model, rec);
	if (!started && c->model.started)
		top_reset(&c->top, &c->model);
	return err;
}

/* Asked while more of a capture that is followed is awaited; it has no context of its own. */
static struct top_command *following;

static int stopped(void)
{
	if (following->screen.open && !following->screen.quit)
		top_screen_keys(&following->screen);
	return following->screen.quit || watch_signalled();
}

static int show_capture(struct top_command *c)
{
	int err;

	following = c;
	open_screen(c);
	err = replay_until(&c->common, take, c, stopped);
	if (c->screen.open && !err && !c->screen.quit && c->shown && !watch_signalled())
		err = top_screen_end(&c->screen);
	top_screen_close(&c->screen);
	if (c->out.err)
		return c->out.err == -EPIPE ? EXIT_DONE : EXIT_FAILED;
	if (err && err != ENOUGH)
		return EXIT_FAILED;
	if (!scope_measured(&c->model, &c->top.scope)) {
		log_err(-ENODEV, "%s: nothing that was asked for was measured there",
			c->common.input);
		return EXIT_NOTHING;
	}
	if (!c->shown)
		log_warn("%s: holds no whole interval", c->common.input);
	return EXIT_DONE;
}

static int live(struct top_command *c)
{
	struct session *session = NULL;
	struct session_conf conf;
	struct stream s;
	int err;

	common_conf(&c->common, &conf);
	limits_apply(&c->common.over, &conf);
	conf.no_ipi = c->no_ipi;
	conf.budget = common_budget(&c->common, BUDGET_DEFAULT);
	conf.budget_warns = false;
	conf.before_attach = watch_started;
	conf.writes_files = true; /* a recording may be asked for at any time */
	conf.stopped = watch_signalled;
	c->watch.interval_ns = c->interval_ns ? c->interval_ns : TICK_NS;
	stream_init(&s, take, c);
	if (!c->batch && isatty(STDOUT_FILENO) && isatty(STDERR_FILENO))
		log_info("attaching; Ctrl-C ends it");
	watch_starting(NULL);
	err = limits_emit(&c->common.over, &s);
	if (!err)
		err = session_open(&session, &conf, &s);
	watch_started();
	if (!err) {
		open_screen(c);
		if (c->screen.open) {
			c->watch.poll = poll_screen;
			c->watch.woken = woken;
			c->watch.ctx = c;
		}
		err = watch_run(session, &c->watch);
	}
	top_screen_close(&c->screen);
	stream_say_missing(&s, NULL);
	session_close(session);
	if (err == -EINTR)
		return 128 + watch_signalled();
	return err == -ENODEV ? EXIT_NOTHING : err && err != -EPIPE ? EXIT_FAILED : EXIT_DONE;
}

/* --- the command --- */

static int check(struct top_command *c)
{
	const char *live_only = NULL;

	if (common_check(&c->common, top_opts.name))
		return -EINVAL;
	if (!c->common.input)
		return common_arm_some(&c->common, top_opts.name);
	common_want_holdups(&c->common);
	if (c->common.over.given)
		live_only = "--over";
	else if (c->no_ipi)
		live_only = "--no-ipi";
	else if (c->common.sample > 1)
		live_only = "--sample";
	else if (c->common.budget >= 0)
		live_only = "--budget";
	if (!live_only)
		return 0;
	return log_err(-EINVAL, "%s: --input shows a capture, for which %s means nothing",
		       top_opts.name, live_only);
}

static void prepare(struct top_command *c)
{
	model_init(&c->model);
	c->model.on_interval = on_interval;
	c->model.ctx = c;
	top_init(&c->top);
	c->top.scope = common_scope(&c->common, false);
	top_filter(&c->top, c->common.filters.f, c->common.filters.n);
	c->top.by = c->common.by;
}

static int top_run(int argc, char **argv)
{
	static struct top_command c;
	struct opts_rest rest;
	int err, code;

	common_init(&c.common);
	output_init(&c.out);
	err = opts_parse(&top_opts, argc, argv, &c, &rest);
	if (err)
		return err > 0 ? EXIT_DONE : EXIT_USAGE;
	if (check(&c))
		return EXIT_USAGE;
	prepare(&c);
	code = c.common.input ? show_capture(&c) : live(&c);
	top_free(&c.top);
	model_free(&c.model);
	return code;
}

const struct command command_top = { &top_opts, top_run };
