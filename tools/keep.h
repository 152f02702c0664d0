/* SPDX-License-Identifier: GPL-2.0-only */
/* keep.h - the capture that a live command writes beside what it shows. */
#ifndef KDEFER_KEEP_H
#define KDEFER_KEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "capture.h"
#include "sieve.h"

struct keep {
	struct capture_writer *w; /* NULL: none is written (any more) */
	uint64_t sync_ns;         /* a crash costs no more than this, at least a tick */
	uint64_t synced_ns;
	struct sieve sieve;
	bool failed; /* logged; FILE.part is left as far as it goes */
	bool full;   /* the limit of its size is reached: the last interval is not whole */
};

/* 0 or a negative errno (logged). */
int keep_open(struct keep *k, const char *path, bool force, uint64_t sync_ns);
/* A capture that fails ends itself, and not the measurement. */
void keep_record(struct keep *k, const struct kd_rec *rec);
void keep_close(struct keep *k); /* complete: FILE */

#endif
