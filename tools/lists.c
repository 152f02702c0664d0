// SPDX-License-Identifier: GPL-2.0-only
/* lists.c - `kdefer lists`: how much deferred work waits now, read as kernel state. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "catalog.h"
#include "commands.h"
#include "common.h"
#include "format.h"
#include "log.h"
#include "session.h"
#include "watch.h"

struct lists_command {
	struct common common; /* first: see common.h */
	struct kd_rec_pending *level;
	size_t n;
};

static const struct opt *const tables[] = { source_options, NULL };

static const struct opts_command lists_opts = {
	.name = "lists",
	.summary = "Show how much deferred work waits now: lengths of pending lists.",
	.usage = "[-s SOURCES]",
	.tables = tables,
};

static int take_pending(struct lists_command *c, const struct kd_rec_pending *r)
{
	struct kd_rec_pending *more;

	for (size_t i = 0; i < c->n; i++) {
		struct kd_rec_pending *l = &c->level[i];

		if (l->source == r->source && l->flavour == r->flavour && l->list == r->list &&
		    l->cpu == r->cpu && l->key == r->key && l->unit_size == r->unit_size) {
			*l = *r;
			return 0;
		}
	}
	more = reallocarray(c->level, c->n + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	c->level = more;
	c->level[c->n++] = *r;
	return 0;
}

static void show_gp(const struct kd_rec_gp *r)
{
	const char *flavour = flavour_name(r->flavour);

	printf("gp %s: %s, seq %" PRIu64 ", age %" PRId64
	       " ns, owed by %u CPUs, %u tasks, flags %x\n",
	       flavour ? flavour : "-", gp_state_name(r->state), (uint64_t)r->seq,
	       (int64_t)r->age_ns, r->cpus_owed, r->tasks_owed, r->flags);
}

static void show_name(const struct kd_rec_text *r)
{
	char text[256];

	printf("name %" PRIu64 ".%" PRIu64 " %" PRIx64 ":", (uint64_t)r->a >> 8,
	       (uint64_t)r->a & 0xff, (uint64_t)r->b);
	for (int i = 0; i < 6 && *stream_text(r, i); i++)
		printf(" [%s]", fmt_safe(text, sizeof(text), stream_text(r, i)));
	puts("");
}

static int on_record(void *ctx, const struct kd_rec *rec)
{
	char comm[80];

	if (rec->kind == KD_REC_PENDING)
		return take_pending(ctx, (const void *)rec);
	if (rec->kind == KD_REC_GP)
		show_gp((const void *)rec);
	if (rec->kind == KD_REC_NAME)
		show_name((const void *)rec);
	if (rec->kind == KD_REC_OWED) {
		const struct kd_rec_owed *r = (const void *)rec;

		printf("owed: %s, cpu %u, pid %u (%s)\n", r->is_task ? "task" : "CPU", r->cpu,
		       r->pid, fmt_safe(comm, sizeof(comm), r->comm));
	}
	return 0;
}

static int by_length(const void *a, const void *b)
{
	const struct kd_rec_pending *x = a, *y = b;

	return x->length > y->length ? -1 : x->length < y->length;
}

static void show(struct lists_command *c)
{
	qsort(c->level, c->n, sizeof(*c->level), by_length);
	for (size_t i = 0; i < c->n; i++) {
		const struct kd_rec_pending *r = &c->level[i];
		const char *flavour = flavour_name(r->flavour);

		printf("%s %s %s cpu %d key %" PRIx64 " unit %u: %" PRIu64 " entries, %" PRId64
		       " bytes, age %" PRId64 " ns%s%s\n",
		       source_name(r->source), flavour ? flavour : "-", list_name(r->list),
		       (int)r->cpu, (uint64_t)r->key, r->unit_size, (uint64_t)r->length,
		       (int64_t)r->bytes, (int64_t)r->age_ns,
		       r->flags & KD_PENDING_EXACT ? "" : " not exact",
		       r->flags & KD_PENDING_TRUNCATED ? " truncated" : "");
	}
}

static int lists_run(int argc, char **argv)
{
	struct lists_command c = { 0 };
	struct session_conf conf;
	struct session *session = NULL;
	struct opts_rest rest;
	struct stream s;
	int err;

	common_init(&c.common);
	err = opts_parse(&lists_opts, argc, argv, &c, &rest);
	if (!err && common_choose(&c.common, lists_opts.name, true))
		return EXIT_USAGE;
	if (err)
		return err > 0 ? EXIT_DONE : EXIT_USAGE;
	stream_init(&s, on_record, &c);
	common_conf(&c.common, &conf);
	err = session_open(&session, &conf, &s);
	if (!err)
		err = session_start(session);
	if (!err)
		err = session_stop(session);
	show(&c);
	session_close(session);
	free(c.level);
	return !err ? EXIT_DONE : err == -ENODEV ? EXIT_NOTHING : EXIT_FAILED;
}

const struct command command_lists = { &lists_opts, lists_run };
