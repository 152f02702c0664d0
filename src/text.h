/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * text.h - laying out text in columns: cut, wrapped, in tables. Strings are UTF-8 that fmt_safe()
 * has made harmless; widths are columns of a terminal, not bytes. Lines never end in spaces.
 */
#ifndef KDEFER_TEXT_H
#define KDEFER_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define TEXT_WIDTH_MIN 40 /* a narrower terminal gets lines of this width, and wraps them itself */
#define TEXT_WIDTH_MAX 300
#define TEXT_WIDTH_DEFAULT 80

/* At most `columns` of s, the last two as ".." when something is missing. Returns buf. */
char *text_cut(char *buf, size_t size, const char *s, size_t columns);

/*
 * Writes s, of which `at` columns of the first line are taken already, broken at spaces so that no
 * line is wider than `width`; further lines begin with `indent` spaces. Ends with a newline.
 */
void text_wrap(FILE *out, const char *s, size_t at, size_t indent, size_t width);

/* "  label:    s", wrapped: one thing that is said of what stands above. */
void text_field(FILE *out, const char *label, const char *s, size_t width);
/* The same, formatted; what is longer is cut. */
#define TEXT_FIELD_MAX 4096
void text_fieldf(FILE *out, size_t width, const char *label, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

struct table_column {
	const char *title;
	bool right; /* numbers */
	int rank;   /* where there is no room, the column of the highest rank goes first; 0 stays */
};

/*
 * Rows of cells. The first column is cut where even the columns of rank 0 do not fit beside it, and,
 * unless it has to stay whole, before others go.
 */
struct table {
	bool whole_first;
	const struct table_column *columns;
	size_t ncolumns, nrows;
	char **cells;
};

#define TABLE_COLUMNS_MAX 16

void table_init(struct table *t, const struct table_column *columns, size_t ncolumns);
int table_add(struct table *t, const char *const *cells); /* copies them; 0 or -ENOMEM */
void table_print(const struct table *t, FILE *out, size_t width);
/* Titles of the columns that have no room in it, as "A, B"; "" where all have. Returns buf. */
char *table_missing(const struct table *t, size_t width, char *buf, size_t size);
void table_free(struct table *t);

/* Adds to a text of at most size bytes, which is cut where it is full. */
void text_append(char *text, size_t size, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
