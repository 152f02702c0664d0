// SPDX-License-Identifier: GPL-2.0-only
/* top_pages.c - screens of `kdefer top` without a table of numbers: help, events. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "sheet.h"
#include "text.h"
#include "top_draw_parts.h"
#include "top_keys.h"
#include "view_top.h"

#define NARROW 60

char *top_page_name(char *buf, size_t size, const struct top_ui *ui, const struct top_page *p)
{
	bool by_name = ui->sorted && ui->sort == TOP_NAME;

	snprintf(buf, size, "%s", by_name ? (ui->invert ? "^" : "v") : "");
	if (!p)
		text_append(buf, size, "SOURCE");
	else if (p->kind == TOP_LIST)
		text_append(buf, size, "list");
	else if (p->kind == TOP_ENTRY)
		text_append(buf, size, "key of list");
	else
		text_append(buf, size, "%s by %s", measure_info(p->measure)->name, key_text(p->by));
	return buf;
}

void top_put_nothing(const struct top_ui *ui, const struct top_snap *s, struct canvas *c, int row)
{
	if (*ui->filter) {
		canvas_printf(c, row, 0, STYLE_DIM, "nothing here has \"%s\" in its name",
			      ui->filter);
		return;
	}
	for (size_t i = 0; i < s->n; i++)
		if (s->rows[i].source == ui->source && s->rows[i].note) {
			canvas_text(c, row, 0, STYLE_DIM, s->rows[i].note, c->columns);
			return;
		}
	canvas_text(c, row, 0, STYLE_DIM, "nothing was seen yet", c->columns);
}

/* --- help --- */

/* One line of the help; false past its end. */
static bool help_line(size_t at, const char **left, const char **right, bool *head)
{
	*head = false;
	*left = *right = "";
	if (at < top_nkeys) {
		*left = top_keys[at].name;
		*right = top_keys[at].help;
		return true;
	}
	at -= top_nkeys;
	if (at < 2) {
		*head = at == 1;
		*left = at ? "Columns" : "";
		return true;
	}
	at -= 1;
	if (at < TOP_COLUMNS) {
		*left = top_column_info((enum top_column)at)->title;
		*right = top_column_info((enum top_column)at)->help;
		return true;
	}
	at -= TOP_COLUMNS;
	*right = at == 0   ? ""
		 : at == 1 ? "A number with ! is above each of the 60 intervals before it, and more"
			   : "than twice their median. There are no fixed limits.";
	return at < 3;
}

void top_put_help(struct top_ui *ui, struct canvas *c)
{
	int *scroll = &ui->scroll[VIEW_HELP], rows = c->rows - 2;
	const char *left, *right;
	size_t n = 0;
	bool head;

	while (help_line(n, &left, &right, &head))
		n++;
	ui->page_rows = rows > 1 ? rows : 1;
	if (*scroll > (int)n - rows)
		*scroll = (int)n > rows ? (int)n - rows : 0;
	canvas_style(c, 0, 0, c->columns, STYLE_TITLE);
	canvas_text(c, 0, 0, STYLE_TITLE, "kdefer top: keys (PgDn: more; Esc: back)", c->columns);
	for (int i = 0; i < rows; i++) {
		if (!help_line((size_t)(*scroll + i), &left, &right, &head))
			break;
		canvas_text(c, i + 1, 1, STYLE_BOLD, left, c->columns);
		canvas_text(c, i + 1, 12, STYLE_NORMAL, right, c->columns);
	}
}

/* --- events --- */

