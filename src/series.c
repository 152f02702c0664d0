// SPDX-License-Identifier: GPL-2.0-only
/*
 * series.c - the part of the model that counts: series by id, their totals, worst samples.
 *
 * A tick costs what changed since the tick before, however many series there are: a hostile capture
 * can hold a hundred thousand series and then millions of ticks.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "log.h"
#include "series.h"

#define SLOTS_MIN 64

_Static_assert(KD_HIST_GROUPS <= 64, "a group has a bit in next_groups");

void series_init(struct model *m)
{
	/* So that the writer of a capture cannot foresee the hash; else the time has to do. */
	if (getrandom(&m->seed, sizeof(m->seed), GRND_NONBLOCK) != sizeof(m->seed))
		m->seed = (uint64_t)time(NULL) * 0x9e3779b97f4a7c15ull;
	m->seed |= 1;
}

static void free_names(char *name[SERIES_NAMES])
{
	int i;

	for (i = 0; i < SERIES_NAMES; i++)
		free(name[i]);
}

void series_free(struct model *m)
{
	size_t i;

	for (i = 0; i < m->nseries; i++) {
		free_names(m->series[i].name);
		free(m->series[i].hists);
	}
	free(m->series);
	free(m->groups);
	free(m->slots);
}

/* The slot that holds this id, or the free one where it belongs. */
static size_t find_slot(const struct model *m, uint32_t id)
{
	size_t i = (id * m->seed) >> (64 - __builtin_ctzll(m->nslots));

	while (m->slots[i] && m->series[m->slots[i] - 1].id != id)
		i = (i + 1) & (m->nslots - 1);
	return i;
}

static struct series *find_series(const struct model *m, uint32_t id)
{
	uint32_t at = m->nslots ? m->slots[find_slot(m, id)] : 0;

	return at ? &m->series[at - 1] : NULL;
}

const struct series *model_series(const struct model *m, uint32_t id)
{
	const struct series *s = find_series(m, id);

	return s && s->declared ? s : NULL;
}

