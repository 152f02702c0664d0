// SPDX-License-Identifier: GPL-2.0-only
/* top_ui.c - what keys do to what is shown. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "screen.h"
#include "text.h"
#include "top_keys.h"
#include "top_ui.h"
#include "view_top.h"

#define MS 1000000ULL
#define SHORTEST_NS (100 * MS)
#define LONGEST_NS (3600000 * MS)
#define NUMBERS 10 /* digits that views can have */

void top_ui_init(struct top_ui *ui)
{
	memset(ui, 0, sizeof(*ui));
	ui->page_rows = 1;
}

void top_ui_free(struct top_ui *ui)
{
	for (int i = 0; i < TOP_VIEWS; i++)
		free(ui->selected[i]);
}

static void __attribute__((format(printf, 2, 3))) say(struct top_ui *ui, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(ui->message, sizeof(ui->message), fmt, args);
	va_end(args);
}

/* --- moving --- */

static void move_to(struct top_ui *ui, const struct top_row *const *list, size_t n, long at)
{
	char *id;

	if (!n)
		return;
	at = at < 0 ? 0 : at >= (long)n ? (long)n - 1 : at;
	id = strdup(list[at]->id);
	if (!id) /* it stays where it was */
		return;
	free(ui->selected[ui->view]);
	ui->selected[ui->view] = id;
}

static long moved(const struct top_ui *ui, enum top_action act, long at, long n)
{
	switch (act) {
	case ACT_UP:
		return at - 1;
	case ACT_DOWN:
		return at + 1;
	case ACT_PAGE_UP:
		return at - ui->page_rows;
	case ACT_PAGE_DOWN:
		return at + ui->page_rows;
	case ACT_FIRST:
		return 0;
	default:
		return n - 1;
	}
}

static void move_event(struct top_ui *ui, const struct top_snap *s, enum top_action act)
{
	long n = (long)s->nevents, at = moved(ui, act, (long)ui->event, n);

	ui->event = n ? (size_t)(at < 0 ? 0 : at >= n ? n - 1 : at) : 0;
}

static void move_help(struct top_ui *ui, enum top_action act)
{
	long at = moved(ui, act, ui->scroll[ui->view], 10000);

	ui->scroll[ui->view] = (int)(at < 0 ? 0 : at); /* drawing knows where the end is */
}

static void move(struct top_ui *ui, const struct top_snap *s, enum top_action act)
{
	const struct top_row **list;
	size_t n;

	if (ui->view == VIEW_EVENTS)
		return move_event(ui, s, act);
	if (ui->view == VIEW_HELP || ui->view == VIEW_EVENT)
		return move_help(ui, act);
	if (top_ui_rows(ui, s, &list, &n))
		return;
	move_to(ui, list, n, moved(ui, act, (long)top_ui_selected(ui, list, n), (long)n));
	free(list);
}

/* The next row behind the selected one that has it in its name. */
static void search(struct top_ui *ui, const struct top_snap *s, size_t from)
{
	const struct top_row **list;
	size_t n, at, i;

	if (!*ui->search || top_ui_rows(ui, s, &list, &n))
		return;
	at = top_ui_selected(ui, list, n);
	for (i = 0; i < n; i++) {
		size_t k = (at + from + i) % n;

		if (strcasestr(list[k]->name, ui->search)) {
			move_to(ui, list, n, (long)k);
			break;
		}
	}
	if (i == n)
		say(ui, "nothing here is called \"%s\"", ui->search);
	free(list);
}

/* --- views --- */

static void go(struct top_ui *ui, enum top_view view, unsigned int source)
{
	if (view == VIEW_SOURCE && (ui->view != view || ui->source != source)) {
		free(ui->selected[view]);
		ui->selected[view] = NULL;
	}
	ui->view = view;
	if (view == VIEW_SOURCE)
		ui->source = source;
}

static void go_number(struct top_ui *ui, const struct top_snap *s, unsigned int number)
{
	unsigned int source = 0;
	enum top_view view;

	if (top_ui_view(s, number, &view, &source))
		go(ui, view, source);
	else
		say(ui, "there is no view %u", number);
}

static unsigned int number_of(const struct top_ui *ui, const struct top_snap *s, unsigned int *n)
{
	unsigned int source = 0, at = 0, i;
	enum top_view view;

	for (i = 0; i < NUMBERS && top_ui_view(s, i, &view, &source); i++)
		if (view == ui->view && (view != VIEW_SOURCE || source == ui->source))
			at = i;
	*n = i;
	return at;
}

static void next_view(struct top_ui *ui, const struct top_snap *s, bool back)
{
	unsigned int n, at = number_of(ui, s, &n);

	go_number(ui, s, (at + (back ? n - 1 : 1)) % n);
}

