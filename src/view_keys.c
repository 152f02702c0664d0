// SPDX-License-Identifier: GPL-2.0-only
/* view_keys.c - names and values as text views show them, and the table of the greatest keys. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "format.h"
#include "plan.h"
#include "text.h"
#include "view_parts.h"

/* --- names and values --- */

static bool has_several_flavours(const struct model *m, unsigned int source, unsigned int measure)
{
	size_t i, n = 0;

	for (i = 0; i < m->nplan; i++)
		n += m->plan[i].source == source && m->plan[i].measure == measure;
	return n > 1;
}

char *view_name(char *buf, size_t size, const struct model *m, unsigned int source,
		unsigned int measure, unsigned int flavour)
{
	const char *fl = has_several_flavours(m, source, measure) ? flavour_name(flavour) : NULL;
	const struct measure_info *info = measure_info(measure);

	snprintf(buf, size, "%s.%s%s%s%s", source_name(source), info ? info->name : "?",
		 fl ? " (" : "", fl ? fl : "", fl ? ")" : "");
	return buf;
}

static char *func_text(char *buf, size_t size, const char *func, const char *module)
{
	char whole[600];

	if (!func)
		func = "?";
	snprintf(whole, sizeof(whole), module ? "%s [%s]" : "%s", func, module);
	return fmt_safe(buf, size, whole);
}

char *view_series(char *buf, size_t size, const struct series *s)
{
	if (s && s->flags & KD_SERIES_OTHER)
		return func_text(buf, size, "other", NULL);
	return func_text(buf, size, s ? s->func : NULL, s ? s->module : NULL);
}

char *view_value(char *buf, size_t size, enum unit unit, uint64_t v)
{
	return unit == UNIT_NS ? fmt_ns(buf, size, v) : fmt_count(buf, size, v);
}

char *view_off(char *buf, size_t size, const struct model *m, const struct plan_row *row)
{
	char name[VIEW_NAME], reason[1024], fix[512];

	view_name(name, sizeof(name), m, row->source, row->measure, row->flavour);
	fmt_safe(reason, sizeof(reason), *row->reason ? row->reason : "no reason was recorded");
	fmt_safe(fix, sizeof(fix), row->fix);
	snprintf(buf, size, "%s: off: %s%s%s%s", name, reason, *fix ? " (" : "", fix,
		 *fix ? ")" : "");
	return buf;
}

bool view_is_total(const struct metric *x)
{
	return scope_breakdown(x) == KEY_FLAVOUR;
}

/* --- the table of keys --- */

static const struct table_column columns[] = {
	{ "", false, 0 },   { "COUNT", true, 0 }, { "RATE/S", true, 4 }, { "P50", true, 3 },
	{ "P99", true, 0 }, { "MAX", true, 1 },   { "SHARE", true, 2 },  { "ADDRESS", false, 0 },
};
#define COLUMNS (sizeof(columns) / sizeof(columns[0])) /* the last one only when asked for */

static char *key_cell(char *buf, size_t size, const struct metric *x)
{
	char n[FMT_LEN];

	switch (scope_breakdown(x)) {
	case KEY_OTHER:
		snprintf(buf, size, x->keys.others ? "other (%s more)" : "other",
			 fmt_count(n, sizeof(n), x->keys.others));
		break;
	case KEY_FUNC:
		func_text(buf, size, x->keys.func, x->keys.module);
		break;
	case KEY_CALLER:
		func_text(buf, size, x->keys.caller, x->keys.module);
		break;
	case KEY_CPU:
		snprintf(buf, size, "%u", x->keys.cpu);
		break;
	case KEY_LAZY:
		snprintf(buf, size, x->keys.lazy ? "lazy" : "not lazy");
		break;
	default:
		fmt_safe(buf, size, x->keys.module ? x->keys.module : "?");
	}
	return buf;
}

/* Where keys of several flavours stand in one table. */
static void add_flavour(char *buf, size_t size, const struct view_hist *v, const struct metric *x)
{
	if (x->keys.flavour && has_several_flavours(v->model, x->source, x->measure))
		snprintf(buf + strlen(buf), size - strlen(buf), " (%s)", x->keys.flavour);
}

/* "" where there is none, or several functions of one name are one row. */
static char *address_cell(char *buf, size_t size, const struct metric *x)
{
	*buf = '\0';
	if (x->keys.address)
		snprintf(buf, size, "0x%016" PRIx64, x->keys.address);
	return buf;
}

