// SPDX-License-Identifier: GPL-2.0-only
/* backlog_debt.c - what all lists together hold back: memory, and how fast it comes and goes. */
#include <stdlib.h>
#include <string.h>

#include "backlog_parts.h"
#include "catalog.h"

/* In a shorter window a rate would say more about two looks than about the lists. */
#define RATE_LEAST_NS 10000000ULL
#define DRAIN_WINDOWS \
	10 /* what takes longer to be through is not told by looks so close together */

static double per_second(uint64_t now, uint64_t then, uint64_t ns)
{
	double change = now >= then ? (double)(now - then) : -(double)(then - now);

	return change * 1e9 / (double)ns;
}

bool backlog_rate(const struct model *m, const struct scope *sc, const struct backlog_row *r,
		  double *per_s)
{
	uint64_t ns = scope_length_ns(m, sc);

	if (ns < RATE_LEAST_NS)
		return false;
	*per_s = per_second(r->length, r->then, ns);
	return true;
}

/* --- debt --- */

/* Cgroups that wait for a flush, or CPUs that owe a quiescent state, hold back no memory. */
bool backlog_holds_memory(unsigned int source)
{
	return source == KD_SRC_CALL_RCU || source == KD_SRC_MEMALLOC;
}

bool backlog_is_apart(const struct backlog_row *r)
{
	return r->list == KD_LIST_WAITERS;
}

struct sums {
	uint64_t length, then, bytes, then_bytes;
	uint64_t counted,
		counted_then; /* entries of the kind of which the kernel counts what leaves */
};

/*
 * What leaves is counted for a source as a whole, so that nothing is known of a part of it. What came
 * is what left and what there is more of.
 */
static void add_flow(const struct model *m, const struct backlog_query *q, unsigned int source,
		     const struct sums *s, uint64_t ns, struct backlog_part *p)
{
	uint64_t left = scope_count(m, &q->scope, source, KD_CNT_LEFT);
	double in, drain;

	if (!p->rated || q->nfilters || !m->source[source].ctotal[KD_CNT_LEFT])
		return;
	p->counted = true;
	p->of = source == KD_SRC_CALL_RCU ? flavour_name(KD_FL_RCU) : NULL;
	p->out = per_second(left, 0, ns);
	in = p->out + per_second(s->counted, s->counted_then, ns);
	p->in = in > 0 ? in : 0; /* lengths and counts are read a moment apart */
	drain = left ? (double)s->counted * 1e9 / p->out : 1e18;
	/* Of those that wait none may be of the kind that is counted. */
	p->drain_ns = drain < 1e18 && (s->counted || !p->length) ? (uint64_t)drain : KD_UNKNOWN;
}

/* What comes and leaves is told by looks, of all allocators together. */
static void add_bounds(const struct model *m, const struct backlog_query *q, const struct sums *s,
		       uint64_t ns, struct backlog_part *p)
{
	if (!p->rated || q->nfilters ||
	    !scope_count(m, &q->scope, KD_SRC_MEMALLOC, KD_CNT_FLOW_LOOKS))
		return;
	p->in = per_second(scope_count(m, &q->scope, KD_SRC_MEMALLOC, KD_CNT_FLOW_IN), 0, ns);
	p->out = per_second(scope_count(m, &q->scope, KD_SRC_MEMALLOC, KD_CNT_FLOW_OUT), 0, ns);
	p->in_bytes =
		per_second(scope_count(m, &q->scope, KD_SRC_MEMALLOC, KD_CNT_FLOW_IN_BYTES), 0, ns);
	p->out_bytes = per_second(scope_count(m, &q->scope, KD_SRC_MEMALLOC, KD_CNT_FLOW_OUT_BYTES),
				  0, ns);
	if (p->truncated && !(p->in > 0) && !(p->out > 0))
		return; /* not known, rather than none */
	p->counted = p->bound = true;
	/*
	 * Nobody comes for what is stranded. Where hardly any was seen to leave, batches came and went
	 * between the looks, or none went at all: the bound would be true, and say nothing.
	 */
	if (p->out > 0 && !p->truncated &&
	    (double)s->counted * 1e9 <= p->out * DRAIN_WINDOWS * (double)ns)
		p->drain_ns = (uint64_t)((double)s->counted * 1e9 / p->out);
}

static void add(struct backlog_part *p, struct sums *s, const struct backlog_row *r,
		bool trace_lists)
{
	bool sized = r->bytes || !r->unsized;

	p->exact = (!p->any || p->exact) && (r->exact || !sized);
	p->truncated |= r->truncated && sized;
	p->any = true;
	p->bytes += r->bytes;
	p->length += r->length;
	p->unsized += r->unsized;
	p->stranded += r->stranded;
	s->length += r->length;
	s->then += r->then;
	s->bytes += r->bytes;
	s->then_bytes += r->then_bytes;
	if (r->source == KD_SRC_MEMALLOC
		    ? backlog_wait_of(r->list, trace_lists) != BACKLOG_IDLE
		    : r->source != KD_SRC_CALL_RCU || r->flavour == KD_FL_RCU) {
		s->counted += r->length - (r->stranded < r->length ? r->stranded : r->length);
		s->counted_then += r->then;
	}
}

static void rate(struct backlog_part *p, const struct sums *s, uint64_t ns)
{
	p->drain_ns = KD_UNKNOWN;
	p->rated = p->any && ns >= RATE_LEAST_NS;
	if (!p->rated)
		return;
	p->net = per_second(s->bytes, s->then_bytes, ns);
	p->net_length = per_second(s->length, s->then, ns);
}

