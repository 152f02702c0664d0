// SPDX-License-Identifier: GPL-2.0-only
/* samples_values.c - the values of one run: totals, keys, lists, what the command said, losses. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalog.h"
#include "plan.h"
#include "samples_read.h"

/* --- subjects --- */

static void add_pair(struct sample_subject *s, const char *name, const char *value)
{
	if (s->npairs < SAMPLE_PAIRS && value)
		s->pairs[s->npairs++] = (struct sample_pair){ name, (char *)value };
}

/* Numbers that the kernel gives anew each time: those of one side say nothing of the other's. */
static bool is_number_of_boot(enum key_name key)
{
	return key == KEY_MAP_ID || key == KEY_CGROUP_ID || key == KEY_HIERARCHY ||
	       key == KEY_TGID || key == KEY_FLUSHER_CGROUP_ID;
}

static const char *key_as_text(enum key_name key, const struct key_value *v, char *buf, size_t size)
{
	switch (key_info(key)->type) {
	case KEY_NUMBER:
		snprintf(buf, size, "%" PRIu64, v->number);
		return buf;
	case KEY_BOOL:
		return v->number ? "true" : "false";
	default:
		return v->text;
	}
}

/* numbers: room for as many as there are pairs. */
static void add_pairs(struct sample_subject *s, const struct metric *x, char numbers[][24])
{
	unsigned int key;

	for (key = 0; key < KEY_OTHER && s->npairs < SAMPLE_PAIRS - 1; key++)
		if (key_has(&x->keys, key) && !is_number_of_boot(key))
			add_pair(s, key_text(key),
				 key_as_text(key, &x->keys.v[key], numbers[s->npairs],
					     sizeof(numbers[0])));
	if (x->bound)
		add_pair(s, "bound", x->bound & KD_SERIES_UPPER ? "upper" : "lower");
}

static void rename_keys(const struct reader *r, struct sample_subject *s)
{
	size_t i, k;

	for (i = 0; r->side == SIDE_BASE && i < r->t->naliases; i++)
		for (k = 0; k < s->npairs; k++)
			if (!strcmp(s->pairs[k].value, r->t->aliases[i].old))
				s->pairs[k].value = (char *)r->t->aliases[i].new;
}

int reader_subject(struct reader *r, const struct metric *x)
{
	const struct measure_info *info = measure_info(x->measure);
	struct sample_subject s = { .kind = SUBJECT_MEASURE };
	char numbers[SAMPLE_PAIRS][24];

	if (info && info->pending)
		return -E2BIG; /* it has no histogram: put_levels() */
	s.source = (char *)source_name(x->source);
	s.measure = (char *)(info ? info->name : "?");
	s.better = info && info->unit == UNIT_NS ? KD_BETTER_LOWER : KD_BETTER_NONE;
	s.total = x->by == KEY_NONE;
	snprintf(s.unit, sizeof(s.unit), "%s", info ? unit_name(info->unit) : "count");
	add_pairs(&s, x, numbers);
	if (!s.total && !s.npairs)
		return -E2BIG; /* nothing tells it from the total: a map without a name */
	rename_keys(r, &s);
	return samples_subject(r->t, &s);
}

/* --- values of a run --- */

static bool is_count_only(const struct metric *x)
{
	const struct measure_info *info = measure_info(x->measure);

	return info && info->count_only;
}

static void put_stats(struct sample_values *v, const struct metric *x, uint64_t duration_ns)
{
	unsigned int stat;

	v->count += hist_count(&x->hist);
	for (stat = STAT_MEAN; stat <= STAT_MAX && !is_count_only(x); stat++) {
		v->v[stat] = stat_of_hist(&x->hist, stat);
		v->resolution[stat] = (float)stat_resolution(&x->hist, stat);
	}
	if (duration_ns)
		v->v[STAT_RATE] = (double)v->count * 1e9 / (double)duration_ns;
}

/* Several rows of one subject, as maps of one name, are one: all go into row i. */
static void gather(struct metric *x, int *at, size_t i, size_t n)
{
	for (size_t k = i + 1; k < n; k++) {
		if (at[k] != at[i])
			continue;
		hist_merge(&x[i].hist, &x[k].hist);
		at[k] = -E2BIG;
	}
}

static int put_metrics(struct reader *r, size_t run, bool one_run)
{
	struct query q = { .one_run = one_run, .top = SAMPLES_KEYS };
	uint64_t duration_ns = r->t->runs[run].duration_ns;
	struct sample_values *v;
	struct metric *x;
	size_t n, i;
	int err = model_metrics(&r->m, &q, &x, &n), *at;

	if (err)
		return err;
	at = calloc(n + 1, sizeof(*at));
	if (!at)
		err = -ENOMEM;
	for (i = 0; !err && i < n; i++) {
		/* The rest of one side is not that of the other. */
		at[i] = key_has(&x[i].keys, KEY_OTHER) ? -E2BIG : reader_subject(r, &x[i]);
		if (at[i] < 0 && at[i] != -E2BIG)
			err = -ENOMEM;
	}
	for (i = 0; !err && i < n; i++) {
		if (at[i] < 0)
			continue;
		gather(x, at, i, n);
		v = samples_values(r->t, run, (size_t)at[i]);
		if (v)
			put_stats(v, &x[i], duration_ns);
		else
			err = -ENOMEM;
	}
	free(at);
	free(x);
	return err;
}

