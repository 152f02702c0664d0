// SPDX-License-Identifier: GPL-2.0-only
/* levels.c - from whole snapshots of pending lists to what changed between them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "levels.h"
#include "log.h"

/* An age that grew with the clock, give or take this, is the same oldest entry: nothing to say. */
#define AGE_SLACK_NS 50000000ULL

struct level {
	struct kd_rec_pending sent;
	uint64_t sent_ns;
	uint32_t look; /* the last snapshot that had it */
	unsigned int owner;
};

void levels_init(struct levels *lv, size_t max)
{
	memset(lv, 0, sizeof(*lv));
	level_table_init(&lv->table, max);
}

void levels_free(struct levels *lv)
{
	level_table_free(&lv->table);
	free(lv->level);
	lv->level = NULL;
}

void levels_begin(struct levels *lv, unsigned int owner, uint64_t now_ns)
{
	lv->look++;
	lv->owner = owner;
	lv->now_ns = now_ns;
}

/* The index of a list, a new one if need be; -ENOSPC: left out and counted. */
static long get(struct levels *lv, const struct kd_rec_pending *r)
{
	const struct level_key key = level_key_of(r);
	size_t n = lv->table.n;
	long at;

	/* Room first: an index without a level beside it would be worse than a level without index. */
	if (!(n & (n - 1))) {
		struct level *more = reallocarray(lv->level, n ? 2 * n : 1, sizeof(*more));

		if (!more)
			return -ENOMEM;
		lv->level = more;
	}
	at = level_table_get(&lv->table, &key);
	if (at == (long)n)
		memset(&lv->level[at], 0, sizeof(lv->level[at]));
	return at;
}

static bool same_age(uint64_t then, uint64_t elapsed, uint64_t now)
{
	uint64_t expected = then + elapsed;

	if (then == KD_UNKNOWN || now == KD_UNKNOWN)
		return then == now;
	return now + AGE_SLACK_NS >= expected && now <= expected + AGE_SLACK_NS;
}

static bool is_news(const struct levels *lv, const struct level *l, const struct kd_rec_pending *r)
{
	return !l->look || l->sent.flags != r->flags || l->sent.length != r->length ||
	       l->sent.bytes != r->bytes ||
	       !same_age(l->sent.age_ns, lv->now_ns - l->sent_ns, r->age_ns);
}

int levels_take(struct levels *lv, const struct kd_rec_pending *r, struct stream *out)
{
	struct level *l;
	long at = get(lv, r);
	bool news;

	if (at == -ENOMEM)
		return log_err(-ENOMEM, "out of memory while reading lists");
	if (at < 0) {
		lv->refused[r->source]++;
		return 0;
	}
	l = &lv->level[at];
	news = is_news(lv, l, r);
	l->look = lv->look;
	l->owner = lv->owner;
	if (!news)
		return 0;
	l->sent = *r;
	l->sent.rec.len = sizeof(l->sent);
	l->sent_ns = lv->now_ns;
	return stream_record(out, &l->sent, sizeof(l->sent));
}

/* Not in the snapshot: it is empty now, and is looked for no more. */
static int say_gone(struct levels *lv, struct level *l, struct stream *out)
{
	struct kd_rec_pending r = l->sent;

	r.flags = KD_PENDING_EXACT;
	r.length = 0;
	r.bytes = r.bytes == KD_UNKNOWN ? KD_UNKNOWN : 0;
	r.age_ns = KD_UNKNOWN;
	l->sent_ns = lv->now_ns;
	return l->sent.length || l->sent.flags != r.flags ? stream_record(out, &r, sizeof(r)) : 0;
}

/* Those that are gone leave the table, which is small then: most lists are empty most of the time. */
static void keep(struct levels *lv, struct level *l, size_t *kept)
{
	const struct level_key key = level_key_of(&l->sent);

	level_table_get(&lv->table, &key); /* as many as it had: there is room */
	lv->level[(*kept)++] = *l;
}

int levels_end(struct levels *lv, bool complete, struct stream *out)
{
	size_t n = lv->table.n, kept = 0;
	int err = 0;

	if (!complete)
		return 0;
	level_table_clear(&lv->table);
	for (size_t i = 0; i < n; i++) {
		struct level *l = &lv->level[i];

		if (l->owner == lv->owner && l->look != lv->look) {
			int said = err ? 0 : say_gone(lv, l, out);

			err = err ? err : said;
		} else {
			keep(lv, l, &kept);
		}
	}
	return err;
}
