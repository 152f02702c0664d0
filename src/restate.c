// SPDX-License-Identifier: GPL-2.0-only
/* restate.c - the state of a model as records. */
#include <stdio.h>
#include <string.h>

#include "restate.h"

static int put_text(struct stream *out, uint16_t kind, uint64_t a, const char *const *texts, int n)
{
	uint64_t buf[KD_REC_MAX / sizeof(uint64_t)];
	const struct kd_rec *rec = stream_make_text(buf, kind, a, 0, texts, n);

	return stream_record(out, rec, rec->len);
}

static int put_facts(const struct model *m, struct stream *out)
{
	int err = 0;

	for (size_t i = 0; i < m->nfacts && !err; i++) {
		const char *const texts[] = { m->facts[i].name, m->facts[i].value };

		err = put_text(out, KD_REC_HOST, 0, texts, 2);
	}
	return err;
}

static int put_plan(const struct model *m, struct stream *out)
{
	int err = 0;

	for (size_t i = 0; i < m->nplan && !err; i++) {
		const struct plan_row *r = &m->plan[i];
		const char *const texts[] = { r->backend, r->hooks, r->reason, r->fix };

		err = put_text(out, KD_REC_PLAN,
			       r->source | (uint64_t)r->measure << 8 | (uint64_t)r->flavour << 16 |
				       (uint64_t)r->state << 24 | (uint64_t)r->meaning << 32,
			       texts, 4);
	}
	return err;
}

/* --- series --- */

static void add_name(char name[KD_NAME_LEN], size_t *at, const char *s)
{
	size_t len = s ? strlen(s) : 0;

	if (*at + len + 1 > KD_NAME_LEN)
		len = KD_NAME_LEN - 1 > *at ? KD_NAME_LEN - 1 - *at : 0;
	if (len)
		memcpy(name + *at, s, len);
	*at += len + 1;
}

/* As it was taken apart by series.c. */
static void join_names(const struct series *s, char name[KD_NAME_LEN])
{
	size_t at = 0;

	if (s->dim == KD_DIM_FLUSHER) {
		for (int i = 0; i < SERIES_NAMES; i++)
			add_name(name, &at, s->name[i]);
		return;
	}
	add_name(name, &at, s->name[0]);
	if (!s->name[1])
		return;
	at--; /* "symbol [module]" is one string */
	snprintf(name + at, KD_NAME_LEN - at, " [%s]", s->name[1]);
}

static int put_groups(const struct series *s, struct stream *out)
{
	const struct hist *h = &s->hists->total;
	int err = 0;

	for (uint32_t group = 0; group < KD_HIST_GROUPS && !err; group++) {
		struct kd_rec_hist r = {
			.rec = { .kind = KD_REC_HIST, .len = sizeof(r), .id = s->id },
			.group = group,
		};
		uint64_t any = 0;

		for (uint32_t i = 0; i < KD_HIST_SUB; i++)
			any |= r.count[i] = h->bucket[group * KD_HIST_SUB + i];
		if (any)
			err = stream_record(out, &r, sizeof(r));
	}
	return err;
}

static int put_series(const struct series *s, struct stream *out)
{
	struct kd_rec_series r = {
		.rec = { .kind = KD_REC_SERIES, .len = sizeof(r), .id = s->id },
		.source = s->source,
		.measure = s->measure,
		.flavour = s->flavour,
		.dim = s->dim,
		.flags = s->flags,
		.key = { s->key[0], s->key[1] },
	};
	struct kd_rec_stat stat = {
		.rec = { .kind = KD_REC_STAT, .len = sizeof(stat), .id = s->id },
		.sum = s->hists ? s->hists->total.sum : 0,
		.min = UINT64_MAX, /* of this interval there is nothing yet */
	};
	int err;

	join_names(s, r.name);
	err = stream_record(out, &r, sizeof(r));
	if (err || !s->hists)
		return err;
	err = put_groups(s, out);
	return err ? err : stream_record(out, &stat, sizeof(stat));
}

static int put_total(struct stream *out, uint16_t kind, unsigned int source, unsigned int what,
		     uint64_t total)
{
	const struct kd_rec_total r = {
		.rec = { .kind = kind, .len = sizeof(r) },
		.source = (uint16_t)source,
		.what = (uint16_t)what,
		.total = total,
	};

	return total ? stream_record(out, &r, sizeof(r)) : 0;
}

