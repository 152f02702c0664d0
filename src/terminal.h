/* SPDX-License-Identifier: GPL-2.0-only */
/* terminal.h - what screen.c asks of terminfo, whose names of macros nobody else should meet. */
#ifndef KDEFER_TERMINAL_H
#define KDEFER_TERMINAL_H

#include <stddef.h>

/*
 * Finds the description of the terminal on standard output: that of the host, or one of the usual ones
 * that are built in. 0, or -ENOTTY: `why` says in a few words why nothing can be drawn.
 */
int terminal_find(char *why, size_t size);

/* What makes it as it was before it was drawn on. Returns the length. Once after terminal_find(). */
size_t terminal_restore_text(char *buf, size_t size);

#endif
