/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * screen.h - the terminal, which nobody else touches while it is open. It is as it was before on every
 * way out: when it is closed, when the process exits, is stopped, or dies of a signal that can be caught.
 */
#ifndef KDEFER_SCREEN_H
#define KDEFER_SCREEN_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

#include "canvas.h"

/* What comes in: a character as it is, or one of these. */
enum input {
	INPUT_NONE = -1,
	INPUT_ESCAPE = 27,
	INPUT_UP = 0x110000, /* beyond any character */
	INPUT_DOWN,
	INPUT_LEFT,
	INPUT_RIGHT,
	INPUT_PAGE_UP,
	INPUT_PAGE_DOWN,
	INPUT_HOME,
	INPUT_END,
	INPUT_ENTER,
	INPUT_TAB,
	INPUT_BACK_TAB,
	INPUT_BACKSPACE,
	INPUT_F1,
	INPUT_F10 = INPUT_F1 + 9,
	INPUT_REDRAW, /* the size has changed, or somebody else wrote on the terminal */
	INPUT_OTHER,  /* a key without a meaning here */
};

#define SCREEN_FDS 2
#define SCREEN_WHY 200

/*
 * Takes the terminal. 0, or a negative errno when there is none that can be drawn on: not logged, `why`
 * (SCREEN_WHY bytes) says so in a few words.
 */
int screen_open(char *why);
void screen_close(void); /* may be called at any time, more than once */
/* From a signal handler that is about to end the process. */
void screen_restore(void);

void screen_size(int *rows, int *columns);
bool screen_ascii(void); /* the locale knows no UTF-8 */

/* Shows it. Only what differs from what is there is sent. */
void screen_put(const struct canvas *c);
/* The next key, or INPUT_NONE. Stops the process if that was asked for, and goes on after it. */
int screen_input(void);
/* What to wait for before there is input. */
void screen_poll(struct pollfd p[SCREEN_FDS]);

#endif
