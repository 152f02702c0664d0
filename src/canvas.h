/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * canvas.h - a screen in memory: cells of characters and styles, drawn by pure functions, put on a
 * terminal by screen.c or written as text by tests. Takes no character that a terminal would obey.
 */
#ifndef KDEFER_CANVAS_H
#define KDEFER_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum style {
	STYLE_NORMAL,
	STYLE_DIM,
	STYLE_BOLD,
	STYLE_TITLE,    /* the first line, heads of tables, the line of keys */
	STYLE_SELECTED, /* the row that keys are about */
	STYLE_UNUSUAL,  /* against the session's own history */
	STYLE_BAD,      /* something was lost, or is off */
	STYLE_GOOD,
	STYLE_HEAT, /* and STYLE_HEATS - 1 more: from cold to hot */
};

#define STYLE_HEATS 8
#define STYLES (STYLE_HEAT + STYLE_HEATS)

struct cell {
	uint32_t ch; /* 0: the right half of a wide character */
	uint8_t style;
};

struct canvas {
	struct cell *cell; /* rows * columns */
	int rows, columns;
	bool ascii; /* the terminal shows no more than ASCII */
};

/* 0 or -ENOMEM. Blank. At least 1 x 1, at most 1000 x 1000: a terminal may say anything. */
int canvas_resize(struct canvas *c, int rows, int columns);
void canvas_blank(struct canvas *c);
void canvas_free(struct canvas *c);

/*
 * Writes UTF-8 from there, at most `most` columns and never over the edge; returns the columns taken.
 * What is outside is left out without a word, so that callers need not ask.
 */
int canvas_text(struct canvas *c, int row, int column, enum style style, const char *s, int most);
int canvas_printf(struct canvas *c, int row, int column, enum style style, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
/* So that it ends before column `end`. */
void canvas_right(struct canvas *c, int row, int end, enum style style, const char *s);
/* Gives a style to cells that are there. */
void canvas_style(struct canvas *c, int row, int column, int columns, enum style style);
void canvas_put(struct canvas *c, int row, int column, enum style style, uint32_t ch);

/* A column that is filled to level/8 (0..8). */
uint32_t canvas_level(const struct canvas *c, unsigned int level);
/* How much of something is there, 0 (nothing) .. STYLE_HEATS. */
uint32_t canvas_shade(const struct canvas *c, unsigned int level);
uint32_t canvas_full(const struct canvas *c); /* of a bar */

/* The characters, without spaces at the ends of lines and empty lines at the end. */
void canvas_print(const struct canvas *c, FILE *out);

#endif