static int put_totals(const struct model *m, struct stream *out)
{
	int err = 0;

	for (unsigned int s = 0; s < KD_SRC_COUNT && !err; s++) {
		for (unsigned int i = 0; i < KD_LOST_COUNT && !err; i++)
			err = put_total(out, KD_REC_LOST, s, i, m->source[s].total[i]);
		for (unsigned int i = 0; i < KD_CNT_COUNT && !err; i++)
			err = put_total(out, KD_REC_COUNT, s, i, m->source[s].ctotal[i]);
	}
	return err;
}

/* --- lists and grace periods --- */

static int put_list(const struct model *m, size_t at, struct stream *out)
{
	const struct level_key *k = &m->pending.table.keys[at];
	const struct pending_node *n = &m->pending.node[at];
	const struct kd_rec_pending r = {
		.rec = { .kind = KD_REC_PENDING, .len = sizeof(r) },
		.source = k->source,
		.flavour = k->flavour,
		.list = k->list,
		.cpu = k->cpu,
		.key = k->key,
		.unit_size = k->unit_size,
		.flags = n->flags,
		.length = n->length,
		.bytes = n->unsized ? KD_UNKNOWN : n->bytes,
		.age_ns = n->age_ns == KD_UNKNOWN ? KD_UNKNOWN
						  : n->age_ns + (m->to_ns - n->age_at_ns),
	};

	/* Who owes is told with its grace period. */
	if (k->kind != PENDING_LIST || k->list == KD_LIST_CPUS_OWED ||
	    k->list == KD_LIST_TASKS_OWED)
		return 0;
	return stream_record(out, &r, sizeof(r));
}

static int put_gp(const struct pending_gp *g, struct stream *out)
{
	struct kd_rec_gp gp = g->gp;
	int err = 0;

	if (!g->known)
		return 0;
	for (size_t i = 0; i < g->nowed && !err; i++) {
		struct kd_rec_owed owed = g->owed[i];

		owed.rec.len = sizeof(owed); /* a newer writer's record was longer */
		err = stream_record(out, &owed, sizeof(owed));
	}
	gp.rec.len = sizeof(gp);
	return err ? err : stream_record(out, &gp, sizeof(gp));
}

static int put_pending(const struct model *m, struct stream *out)
{
	const struct pending *p = &m->pending;
	int err = 0;

	for (size_t i = 0; i < p->names.n && !err; i++)
		if (p->name[i])
			err = stream_record(out, p->name[i], p->name[i]->rec.len);
	for (size_t i = 0; i < p->table.n && !err; i++)
		err = put_list(m, i, out);
	for (unsigned int f = 0; f < KD_FL_COUNT && !err; f++)
		err = put_gp(&p->gp[f], out);
	return err;
}

/* Waits that go on: their reports are still to come. Those that came belong to what was before. */
static int put_witnesses(const struct model *m, struct stream *out)
{
	int err = 0;

	for (size_t i = 0; i < m->holdups.npending; i++) {
		const struct holdup_pending *p = &m->holdups.pending[i];

		for (size_t k = 0; k < p->n && !err; k++)
			err = stream_record(out, &p->witness[k], p->witness[k].rec.len);
	}
	return err;
}

static int put_self(const struct model *m, struct stream *out)
{
	struct kd_rec_self self = m->self;

	self.rec.len = sizeof(self);
	return m->self.rec.kind ? stream_record(out, &self, sizeof(self)) : 0;
}

static int put_tick(const struct model *m, struct stream *out)
{
	const struct kd_rec_tick r = {
		.rec = { .kind = KD_REC_TICK, .len = sizeof(r) },
		.mono_ns = m->to_ns,
		.tick = (uint32_t)m->last_tick,
		.complete = 1,
	};

	return stream_record(out, &r, sizeof(r));
}

int restate(const struct model *m, struct stream *out)
{
	int err = put_facts(m, out);

	if (!err)
		err = put_plan(m, out);
	for (size_t i = 0; i < m->nseries && !err; i++)
		if (m->series[i].declared)
			err = put_series(&m->series[i], out);
	if (!err)
		err = put_totals(m, out);
	if (!err)
		err = put_pending(m, out);
	if (!err)
		err = put_witnesses(m, out);
	if (!err)
		err = put_self(m, out);
	return err ? err : put_tick(m, out);
}
