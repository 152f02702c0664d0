/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sheet.h - what people pass on: headings, fields and tables, either as plain ASCII text for a mail or
 * as Markdown. Strings given to it are harmless already (fmt_safe); what is not ASCII becomes \xNN.
 */
#ifndef KDEFER_SHEET_H
#define KDEFER_SHEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "text.h"

#define SHEET_WIDTH 72
#define SHEET_LABEL 14 /* columns of a field's label, with the space behind it */

struct sheet {
	FILE *out;
	bool markdown;
	size_t width;
	bool begun;       /* something stands above: a heading leaves a line free */
	bool below_table; /* in Markdown, what stands right below one would be its next row */
};

void sheet_init(struct sheet *s, FILE *out, bool markdown, size_t width);
void sheet_title(struct sheet *s, const char *text);
void sheet_heading(struct sheet *s, const char *text);
/* "label:  text", wrapped; in Markdown an item of a list. */
void sheet_field(struct sheet *s, const char *label, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void sheet_line(struct sheet *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A row as table_add() takes it. 0 or -ENOMEM. */
int sheet_row(struct table *t, const char *const *cells);
void sheet_table(struct sheet *s, const struct table *t);

#endif
