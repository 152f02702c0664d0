// SPDX-License-Identifier: GPL-2.0-only
/*
 * pending.c - the part of the model that knows lists of waiting work. Every list is a leaf of a small
 * tree of sums. A tick costs what changed since the tick before, however many lists there are.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pending.h"
#include "series.h"

#define NO_NODE UINT32_MAX

void pending_init(struct pending *p)
{
	memset(p, 0, sizeof(*p));
	level_table_init(&p->table, PENDING_NODES_MAX);
	level_table_init(&p->names, PENDING_NAMES_MAX);
	p->dirty = NO_NODE;
}

void pending_free(struct pending *p)
{
	for (size_t i = 0; i < p->names.n; i++)
		free(p->name[i]);
	for (int f = 0; f < KD_FL_COUNT; f++) {
		free(p->gp[f].owed);
		free(p->next_gp[f].owed);
	}
	free(p->name);
	free(p->node);
	level_table_free(&p->names);
	level_table_free(&p->table);
}

/* --- the tree --- */

static struct level_key key_of_sum(const struct level_key *list, unsigned int kind)
{
	struct level_key k = { .kind = (uint8_t)kind, .cpu = KD_CPU_NONE };

	if (kind <= PENDING_SOURCE)
		k.source = list->source;
	if (kind <= PENDING_TOTAL) {
		k.flavour = list->flavour;
		k.list = list->list;
	}
	if (kind <= PENDING_KEY) {
		k.key = list->key;
		k.unit_size = list->unit_size;
	}
	return k;
}

/* Index of a node, a new one if need be. *fresh says which. -ENOMEM; -ENOSPC. */
static long get_node(struct model *m, const struct level_key *k, bool *fresh)
{
	struct pending *p = &m->pending;
	struct pending_node *node = model_grown(p->node, p->table.n, sizeof(*node));
	size_t n = p->table.n;
	long at;

	if (!node)
		return -ENOMEM;
	p->node = node;
	at = level_table_get(&p->table, k);
	*fresh = at >= 0 && (size_t)at == n;
	if (*fresh) {
		memset(&node[at], 0, sizeof(node[at]));
		node[at].age_ns = KD_UNKNOWN;
		node[at].whole.since_ns = m->start_ns;
	}
	return at;
}

/* The sums that a new list belongs to, from it upwards. */
static int add_parents(struct model *m, const struct level_key *list, long at)
{
	for (unsigned int kind = PENDING_KEY; kind < PENDING_KINDS; kind++) {
		const struct level_key k = key_of_sum(list, kind);
		bool fresh;
		long above = get_node(m, &k, &fresh);

		if (above < 0)
			return (int)above;
		m->pending.node[at].parent = (uint32_t)above + 1;
		if (!fresh)
			return 0;
		at = above;
	}
	return 0;
}

static int refuse(struct model *m, long err)
{
	return err == -ENOSPC ? model_refuse(m, "lists") : (int)err;
}

static int stage(struct model *m, const struct level_key *k, const struct kd_rec_pending *r)
{
	struct pending *p = &m->pending;
	struct pending_node *n;
	bool fresh;
	long at;
	int err;

	/* Room for the list and all sums above it, or it is left out whole. */
	if (p->table.n + PENDING_KINDS > PENDING_NODES_MAX && level_table_find(&p->table, k) < 0)
		return model_refuse(m, "lists");
	at = get_node(m, k, &fresh);
	if (at < 0)
		return refuse(m, at);
	err = fresh ? add_parents(m, k, at) : 0;
	if (err)
		return refuse(m, err);
	n = &p->node[at];
	n->next.length = r->length;
	n->next.bytes = r->bytes;
	n->next.age_ns = r->age_ns;
	n->next.flags = r->flags;
	if (!n->staged) {
		n->staged = true;
		n->dirty = p->dirty;
		p->dirty = (uint32_t)at;
	}
	return 0;
}

int pending_record_list(struct model *m, const struct kd_rec_pending *r)
{
	const struct level_key k = level_key_of(r);

	return stage(m, &k, r);
}

/* --- from tick to tick --- */

