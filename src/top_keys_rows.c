// SPDX-License-Identifier: GPL-2.0-only
/* top_keys_rows.c - what the views of one source show: its keys, its lists, its CPUs. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "model.h"
#include "text.h"
#include "top_parts.h"
#include "view_lists.h"
#include "view_parts.h"

#define CPUS_MOST 8192 /* a hostile capture may name any CPU */

/* --- keys of measures --- */

static bool has_several_flavours(const struct top_job *j, const struct metric *x)
{
	for (size_t i = 0; i < j->nshown; i++) {
		const struct metric *y = &j->s->metrics[i];

		if (y->source == x->source && y->measure == x->measure && y->by == KEY_NONE &&
		    y->flavour != x->flavour)
			return true;
	}
	return false;
}

static void name_of(const struct top_job *j, const struct metric *x, char *name, size_t size)
{
	if (!key_has(&x->keys, KEY_OTHER))
		view_key(name, size, &x->keys, x->by);
	else
		snprintf(name, size, "other");
	if (x->keys.has & KEY_GROUPS && has_several_flavours(j, x))
		text_append(name, size, " (%s)", flavour_name(x->flavour));
	text_append(name, size, "%s", view_bound(x));
}

/* So that the row is still there in an interval in which nothing happens to it. */
static void keep_known(const struct top_job *j, struct track *k, const struct top_row *r,
		       const struct metric *latest)
{
	if (!k->label)
		k->label = strdup(r->name); /* without memory it is not kept */
	k->source = r->source;
	k->measure = r->measure;
	k->flavour = r->flavour;
	k->by = (uint8_t)r->by;
	k->rest = r->rest;
	k->quiet = !latest;
	k->total += !latest ? 0 : j->s->window ? hist_count(&latest->hist) : r->count;
}

static void add_key(struct top_job *j, const struct metric *x)
{
	const struct metric *latest = top_latest(j, x);
	char name[VIEW_KEY + 64], id[VIEW_KEY + 128];
	struct top_row *r;
	struct track *k;

	name_of(j, x, name, sizeof(name));
	snprintf(id, sizeof(id), "k/%u/%u/%u/%u/%s", x->measure, x->by, x->flavour, x->bound,
		 key_has(&x->keys, KEY_OTHER) ? "\x01" : name);
	r = top_add(j, TOP_KEY, x->source, name, id);
	if (!r)
		return;
	r->by = x->by;
	r->rest = key_has(&x->keys, KEY_OTHER);
	top_set_metric(j, r, x);
	k = top_remember(j, r, latest ? &latest->hist : NULL);
	if (k)
		keep_known(j, k, r, latest);
}

/* Nothing happened to it in this interval. */
static void add_quiet(struct top_job *j, struct track *k)
{
	struct top_row *r = top_add(j, TOP_KEY, k->source, k->label, k->name);

	if (!r)
		return;
	r->by = (enum key_name)k->by;
	r->measure = k->measure;
	r->flavour = k->flavour;
	r->rest = k->rest;
	r->has_measure = true;
	r->unit = measure_info(k->measure)->unit;
	r->timed = !measure_info(k->measure)->count_only;
	r->v[TOP_DONE] = 0;
	if (j->fresh) {
		uint64_t active = k->active;

		tracks_get(&j->t->tracks, k->name); /* moves it on */
		k->active = active;
		track_set(k, TRACK_DONE, 0);
		k->quiet = true;
	}
	r->track = k;
}

static void add_quiet_keys(struct top_job *j)
{
	struct tracks *t = &j->t->tracks;

	for (size_t i = 0; i < t->n && !j->err; i++) {
		struct track *k = t->track[i];

		if (k->label && (k->interval != t->interval || k->quiet))
			add_quiet(j, k);
	}
}

/* By table; in each those with the most events since the baseline first, the rest last. */
static int by_total(const void *pa, const void *pb)
{
	const struct top_row *a = pa, *b = pb;
	uint64_t x = a->track ? a->track->total : 0, y = b->track ? b->track->total : 0;

	if (a->source != b->source)
		return a->source - b->source;
	if (a->measure != b->measure)
		return a->measure - b->measure;
	if (a->by != b->by)
		return (int)a->by - (int)b->by;
	if (a->rest != b->rest)
		return a->rest - b->rest;
	return x > y ? -1 : x < y ? 1 : strcmp(a->id, b->id);
}

void top_add_keys(struct top_job *j)
{
	size_t first = j->s->n;

	for (size_t i = 0; i < j->nshown && !j->err; i++) {
		const struct metric *x = &j->s->metrics[i];

		if (x->by != KEY_NONE && scope_has_measure(&j->t->scope, x->measure))
			add_key(j, x);
	}
	if (!j->s->window)
		add_quiet_keys(j);
	if (j->s->n > first)
		qsort(j->s->rows + first, j->s->n - first, sizeof(*j->s->rows), by_total);
}

/* --- lists --- */

static void set_list(struct top_job *j, struct top_row *r, const struct backlog_row *b)
{
	const struct backlog_query q = top_backlog(j);
	double per_s;

	r->flavour = b->flavour;
	r->exact = b->exact;
	r->truncated = b->truncated;
	r->unsized = b->unsized;
	r->v[TOP_PENDING] = (double)b->length;
	if (backlog_holds_memory(b->source) && (b->bytes || !b->unsized))
		r->v[TOP_BYTES] = (double)b->bytes;
	if (b->age_ns != KD_UNKNOWN)
		r->v[TOP_OLDEST] = (double)b->age_ns;
	if (backlog_rate(j->m, &q.scope, b, &per_s))
		r->v[TOP_CHANGE] = per_s;
}

