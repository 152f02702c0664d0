// SPDX-License-Identifier: GPL-2.0-only
/* top_panes.c - histogram, heat map, and lengths over time. */
#include <math.h>
#include <string.h>

#include "format.h"
#include "text.h"
#include "top_panes.h"
#include "top_parts.h"
#include "view_top.h"

#define LABEL 9 /* "1.02 us" and two spaces */

static int smaller(int a, int b)
{
	return a < b ? a : b;
}

static char *edge(char *buf, size_t size, enum unit unit, unsigned int log)
{
	uint64_t v = 1ULL << (log < 63 ? log : 63);

	return unit == UNIT_NS ? fmt_edge_ns(buf, size, v) : fmt_rate(buf, size, (double)v);
}

static void title(struct canvas *c, struct rect at, const char *what, const char *name)
{
	int used = canvas_text(c, at.row, at.column, STYLE_BOLD, what, at.columns);

	if (name && used + 2 < at.columns)
		canvas_text(c, at.row, at.column + used + 2, STYLE_NORMAL, name,
			    at.columns - used - 2);
}

/* --- heat map --- */

/* Octaves that are not empty in what is shown. False: none. */
static bool find_octaves(const struct track *k, int columns, int *low, int *high)
{
	*low = TRACK_OCTAVES;
	*high = -1;
	for (int i = 0; k && i < TRACK_OCTAVES; i++)
		for (int back = 0; back < columns; back++)
			if (track_heat(k, (unsigned int)i, (unsigned int)back)) {
				*low = smaller(*low, i);
				*high = i;
				break;
			}
	return *high >= 0;
}

/* The most of `per` octaves from `low` up, at one time. */
static unsigned int hottest(const struct track *k, int low, int per, int back)
{
	unsigned int most = 0;

	for (int i = low; i < low + per; i++) {
		unsigned int heat = track_heat(k, (unsigned int)i, (unsigned int)back);

		most = heat > most ? heat : most;
	}
	return most;
}

static void heat_line(struct canvas *c, struct rect at, const struct track *k, int low, int per,
		      unsigned int most)
{
	int columns = smaller(at.columns - LABEL, TRACK_LENGTH);

	for (int i = 0; i < columns; i++) {
		unsigned int heat = hottest(k, low, per, columns - 1 - i), level;

		if (!heat)
			continue;
		level = (heat * STYLE_HEATS + most - 1) / most;
		canvas_put(c, at.row, at.column + LABEL + i,
			   (enum style)(STYLE_HEAT + (level ? level - 1 : 0)),
			   canvas_shade(c, level ? level : 1));
	}
}

void pane_heat(struct canvas *c, struct rect at, const struct top_row *r)
{
	int low, high, per = 1, columns = smaller(at.columns - LABEL, TRACK_LENGTH);
	unsigned int most = 1, first = top_first_octave(r->unit);
	char label[FMT_LEN];

	title(c, at, "how long, over time", r->name);
	if (columns < 1 || at.rows < 2)
		return;
	if (!r->track || !find_octaves(r->track, columns, &low, &high)) {
		canvas_text(c, at.row + 1, at.column, STYLE_DIM, "nothing was done yet",
			    at.columns);
		return;
	}
	while ((high - low) / per + 1 > at.rows - 1)
		per++;
	for (int i = low; i <= high; i++)
		for (int back = 0; back < columns; back++) {
			unsigned int heat =
				track_heat(r->track, (unsigned int)i, (unsigned int)back);

			most = heat > most ? heat : most;
		}
	for (int i = (high - low) / per, row = 1; i >= 0; i--, row++) {
		int from = low + i * per;
		struct rect line = { at.row + row, at.column, 1, at.columns };

		edge(label, sizeof(label), r->unit, from ? first + (unsigned int)from : 0);
		canvas_right(c, line.row, at.column + LABEL - 2, STYLE_DIM, label);
		canvas_put(c, line.row, at.column + LABEL - 1, STYLE_DIM, '|');
		heat_line(c, line, r->track, from, per, most);
	}
}

/* --- histogram --- */

static void bar(struct canvas *c, int row, int column, int columns, uint64_t n, uint64_t most,
		enum style style)
{
	int filled = most ? (int)((double)n / (double)most * columns) : 0;

	for (int i = 0; i < (n && !filled ? 1 : filled); i++)
		canvas_put(c, row, column + i, style, canvas_full(c));
}

