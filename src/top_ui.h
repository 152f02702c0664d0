/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * top_ui.h - what the person at `kdefer top` has chosen: view, row, order, and so on. Keys change it,
 * drawing reads it; nothing here knows a terminal.
 */
#ifndef KDEFER_TOP_UI_H
#define KDEFER_TOP_UI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "top_rows.h"

enum top_view { VIEW_OVERVIEW, VIEW_SOURCE, VIEW_EVENTS, VIEW_EVENT, VIEW_HELP, TOP_VIEWS };
enum top_prompt { PROMPT_NONE, PROMPT_SEARCH, PROMPT_FILTER, PROMPT_INTERVAL };
enum top_pane { PANE_HEAT, PANE_HISTOGRAM, PANE_CPUS };

/* A table of a source. */
struct top_page {
	enum top_kind kind;
	uint8_t measure; /* of TOP_KEY */
	enum key_name by;
};

#define TOP_PAGES 32
#define TOP_TYPED 64

struct top_ui {
	enum top_view view, before; /* before: what help and an event were called from */
	unsigned int source;
	unsigned int page[KD_SRC_COUNT];
	char *selected[TOP_VIEWS]; /* id of a row; NULL: the first */
	int scroll[TOP_VIEWS];
	size_t event; /* index in the snapshot, newest first */
	bool sorted, invert;
	enum top_column sort;
	enum top_pane pane;
	enum top_prompt prompt;
	char typed[TOP_TYPED];
	char search[TOP_TYPED], filter[TOP_TYPED];
	char message[200];
	bool paused;
	/* Told by the command: */
	bool replay, ended; /* ended: the capture holds no more */
	const char *file;   /* of the capture that is shown */
	const char *recording;
	uint64_t interval_ns;
	int page_rows; /* rows of the table as last drawn */
};

/* What a key asks of the command. */
enum top_ask {
	ASK_NOTHING,
	ASK_QUIT,
	ASK_PAUSE, /* paused has changed */
	ASK_STEP,
	ASK_INTERVAL, /* interval_ns has changed */
	ASK_RECORD,
	ASK_RESET,
	ASK_ALL,    /* turn the setting of struct top round */
	ASK_WINDOW, /* the same */
	ASK_REDRAW,
};

void top_ui_init(struct top_ui *ui);
void top_ui_free(struct top_ui *ui);

enum top_ask top_ui_input(struct top_ui *ui, const struct top_snap *s, int input);

/* Tables of a source that have rows; at least one page is returned where the source has any. */
size_t top_ui_pages(const struct top_snap *s, unsigned int source,
		    struct top_page pages[TOP_PAGES]);
/* Bits of enum top_column that a table has; NULL: the overview. */
uint32_t top_ui_columns(const struct top_page *p);
/* Of `pages`, which it fills, the one that is shown; NULL: the overview, or none. */
const struct top_page *top_ui_page(const struct top_ui *ui, const struct top_snap *s,
				   struct top_page pages[TOP_PAGES]);
/* Rows of the view in their order. The caller frees *list. 0 or -ENOMEM. */
int top_ui_rows(const struct top_ui *ui, const struct top_snap *s, const struct top_row ***list,
		size_t *n);
/* Index of the selected row in such a list; 0 where it is not there. */
size_t top_ui_selected(const struct top_ui *ui, const struct top_row *const *list, size_t n);
/* Views that Tab goes through: overview, sources that are shown, events. False: no such. */
bool top_ui_view(const struct top_snap *s, unsigned int number, enum top_view *view,
		 unsigned int *source);

#endif