/* Keeps the table at most half full. */
static int grow_slots(struct model *m)
{
	size_t i, n = m->nslots ? 2 * m->nslots : SLOTS_MIN;
	uint32_t *slots;

	if (2 * (m->nseries + 1) <= m->nslots)
		return 0;
	slots = calloc(n, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(m->slots);
	m->slots = slots;
	m->nslots = n;
	for (i = 0; i < m->nseries; i++)
		m->slots[find_slot(m, m->series[i].id)] = (uint32_t)i + 1;
	return 0;
}

static int add_series(struct model *m, uint32_t id, struct series **out)
{
	struct series *series = model_grown(m->series, m->nseries, sizeof(*series));

	if (!series)
		return -ENOMEM;
	m->series = series;
	if (grow_slots(m))
		return -ENOMEM;
	*out = &m->series[m->nseries++];
	memset(*out, 0, sizeof(**out));
	(*out)->id = id;
	m->slots[find_slot(m, id)] = (uint32_t)m->nseries;
	return 0;
}

/* *out = NULL where a bound leaves the series out. */
static int get_series(struct model *m, uint32_t id, struct series **out)
{
	*out = find_series(m, id);
	if (*out)
		return 0;
	if (m->nseries >= MODEL_SERIES_MAX)
		return model_refuse(m, "series");
	return add_series(m, id, out);
}

/* A series that can take totals; anonymous where it was not declared. */
static int get_counting(struct model *m, uint32_t id, struct series **out)
{
	struct series_hists *h;
	int err;

	*out = find_series(m, id);
	if (*out && (*out)->hists)
		return 0;
	if (m->nhists >= MODEL_HISTS_MAX) {
		*out = NULL;
		return model_refuse(m, "series with samples");
	}
	err = get_series(m, id, out);
	if (err || !*out)
		return err;
	h = calloc(1, sizeof(*h));
	if (!h)
		return -ENOMEM;
	h->total.min = h->interval.min = h->run.min = h->next.min = UINT64_MAX;
	(*out)->hists = h;
	m->nhists++;
	return 0;
}

static void mark_changed(struct model *m, struct series *s)
{
	if (s->changed)
		return;
	s->changed = true;
	s->next_changed = m->changed;
	m->changed = (uint32_t)(s - m->series) + 1;
}

/* --- worst samples --- */

/* A total order, so that the list does not depend on the order in which samples came. */
static bool is_worse(const struct worst *a, const struct worst *b)
{
	if (a->value != b->value)
		return a->value > b->value;
	if (a->mono_ns != b->mono_ns)
		return a->mono_ns < b->mono_ns;
	return a->cpu != b->cpu ? a->cpu < b->cpu : a->series < b->series;
}

static void add_worst(struct worst_list *list, const struct worst *w)
{
	int at = 0;

	while (at < list->n && is_worse(&list->w[at], w))
		at++;
	/* Not worse than the one it would push down: the same one, repeated. */
	if (at == MODEL_WORST || (at < list->n && !is_worse(w, &list->w[at])))
		return;
	if (list->n < MODEL_WORST)
		list->n++;
	memmove(&list->w[at + 1], &list->w[at], (size_t)(list->n - at - 1) * sizeof(*w));
	list->w[at] = *w;
}

static struct group *find_group(const struct model *m, const struct series *s)
{
	size_t i;

	for (i = 0; i < m->ngroups; i++)
		if (m->groups[i].source == s->source && m->groups[i].measure == s->measure &&
		    m->groups[i].flavour == s->flavour && m->groups[i].bound == series_bound(s))
			return &m->groups[i];
	return NULL;
}

static int get_group(struct model *m, const struct series *s, struct group **out)
{
	struct group *groups;

	*out = find_group(m, s);
	if (*out)
		return 0;
	groups = model_grown(m->groups, m->ngroups, sizeof(*groups));
	if (!groups)
		return -ENOMEM;
	m->groups = groups;
	*out = &groups[m->ngroups++];
	memset(*out, 0, sizeof(**out));
	(*out)->source = s->source;
	(*out)->measure = s->measure;
	(*out)->flavour = s->flavour;
	(*out)->bound = series_bound(s);
	return 0;
}

static void adopt_orphans(struct model *m, struct group *g, uint32_t id)
{
	struct worst_list *o = &m->orphans;
	int i, kept = 0;

	for (i = 0; i < o->n; i++) {
		if (o->w[i].series == id)
			add_worst(&g->next, &o->w[i]);
		else
			o->w[kept++] = o->w[i];
	}
	o->n = kept;
}

/* What stands between the kernel's function and a program that looks at its stack. */
static bool is_way_in(const char *name)
{
	static const char *const ways[] = { "bpf_prog_", "bpf_trampoline_", "bpf_trace_run",
					    "__bpf_trace_", "__traceiter_" };

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strncmp(name, ways[i], strlen(ways[i])))
			return true;
	return false;
}

/* Without the way into our program; an address of 0 ends it. */
static void set_stack(struct worst *w, const char *names)
{
	size_t len = strlen(names), at = 0, n;

	while (names[at] && is_way_in(names + at)) {
		at += strcspn(names + at, " ");
		at += names[at] == ' ';
	}
	for (n = at; n < len && strncmp(names + n, "0x0", 3); n += names[n] == ' ')
		n += strcspn(names + n, " ");
	while (n > at && names[n - 1] == ' ')
		n--;
	memcpy(w->stack, names + at, n - at);
	w->stack[n - at] = '\0';
}

static void set_who(struct worst *w, const struct kd_rec_worst_who *r)
{
	char names[sizeof(r->stack)] = "";

	w->pid = r->pid;
	w->tgid = r->tgid;
	w->cgroup_id = r->cgroup;
	memcpy(w->comm, r->comm, sizeof(w->comm) - 1);
	memcpy(names, r->stack, sizeof(names) - 1);
	set_stack(w, names);
}

int series_record_worst(struct model *m, const struct kd_rec_worst *r)
{
	struct worst w = {
		.mono_ns = r->mono_ns,
		.value = r->value,
		.cpu = r->cpu,
		.series = r->rec.id,
	};
	const struct series *s = model_series(m, r->rec.id);

	if (r->rec.len >= sizeof(struct kd_rec_worst_who))
		set_who(&w, (const void *)r);
	/* A declared series has its group. */
	add_worst(s ? &find_group(m, s)->next : &m->orphans, &w);
	return 0;
}