static int put_value(struct reader *r, size_t run, const struct sample_subject *s, double value)
{
	int at = samples_subject(r->t, s);
	struct sample_values *v;

	if (at == -E2BIG)
		return 0;
	v = at < 0 ? NULL : samples_values(r->t, run, (size_t)at);
	if (!v)
		return -ENOMEM;
	v->v[STAT_VALUE] = value;
	v->count++;
	return 0;
}

/* --- lists --- */

struct level {
	uint64_t peak;
	double mean; /* over the time of the run */
};

/* Of the sum over the lists of a source, or over one list's keys and CPUs. */
static int put_level(struct reader *r, size_t run, const struct level_key *k, const struct level *l)
{
	struct sample_subject s = { .kind = SUBJECT_LEVEL,
				    .source = (char *)source_name(k->source),
				    .measure = (char *)"pending",
				    .unit = "count",
				    .better = KD_BETTER_LOWER,
				    .total = k->kind == PENDING_SOURCE };
	const char *list = pending_text(&r->m.pending, KD_NAME_LIST, k->source, k->list, 0);
	struct sample_values *v;
	int at;

	if (!s.total) {
		add_pair(&s, k->source == KD_SRC_RSTAT ? "subsystem" : "flavour",
			 flavour_name(k->flavour));
		add_pair(&s, "list", list ? list : list_name(k->list));
	}
	rename_keys(r, &s);
	at = samples_subject(r->t, &s);
	if (at == -E2BIG)
		return 0;
	v = at < 0 ? NULL : samples_values(r->t, run, (size_t)at);
	if (!v)
		return -ENOMEM;
	v->v[STAT_PEAK] = (double)l->peak;
	v->v[STAT_MEAN] = l->mean;
	v->count++;
	return 0;
}

static struct level level_of(const struct reader *r, const struct pending_node *n, bool one_run,
			     uint64_t duration_ns)
{
	struct pending_span span;

	if (one_run)
		pending_run_span(&r->m, n, &span);
	else
		pending_whole_span(&r->m, n, &span);
	return (struct level){ .peak = span.peak,
			       .mean = duration_ns ? (double)span.area / (double)duration_ns
						   : NAN };
}

/* A source whose lists are watched and were empty all the time waits for nothing: that is a 0. */
static int put_empty_levels(struct reader *r, size_t run)
{
	static const struct level nothing;
	const struct measure_info *info;
	size_t i;
	int err = 0;

	for (i = 0; !err && i < r->m.nplan; i++) {
		info = measure_info(r->m.plan[i].measure);
		if (info && info->pending && r->m.plan[i].state == PLAN_ON &&
		    r->m.plan[i].source != KD_SRC_RCU_GP) /* which has no lists */
			err = put_level(r, run,
					&(struct level_key){ .kind = PENDING_SOURCE,
							     .source = r->m.plan[i].source },
					&nothing);
	}
	return err;
}

static int put_levels(struct reader *r, size_t run, bool one_run)
{
	const struct pending *p = &r->m.pending;
	uint64_t duration_ns = r->t->runs[run].duration_ns;
	struct level l;
	size_t i;
	int err = put_empty_levels(r, run);

	for (i = 0; !err && i < p->table.n; i++) {
		if (p->table.keys[i].kind != PENDING_SOURCE &&
		    p->table.keys[i].kind != PENDING_TOTAL)
			continue;
		l = level_of(r, &p->node[i], one_run, duration_ns);
		err = put_level(r, run, &p->table.keys[i], &l);
	}
	return err;
}

/* What the command said of itself; of a name given several times the last counts. */
static int put_command_values(struct reader *r, size_t run, const struct run *of)
{
	struct sample_subject s = { .kind = SUBJECT_VALUE,
				    .source = (char *)"metric",
				    .total = true };
	size_t i;
	int err = 0;

	for (i = 0; !err && i < of->nvalues; i++) {
		s.measure = of->values[i].name;
		s.better = of->values[i].better;
		snprintf(s.unit, sizeof(s.unit), "%s", of->values[i].unit);
		err = put_value(r, run, &s, of->values[i].value);
	}
	return err;
}

static uint64_t lost(const struct reader *r, const struct run *of, unsigned int source,
		     unsigned int what)
{
	if (of)
		return of->lost[source][what];
	return r->m.source[source].total[what] - r->m.source[source].base[what];
}

static int put_lost(struct reader *r, size_t run, const struct run *of)
{
	struct sample_subject s = { .kind = SUBJECT_LOST,
				    .source = (char *)"lost",
				    .unit = "count",
				    .better = KD_BETTER_LOWER };
	uint64_t any = 0, kind;
	unsigned int what, source;
	int err = 0;

	for (what = 0; !err && what < KD_LOST_COUNT; what++) {
		for (kind = 0, source = 0; source < KD_SRC_COUNT; source++)
			kind += lost(r, of, source, what);
		any += lost_by_design(what) ? 0 : kind;
		s.measure = (char *)lost_name(what);
		err = put_value(r, run, &s, (double)kind);
	}
	s.measure = (char *)"any";
	return err ? err : put_value(r, run, &s, (double)any);
}

int reader_values(struct reader *r, size_t run, const struct run *of)
{
	int err = put_metrics(r, run, of);

	if (!err)
		err = put_levels(r, run, of);
	if (!err && of)
		err = put_command_values(r, run, of);
	return err ? err : put_lost(r, run, of);
}
