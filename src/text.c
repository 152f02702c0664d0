// SPDX-License-Identifier: GPL-2.0-only
/* text.c - cutting, wrapping, and tables that drop columns until they fit. */
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "text.h"

#define GAP 2        /* between columns of a table */
#define FIRST_MIN 16 /* the first column keeps this much before others have to go */

/* Bytes of the characters at the start of s that take at most `columns`. */
static size_t head(const char *s, size_t columns)
{
	char piece[5];
	size_t used = 0, at = 0, width;
	uint32_t c;
	int len;

	while (s[at]) {
		len = fmt_utf8(s + at, &c);
		if (!len)
			len = 1;
		memcpy(piece, s + at, (size_t)len);
		piece[len] = '\0';
		width = fmt_width(piece);
		if (used + width > columns)
			break;
		used += width;
		at += (size_t)len;
	}
	return at;
}

char *text_cut(char *buf, size_t size, const char *s, size_t columns)
{
	const char *mark = columns > 2 ? ".." : "";

	if (fmt_width(s) <= columns)
		snprintf(buf, size, "%s", s);
	else
		snprintf(buf, size, "%.*s%s", (int)head(s, columns - strlen(mark)), s, mark);
	return buf;
}

/* --- wrapping --- */

static void put_break(FILE *out, size_t indent)
{
	fprintf(out, "\n%*s", (int)indent, "");
}

/* A word that no line has room for: over several lines. Returns the column behind it. */
static size_t put_long_word(FILE *out, const char *s, size_t len, size_t indent, size_t width)
{
	size_t room = width > indent ? width - indent : 1, part = 0;
	const char *end = s + len;

	while (s < end) {
		part = head(s, room);
		if (!part || part > (size_t)(end - s))
			part = (size_t)(end - s);
		fwrite(s, 1, part, out);
		s += part;
		if (s < end)
			put_break(out, indent);
	}
	return indent + part;
}

static size_t word_width(const char *s, size_t len)
{
	char word[512];

	if (len >= sizeof(word))
		return len;
	memcpy(word, s, len);
	word[len] = '\0';
	return fmt_width(word);
}

void text_wrap(FILE *out, const char *s, size_t at, size_t indent, size_t width)
{
	bool first = true; /* of the line: no space before it */
	size_t len, columns;

	for (s += strspn(s, " "); *s; s += len, s += strspn(s, " ")) {
		len = strcspn(s, " ");
		columns = word_width(s, len);
		if (at + !first + columns > width && (!first || at > indent)) {
			put_break(out, indent);
			at = indent;
			first = true;
		}
		if (!first) {
			fputc(' ', out);
			at++;
		}
		if (at + columns > width) {
			at = put_long_word(out, s, len, indent, width);
		} else {
			fwrite(s, 1, len, out);
			at += columns;
		}
		first = false;
	}
	fputc('\n', out);
}

#define INDENT 2
#define LABEL 11  /* "measured:" and two spaces */
#define NARROW 60 /* below it, further lines are indented by less */

void text_field(FILE *out, const char *label, const char *s, size_t width)
{
	fprintf(out, "%*s%-*s", INDENT, "", LABEL, label);
	text_wrap(out, s, INDENT + LABEL, width < NARROW ? 2 * INDENT : INDENT + LABEL, width);
}

