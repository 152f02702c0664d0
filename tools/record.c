// SPDX-License-Identifier: GPL-2.0-only
/* record.c - `kdefer record`: everything that is measured into a capture, with runs of a command. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "catalog.h"
#include "clock.h"
#include "commands.h"
#include "common.h"
#include "format.h"
#include "host.h"
#include "keep.h"
#include "log.h"
#include "watch.h"

#ifndef KDEFER_VERSION
#define KDEFER_VERSION "unknown"
#endif

#define MS 1000000ULL
#define TICK_NS (1000 * MS)
#define SYNC_NS (900 * MS) /* each tick of a second, but not a hundred a second */
#define LABELS_MAX 64
#define LABEL_NAME_MAX 64
#define LABEL_VALUE_MAX 4000 /* a record has room for it and its name */
#define REPEAT_MAX 1000
#define END_ROOM 1024u /* kept of --max-size, for the word that it was reached */

struct label_list {
	const char *text[LABELS_MAX]; /* K=V */
	size_t n;
};

struct record_command {
	struct common common; /* first: see common.h */
	const char *output;
	uint64_t duration_ns, interval_ns, repeat, max_size;
	bool force, ab;
	struct label_list labels;
	/* at work: */
	struct keep keep;
	struct watch watch;
	bool was_full, shows_progress;
	uint64_t start_ns, now_ns, ticks;
	uint64_t lost[KD_SRC_COUNT][KD_LOST_COUNT];
};

static int parse_label(void *into, const char *text)
{
	struct label_list *list = into;
	const char *equals = strchr(text, '='), *at;
	size_t i;

	for (at = text; equals && at < equals; at++)
		if (!isalnum((unsigned char)*at) && !strchr("_.-", *at))
			equals = NULL;
	if (!equals || equals == text || !equals[1] || equals - text > LABEL_NAME_MAX)
		return log_err(-EINVAL,
			       "--label: \"%s\" is no NAME=VALUE; names are letters, digits, _ . -",
			       text);
	if (strlen(equals + 1) > LABEL_VALUE_MAX)
		return log_err(-EINVAL,
			       "--label: the value of %.*s has %zu bytes; at most %d can be kept",
			       (int)(equals - text), text, strlen(equals + 1), LABEL_VALUE_MAX);
	for (i = 0; i < list->n; i++)
		if (!strncmp(list->text[i], text, (size_t)(equals - text) + 1))
			return log_err(-EINVAL, "--label: %.*s is given twice",
				       (int)(equals - text), text);
	if (list->n == LABELS_MAX)
		return log_err(-EINVAL, "--label: more than %d of them", LABELS_MAX);
	list->text[list->n++] = text;
	return 0;
}

static const struct opt record_options[] = {
	{ .name = "output",
	  .letter = 'o',
	  .type = OPT_STR,
	  .value = "FILE",
	  .help = "the capture to write: FILE.part until it is complete",
	  .offset = offsetof(struct record_command, output) },
	{ .name = "force",
	  .type = OPT_FLAG,
	  .help = "overwrite FILE",
	  .offset = offsetof(struct record_command, force) },
	{ .name = "duration",
	  .letter = 'd',
	  .type = OPT_TIME,
	  .value = "TIME",
	  .help = "how long to measure (default: until Ctrl-C, or the end of COMMAND)",
	  .offset = offsetof(struct record_command, duration_ns),
	  .min = MS },
	{ .name = "interval",
	  .letter = 'i',
	  .type = OPT_TIME,
	  .value = "TIME",
	  .help = "length of an interval (default 1s)",
	  .offset = offsetof(struct record_command, interval_ns),
	  .min = 10 * MS },
	{ .name = "by",
	  .type = OPT_CALL,
	  .value = "KEY",
	  .help = "count by this key too, so that it can be shown later: cpu",
	  .offset = offsetof(struct record_command, common.by),
	  .call = parse_by },
	{ .name = "repeat",
	  .type = OPT_U64,
	  .value = "N",
	  .help = "run COMMAND N times into this capture, each run marked",
	  .offset = offsetof(struct record_command, repeat),
	  .min = 1,
	  .max = REPEAT_MAX },
	{ .name = "ab",
	  .type = OPT_FLAG,
	  .help = "two shell commands follow, A_CMD and B_CMD: run in turn, A B B A, N times each",
	  .offset = offsetof(struct record_command, ab) },
	{ .name = "label",
	  .type = OPT_CALL,
	  .value = "NAME=VALUE",
	  .help = "a word of yours about this capture; several can be given",
	  .offset = offsetof(struct record_command, labels),
	  .call = parse_label },
	{ .name = "max-size",
	  .type = OPT_SIZE,
	  .value = "SIZE",
	  .help = "end before the capture would be larger than this",
	  .offset = offsetof(struct record_command, max_size),
	  .min = 64 << 10 },
	{ 0 },
};

