// SPDX-License-Identifier: GPL-2.0-only
/* top_draw.c - the screens of `kdefer top`: title, what stands above, table, pictures, line of keys. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "text.h"
#include "top_draw.h"
#include "top_draw_parts.h"
#include "top_keys.h"
#include "top_panes.h"
#include "view_lists_parts.h"
#include "view_top.h"

#define LINE 2400
#define HEAD_ROWS 16 /* below so many rows of screen hardly anything stands above the table */
#define PANE_ROWS 18 /* from so many on there is a picture below */
#define NAME_LEAST 12
#define TREND_MOST 60
#define LISTS_MOST 9
#define PICTURE_ROWS 10 /* that the lists below a picture leave to it */
#define WIDE 140        /* columns from which two pictures stand beside each other */

/* --- above --- */

static void put_title(const struct top_ui *ui, const struct top_snap *s, struct canvas *c)
{
	char right[400] = "", n[FMT_LEN];
	int width;

	canvas_style(c, 0, 0, c->columns, STYLE_TITLE);
	if (ui->recording)
		text_append(right, sizeof(right), "recording  ");
	if (ui->paused || ui->ended)
		text_append(right, sizeof(right), "%s  ", ui->ended ? "the end" : "paused");
	if (s->window)
		text_append(right, sizeof(right), "since baseline ");
	text_append(right, sizeof(right), "%s", fmt_ns(n, sizeof(n), s->length_ns));
	if (c->columns >= 60 && s->time && strlen(s->time) > 19)
		text_append(right, sizeof(right), "  %.8s", s->time + 11);
	width = (int)fmt_width(right);
	if (s->host)
		canvas_printf(c, 0, 0, STYLE_TITLE, c->columns < 60 ? "%.0s%s" : "%s  %s",
			      ui->file ? "kdefer capture" : "kdefer top", s->host);
	if (width + 2 < c->columns)
		canvas_printf(c, 0, c->columns - width - 2, STYLE_TITLE, "  %s", right);
}

static int put_field(struct canvas *c, int row, const char *label, const char *text,
		     enum style style)
{
	int used = canvas_text(c, row, 0, STYLE_DIM, label, c->columns);

	canvas_text(c, row, used, style, text, c->columns - used);
	return row + 1;
}

static int put_gps(const struct top_snap *s, struct canvas *c, int row, int most)
{
	char text[LINE];
	int put = 0;

	for (size_t i = 0; i < s->ngps && put < most; i++) {
		if (s->gp[i].idle)
			continue;
		row = put_field(
			c, row, "grace period: ", top_gp_line(text, sizeof(text), &s->gp[i]),
			s->gp[i].cpus_owed || s->gp[i].tasks_owed ? STYLE_BOLD : STYLE_NORMAL);
		put++;
	}
	if (!put && most && s->ngps)
		row = put_field(c, row, "grace period: ", "none under way", STYLE_NORMAL);
	return row;
}

static int put_head(const struct top_snap *s, struct canvas *c)
{
	bool tall = c->rows >= HEAD_ROWS;
	int row = 1;

	if (s->held && *s->held && c->rows >= 8)
		row = put_field(c, row, "held back: ", s->held, STYLE_NORMAL);
	if (tall && s->cost && *s->cost)
		row = put_field(c, row, "own cost: ", s->cost, STYLE_NORMAL);
	if (tall && s->warning && *s->warning)
		row = put_field(c, row, "note: ", s->warning, STYLE_UNUSUAL);
	return put_gps(s, c, row, c->rows >= 30 ? 5 : tall ? 2 : c->rows >= 6);
}

/* " 0 overview  1 call_rcu ..." */
static int put_tabs(const struct top_ui *ui, const struct top_snap *s, struct canvas *c, int row)
{
	unsigned int source = 0, i;
	enum top_view view;
	int column = 0;

	if (c->rows < HEAD_ROWS)
		return row;
	for (i = 0; i < 10 && top_ui_view(s, i, &view, &source); i++) {
		bool here = view == ui->view && (view != VIEW_SOURCE || source == ui->source);
		char events[FMT_LEN] = "", n[FMT_LEN];

		if (view == VIEW_EVENTS)
			snprintf(events, sizeof(events), " (%s)",
				 fmt_count(n, sizeof(n), s->nevents));
		column += canvas_printf(c, row, column, here ? STYLE_SELECTED : STYLE_NORMAL,
					" %u %s%s ", i,
					view == VIEW_OVERVIEW ? "overview"
					: view == VIEW_SOURCE ? source_name(source)
							      : "events",
					events);
	}
	return row + 1;
}

