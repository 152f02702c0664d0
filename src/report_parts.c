// SPDX-License-Identifier: GPL-2.0-only
/* report_parts.c - of `kdefer report`: peaks of lists, runs of a command and its figures. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "catalog.h"
#include "doc_parts.h"
#include "format.h"
#include "view_lists_parts.h"
#include "view_report.h"

#define RUNS 40

/* --- lists --- */

struct level {
	const struct level_key *key;
	const struct pending_node *node;
	struct pending_span span;
	double mean;
};

/* Of one look there is neither a most nor a mean: it begins an interval that never ended. */
static bool has_span(const struct report *r)
{
	return r->model->to_ns > r->model->start_ns;
}

static unsigned int measure_of_lists(unsigned int source)
{
	const struct measure_info *info;
	unsigned int i;

	for (i = 0; (info = measure_info(i)); i++)
		if (info->source == source && info->pending)
			return i;
	return KD_M_COUNT;
}

static int by_peak(const void *pa, const void *pb)
{
	const struct level *a = pa, *b = pb;

	if (a->span.peak != b->span.peak)
		return a->span.peak < b->span.peak ? 1 : -1;
	if (a->node->length != b->node->length)
		return a->node->length < b->node->length ? 1 : -1;
	return memcmp(a->key, b->key, sizeof(*a->key));
}

/* Each list that ever held something, over all CPUs and keys; *n of them, the caller frees. NULL: no memory. */
static struct level *collect(const struct report *r, size_t *n)
{
	const struct pending *p = &r->model->pending;
	struct level *list = calloc(p->table.n + 1, sizeof(*list));
	double ns = (double)(r->model->to_ns - r->model->start_ns);
	size_t i;

	*n = 0;
	for (i = 0; list && i < p->table.n; i++) {
		const struct level_key *k = &p->table.keys[i];
		struct level *l = &list[*n];

		if (k->kind != PENDING_TOTAL ||
		    !scope_has(r->scope, measure_of_lists(k->source), k->flavour))
			continue;
		l->key = k;
		l->node = &p->node[i];
		pending_whole_span(r->model, l->node, &l->span);
		l->mean = has_span(r) ? (double)l->span.area / ns : 0;
		*n += l->span.peak || l->node->length;
	}
	if (*n)
		qsort(list, *n, sizeof(*list), by_peak);
	return list;
}

/* Of a list that this build has no name for, what the kernel calls it. */
static const char *name_of(const struct report *r, const struct level_key *k)
{
	const char *name = NULL;

	if (k->list >= KD_LIST_UNKNOWN)
		name = pending_text(&r->model->pending, KD_NAME_LIST, k->source, k->list, 0);
	return name && *name ? name : list_name(k->list);
}

static char *put_count(char *buf, size_t size, const char *mark, uint64_t v)
{
	char n[FMT_LEN];

	snprintf(buf, size, "%s%s", mark, fmt_count(n, sizeof(n), v));
	return buf;
}

/* Of short lists the part behind the point is what there is to see. */
static char *put_mean(char *buf, size_t size, const char *mark, double mean)
{
	if (mean >= 100)
		return put_count(buf, size, mark, (uint64_t)(mean + 0.5));
	snprintf(buf, size, "%s%.3g", mark, mean);
	return buf;
}

static int add_level(struct table *t, const struct report *r, const struct level *l)
{
	const char *flavour = flavour_name(l->key->flavour);
	const char *mark = lists_mark(!l->span.inexact, l->span.truncated);
	char name[300], safe[400], peak[2 * FMT_LEN] = "-", mean[2 * FMT_LEN] = "-";
	char last[2 * FMT_LEN], bytes[2 * FMT_LEN] = "-", n[FMT_LEN];

	snprintf(name, sizeof(name), "%s.%s%s%s%s", source_name(l->key->source), name_of(r, l->key),
		 flavour ? " (" : "", flavour ? flavour : "", flavour ? ")" : "");
	if (has_span(r)) {
		put_count(peak, sizeof(peak), mark, l->span.peak);
		put_mean(mean, sizeof(mean), mark, l->mean);
	}
	if (l->span.peak_bytes)
		snprintf(bytes, sizeof(bytes), "%s%s", mark,
			 fmt_bytes(n, sizeof(n), l->span.peak_bytes));
	put_count(last, sizeof(last), lists_mark(!l->node->inexact, l->node->truncated),
		  l->node->length);
	return sheet_row(
		t, (const char *[]){ fmt_safe(safe, sizeof(safe), name), peak, mean, last, bytes });
}