static void add_list(struct top_job *j, const struct backlog_row *b)
{
	const char *fl = flavour_name(b->flavour);
	char name[LISTS_NAME], id[LISTS_NAME + 64], list[LISTS_NAME];
	struct top_row *r;

	fmt_safe(list, sizeof(list), backlog_list(j->m, b));
	snprintf(name, sizeof(name), "%.800s%s%s", list, fl ? "  " : "", fl ? fl : "");
	snprintf(id, sizeof(id), "l/%u/%u/%u", b->source, b->flavour, b->list);
	r = top_add(j, TOP_LIST, b->source, name, id);
	if (!r)
		return;
	set_list(j, r, b);
	top_remember(j, r, NULL);
}

/* "flows (12)  free_llist  64" */
static void add_entry(struct top_job *j, const struct backlog_row *b)
{
	char name[2 * LISTS_NAME], id[2 * LISTS_NAME + 64], list[LISTS_NAME];
	const char *fl = flavour_name(b->flavour);
	struct top_row *r;

	view_lists_key(name, sizeof(name) - 300, j->m, b, j->t->scope.raw_addresses);
	fmt_safe(list, 128, backlog_list(j->m, b));
	text_append(name, sizeof(name), "  %s", list);
	if (b->unit_size)
		text_append(name, sizeof(name), "  %" PRIu32, b->unit_size);
	if (fl)
		text_append(name, sizeof(name), "  %s", fl);
	snprintf(id, sizeof(id), "e/%u/%u/%u/%" PRIx64 "/%u/%s", b->source, b->flavour, b->list,
		 b->key, b->unit_size, b->other ? "\x01" : "");
	r = top_add(j, TOP_ENTRY, b->source, name, id);
	if (!r)
		return;
	set_list(j, r, b);
	top_remember(j, r, NULL);
}

static bool has_key(const struct backlog_row *b)
{
	return b->key || b->unit_size || b->other;
}

void top_add_lists(struct top_job *j)
{
	struct backlog_query q = top_backlog(j);
	struct backlog_row *rows;
	size_t n;

	j->err = backlog_totals(j->m, &q, &rows, &n);
	if (j->err)
		return;
	for (size_t i = 0; i < n && !j->err; i++)
		add_list(j, &rows[i]);
	free(rows);
	q.top = TOP_LISTS_MAX;
	if (!j->err)
		j->err = backlog_rows(j->m, &q, &rows, &n);
	if (j->err)
		return;
	for (size_t i = 0; i < n && !j->err; i++)
		if (has_key(&rows[i]))
			add_entry(j, &rows[i]);
	free(rows);
}

/* --- CPUs --- */

static size_t count_cpus(const struct model *m)
{
	uint64_t n = model_fact_u64(m, "cpus_possible", 0), named = 0;

	for (size_t i = 0; i < m->pending.table.n; i++) {
		const struct level_key *k = &m->pending.table.keys[i];

		if (k->kind == PENDING_LIST && k->cpu < CPUS_MOST && k->cpu >= named)
			named = (uint64_t)k->cpu + 1;
	}
	n = n > named ? n : named;
	return n > CPUS_MOST ? CPUS_MOST : (size_t)n;
}

static void add_to(double *sum, double v)
{
	*sum = (isnan(*sum) ? 0 : *sum) + v;
}

static void add_cpu_lists(struct top_job *j)
{
	const struct pending *p = &j->m->pending;

	for (size_t i = 0; i < p->table.n; i++) {
		const struct level_key *k = &p->table.keys[i];

		if (k->kind == PENDING_LIST && k->cpu < j->s->ncpus &&
		    scope_has(&j->t->scope, pending_measure(k->source)->id, k->flavour))
			add_to(&j->s->cpu[k->cpu].pending[k->source], (double)p->node[i].length);
	}
}

/* Counted by CPU only where that was asked for: `--by cpu`, or a recording. */
static void add_cpu_counts(struct top_job *j)
{
	const struct model *m = j->m;
	double seconds = (double)(m->to_ns - m->from_ns) / 1e9;

	for (size_t i = 0; i < m->nseries && seconds > 0; i++) {
		const struct series *s = &m->series[i];

		if (!s->declared || s->dim != KD_DIM_CPU || s->key[0] >= j->s->ncpus ||
		    !scope_has(&j->t->scope, s->measure, s->flavour))
			continue;
		add_to(&j->s->cpu[s->key[0]].done[s->source],
		       s->hists ? (double)hist_count(&s->hists->interval) / seconds : 0);
	}
}

static void add_owing(struct top_job *j)
{
	const struct backlog_query q = top_backlog(j);

	for (unsigned int f = 0; f < KD_FL_COUNT; f++) {
		const struct pending_gp *g = backlog_gp(j->m, &q, f);

		for (size_t i = 0; g && i < g->nowed; i++)
			if (!g->owed[i].is_task && g->owed[i].cpu < j->s->ncpus)
				j->s->cpu[g->owed[i].cpu].owes |= 1u << f;
	}
}

void top_add_cpus(struct top_job *j)
{
	struct top_snap *s = j->s;
	size_t n = count_cpus(j->m);

	s->cpu = calloc(n + 1, sizeof(*s->cpu));
	if (!s->cpu) {
		j->err = -ENOMEM;
		return;
	}
	s->ncpus = n;
	for (size_t i = 0; i < n; i++)
		for (int src = 0; src < KD_SRC_COUNT; src++)
			s->cpu[i].pending[src] = s->cpu[i].done[src] = NAN;
	add_cpu_lists(j);
	add_cpu_counts(j);
	add_owing(j);
}