void pending_hold(struct pending_span *s, uint64_t until_ns, const struct pending_node *n)
{
	uint64_t ns = until_ns - s->since_ns;

	if (until_ns <= s->since_ns)
		return; /* as the look that a span begins with: it belongs to what was before */
	s->area += (unsigned __int128)n->length * ns;
	s->area_bytes += (unsigned __int128)n->bytes * ns;
	s->since_ns = until_ns;
	if (n->length > s->peak)
		s->peak = n->length;
	if (n->bytes > s->peak_bytes)
		s->peak_bytes = n->bytes;
	s->inexact |= n->inexact > 0;
	s->truncated |= n->truncated > 0;
}

void pending_whole_span(const struct model *m, const struct pending_node *n,
			struct pending_span *out)
{
	*out = n->whole;
	pending_hold(out, m->to_ns, n);
}

/* In a span of the last run of the command, if there was one: until then, but not beyond its end. */
static void hold_run(const struct model *m, const struct pending_node *n, struct pending_span *s,
		     uint64_t until)
{
	const struct run *run = &m->runs[m->nruns - 1];

	if (s->of != m->nruns)
		*s = (struct pending_span){ .since_ns = run->from_ns,
					    .begin = n->length,
					    .begin_bytes = n->bytes,
					    .of = (uint32_t)m->nruns };
	if (s->ended)
		return;
	s->ended = !m->running;
	pending_hold(s, s->ended || until > run->to_ns ? run->to_ns : until, n);
}

void pending_run_span(const struct model *m, const struct pending_node *n, struct pending_span *out)
{
	*out = n->one_run;
	if (m->nruns)
		hold_run(m, n, out, m->to_ns);
}

/* What stood until the interval that ends now is about to change. */
static void begin_change(const struct model *m, struct pending_node *n)
{
	if (n->changed == m->ticks)
		return; /* in this interval already; before the first there is nothing to hold */
	n->changed = m->ticks;
	n->prev = n->length;
	n->prev_bytes = n->bytes;
	pending_hold(&n->whole, m->from_ns, n);
	if (m->nruns)
		hold_run(m, n, &n->one_run, m->from_ns);
}

struct change {
	uint64_t length, bytes, unsized; /* differences: they wrap */
	uint64_t stranded, stranded_bytes;
	uint32_t lists, inexact, truncated;
};

static void apply(const struct model *m, struct pending_node *n, const struct change *c)
{
	begin_change(m, n);
	n->length += c->length;
	n->bytes += c->bytes;
	n->unsized += c->unsized;
	n->stranded += c->stranded;
	n->stranded_bytes += c->stranded_bytes;
	n->lists += c->lists;
	n->inexact += c->inexact;
	n->truncated += c->truncated;
}

/* What changes in a list by its newest record; it knows its age and flags itself. */
static struct change change_of(const struct model *m, struct pending_node *n)
{
	bool sized = n->next.bytes != KD_UNKNOWN, stranded = n->next.flags & KD_PENDING_STRANDED;
	struct change c = {
		.length = n->next.length - n->length,
		.bytes = (sized ? n->next.bytes : 0) - n->bytes,
		.unsized = (sized ? 0 : n->next.length) - n->unsized,
		.stranded = (stranded ? n->next.length : 0) - n->stranded,
		.stranded_bytes = (stranded && sized ? n->next.bytes : 0) - n->stranded_bytes,
		.lists = (n->next.length ? 1 : 0) - n->lists,
		.inexact = (n->next.flags & KD_PENDING_EXACT ? 0 : 1) - n->inexact,
		.truncated = (n->next.flags & KD_PENDING_TRUNCATED ? 1 : 0) - n->truncated,
	};

	n->flags = n->next.flags;
	n->age_ns = n->next.length ? n->next.age_ns : KD_UNKNOWN;
	n->age_at_ns = m->to_ns;
	n->staged = false;
	return c;
}

static void set_base(const struct model *m, struct pending *p)
{
	for (size_t i = 0; i < p->table.n; i++) {
		struct pending_node *n = &p->node[i];

		n->whole = (struct pending_span){ .since_ns = m->start_ns,
						  .begin = n->length,
						  .begin_bytes = n->bytes };
	}
}

void pending_rebase(struct model *m)
{
	set_base(m, &m->pending);
}

