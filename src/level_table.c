// SPDX-License-Identifier: GPL-2.0-only
/* level_table.c - from what a pending list is told apart by to an index: open addressing. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "level_table.h"

#define SLOTS_MIN 64

_Static_assert(sizeof(struct level_key) == 24, "no padding: compared byte by byte");

void level_table_init(struct level_table *t, size_t max)
{
	memset(t, 0, sizeof(*t));
	t->max = max;
	if (getrandom(&t->seed, sizeof(t->seed), GRND_NONBLOCK) != sizeof(t->seed))
		t->seed = (uint64_t)time(NULL) * 0x9e3779b97f4a7c15ull;
}

void level_table_free(struct level_table *t)
{
	free(t->keys);
	free(t->slots);
	level_table_init(t, t->max);
}

void level_table_clear(struct level_table *t)
{
	t->n = 0;
	if (t->slots)
		memset(t->slots, 0, t->nslots * sizeof(*t->slots));
}

static uint64_t mix(uint64_t h)
{
	h ^= h >> 32;
	h *= 0xd6e8feb86659fd93ull;
	return h ^ h >> 32;
}

static size_t hash(const struct level_table *t, const struct level_key *k)
{
	uint64_t word[3], h = t->seed;

	memcpy(word, k, sizeof(word));
	for (int i = 0; i < 3; i++)
		h = mix(h ^ word[i]) + t->seed;
	return (size_t)mix(h);
}

/* The slot that holds this key, or the free one where it belongs. */
static size_t find_slot(const struct level_table *t, const struct level_key *k)
{
	size_t i = hash(t, k) & (t->nslots - 1);

	while (t->slots[i] && memcmp(&t->keys[t->slots[i] - 1], k, sizeof(*k)))
		i = (i + 1) & (t->nslots - 1);
	return i;
}

long level_table_find(const struct level_table *t, const struct level_key *k)
{
	uint32_t at = t->nslots ? t->slots[find_slot(t, k)] : 0;

	return at ? (long)at - 1 : -ENOENT;
}

/* Keeps the slots at most half full. */
static int grow(struct level_table *t)
{
	size_t n = t->nslots ? 2 * t->nslots : SLOTS_MIN;
	struct level_key *keys;
	uint32_t *slots;

	if (2 * (t->n + 1) <= t->nslots)
		return 0;
	keys = reallocarray(t->keys, n / 2, sizeof(*keys));
	if (!keys)
		return -ENOMEM;
	t->keys = keys;
	slots = calloc(n, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(t->slots);
	t->slots = slots;
	t->nslots = n;
	for (size_t i = 0; i < t->n; i++)
		slots[find_slot(t, &keys[i])] = (uint32_t)i + 1;
	return 0;
}

long level_table_get(struct level_table *t, const struct level_key *k)
{
	long at = level_table_find(t, k);

	if (at >= 0)
		return at;
	if (t->n >= t->max)
		return -ENOSPC;
	if (grow(t))
		return -ENOMEM;
	t->slots[find_slot(t, k)] = (uint32_t)t->n + 1;
	t->keys[t->n] = *k;
	return (long)t->n++;
}

struct level_key level_key_of(const struct kd_rec_pending *r)
{
	return (struct level_key){
		.source = r->source,
		.flavour = r->flavour,
		.list = r->list,
		.cpu = r->cpu,
		.unit_size = r->unit_size,
		.key = r->key,
	};
}