void pane_histogram(struct canvas *c, struct rect at, const struct top_row *r)
{
	uint64_t rows[HIST_POW2_ROWS], most = 0;
	int low = HIST_POW2_ROWS, high = -1, per = 1;
	char label[FMT_LEN], n[FMT_LEN];

	title(c, at, "how long", r->name);
	if (at.rows < 2)
		return;
	if (r->hist)
		hist_fold(r->hist, rows);
	for (int i = 0; r->hist && i < HIST_POW2_ROWS; i++)
		if (rows[i]) {
			low = smaller(low, i);
			high = i;
		}
	if (high < 0) {
		canvas_text(c, at.row + 1, at.column, STYLE_DIM, "nothing was done in this window",
			    at.columns);
		return;
	}
	while ((high - low) / per + 1 > at.rows - 1)
		per++;
	for (int i = low; i <= high; i++) {
		if ((i - low) % per)
			rows[i - (i - low) % per] += rows[i];
		most = rows[i - (i - low) % per] > most ? rows[i - (i - low) % per] : most;
	}
	for (int i = low, row = at.row + 1; i <= high; i += per, row++) {
		edge(label, sizeof(label), r->unit, (unsigned int)i);
		canvas_right(c, row, at.column + LABEL - 2, STYLE_DIM, i ? label : "0");
		canvas_right(c, row, at.column + LABEL + 10, STYLE_NORMAL,
			     fmt_count(n, sizeof(n), rows[i]));
		bar(c, row, at.column + LABEL + 11, at.columns - LABEL - 11, rows[i], most,
		    STYLE_GOOD);
	}
}

/* --- lengths over time --- */

static double most_of(const struct track *k, enum track_what what, int columns)
{
	double most = 0;

	for (int back = 0; back < columns; back++) {
		double v = track_value(k, what, (unsigned int)back);

		most = v > most ? v : most;
	}
	return most;
}

void pane_graph(struct canvas *c, struct rect at, const struct top_row *r)
{
	enum track_what what = top_trend(r);
	int columns = smaller(at.columns - LABEL, TRACK_LENGTH), rows = at.rows - 1;
	double most;
	char label[FMT_LEN];

	title(c, at, what == TRACK_PENDING ? "waiting, over time" : "done per second, over time",
	      r->name);
	if (!r->track || columns < 1 || rows < 1)
		return;
	most = most_of(r->track, what, columns);
	canvas_right(c, at.row + 1, at.column + LABEL - 2, STYLE_DIM,
		     fmt_rate(label, sizeof(label), most));
	if (rows > 1)
		canvas_right(c, at.row + rows, at.column + LABEL - 2, STYLE_DIM, "0");
	for (int i = 0; i < columns; i++) {
		double v = track_value(r->track, what, (unsigned int)(columns - 1 - i));
		int eighths = most > 0 && v > 0 ? (int)ceil(v / most * rows * 8) : 0;

		if (isnan(v))
			continue;
		for (int row = 0; row < rows; row++) {
			int level = eighths - 8 * row;

			if (level > 0)
				canvas_put(c, at.row + rows - row, at.column + LABEL + i,
					   STYLE_GOOD,
					   canvas_level(c, level > 8 ? 8u : (unsigned int)level));
		}
	}
}

static void list_line(struct canvas *c, struct rect at, const struct top_row *r)
{
	int name = smaller(26, at.columns / 3), first = at.column + name + 12;
	int columns = smaller(at.column + at.columns - first, TRACK_LENGTH);
	int level[TRACK_LENGTH];
	char n[FMT_LEN];

	canvas_text(c, at.row, at.column, STYLE_NORMAL, r->name, name);
	canvas_right(c, at.row, first - 1, STYLE_NORMAL, top_cell(n, sizeof(n), r, TOP_PENDING));
	if (columns < 1)
		return;
	top_trend_levels(r, level, columns);
	for (int i = 0; i < columns; i++)
		if (level[i] >= 0)
			canvas_put(c, at.row, first + i, STYLE_GOOD,
				   canvas_level(c, (unsigned int)level[i]));
}

void pane_lists(struct canvas *c, struct rect at, const struct top_snap *s, unsigned int source)
{
	struct rect line = { at.row + 1, at.column, 1, at.columns };

	title(c, at, "lists, over time (each by its own greatest)", NULL);
	for (size_t i = 0; i < s->n && line.row < at.row + at.rows; i++)
		if (s->rows[i].kind == TOP_LIST && s->rows[i].source == source) {
			list_line(c, line, &s->rows[i]);
			line.row++;
		}
}
