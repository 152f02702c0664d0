// SPDX-License-Identifier: GPL-2.0-only
/* top_rows.c - a snapshot of the model for `kdefer top`: put together, remembered, freed. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "top_parts.h"

void top_init(struct top *t)
{
	memset(t, 0, sizeof(*t));
	tracks_init(&t->tracks);
}

void top_free(struct top *t)
{
	tracks_free(&t->tracks);
}

void top_reset(struct top *t, const struct model *m)
{
	tracks_forget(&t->tracks);
	t->newest = m->self;
	t->newest_ns = m->to_ns;
}

bool top_known(const struct top_row *r, enum top_column c)
{
	return !isnan(r->v[c]);
}

/* --- rows --- */

char *top_string(struct top_job *j, const char *s)
{
	char *copy = strdup(s);

	if (!copy)
		j->err = -ENOMEM;
	return copy;
}

struct top_row *top_add(struct top_job *j, enum top_kind kind, unsigned int source,
			const char *name, const char *id)
{
	struct top_snap *s = j->s;
	struct top_row *r;

	if (s->n == j->room) {
		size_t room = j->room ? 2 * j->room : 64;

		r = reallocarray(s->rows, room, sizeof(*r));
		if (!r) {
			j->err = -ENOMEM;
			return NULL;
		}
		s->rows = r;
		j->room = room;
	}
	r = &s->rows[s->n];
	*r = (struct top_row){ .kind = kind, .source = (uint8_t)source, .exact = true };
	r->by = KEY_NONE;
	r->name = strdup(name);
	r->id = strdup(id);
	if (!r->name || !r->id) {
		free(r->name);
		free(r->id);
		j->err = -ENOMEM;
		return NULL;
	}
	for (int c = 0; c < TOP_COLUMNS; c++)
		r->v[c] = NAN;
	s->n++;
	return r;
}

struct track *top_track(struct top_job *j, struct top_row *r)
{
	struct track *k = NULL;

	if (j->fresh)
		k = tracks_get(&j->t->tracks, r->id);
	r->track = k ? k : tracks_find(&j->t->tracks, r->id);
	return k;
}

static const struct {
	enum top_column column;
	enum track_what what;
} remembered[] = {
	{ TOP_PENDING, TRACK_PENDING }, { TOP_OLDEST, TRACK_OLDEST }, { TOP_DONE, TRACK_DONE },
	{ TOP_P50, TRACK_P50 },         { TOP_P99, TRACK_P99 },       { TOP_MAX, TRACK_MAX },
};

#define REMEMBERED (sizeof(remembered) / sizeof(remembered[0]))

/* Values of the interval: where another window is shown, the row has others than these. */
static void remember_metric(struct top_job *j, struct track *k, const struct hist *h,
			    const struct top_row *r)
{
	double seconds = (double)(j->m->to_ns - j->m->from_ns) / 1e9;
	uint64_t n, v;

	track_set_heat(k, h, top_first_octave(r->unit));
	if (!j->s->window) {
		for (size_t i = 0; i < REMEMBERED; i++)
			if (remembered[i].what >= TRACK_DONE)
				track_set(k, remembered[i].what, r->v[remembered[i].column]);
		return;
	}
	n = hist_count(h);
	track_set(k, TRACK_DONE, seconds > 0 ? (double)n / seconds : NAN);
	if (!hist_quantile(h, 0.5, &v))
		track_set(k, TRACK_P50, (double)v);
	if (!hist_quantile(h, 0.99, &v))
		track_set(k, TRACK_P99, (double)v);
	if (n)
		track_set(k, TRACK_MAX, (double)h->max);
}

struct track *top_remember(struct top_job *j, struct top_row *r, const struct hist *hist)
{
	struct track *k = top_track(j, r);

	if (k) {
		track_set(k, TRACK_PENDING, r->v[TOP_PENDING]);
		track_set(k, TRACK_OLDEST, r->v[TOP_OLDEST]);
		if (hist)
			remember_metric(j, k, hist, r);
		else if (!r->has_measure)
			track_set(k, TRACK_DONE, r->v[TOP_DONE]);
	}
	for (size_t i = 0; r->track && i < REMEMBERED; i++)
		if (track_unusual(r->track, remembered[i].what))
			r->unusual |= 1u << remembered[i].column;
	return k;
}

/* --- the same metric in two windows --- */

struct top_index {
	uint64_t hash;
	const struct metric *metric;
};

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ULL;
	return h ^ h >> 29;
}

static uint64_t hash_of(const struct metric *x)
{
	uint64_t h = mix(x->source | (uint64_t)x->measure << 8 | (uint64_t)x->flavour << 16 |
				 (uint64_t)x->bound << 24 | (uint64_t)x->by << 32,
			 x->keys.has);

	for (unsigned int k = 0; k < KEY_OTHER; k++) {
		const struct key_value *v = &x->keys.v[k];

		if (!(x->keys.has >> k & 1))
			continue;
		h = mix(h, v->number);
		for (const char *c = v->text; c && *c; c++)
			h = (h ^ (unsigned char)*c) * 1099511628211ULL;
	}
	return h;
}

static bool is_same(const struct metric *a, const struct metric *b)
{
	if (a->source != b->source || a->measure != b->measure || a->flavour != b->flavour ||
	    a->bound != b->bound || a->by != b->by || a->keys.has != b->keys.has)
		return false;
	for (unsigned int k = 0; k < KEY_OTHER; k++) {
		const struct key_value *x = &a->keys.v[k], *y = &b->keys.v[k];

		if (!(a->keys.has >> k & 1))
			continue;
		if (x->number != y->number || !x->text != !y->text ||
		    (x->text && strcmp(x->text, y->text)))
			return false;
	}
	return true;
}