static const struct opt *const tables[] = {
	source_options, over_options, split_options, record_options, measure_options, NULL,
};

static const struct opts_command record_opts = {
	.name = "record",
	.summary = "Record into a capture, which the other commands show.",
	.usage =
		"-o FILE [-s SOURCES] [--over LIMITS] [--split] [-d TIME] [-i TIME] [--label NAME=VALUE]... "
		"[--max-size SIZE] [--repeat N] [--ab A_CMD B_CMD | -- COMMAND ...]",
	.tables = tables,
	.takes_command = true,
	.max_args = 2,
};

/* --- what is written --- */

static uint64_t lost(const struct record_command *c)
{
	unsigned int source, what;
	uint64_t sum = 0;

	for (source = 0; source < KD_SRC_COUNT; source++)
		for (what = 0; what < KD_LOST_COUNT; what++)
			if (!lost_by_design(what))
				sum += c->lost[source][what];
	return sum;
}

/* "12 intervals in 12 s, 45.1 kB, nothing lost" */
static void put_state(const struct record_command *c, char *text, size_t size)
{
	char time[FMT_LEN], bytes[FMT_LEN], count[FMT_LEN], none[] = "nothing";
	uint64_t n = lost(c);

	snprintf(text, size, "%" PRIu64 " interval%s in %s, %s, %s lost", c->ticks,
		 c->ticks == 1 ? "" : "s", fmt_ns(time, sizeof(time), c->now_ns - c->start_ns),
		 fmt_bytes(bytes, sizeof(bytes), c->keep.w ? capture_size(c->keep.w) : 0),
		 n ? fmt_count(count, sizeof(count), n) : none);
}

static void show_progress(const struct record_command *c)
{
	char text[256];

	put_state(c, text, sizeof(text));
	fprintf(stderr, "\r\033[K%s", text);
}

static void clear_progress(struct record_command *c)
{
	if (c->shows_progress && c->ticks)
		fputs("\r\033[K", stderr);
	c->shows_progress = false;
}

static void take_tick(struct record_command *c, const struct kd_rec_tick *r)
{
	c->now_ns = r->mono_ns;
	if (!r->tick)
		c->start_ns = r->mono_ns;
	c->ticks = r->tick;
	if (c->shows_progress)
		show_progress(c);
}

/* The capture is whole to its last interval, and says why it ends. */
static void end_full(struct record_command *c)
{
	uint64_t buf[KD_REC_MAX / sizeof(uint64_t)];
	const char *const texts[] = { "size_limit", "--max-size reached: recording ended" };
	const struct kd_rec *rec = stream_make_text(buf, KD_REC_EVENT, clock_ns(CLOCK_REALTIME),
						    clock_mono_ns(), texts, 2);

	clear_progress(c);
	capture_limit(c->keep.w, c->max_size);
	capture_write(c->keep.w, rec);
	log_warn("%s: --max-size is reached after %" PRIu64 " interval%s: recording ends here",
		 c->output, c->ticks, c->ticks == 1 ? "" : "s");
	c->was_full = true;
}

