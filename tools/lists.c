// SPDX-License-Identifier: GPL-2.0-only
/* lists.c - `kdefer lists`: how much deferred work waits, read as kernel state; nothing is hooked. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "backlog.h"
#include "commands.h"
#include "common.h"
#include "doc.h"
#include "log.h"
#include "show.h"
#include "text.h"
#include "view_lists.h"

#define MS 1000000ULL
#define TICK_NS (1000 * MS) /* between looks where no interval was asked for */
/* What waits without being asked for any more is seen by two looks this far apart; see one_look(). */
#define AGE_NS (1000 * MS)
#define TOP_TEXT 20 /* a screen of keys for each source */
#define TOP_JSON 100

struct lists_command {
	struct common common; /* first: see common.h */
	uint64_t interval_ns, count;
	bool per_cpu, no_ipi;
	struct {
		struct backlog_filter f[FILTERS_MAX];
		size_t n;
	} filters;
	struct show show;
};

static int parse_list_filter(void *into, const char *text)
{
	typeof(((struct lists_command *)0)->filters) *list = into;
	const char *equals = strchr(text, '=');
	enum backlog_key key;
	enum key_name other;
	char name[64];

	if (!equals || equals == text || !equals[1])
		return log_err(-EINVAL, "--filter: \"%s\" is no KEY=GLOB; use e.g. map=flow*",
			       text);
	snprintf(name, sizeof(name), "%.*s", (int)(equals - text), text);
	if (!key_by_name(name, &other) && other != KEY_OTHER && backlog_key_by_name(name, &key))
		return log_err(
			-EINVAL,
			"--filter: the kernel's lists are not told apart by %s, which kdefer "
			"hist goes by; known here: %s",
			name, backlog_key_list());
	if (backlog_key_by_name(name, &key))
		return log_err(-EINVAL, "--filter: unknown key \"%s\"; known: %s", name,
			       backlog_key_list());
	if (list->n == FILTERS_MAX)
		return log_err(-EINVAL, "--filter: more than %d of them", FILTERS_MAX);
	list->f[list->n++] = (struct backlog_filter){ .key = key, .glob = equals + 1 };
	return 0;
}

#define FIELD(member) .offset = offsetof(struct lists_command, member)
#define COMMON(member) .offset = offsetof(struct common, member)

static const struct opt lists_options[] = {
	{ .name = "per-cpu", .type = OPT_FLAG, .help = "each CPU by itself", FIELD(per_cpu) },
	{ .name = "interval",
	  .letter = 'i',
	  .type = OPT_TIME,
	  .value = "TIME",
	  .help = "look again and again, this far apart (of a capture: its own intervals)",
	  FIELD(interval_ns),
	  .min = 10 * MS },
	{ .name = "count",
	  .letter = 'n',
	  .type = OPT_U64,
	  .value = "COUNT",
	  .help = "how many looks, 1 s apart without -i (default: until Ctrl-C with -i, else one)",
	  FIELD(count),
	  .min = 1 },
	{ .name = "filter",
	  .type = OPT_CALL,
	  .value = "KEY=GLOB",
	  .help = "only what matches, e.g. map=flow*; several must all match",
	  FIELD(filters),
	  .call = parse_list_filter },
	{ .name = "top",
	  .type = OPT_U64,
	  .value = "N",
	  .help = "the N largest keys of each source; the rest is summed up as \"other\"",
	  COMMON(top),
	  .min = 1 },
	{ .name = "full", .type = OPT_FLAG, .help = "all keys", COMMON(full) },
	{ .name = "raw-addresses",
	  .type = OPT_FLAG,
	  .help = "show kernel addresses too",
	  COMMON(raw_addresses) },
	{ .name = "no-ipi",
	  .type = OPT_FLAG,
	  .help = "interrupt no CPU: its lists are read from afar, which is not exact",
	  FIELD(no_ipi) },
	{ .name = "backends",
	  .type = OPT_CALL,
	  .value = "LIST",
	  .help = "measure by these means only; lists are read as state",
	  COMMON(want),
	  .call = parse_backends },
	{ 0 },
};

static const struct opt *const tables[] = { source_options, lists_options, output_options, NULL };

static const struct opts_command lists_opts = {
	.name = "lists",
	.summary = "Show how much deferred work waits, and what holds it up.",
	.usage = "[-s SOURCES] [--per-cpu] [-i TIME] [-n COUNT] [--filter KEY=GLOB] "
		 "[--top N | --full] [--json | --ndjson] [--input FILE]",
	.tables = tables,
};

/* --- showing --- */

static struct backlog_query query(const struct lists_command *c, bool interval, size_t top)
{
	struct backlog_query q = {
		.scope = common_scope(&c->common, interval),
		.per_cpu = c->per_cpu,
		.filters = c->filters.f,
		.nfilters = c->filters.n,
	};

	if (!c->common.full)
		q.top = c->common.top ? (size_t)c->common.top : top;
	return q;
}

