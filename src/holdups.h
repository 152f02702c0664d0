/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * holdups.h - the part of the model that keeps waits which were too long: each with those who were seen
 * while it went on. What they mean: verdict.h.
 */
#ifndef KDEFER_HOLDUPS_H
#define KDEFER_HOLDUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream.h"

struct model;

/* A wait that is over, or was not when recording ended. */
struct holdup {
	struct kd_rec_holdup rec;
	struct kd_rec_witness *witness; /* by time */
	size_t nwitness;
	uint64_t unseen; /* further witnesses, for which there was no room */
	uint64_t tick;   /* number of the interval in which it was told, from 1 */
};

/* Bounds. Of a wait with more witnesses the first half and the last are kept. */
#define HOLDUPS_MAX 2000        /* reports: then the shortest gives way */
#define HOLDUP_WITNESSES 64     /* of one wait */
#define HOLDUPS_WITNESSES 20000 /* of all reports together: 8 MB */
#define HOLDUPS_PENDING 128     /* waits that witnesses came of, and no end yet */

struct holdup_pending {
	uint8_t source;
	uint32_t id;
	uint64_t last_ns;
	struct kd_rec_witness *witness;
	size_t n;
	uint64_t seen; /* in all */
};

struct holdups {
	struct holdup *h; /* as they came */
	size_t n, nwitness;
	struct holdup_pending pending[HOLDUPS_PENDING];
	size_t npending;
	uint64_t
		left_out; /* reports that gave way to longer ones: they were told of as they came */
	uint64_t left_out_ns;   /* their time */
	uint64_t ended_without; /* witnesses of waits whose end was not told */
};

void holdups_free(struct holdups *hs);

/* Forgets the reports, but not what goes on. */
void holdups_clear(struct holdups *hs);

/* 0 or -ENOMEM. */
int holdups_witness(struct holdups *hs, const struct kd_rec_witness *r);
/* The report, which is the last of hs->h until holdups_settle(), goes to *h. 0 or -ENOMEM. */
int holdups_end(struct holdups *hs, const struct kd_rec_holdup *r, uint64_t tick,
		const struct holdup **h);
/* Forgets the one that holdups_end() has just given: it is more than was asked for. */
void holdups_drop_newest(struct holdups *hs);
/* Where there are too many, the shortest ones are left out. */
void holdups_settle(struct holdups *hs);

/* A fact of a report; false: it is not known. */
bool holdup_fact(const struct holdup *h, unsigned int fact, uint64_t *v);
/* The same, or KD_UNKNOWN. */
uint64_t holdup_fact_or(const struct holdup *h, unsigned int fact);
/* A phase in ns; KD_UNKNOWN. */
uint64_t holdup_phase(const struct holdup *h, unsigned int phase);

static inline uint64_t holdup_ns(const struct holdup *h)
{
	return h->rec.end_ns - h->rec.begin_ns;
}

/*
 * The longest grace period of the same flavour that was told of and lies at least half within this wait
 * of a callback or a caller, or that one within it; NULL: none was too long. Of a grace period of another
 * flavour, the one of RCU: SRCU and the Tasks flavours wait for such ones in the course of theirs.
 */
const struct holdup *holdups_behind(const struct holdups *hs, const struct holdup *h);

/* Functions of a stack: the i-th to buf, false past its end. */
bool witness_frame(const struct kd_rec_witness *w, size_t i, char *buf, size_t size);

#endif
