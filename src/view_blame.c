// SPDX-License-Identifier: GPL-2.0-only
/*
 * view_blame.c - whose flushes of cgroup statistics the others wait for. One row a flusher, one a
 * cgroup, of several measures; and what would be gained if the first of the flushers stopped.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "catalog.h"
#include "flushes.h"
#include "format.h"
#include "text.h"
#include "view_blame.h"
#include "view_parts.h"

#define ROWS_MOST 10

typedef int (*add_fn)(struct table *t, const char *const *cells);

static char *name_of(char *buf, size_t size, const struct flush_row *row, enum key_name by)
{
	if (row->keys)
		return view_key(buf, size, row->keys, by);
	snprintf(buf, size, "other");
	return buf;
}

/* What was not measured is not nothing. */
static void known_count(char buf[FMT_LEN], uint64_t n)
{
	if (n)
		fmt_count(buf, FMT_LEN, n);
	else
		snprintf(buf, FMT_LEN, "-");
}

static void known_ns(char buf[FMT_LEN], uint64_t ns)
{
	if (ns)
		fmt_ns(buf, FMT_LEN, ns);
	else
		snprintf(buf, FMT_LEN, "-");
}

static int fill_table(struct table *t, const struct flush_rows *all, add_fn add)
{
	int err = 0;

	for (size_t i = 0; i < all->n && i < ROWS_MOST && !err; i++) {
		const struct flush_row *row = &all->row[i];
		char key[VIEW_KEY], n[FMT_LEN], flush[FMT_LEN], hold[FMT_LEN], behind[FMT_LEN];
		const char *const cells[] = { key, n, flush, hold, behind };

		if (!row->behind_ns)
			break;
		name_of(key, sizeof(key), row, all->by);
		known_count(n, row->flushes);
		known_ns(flush, row->flush_ns);
		known_ns(hold, row->hold_ns);
		known_ns(behind, row->behind_ns);
		err = add(t, cells);
	}
	return err;
}

/* Of a part of those who wait nothing follows for all. */
static bool gain_text(char *text, size_t size, const struct flush_rows *all, bool filtered)
{
	char key[VIEW_KEY], behind[FMT_LEN], total[FMT_LEN];
	const struct flush_row *row = all->row;
	double share;

	if (filtered || all->by != KEY_FLUSHER || !flush_gain(all, &share))
		return false;
	snprintf(
		text, size,
		"If %s stopped, at least %.1f%% of all waiting for the lock would vanish: %s of %s "
		"were behind its holds.",
		name_of(key, sizeof(key), row, all->by), 100 * share,
		fmt_ns(behind, sizeof(behind), row->behind_ns),
		fmt_ns(total, sizeof(total), all->waited_ns));
	return true;
}

#define COLUMNS 5

static void name_columns(struct table_column heads[COLUMNS], enum key_name by)
{
	heads[0] = (struct table_column){ by == KEY_FLUSHER ? "BEHIND WHOM (FLUSHER)"
							    : "BEHIND WHAT (CGROUP)",
					  false, 0 };
	heads[1] = (struct table_column){ "FLUSHES", true, 2 };
	heads[2] = (struct table_column){ "IN FLUSH", true, 3 };
	heads[3] = (struct table_column){ "HOLDING", true, 1 };
	heads[4] = (struct table_column){ "OTHERS WAITED", true, 0 };
}

static bool is_any(const struct flush_rows *all)
{
	return all->n && all->row[0].behind_ns;
}

static int put_by(FILE *out, const struct view_hist *v, enum key_name by)
{
	struct table_column heads[COLUMNS];
	char gain[VIEW_KEY + 256];
	struct flush_rows all;
	struct table t;
	int err = flush_rows_collect(&all, v->model, v->scope, v->filters, v->nfilters, by);

	name_columns(heads, by);
	table_init(&t, heads, COLUMNS);
	if (!err && is_any(&all))
		err = fill_table(&t, &all, table_add);
	if (!err && t.nrows) {
		fputc('\n', out);
		table_print(&t, out, v->width);
		if (gain_text(gain, sizeof(gain), &all, v->nfilters)) {
			fputc('\n', out);
			text_wrap(out, gain, 0, 2, v->width);
		}
	}
	table_free(&t);
	flush_rows_free(&all);
	return err;
}

int view_blame(FILE *out, const struct view_hist *v)
{
	int err;

	if (!scope_has_measure(v->scope, KD_M_RSTAT_BLAME))
		return 0;
	err = put_by(out, v, KEY_CGROUP);
	return err ? err : put_by(out, v, KEY_FLUSHER);
}

static int sheet_by(struct sheet *s, const struct model *m, const struct scope *sc,
		    enum key_name by)
{
	struct table_column heads[COLUMNS];
	char gain[VIEW_KEY + 256];
	struct flush_rows all;
	struct table t;
	int err = flush_rows_collect(&all, m, sc, NULL, 0, by);

	name_columns(heads, by);
	table_init(&t, heads, COLUMNS);
	if (!err && is_any(&all))
		err = fill_table(&t, &all, sheet_row);
	if (!err && t.nrows) {
		sheet_heading(s, by == KEY_FLUSHER ? "WHOSE FLUSHES OTHERS WAITED FOR"
						   : "FLUSHES OF WHAT OTHERS WAITED FOR");
		sheet_table(s, &t);
		if (gain_text(gain, sizeof(gain), &all, false))
			sheet_line(s, "%s", gain);
	}
	table_free(&t);
	flush_rows_free(&all);
	return err;
}

int sheet_blame(struct sheet *s, const struct model *m, const struct scope *sc)
{
	int err;

	if (!scope_has_measure(sc, KD_M_RSTAT_BLAME))
		return 0;
	err = sheet_by(s, m, sc, KEY_CGROUP);
	return err ? err : sheet_by(s, m, sc, KEY_FLUSHER);
}
