// SPDX-License-Identifier: GPL-2.0-only
/* track.c - what views over time remember of each row. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "track.h"

#define SLOTS (2 * TRACKS_MAX)
#define LOOK_BACK 60
#define LEAST_KNOWN 10

void tracks_init(struct tracks *t)
{
	memset(t, 0, sizeof(*t));
}

static void free_track(struct track *k)
{
	free(k->name);
	free(k->label);
	free(k->heat);
	free(k);
}

void tracks_free(struct tracks *t)
{
	for (size_t i = 0; i < t->n; i++)
		free_track(t->track[i]);
	free(t->track);
	free(t->slots);
	memset(t, 0, sizeof(*t));
}

void tracks_forget(struct tracks *t)
{
	uint64_t interval = t->interval;

	tracks_free(t);
	t->interval = interval;
}

void tracks_next(struct tracks *t)
{
	t->interval++;
}

/* FNV-1a; a bad hash costs a walk of at most TRACKS_MAX slots. */
static size_t slot_of(const struct tracks *t, const char *name)
{
	uint64_t h = 14695981039346656037ULL;
	size_t i;

	for (const char *s = name; *s; s++)
		h = (h ^ (unsigned char)*s) * 1099511628211ULL;
	for (i = (h ^ h >> 32) % t->nslots; t->slots[i]; i = (i + 1) % t->nslots)
		if (!strcmp(t->track[t->slots[i] - 1]->name, name))
			break;
	return i;
}

const struct track *tracks_find(const struct tracks *t, const char *name)
{
	uint32_t at = t->nslots ? t->slots[slot_of(t, name)] : 0;

	return at ? t->track[at - 1] : NULL;
}

static struct track *make(const char *name)
{
	struct track *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->name = strdup(name);
	if (!k->name) {
		free(k);
		return NULL;
	}
	for (int w = 0; w < TRACK_WHATS; w++)
		for (int i = 0; i < TRACK_LENGTH; i++)
			k->v[w][i] = NAN;
	return k;
}

/* The intervals in which nobody spoke of it. */
static void move_on(struct track *k, uint64_t interval)
{
	uint64_t by = interval - k->interval, i;

	if (by > TRACK_LENGTH)
		by = TRACK_LENGTH;
	for (i = 0; by && i < TRACK_WHATS; i++) {
		memmove(k->v[i], k->v[i] + by, (TRACK_LENGTH - by) * sizeof(k->v[i][0]));
		for (uint64_t j = TRACK_LENGTH - by; j < TRACK_LENGTH; j++)
			k->v[i][j] = NAN;
	}
	if (by && k->heat) {
		memmove(k->heat, k->heat + by, (TRACK_LENGTH - by) * sizeof(k->heat[0]));
		memset(k->heat + TRACK_LENGTH - by, 0, by * sizeof(k->heat[0]));
	}
	k->interval = interval;
}

static struct track *add(struct tracks *t, const char *name)
{
	struct track *k, **grown;

	if (t->n == TRACKS_MAX)
		return NULL;
	if (!t->slots) {
		t->slots = calloc(SLOTS, sizeof(*t->slots));
		t->nslots = t->slots ? SLOTS : 0;
	}
	grown = reallocarray(t->track, t->n + 1, sizeof(struct track *));
	if (grown)
		t->track = grown;
	k = grown && t->slots ? make(name) : NULL;
	if (!k)
		return NULL;
	k->interval = t->interval;
	t->track[t->n++] = k;
	t->slots[slot_of(t, name)] = (uint32_t)t->n;
	return k;
}

struct track *tracks_get(struct tracks *t, const char *name)
{
	uint32_t at = t->nslots ? t->slots[slot_of(t, name)] : 0;
	struct track *k = at ? t->track[at - 1] : add(t, name);

	if (k) {
		move_on(k, t->interval);
		k->active = t->interval;
	}
	return k;
}

void tracks_prune(struct tracks *t)
{
	size_t kept = 0;

	if (t->n < TRACKS_MAX / 4 * 3)
		return;
	memset(t->slots, 0, t->nslots * sizeof(*t->slots));
	for (size_t i = 0; i < t->n; i++) {
		struct track *k = t->track[i];

		if (k->active + TRACK_LENGTH < t->interval) {
			free_track(k);
			continue;
		}
		t->track[kept++] = k;
		t->slots[slot_of(t, k->name)] = (uint32_t)kept;
	}
	t->n = kept;
}

void track_set(struct track *k, enum track_what what, double value)
{
	if (k)
		k->v[what][TRACK_LENGTH - 1] = (float)value;
}

static uint8_t level_of(uint64_t count)
{
	unsigned int log;

	if (!count)
		return 0;
	log = 63u - (unsigned int)__builtin_clzll(count);
	/* The bit below the highest: more than half way to the next power of two. */
	return (uint8_t)(1 + 2 * log + (log && count >> (log - 1) & 1));
}

void track_set_heat(struct track *k, const struct hist *h, unsigned int first)
{
	uint64_t rows[HIST_POW2_ROWS], sum[TRACK_OCTAVES] = { 0 };

	if (!k || (h->min > h->max && !hist_count(h)))
		return;
	if (!k->heat)
		k->heat = calloc(TRACK_LENGTH, sizeof(*k->heat));
	if (!k->heat)
		return;
	hist_fold(h, rows);
	for (unsigned int i = 0; i < HIST_POW2_ROWS; i++) {
		unsigned int octave = i < first ? 0 : i - first;

		sum[octave < TRACK_OCTAVES ? octave : TRACK_OCTAVES - 1] += rows[i];
	}
	for (unsigned int i = 0; i < TRACK_OCTAVES; i++)
		k->heat[TRACK_LENGTH - 1][i] = level_of(sum[i]);
}

double track_value(const struct track *k, enum track_what what, unsigned int back)
{
	return back < TRACK_LENGTH ? (double)k->v[what][TRACK_LENGTH - 1 - back] : (double)NAN;
}

unsigned int track_heat(const struct track *k, unsigned int octave, unsigned int back)
{
	if (!k->heat || octave >= TRACK_OCTAVES || back >= TRACK_LENGTH)
		return 0;
	return k->heat[TRACK_LENGTH - 1 - back][octave];
}

static int by_value(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return x < y ? -1 : x > y;
}

bool track_unusual(const struct track *k, enum track_what what)
{
	const float *v = k->v[what], now = v[TRACK_LENGTH - 1];
	float known[LOOK_BACK];
	size_t n = 0;

	if (isnan(now))
		return false;
	for (int i = TRACK_LENGTH - 1 - LOOK_BACK; i < TRACK_LENGTH - 1; i++)
		if (!isnan(v[i])) {
			if (v[i] >= now) /* most rows end here */
				return false;
			known[n++] = v[i];
		}
	if (n < LEAST_KNOWN)
		return false;
	qsort(known, n, sizeof(known[0]), by_value);
	return now > 2 * known[(n - 1) / 2];
}
