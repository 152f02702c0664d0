/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * track.h - what views over time remember: for each row the last intervals, and what of them is
 * unusual. A number is unusual against this history alone, never against a fixed one.
 */
#ifndef KDEFER_TRACK_H
#define KDEFER_TRACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "histogram.h"

#define TRACK_LENGTH 120 /* intervals */
#define TRACK_OCTAVES 44 /* of values: 2^first and up; what is greater is in the last */
#define TRACKS_MAX 4096

enum track_what {
	TRACK_PENDING,
	TRACK_OLDEST,
	TRACK_DONE,
	TRACK_P50,
	TRACK_P99,
	TRACK_MAX,
	TRACK_LOST,
	TRACK_WHATS,
};

/* Newest last; NAN: not known in that interval. */
struct track {
	char *name;
	float v[TRACK_WHATS][TRACK_LENGTH];
	/* 0: nothing; else 1 + 2 * log2 of how many, by interval and octave. NULL: no histogram yet. */
	uint8_t (*heat)[TRACK_OCTAVES];
	uint64_t interval; /* the newest that is in it */
	uint64_t active;   /* the newest in which it was not quiet */
	/* Of a key of a measure, so that its row stays when nothing happens to it: else label is NULL. */
	char *label;
	uint64_t total; /* events since the baseline */
	uint8_t source, measure, flavour, by;
	bool rest;  /* stands for keys that are not told apart */
	bool quiet; /* nothing happened to it in the newest interval */
};

struct tracks {
	struct track **track;
	size_t n;
	uint32_t *slots; /* index + 1; 0 = free */
	size_t nslots;
	uint64_t interval; /* the one that values belong to */
};

void tracks_init(struct tracks *t);
void tracks_free(struct tracks *t);
void tracks_forget(struct tracks *t); /* all that was */
void tracks_next(struct tracks *t);   /* an interval begins */

/* Where it gets tight: forgets what was quiet for all of its history. Nobody may hold one of these. */
void tracks_prune(struct tracks *t);

/* Finds or adds, moved on to this interval. NULL: no memory, or more than TRACKS_MAX. */
struct track *tracks_get(struct tracks *t, const char *name);
const struct track *tracks_find(const struct tracks *t, const char *name);

void track_set(struct track *k, enum track_what what, double value);
/* first: log2 of the value that the lowest octave begins with. */
void track_set_heat(struct track *k, const struct hist *h, unsigned int first);

/* `back` intervals ago, 0 the newest; NAN where nothing is known. */
double track_value(const struct track *k, enum track_what what, unsigned int back);
unsigned int track_heat(const struct track *k, unsigned int octave, unsigned int back);

/*
 * The newest value is above every one of the 60 intervals before it, and more than twice their median.
 * Of fewer than 10 intervals nothing is said.
 */
bool track_unusual(const struct track *k, enum track_what what);

#endif
