/* SPDX-License-Identifier: GPL-2.0-only */
/* capture_file.h - between capture.c and capture_read.c: the layout of capture.h in C. */
#ifndef KDEFER_CAPTURE_FILE_H
#define KDEFER_CAPTURE_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

#define FILE_MAGIC "KDEFER\r\n"
#define BLOCK_MAGIC 0x4b42444bu /* "KDBK" */
#define BYTE_ORDER_MARK 0x01020304u
#define HEADER_MIN 16u /* up to the header length */
#define HEADER_MAX 4096u

struct file_header {
	char magic[8];
	uint32_t version, length;
	uint32_t order; /* not converted, that is the point */
	uint32_t crc;
};

struct block_header {
	uint32_t magic, raw, stored, crc;
};

_Static_assert(sizeof(struct file_header) == 24, "as in capture.h");
_Static_assert(sizeof(struct block_header) == 16, "as in capture.h");

static inline uint32_t crc_of(const void *data, size_t size)
{
	return (uint32_t)crc32(0, data, (uInt)size);
}

#endif
