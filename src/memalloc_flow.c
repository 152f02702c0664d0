// SPDX-License-Identifier: GPL-2.0-only
/*
 * memalloc_flow.c - how many objects came to wait for a grace period, and left, between two looks.
 *
 * The kernel counts neither. But objects leave by way of one list, which is filled only when it is
 * empty, taken as a whole when its grace period is over, and before that shrinks from its beginning
 * alone. So whatever stood on it has left when its last object is another one, and what it is shorter
 * by when that is the same. What came is what left, and what there is more of. Batches that came and
 * went between two looks show in neither: both numbers are lower bounds.
 */
#include "memalloc_look.h"

/* A map's objects of one size: its lists at two looks. They move among these, from CPU to CPU too. */
struct group {
	const struct ml_seen *then, *now;
	size_t nthen, nnow;
};

struct amount {
	uint64_t n, bytes;
};

static void add(struct amount *a, const struct ml_seen *s, uint64_t n)
{
	a->n += n;
	a->bytes += s->length ? s->bytes / s->length * n : 0;
}

static bool is_same(const struct ml_seen *a, const struct ml_seen *b)
{
	return a->key == b->key && a->unit_size == b->unit_size;
}

static bool is_before(const struct ml_seen *a, const struct ml_seen *b)
{
	return a->key != b->key ? a->key < b->key : a->unit_size < b->unit_size;
}

static size_t count_same(const struct ml_seen *s, size_t n)
{
	size_t same = 1;

	while (same < n && is_same(s, s + same))
		same++;
	return same;
}

static const struct ml_seen *find(const struct group *g, const struct ml_seen *then)
{
	for (size_t i = 0; i < g->nnow; i++)
		if (g->now[i].cpu == then->cpu && g->now[i].list == then->list)
			return &g->now[i];
	return NULL;
}

static void add_left(struct amount *out, const struct ml_seen *then, const struct ml_seen *now)
{
	if (!then->exact || (now && (!now->exact || now->cut)))
		return;
	if (!now || now->tail != then->tail)
		add(out, then, then->length);
	else if (now->length < then->length)
		add(out, then, then->length - now->length);
}

static struct amount sum(const struct ml_seen *s, size_t n)
{
	struct amount a = { 0 };

	for (size_t i = 0; i < n; i++)
		add(&a, &s[i], s[i].length);
	return a;
}

static bool any_cut(const struct ml_seen *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (s[i].cut)
			return true;
	return false;
}

static void add_group(struct ml_flow *flow, uint32_t last_list, const struct group *g)
{
	struct amount out = { 0 }, then = sum(g->then, g->nthen), now = sum(g->now, g->nnow);

	for (size_t i = 0; i < g->nthen; i++)
		if (g->then[i].list == last_list)
			add_left(&out, &g->then[i], find(g, &g->then[i]));
	if (out.n + now.n < then.n && !any_cut(g->now, g->nnow)) {
		out.n = then.n - now.n;
		out.bytes = then.bytes - now.bytes;
	}
	flow->out += out.n;
	flow->out_bytes += out.bytes;
	if (out.n + now.n < then.n || any_cut(g->then, g->nthen))
		return; /* how much more there is now is not known */
	flow->in += out.n + now.n - then.n;
	flow->in_bytes += out.bytes + now.bytes - then.bytes;
}

void memalloc_flow_add(struct ml_flow *flow, uint32_t last_list, const struct ml_seen *then,
		       size_t nthen, const struct ml_seen *now, size_t nnow)
{
	flow->looks++;
	while (nthen || nnow) {
		struct group g = { then, now, 0, 0 };

		if (nthen && (!nnow || !is_before(now, then)))
			g.nthen = count_same(then, nthen);
		if (nnow && (!nthen || !is_before(then, now)))
			g.nnow = count_same(now, nnow);
		add_group(flow, last_list, &g);
		then += g.nthen;
		nthen -= g.nthen;
		now += g.nnow;
		nnow -= g.nnow;
	}
}
