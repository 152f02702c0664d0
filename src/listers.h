/* SPDX-License-Identifier: GPL-2.0-only */
/* listers.h - the lists (lists.h) that a session reads: loaded, looked at, named; for session.c. */
#ifndef KDEFER_LISTERS_H
#define KDEFER_LISTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "levels.h"
#include "lists.h"

struct listers {
	void *state[LISTS_MAX]; /* by index in lists_sources[]; NULL: not loaded */
	struct levels levels;
	struct stream in; /* checks what comes from the ring before levels see it */
	struct stream *out;
	uint64_t spoken[KD_SRC_COUNT][2]; /* losses as last said */
};

void listers_init(struct listers *l, struct stream *out);
/*
 * Loads what rows of the plan want, and makes the rows that it serves on. One that cannot be loaded
 * has said so in its rows; the others go on. 0 or a negative errno (logged).
 */
int listers_load(struct listers *l, const struct lists_conf *conf);
bool listers_any(const struct listers *l);
/* A record that came from the ring during listers_look(). 0, or what the sink said. */
int listers_take(struct listers *l, const void *data, size_t size);
/*
 * A snapshot by each of them, then its names. drain(ctx) empties the ring into listers_take(). Gives up
 * when it took most_ns: then 1, and what was not seen is as it was before. Else 0 or a negative errno
 * (logged).
 */
int listers_look(struct listers *l, uint64_t most_ns, int (*drain)(void *ctx), void *ctx);
/* Kernel memory of what reads the lists of this source; of all with KD_SRC_COUNT. */
uint64_t listers_bytes(const struct listers *l, unsigned int source);
void listers_unload(struct listers *l);

#endif
