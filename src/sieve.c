// SPDX-License-Identifier: GPL-2.0-only
/* sieve.c - of the worst samples of all CPUs those that a model keeps. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "model.h"
#include "sieve.h"

/* What has worst samples of its own: see struct group in model.h. */
struct sieve_group {
	uint8_t source, measure, flavour, bound;
	unsigned int n;
	struct kd_rec_worst_who worst[MODEL_WORST]; /* as long as each says; the greatest first */
};

struct sieve_series {
	uint32_t id, group; /* index + 1; 0: this place is free */
};

void sieve_init(struct sieve *s, stream_sink out, void *ctx)
{
	*s = (struct sieve){ .out = out, .ctx = ctx };
}

void sieve_free(struct sieve *s)
{
	free(s->groups);
	free(s->series);
	s->groups = NULL;
	s->series = NULL;
	s->ngroups = s->nseries = s->room = 0;
}

/* --- which group a series is of --- */

static struct sieve_series *find(const struct sieve *s, uint32_t id)
{
	size_t at = (id * 0x9e3779b1u) & (s->room - 1);

	while (s->series[at].group && s->series[at].id != id)
		at = (at + 1) & (s->room - 1);
	return &s->series[at];
}

static int make_room(struct sieve *s)
{
	struct sieve old = *s;
	size_t i;

	if (2 * s->nseries < s->room)
		return 0;
	s->room = s->room ? 2 * s->room : 256;
	s->series = calloc(s->room, sizeof(*s->series));
	if (!s->series) {
		*s = old;
		return -ENOMEM;
	}
	for (i = 0; i < old.room; i++)
		if (old.series[i].group)
			*find(s, old.series[i].id) = old.series[i];
	free(old.series);
	return 0;
}

static long get_group(struct sieve *s, const struct kd_rec_series *r)
{
	uint8_t bound = (uint8_t)(r->flags & (KD_SERIES_UPPER | KD_SERIES_LOWER));
	struct sieve_group *groups;
	size_t i;

	for (i = 0; i < s->ngroups; i++)
		if (s->groups[i].source == r->source && s->groups[i].measure == r->measure &&
		    s->groups[i].flavour == r->flavour && s->groups[i].bound == bound)
			return (long)i;
	groups = reallocarray(s->groups, s->ngroups + 1, sizeof(*groups));
	if (!groups)
		return -ENOMEM;
	s->groups = groups;
	groups[i].source = r->source;
	groups[i].measure = r->measure;
	groups[i].flavour = r->flavour;
	groups[i].bound = bound;
	groups[i].n = 0;
	s->ngroups++;
	return (long)i;
}

static int take_series(struct sieve *s, const struct kd_rec_series *r)
{
	struct sieve_series *series;
	long group = get_group(s, r);

	if (group < 0 || make_room(s))
		return log_err(-ENOMEM, "out of memory");
	series = find(s, r->rec.id);
	s->nseries += !series->group;
	*series = (struct sieve_series){ r->rec.id, (uint32_t)group + 1 };
	return 0;
}

/* --- worst samples --- */

/* The order of the model's lists: where it says that one is left out, so does this. */
static bool is_worse(const struct kd_rec_worst *a, const struct kd_rec_worst *b)
{
	if (a->value != b->value)
		return a->value > b->value;
	if (a->mono_ns != b->mono_ns)
		return a->mono_ns < b->mono_ns;
	return a->cpu != b->cpu ? a->cpu < b->cpu : a->rec.id < b->rec.id;
}

/* What stands behind the end of the stack is left over in the ring: it says nothing, and never the same. */
static void copy(struct kd_rec_worst_who *to, const struct kd_rec_worst *from)
{
	size_t len = from->rec.len < sizeof(*to) ? from->rec.len : sizeof(*to), used;

	memset(to, 0, sizeof(*to));
	memcpy(to, from, len);
	to->worst.rec.len = (uint16_t)len;
	used = strnlen(to->stack, sizeof(to->stack));
	memset(to->stack + used, 0, sizeof(to->stack) - used);
}

static void hold(struct sieve_group *g, const struct kd_rec_worst *r)
{
	unsigned int at = 0;

	while (at < g->n && is_worse(&g->worst[at].worst, r))
		at++;
	if (at == MODEL_WORST || (at < g->n && !is_worse(r, &g->worst[at].worst)))
		return;
	if (g->n < MODEL_WORST)
		g->n++;
	memmove(&g->worst[at + 1], &g->worst[at], (g->n - at - 1) * sizeof(g->worst[0]));
	copy(&g->worst[at], r);
}

static int take_worst(struct sieve *s, const struct kd_rec_worst *r)
{
	const struct sieve_series *series = s->room ? find(s, r->rec.id) : NULL;
	struct kd_rec_worst_who alone;

	if (series && series->group) {
		hold(&s->groups[series->group - 1], r);
		return 0;
	}
	copy(&alone, r); /* not declared yet: it cannot be told what it competes with */
	return s->out(s->ctx, &alone.worst.rec);
}

static int let_go(struct sieve *s)
{
	int err = 0;
	size_t i;
	unsigned int k;

	for (i = 0; i < s->ngroups; i++) {
		for (k = 0; k < s->groups[i].n && !err; k++)
			err = s->out(s->ctx, &s->groups[i].worst[k].worst.rec);
		s->groups[i].n = 0;
	}
	return err;
}

int sieve_record(void *sieve, const struct kd_rec *rec)
{
	struct sieve *s = sieve;
	int err = 0;

	if (rec->kind == KD_REC_WORST)
		return take_worst(s, (const void *)rec);
	if (rec->kind == KD_REC_SERIES)
		err = take_series(s, (const void *)rec);
	else if (rec->kind == KD_REC_TICK)
		err = let_go(s);
	return err ? err : s->out(s->ctx, rec);
}