static int on_record(void *ctx, const struct kd_rec *rec)
{
	struct record_command *c = ctx;
	const struct kd_rec_total *total = (const void *)rec;

	keep_record(&c->keep, rec);
	if (c->keep.full && !c->was_full)
		end_full(c);
	if (c->keep.full || c->keep.failed)
		c->watch.enough = true;
	if (rec->kind == KD_REC_TICK)
		take_tick(c, (const void *)rec);
	else if (rec->kind == KD_REC_LOST)
		c->lost[total->source][total->what] = total->total;
	return 0;
}

static int put_facts(const struct record_command *c, struct stream *s, const char *command_line)
{
	char name[sizeof("label.") + LABEL_NAME_MAX];
	int err = host_fact(s, "kdefer", KDEFER_VERSION);
	size_t i;

	if (!err)
		err = host_fact(s, "command_line", command_line);
	if (!err && c->common.over.given)
		err = limits_emit(&c->common.over, s);
	for (i = 0; !err && i < c->labels.n; i++) {
		const char *text = c->labels.text[i], *equals = strchr(text, '=');

		snprintf(name, sizeof(name), "label.%.*s", (int)(equals - text), text);
		err = host_fact(s, name, equals + 1);
	}
	return err;
}

/* --- measuring --- */

static void say_recording(const struct record_command *c)
{
	char time[FMT_LEN];

	if (!isatty(STDERR_FILENO) || c->watch.command)
		return;
	if (c->duration_ns)
		log_info("recording for %s; Ctrl-C ends it sooner",
			 fmt_ns(time, sizeof(time), c->duration_ns));
	else
		log_info("recording; Ctrl-C ends it");
}

/* A line that is written over: where that can be, and the command does not write there too. */
static bool can_show_progress(const struct record_command *c)
{
	const char *term = getenv("TERM");

	return isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb") &&
	       !(c->watch.command && isatty(STDOUT_FILENO));
}

static int measure(struct record_command *c, struct stream *s, struct session **session)
{
	struct session_conf conf;
	int err;

	common_conf(&c->common, &conf);
	if (c->common.over.given)
		limits_apply(&c->common.over, &conf);
	conf.writes_files = true;
	conf.before_attach = watch_started;
	conf.stopped = watch_signalled;
	err = session_open(session, &conf, s);
	if (err)
		return err;
	say_recording(c);
	c->shows_progress = can_show_progress(c);
	err = watch_run(*session, &c->watch);
	clear_progress(c);
	return err;
}

/* What never began leaves nothing behind; all else leaves what there is. */
static void end_capture(struct record_command *c, bool began)
{
	char state[256];

	if (!began) {
		capture_discard(c->keep.w);
		c->keep.w = NULL;
		keep_close(&c->keep);
		return;
	}
	put_state(c, state, sizeof(state));
	keep_close(&c->keep);
	if (!c->keep.failed)
		log_info("%s: %s", c->output, state);
}

static unsigned int runs_asked(const struct record_command *c)
{
	return !c->watch.command
		       ? 0
		       : (c->watch.repeat ? c->watch.repeat : 1) * (c->watch.other ? 2 : 1);
}

static void say_badly(const struct watch *w)
{
	if (w->runs > 1 && w->badly)
		log_warn("%u of %u runs did not end with status 0; the first of these with %d",
			 w->badly, w->runs, w->status);
}

static int end_code(const struct record_command *c, int err)
{
	const struct watch *w = &c->watch;
	bool cut = w->runs < runs_asked(c) && !w->status && !w->signal;

	if (err == -EINTR && !w->command)
		return 128 + watch_signalled();
	if (err || c->keep.failed || (w->command && c->keep.full && cut) ||
	    (w->child.cut && !w->status)) /* its output is ours to write */
		return w->command ? EXIT_UNWATCHED : err == -ENODEV ? EXIT_NOTHING : EXIT_FAILED;
	return w->command ? w->status : EXIT_DONE;
}

