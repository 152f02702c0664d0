// SPDX-License-Identifier: GPL-2.0-only
/* samples_read.c - from captures to the table of samples, through the same stream and model as views. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture.h"
#include "catalog.h"
#include "log.h"
#include "plan.h"
#include "samples_read.h"
#include "scope.h"

/* --- what disturbed a run --- */

static int disturbed(struct sample_run *run, const char *what, const char *detail)
{
	if (run->disturbed)
		return 0; /* the first one is enough */
	if (asprintf(&run->disturbed, "%s%s%s", what, *detail ? ": " : "", detail) < 0) {
		run->disturbed = NULL;
		return -ENOMEM;
	}
	return 0;
}

#define MALFORMED "metric_malformed"

/*
 * Attaching is in the plan; times are of a clock that never steps; that messages of the kernel or the
 * end of a recording were missed is no disturbance, nor is a line of figures that is none: that figure
 * has no value in its run. All else is.
 */
static bool is_harmless(const char *what)
{
	return !strncmp(what, "attach", 6) || !strcmp(what, "clock_step") ||
	       !strcmp(what, "kernel_log_lost") || !strcmp(what, "size_limit") ||
	       !strcmp(what, MALFORMED);
}

static int look_for_events(const struct reader *r, struct sample_run *run, uint64_t from,
			   uint64_t to)
{
	const struct event *e;
	size_t i;
	int err = 0;

	for (i = 0; !err && i < r->m.nevents; i++) {
		e = &r->m.events[i];
		if (e->mono_ns < from || e->mono_ns > to)
			continue;
		if (!strcmp(e->what, MALFORMED))
			log_warn("%s: run %u: figures of the command are missing: %s malformed",
				 r->path, run->index + 1, e->detail);
		if (!is_harmless(e->what))
			err = disturbed(run, e->what, e->detail);
	}
	return err;
}

static double cost_of(const struct kd_rec_self *before, const struct kd_rec_self *after)
{
	if (!after->run_ns || after->events <= before->events || after->run_ns < before->run_ns)
		return NAN;
	if (!before->run_ns) /* a run was not timed yet: what came before is in it too */
		return (double)after->run_ns / (double)after->events;
	return (double)(after->run_ns - before->run_ns) / (double)(after->events - before->events);
}

/* --- intervals --- */

static void drop_going(struct reader *r)
{
	size_t i;

	for (i = 0; i < r->ngoing; i++)
		segments_free(r->going[i].segments);
	free(r->going);
	r->going = NULL;
	r->ngoing = 0;
}

static struct sample_segments *going_of(struct reader *r, int subject)
{
	struct going *g;
	size_t i;

	for (i = 0; i < r->ngoing; i++)
		if (r->going[i].subject == subject)
			return r->going[i].segments;
	g = reallocarray(r->going, r->ngoing + 1, sizeof(*g));
	if (!g)
		return NULL;
	r->going = g;
	g[i].subject = subject;
	g[i].segments = calloc(1, sizeof(*g->segments));
	if (g[i].segments)
		r->ngoing++;
	return g[i].segments;
}

static size_t runs_of(const struct samples *t, enum sample_side side)
{
	size_t i, n = 0;

	for (i = 0; i < t->nruns; i++)
		n += t->runs[i].side == side;
	return n;
}

/* Pieces are of use only where a side has one run. Between runs there is nothing to keep. */
static bool wants_segments(const struct reader *r)
{
	if (r->side == SIDE_COUNT || (r->m.nruns && !r->m.running))
		return false;
	return !runs_of(r->t, r->side);
}

static int on_interval(void *ctx, const struct model *m)
{
	struct query q = { .interval = true, .by = KEY_BIT(KEY_OTHER) /* no breakdown */ };
	struct reader *r = ctx;
	struct sample_segments *s;
	struct metric *x;
	size_t n, i;
	int err, at;

	if (!wants_segments(r))
		return 0;
	err = model_metrics(m, &q, &x, &n);
	if (err)
		return err;
	for (i = 0; !err && i < n; i++) {
		if (x[i].by != KEY_NONE)
			continue;
		at = reader_subject(r, &x[i]);
		s = at < 0 ? NULL : going_of(r, at);
		if (s)
			err = segments_add(s, &x[i].hist);
		else if (at != -E2BIG)
			err = -ENOMEM;
	}
	free(x);
	return err;
}

