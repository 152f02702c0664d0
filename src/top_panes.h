/* SPDX-License-Identifier: GPL-2.0-only */
/* top_panes.h - pictures of one row or of all CPUs, in a part of a canvas. For top_draw.c. */
#ifndef KDEFER_TOP_PANES_H
#define KDEFER_TOP_PANES_H

#include "canvas.h"
#include "top_rows.h"

struct rect {
	int row, column, rows, columns;
};

/* Latency against time, newest at the right: how many waits each cell stands for. */
void pane_heat(struct canvas *c, struct rect at, const struct top_row *r);
/* Of the window that the snapshot is of. */
void pane_histogram(struct canvas *c, struct rect at, const struct top_row *r);
/* A length over time. */
void pane_graph(struct canvas *c, struct rect at, const struct top_row *r);
/* Each CPU, or several to a cell where there are more than fit: then the greatest of them. */
void pane_cpus(struct canvas *c, struct rect at, const struct top_snap *s, unsigned int source);
/* All lists of a source over time, a line each. */
void pane_lists(struct canvas *c, struct rect at, const struct top_snap *s, unsigned int source);

#endif
