// SPDX-License-Identifier: GPL-2.0-only
/* view_lists_keys.c - the tables of `kdefer lists`: lengths by list, and the largest keys. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "catalog.h"
#include "format.h"
#include "text.h"
#include "view_lists_parts.h"

#define HOLDERS_SHOWN 3

/* --- cells --- */

const char *lists_mark(bool exact, bool truncated)
{
	return truncated ? ">=" : exact ? "" : "~";
}

static const char *mark(const struct backlog_row *r)
{
	return lists_mark(r->exact, r->truncated);
}

char *lists_length(char *buf, size_t size, const struct backlog_row *r)
{
	char n[FMT_LEN];

	snprintf(buf, size, "%s%s", mark(r), fmt_count(n, sizeof(n), r->length));
	return buf;
}

char *lists_bytes(char *buf, size_t size, const struct backlog_row *r)
{
	char n[FMT_LEN];

	if (r->length && r->unsized == r->length)
		snprintf(buf, size, "-");
	else
		snprintf(buf, size, "%s%s", r->unsized ? ">=" : mark(r),
			 fmt_bytes(n, sizeof(n), r->bytes));
	return buf;
}

char *lists_age(char *buf, size_t size, const struct backlog_row *r)
{
	if (r->age_ns == KD_UNKNOWN)
		snprintf(buf, size, "-");
	else
		fmt_ns(buf, size, r->age_ns);
	return buf;
}

char *lists_change(char *buf, size_t size, const struct view_lists *v, const struct backlog_row *r)
{
	double per_s;
	char rate[FMT_LEN];

	if (!backlog_rate(v->model, &v->query->scope, r, &per_s))
		snprintf(buf, size, "-");
	else if (per_s == 0)
		snprintf(buf, size, "0");
	else
		snprintf(buf, size, "%c%s", per_s < 0 ? '-' : '+',
			 fmt_rate(rate, sizeof(rate), per_s < 0 ? -per_s : per_s));
	return buf;
}

/* "flows (12)": what a person knows it by, and what tells it from others of that name. */
char *view_lists_key(char *buf, size_t size, const struct model *m, const struct backlog_row *r,
		     bool raw_addresses)
{
	const char *name;
	uint32_t id;

	if (r->other) {
		snprintf(buf, size, "other (%" PRIu64 ")", r->folded);
	} else if (backlog_map_id(r, &id)) {
		name = backlog_map_name(m, r);
		fmt_safe(buf, size, name ? name : "?");
		text_append(buf, size, " (%u)", id);
	} else {
		name = r->source == KD_SRC_MEMALLOC ? backlog_allocator(m, r)
						    : backlog_domain(m, r);
		fmt_safe(buf, size, name ? name : r->key ? "?" : "-");
		if (!name && r->key && raw_addresses)
			text_append(buf, size, " (0x%016" PRIx64 ")", r->key);
	}
	return buf;
}

static char *holders_cell(char *buf, size_t size, const struct view_lists *v,
			  const struct backlog_row *r)
{
	const char *holder;
	char text[256];
	int i;

	buf[0] = '\0';
	for (i = 0; *(holder = backlog_holder(v->model, r, i)); i++)
		if (i < HOLDERS_SHOWN)
			text_append(buf, size, "%s%s", i ? ", " : "",
				    fmt_safe(text, sizeof(text), holder));
	if (i > HOLDERS_SHOWN)
		text_append(buf, size, ", %d more", i - HOLDERS_SHOWN);
	return buf;
}

/* --- tables: only columns in which some row has something --- */

enum column {
	C_KEY,
	C_GROUP,
	C_LIST,
	C_CPU,
	C_SIZE,
	C_LENGTH,
	C_BYTES,
	C_CHANGE,
	C_AGE,
	C_HOLDERS
};
#define COLUMNS (C_HOLDERS + 1)

static const struct table_column all_columns[COLUMNS] = {
	[C_KEY] = { "KEY", false, 0 },    [C_GROUP] = { "FLAVOUR", false, 0 },
	[C_LIST] = { "LIST", false, 0 },  [C_CPU] = { "CPU", true, 0 },
	[C_SIZE] = { "SIZE", true, 3 },   [C_LENGTH] = { "ENTRIES", true, 0 },
	[C_BYTES] = { "BYTES", true, 1 }, [C_CHANGE] = { "CHANGE/S", true, 2 },
	[C_AGE] = { "OLDEST", true, 4 },  [C_HOLDERS] = { "HOLDERS", false, 5 },
};

static bool has_key(const struct backlog_row *r)
{
	return r->key || r->unit_size || r->other;
}

static bool has_cell(const struct view_lists *v, const struct backlog_row *r, enum column c)
{
	double per_s;

	switch (c) {
	case C_KEY:
		return has_key(r);
	case C_GROUP:
		return flavour_name(r->flavour);
	case C_CPU:
		return r->cpu != KD_CPU_NONE;
	case C_SIZE:
		return r->unit_size;
	case C_BYTES:
		return r->bytes;
	case C_CHANGE:
		return backlog_rate(v->model, &v->query->scope, r, &per_s);
	case C_AGE:
		return r->age_ns != KD_UNKNOWN;
	case C_HOLDERS:
		return *backlog_holder(v->model, r, 0);
	default:
		return true;
	}
}

