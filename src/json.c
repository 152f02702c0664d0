// SPDX-License-Identifier: GPL-2.0-only
/* json.c - writes JSON as it is told, and refuses to be told what would not parse. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "json.h"

static void misuse(struct json *j)
{
	if (!j->err)
		j->err = -EINVAL;
}

static void put(struct json *j, const char *s, size_t len)
{
	if (j->err)
		return;
	errno = 0;
	if (fwrite(s, 1, len, j->out) != len)
		j->err = errno ? -errno : -EIO;
}

static void put_text(struct json *j, const char *s)
{
	put(j, s, strlen(s));
}

static void new_line(struct json *j)
{
	int i;

	if (!j->pretty)
		return;
	put(j, "\n", 1);
	for (i = 0; i < j->depth; i++)
		put(j, "  ", 2);
}

/* What stands between the opening bracket or the last item and the next item. */
static void separate(struct json *j)
{
	bool *filled = &j->filled[j->depth - 1];

	if (*filled)
		put(j, ",", 1);
	*filled = true;
	new_line(j);
}

/* Whether a value may come here; if so, writes what stands before it. */
static bool begin_value(struct json *j)
{
	if (j->err)
		return false;
	if (j->depth ? j->open[j->depth - 1] == '{' && !j->after_key : j->done) {
		misuse(j);
		return false;
	}
	if (!j->depth)
		j->done = true;
	else if (!j->after_key)
		separate(j);
	j->after_key = false;
	return !j->err;
}

static void put_value(struct json *j, const char *text)
{
	if (begin_value(j))
		put_text(j, text);
}

/*
 * Control characters, for readers that pass them on to a terminal; U+2028 and U+2029, for readers
 * that take JSON for JavaScript.
 */
static bool needs_escape(uint32_t c)
{
	return c < 0x20 || c == '"' || c == '\\' || (c >= 0x7f && c < 0xa0) || c == 0x2028 ||
	       c == 0x2029;
}

/* Bytes at the start of s that can be written as they are. */
static size_t plain_run(const char *s)
{
	const char *start = s;
	uint32_t c;
	int len;

	while ((len = fmt_utf8(s, &c)) && !needs_escape(c))
		s += len;
	return (size_t)(s - start);
}

/* Writes the character at s as an escape; returns its length. */
static size_t put_escape(struct json *j, const char *s)
{
	char text[8];
	uint32_t c;
	int len = fmt_utf8(s, &c);

	if (!len)
		c = 0xfffd;
	if (c == '"' || c == '\\')
		snprintf(text, sizeof(text), "\\%c", (char)c);
	else
		snprintf(text, sizeof(text), "\\u%04x", (unsigned int)c & 0xffff);
	put_text(j, text);
	return len ? (size_t)len : 1;
}

static void put_string(struct json *j, const char *s)
{
	size_t run;

	put(j, "\"", 1);
	while (*s) {
		run = plain_run(s);
		put(j, s, run);
		s += run;
		if (*s)
			s += put_escape(j, s);
	}
	put(j, "\"", 1);
}

void json_init(struct json *j, FILE *out, bool pretty)
{
	memset(j, 0, sizeof(*j));
	j->out = out;
	j->pretty = pretty;
}

int json_end(struct json *j)
{
	if (j->depth || !j->done)
		misuse(j);
	put(j, "\n", 1);
	errno = 0;
	if (!j->err && fflush(j->out))
		j->err = errno ? -errno : -EIO;
	return j->err;
}

void json_open(struct json *j, char bracket)
{
	if ((bracket != '{' && bracket != '[') || j->depth == JSON_DEPTH)
		misuse(j);
	if (!begin_value(j))
		return;
	put(j, &bracket, 1);
	j->open[j->depth] = bracket;
	j->filled[j->depth] = false;
	j->depth++;
}

void json_close(struct json *j)
{
	if (!j->depth || j->after_key)
		misuse(j);
	if (j->err)
		return;
	j->depth--;
	if (j->filled[j->depth])
		new_line(j);
	put(j, j->open[j->depth] == '{' ? "}" : "]", 1);
}

void json_key(struct json *j, const char *key)
{
	if (!key || !j->depth || j->open[j->depth - 1] != '{' || j->after_key)
		misuse(j);
	if (j->err)
		return;
	separate(j);
	put_string(j, key);
	put_text(j, j->pretty ? ": " : ":");
	j->after_key = true;
}

void json_str(struct json *j, const char *s)
{
	if (!s)
		json_null(j);
	else if (begin_value(j))
		put_string(j, s);
}

void json_u64(struct json *j, uint64_t v)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, v);
	put_value(j, text);
}

void json_i64(struct json *j, int64_t v)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, v);
	put_value(j, text);
}

/* Where the locale has another decimal point, of whatever length, puts the point of JSON. */
static void json_point(char *text)
{
	char *to = text, *from = text;

	while (*from) {
		size_t digits = strspn(from, "0123456789eE+-");

		memmove(to, from, digits);
		to += digits;
		from += digits;
		if (*from)
			*to++ = '.';
		from += strcspn(from, "0123456789eE+-");
	}
	*to = '\0';
}

void json_double(struct json *j, double v)
{
	char text[64];
	int digits;

	if (!isfinite(v)) {
		json_null(j);
		return;
	}
	/* The fewest digits that read back as the same number: 0.1, not 0.10000000000000001. */
	for (digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, v);
		if (strtod(text, NULL) == v)
			break;
	}
	json_point(text);
	put_value(j, text);
}

void json_bool(struct json *j, bool v)
{
	put_value(j, v ? "true" : "false");
}

void json_null(struct json *j)
{
	put_value(j, "null");
}

void json_kstr(struct json *j, const char *key, const char *s)
{
	json_key(j, key);
	json_str(j, s);
}

void json_ku64(struct json *j, const char *key, uint64_t v)
{
	json_key(j, key);
	json_u64(j, v);
}

void json_kdouble(struct json *j, const char *key, double v)
{
	json_key(j, key);
	json_double(j, v);
}

void json_kbool(struct json *j, const char *key, bool v)
{
	json_key(j, key);
	json_bool(j, v);
}

void json_knull(struct json *j, const char *key)
{
	json_key(j, key);
	json_null(j);
}

void json_kopen(struct json *j, const char *key, char bracket)
{
	json_key(j, key);
	json_open(j, bracket);
}