/* --- what a series is, and its totals --- */

/* "symbol [module]"; brackets with nothing in them, or not at the end, are part of the symbol. */
static int split_symbol(const char *whole, char *name[SERIES_NAMES])
{
	const char *open = strrchr(whole, '[');
	size_t len = strlen(whole), flen = len, mlen = open ? strlen(open) : 0;

	if (mlen > 2 && whole[len - 1] == ']' && open > whole && open[-1] == ' ') {
		name[1] = strndup(open + 1, mlen - 2);
		flen = len - mlen - 1;
		if (!name[1])
			return -ENOMEM;
	}
	if (!flen)
		return 0;
	name[0] = strndup(whole, flen);
	return name[0] ? 0 : -ENOMEM;
}

/* One string after another; where the writer had no room, the last ones are missing. */
static int split_strings(const char *all, int n, char *name[SERIES_NAMES])
{
	size_t at = 0, len;
	int i;

	for (i = 0; i < n && at < KD_NAME_LEN; i++, at += len + 1) {
		len = strnlen(all + at, KD_NAME_LEN - at);
		if (!len)
			continue;
		name[i] = strndup(all + at, len);
		if (!name[i])
			return -ENOMEM;
	}
	return 0;
}

static int split_names(const struct kd_rec_series *r, char *name[SERIES_NAMES])
{
	if (key_of_measure(r->measure) & KEY_BIT(KEY_MODULE))
		return split_symbol(r->name, name);
	return split_strings(r->name, r->dim == KD_DIM_FLUSHER ? SERIES_NAMES : 1, name);
}

int series_record_series(struct model *m, const struct kd_rec_series *r)
{
	char *name[SERIES_NAMES] = { 0 };
	struct series *s;
	struct group *g;
	int err = get_series(m, r->rec.id, &s);

	if (err || !s)
		return err;
	err = split_names(r, name);
	if (err) {
		free_names(name);
		return err;
	}
	free_names(s->name);
	memcpy(s->name, name, sizeof(s->name));
	s->source = r->source;
	s->measure = r->measure;
	s->flavour = r->flavour;
	s->dim = r->dim;
	s->flags = r->flags;
	memcpy(s->key, r->key, sizeof(s->key));
	m->source[s->source].seen = true;
	s->declared = false; /* it must not be found without its group */
	err = get_group(m, s, &g);
	if (err)
		return err;
	s->declared = true;
	adopt_orphans(m, g, s->id);
	return 0;
}

/* A smaller total is an older one: late, or repeated. */
int series_record_hist(struct model *m, const struct kd_rec_hist *r)
{
	uint64_t *total, *next, grew = 0;
	struct series *s;
	int i, err = get_counting(m, r->rec.id, &s);

	if (err || !s)
		return err;
	total = &s->hists->total.bucket[r->group * KD_HIST_SUB];
	next = &s->hists->next.bucket[r->group * KD_HIST_SUB];
	for (i = 0; i < KD_HIST_SUB; i++) {
		if (r->count[i] <= total[i])
			continue;
		grew |= r->count[i];
		next[i] += r->count[i] - total[i];
		total[i] = r->count[i];
	}
	if (!grew)
		return 0;
	s->hists->next_groups |= 1ull << r->group;
	s->hists->total.groups |= 1ull << r->group;
	s->hists->next.groups |= 1ull << r->group;
	mark_changed(m, s);
	return 0;
}

static void widen(struct hist *h, uint64_t min, uint64_t max)
{
	if (min < h->min)
		h->min = min;
	if (max > h->max)
		h->max = max;
}

int series_record_stat(struct model *m, const struct kd_rec_stat *r)
{
	struct series *s;
	int err = get_counting(m, r->rec.id, &s);

	if (err || !s)
		return err;
	if (r->sum > s->hists->total.sum) {
		s->hists->next.sum += r->sum - s->hists->total.sum;
		s->hists->total.sum = r->sum;
	}
	if (r->min <= r->max) {
		widen(&s->hists->total, r->min, r->max);
		widen(&s->hists->next, r->min, r->max);
	}
	mark_changed(m, s);
	return 0;
}

/* --- the end of an interval --- */

