/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * levels.h - stands between the ring, where each snapshot of pending lists is whole, and the stream,
 * where a length holds until the next record: passes on what changed, and says 0 for what is gone.
 */
#ifndef KDEFER_LEVELS_H
#define KDEFER_LEVELS_H

#include <stdbool.h>
#include <stdint.h>

#include "level_table.h"
#include "stream.h"

#define LEVELS_MAX (1u << 17)

struct level;

struct levels {
	struct level_table table;
	struct level *level; /* by index of the table */
	uint32_t look;       /* number of the snapshot */
	uint64_t now_ns;     /* when it was begun: CLOCK_MONOTONIC */
	unsigned int owner;  /* who looks */
	/* by source: lists that there was no room for, and snapshots that were cut short */
	uint64_t refused[KD_SRC_COUNT], cut[KD_SRC_COUNT];
};

void levels_init(struct levels *lv, size_t max); /* max: LEVELS_MAX; less in tests */
void levels_free(struct levels *lv);

/* A snapshot by `owner` (any small number, always the same for the same lists) begins. */
void levels_begin(struct levels *lv, unsigned int owner, uint64_t now_ns);
/* One list of it, as it came from the ring. 0, -ENOMEM (logged), or what the sink said. */
int levels_take(struct levels *lv, const struct kd_rec_pending *r, struct stream *out);
/* It ends. Only a complete one says that what was not in it is empty or gone. As levels_take(). */
int levels_end(struct levels *lv, bool complete, struct stream *out);

#endif