/* Of what has a known size. Entries of several sources are not one kind of thing. */
static void add_all(struct backlog_debt *d)
{
	const struct backlog_part *p = &d->by[KD_SRC_MEMALLOC];

	for (unsigned int s = 0; s < KD_SRC_COUNT; s++)
		if (s != KD_SRC_MEMALLOC && d->by[s].bytes)
			return;
	if (!p->bound)
		return;
	d->all.bound = true;
	d->all.in_bytes = p->in_bytes;
	d->all.out_bytes = p->out_bytes;
	d->all.drain_ns = p->drain_ns;
}

int backlog_debt(const struct model *m, const struct backlog_query *q, struct backlog_debt *d)
{
	uint64_t ns = scope_length_ns(m, &q->scope);
	struct sums by[KD_SRC_COUNT] = { { 0 } }, all = { 0 };
	bool trace_lists = backlog_trace_lists(m);
	struct backlog_row *rows;
	size_t n;
	int err = backlog_totals(m, q, &rows, &n);

	memset(d, 0, sizeof(*d));
	if (err)
		return err;
	for (size_t i = 0; i < n; i++)
		if (backlog_holds_memory(rows[i].source)) {
			add(&d->by[rows[i].source], &by[rows[i].source], &rows[i], trace_lists);
			add(&d->all, &all, &rows[i], trace_lists);
		}
	free(rows);
	rate(&d->all, &all, ns);
	for (unsigned int s = 0; s < KD_SRC_COUNT; s++) {
		rate(&d->by[s], &by[s], ns);
		add_flow(m, q, s, &by[s], ns, &d->by[s]);
	}
	add_bounds(m, q, &by[KD_SRC_MEMALLOC], ns, &d->by[KD_SRC_MEMALLOC]);
	add_all(d);
	return 0;
}

const char *backlog_no_flow(const struct backlog_query *q, const struct backlog_debt *d)
{
	if (d->all.bound)
		return NULL;
	if (q->nfilters)
		return "what comes and leaves is known of all, not of a part";
	if (!d->all.rated)
		return "two looks tell what comes and leaves, one does not";
	if (d->by[KD_SRC_MEMALLOC].truncated)
		return "lists were cut short";
	return "the kernel counts no bytes that come or leave, and no look tells of them";
}

uint64_t backlog_gone_ns(const struct backlog_part *p)
{
	double ns;

	if (!p->rated || p->net >= 0)
		return KD_UNKNOWN;
	if (!p->bytes)
		return KD_UNKNOWN; /* it is gone */
	ns = (double)p->bytes * 1e9 / -p->net;
	return ns < 1e18 ? (uint64_t)ns : KD_UNKNOWN;
}

/* --- BPF memory --- */

/*
 * Kernels that have no lists of their own for Tasks Trace (6.1 to 6.5) send what is freed through it
 * by way of free_by_rcu and waiting_for_gp; the others use these two for RCU alone.
 */
bool backlog_trace_lists(const struct model *m)
{
	const char *variant = model_fact(m, "memalloc_variant");

	if (variant)
		return strcmp(variant, "A");
	for (size_t i = 0; i < m->pending.table.n; i++) {
		unsigned int list = m->pending.table.keys[i].list;

		if (list == KD_LIST_FREE_BY_RCU_TTRACE || list == KD_LIST_WAITING_FOR_GP_TTRACE)
			return true;
	}
	return false;
}

enum backlog_wait backlog_wait_of(unsigned int list, bool trace_lists)
{
	switch (list) {
	case KD_LIST_FREE_LLIST:
	case KD_LIST_FREE_LLIST_EXTRA:
		return BACKLOG_IDLE;
	case KD_LIST_FREE_BY_RCU:
	case KD_LIST_WAITING_FOR_GP:
		return trace_lists ? BACKLOG_RCU : BACKLOG_TASKS_TRACE;
	case KD_LIST_FREE_BY_RCU_TTRACE:
	case KD_LIST_WAITING_FOR_GP_TTRACE:
		return BACKLOG_TASKS_TRACE;
	}
	return BACKLOG_UNKNOWN;
}

const char *backlog_wait_name(enum backlog_wait w)
{
	static const char *const names[BACKLOG_WAITS] = {
		[BACKLOG_IDLE] = "idle",
		[BACKLOG_RCU] = "rcu",
		[BACKLOG_TASKS_TRACE] = "tasks_trace",
		[BACKLOG_UNKNOWN] = "unknown",
	};

	return names[w];
}

int backlog_bpf(const struct model *m, const struct backlog_query *q, struct backlog_bpf *b)
{
	bool trace_lists = backlog_trace_lists(m);
	struct backlog_row *rows;
	size_t n;
	int err = backlog_totals(m, q, &rows, &n);

	*b = (struct backlog_bpf){ .exact = true };
	if (err)
		return err;
	for (size_t i = 0; i < n; i++) {
		enum backlog_wait wait = backlog_wait_of(rows[i].list, trace_lists);

		if (rows[i].source != KD_SRC_MEMALLOC)
			continue;
		b->known = true;
		b->objects[wait] += rows[i].length;
		b->bytes[wait] += rows[i].bytes;
		b->unsized += rows[i].unsized;
		b->exact &= rows[i].exact;
		b->truncated |= rows[i].truncated;
	}
	free(rows);
	return 0;
}
