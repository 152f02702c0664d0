/* SPDX-License-Identifier: GPL-2.0-only */
/* format.h - numbers, times and kernel strings as people read them. Pure functions, no terminal. */
#ifndef KDEFER_FORMAT_H
#define KDEFER_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define FMT_LEN 40 /* room for any of the short forms below */

/*
 * All of these write at most `size` bytes with the NUL, and return buf.
 *
 * "152 ms", "1.52 s", "850 ns", "2.3 min": three significant digits at most, no zeros behind them,
 * one unit among ns us ms s min h d.
 */
char *fmt_ns(char *buf, size_t size, uint64_t ns);
/*
 * A power of two of nanoseconds as the edge of a bucket: "1.02 us", "524 us", "1.1 min", "292 y".
 * At most 7 columns, and another text for each power.
 */
char *fmt_edge_ns(char *buf, size_t size, uint64_t ns);
/* "1,234,567" */
char *fmt_count(char *buf, size_t size, uint64_t n);
/* "1.2 MiB", "1023 KiB" */
char *fmt_bytes(char *buf, size_t size, uint64_t bytes);
/* "12.3k", "4.56M", "0.25", "<0.01": per-second rates; "-" for what is none (negative, NaN) */
char *fmt_rate(char *buf, size_t size, double per_s);
/* Local time with offset and milliseconds, "2026-01-31 13:05:07.123 +0100"; ns since the epoch. */
char *fmt_time(char *buf, size_t size, uint64_t realtime_ns);
/* RFC 3339 with nanoseconds, UTC. */
char *fmt_rfc3339(char *buf, size_t size, uint64_t realtime_ns);

/*
 * A kernel string made safe for a terminal: control characters, DEL, C1, bytes that are no UTF-8,
 * and what breaks or reorders a line (U+2028..202E, U+2066..2069) become \xNN; a backslash doubles.
 * Cut to `size` without splitting a character or an escape. Returns buf.
 */
char *fmt_safe(char *buf, size_t size, const char *s);
/* Columns that a string from fmt_safe() takes (wide characters 2, combining 0). */
size_t fmt_width(const char *s);
/* Decodes one UTF-8 character: its length 1..4, or 0 at the NUL and where s is not valid UTF-8. */
int fmt_utf8(const char *s, uint32_t *codepoint);

/*
 * A bar of `width` columns in plain ASCII ('@' filled, ' ' rest): the share of n in max, rounded
 * down, but at least one '@' if n > 0.
 */
char *fmt_bar(char *buf, size_t size, uint64_t n, uint64_t max, size_t width);

/*
 * Parses "5", "5s", "100ms", "10us", "3m", "2h", "1.5s" (bare = seconds; also ns, min, d) to ns.
 * -EINVAL when it is no time, -ERANGE when it does not fit; *ns is then left alone.
 */
int fmt_parse_time(const char *s, uint64_t *ns);
/* Parses "64M", "4k", "1.5G", "4096" (also T, and KiB to TiB) to bytes. */
int fmt_parse_size(const char *s, uint64_t *bytes);
/* The other way round, exact and as short as those two read it: "100ms", "90s", "64M"; 0 is "0". */
char *fmt_time_arg(char *buf, size_t size, uint64_t ns);
char *fmt_size_arg(char *buf, size_t size, uint64_t bytes);

#endif
