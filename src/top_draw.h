/* SPDX-License-Identifier: GPL-2.0-only */
/* top_draw.h - the screens of `kdefer top`, onto a canvas of any size. Pure, but for what it tells ui. */
#ifndef KDEFER_TOP_DRAW_H
#define KDEFER_TOP_DRAW_H

#include "canvas.h"
#include "top_ui.h"

/* The whole screen. Keeps the selected row in sight (ui->scroll, ui->page_rows). 0 or -ENOMEM. */
int top_draw(struct top_ui *ui, const struct top_snap *s, struct canvas *c);

#endif