/* The pieces go to the run if it is the first of its side; with a second one nobody needs them. */
static int hand_over_segments(struct reader *r, size_t run)
{
	enum sample_side side = r->t->runs[run].side;
	struct sample_values *v;
	size_t i, k;

	for (i = 0; i < r->ngoing; i++) {
		v = samples_values(r->t, run, (size_t)r->going[i].subject);
		if (!v)
			return -ENOMEM;
		segments_free(v->segments);
		v->segments = r->going[i].segments;
		r->going[i].segments = NULL;
	}
	drop_going(r);
	for (i = 0; runs_of(r->t, side) > 1 && i < r->t->nruns; i++) {
		for (k = 0; r->t->runs[i].side == side && k < r->t->runs[i].nvalues; k++) {
			segments_free(r->t->runs[i].values[k].segments);
			r->t->runs[i].values[k].segments = NULL;
		}
	}
	return 0;
}

/* --- runs --- */

/* `of` is NULL for a capture that is one run from its first tick to its last. */
static int add_run(struct reader *r, enum sample_side side, const struct run *of)
{
	uint64_t from = of ? of->from_ns : r->m.start_ns, to = of ? of->to_ns : r->m.to_ns;
	static const struct kd_rec_self nothing;
	int at = samples_run(r->t, side, r->host, r->boot), err;
	struct sample_run *run;
	char status[64];

	if (at == -E2BIG)
		return 0;
	if (at < 0)
		return at;
	run = &r->t->runs[at];
	run->file = r->file;
	run->index = of ? of->index : 0;
	/* Of --ab by where it stood, not by how many came before: one that is missing leaves a pair out. */
	run->pair = of && of->side != KD_SIDE_NONE ? of->index / 2 : r->seen[side];
	r->seen[side]++;
	run->duration_ns = to - from;
	run->cost_ns = cost_of(of ? &of->before : &nothing, of ? &of->after : &r->m.self);
	r->t->files[r->file].runs++;
	err = look_for_events(r, run, from, to);
	if (!err && of && of->blurred)
		err = disturbed(run, "a tick at its border was cut short", "");
	if (!err && of && of->status && of->status != KD_STATUS_UNKNOWN) {
		snprintf(status, sizeof(status), "its command ended with status %u", of->status);
		err = disturbed(run, status, "");
	}
	if (!err)
		err = reader_values(r, (size_t)at, of);
	return err ? err : hand_over_segments(r, (size_t)at);
}

static int on_run(void *ctx, const struct model *m, const struct run *run)
{
	struct reader *r = ctx;

	(void)m;
	if (!run->ticks) {
		log_warn("%s: run %u has no whole interval and is left out%s", r->path,
			 run->index + 1, run->side == KD_SIDE_NONE ? "" : ", and its pair");
		return 0;
	}
	if (r->side == SIDE_COUNT)
		return run->side == KD_SIDE_NONE
			       ? 0
			       : add_run(r, run->side == KD_SIDE_A ? SIDE_BASE : SIDE_NEW, run);
	if (run->side != KD_SIDE_NONE)
		return log_err(-EINVAL,
			       "%s: holds both sides (--ab): give it alone, without another",
			       r->path);
	return add_run(r, r->side, run);
}

/* --- the file --- */

static int keep_fact(struct sample_file *f, const char *name, const char *value)
{
	struct sample_fact *fact = &f->facts[f->nfacts++];

	fact->name = strdup(name);
	fact->value = strdup(value);
	return fact->name && fact->value ? 0 : -ENOMEM;
}

/* Those of the host, and what else decides whether captures compare. */
static int keep_facts(struct sample_file *f, const struct model *m, bool both)
{
	char sampling[32];
	size_t i;
	int err = 0;

	f->facts = calloc(m->nfacts + 2, sizeof(*f->facts));
	if (!f->facts)
		return -ENOMEM;
	for (i = 0; !err && i < m->nfacts; i++)
		err = keep_fact(f, m->facts[i].name, m->facts[i].value);
	snprintf(sampling, sizeof(sampling), "1/%" PRIu64, model_sampling(m, false, false));
	if (!err)
		err = keep_fact(f, "sampling", sampling);
	if (!err && m->nruns && !both)
		err = keep_fact(f, "command", m->runs[0].command);
	return err;
}

