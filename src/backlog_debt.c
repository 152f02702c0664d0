// SPDX-License-Identifier: GPL-2.0-only
/* backlog_debt.c - what all lists together hold back: memory, and how fast it comes and goes. */
#include <stdlib.h>
#include <string.h>

#include "backlog_parts.h"
#include "catalog.h"

/* In a shorter window a rate would say more about two looks than about the lists. */
#define RATE_LEAST_NS 10000000ULL

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

static void add(struct backlog_part *p, struct sums *s, const struct backlog_row *r)
{
	bool sized = r->bytes || !r->unsized;

	p->exact = (!p->any || p->exact) && (r->exact || !sized);
	p->truncated |= r->truncated && sized;
	p->any = true;
	p->bytes += r->bytes;
	p->length += r->length;
	p->unsized += r->unsized;
	s->length += r->length;
	s->then += r->then;
	s->bytes += r->bytes;
	s->then_bytes += r->then_bytes;
	if (r->source != KD_SRC_CALL_RCU || r->flavour == KD_FL_RCU) {
		s->counted += r->length;
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

int backlog_debt(const struct model *m, const struct backlog_query *q, struct backlog_debt *d)
{
	uint64_t ns = scope_length_ns(m, &q->scope);
	struct sums by[KD_SRC_COUNT] = { { 0 } }, all = { 0 };
	struct backlog_row *rows;
	size_t n;
	int err = backlog_totals(m, q, &rows, &n);

	memset(d, 0, sizeof(*d));
	if (err)
		return err;
	for (size_t i = 0; i < n; i++)
		if (backlog_holds_memory(rows[i].source)) {
			add(&d->by[rows[i].source], &by[rows[i].source], &rows[i]);
			add(&d->all, &all, &rows[i]);
		}
	free(rows);
	rate(&d->all, &all, ns);
	for (unsigned int s = 0; s < KD_SRC_COUNT; s++) {
		rate(&d->by[s], &by[s], ns);
		add_flow(m, q, s, &by[s], ns, &d->by[s]);
	}
	return 0;
}

uint64_t backlog_gone_ns(const struct backlog_part *p)
{
	double ns;

	if (!p->rated || p->net >= 0)
		return KD_UNKNOWN;
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
