// SPDX-License-Identifier: GPL-2.0-only
/* doc_bench.c - what a load measured, as a section of the JSON document. */
#include <stdlib.h>

#include "bench.h"
#include "catalog.h"
#include "doc_parts.h"

static void put_params(struct json *j, const struct bench_row *row)
{
	json_kopen(j, "params", '{');
	for (size_t i = 0; i < row->nparams; i++) {
		const struct bench_param *p = &row->param[i];

		if (p->number)
			json_ku64(j, p->name, strtoull(p->text, NULL, 10));
		else
			json_kstr(j, p->name, p->text);
	}
	json_close(j);
}

static void put_values(struct json *j, const struct bench_row *row)
{
	json_kopen(j, "values", '{');
	for (size_t i = 0; i < row->nvalues; i++) {
		const struct bench_value *v = &row->value[i];

		json_kopen(j, v->name, '{');
		if (v->absent)
			json_knull(j, "value");
		else
			json_kdouble(j, "value", v->value);
		json_kstr(j, "unit", v->unit);
		json_kstr(j, "better", better_name(v->better));
		if (!v->absent && v->sd >= 0)
			json_kdouble(j, "stddev", v->sd);
		if (v->absent)
			json_kstr(j, "reason", v->absent);
		json_close(j);
	}
	json_close(j);
}

static void put_hists(struct json *j, const struct bench_row *row)
{
	if (!row->nhists)
		return;
	json_kopen(j, "histograms", '{');
	for (size_t i = 0; i < row->nhists; i++) {
		const struct bench_hist *x = &row->hist[i];

		json_kopen(j, x->name, '{');
		json_kstr(j, "unit", x->unit);
		json_ku64(j, "count", hist_count(x->hist));
		doc_buckets(j, x->hist);
		json_close(j);
	}
	json_close(j);
}

void doc_bench(struct json *j, const struct bench_load *load, const struct bench_result *r)
{
	json_kopen(j, "bench", '[');
	for (size_t i = 0; i < r->nrows; i++) {
		json_open(j, '{');
		json_kstr(j, "name", load->name);
		json_kstr(j, "case", r->row[i]->name);
		put_params(j, r->row[i]);
		put_values(j, r->row[i]);
		put_hists(j, r->row[i]);
		json_close(j);
	}
	json_close(j);
	json_kopen(j, "notes", '[');
	for (size_t i = 0; i < r->nnotes; i++)
		json_str(j, r->note[i]);
	json_close(j);
}
