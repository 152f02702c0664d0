/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * capture_pack.h - records as they stand in the blocks of a capture, from version 2 on: of those that
 * come at each tick only what changed since the one before of the same thing. Both sides keep the same
 * memory of what came, block after block, so a block is of use only behind those before it.
 *
 *   record  u8 0, varint length, the record as it is; or
 *           u8 1 + i: of the i-th kind of `packed` in capture_pack.c: varint id (as a difference to the
 *           one before), `told` words that say which thing it is, then a varint of bits: which of the
 *           other words differ from those before, and these as differences. Of a worst sample that says
 *           who, a varint in front of these bits says which of 256 memories holds those before
 *   varint  7 bits a byte, lowest first, the highest bit says that more follow; differences zigzag
 */
#ifndef KDEFER_CAPTURE_PACK_H
#define KDEFER_CAPTURE_PACK_H

#include <stddef.h>
#include <stdint.h>

#define PACK_WORST(raw) ((raw) + (raw) / 2 + 64) /* the most that so many bytes of records become */

struct pack;

struct pack *pack_new(void); /* NULL: no memory. 2 MB, whatever comes */
void pack_free(struct pack *p);

/* Whole records become what is returned, at most PACK_WORST(size). */
size_t pack_records(struct pack *p, const void *records, size_t size, unsigned char *out);
/* The other way: bytes of records, at most `room`; -EBADMSG: this was not made by pack_records(). */
long pack_restore(struct pack *p, const unsigned char *packed, size_t size, void *records,
		  size_t room);

#endif