static void end_lists(struct model *m, bool baseline)
{
	struct pending *p = &m->pending;

	while (p->dirty != NO_NODE) {
		uint32_t at = p->dirty;
		const struct change c = change_of(m, &p->node[at]);

		p->dirty = p->node[at].dirty;
		for (at++; at; at = p->node[at - 1].parent)
			apply(m, &p->node[at - 1], &c);
	}
	if (baseline)
		set_base(m, p);
}

/* --- grace periods --- */

/* Who owes is a list too, so that it has its peak and its mean as any other. */
static int stage_owed(struct model *m, const struct kd_rec_gp *r, unsigned int list, uint32_t n)
{
	const struct kd_rec_pending as_list = {
		.length = n, .bytes = KD_UNKNOWN, .age_ns = KD_UNKNOWN, .flags = r->flags
	};
	const struct level_key k = { .source = KD_SRC_RCU_GP,
				     .flavour = r->flavour,
				     .list = (uint16_t)list,
				     .cpu = KD_CPU_NONE };

	return stage(m, &k, &as_list);
}

int pending_record_gp(struct model *m, const struct kd_rec_gp *r)
{
	struct pending_gp *g = &m->pending.next_gp[r->flavour];
	int err = stage_owed(m, r, KD_LIST_CPUS_OWED, r->cpus_owed);

	if (g->known) /* those who owe come first: these are of the snapshot before */
		g->nowed = 0;
	if (!err)
		err = stage_owed(m, r, KD_LIST_TASKS_OWED, r->tasks_owed);
	memcpy(&g->gp, r, sizeof(g->gp));
	g->known = true;
	return err;
}

int pending_record_owed(struct model *m, const struct kd_rec_owed *r)
{
	struct pending_gp *g = &m->pending.next_gp[r->flavour];
	struct kd_rec_owed *owed;

	if (g->known) { /* of another snapshot, which begins */
		g->known = false;
		g->nowed = 0;
	}
	if (g->nowed >= PENDING_OWED_MAX)
		return 0;
	owed = g->owed ? g->owed : calloc(PENDING_OWED_MAX, sizeof(*owed));
	if (!owed)
		return -ENOMEM;
	g->owed = owed;
	memcpy(&owed[g->nowed++], r, sizeof(*r));
	return 0;
}

/* One that no snapshot of this interval had is not known any more. */
static void end_gps(struct model *m)
{
	for (int f = 0; f < KD_FL_COUNT; f++) {
		struct pending_gp *g = &m->pending.gp[f], *next = &m->pending.next_gp[f], old = *g;

		*g = *next;
		g->at_ns = m->to_ns;
		*next = (struct pending_gp){ .owed = old.owed };
		if (!g->known)
			g->nowed = 0;
	}
}

void pending_end_interval(struct model *m, bool baseline)
{
	end_lists(m, baseline);
	end_gps(m);
}

/* --- names --- */

static struct level_key key_of_name(enum kd_name_of what, unsigned int source, uint64_t number)
{
	return (struct level_key){ .kind = (uint8_t)what,
				   .source = (uint8_t)source,
				   .key = number };
}

int pending_record_name(struct model *m, const struct kd_rec_text *r)
{
	struct pending *p = &m->pending;
	const struct level_key k =
		key_of_name((enum kd_name_of)(r->a & 0xff), r->a >> 8 & 0xff, r->b);
	struct kd_rec_text **name = model_grown(p->name, p->names.n, sizeof(*name));
	struct kd_rec_text *copy = malloc(r->rec.len);
	size_t n = p->names.n;
	long at;

	p->name = name ? name : p->name;
	at = name && copy ? level_table_get(&p->names, &k) : -ENOMEM;
	if (at < 0) {
		free(copy);
		return at == -ENOSPC ? model_refuse(m, "names") : (int)at;
	}
	memcpy(copy, r, r->rec.len);
	if ((size_t)at < n)
		free(name[at]);
	name[at] = copy;
	return 0;
}

const char *pending_text(const struct pending *p, enum kd_name_of what, unsigned int source,
			 uint64_t number, int i)
{
	const struct level_key k = key_of_name(what, source, number);
	long at = level_table_find(&p->names, &k);

	return at < 0 ? NULL : stream_text(p->name[at], i);
}
