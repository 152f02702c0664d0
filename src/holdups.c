// SPDX-License-Identifier: GPL-2.0-only
/* holdups.c - from witnesses and ends of waits to reports. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "holdups.h"

void holdups_clear(struct holdups *hs)
{
	for (size_t i = 0; i < hs->n; i++)
		free(hs->h[i].witness);
	free(hs->h);
	hs->h = NULL;
	hs->n = hs->nwitness = 0;
	hs->left_out = hs->left_out_ns = hs->ended_without = 0;
}

void holdups_free(struct holdups *hs)
{
	holdups_clear(hs);
	for (size_t i = 0; i < hs->npending; i++)
		free(hs->pending[i].witness);
	memset(hs, 0, sizeof(*hs));
}

/* --- waits that go on --- */

static struct holdup_pending *find(struct holdups *hs, uint8_t source, uint32_t id)
{
	for (size_t i = 0; i < hs->npending; i++)
		if (hs->pending[i].source == source && hs->pending[i].id == id)
			return &hs->pending[i];
	return NULL;
}

static void forget(struct holdups *hs, struct holdup_pending *p)
{
	free(p->witness);
	*p = hs->pending[--hs->npending];
}

/* Its end is not coming any more, or there are more at one time than this is made for. */
static void forget_oldest(struct holdups *hs)
{
	struct holdup_pending *oldest = &hs->pending[0];

	for (size_t i = 1; i < hs->npending; i++)
		if (hs->pending[i].last_ns < oldest->last_ns)
			oldest = &hs->pending[i];
	hs->ended_without += oldest->seen;
	forget(hs, oldest);
}

static struct holdup_pending *get(struct holdups *hs, const struct kd_rec_witness *r)
{
	struct holdup_pending *p = find(hs, r->source, r->rec.id);

	if (p)
		return p;
	if (hs->npending == HOLDUPS_PENDING)
		forget_oldest(hs);
	p = &hs->pending[hs->npending];
	*p = (struct holdup_pending){ .source = r->source, .id = r->rec.id };
	p->witness = calloc(HOLDUP_WITNESSES, sizeof(*p->witness));
	if (!p->witness)
		return NULL;
	hs->npending++;
	return p;
}

int holdups_witness(struct holdups *hs, const struct kd_rec_witness *r)
{
	struct holdup_pending *p = get(hs, r);
	size_t half = HOLDUP_WITNESSES / 2;
	size_t at;

	if (!p)
		return -ENOMEM;
	/* The first ones, and behind them a ring of the last. */
	at = p->seen < HOLDUP_WITNESSES ? p->seen : half + (p->seen - half) % half;
	p->witness[at] = *r;
	p->witness[at].rec.len = sizeof(*r); /* a newer writer's record was longer */
	p->seen++;
	p->n = p->seen < HOLDUP_WITNESSES ? p->seen : HOLDUP_WITNESSES;
	p->last_ns = r->mono_ns;
	return 0;
}

/* --- waits that are over --- */

static int by_time(const void *pa, const void *pb)
{
	const struct kd_rec_witness *a = pa, *b = pb;

	return a->mono_ns < b->mono_ns ? -1 : a->mono_ns > b->mono_ns;
}

static void take_witnesses(struct holdups *hs, struct holdup *h)
{
	struct holdup_pending *p = find(hs, h->rec.source, h->rec.rec.id);
	void *fitting;

	if (!p)
		return;
	qsort(p->witness, p->n, sizeof(*p->witness), by_time);
	fitting = realloc(p->witness, p->n * sizeof(*p->witness));
	h->witness = fitting ? fitting : p->witness;
	h->nwitness = p->n;
	h->unseen = p->seen - p->n;
	p->witness = NULL;
	forget(hs, p);
}

/* The shortest of all, the oldest where there are several. */
static void leave_out_shortest(struct holdups *hs)
{
	struct holdup *least = &hs->h[0];

	for (size_t i = 1; i < hs->n; i++)
		if (holdup_ns(&hs->h[i]) < holdup_ns(least))
			least = &hs->h[i];
	hs->left_out++;
	hs->left_out_ns += holdup_ns(least);
	hs->nwitness -= least->nwitness;
	free(least->witness);
	hs->n--;
	memmove(least, least + 1, (size_t)(&hs->h[hs->n] - least) * sizeof(*least));
}