static void put_cell(char *buf, size_t size, const struct view_lists *v,
		     const struct backlog_row *r, enum column c)
{
	buf[0] = '\0';
	switch (c) {
	case C_KEY:
		view_lists_key(buf, size, v->model, r, v->query->scope.raw_addresses);
		break;
	case C_GROUP:
		snprintf(buf, size, "%s",
			 flavour_name(r->flavour) ? flavour_name(r->flavour) : "-");
		break;
	case C_LIST:
		fmt_safe(buf, size, backlog_list(v->model, r));
		break;
	case C_CPU:
		if (r->cpu != KD_CPU_NONE)
			snprintf(buf, size, "%u", r->cpu);
		break;
	case C_SIZE:
		if (r->unit_size)
			snprintf(buf, size, "%u", r->unit_size);
		break;
	case C_LENGTH:
		lists_length(buf, size, r);
		break;
	case C_BYTES:
		lists_bytes(buf, size, r);
		break;
	case C_CHANGE:
		lists_change(buf, size, v, r);
		break;
	case C_AGE:
		lists_age(buf, size, r);
		break;
	case C_HOLDERS:
		holders_cell(buf, size, v, r);
		break;
	}
}

static size_t choose_columns(const struct view_lists *v, const struct backlog_row *rows, size_t n,
			     enum column *chosen, struct table_column *columns)
{
	size_t used = 0;

	for (unsigned int c = 0; c < COLUMNS; c++) {
		bool any = false;

		for (size_t i = 0; i < n && !any; i++)
			any = has_cell(v, &rows[i], (enum column)c);
		if (!any)
			continue;
		chosen[used] = (enum column)c;
		columns[used] = all_columns[c];
		if (c == C_GROUP && rows[0].source == KD_SRC_RSTAT) /* rows are of one source */
			columns[used].title = "SUBSYSTEM";
		used++;
	}
	return used;
}

/* Of which lists how much is stranded: those that are shown, each by itself. */
static void put_stranded(FILE *out, const struct view_lists *v, const struct backlog_row *rows,
			 size_t n)
{
	static char key[LISTS_CELL], line[2 * LISTS_CELL];
	char list[128], count[FMT_LEN], size[FMT_LEN], age[FMT_LEN];

	for (size_t i = 0; i < n; i++) {
		const struct backlog_row *r = &rows[i];

		if (!r->stranded || !r->key)
			continue;
		view_lists_key(key, sizeof(key), v->model, r, v->query->scope.raw_addresses);
		snprintf(line, sizeof(line), "%s: stranded in %s: %s objects, %s, for %s or longer",
			 key, fmt_safe(list, sizeof(list), backlog_list(v->model, r)),
			 fmt_count(count, sizeof(count), r->stranded),
			 fmt_bytes(size, sizeof(size), r->stranded_bytes),
			 fmt_ns(age, sizeof(age), r->stranded_ns));
		text_wrap(out, line, 0, 2, v->width);
	}
}

/* Where the table has no room for them: a line for each map, however many lists it has. */
static void put_holders(FILE *out, const struct view_lists *v, const struct backlog_row *rows,
			size_t n)
{
	static char key[LISTS_CELL], holders[LISTS_CELL], line[2 * LISTS_CELL + 16];

	for (size_t i = 0; i < n; i++) {
		bool said = !*holders_cell(holders, sizeof(holders), v, &rows[i]);

		for (size_t k = 0; k < i && !said; k++)
			said = rows[k].key == rows[i].key && *backlog_holder(v->model, &rows[k], 0);
		if (said)
			continue;
		view_lists_key(key, sizeof(key), v->model, &rows[i], v->query->scope.raw_addresses);
		snprintf(line, sizeof(line), "%s is held by %s", key, holders);
		text_wrap(out, line, 0, 2, v->width);
	}
}

static int put_table(FILE *out, const struct view_lists *v, const struct backlog_row *rows,
		     size_t n)
{
	char missing[128];
	static char cell[COLUMNS][LISTS_CELL];
	const char *cells[COLUMNS];
	struct table_column columns[COLUMNS];
	enum column chosen[COLUMNS];
	struct table t;
	int err = 0;

	if (!n)
		return 0;
	table_init(&t, columns, choose_columns(v, rows, n, chosen, columns));
	for (size_t i = 0; i < n && !err; i++) {
		for (size_t c = 0; c < t.ncolumns; c++) {
			put_cell(cell[c], sizeof(cell[c]), v, &rows[i], chosen[c]);
			cells[c] = cell[c];
		}
		err = table_add(&t, cells);
	}
	if (!err) {
		fputc('\n', out);
		table_print(&t, out, v->width);
		if (strstr(table_missing(&t, v->width, missing, sizeof(missing)), "HOLDERS"))
			put_holders(out, v, rows, n);
		put_stranded(out, v, rows, n);
	}
	table_free(&t);
	return err;
}

/* Those of this source that something can be said of; the rest is known to be empty. */
static size_t pick(const struct backlog_row *rows, size_t n, unsigned int source, bool keyed,
		   bool by_cpu, struct backlog_row *to)
{
	size_t picked = 0;

	for (size_t i = 0; i < n; i++) {
		const struct backlog_row *r = &rows[i];

		if (r->source == source && (r->length || r->then) &&
		    (!keyed || has_key(r) || (by_cpu && r->cpu != KD_CPU_NONE)))
			to[picked++] = *r;
	}
	return picked;
}

int lists_tables(FILE *out, const struct view_lists *v, unsigned int source,
		 const struct backlog_row *totals, size_t n)
{
	struct backlog_row *rows = NULL, *picked;
	size_t nrows = 0;
	int err = backlog_rows(v->model, v->query, &rows, &nrows);

	picked = err ? NULL : calloc(n + nrows + 1, sizeof(*picked));
	if (picked) {
		err = put_table(out, v, picked, pick(totals, n, source, false, false, picked));
		if (!err)
			err = put_table(out, v, picked,
					pick(rows, nrows, source, true, v->query->per_cpu, picked));
	}
	free(rows);
	free(picked);
	return picked ? err : -ENOMEM;
}
