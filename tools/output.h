/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * output.h - standard output, which holds nothing but data: each piece (a document, an interval) is
 * written whole, and no error of writing it goes unseen.
 */
#ifndef KDEFER_OUTPUT_H
#define KDEFER_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct output {
	int fd;
	FILE *piece; /* the piece that is being made, in memory */
	char *text;
	size_t len;
	int err; /* first failure; nothing is written after it */
};

void output_init(struct output *o);
/*
 * Where a command that we run would share our standard output and only our JSON may be there: its
 * output goes to standard error from now on. 0 or a negative errno (logged).
 */
int output_apart(struct output *o);
FILE *output_begin(struct output *o); /* NULL: no memory (logged), or an error before */
/* 0; -EPIPE without a word when the reader has gone; others are logged. */
int output_end(struct output *o);

/* Columns of a line: COLUMNS, else the terminal's, else 80; within TEXT_WIDTH_MIN and _MAX. */
size_t output_width(void);

/*
 * Before anything else: a descriptor 0, 1 or 2 that is closed would become our first file. Returns
 * -EBADF when standard output is closed (logged).
 */
int output_check(void);
/* At the end, for what stdio has written to stdout: as output_end(). */
int output_finish(void);

#endif
