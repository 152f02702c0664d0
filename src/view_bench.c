// SPDX-License-Identifier: GPL-2.0-only
/* view_bench.c - what a load measured, as a table and as figures for a recording. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bars.h"
#include "bench.h"
#include "catalog.h"
#include "format.h"
#include "text.h"

#define CELL 64
#define NAME_MAX_LEN 400

/* --- what is the same in all rows stands above them --- */

static bool is_column(const struct bench_load *load, const char *name)
{
	for (const struct bench_column *c = load->columns; c->title; c++)
		if (c->of && !strcmp(c->of, name))
			return true;
	return false;
}

static bool is_common(const struct bench_result *r, const struct bench_param *p)
{
	for (size_t i = 1; i < r->nrows; i++) {
		const struct bench_param *other = bench_find_param(r->row[i], p->name);

		if (!other || strcmp(other->text, p->text))
			return false;
	}
	return true;
}

static bool ends_in(const char *name, const char *end)
{
	size_t len = strlen(name), n = strlen(end);

	return len > n && !strcmp(name + len - n, end);
}

/* A number in the unit that its name ends in. */
static const char *grouped(char *buf, size_t size, const struct bench_param *p)
{
	uint64_t v = strtoull(p->text, NULL, 10);

	if (!p->number)
		return fmt_safe(buf, size, p->text);
	if (ends_in(p->name, "_ns"))
		return fmt_ns(buf, size, v);
	return ends_in(p->name, "_bytes") ? fmt_bytes(buf, size, v) : fmt_count(buf, size, v);
}

static void add_param(char *text, size_t size, const struct bench_param *p)
{
	char value[CELL], name[CELL];

	snprintf(name, sizeof(name), "%s", p->name);
	if (ends_in(name, "_ns") || ends_in(name, "_bytes"))
		*strrchr(name, '_') = '\0';
	for (char *c = name; (c = strchr(c, '_'));)
		*c = ' ';
	text_append(text, size, "%s%s %s", *text ? ", " : "", name,
		    grouped(value, sizeof(value), p));
}

static void put_common(FILE *out, const struct bench_load *load, const struct bench_result *r,
		       size_t width)
{
	char text[1024] = "";

	for (size_t i = 0; i < r->row[0]->nparams; i++) {
		const struct bench_param *p = &r->row[0]->param[i];

		if (is_common(r, p) && !is_column(load, p->name))
			add_param(text, sizeof(text), p);
	}
	if (*text)
		text_wrap(out, text, 0, 0, width);
}

/* --- the table --- */

static void number(char *buf, size_t size, double v, int decimals)
{
	if (!decimals && v >= 0 && v < 1e15)
		fmt_count(buf, size, (uint64_t)llround(v));
	else
		snprintf(buf, size, "%.*f", decimals, v);
}

static void value_cell(char *buf, size_t size, const struct bench_column *c,
		       const struct bench_value *v)
{
	double scale = c->scale > 0 ? c->scale : 1;
	char sd[FMT_LEN];

	if (v->absent) {
		snprintf(buf, size, "-");
		return;
	}
	number(buf, size, v->value / scale, c->decimals);
	if (!c->sd || v->sd < 0)
		return;
	number(sd, sizeof(sd), v->sd / scale, c->decimals);
	text_append(buf, size, " +- %s", sd);
}

static void cell(char *buf, size_t size, const struct bench_column *c, const struct bench_row *row)
{
	const struct bench_value *v = c->of ? bench_find_value(row, c->of) : NULL;
	const struct bench_param *p = c->of ? bench_find_param(row, c->of) : NULL;

	if (!c->of)
		fmt_safe(buf, size, row->name);
	else if (v)
		value_cell(buf, size, c, v);
	else if (p)
		grouped(buf, size, p);
	else
		snprintf(buf, size, "-");
}

static bool is_right(const struct bench_column *c, const struct bench_result *r)
{
	const struct bench_param *p = c->of ? bench_find_param(r->row[0], c->of) : NULL;

	return c->of && (!p || p->number);
}

