/* SPDX-License-Identifier: GPL-2.0-only */
/* top_draw_parts.h - between top_draw.c and top_pages.c, for nobody else. */
#ifndef KDEFER_TOP_DRAW_PARTS_H
#define KDEFER_TOP_DRAW_PARTS_H

#include "canvas.h"
#include "top_ui.h"

/* Over the names of a table: "latency by func"; NULL: of the overview. Returns buf. */
char *top_page_name(char *buf, size_t size, const struct top_ui *ui, const struct top_page *p);

void top_put_help(struct top_ui *ui, struct canvas *c);
void top_put_events(struct top_ui *ui, const struct top_snap *s, struct canvas *c, int row);
void top_put_event(struct top_ui *ui, const struct top_snap *s, struct canvas *c, int row);
/* Where a table has no rows: why. */
void top_put_nothing(const struct top_ui *ui, const struct top_snap *s, struct canvas *c, int row);

#endif