static void clear_hist(struct hist *h, uint64_t *groups)
{
	for (; *groups; *groups &= *groups - 1)
		memset(&h->bucket[__builtin_ctzll(*groups) * KD_HIST_SUB], 0,
		       KD_HIST_SUB * sizeof(h->bucket[0]));
	h->groups = 0;
	h->sum = 0;
	h->min = UINT64_MAX;
	h->max = 0;
}

static void add_groups(struct hist *into, const struct hist *from, uint64_t groups)
{
	int i, at;

	into->groups |= groups;
	for (; groups; groups &= groups - 1) {
		at = __builtin_ctzll(groups) * KD_HIST_SUB;
		for (i = at; i < at + KD_HIST_SUB; i++)
			into->bucket[i] += from->bucket[i];
	}
	into->sum += from->sum;
}

/* The counts of the run of the command that is going on; those of the run before make room. */
static struct hist *open_one_run(const struct model *m, struct series_hists *h)
{
	if (!m->running)
		return NULL;
	if (h->one_run_of != m->nruns) {
		hist_init(&h->one_run);
		h->one_run_of = (uint32_t)m->nruns;
	}
	return &h->one_run;
}

static void add_to_run(const struct model *m, struct series_hists *h)
{
	struct hist *run = open_one_run(m, h);

	if (!run)
		return;
	add_groups(run, &h->next, h->next_groups);
	widen(run, h->next.min, h->next.max);
}

const struct hist *model_run_hist(const struct model *m, const struct series *s)
{
	bool any = s->hists && m->nruns && s->hists->one_run_of == m->nruns;

	return any ? &s->hists->one_run : NULL;
}

static void end_series(const struct model *m, struct series_hists *h)
{
	if (h->next_groups)
		add_to_run(m, h);
	add_groups(&h->interval, &h->next, h->next_groups);
	add_groups(&h->run, &h->next, h->next_groups);
	h->interval_groups = h->next_groups;
	if (h->next_groups) {
		h->interval.min = h->next.min;
		h->interval.max = h->next.max;
		/*
		 * An event that came while the tick was under way has its count in this interval and
		 * its extreme in the next: the interval is mended, the run will get the true one.
		 */
		widen(&h->run, h->next.min, h->next.max);
		hist_mend(&h->interval);
	} else if (h->run.min <= h->run.max) {
		widen(&h->run, h->next.min, h->next.max); /* came late: of an interval before */
	} else {
		h->next.sum = 0; /* came before its counts: the extremes wait for them */
		return;
	}
	clear_hist(&h->next, &h->next_groups);
}

static void end_counts(struct model *m, bool baseline)
{
	struct series *s;
	uint32_t at;

	for (at = m->active; at; at = s->next_active) {
		s = &m->series[at - 1];
		clear_hist(&s->hists->interval, &s->hists->interval_groups);
	}
	m->active = 0;
	for (at = m->changed; at; at = s->next_changed) {
		s = &m->series[at - 1];
		s->changed = false;
		if (baseline) {
			clear_hist(&s->hists->next, &s->hists->next_groups);
			continue;
		}
		end_series(m, s->hists);
		s->next_active = m->active;
		m->active = at;
	}
	m->changed = 0;
}

static void end_worst(struct model *m, bool baseline)
{
	struct group *g;
	size_t i;
	int k;

	for (i = 0; i < m->ngroups; i++) {
		g = &m->groups[i];
		if (baseline)
			g->next.n = 0;
		g->interval = g->next;
		if (m->running && g->one_run_of != m->nruns) {
			g->one_run.n = 0;
			g->one_run_of = (uint32_t)m->nruns;
		}
		for (k = 0; k < g->next.n; k++) {
			add_worst(&g->run, &g->next.w[k]);
			if (m->running)
				add_worst(&g->one_run, &g->next.w[k]);
		}
		g->next.n = 0;
	}
	if (baseline)
		m->orphans.n = 0;
}

void series_end_interval(struct model *m, bool baseline)
{
	end_counts(m, baseline);
	end_worst(m, baseline);
}

void series_rebase(struct model *m)
{
	for (size_t i = 0; i < m->nseries; i++)
		if (m->series[i].hists)
			hist_init(&m->series[i].hists->run);
	for (size_t i = 0; i < m->ngroups; i++)
		m->groups[i].run.n = 0;
}