static void put_doubts(struct sheet *s, const struct level *list, size_t n)
{
	bool inexact = false, truncated = false;
	size_t i;

	for (i = 0; i < n; i++) {
		inexact |= list[i].span.inexact || list[i].node->inexact;
		truncated |= list[i].span.truncated || list[i].node->truncated;
	}
	if (inexact)
		sheet_line(s, "~ marks what was read while it could change");
	if (truncated)
		sheet_line(s, ">= marks lists too long to be walked to their end");
}

int report_lists(struct sheet *s, const struct report *r)
{
	static const struct table_column columns[] = {
		{ "LIST", false, 0 },  { "PEAK", true, 0 },       { "MEAN", true, 0 },
		{ "AT END", true, 1 }, { "PEAK BYTES", true, 2 },
	};
	struct table t;
	size_t n, i;
	struct level *list = collect(r, &n);
	int err = list ? 0 : -ENOMEM;

	table_init(&t, columns, 5);
	t.whole_first = true;
	for (i = 0; i < n && !err; i++)
		err = add_level(&t, r, &list[i]);
	if (!err && n) {
		sheet_heading(s, "LISTS OF WAITING WORK, as seen at the end of intervals");
		sheet_table(s, &t);
		put_doubts(s, list, n);
	}
	table_free(&t);
	free(list);
	return err;
}

static void put_level(struct json *j, const struct report *r, const struct level *l)
{
	const char *flavour = flavour_name(l->key->flavour);
	bool inexact = l->span.inexact || l->node->inexact;
	bool truncated = l->span.truncated || l->node->truncated;

	json_open(j, '{');
	json_kstr(j, "source", source_name(l->key->source));
	json_kstr(j, "list", name_of(r, l->key));
	json_kopen(j, "key", '{');
	if (flavour)
		json_kstr(j, l->key->source == KD_SRC_RSTAT ? "subsystem" : "flavour", flavour);
	json_close(j);
	json_ku64(j, "length", l->node->length);
	doc_known(j, "peak", has_span(r), l->span.peak);
	if (has_span(r))
		json_kdouble(j, "mean", l->mean);
	else
		json_knull(j, "mean");
	doc_known(j, "peak_bytes", l->span.peak_bytes, l->span.peak_bytes);
	json_kbool(j, "exact", !inexact && !truncated);
	json_kbool(j, "truncated", truncated);
	json_close(j);
}

void doc_report(struct json *j, const struct report *r)
{
	size_t n, i;
	struct level *list = collect(r, &n);

	json_kstr(j, "file", r->file);
	json_kbool(j, "complete", !r->cut);
	json_ku64(j, "intervals", r->model->ticks);
	json_kopen(j, "pending", '[');
	for (i = 0; i < n; i++)
		put_level(j, r, &list[i]);
	json_close(j);
	free(list);
}

/* --- runs --- */

static int add_run(struct table *t, const struct run *r)
{
	char index[FMT_LEN], side[4] = "", when[FMT_LEN], length[FMT_LEN] = "cut off";
	char status[FMT_LEN] = "-", command[600];

	snprintf(index, sizeof(index), "%" PRIu32, r->index);
	if (r->side != KD_SIDE_NONE)
		snprintf(side, sizeof(side), "%s", r->side == KD_SIDE_A ? "A" : "B");
	if (r->ended)
		fmt_ns(length, sizeof(length), r->end_ns - r->begin_ns);
	if (r->ended && r->status != KD_STATUS_UNKNOWN)
		snprintf(status, sizeof(status), "%u", r->status);
	return sheet_row(t, (const char *[]){ fmt_safe(command, sizeof(command), r->command), index,
					      side, report_time(when, sizeof(when), r->real_ns),
					      length, status });
}

