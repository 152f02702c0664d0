// SPDX-License-Identifier: GPL-2.0-only
/* view_top.c - rows of `kdefer top` in words, and an interval as plain text. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "format.h"
#include "text.h"
#include "view_lists_parts.h"
#include "view_top.h"

#define INDENT 2
#define LINE 2400
#define TREND 8 /* intervals */

static const struct top_column_info columns[TOP_COLUMNS] = {
	[TOP_NAME] = { "SOURCE", "source and flavour", 0, 0 },
	[TOP_PENDING] = { "PENDING", "entries that wait now", 10, 0 },
	[TOP_TREND] = { "TREND", "of what waits, or else of what is done, newest at the right", 6,
			6 },
	[TOP_BYTES] = { "BYTES", "memory that these hold back", 10, 8 },
	[TOP_CHANGE] = { "CHANGE/S", "how what waits grows or shrinks", 8, 9 },
	[TOP_IN] = { "IN/S", "handed over", 6, 5 },
	[TOP_DONE] = { "DONE/S", "done", 6, 3 },
	[TOP_P50] = { "P50", "half of what was done waited no longer", 7, 7 },
	[TOP_P99] = { "P99", "99 of 100 waited no longer", 7, 0 },
	[TOP_MAX] = { "MAX", "the longest wait", 7, 1 },
	[TOP_OLDEST] = { "OLDEST", "how long the oldest that waits has waited, at least", 7, 2 },
	[TOP_LOST] = { "LOST", "events not counted, since the baseline", 6, 0 },
};

const struct top_column_info *top_column_info(enum top_column c)
{
	return &columns[c];
}

/* --- cells --- */

static char *signed_rate(char *buf, size_t size, double v)
{
	char rate[FMT_LEN];

	if (v > -0.005 && v < 0.005)
		snprintf(buf, size, "0");
	else
		snprintf(buf, size, "%c%s", v < 0 ? '-' : '+',
			 fmt_rate(rate, sizeof(rate), v < 0 ? -v : v));
	return buf;
}

/* Doubles of the model are never negative here, and within a u64 but for what a hostile capture says. */
static uint64_t whole(double v)
{
	return v >= 1.8e19 ? UINT64_MAX : v > 0 ? (uint64_t)v : 0;
}

static char *value_cell(char *buf, size_t size, const struct top_row *r, double v)
{
	return r->unit == UNIT_NS ? fmt_ns(buf, size, whole(v)) : fmt_count(buf, size, whole(v));
}

char *top_cell(char *buf, size_t size, const struct top_row *r, enum top_column c)
{
	double v = r->v[c];
	char n[FMT_LEN];

	buf[0] = '\0';
	if (c == TOP_NAME) {
		snprintf(buf, size, "%s%s", r->indent ? "  " : "", r->name);
		return buf;
	}
	if (c == TOP_TREND || r->kind == TOP_OFF)
		return buf;
	if (isnan(v)) {
		snprintf(buf, size, "-");
		return buf;
	}
	switch (c) {
	case TOP_PENDING:
		snprintf(buf, size, "%s%s", lists_mark(r->exact, r->truncated),
			 fmt_count(n, sizeof(n), whole(v)));
		return buf;
	case TOP_BYTES:
		snprintf(buf, size, "%s%s", r->unsized ? ">=" : lists_mark(r->exact, r->truncated),
			 fmt_bytes(n, sizeof(n), whole(v)));
		return buf;
	case TOP_CHANGE:
		return signed_rate(buf, size, v);
	case TOP_LOST:
		return fmt_count(buf, size, whole(v));
	case TOP_P50:
	case TOP_P99:
	case TOP_MAX:
		return value_cell(buf, size, r, v);
	case TOP_OLDEST:
		return fmt_ns(buf, size, whole(v));
	default:
		return fmt_rate(buf, size, v);
	}
}

enum track_what top_trend(const struct top_row *r)
{
	return top_known(r, TOP_PENDING) ? TRACK_PENDING : TRACK_DONE;
}

void top_trend_levels(const struct top_row *r, int *level, int n)
{
	enum track_what what = top_trend(r);
	double most = 0;
	int i;

	for (i = 0; i < n; i++) {
		double v = r->track ? track_value(r->track, what, (unsigned int)(n - 1 - i)) : NAN;

		if (v > most)
			most = v;
	}
	for (i = 0; i < n; i++) {
		double v = r->track ? track_value(r->track, what, (unsigned int)(n - 1 - i)) : NAN;

		if (isnan(v))
			level[i] = -1;
		else
			level[i] = most > 0 && v > 0 ? 1 + (int)(v / most * 7.0) : 0;
	}
}

