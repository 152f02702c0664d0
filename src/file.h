/* SPDX-License-Identifier: GPL-2.0-only */
/* file.h - the small files of /proc and /sys. */
#ifndef KDEFER_FILE_H
#define KDEFER_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* First line, without its newline, into buf. 0 or a negative errno (buf is then ""). */
int file_line(const char *path, char *buf, size_t size);
/* The number that the file holds. 0 or a negative errno. */
int file_u64(const char *path, uint64_t *value);
/* Value of a line "KEY: VALUE" (white space around VALUE dropped). -ENOENT when there is no such line. */
int file_field(const char *path, const char *key, char *buf, size_t size);

#endif