/* What no row has, in this run, is no column. */
static bool is_filled(const struct bench_column *c, const struct bench_result *r)
{
	for (size_t i = 0; c->of && i < r->nrows; i++)
		if (bench_find_value(r->row[i], c->of) || bench_find_param(r->row[i], c->of))
			return true;
	return !c->of;
}

static void put_table(FILE *out, const struct bench_load *load, const struct bench_result *r,
		      size_t width)
{
	struct table_column columns[TABLE_COLUMNS_MAX];
	char text[TABLE_COLUMNS_MAX][CELL];
	const char *cells[TABLE_COLUMNS_MAX];
	const struct bench_column *of[TABLE_COLUMNS_MAX], *c;
	struct table t;
	size_t n;

	for (c = load->columns, n = 0; c->title && n < TABLE_COLUMNS_MAX; c++) {
		if (!is_filled(c, r))
			continue;
		columns[n] = (struct table_column){ .title = c->title,
						    .right = is_right(c, r),
						    .rank = c->rank };
		of[n] = c;
		cells[n] = text[n];
		n++;
	}
	table_init(&t, columns, n);
	for (size_t i = 0; i < r->nrows; i++) {
		for (size_t k = 0; k < n; k++)
			cell(text[k], CELL, of[k], r->row[i]);
		table_add(&t, cells);
	}
	table_print(&t, out, width);
	table_free(&t);
}

/* --- what is not there, and why --- */

static bool said_before(const struct bench_row *row, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (row->value[i].absent && !strcmp(row->value[i].absent, row->value[at].absent))
			return true;
	return false;
}

/* All values of a row that are absent for the reason of value `at`. */
static void put_absent(FILE *out, const struct bench_row *row, size_t at, size_t width)
{
	const char *reason = row->value[at].absent;
	char text[1024], safe[512];

	snprintf(text, sizeof(text), "%s: no", row->name);
	for (size_t i = at; i < row->nvalues; i++)
		if (row->value[i].absent && !strcmp(row->value[i].absent, reason))
			text_append(text, sizeof(text), "%s %s", i > at ? "," : "",
				    row->value[i].name);
	text_append(text, sizeof(text), ": %s", fmt_safe(safe, sizeof(safe), reason));
	text_wrap(out, text, 0, 2, width);
}

static void put_reasons(FILE *out, const struct bench_result *r, size_t width)
{
	for (size_t i = 0; i < r->nrows; i++)
		for (size_t v = 0; v < r->row[i]->nvalues; v++)
			if (r->row[i]->value[v].absent && !said_before(r->row[i], v))
				put_absent(out, r->row[i], v, width);
}

static void put_hists(FILE *out, const struct bench_result *r, size_t width)
{
	for (size_t i = 0; i < r->nrows; i++)
		for (size_t k = 0; k < r->row[i]->nhists; k++) {
			const struct bench_hist *x = &r->row[i]->hist[k];

			fprintf(out, "\n%s, each %s\n", r->row[i]->name, x->name);
			bars_print(out, x->hist, strcmp(x->unit, "ns") ? UNIT_COUNT : UNIT_NS, "",
				   width);
		}
}

void view_bench(FILE *out, const struct bench_load *load, const struct bench_result *r,
		size_t width)
{
	char safe[1024];

	if (r->nrows) {
		put_common(out, load, r, width);
		put_table(out, load, r, width);
		put_reasons(out, r, width);
		put_hists(out, r, width);
	}
	for (size_t i = 0; i < r->nnotes; i++)
		text_wrap(out, fmt_safe(safe, sizeof(safe), r->note[i]), 0, 2, width);
}

/* --- figures for a recording: src/child.h --- */

void view_bench_metrics(FILE *out, const struct bench_load *load, const struct bench_result *r)
{
	char name[NAME_MAX_LEN];

	for (size_t i = 0; i < r->nrows; i++)
		for (size_t k = 0; k < r->row[i]->nvalues; k++) {
			const struct bench_value *v = &r->row[i]->value[k];

			if (!v->absent)
				fprintf(out, "kdefer-metric %s %.10g %s %s\n",
					bench_metric_name(name, sizeof(name), load->name, r->row[i],
							  v),
					v->value, v->unit, better_name(v->better));
		}
}