/* --- the table --- */

struct shape {
	int width[TOP_COLUMNS]; /* 0: not shown */
	int name;
};

static int taken(const struct shape *sh)
{
	int sum = sh->name;

	for (int c = 1; c < TOP_COLUMNS; c++)
		sum += sh->width[c] ? sh->width[c] + 1 : 0;
	return sum;
}

static bool drop_one(struct shape *sh)
{
	int victim = 0;

	for (int c = 1; c < TOP_COLUMNS; c++)
		if (sh->width[c] &&
		    top_column_info((enum top_column)c)->rank >
			    (victim ? top_column_info((enum top_column)victim)->rank : 0))
			victim = c;
	if (victim)
		sh->width[victim] = 0;
	return victim;
}

static int widest(const struct top_row *const *list, size_t n, int from, int to, int title_width)
{
	int most = title_width > NAME_LEAST ? title_width : NAME_LEAST;

	for (size_t i = (size_t)from; i < n && i < (size_t)to; i++) {
		int width = (int)fmt_width(list[i]->name) + 2 * list[i]->indent;

		most = width > most ? width : most;
	}
	return most;
}

/* As many columns as fit; what is left goes to names, then to the trend. */
static void fit(struct shape *sh, int columns, uint32_t wanted, int want)
{
	int left, most;

	memset(sh, 0, sizeof(*sh));
	sh->name = want < NAME_LEAST + 8 ? want : NAME_LEAST + 8;
	for (int i = 1; i < TOP_COLUMNS; i++)
		if (wanted >> i & 1)
			sh->width[i] = top_column_info((enum top_column)i)->width;
	while (taken(sh) > columns && drop_one(sh))
		;
	left = columns - taken(sh);
	most = columns / 2;
	if (left > 0 && want > sh->name && sh->name < most) {
		int more = want < most ? want - sh->name : most - sh->name;

		sh->name += more < left ? more : left;
		left = columns - taken(sh);
	}
	if (left > 0 && sh->width[TOP_TREND])
		sh->width[TOP_TREND] += sh->width[TOP_TREND] + left > TREND_MOST
						? TREND_MOST - sh->width[TOP_TREND]
						: left;
	if (left < 0)
		sh->name = sh->name + left > 3 ? sh->name + left : 3;
}

static void put_heads(const struct top_ui *ui, const char *title, struct canvas *c, int row,
		      const struct shape *sh)
{
	int column = sh->name;
	char text[64];

	canvas_style(c, row, 0, c->columns, STYLE_TITLE);
	canvas_text(c, row, 0, STYLE_TITLE, title, sh->name);
	for (int i = 1; i < TOP_COLUMNS; i++) {
		const char *mark = ui->sorted && ui->sort == (enum top_column)i
					   ? (ui->invert ? "^" : "v")
					   : "";

		if (!sh->width[i])
			continue;
		snprintf(text, sizeof(text), "%s%s", mark,
			 top_column_info((enum top_column)i)->title);
		if (i == TOP_TREND)
			canvas_text(c, row, column + 1, STYLE_TITLE, text, sh->width[i]);
		else
			canvas_right(c, row, column + 1 + sh->width[i], STYLE_TITLE, text);
		column += sh->width[i] + 1;
	}
}

/* Of the selected row too in its own colour: upside down it would be another picture. */
static void put_trend(struct canvas *c, int row, int column, int width, const struct top_row *r)
{
	int level[TRACK_LENGTH];

	top_trend_levels(r, level, width);
	for (int i = 0; i < width; i++)
		if (level[i] >= 0)
			canvas_put(c, row, column + i, level[i] ? STYLE_GOOD : STYLE_DIM,
				   level[i] ? canvas_level(c, (unsigned int)level[i]) : '.');
}

static enum style cell_style(const struct top_row *r, int i, bool selected)
{
	if (selected)
		return STYLE_SELECTED;
	if (r->unusual >> i & 1)
		return STYLE_UNUSUAL;
	if (i == TOP_LOST && r->v[i] > 0)
		return STYLE_BAD;
	return STYLE_NORMAL;
}

