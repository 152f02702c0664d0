// SPDX-License-Identifier: GPL-2.0-only
/* top_views.c - which rows of a snapshot a view shows, in which tables, and in which order. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "catalog.h"
#include "top_ui.h"
#include "view_top.h"

/* --- views and tables --- */

static bool has_source(const struct top_snap *s, unsigned int source)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->rows[i].source == source)
			return true;
	return false;
}

bool top_ui_view(const struct top_snap *s, unsigned int number, enum top_view *view,
		 unsigned int *source)
{
	unsigned int n = 1;

	*view = VIEW_OVERVIEW;
	if (!number)
		return true;
	for (unsigned int src = 0; src < KD_SRC_COUNT; src++) {
		if (!has_source(s, src) || n++ != number)
			continue;
		*view = VIEW_SOURCE;
		*source = src;
		return true;
	}
	*view = VIEW_EVENTS;
	return number == n;
}

static bool is_of_page(const struct top_row *r, const struct top_page *p)
{
	return r->kind == p->kind &&
	       (r->kind != TOP_KEY || (r->measure == p->measure && r->by == p->by));
}

static bool is_listed(const struct top_row *r, const struct top_page *pages, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (is_of_page(r, &pages[i]))
			return true;
	return false;
}

size_t top_ui_pages(const struct top_snap *s, unsigned int source, struct top_page pages[TOP_PAGES])
{
	size_t n = 0;

	for (size_t i = 0; i < s->n && n < TOP_PAGES; i++) {
		const struct top_row *r = &s->rows[i];

		if (r->source != source || r->kind < TOP_KEY || is_listed(r, pages, n))
			continue;
		pages[n++] = (struct top_page){ r->kind, r->measure, r->by };
	}
	return n;
}

/* The same columns whatever there is to show in them, so that nothing jumps. */
static const uint32_t columns_of[] = {
	[TOP_KEY] =
		1u << TOP_TREND | 1u << TOP_DONE | 1u << TOP_P50 | 1u << TOP_P99 | 1u << TOP_MAX,
	[TOP_LIST] = 1u << TOP_PENDING | 1u << TOP_TREND | 1u << TOP_BYTES | 1u << TOP_CHANGE |
		     1u << TOP_OLDEST,
	[TOP_ENTRY] = 1u << TOP_PENDING | 1u << TOP_TREND | 1u << TOP_BYTES | 1u << TOP_CHANGE |
		      1u << TOP_OLDEST,
};

uint32_t top_ui_columns(const struct top_page *p)
{
	uint32_t columns = p ? columns_of[p->kind] : ~0u;

	if (p && p->kind == TOP_KEY && measure_info(p->measure)->count_only)
		columns = 1u << TOP_TREND | 1u << TOP_DONE;
	return columns;
}

const struct top_page *top_ui_page(const struct top_ui *ui, const struct top_snap *s,
				   struct top_page pages[TOP_PAGES])
{
	size_t n = top_ui_pages(s, ui->source, pages);
	unsigned int at = ui->page[ui->source];

	return ui->view == VIEW_SOURCE && n ? &pages[at < n ? at : n - 1] : NULL;
}

/* --- rows of a view --- */

static bool is_in_view(const struct top_ui *ui, const struct top_row *r, const struct top_page *p)
{
	if (*ui->filter && !strcasestr(r->name, ui->filter))
		return false;
	if (ui->view == VIEW_OVERVIEW)
		return r->kind < TOP_KEY;
	return ui->view == VIEW_SOURCE && r->source == ui->source && p && is_of_page(r, p);
}

static double sort_value(const struct top_row *r, enum top_column c)
{
	double v = r->v[c];

	if (c == TOP_TREND)
		v = r->track ? track_value(r->track, top_trend(r), 0) : NAN;
	return isnan(v) ? -1e300 : v;
}

static int by_order(const void *pa, const void *pb, void *ctx)
{
	const struct top_row *a = *(const struct top_row *const *)pa;
	const struct top_row *b = *(const struct top_row *const *)pb;
	const struct top_ui *ui = ctx;
	double x, y;
	int order;

	if (ui->sort == TOP_NAME) {
		order = strcmp(a->name, b->name);
	} else {
		x = sort_value(a, ui->sort);
		y = sort_value(b, ui->sort);
		order = x < y ? 1 : x > y ? -1 : 0; /* the greatest first */
	}
	order = ui->invert ? -order : order;
	return order ? order : a < b ? -1 : a > b;
}

int top_ui_rows(const struct top_ui *ui, const struct top_snap *s, const struct top_row ***list,
		size_t *n)
{
	struct top_page pages[TOP_PAGES];
	const struct top_page *p = top_ui_page(ui, s, pages);

	*n = 0;
	*list = calloc(s->n + 1, sizeof(**list));
	if (!*list)
		return -ENOMEM;
	for (size_t i = 0; i < s->n; i++)
		if (is_in_view(ui, &s->rows[i], p))
			(*list)[(*n)++] = &s->rows[i];
	if (ui->sorted)
		qsort_r(*list, *n, sizeof(**list), by_order, (void *)ui);
	else
		for (size_t i = 0; ui->invert && i < *n / 2; i++) {
			const struct top_row *r = (*list)[i];

			(*list)[i] = (*list)[*n - 1 - i];
			(*list)[*n - 1 - i] = r;
		}
	return 0;
}

size_t top_ui_selected(const struct top_ui *ui, const struct top_row *const *list, size_t n)
{
	const char *id = ui->selected[ui->view];

	for (size_t i = 0; id && i < n; i++)
		if (!strcmp(list[i]->id, id))
			return i;
	return 0;
}