static int keep_plan(struct sample_file *f, const struct model *m)
{
	const struct measure_info *info;
	const struct plan_row *row;
	struct sample_plan *p;
	const char *flavour;
	size_t i;

	f->plan = calloc(m->nplan + 1, sizeof(*f->plan));
	if (!f->plan)
		return -ENOMEM;
	for (i = 0; i < m->nplan; i++) {
		row = &m->plan[i];
		info = measure_info(row->measure);
		flavour = flavour_name(row->flavour);
		p = &f->plan[f->nplan++];
		p->source = strdup(source_name(row->source));
		p->measure = strdup(info ? info->name : "?");
		p->flavour = strdup(flavour ? flavour : "");
		p->reason = strdup(row->reason);
		p->on = row->state == PLAN_ON;
		p->meaning = row->meaning;
		if (!p->source || !p->measure || !p->flavour || !p->reason)
			return -ENOMEM;
	}
	return 0;
}

static int add_file(struct samples *t, const char *path, enum sample_side side)
{
	struct sample_file *files = reallocarray(t->files, t->nfiles + 1, sizeof(*files)), *f;

	if (!files)
		return -ENOMEM;
	t->files = files;
	f = &files[t->nfiles];
	memset(f, 0, sizeof(*f));
	f->path = strdup(path);
	if (!f->path)
		return -ENOMEM;
	f->side[SIDE_BASE] = side != SIDE_NEW;
	f->side[SIDE_NEW] = side != SIDE_BASE;
	return (int)t->nfiles++;
}

/* Who and which boot: known from the first facts on, and needed when the first run ends. */
static int place(struct reader *r)
{
	const char *host = model_fact(&r->m, "hostname"), *cpu = model_fact(&r->m, "cpu_model");
	const char *boot = model_fact(&r->m, "boot_id");
	char name[512];
	int at;

	snprintf(name, sizeof(name), "%s, %s", host ? host : "?", cpu ? cpu : "?");
	at = samples_host(r->t, name);
	if (at < 0)
		return at;
	r->host = r->t->files[r->file].host = (uint32_t)at;
	at = samples_boot(r->t, boot ? boot : r->path);
	if (at < 0)
		return at;
	r->boot = r->t->files[r->file].boot = (uint32_t)at;
	return 0;
}

static int take(void *ctx, const struct kd_rec *rec)
{
	struct reader *r = ctx;
	bool started = r->m.started;
	int err = model_record(&r->m, rec);

	if (!err && !started && r->m.started)
		err = place(r);
	return err;
}

/* What could not be taken in must not go unseen. */
static void say_what_is_missing(struct reader *r, const struct stream *s,
				const struct capture_end *end)
{
	const struct run *last = r->m.nruns ? &r->m.runs[r->m.nruns - 1] : NULL;

	if (end->why)
		r->t->files[r->file].cut = strdup(end->why);
	stream_say_missing(s, r->path);
	if (last && !last->ended)
		log_warn("%s: run %u has no end and is left out", r->path, last->index + 1);
}

static int read_file(struct reader *r)
{
	struct capture_end end;
	struct stream s;
	int err;

	stream_init(&s, take, r);
	err = capture_read(r->path, &s, &end);
	if (err)
		return err;
	say_what_is_missing(r, &s, &end);
	if (!r->m.nruns && r->m.ticks && r->side != SIDE_COUNT)
		err = add_run(r, r->side, NULL);
	if (!err && r->side == SIDE_COUNT && !r->seen[SIDE_BASE] && !r->seen[SIDE_NEW])
		return log_err(
			-EINVAL,
			"%s: holds no two sides (record --ab): name a second capture to compare with",
			r->path);
	if (!err && !r->t->files[r->file].runs)
		log_warn("%s: holds no whole run", r->path);
	if (!err)
		err = keep_facts(&r->t->files[r->file], &r->m, r->side == SIDE_COUNT);
	if (!err)
		err = keep_plan(&r->t->files[r->file], &r->m);
	return err == -ENOMEM ? log_err(err, "%s: out of memory", r->path) : err;
}

int samples_read(struct samples *t, const char *path, enum sample_side side)
{
	struct reader r = { .t = t, .path = path, .side = side };
	int err = add_file(t, path, side);

	if (err < 0)
		return log_err(err, "%s: out of memory", path);
	r.file = (uint32_t)err;
	t->paired |= side == SIDE_COUNT;
	model_init(&r.m);
	r.m.on_interval = on_interval;
	r.m.on_run = on_run;
	r.m.ctx = &r;
	err = read_file(&r);
	model_free(&r.m);
	drop_going(&r);
	return err;
}