/* A length that does not fit is rounded; any other number is left out, never cut to another one. */
static void put_number(struct canvas *c, int row, int column, int width, const struct top_row *r,
		       int i, bool selected)
{
	char text[FMT_LEN + 4], rate[FMT_LEN];
	enum style style = cell_style(r, i, selected);

	top_cell(text, sizeof(text), r, (enum top_column)i);
	if ((int)fmt_width(text) > width && (i == TOP_PENDING || i == TOP_LOST))
		snprintf(text, sizeof(text), "%s%s",
			 i == TOP_LOST ? "" : lists_mark(r->exact, r->truncated),
			 fmt_rate(rate, sizeof(rate), r->v[i]));
	else if ((int)fmt_width(text) > width)
		snprintf(text, sizeof(text), "%.*s", width, "##########");
	canvas_right(c, row, column + width, style, text);
	if (r->unusual >> i & 1)
		canvas_put(c, row, column + width - 1 - (int)fmt_width(text), style, '!');
}

static void put_row(struct canvas *c, int row, const struct shape *sh, const struct top_row *r,
		    bool selected)
{
	int column = sh->name;
	char name[LINE], whole[LINE];

	if (selected)
		canvas_style(c, row, 0, c->columns, STYLE_SELECTED);
	top_cell(whole, sizeof(whole), r, TOP_NAME);
	text_cut(name, sizeof(name), whole, (size_t)(r->note ? c->columns : sh->name));
	canvas_text(c, row, 0,
		    selected             ? STYLE_SELECTED
		    : r->kind == TOP_OFF ? STYLE_DIM
		    : r->kind == TOP_SUM ? STYLE_BOLD
					 : STYLE_NORMAL,
		    name, c->columns);
	if (r->note) {
		canvas_text(c, row, (int)fmt_width(name) + 2, selected ? STYLE_SELECTED : STYLE_DIM,
			    r->note, c->columns);
		return;
	}
	for (int i = 1; i < TOP_COLUMNS; i++) {
		if (!sh->width[i])
			continue;
		if (i == TOP_TREND)
			put_trend(c, row, column + 1, sh->width[i], r);
		else
			put_number(c, row, column + 1, sh->width[i], r, i, selected);
		column += sh->width[i] + 1;
	}
}

static void keep_in_sight(struct top_ui *ui, size_t at, size_t n, int rows)
{
	int *scroll = &ui->scroll[ui->view];

	if (*scroll > (int)at)
		*scroll = (int)at;
	if (*scroll + rows <= (int)at)
		*scroll = (int)at - rows + 1;
	if (*scroll + rows > (int)n)
		*scroll = (int)n > rows ? (int)n - rows : 0;
}

/* --- below --- */

static void put_pane(const struct top_ui *ui, const struct top_snap *s, struct canvas *c,
		     struct rect at, const struct top_row *r, enum top_pane pane)
{
	if (pane == PANE_CPUS)
		pane_cpus(c, at, s, r ? r->source : ui->source);
	else if (!r)
		return;
	else if (r->kind == TOP_LIST)
		pane_lists(c, at, s, r->source);
	else if (!r->timed)
		pane_graph(c, at, r);
	else if (pane == PANE_HISTOGRAM)
		pane_histogram(c, at, r);
	else
		pane_heat(c, at, r);
}

static void put_pictures(const struct top_ui *ui, const struct top_snap *s, struct canvas *c,
			 struct rect at, const struct top_row *r)
{
	struct rect left = at, right = at;

	if (at.columns < WIDE || (r && !r->timed && ui->pane != PANE_CPUS)) {
		put_pane(ui, s, c, at, r, ui->pane);
		return;
	}
	left.columns = at.columns / 2 - 1;
	right.column = left.columns + 2;
	right.columns = at.columns - right.column;
	put_pane(ui, s, c, left, r, ui->pane == PANE_HISTOGRAM ? PANE_HEAT : ui->pane);
	put_pane(ui, s, c, right, r, PANE_HISTOGRAM);
}

/* Rows for the lists of a source below other pictures: 0 where these would get too few. */
static int room_for_lists(const struct top_snap *s, const struct top_row *r, int rows)
{
	int n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += s->rows[i].kind == TOP_LIST && s->rows[i].source == r->source;
	n = n > LISTS_MOST ? LISTS_MOST : n;
	return n && rows >= n + PICTURE_ROWS ? n + 2 : 0;
}

static void put_panes(const struct top_ui *ui, const struct top_snap *s, struct canvas *c,
		      struct rect at, const struct top_row *r)
{
	int lists = r && r->timed ? room_for_lists(s, r, at.rows) : 0;
	struct rect below = { at.row + at.rows - lists + 1, at.column, lists - 1, at.columns };

	at.rows -= lists;
	put_pictures(ui, s, c, at, r);
	if (lists)
		pane_lists(c, below, s, r->source);
}