static int put_document(const struct show *s, FILE *out, bool interval, const char *error)
{
	const struct lists_command *c = s->ctx;
	const struct backlog_query q = query(c, interval, TOP_JSON);
	const struct model *m = &s->model;
	struct json j;
	int err;

	json_init(&j, out, c->common.json);
	doc_open(&j, lists_opts.name);
	if (error)
		doc_error(&j, error);
	if (interval)
		json_ku64(&j, "interval", m->ticks);
	doc_host(&j, m);
	doc_clock(&j, m, &q.scope);
	doc_plan(&j, m, &q.scope);
	err = doc_pending(&j, m, &q);
	if (!err)
		err = doc_debt(&j, m, &q);
	doc_gp(&j, m, &q);
	doc_lost(&j, m, &q.scope);
	doc_self(&j, m, &q.scope, interval ? &s->before : NULL);
	doc_events(&j, m, &q.scope);
	json_close(&j);
	if (err)
		return log_err(err, "out of memory");
	return json_end(&j);
}

static int put_text(const struct show *s, FILE *out, bool interval)
{
	const struct backlog_query q = query(s->ctx, interval, TOP_TEXT);
	const struct view_lists v = {
		.model = &s->model,
		.query = &q,
		.width = output_width(),
		.brief = s->shown,
	};
	int err;

	if (s->shown)
		fputc('\n', out);
	err = view_lists(out, &v);
	return err ? log_err(err, "out of memory") : 0;
}

/* --- live --- */

static bool is_on(const struct model *m, unsigned int measure)
{
	for (size_t i = 0; i < m->nplan; i++)
		if (m->plan[i].measure == measure && m->plan[i].state == PLAN_ON)
			return true;
	return false;
}

/*
 * One look is enough for lengths. That nobody comes back for freed BPF memory is only seen by a second
 * one, which then also tells what changes.
 */
static void one_look(const struct show *s, struct watch *w)
{
	if (!w->duration_ns)
		w->duration_ns = is_on(&s->model, KD_M_MEMALLOC_PENDING) ? AGE_NS : 1;
}

static int live(struct lists_command *c)
{
	struct watch w = { .interval_ns = c->interval_ns ? c->interval_ns : TICK_NS,
			   .ticks = c->count };
	bool once = !c->interval_ns && !c->count;
	struct session_conf conf;
	struct session *session = NULL;
	struct stream s;
	int err;

	common_conf(&c->common, &conf);
	conf.no_ipi = c->no_ipi;
	conf.stopped = watch_signalled;
	stream_init(&s, show_record, &c->show);
	watch_starting(NULL);
	err = show_live(&c->show, &conf, &s, &session, &w, once ? one_look : NULL);
	stream_say_missing(&s, NULL);
	session_close(session);
	if (err == -EINTR)
		return 128 + watch_signalled();
	return err == -ENODEV ? EXIT_NOTHING : show_code(err);
}

/* A filter that leaves nothing must not look like a host where nothing waits. */
static void say_unmatched(const struct lists_command *c)
{
	const struct backlog_query q = query(c, false, 0);
	char text[1024] = "";
	struct backlog_row *rows;
	size_t n;

	if (!q.nfilters || !c->show.model.started || backlog_totals(&c->show.model, &q, &rows, &n))
		return;
	free(rows);
	for (unsigned int f = 0; f < KD_FL_COUNT && !n; f++)
		n += backlog_gp(&c->show.model, &q, f) != NULL;
	for (size_t i = 0; i < q.nfilters; i++)
		text_append(text, sizeof(text), "%s%s=%s", i ? ", " : "",
			    backlog_key_text(q.filters[i].key), q.filters[i].glob);
	if (!n)
		log_warn("lists: nothing here matches %s", text);
}

/* --- the command --- */

static int check(struct lists_command *c)
{
	const char *live_only = NULL;

	if (common_check(&c->common, lists_opts.name) ||
	    common_choose(&c->common, lists_opts.name, true))
		return -EINVAL;
	if (!c->common.input)
		return 0;
	if (c->count)
		live_only = "--count";
	else if (c->no_ipi)
		live_only = "--no-ipi";
	if (!live_only)
		return 0;
	return log_err(-EINVAL, "%s: --input shows a capture, for which %s means nothing",
		       lists_opts.name, live_only);
}

static int lists_run(int argc, char **argv)
{
	static struct lists_command c;
	bool json = wants_json(argc, argv);
	struct opts_rest rest;
	int err, code;

	common_init(&c.common);
	c.show = (struct show){
		.common = &c.common,
		.command = lists_opts.name,
		.document = put_document,
		.text = put_text,
		.ctx = &c,
	};
	show_init(&c.show);
	err = opts_parse(&lists_opts, argc, argv, &c, &rest);
	if (err > 0)
		return EXIT_DONE;
	if (err || check(&c))
		return common_fail(&c.show.out, lists_opts.name, json, EXIT_USAGE);
	c.show.by_interval = c.common.ndjson || ((c.interval_ns || c.count) && !c.common.json);
	if (c.common.input) {
		const struct scope sc = common_scope(&c.common, false);

		code = show_capture(&c.show, &sc, NULL);
	} else {
		code = live(&c);
	}
	if (code == EXIT_DONE)
		say_unmatched(&c);
	show_free(&c.show);
	return code;
}

const struct command command_lists = { &lists_opts, lists_run };