static int by_hash(const void *pa, const void *pb)
{
	const struct top_index *a = pa, *b = pb;

	return a->hash < b->hash ? -1 : a->hash > b->hash;
}

static int make_index(struct top_job *j)
{
	j->index = calloc(j->nlatest + 1, sizeof(*j->index));
	if (!j->index)
		return -ENOMEM;
	for (size_t i = 0; i < j->nlatest; i++)
		j->index[i] = (struct top_index){ hash_of(&j->s->latest[i]), &j->s->latest[i] };
	qsort(j->index, j->nlatest, sizeof(*j->index), by_hash);
	return 0;
}

/* The same metric of the interval; NULL: nothing happened to it in there. */
const struct metric *top_latest(const struct top_job *j, const struct metric *x)
{
	const struct top_index want = { .hash = j->index ? hash_of(x) : 0 };
	const struct top_index *found;

	if (!j->index)
		return x;
	found = bsearch(&want, j->index, j->nlatest, sizeof(want), by_hash);
	return found && is_same(found->metric, x) ? found->metric : NULL;
}

void top_set_metric(struct top_job *j, struct top_row *r, const struct metric *x)
{
	double seconds = (double)j->s->length_ns / 1e9;
	uint64_t n = hist_count(&x->hist), v;

	r->has_measure = true;
	r->measure = x->measure;
	r->flavour = x->flavour;
	r->unit = measure_info(x->measure)->unit;
	r->v[TOP_DONE] = seconds > 0 ? (double)n / seconds : NAN;
	r->timed = !measure_info(x->measure)->count_only;
	r->count = n;
	if (!r->timed)
		return;
	r->hist = &x->hist;
	if (!n)
		return;
	if (!hist_quantile(&x->hist, 0.5, &v))
		r->v[TOP_P50] = (double)v;
	if (n >= 1000 && !hist_quantile(&x->hist, 0.99, &v)) /* of fewer it cannot be told */
		r->v[TOP_P99] = (double)v;
	r->v[TOP_MAX] = (double)x->hist.max;
}

unsigned int top_first_octave(enum unit unit)
{
	return unit == UNIT_NS ? 7 : 0; /* 128 ns: no wait is shorter */
}

struct backlog_query top_backlog(const struct top_job *j)
{
	struct backlog_query q = {
		.scope = j->t->scope,
		.filters = j->t->list_filters,
		.nfilters = j->t->nfilters,
	};

	q.scope.interval = !j->s->window;
	if (j->t->no_lists)
		q.scope.measures = 0;
	return q;
}

void top_filter(struct top *t, const struct filter *filters, size_t n)
{
	t->filters = filters;
	t->nfilters = n < TOP_FILTERS ? n : TOP_FILTERS;
	t->no_lists = false;
	for (size_t i = 0; i < t->nfilters; i++) {
		const char *name = filters[i].name ? filters[i].name : key_text(filters[i].key);
		enum backlog_key key;

		if (backlog_key_by_name(name, &key))
			t->no_lists = true;
		else
			t->list_filters[i] =
				(struct backlog_filter){ .key = key, .glob = filters[i].glob };
	}
}

/* --- a snapshot --- */

static int ask(struct top_job *j, bool interval, struct metric **out, size_t *n)
{
	const struct query q = {
		.interval = interval,
		.by = j->t->by,
		.hidden = j->t->scope.hidden,
		.filters = j->t->filters,
		.nfilters = j->t->nfilters,
	};

	return model_metrics(j->m, &q, out, n);
}

static int take(struct top *t, const struct model *m, struct top_snap *s, bool fresh)
{
	struct top_job j = { .t = t, .m = m, .s = s, .fresh = fresh };

	memset(s, 0, sizeof(*s));
	s->window = t->window;
	s->interval = m->ticks;
	s->length_ns = m->to_ns - (t->window ? m->start_ns : m->from_ns);
	j.err = ask(&j, true, &s->latest, &j.nlatest);
	s->metrics = s->latest;
	j.nshown = j.nlatest;
	if (!j.err && t->window)
		j.err = ask(&j, false, &s->metrics, &j.nshown);
	if (!j.err && t->window)
		j.err = make_index(&j);
	if (!j.err)
		top_add_head(&j);
	if (!j.err)
		top_add_overview(&j);
	if (!j.err)
		top_add_keys(&j);
	if (!j.err)
		top_add_lists(&j);
	if (!j.err)
		top_add_cpus(&j);
	free(j.index);
	return j.err;
}

int top_take(struct top *t, const struct model *m, struct top_snap *s)
{
	t->before = t->newest;
	t->before_ns = t->newest_ns;
	t->newest = m->self;
	t->newest_ns = m->to_ns;
	tracks_next(&t->tracks);
	if (!t->held)
		tracks_prune(&t->tracks);
	return take(t, m, s, true);
}

int top_again(struct top *t, const struct model *m, struct top_snap *s)
{
	return take(t, m, s, false);
}

void top_snap_free(struct top_snap *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->rows[i].name);
		free(s->rows[i].id);
		free(s->rows[i].note);
	}
	for (size_t i = 0; i < s->nevents; i++) {
		free(s->events[i].when);
		free(s->events[i].what);
		free(s->events[i].detail);
		free(s->events[i].report);
	}
	for (size_t i = 0; i < s->ngps; i++)
		free(s->gp[i].who);
	free(s->events);
	free(s->rows);
	free(s->cpu);
	free(s->host);
	free(s->time);
	free(s->held);
	free(s->cost);
	free(s->warning);
	if (s->metrics != s->latest)
		free(s->metrics);
	free(s->latest);
	memset(s, 0, sizeof(*s));
}
