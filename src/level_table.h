/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * level_table.h - from what a pending list is told apart by to a small number: an index for arrays
 * that the owner keeps beside it. Grows to a bound; its hash cannot be foreseen by who writes captures.
 */
#ifndef KDEFER_LEVEL_TABLE_H
#define KDEFER_LEVEL_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "../bpf/defer.h"

/* No padding: compared and hashed byte by byte. */
struct level_key {
	uint8_t kind; /* the owner's: a table may hold several kinds of things */
	uint8_t source, flavour, pad;
	uint16_t list, pad2;
	uint32_t cpu, unit_size;
	uint64_t key;
};

struct level_table {
	struct level_key *keys; /* by index, in the order in which they came */
	size_t n, max;
	uint32_t *slots; /* index + 1, 0 = free */
	size_t nslots;
	uint64_t seed;
};

void level_table_init(struct level_table *t, size_t max);
void level_table_free(struct level_table *t);
void level_table_clear(struct level_table *t); /* forgets all keys, keeps the memory */

long level_table_find(const struct level_table *t, const struct level_key *k); /* or -ENOENT */
/* Finds or adds: an added one has the index that was t->n. -ENOSPC: as many as allowed; -ENOMEM. */
long level_table_get(struct level_table *t, const struct level_key *k);

struct level_key level_key_of(const struct kd_rec_pending *r); /* kind 0 */

#endif