static char *trend_cell(char *buf, size_t size, const struct top_row *r)
{
	static const char glyphs[] = "_.:-=+*#@";
	int level[TREND], i;
	size_t used = 0;

	top_trend_levels(r, level, TREND);
	for (i = 0; i < TREND && used + 1 < size; i++)
		buf[used++] = level[i] >= 0 ? glyphs[level[i]] : ' ';
	buf[used] = '\0';
	return buf;
}

/* --- grace periods --- */

char *top_gp_line(char *buf, size_t size, const struct top_gp *g)
{
	const char *fl = flavour_name(g->flavour);
	char n[FMT_LEN];

	snprintf(buf, size, "%s number %" PRId64 ", %s", fl ? fl : "?", (int64_t)g->seq,
		 gp_state_name(g->state));
	if (g->age_ns != KD_UNKNOWN)
		text_append(buf, size, ", %s old", fmt_ns(n, sizeof(n), g->age_ns));
	if (g->who && *g->who)
		text_append(buf, size, "; waits for %s", g->who);
	return buf;
}

char *top_gp_idle(char *buf, size_t size, const struct top_snap *s)
{
	buf[0] = '\0';
	for (size_t i = 0; i < s->ngps; i++)
		if (s->gp[i].idle)
			text_append(buf, size, "%s%s", *buf ? ", " : "",
				    flavour_name(s->gp[i].flavour));
	return buf;
}

/* --- an interval as text --- */

static void __attribute__((format(printf, 4, 5)))
put_line(FILE *out, size_t width, const char *label, const char *fmt, ...)
{
	char text[LINE];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	fputs(label, out);
	text_wrap(out, text, strlen(label), INDENT, width);
}

static void put_head(FILE *out, const struct top_snap *s, size_t width, bool first)
{
	char text[LINE], length[FMT_LEN];

	if (first)
		put_line(out, width, "", "%s", s->host);
	put_line(out, width, "", "interval %" PRIu64 "%s%s, %s", s->interval, *s->time ? ", " : "",
		 s->time, fmt_ns(length, sizeof(length), s->length_ns));
	if (*s->held)
		put_line(out, width, "held back: ", "%s", s->held);
	if (*s->cost)
		put_line(out, width, "own cost: ", "%s", s->cost);
	if (*s->warning)
		put_line(out, width, "note: ", "%s", s->warning);
	for (size_t i = 0; i < s->ngps; i++)
		if (!s->gp[i].idle)
			put_line(out, width, "grace period: ", "%s",
				 top_gp_line(text, sizeof(text), &s->gp[i]));
	if (*top_gp_idle(text, sizeof(text), s))
		put_line(out, width, "no grace period under way: ", "%s", text);
}

static int add_row(struct table *t, const struct top_row *r)
{
	char cell[TOP_COLUMNS][FMT_LEN + 4], name[LINE], number[FMT_LEN];
	const char *cells[TOP_COLUMNS];

	cells[TOP_NAME] = top_cell(name, sizeof(name), r, TOP_NAME);
	for (int c = TOP_NAME + 1; c < TOP_COLUMNS; c++) {
		cells[c] = cell[c];
		if (c == TOP_TREND)
			trend_cell(cell[c], sizeof(cell[c]), r);
		else
			snprintf(cell[c], sizeof(cell[c]), "%s%s", r->unusual >> c & 1 ? "!" : "",
				 top_cell(number, sizeof(number), r, (enum top_column)c));
	}
	return table_add(t, cells);
}

static bool in_overview(const struct top_row *r)
{
	return r->kind == TOP_SUM || r->kind == TOP_PART;
}

static int put_table(FILE *out, const struct top_snap *s, size_t width)
{
	struct table_column heads[TOP_COLUMNS];
	struct table t;
	int err = 0;

	for (int c = 0; c < TOP_COLUMNS; c++)
		heads[c] = (struct table_column){ columns[c].title, c != TOP_NAME && c != TOP_TREND,
						  columns[c].rank };
	table_init(&t, heads, TOP_COLUMNS);
	for (size_t i = 0; i < s->n && !err; i++)
		if (in_overview(&s->rows[i]))
			err = add_row(&t, &s->rows[i]);
	if (!err && t.nrows)
		table_print(&t, out, width);
	table_free(&t);
	return err;
}

int view_top(FILE *out, const struct top_snap *s, size_t width, bool first)
{
	int err;

	put_head(out, s, width, first);
	err = put_table(out, s, width);
	for (size_t i = 0; i < s->n && !err && first; i++)
		if (s->rows[i].kind == TOP_OFF) {
			fprintf(out, "%s: ", s->rows[i].name);
			text_wrap(out, s->rows[i].note, strlen(s->rows[i].name) + 2, INDENT, width);
		}
	return err;
}