int holdups_end(struct holdups *hs, const struct kd_rec_holdup *r, uint64_t tick,
		const struct holdup **told)
{
	struct holdup h = { .rec = *r, .tick = tick };
	size_t n = hs->n;

	h.rec.rec.len = sizeof(h.rec);
	if (!(n & (n - 1))) {
		struct holdup *more = reallocarray(hs->h, n ? 2 * n : 1, sizeof(*more));

		if (!more)
			return -ENOMEM;
		hs->h = more;
	}
	take_witnesses(hs, &h);
	hs->h[hs->n++] = h;
	hs->nwitness += h.nwitness;
	*told = &hs->h[n];
	return 0;
}

void holdups_drop_newest(struct holdups *hs)
{
	struct holdup *h = &hs->h[hs->n - 1];

	hs->nwitness -= h->nwitness;
	free(h->witness);
	hs->n--;
}

void holdups_settle(struct holdups *hs)
{
	while (hs->n > HOLDUPS_MAX || hs->nwitness > HOLDUPS_WITNESSES)
		leave_out_shortest(hs);
}

/* --- questions --- */

uint64_t holdup_fact_or(const struct holdup *h, unsigned int fact)
{
	if (fact >= KD_FACTS_MAX || !(h->rec.known >> fact & 1))
		return KD_UNKNOWN;
	return h->rec.fact[fact];
}

bool holdup_fact(const struct holdup *h, unsigned int fact, uint64_t *v)
{
	*v = holdup_fact_or(h, fact);
	return *v != KD_UNKNOWN;
}

uint64_t holdup_phase(const struct holdup *h, unsigned int phase)
{
	if (phase >= KD_PH_COUNT || h->rec.phase[phase] > holdup_ns(h))
		return KD_UNKNOWN; /* none is longer than the whole */
	return h->rec.phase[phase];
}

/* Time that both lasted. */
static uint64_t common_ns(const struct holdup *a, const struct holdup *b)
{
	uint64_t from = a->rec.begin_ns > b->rec.begin_ns ? a->rec.begin_ns : b->rec.begin_ns;
	uint64_t to = a->rec.end_ns < b->rec.end_ns ? a->rec.end_ns : b->rec.end_ns;

	return to > from ? to - from : 0;
}

/* The flavour of the grace periods that it may have waited for; KD_FL_NONE: for none. */
static unsigned int waits_for(const struct holdup *h)
{
	switch (h->rec.what) {
	case KD_WAIT_CALLBACK:
	case KD_WAIT_CALLER:
		return h->rec.flavour;
	case KD_WAIT_GP:
		return h->rec.flavour == KD_FL_RCU || h->rec.flavour == KD_FL_EXPEDITED ? KD_FL_NONE
											: KD_FL_RCU;
	default:
		return KD_FL_NONE;
	}
}

const struct holdup *holdups_behind(const struct holdups *hs, const struct holdup *h)
{
	const struct holdup *best = NULL;
	unsigned int flavour = waits_for(h);
	uint64_t most = 0;

	if (flavour == KD_FL_NONE)
		return NULL;
	for (size_t i = 0; i < hs->n; i++) {
		const struct holdup *gp = &hs->h[i];
		uint64_t both = common_ns(gp, h);

		if (gp == h || gp->rec.what != KD_WAIT_GP || gp->rec.flavour != flavour ||
		    both <= most)
			continue;
		if (2 * both < holdup_ns(gp) && 2 * both < holdup_ns(h))
			continue;
		most = both;
		best = gp;
	}
	return best;
}

/*
 * As the kernel prints it, "name+0x1f/0x40 [module]", but without the size of the function. One that the
 * end of the record cut is left out.
 */
bool witness_frame(const struct kd_rec_witness *w, size_t i, char *buf, size_t size)
{
	const char *at = w->stack;
	size_t len, module;

	for (;; i--, at += len + module) {
		at += strspn(at, " ");
		len = strcspn(at, " ");
		if (!len || (len == 3 && !strncmp(at, "0x0", 3)) ||
		    at + len == w->stack + sizeof(w->stack) - 1)
			return false;
		module = at[len] && at[len + 1] == '[' ? 1 + strcspn(at + len + 1, " ") : 0;
		if (!i)
			break;
	}
	if (size)
		snprintf(buf, size, "%.*s%.*s", (int)strcspn(at, "/ "), at, (int)module, at + len);
	return true;
}
