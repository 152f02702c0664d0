/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * json.h - a streaming JSON writer that keeps the nesting, so that it cannot write a document that
 * does not parse. Strings may hold any bytes: what is not valid UTF-8, and every control character,
 * leaves as an escape (bytes that are no UTF-8 as U+FFFD). Integers are exact 64 bit.
 */
#ifndef KDEFER_JSON_H
#define KDEFER_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_DEPTH 16

struct json {
	FILE *out;
	int depth;
	bool pretty;             /* indent by two spaces; else one line */
	char open[JSON_DEPTH];   /* '{' or '[' */
	bool filled[JSON_DEPTH]; /* something was written at this level */
	bool after_key;
	bool done; /* the document's one value has begun */
	int err;   /* first misuse (-EINVAL) or write error: no more is written */
};

void json_init(struct json *j, FILE *out, bool pretty);
/*
 * Ends the document with a newline and flushes. Returns 0, or the first error; nothing may be left
 * open, and something must have been written. For a further document json_init() again.
 */
int json_end(struct json *j);

void json_open(struct json *j, char bracket); /* '{' or '[' */
void json_close(struct json *j);              /* whatever is open */
void json_key(struct json *j, const char *key);

void json_str(struct json *j, const char *s); /* NULL writes null */
void json_u64(struct json *j, uint64_t v);
void json_i64(struct json *j, int64_t v);
void json_double(struct json *j, double v); /* NaN and infinities write null */
void json_bool(struct json *j, bool v);
void json_null(struct json *j);

/* key and value in one call */
void json_kstr(struct json *j, const char *key, const char *s);
void json_ku64(struct json *j, const char *key, uint64_t v);
void json_kdouble(struct json *j, const char *key, double v);
void json_kbool(struct json *j, const char *key, bool v);
void json_knull(struct json *j, const char *key);
void json_kopen(struct json *j, const char *key, char bracket);

#endif
