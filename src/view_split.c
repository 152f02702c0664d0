// SPDX-License-Identifier: GPL-2.0-only
/*
 * view_split.c - what flushes of cgroup statistics spend their time with, in parts that add up; and
 * what giving up the lock less often would change.
 */
#include <errno.h>
#include <string.h>

#include "catalog.h"
#include "flushes.h"
#include "format.h"
#include "plan.h"
#include "text.h"
#include "view_blame.h"
#include "view_parts.h"

typedef int (*add_fn)(struct table *t, const char *const *cells);

enum column { KEY, FLUSHES, IN_FLUSH, WAITING, HOLDING, IRQS, OFF_CPU, REST, COLUMNS };

static const struct table_column columns[COLUMNS] = {
	[KEY] = { "SUBSYSTEM", false, 0 },    [FLUSHES] = { "FLUSHES", true, 1 },
	[IN_FLUSH] = { "IN FLUSH", true, 0 }, [WAITING] = { "WAITING", true, 0 },
	[HOLDING] = { "HOLDING", true, 0 },   [IRQS] = { "IRQS", true, 0 },
	[OFF_CPU] = { "OFF CPU", true, 0 },   [REST] = { "REST", true, 0 },
};

static void put_part(char cell[2][FMT_LEN], bool known, uint64_t ns, uint64_t whole_ns)
{
	snprintf(cell[0], FMT_LEN, "-");
	snprintf(cell[1], FMT_LEN, "%s", "");
	if (!known)
		return;
	fmt_ns(cell[0], FMT_LEN, ns);
	if (whole_ns)
		snprintf(cell[1], FMT_LEN, "%.1f%%", 100.0 * (double)ns / (double)whole_ns);
}

/* Times, and below these their shares. */
static int add_row(struct table *t, const struct flush_row *row, const struct flush_split *s,
		   add_fn add)
{
	const char *name = flavour_name(row->subsystem);
	char cell[COLUMNS][2][FMT_LEN];
	const char *cells[COLUMNS];
	int err = 0;

	snprintf(cell[KEY][0], FMT_LEN, "%s", name ? name : "?");
	snprintf(cell[KEY][1], FMT_LEN, "%s", "");
	fmt_count(cell[FLUSHES][0], FMT_LEN, row->flushes);
	snprintf(cell[FLUSHES][1], FMT_LEN, "%s", "");
	put_part(cell[IN_FLUSH], true, row->flush_ns, row->flush_ns);
	put_part(cell[WAITING], true, s->wait_ns, row->flush_ns);
	put_part(cell[HOLDING], s->knows_held, s->held_ns, row->flush_ns);
	put_part(cell[IRQS], s->knows_irqs, s->irqs_ns, row->flush_ns);
	put_part(cell[OFF_CPU], s->knows_off_cpu, s->off_cpu_ns, row->flush_ns);
	put_part(cell[REST], true, s->rest_ns, row->flush_ns);
	for (int line = 0; line < 2 && !err; line++) {
		for (int i = 0; i < COLUMNS; i++)
			cells[i] = cell[i][line];
		err = add(t, cells);
	}
	return err;
}

static int fill_table(struct table *t, const struct flush_rows *all, const struct model *m,
		      const struct scope *sc, add_fn add)
{
	struct flush_split s;
	int err = 0;

	for (size_t i = 0; i < all->n && !err; i++)
		if (all->row[i].flushes) {
			flush_split(&s, m, sc, &all->row[i]);
			err = add_row(t, &all->row[i], &s, add);
		}
	return err;
}

static const char *bounds_text(const struct flush_rows *all)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->row[i].lower)
			return " (some or all are lower bounds: longer than seen)";
	return "";
}

/* --- the lock, given up less often --- */

static void add_quantile(char *text, size_t size, const struct flush_row *row, double q,
			 const char *name)
{
	char now[FMT_LEN], then[FMT_LEN];
	uint64_t a, b;

	if (!hist_quantile(row->hold, q, &a) && !hist_quantile(row->hold_by_8, q, &b))
		text_append(text, size, ", %s %s instead of %s", name,
			    fmt_ns(then, sizeof(then), b), fmt_ns(now, sizeof(now), a));
}

