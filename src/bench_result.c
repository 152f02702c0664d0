// SPDX-License-Identifier: GPL-2.0-only
/* bench_result.c - what a load measured, put together. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "text.h"

void bench_result_init(struct bench_result *r)
{
	memset(r, 0, sizeof(*r));
	r->lost.of = r;
}

static void free_row(struct bench_row *row)
{
	for (size_t i = 0; i < row->nparams; i++) {
		free(row->param[i].name);
		free(row->param[i].text);
	}
	for (size_t i = 0; i < row->nvalues; i++) {
		free(row->value[i].name);
		free(row->value[i].unit);
		free(row->value[i].absent);
	}
	for (size_t i = 0; i < row->nhists; i++) {
		free(row->hist[i].name);
		free(row->hist[i].unit);
		free(row->hist[i].hist);
	}
	free(row->param);
	free(row->value);
	free(row->hist);
	free(row->name);
}

void bench_result_free(struct bench_result *r)
{
	for (size_t i = 0; i < r->nrows; i++) {
		free_row(r->row[i]);
		free(r->row[i]);
	}
	for (size_t i = 0; i < r->nnotes; i++)
		free(r->note[i]);
	free_row(&r->lost);
	free(r->row);
	free(r->note);
	bench_result_init(r);
}

/* Room for one more element behind the n that there are, all zero; NULL: no memory. */
static void *add(struct bench_result *r, void *array, size_t *n, size_t size)
{
	void **at = array;
	void *more = reallocarray(*at, *n + 1, size);

	if (!more) {
		r->err = -ENOMEM;
		return NULL;
	}
	*at = more;
	return memset((char *)more + (*n)++ * size, 0, size);
}

static char *copy(struct bench_result *r, const char *text)
{
	char *s = strdup(text);

	if (!s)
		r->err = -ENOMEM;
	return s;
}

struct bench_row *bench_row(struct bench_result *r, const char *name)
{
	struct bench_row *row = calloc(1, sizeof(*row)), **slot;

	if (!row) {
		r->err = -ENOMEM;
		return &r->lost;
	}
	slot = add(r, &r->row, &r->nrows, sizeof(*slot));
	if (!slot) {
		free(row);
		return &r->lost;
	}
	row->of = r;
	row->name = copy(r, name);
	*slot = row;
	return row;
}

static void put_param(struct bench_row *row, const char *name, const char *text, bool number,
		      bool key)
{
	struct bench_param *p = add(row->of, &row->param, &row->nparams, sizeof(*p));

	if (!p)
		return;
	p->name = copy(row->of, name);
	p->text = copy(row->of, text);
	p->number = number;
	p->key = key;
}

static void put_number(struct bench_row *row, const char *name, uint64_t value, bool key)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	put_param(row, name, text, true, key);
}

void bench_param(struct bench_row *row, const char *name, uint64_t value)
{
	put_number(row, name, value, false);
}

void bench_key(struct bench_row *row, const char *name, uint64_t value)
{
	put_number(row, name, value, true);
}

void bench_param_text(struct bench_row *row, const char *name, const char *text)
{
	put_param(row, name, text, false, false);
}

void bench_key_text(struct bench_row *row, const char *name, const char *text)
{
	put_param(row, name, text, false, true);
}

static struct bench_value *add_value(struct bench_row *row, const char *name, const char *unit,
				     enum kd_better better)
{
	struct bench_value *v = add(row->of, &row->value, &row->nvalues, sizeof(*v));

	if (!v)
		return NULL;
	v->name = copy(row->of, name);
	v->unit = copy(row->of, unit);
	v->better = better;
	v->sd = -1;
	return v;
}

void bench_value_sd(struct bench_row *row, const char *name, double value, double sd,
		    const char *unit, enum kd_better better)
{
	struct bench_value *v = add_value(row, name, unit, better);

	if (!v)
		return;
	v->value = value;
	v->sd = sd;
}

void bench_value(struct bench_row *row, const char *name, double value, const char *unit,
		 enum kd_better better)
{
	bench_value_sd(row, name, value, -1, unit, better);
}

void bench_absent(struct bench_row *row, const char *name, const char *unit, enum kd_better better,
		  const char *reason_fmt, ...)
{
	struct bench_value *v = add_value(row, name, unit, better);
	char reason[512];
	va_list ap;

	va_start(ap, reason_fmt);
	vsnprintf(reason, sizeof(reason), reason_fmt, ap);
	va_end(ap);
	if (v)
		v->absent = copy(row->of, reason);
}

void bench_hist(struct bench_row *row, const char *name, const char *unit, const struct hist *h)
{
	struct bench_hist *x = add(row->of, &row->hist, &row->nhists, sizeof(*x));

	if (!x)
		return;
	x->name = copy(row->of, name);
	x->unit = copy(row->of, unit);
	x->hist = malloc(sizeof(*x->hist));
	if (x->hist)
		*x->hist = *h;
	else
		row->of->err = -ENOMEM;
}

void bench_note(struct bench_result *r, const char *fmt, ...)
{
	char **note = add(r, &r->note, &r->nnotes, sizeof(*note)), text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (note)
		*note = copy(r, text);
}

const struct bench_param *bench_find_param(const struct bench_row *row, const char *name)
{
	for (size_t i = 0; i < row->nparams; i++)
		if (!strcmp(row->param[i].name, name))
			return &row->param[i];
	return NULL;
}

const struct bench_value *bench_find_value(const struct bench_row *row, const char *name)
{
	for (size_t i = 0; i < row->nvalues; i++)
		if (!strcmp(row->value[i].name, name))
			return &row->value[i];
	return NULL;
}

char *bench_metric_name(char *buf, size_t size, const char *load, const struct bench_row *row,
			const struct bench_value *v)
{
	snprintf(buf, size, "%s.%s", load, row->name);
	for (size_t i = 0; i < row->nparams; i++)
		if (row->param[i].key)
			text_append(buf, size, ".%s=%s", row->param[i].name, row->param[i].text);
	text_append(buf, size, ".%s", v->name);
	return buf;
}