static int put_runs(struct sheet *s, const struct report *r)
{
	static const struct table_column columns[] = {
		{ "COMMAND", false, 0 }, { "RUN", true, 0 },    { "SIDE", false, 0 },
		{ "BEGAN", true, 1 },    { "LENGTH", true, 0 }, { "STATUS", true, 0 },
	};
	const struct model *m = r->model;
	size_t i, n = m->nruns < RUNS ? m->nruns : RUNS;
	struct table t;
	int err = 0;

	table_init(&t, columns, 6);
	for (i = 0; i < n && !err; i++)
		err = add_run(&t, &m->runs[i]);
	if (!err) {
		sheet_heading(s, "RUNS");
		sheet_table(s, &t);
		if (n < m->nruns)
			sheet_line(s, "and %zu more, which --json has", m->nruns - n);
	}
	table_free(&t);
	return err;
}

/* --- figures of the command, by name and side --- */

struct figure {
	const struct value *first;
	uint8_t side;
	double *values;
	size_t n;
};

static bool is_of(const struct figure *f, const struct run *r, const struct value *v)
{
	return f->side == r->side && !strcmp(f->first->name, v->name) &&
	       !strcmp(f->first->unit, v->unit);
}

static int add_value(struct figure **figures, size_t *n, const struct run *r, const struct value *v)
{
	struct figure *f = *figures, *grown;
	double *values;
	size_t i;

	for (i = 0; i < *n && !is_of(&f[i], r, v); i++)
		;
	if (i == *n) {
		grown = reallocarray(f, *n + 1, sizeof(*f));
		if (!grown)
			return -ENOMEM;
		*figures = f = grown;
		f[i] = (struct figure){ .first = v, .side = r->side };
		++*n;
	}
	values = reallocarray(f[i].values, f[i].n + 1, sizeof(*values));
	if (!values)
		return -ENOMEM;
	f[i].values = values;
	values[f[i].n++] = v->value;
	return 0;
}

static int by_double(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;

	return a < b ? -1 : a > b;
}

static int add_figure(struct table *t, const struct figure *f)
{
	char name[600], unit[200], n[FMT_LEN], low[FMT_LEN], mid[FMT_LEN], high[FMT_LEN];
	double median;

	qsort(f->values, f->n, sizeof(*f->values), by_double);
	median = (f->values[(f->n - 1) / 2] + f->values[f->n / 2]) / 2;
	snprintf(n, sizeof(n), "%zu", f->n);
	snprintf(low, sizeof(low), "%.6g", f->values[0]);
	snprintf(mid, sizeof(mid), "%.6g", median);
	snprintf(high, sizeof(high), "%.6g", f->values[f->n - 1]);
	return sheet_row(t, (const char *[]){ fmt_safe(name, sizeof(name), f->first->name),
					      f->side == KD_SIDE_NONE ? ""
					      : f->side == KD_SIDE_A  ? "A"
								      : "B",
					      n, low, mid, high,
					      fmt_safe(unit, sizeof(unit), f->first->unit),
					      better_name((enum kd_better)f->first->better) });
}

static int put_figures(struct sheet *s, const struct report *r)
{
	static const struct table_column columns[] = {
		{ "FIGURE", false, 0 }, { "SIDE", false, 0 },   { "N", true, 0 },
		{ "LEAST", true, 1 },   { "MEDIAN", true, 0 },  { "MOST", true, 1 },
		{ "UNIT", false, 0 },   { "BETTER", false, 2 },
	};
	const struct model *m = r->model;
	struct figure *figures = NULL;
	size_t i, k, n = 0;
	struct table t;
	int err = 0;

	for (i = 0; i < m->nruns; i++)
		for (k = 0; k < m->runs[i].nvalues && !err; k++)
			err = add_value(&figures, &n, &m->runs[i], &m->runs[i].values[k]);
	table_init(&t, columns, 8);
	for (i = 0; i < n && !err; i++)
		err = add_figure(&t, &figures[i]);
	if (!err && n) {
		sheet_heading(s, "FIGURES OF THE COMMAND");
		sheet_table(s, &t);
	}
	table_free(&t);
	for (i = 0; i < n; i++)
		free(figures[i].values);
	free(figures);
	return err;
}

int report_runs(struct sheet *s, const struct report *r)
{
	int err;

	if (!r->model->nruns)
		return 0;
	err = put_runs(s, r);
	return err ? err : put_figures(s, r);
}
