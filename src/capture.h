/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * capture.h - the record stream as a file.
 *
 * Layout, integers little endian, but those inside of records as the writer's CPU has them:
 *   file header  magic "KDEFER\r\n", u32 version, u32 header length (all of the header, from 16),
 *                u32 0x01020304 in the writer's byte order, u32 CRC-32 of the 20 bytes before
 *   blocks       u32 magic "KDBK", u32 raw length, u32 stored length, u32 CRC-32 of the stored bytes,
 *                then the stored bytes: records, packed (capture_pack.h), compressed by zlib
 *   last block   raw length 0: the writer closed the file; without it the file was cut
 * A block holds whole records only, and is packed against those before it. In version 1 records were
 * not packed, in version 2 worst samples had no packing of their own. A reader takes all whole blocks and
 * says what is missing.
 */
#ifndef KDEFER_CAPTURE_H
#define KDEFER_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "stream.h"

#define CAPTURE_VERSION 3
/* Raw and stored bytes of a block: no more is ever allocated. */
#define CAPTURE_BLOCK_MAX (1u << 20)

struct capture_writer;

/*
 * Writes FILE.part (mode 0600, created anew and locked: two writers never mix), renamed to FILE by
 * capture_close(). -EEXIST when FILE or a FILE.part left by a crash exists and !force; -EBUSY while
 * another writer has it. Every error is logged with its cause, once: what follows it is refused.
 */
int capture_create(struct capture_writer **w, const char *path, bool force);
/* -EFBIG, not logged: it might not fit within the limit; others still may. */
int capture_write(struct capture_writer *w, const struct kd_rec *rec);
/* The file never grows beyond this, its end included. 0: any size. */
void capture_limit(struct capture_writer *w, uint64_t bytes);
/* What it will be at most if it is closed now. */
uint64_t capture_size(const struct capture_writer *w);
/* Ends a block, so that all so far survives a crash. Syncs. */
int capture_flush(struct capture_writer *w);
/*
 * Flushes, writes the closing block, renames. Frees w in any case. After any error the file stays
 * FILE.part, which capture_read() reads as far as it goes.
 */
int capture_close(struct capture_writer *w);
/* Path of FILE.part, owned by w. */
const char *capture_part(const struct capture_writer *w);
/* Frees w and leaves FILE.part as it is. */
void capture_abandon(struct capture_writer *w);
/* Frees w and removes FILE.part: there is nothing in it that anybody wants. */
void capture_discard(struct capture_writer *w);

struct capture_end {
	bool closed; /* the writer ended it properly */
	uint64_t blocks;
	uint64_t bytes;  /* read, up to the last whole block */
	const char *why; /* not closed: what was found there, else NULL (a static string) */
};

/*
 * Feeds all whole blocks of the file to s. 0 also for a file that was cut behind the first (see end,
 * and a warning); -EBADMSG when no block is whole, when it is no capture or of a version that is not
 * known, -EINVAL when it is no regular file, other errors as they come; all logged, except what the
 * sink returned.
 */
int capture_read(const char *path, struct stream *s, struct capture_end *end);
/*
 * The same of a file that is still being written: waits for more until its writer has closed it, or is
 * gone without. `stopped` is asked meanwhile: true ends it with -EINTR, which is not logged. Where FILE
 * is not there but FILE.part is, that is read.
 */
int capture_follow(const char *path, struct stream *s, struct capture_end *end,
		   int (*stopped)(void));

#endif