static bool by_8_text(char *text, size_t size, const struct flush_row *row)
{
	const char *name = flavour_name(row->subsystem);
	char now[FMT_LEN], then[FMT_LEN];
	double shorter;

	if (!row->hold || !row->hold_by_8 || !hist_count(row->hold_by_8))
		return false;
	snprintf(text, size,
		 "If the lock was given up at every 8th CPU instead of each (%s; computed from the "
		 "holds): longest hold %s instead of %s",
		 name ? name : "subsystem not known",
		 fmt_ns(then, sizeof(then), row->hold_by_8->max),
		 fmt_ns(now, sizeof(now), row->hold->max));
	add_quantile(text, size, row, 0.5, "p50");
	add_quantile(text, size, row, 0.99, "p99");
	if (flush_by_8(row, &shorter))
		text_append(
			text, size,
			"; flushes at most %.1f%% shorter (our own programs run between holds, too)",
			100 * shorter);
	text_append(text, size, ". How long others would wait is not in this.");
	return true;
}

/* Why it is not computed although holds are known: "" where they are not. */
static const char *no_by_8(const struct flush_rows *all)
{
	bool holds = false;

	for (size_t i = 0; i < all->n; i++) {
		if (all->row[i].hold_by_8 && hist_count(all->row[i].hold_by_8))
			return "";
		holds |= all->row[i].held_ns > 0;
	}
	return holds ? "What giving up the lock at every 8th CPU would change is not computed: "
		       "here it is not given up at each."
		     : "";
}

/* What a part lacks on this kernel. */
static const char *lacks(const struct model *m, unsigned int measure)
{
	for (size_t i = 0; i < m->nplan; i++)
		if (m->plan[i].measure == measure && m->plan[i].state == PLAN_ON)
			return m->plan[i].reason;
	return "";
}

/* --- for hist and for report --- */

static void put_words(FILE *out, const struct view_hist *v, const struct flush_rows *all)
{
	const char *irqs = lacks(v->model, KD_M_RSTAT_IRQS), *none = no_by_8(all);
	char text[600], safe[PLAN_TEXT * 2];

	if (*irqs)
		text_fieldf(out, v->width, "note:", "IRQS: %s", fmt_safe(safe, sizeof(safe), irqs));
	for (size_t i = 0; i < all->n; i++) {
		if (!by_8_text(text, sizeof(text), &all->row[i]))
			continue;
		fputc('\n', out);
		text_wrap(out, text, 0, 2, v->width);
	}
	if (*none) {
		fputc('\n', out);
		text_wrap(out, none, 0, 2, v->width);
	}
}

int view_split(FILE *out, const struct view_hist *v)
{
	char title[160];
	struct flush_rows all;
	struct table t;
	int err;

	if (!flush_is_split(v->model, v->scope))
		return 0;
	err = flush_rows_collect(&all, v->model, v->scope, v->filters, v->nfilters, KEY_NONE);
	table_init(&t, columns, COLUMNS);
	if (!err)
		err = fill_table(&t, &all, v->model, v->scope, table_add);
	if (!err && t.nrows) {
		snprintf(title, sizeof(title),
			 "What flushes spend their time with%s:", bounds_text(&all));
		fputc('\n', out);
		text_wrap(out, title, 0, 2, v->width);
		table_print(&t, out, v->width);
		put_words(out, v, &all);
	}
	table_free(&t);
	flush_rows_free(&all);
	return err;
}

static void sheet_words(struct sheet *s, const struct model *m, const struct flush_rows *all)
{
	const char *irqs = lacks(m, KD_M_RSTAT_IRQS), *none = no_by_8(all);
	char text[600], safe[PLAN_TEXT * 2];

	if (*irqs)
		sheet_line(s, "IRQS: %s", fmt_safe(safe, sizeof(safe), irqs));
	for (size_t i = 0; i < all->n; i++)
		if (by_8_text(text, sizeof(text), &all->row[i]))
			sheet_line(s, "%s", text);
	if (*none)
		sheet_line(s, "%s", none);
}

int sheet_split(struct sheet *s, const struct model *m, const struct scope *sc)
{
	struct flush_rows all;
	struct table t;
	int err;

	if (!flush_is_split(m, sc))
		return 0;
	err = flush_rows_collect(&all, m, sc, NULL, 0, KEY_NONE);
	table_init(&t, columns, COLUMNS);
	if (!err)
		err = fill_table(&t, &all, m, sc, sheet_row);
	if (!err && t.nrows) {
		sheet_heading(s, "WHAT FLUSHES SPEND THEIR TIME WITH");
		if (*bounds_text(&all))
			sheet_line(s, "All of it%s:", bounds_text(&all));
		sheet_table(s, &t);
		sheet_words(s, m, &all);
	}
	table_free(&t);
	flush_rows_free(&all);
	return err;
}