static int table_rows(const struct top_ui *ui, int room, size_t n, bool pane)
{
	int rows = (int)n < 3 ? 3 : (int)n;

	if (!pane)
		return room;
	if (ui->view == VIEW_OVERVIEW)
		return rows < room - 6 ? rows : room - 6;
	return rows < room / 2 ? rows : room / 2;
}

static int put_rows(struct top_ui *ui, const struct top_snap *s, struct canvas *c, int top)
{
	struct top_page pages[TOP_PAGES];
	size_t npages = top_ui_pages(s, ui->source, pages), n, at;
	unsigned int page = ui->page[ui->source] < npages ? ui->page[ui->source] : 0;
	int room = c->rows - top - 2, rows;
	bool pane = c->rows >= PANE_ROWS && (ui->view == VIEW_SOURCE || c->rows >= 24) && room > 8;
	const struct top_page *p = ui->view == VIEW_SOURCE && npages ? &pages[page] : NULL;
	const struct top_row **list;
	char title[64];
	struct shape sh;
	int err = top_ui_rows(ui, s, &list, &n);

	if (err)
		return err;
	at = top_ui_selected(ui, list, n);
	rows = table_rows(ui, room, n, pane);
	rows = rows < 1 ? 1 : rows;
	ui->page_rows = rows;
	keep_in_sight(ui, at, n, rows);
	top_page_name(title, sizeof(title), ui, p);
	fit(&sh, c->columns, top_ui_columns(p),
	    widest(list, n, ui->scroll[ui->view], ui->scroll[ui->view] + rows, (int)strlen(title)));
	put_heads(ui, title, c, top, &sh);
	for (int i = 0; i < rows; i++) {
		size_t k = (size_t)(ui->scroll[ui->view] + i);

		if (k < n)
			put_row(c, top + 1 + i, &sh, list[k], k == at);
	}
	if (!n)
		top_put_nothing(ui, s, c, top + 1);
	if (pane)
		put_panes(ui, s, c, (struct rect){ top + rows + 2, 0, room - rows - 1, c->columns },
			  n ? list[at] : NULL);
	free(list);
	return 0;
}

/* --- the last line --- */

static void put_keys(struct canvas *c, int row)
{
	int column = 0;

	for (size_t i = 0; i < top_nkeys; i++) {
		const char *brief = top_keys[i].brief;

		if (!brief || column + (int)strlen(brief) + 1 > c->columns)
			continue;
		column += canvas_text(c, row, column, STYLE_TITLE, brief, c->columns) + 1;
	}
}

static void put_bottom(const struct top_ui *ui, struct canvas *c)
{
	static const char *const asks[] = { "", "search: ", "filter: ",
					    "time between looks (now %s): " };
	int row = c->rows - 1, used;
	char now[FMT_LEN], text[200];

	if (c->rows < 2)
		return;
	if (ui->prompt != PROMPT_NONE) {
		if (ui->prompt == PROMPT_INTERVAL)
			snprintf(text, sizeof(text), "time between looks (now %s): ",
				 fmt_ns(now, sizeof(now), ui->interval_ns));
		else
			snprintf(text, sizeof(text), "%s", asks[ui->prompt]);
		used = canvas_text(c, row, 0, STYLE_BOLD, text, c->columns);
		used += canvas_text(c, row, used, STYLE_NORMAL, ui->typed, c->columns - used);
		canvas_put(c, row, used, STYLE_SELECTED, ' ');
	} else if (*ui->message) {
		canvas_text(c, row, 0, STYLE_BOLD, ui->message, c->columns);
	} else if (*ui->filter) {
		canvas_printf(c, row, 0, STYLE_BOLD, "only names with \"%s\" (Esc: all)",
			      ui->filter);
	} else {
		put_keys(c, row);
	}
}

int top_draw(struct top_ui *ui, const struct top_snap *s, struct canvas *c)
{
	int row, err = 0;

	canvas_blank(c);
	if (ui->view == VIEW_HELP) {
		top_put_help(ui, c);
		put_bottom(ui, c);
		return 0;
	}
	put_title(ui, s, c);
	row = put_head(s, c);
	row = put_tabs(ui, s, c, row);
	if (ui->view == VIEW_EVENTS)
		top_put_events(ui, s, c, row);
	else if (ui->view == VIEW_EVENT)
		top_put_event(ui, s, c, row);
	else
		err = put_rows(ui, s, c, row);
	for (int i = 0; i < c->columns; i++) /* a narrow screen may have been drawn too low */
		canvas_put(c, c->rows - 1, i, STYLE_NORMAL, ' ');
	if (c->rows < 2)
		put_title(ui, s, c);
	put_bottom(ui, c);
	return err;
}
