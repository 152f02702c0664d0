// SPDX-License-Identifier: GPL-2.0-only
/* top_cpus.c - a picture of all CPUs: bars while there are few, a cell each or for several else. */
#include <math.h>

#include "format.h"
#include "text.h"
#include "top_panes.h"

#define BAR 22 /* "  12 [|||||||   1234] ", at least */
#define BAR_MOST 60
#define LABEL 10 /* "1024-1279 " */

struct cpus {
	const struct top_snap *s;
	unsigned int source;
	bool pending; /* else what is done per second */
	bool bare;    /* neither: only who owes a grace period */
	double most;
	size_t where; /* the CPU that has the most */
};

static double value(const struct cpus *v, size_t cpu)
{
	const struct top_cpu *c = &v->s->cpu[cpu];

	return v->pending ? c->pending[v->source] : c->done[v->source];
}

static bool find_most(struct cpus *v)
{
	bool any = false;

	for (size_t i = 0; i < v->s->ncpus; i++) {
		double x = value(v, i);

		if (isnan(x))
			continue;
		if (!any || x > v->most) {
			v->most = x;
			v->where = i;
		}
		any = true;
	}
	return any;
}

static enum style heat(double v, double most)
{
	int level = most > 0 && v > 0 ? (int)(v / most * (STYLE_HEATS - 1)) : 0;

	return v > 0 ? (enum style)(STYLE_HEAT + level) : STYLE_DIM;
}

static void put_bar(struct canvas *c, const struct cpus *v, int row, int column, int width,
		    size_t cpu)
{
	double x = value(v, cpu);
	int room = width - 8, filled = v->most > 0 && x > 0 ? (int)ceil(x / v->most * room) : 0;
	bool owes = v->s->cpu[cpu].owes;
	char n[FMT_LEN];

	canvas_printf(c, row, column, owes ? STYLE_BAD : STYLE_DIM, "%4zu%c[", cpu,
		      owes ? '!' : ' ');
	for (int i = 0; i < filled; i++)
		canvas_put(c, row, column + 6 + i, heat(x, v->most), '|');
	canvas_right(c, row, column + 6 + room, STYLE_NORMAL, fmt_rate(n, sizeof(n), x));
	canvas_put(c, row, column + 6 + room, STYLE_DIM, ']');
}

/* Down the columns, as htop(1) does: as few of these as there is room for, and as wide. */
static void put_bars(struct canvas *c, struct rect at, const struct cpus *v, int rows)
{
	int n = (int)v->s->ncpus, columns = (n + rows - 1) / rows, width;

	rows = (n + columns - 1) / columns;
	width = at.columns / columns;
	width = width > BAR_MOST ? BAR_MOST : width;
	for (int i = 0; i < n; i++)
		put_bar(c, v, at.row + 1 + i % rows, at.column + i / rows * width, width,
			(size_t)i);
}

static void put_group(struct canvas *c, const struct cpus *v, int row, int column, size_t first,
		      size_t n)
{
	double most = NAN;
	bool owes = false;

	for (size_t i = first; i < first + n && i < v->s->ncpus; i++) {
		double x = value(v, i);

		owes |= v->s->cpu[i].owes;
		if (!isnan(x) && !(most >= x))
			most = x;
	}
	if (owes)
		canvas_put(c, row, column, STYLE_BAD, '!');
	else if (isnan(most))
		canvas_put(c, row, column, STYLE_DIM, ' ');
	else
		canvas_put(c, row, column, heat(most, v->most),
			   most > 0 ? canvas_level(c, 1 + (unsigned int)(most / v->most * 7))
				    : '.');
}

static void put_grid(struct canvas *c, struct rect at, const struct cpus *v, int cells, size_t per)
{
	size_t line = (size_t)cells * per, row = 0;

	for (size_t first = 0; first < v->s->ncpus; first += line, row++) {
		size_t last = first + line < v->s->ncpus ? first + line - 1 : v->s->ncpus - 1;
		char label[64];

		snprintf(label, sizeof(label), "%zu-%zu", first, last);
		canvas_right(c, at.row + 1 + (int)row, at.column + LABEL - 1, STYLE_DIM, label);
		for (int i = 0; i < cells && first + (size_t)i * per <= last; i++)
			put_group(c, v, at.row + 1 + (int)row, at.column + LABEL + i,
				  first + (size_t)i * per, per);
	}
}

/* The widest line that ends at a number people can read: 8, 16, 32 and so on. */
static int cells_of(int room)
{
	int cells = 1;

	while (2 * cells <= room)
		cells *= 2;
	return cells;
}

static void put_title(struct canvas *c, struct rect at, const struct cpus *v, size_t per)
{
	char text[200], n[FMT_LEN];

	if (v->bare) {
		canvas_text(c, at.row, at.column, STYLE_BOLD, "each CPU; ! owes a grace period",
			    at.columns);
		return;
	}
	snprintf(text, sizeof(text), "%s on each CPU", v->pending ? "waiting" : "done per second");
	if (per > 1)
		text_append(text, sizeof(text), ", the most of %zu to a cell", per);
	text_append(text, sizeof(text), "; most %s, CPU %zu; ! owes a grace period",
		    fmt_rate(n, sizeof(n), v->most), v->where);
	canvas_text(c, at.row, at.column, STYLE_BOLD, text, at.columns);
}

static bool any_owes(const struct top_snap *s)
{
	for (size_t i = 0; i < s->ncpus; i++)
		if (s->cpu[i].owes)
			return true;
	return false;
}

void pane_cpus(struct canvas *c, struct rect at, const struct top_snap *s, unsigned int source)
{
	struct cpus v = { .s = s, .source = source, .pending = true };
	int rows = at.rows - 1, wide = at.columns / BAR, cells;
	bool known = find_most(&v);
	size_t per = 1;

	if (!known) {
		v.pending = false;
		known = find_most(&v);
	}
	if (!known && any_owes(s)) { /* of grace periods there is nothing else to tell */
		known = true;
		v.bare = true;
	}
	if (!known || rows < 1) {
		canvas_text(c, at.row, at.column, STYLE_DIM,
			    "nothing of this source is known by CPU", at.columns);
		return;
	}
	if (wide > 0 && s->ncpus <= (size_t)(rows * wide)) {
		put_title(c, at, &v, 1);
		put_bars(c, at, &v, rows);
		return;
	}
	cells = cells_of(at.columns > LABEL ? at.columns - LABEL : 1);
	while ((s->ncpus + (size_t)cells * per - 1) / ((size_t)cells * per) > (size_t)rows)
		per *= 2;
	put_title(c, at, &v, per);
	put_grid(c, at, &v, cells, per);
}