static void next_page(struct top_ui *ui, const struct top_snap *s, bool back)
{
	struct top_page pages[TOP_PAGES];
	size_t n = top_ui_pages(s, ui->source, pages);

	if (ui->view != VIEW_SOURCE || n < 2)
		return;
	ui->page[ui->source] = (unsigned int)((ui->page[ui->source] + (back ? n - 1 : 1)) % n);
	free(ui->selected[ui->view]);
	ui->selected[ui->view] = NULL;
	ui->scroll[ui->view] = 0;
}

static void open_selected(struct top_ui *ui, const struct top_snap *s)
{
	const struct top_row **list;
	size_t n;

	if (ui->view == VIEW_EVENTS && s->nevents) {
		ui->view = VIEW_EVENT;
		ui->scroll[VIEW_EVENT] = 0;
		return;
	}
	if (ui->view != VIEW_OVERVIEW || top_ui_rows(ui, s, &list, &n))
		return;
	if (n)
		go(ui, VIEW_SOURCE, list[top_ui_selected(ui, list, n)]->source);
	free(list);
}

static void back(struct top_ui *ui)
{
	if (ui->view == VIEW_HELP)
		ui->view = ui->before;
	else if (ui->view == VIEW_EVENT)
		ui->view = VIEW_EVENTS;
	else if (*ui->filter)
		ui->filter[0] = '\0';
	else
		ui->view = VIEW_OVERVIEW;
}

static void help(struct top_ui *ui)
{
	if (ui->view == VIEW_HELP) {
		back(ui);
		return;
	}
	ui->before = ui->view;
	ui->view = VIEW_HELP;
	ui->scroll[VIEW_HELP] = 0;
}

/* --- order --- */

static void sort(struct top_ui *ui, const struct top_snap *s, int by)
{
	struct top_page pages[TOP_PAGES];
	const struct top_page *p = top_ui_page(ui, s, pages);
	uint32_t columns = (top_ui_columns(p) | 1u << TOP_NAME) & ~(1u << TOP_TREND);
	int c = ui->sorted ? (int)ui->sort + by : by > 0 ? TOP_NAME + 1 : TOP_COLUMNS - 1;

	while (c >= TOP_NAME && c < TOP_COLUMNS && !(columns >> c & 1))
		c += by;
	ui->sorted = c >= TOP_NAME && c < TOP_COLUMNS;
	ui->sort = ui->sorted ? (enum top_column)c : TOP_NAME;
	if (ui->sorted)
		say(ui, "sorted by %s",
		    ui->sort == TOP_NAME ? "name" : top_column_info(ui->sort)->title);
	else
		say(ui, "not sorted");
}

/* --- interval --- */

static enum top_ask set_interval(struct top_ui *ui, uint64_t ns)
{
	char text[FMT_LEN];

	ns = ns < SHORTEST_NS ? SHORTEST_NS : ns > LONGEST_NS ? LONGEST_NS : ns;
	ui->interval_ns = ns;
	say(ui, "looks every %s", fmt_ns(text, sizeof(text), ns));
	return ASK_INTERVAL;
}

/* --- typed lines --- */

static void ask_for(struct top_ui *ui, enum top_prompt prompt)
{
	ui->prompt = prompt;
	snprintf(ui->typed, sizeof(ui->typed), "%s", prompt == PROMPT_FILTER ? ui->filter : "");
}

static enum top_ask end_prompt(struct top_ui *ui, const struct top_snap *s)
{
	enum top_prompt prompt = ui->prompt;
	uint64_t ns;

	ui->prompt = PROMPT_NONE;
	switch (prompt) {
	case PROMPT_SEARCH:
		snprintf(ui->search, sizeof(ui->search), "%s", ui->typed);
		search(ui, s, 0);
		break;
	case PROMPT_INTERVAL:
		if (!fmt_parse_time(ui->typed, &ns))
			return set_interval(ui, ns);
		if (*ui->typed)
			say(ui, "\"%s\" is no time; use e.g. 500ms or 2", ui->typed);
		break;
	default:
		break;
	}
	return ASK_NOTHING;
}

static void rub_out(char *s)
{
	size_t n = strlen(s);

	while (n && ((unsigned char)s[n - 1] & 0xc0) == 0x80)
		n--;
	s[n ? n - 1 : 0] = '\0';
}

static void put_utf8(char *buf, size_t size, uint32_t c)
{
	if (c < 0x80)
		text_append(buf, size, "%c", (int)c);
	else if (c < 0x800)
		text_append(buf, size, "%c%c", (int)(0xc0 | c >> 6), (int)(0x80 | (c & 0x3f)));
	else if (c < 0x10000)
		text_append(buf, size, "%c%c%c", (int)(0xe0 | c >> 12),
			    (int)(0x80 | (c >> 6 & 0x3f)), (int)(0x80 | (c & 0x3f)));
}

