// SPDX-License-Identifier: GPL-2.0-only
/* sheet.c - one report, as text or as Markdown. */
#include <stdarg.h>
#include <string.h>

#include "sheet.h"

#define TEXT_MAX (5 * 4096) /* any fact of a capture, all of it escaped */

void sheet_init(struct sheet *s, FILE *out, bool markdown, size_t width)
{
	*s = (struct sheet){ .out = out, .markdown = markdown, .width = width };
}

/* Mails and logs: whatever is beyond ASCII would arrive as something else. */
static void to_ascii(char *buf, size_t size, const char *text)
{
	size_t used = 0;

	for (; *text && used + 5 < size; text++) {
		if ((unsigned char)*text < 0x80)
			buf[used++] = *text;
		else
			used += (size_t)snprintf(buf + used, size - used, "\\x%02x",
						 (unsigned char)*text);
	}
	buf[used] = '\0';
}

/* What Markdown would take for its own. */
static void put_escaped(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (strchr("\\`*_[]<>|#~", *text) && *text != '\0')
			fputc('\\', out);
		fputc(*text, out);
	}
}

static void leave_a_line(struct sheet *s)
{
	if (s->begun)
		fputc('\n', s->out);
	s->begun = true;
}

static void put_heading(struct sheet *s, const char *mark, const char *text)
{
	char ascii[TEXT_MAX];

	to_ascii(ascii, sizeof(ascii), text);
	leave_a_line(s);
	s->below_table = false;
	if (!s->markdown) {
		text_wrap(s->out, ascii, 0, 0, s->width);
		return;
	}
	fputs(mark, s->out);
	put_escaped(s->out, ascii);
	fputs("\n\n", s->out);
}

void sheet_title(struct sheet *s, const char *text)
{
	put_heading(s, "## ", text);
}

void sheet_heading(struct sheet *s, const char *text)
{
	put_heading(s, "### ", text);
}

void sheet_field(struct sheet *s, const char *label, const char *fmt, ...)
{
	char text[TEXT_MAX], ascii[TEXT_MAX];
	va_list args;
	int n;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	to_ascii(ascii, sizeof(ascii), text);
	s->begun = true;
	if (s->markdown) {
		fprintf(s->out, "- %s%s ", label, *label ? ":" : "");
		put_escaped(s->out, ascii);
		fputc('\n', s->out);
		return;
	}
	n = fprintf(s->out, "%s%s", label, *label ? ":" : "");
	fprintf(s->out, "%*s", n < SHEET_LABEL ? SHEET_LABEL - n : 1, "");
	text_wrap(s->out, ascii, n < SHEET_LABEL ? SHEET_LABEL : (size_t)n + 1, SHEET_LABEL,
		  s->width);
}

void sheet_line(struct sheet *s, const char *fmt, ...)
{
	char text[TEXT_MAX], ascii[TEXT_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	to_ascii(ascii, sizeof(ascii), text);
	s->begun = true;
	if (!s->markdown) {
		text_wrap(s->out, ascii, 0, 2, s->width);
		return;
	}
	if (s->below_table)
		fputs("\n", s->out);
	s->below_table = false;
	put_escaped(s->out, ascii);
	fputs("\n", s->out);
}

int sheet_row(struct table *t, const char *const *cells)
{
	char text[TABLE_COLUMNS_MAX][1200];
	const char *ascii[TABLE_COLUMNS_MAX];
	size_t i;

	for (i = 0; i < t->ncolumns; i++) {
		to_ascii(text[i], sizeof(text[i]), cells[i]);
		ascii[i] = text[i];
	}
	return table_add(t, ascii);
}

static void put_markdown_row(FILE *out, const struct table *t, size_t row)
{
	size_t i;

	for (i = 0; i < t->ncolumns; i++) {
		fputs("| ", out);
		put_escaped(out, t->cells[row * t->ncolumns + i]);
		fputc(' ', out);
	}
	fputs("|\n", out);
}

void sheet_table(struct sheet *s, const struct table *t)
{
	char missing[256];
	size_t i;

	s->begun = true;
	if (!s->markdown) {
		table_print(t, s->out, s->width);
		if (*table_missing(t, s->width, missing, sizeof(missing)))
			sheet_line(s, "no room for: %s; --markdown has all columns", missing);
		return;
	}
	for (i = 0; i < t->ncolumns; i++)
		fprintf(s->out, "| %s ", t->columns[i].title);
	fputs("|\n", s->out);
	for (i = 0; i < t->ncolumns; i++)
		fputs(t->columns[i].right ? "|---:" : "|---", s->out);
	fputs("|\n", s->out);
	for (i = 0; i < t->nrows; i++)
		put_markdown_row(s->out, t, i);
	s->below_table = true;
}
