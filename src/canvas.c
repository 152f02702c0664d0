// SPDX-License-Identifier: GPL-2.0-only
/* canvas.c - a screen in memory. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "canvas.h"
#include "format.h"

#define SIDE_MOST 1000
#define TEXT_MOST 4096

int canvas_resize(struct canvas *c, int rows, int columns)
{
	struct cell *cell;

	rows = rows < 1 ? 1 : rows > SIDE_MOST ? SIDE_MOST : rows;
	columns = columns < 1 ? 1 : columns > SIDE_MOST ? SIDE_MOST : columns;
	if (rows != c->rows || columns != c->columns) {
		cell = reallocarray(c->cell, (size_t)rows * (size_t)columns, sizeof(*cell));
		if (!cell)
			return -ENOMEM;
		c->cell = cell;
		c->rows = rows;
		c->columns = columns;
	}
	canvas_blank(c);
	return 0;
}

void canvas_blank(struct canvas *c)
{
	size_t n = (size_t)c->rows * (size_t)c->columns;

	for (size_t i = 0; i < n; i++)
		c->cell[i] = (struct cell){ ' ', STYLE_NORMAL };
}

void canvas_free(struct canvas *c)
{
	free(c->cell);
	*c = (struct canvas){ .ascii = c->ascii };
}

static bool is_inside(const struct canvas *c, int row, int column)
{
	return row >= 0 && row < c->rows && column >= 0 && column < c->columns;
}

static struct cell *at(const struct canvas *c, int row, int column)
{
	return &c->cell[(size_t)row * (size_t)c->columns + (size_t)column];
}

/* What is left of a wide character when one half is overwritten. */
static void mend(struct canvas *c, int row, int column)
{
	if (is_inside(c, row, column) && !at(c, row, column)->ch && column)
		at(c, row, column - 1)->ch = ' ';
	if (is_inside(c, row, column + 1) && !at(c, row, column + 1)->ch)
		at(c, row, column + 1)->ch = ' ';
}

static uint32_t harmless(const struct canvas *c, uint32_t ch)
{
	if (ch < 0x20 || (ch >= 0x7f && ch < 0xa0) || (c->ascii && ch > 0x7e))
		return '?';
	return ch;
}

void canvas_put(struct canvas *c, int row, int column, enum style style, uint32_t ch)
{
	if (!is_inside(c, row, column))
		return;
	mend(c, row, column);
	*at(c, row, column) = (struct cell){ harmless(c, ch), (uint8_t)style };
}

/* Of a string that may be no UTF-8: a byte of it, shown as '?'. */
static int decode(const char *s, uint32_t *ch, size_t *width)
{
	char one[8] = "";
	int len = fmt_utf8(s, ch);

	if (!len) {
		*ch = '?';
		*width = 1;
		return 1;
	}
	memcpy(one, s, (size_t)len);
	*width = fmt_width(one);
	return len;
}

int canvas_text(struct canvas *c, int row, int column, enum style style, const char *s, int most)
{
	int used = 0;

	while (*s) {
		uint32_t ch;
		size_t width;

		s += decode(s, &ch, &width);
		if (!width) /* combining: terminals differ too much */
			continue;
		if (used + (int)width > most || column + used + (int)width > c->columns)
			break;
		canvas_put(c, row, column + used, style, ch);
		if (width == 2 && is_inside(c, row, column + used + 1)) {
			bool wide = !c->ascii;

			canvas_put(c, row, column + used + 1, style, ' ');
			if (wide && is_inside(c, row, column + used))
				at(c, row, column + used + 1)->ch = 0;
		}
		used += (int)width;
	}
	return used;
}

int canvas_printf(struct canvas *c, int row, int column, enum style style, const char *fmt, ...)
{
	char text[TEXT_MOST];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return canvas_text(c, row, column, style, text, SIDE_MOST);
}

void canvas_right(struct canvas *c, int row, int end, enum style style, const char *s)
{
	canvas_text(c, row, end - (int)fmt_width(s), style, s, SIDE_MOST);
}

void canvas_style(struct canvas *c, int row, int column, int columns, enum style style)
{
	for (int i = column; i < column + columns; i++)
		if (is_inside(c, row, i))
			at(c, row, i)->style = (uint8_t)style;
}

uint32_t canvas_level(const struct canvas *c, unsigned int level)
{
	static const char ascii[] = " ._-=+*#@";

	level = level > 8 ? 8 : level;
	if (c->ascii)
		return (uint32_t)ascii[level];
	return level ? 0x2580 + level : ' ';
}

uint32_t canvas_shade(const struct canvas *c, unsigned int level)
{
	static const char ascii[] = " .:-=+*#@";
	static const uint32_t shades[] = { ' ',    0x2591, 0x2591, 0x2592, 0x2592,
					   0x2593, 0x2593, 0x2588, 0x2588 };

	level = level > STYLE_HEATS ? STYLE_HEATS : level;
	return c->ascii ? (uint32_t)ascii[level] : shades[level];
}

uint32_t canvas_full(const struct canvas *c)
{
	return c->ascii ? '@' : 0x2588;
}

/* --- as text --- */

static void print_char(uint32_t ch, FILE *out)
{
	if (ch < 0x80) {
		fputc((int)ch, out);
	} else if (ch < 0x800) {
		fputc((int)(0xc0 | ch >> 6), out);
		fputc((int)(0x80 | (ch & 0x3f)), out);
	} else {
		if (ch < 0x10000) {
			fputc((int)(0xe0 | ch >> 12), out);
		} else {
			fputc((int)(0xf0 | ch >> 18), out);
			fputc((int)(0x80 | (ch >> 12 & 0x3f)), out);
		}
		fputc((int)(0x80 | (ch >> 6 & 0x3f)), out);
		fputc((int)(0x80 | (ch & 0x3f)), out);
	}
}

static int end_of_line(const struct canvas *c, int row)
{
	int end = c->columns;

	while (end && at(c, row, end - 1)->ch == ' ')
		end--;
	return end;
}

void canvas_print(const struct canvas *c, FILE *out)
{
	int rows = c->rows;

	while (rows && !end_of_line(c, rows - 1))
		rows--;
	for (int row = 0; row < rows; row++) {
		int end = end_of_line(c, row);

		for (int column = 0; column < end; column++)
			if (at(c, row, column)->ch)
				print_char(at(c, row, column)->ch, out);
		fputc('\n', out);
	}
}