void text_fieldf(FILE *out, size_t width, const char *label, const char *fmt, ...)
{
	char text[TEXT_FIELD_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	text_field(out, label, text, width);
}

/* --- tables --- */

void table_init(struct table *t, const struct table_column *columns, size_t ncolumns)
{
	memset(t, 0, sizeof(*t));
	t->columns = columns;
	t->ncolumns = ncolumns < TABLE_COLUMNS_MAX ? ncolumns : TABLE_COLUMNS_MAX;
}

int table_add(struct table *t, const char *const *cells)
{
	size_t i, n = t->nrows * t->ncolumns;
	char **grown = reallocarray(t->cells, n + t->ncolumns, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	t->cells = grown;
	for (i = 0; i < t->ncolumns; i++) {
		grown[n + i] = strdup(cells[i]);
		if (grown[n + i])
			continue;
		while (i--)
			free(grown[n + i]);
		return -ENOMEM;
	}
	t->nrows++;
	return 0;
}

void table_free(struct table *t)
{
	size_t i;

	for (i = 0; i < t->nrows * t->ncolumns; i++)
		free(t->cells[i]);
	free(t->cells);
	t->cells = NULL;
	t->nrows = 0;
}

static const char *cell(const struct table *t, size_t row, size_t column)
{
	return row ? t->cells[(row - 1) * t->ncolumns + column] : t->columns[column].title;
}

static void measure_columns(const struct table *t, size_t *widths)
{
	size_t row, i, width;

	for (i = 0; i < t->ncolumns; i++) {
		widths[i] = 0;
		for (row = 0; row <= t->nrows; row++) {
			width = fmt_width(cell(t, row, i));
			if (width > widths[i])
				widths[i] = width;
		}
	}
}

/* Columns that all but the first take with their gaps; a width of 0 is a column that has gone. */
static size_t rest_width(const struct table *t, const size_t *widths)
{
	size_t i, sum = 0;

	for (i = 1; i < t->ncolumns; i++)
		sum += widths[i] ? widths[i] + GAP : 0;
	return sum;
}

static bool drop_column(const struct table *t, size_t *widths)
{
	size_t i, victim = 0;

	for (i = 1; i < t->ncolumns; i++)
		if (widths[i] && t->columns[i].rank > (victim ? t->columns[victim].rank : 0))
			victim = i;
	widths[victim] = victim ? 0 : widths[0];
	return victim;
}

static void fit(const struct table *t, size_t *widths, size_t width)
{
	size_t least = widths[0] < FIRST_MIN || t->whole_first ? widths[0] : FIRST_MIN, rest;

	do
		rest = rest_width(t, widths);
	while (least + rest > width && drop_column(t, widths));
	if (widths[0] + rest > width)
		widths[0] = width > rest + 3 ? width - rest : 3;
}

static void put_row(const struct table *t, FILE *out, size_t row, const size_t *widths)
{
	size_t i, pad = 0, room;
	char text[1024];

	for (i = 0; i < t->ncolumns; i++) {
		if (!widths[i])
			continue;
		text_cut(text, sizeof(text), cell(t, row, i), widths[i]);
		room = widths[i] - fmt_width(text);
		if (t->columns[i].right)
			pad += room;
		/* Spaces are written only when something follows: none at the end of a line. */
		if (*text) {
			fprintf(out, "%*s%s", (int)pad, "", text);
			pad = 0;
		}
		pad += GAP + (t->columns[i].right ? 0 : room);
	}
	fputc('\n', out);
}

void table_print(const struct table *t, FILE *out, size_t width)
{
	size_t widths[TABLE_COLUMNS_MAX] = { 0 }, row;

	measure_columns(t, widths);
	fit(t, widths, width);
	for (row = 0; row <= t->nrows; row++)
		put_row(t, out, row, widths);
}

char *table_missing(const struct table *t, size_t width, char *buf, size_t size)
{
	size_t widths[TABLE_COLUMNS_MAX] = { 0 }, i;

	measure_columns(t, widths);
	fit(t, widths, width);
	buf[0] = '\0';
	for (i = 0; i < t->ncolumns; i++)
		if (!widths[i])
			text_append(buf, size, "%s%s", *buf ? ", " : "", t->columns[i].title);
	return buf;
}

void text_append(char *text, size_t size, const char *fmt, ...)
{
	size_t used = strlen(text);
	va_list args;

	va_start(args, fmt);
	vsnprintf(text + used, size - used, fmt, args);
	va_end(args);
}