static enum top_ask type(struct top_ui *ui, const struct top_snap *s, int input)
{
	bool filter = ui->prompt == PROMPT_FILTER;

	if (input == INPUT_ENTER)
		return end_prompt(ui, s);
	if (input == INPUT_ESCAPE) {
		ui->prompt = PROMPT_NONE;
		if (filter)
			ui->filter[0] = '\0';
		return ASK_NOTHING;
	}
	if (input == INPUT_BACKSPACE)
		rub_out(ui->typed);
	else if (input >= ' ' && input < 0x10000 && strlen(ui->typed) + 4 < sizeof(ui->typed))
		put_utf8(ui->typed, sizeof(ui->typed), (uint32_t)input);
	if (filter) /* at once, so that one sees what is left */
		snprintf(ui->filter, sizeof(ui->filter), "%s", ui->typed);
	return ASK_NOTHING;
}

/* --- keys --- */

static enum top_ask act_on_view(struct top_ui *ui, const struct top_snap *s, enum top_action act,
				int input)
{
	switch (act) {
	case ACT_NEXT_TABLE:
	case ACT_LAST_TABLE:
		next_page(ui, s, act == ACT_LAST_TABLE);
		break;
	case ACT_NEXT_VIEW:
	case ACT_LAST_VIEW:
		next_view(ui, s, act == ACT_LAST_VIEW);
		break;
	case ACT_VIEW:
		go_number(ui, s, (unsigned int)(input - '0'));
		break;
	case ACT_EVENTS:
		go(ui, VIEW_EVENTS, 0);
		break;
	case ACT_OPEN:
		open_selected(ui, s);
		break;
	case ACT_BACK:
		back(ui);
		break;
	case ACT_HELP:
		help(ui);
		break;
	default:
		move(ui, s, act);
	}
	return ASK_NOTHING;
}

static enum top_ask act_on_rows(struct top_ui *ui, const struct top_snap *s, enum top_action act)
{
	switch (act) {
	case ACT_SEARCH:
		ask_for(ui, PROMPT_SEARCH);
		break;
	case ACT_SEARCH_NEXT:
		search(ui, s, 1);
		break;
	case ACT_FILTER:
		ask_for(ui, PROMPT_FILTER);
		break;
	case ACT_SORT_NEXT:
		sort(ui, s, 1);
		break;
	case ACT_SORT_LAST:
		sort(ui, s, -1);
		break;
	case ACT_INVERT:
		ui->invert = !ui->invert;
		break;
	case ACT_HEAT:
		ui->pane = ui->pane == PANE_HEAT ? PANE_HISTOGRAM : PANE_HEAT;
		break;
	case ACT_CPUS:
		ui->pane = ui->pane == PANE_CPUS ? PANE_HEAT : PANE_CPUS;
		break;
	default:
		break;
	}
	return ASK_NOTHING;
}

static enum top_ask act_on_time(struct top_ui *ui, enum top_action act)
{
	switch (act) {
	case ACT_PAUSE:
		ui->paused = !ui->paused;
		return ASK_PAUSE;
	case ACT_STEP:
		if (!ui->replay)
			say(ui, "only a capture can be gone through step by step");
		return ui->replay ? ASK_STEP : ASK_NOTHING;
	case ACT_INTERVAL:
		ask_for(ui, PROMPT_INTERVAL);
		return ASK_NOTHING;
	case ACT_LONGER:
		return set_interval(ui, 2 * ui->interval_ns);
	case ACT_SHORTER:
		return set_interval(ui, ui->interval_ns / 2);
	case ACT_RESET:
		say(ui, "new baseline");
		return ASK_RESET;
	case ACT_RECORD:
		if (ui->replay)
			say(ui, "this is a recording already");
		return ui->replay ? ASK_NOTHING : ASK_RECORD;
	case ACT_ALL:
		return ASK_ALL;
	case ACT_WINDOW:
		return ASK_WINDOW;
	case ACT_QUIT:
		return ASK_QUIT;
	default:
		return ASK_REDRAW;
	}
}

enum top_ask top_ui_input(struct top_ui *ui, const struct top_snap *s, int input)
{
	enum top_action act;

	if (input == INPUT_REDRAW)
		return ASK_REDRAW;
	ui->message[0] = '\0';
	if (ui->prompt != PROMPT_NONE)
		return type(ui, s, input);
	act = top_key_action(input);
	if (act == ACT_NONE)
		return ASK_NOTHING;
	if (act <= ACT_BACK || act == ACT_HELP)
		return act_on_view(ui, s, act, input);
	if (act <= ACT_CPUS)
		return act_on_rows(ui, s, act);
	return act_on_time(ui, act);
}