static char *quantile_cell(char *buf, size_t size, const struct metric *x, double q)
{
	uint64_t value;

	if (hist_quantile(&x->hist, q, &value))
		snprintf(buf, size, "-");
	else
		view_value(buf, size, measure_info(x->measure)->unit, value);
	return buf;
}

static char *share_cell(char *buf, size_t size, uint64_t n, uint64_t total)
{
	double share = total ? 100.0 * (double)n / (double)total : 0;

	if (n && share < 0.1)
		snprintf(buf, size, "<0.1%%");
	else
		snprintf(buf, size, "%.1f%%", share);
	return buf;
}

/* What a row is a share of: the events of its flavour, or of all where it stands for several. */
static uint64_t whole_of(const struct view_hist *v, const struct metric *x)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < v->n; i++) {
		const struct metric *t = &v->metrics[i];

		if (view_is_total(t) && t->source == x->source && t->measure == x->measure &&
		    (!x->keys.flavour || t->flavour == x->flavour))
			sum += hist_count(&t->hist);
	}
	return sum;
}

static int add_row(struct table *t, const struct view_hist *v, const struct metric *x)
{
	uint64_t ns = scope_length_ns(v->model, v->scope), n = hist_count(&x->hist);
	char key[VIEW_FUNC], count[FMT_LEN], rate[FMT_LEN];
	char p50[FMT_LEN], p99[FMT_LEN], max[FMT_LEN], share[FMT_LEN], address[FMT_LEN];
	const char *const cells[COLUMNS] = { key, count, rate, p50, p99, max, share, address };

	key_cell(key, sizeof(key), x);
	add_flavour(key, sizeof(key), v, x);
	fmt_count(count, sizeof(count), n);
	fmt_rate(rate, sizeof(rate), ns ? (double)n * 1e9 / (double)ns : -1);
	quantile_cell(p50, sizeof(p50), x, 0.5);
	quantile_cell(p99, sizeof(p99), x, 0.99);
	view_value(max, sizeof(max), measure_info(x->measure)->unit, x->hist.max);
	share_cell(share, sizeof(share), n, whole_of(v, x));
	address_cell(address, sizeof(address), x);
	return table_add(t, cells);
}

static void put_title(char *title, size_t size, enum key_name key)
{
	size_t i;

	snprintf(title, size, "%s", key_text(key));
	for (i = 0; title[i]; i++)
		title[i] = (char)toupper((unsigned char)title[i]);
}

static bool has_address(enum key_name by)
{
	return by == KEY_FUNC || by == KEY_CALLER;
}

static bool in_table(const struct metric *x, const struct metric *total, enum key_name by)
{
	if (x->source != total->source || x->measure != total->measure || by == KEY_COUNT)
		return false;
	return scope_breakdown(x) == by || scope_breakdown(x) == KEY_OTHER;
}

/* One table: rows from *i on that share their breakdown, and the rest behind them. */
static int put_table(FILE *out, const struct view_hist *v, size_t *i, const struct metric *total)
{
	enum key_name by = scope_breakdown(&v->metrics[*i]);
	struct table_column heads[COLUMNS];
	char title[32];
	struct table t;
	int err = 0;

	memcpy(heads, columns, sizeof(heads));
	if (by == KEY_OTHER && key_by_name(measure_info(total->measure)->main_key, &by))
		by = KEY_OTHER; /* nothing but the rest */
	put_title(title, sizeof(title), by);
	heads[0].title = title;
	table_init(&t, heads, v->scope->raw_addresses && has_address(by) ? COLUMNS : COLUMNS - 1);
	for (; !err && *i < v->n; ++*i) {
		if (!in_table(&v->metrics[*i], total, by))
			break;
		err = add_row(&t, v, &v->metrics[*i]);
		if (scope_breakdown(&v->metrics[*i]) == KEY_OTHER)
			by = KEY_COUNT; /* comes last: nothing more belongs here */
	}
	if (!err) {
		fputc('\n', out);
		table_print(&t, out, v->width);
	}
	table_free(&t);
	return err;
}

int view_keys(FILE *out, const struct view_hist *v, const struct metric *total)
{
	size_t i = 0;
	int err = 0;

	while (i < v->n && !err) {
		const struct metric *x = &v->metrics[i];

		if (x->source == total->source && x->measure == total->measure && !view_is_total(x))
			err = put_table(out, v, &i, total);
		else
			i++;
	}
	return err;
}
