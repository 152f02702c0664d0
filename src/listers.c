// SPDX-License-Identifier: GPL-2.0-only
/* listers.c - reads pending lists as a session wants them: each tick a snapshot by each lister. */
#include <errno.h>
#include <string.h>

#include "catalog.h"
#include "clock.h"
#include "listers.h"
#include "log.h"

static int take(void *ctx, const struct kd_rec *rec)
{
	struct listers *l = ctx;

	if (rec->kind == KD_REC_PENDING)
		return levels_take(&l->levels, (const void *)rec, l->out);
	return stream_record(l->out, rec, rec->len);
}

void listers_init(struct listers *l, struct stream *out)
{
	memset(l, 0, sizeof(*l));
	l->out = out;
	stream_init(&l->in, take, l);
	levels_init(&l->levels, LEVELS_MAX);
}

int listers_take(struct listers *l, const void *data, size_t size)
{
	uint64_t bad = l->in.bad;
	int err = stream_record(&l->in, data, size);

	l->out->bad += l->in.bad - bad;
	return err;
}

/* --- loading --- */

static bool serves(const struct lists *of, const struct plan_entry *e)
{
	const struct plan_measure *m = e->measure;

	return (m->source == of->source || of->also >> m->source & 1) &&
	       measure_info(m->measure)->pending && e->state != PLAN_OFF;
}

static bool is_wanted(const struct lists *of, const struct plan *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (serves(of, &p->entry[i]))
			return true;
	return false;
}

static void set_on(const struct lists *of, struct plan *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (serves(of, &p->entry[i]))
			p->entry[i].state = PLAN_ON;
}

int listers_load(struct listers *l, const struct lists_conf *conf)
{
	for (size_t i = 0; lists_sources[i]; i++) {
		int err;

		if (!is_wanted(lists_sources[i], conf->plan))
			continue;
		err = lists_sources[i]->load(&l->state[i], conf);
		if (err && err != -ENODEV)
			return err;
		if (!err)
			set_on(lists_sources[i], conf->plan);
	}
	return 0;
}

bool listers_any(const struct listers *l)
{
	for (size_t i = 0; i < LISTS_MAX; i++)
		if (l->state[i])
			return true;
	return false;
}

uint64_t listers_bytes(const struct listers *l, unsigned int source)
{
	uint64_t sum = 0;

	for (size_t i = 0; lists_sources[i]; i++)
		if (l->state[i] && (source == KD_SRC_COUNT || source == lists_sources[i]->source))
			sum += lists_sources[i]->kernel_bytes(l->state[i]);
	return sum;
}

void listers_unload(struct listers *l)
{
	for (size_t i = 0; lists_sources[i]; i++)
		if (l->state[i])
			lists_sources[i]->unload(l->state[i]);
	levels_free(&l->levels);
	memset(l->state, 0, sizeof(l->state));
}

/* --- looking --- */

/* All parts of one snapshot. 1: not all of them in time. */
static int look(struct listers *l, size_t i, uint64_t end, int (*drain)(void *), void *ctx)
{
	uint32_t cursor = 0;

	do {
		int64_t next = lists_sources[i]->look(l->state[i], cursor);
		int err = drain(ctx);

		if (err)
			return err;
		if (next < 0)
			return (int)next;
		if (!next)
			return 0;
		cursor = (uint32_t)next;
	} while (clock_mono_ns() < end);
	return 1;
}

static int say_lost(struct listers *l, unsigned int source, unsigned int which, enum kd_lost what,
		    uint64_t total)
{
	struct kd_rec_total r = { .rec = { .kind = KD_REC_LOST, .len = sizeof(r) },
				  .source = (__u16)source,
				  .what = (__u16)what,
				  .total = total };

	if (total == l->spoken[source][which])
		return 0;
	l->spoken[source][which] = total;
	return stream_record(l->out, &r, sizeof(r));
}

static int say_losses(struct listers *l)
{
	int err = 0;

	for (unsigned int s = 0; s < KD_SRC_COUNT && !err; s++) {
		err = say_lost(l, s, 0, KD_LOST_LISTS, l->levels.refused[s]);
		if (!err)
			err = say_lost(l, s, 1, KD_LOST_LOOK, l->levels.cut[s]);
	}
	return err;
}

int listers_look(struct listers *l, uint64_t most_ns, int (*drain)(void *ctx), void *ctx)
{
	uint64_t end = clock_mono_ns() + most_ns;
	bool cut = false;

	for (size_t i = 0; lists_sources[i]; i++) {
		int err, looked;

		if (!l->state[i])
			continue;
		levels_begin(&l->levels, (unsigned int)i, clock_mono_ns());
		looked = look(l, i, end, drain, ctx);
		if (looked < 0)
			return looked;
		cut |= looked;
		l->levels.cut[lists_sources[i]->source] += (uint64_t)looked;
		err = levels_end(&l->levels, !looked, l->out);
		if (!err)
			err = lists_sources[i]->names(l->state[i], l->out);
		if (err)
			return err;
	}
	return say_losses(l) ?: cut;
}