static int record(struct record_command *c, const char *command_line)
{
	struct session *session = NULL;
	struct stream s;
	int err, finish_err;

	if (keep_open(&c->keep, c->output, c->force, SYNC_NS))
		return c->watch.command ? EXIT_UNWATCHED : EXIT_FAILED;
	if (c->max_size)
		capture_limit(c->keep.w, c->max_size - END_ROOM);
	stream_init(&s, on_record, c);
	c->watch.marks = c->watch.command ? &s : NULL;
	watch_starting(capture_part(c->keep.w));
	err = put_facts(c, &s, command_line);
	if (!err)
		err = measure(c, &s, &session);
	stream_say_missing(&s, NULL);
	end_capture(c, session);
	session_close(session);
	finish_err = watch_finish(&c->watch); /* the time may have been up before the command */
	say_badly(&c->watch);
	return end_code(c, err ? err : finish_err);
}

/* --- the command --- */

static int check_command(const struct record_command *c, const struct opts_rest *rest)
{
	if (c->ab && rest->nargs != 2)
		return log_err(-EINVAL,
			       "record: --ab needs two commands, each as one argument for a shell");
	if (c->ab && rest->command)
		return log_err(-EINVAL, "record: --ab and a COMMAND after -- exclude each other");
	if (!c->ab && rest->nargs)
		return log_err(-EINVAL, "record: unexpected \"%s\"; a command comes after --",
			       rest->args[0]);
	if (c->repeat && !c->ab && !rest->command)
		return log_err(-EINVAL, "record: --repeat needs a COMMAND after --");
	if (c->duration_ns && (c->repeat || c->ab))
		return log_err(-EINVAL,
			       "record: --duration and runs of a command exclude each other: "
			       "they last as long as it does");
	return 0;
}

static int check(const struct record_command *c, const struct opts_rest *rest)
{
	if (!c->output || !*c->output)
		return log_err(-EINVAL, "record: --output FILE is needed");
	if (!strcmp(c->output, "-"))
		return log_err(-EINVAL,
			       "record: a capture is a file that is renamed when complete: "
			       "it cannot go to standard output");
	return check_command(c, rest);
}

/* Long waits are explained where their limits were given, and not hooked for it else. */
static int choose_holdups(struct common *c)
{
	if (c->over.given)
		return common_arm(c, record_opts.name);
	if (c->want.named & holdup_measures())
		return log_err(-EINVAL,
			       "record: what is too long, for reports of it? --over LIMITS says");
	c->want.measures &= ~holdup_measures();
	return 0;
}

static int record_run(int argc, char **argv)
{
	struct record_command c = { 0 };
	char command_line[2048];
	struct opts_rest rest;
	char *a[] = { "/bin/sh", "-c", NULL, NULL }, *b[] = { "/bin/sh", "-c", NULL, NULL };
	int err;

	common_line(command_line, sizeof(command_line), argc, argv); /* parsing moves arguments */
	common_init(&c.common);
	err = opts_parse(&record_opts, argc, argv, &c, &rest);
	if (err > 0)
		return EXIT_DONE;
	if (err || common_check(&c.common, record_opts.name) || check(&c, &rest) ||
	    choose_holdups(&c.common))
		return EXIT_USAGE;
	if (c.ab) {
		a[2] = rest.args[0];
		b[2] = rest.args[1];
	}
	c.watch.duration_ns = c.duration_ns;
	c.watch.interval_ns = c.interval_ns ? c.interval_ns : TICK_NS;
	c.watch.command = c.ab ? a : rest.command;
	c.watch.other = c.ab ? b : NULL;
	c.watch.repeat = (unsigned int)c.repeat;
	return record(&c, command_line);
}

const struct command command_record = { &record_opts, record_run };