void top_put_events(struct top_ui *ui, const struct top_snap *s, struct canvas *c, int row)
{
	int *scroll = &ui->scroll[VIEW_EVENTS], rows = c->rows - row - 2;

	rows = rows < 1 ? 1 : rows;
	ui->page_rows = rows;
	if (ui->event >= s->nevents)
		ui->event = s->nevents ? s->nevents - 1 : 0;
	if (*scroll > (int)ui->event)
		*scroll = (int)ui->event;
	if (*scroll + rows <= (int)ui->event)
		*scroll = (int)ui->event - rows + 1;
	canvas_style(c, row, 0, c->columns, STYLE_TITLE);
	canvas_text(c, row, 0, STYLE_TITLE, "events, the newest first", c->columns);
	if (!s->nevents)
		canvas_text(c, row + 1, 0, STYLE_DIM, "nothing happened so far", c->columns);
	for (int i = 0; i < rows && (size_t)(*scroll + i) < s->nevents; i++) {
		const struct top_event *e = &s->events[*scroll + i];
		bool here = (size_t)(*scroll + i) == ui->event;

		if (here)
			canvas_style(c, row + 1 + i, 0, c->columns, STYLE_SELECTED);
		canvas_printf(c, row + 1 + i, 0, here ? STYLE_SELECTED : STYLE_NORMAL, "%s  %s%s%s",
			      c->columns < 60 && strlen(e->when) > 19 ? e->when + 11 : e->when,
			      e->what, *e->detail ? ": " : "", e->detail);
	}
}

/* "label:        text" */
static bool has_label(const char *line)
{
	return strlen(line) > SHEET_LABEL && memchr(line, ':', SHEET_LABEL) &&
	       line[SHEET_LABEL - 1] == ' ';
}

/* A line of a report, below its own beginning; `taken`: spaces that stood before it. */
static void wrap_line(FILE *out, const char *line, size_t taken, size_t width)
{
	size_t indent = width < NARROW ? 2 : SHEET_LABEL;

	if (taken) {
		fprintf(out, "%*s", (int)indent, "");
		text_wrap(out, line, indent, indent, width);
	} else if (width >= NARROW && has_label(line)) {
		fprintf(out, "%.*s", SHEET_LABEL, line);
		text_wrap(out, line + SHEET_LABEL, SHEET_LABEL, indent, width);
	} else {
		text_wrap(out, line, 0, 2, width);
	}
}

static void wrap_lines(FILE *out, const char *text, size_t width)
{
	for (size_t len; *text; text += len + (text[len] == '\n')) {
		size_t taken;
		char *line;

		len = strcspn(text, "\n");
		taken = strspn(text, " ");
		taken = taken < len ? taken : len;
		line = strndup(text + taken, len - taken);
		if (!line)
			return;
		wrap_line(out, line, taken, width);
		free(line);
	}
}

/* All of it, wrapped. */
void top_put_event(struct top_ui *ui, const struct top_snap *s, struct canvas *c, int row)
{
	const struct top_event *e = ui->event < s->nevents ? &s->events[ui->event] : NULL;
	char *text = NULL, *line, *rest;
	size_t len;
	FILE *out = e ? open_memstream(&text, &len) : NULL;
	int *scroll = &ui->scroll[VIEW_EVENT], rows = c->rows - row - 2, n = 0, i;

	canvas_style(c, row, 0, c->columns, STYLE_TITLE);
	canvas_text(c, row, 0, STYLE_TITLE, "event (Esc: back)", c->columns);
	if (!out)
		return;
	text_wrap(out, e->when, 0, 0, (size_t)c->columns);
	text_wrap(out, e->what, 0, 0, (size_t)c->columns);
	if (e->report)
		wrap_lines(out, e->report, (size_t)c->columns);
	else
		text_wrap(out, e->detail, 0, 0, (size_t)c->columns);
	if (fclose(out)) {
		free(text);
		return;
	}
	for (line = text; *line; line++)
		n += *line == '\n';
	ui->page_rows = rows > 1 ? rows : 1;
	if (*scroll > n - rows)
		*scroll = n > rows ? n - rows : 0;
	for (i = 0, line = strtok_r(text, "\n", &rest); line && i < *scroll + rows;
	     line = strtok_r(NULL, "\n", &rest), i++)
		if (i >= *scroll)
			canvas_text(c, row + 1 + i - *scroll, 0, i < 2 ? STYLE_BOLD : STYLE_NORMAL,
				    line, c->columns);
	free(text);
}
