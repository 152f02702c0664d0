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

/* Flavours (or subsystems) that the plan or the stream has of this measure. */
static bool has_several_flavours(const struct model *m, unsigned int source, unsigned int measure)
{
	uint32_t seen = 0;
	size_t i;

	for (i = 0; i < m->nplan; i++)
		if (m->plan[i].source == source && m->plan[i].measure == measure)
			seen |= 1u << m->plan[i].flavour;
	for (i = 0; i < m->ngroups; i++)
		if (m->groups[i].source == source && m->groups[i].measure == measure)
			seen |= 1u << m->groups[i].flavour;
	return seen & (seen - 1);
}

_Static_assert(KD_FL_COUNT <= 32, "each flavour has a bit");

char *view_name(char *buf, size_t size, const struct model *m, unsigned int source,
		unsigned int measure, unsigned int flavour)
{
	const char *fl = has_several_flavours(m, source, measure) ? flavour_name(flavour) : NULL;
	const struct measure_info *info = measure_info(measure);

	snprintf(buf, size, "%s.%s%s%s%s", source_name(source), info ? info->name : "?",
		 fl ? " (" : "", fl ? fl : "", fl ? ")" : "");
	return buf;
}

const char *view_bound(const struct metric *x)
{
	if (!x->bound)
		return "";
	return x->bound & KD_SERIES_UPPER ? " (upper bound)" : " (lower bound)";
}

static void put_value(char *buf, size_t size, const struct keys *k, enum key_name key)
{
	const struct key_value *v = &k->v[key];

	switch (key_info(key)->type) {
	case KEY_NUMBER:
		snprintf(buf, size, "%" PRIu64, v->number);
		break;
	case KEY_BOOL:
		snprintf(buf, size, "%s%s", v->number ? "" : "not ", key_text(key));
		break;
	default:
		fmt_safe(buf, size, v->text);
	}
}

/* Notes in brackets behind a value; numbers say what they are. */
static void add_notes(char *buf, size_t size, const struct keys *k, enum key_name key)
{
	bool unnamed = key_is_unnamed(&k->v[key]);
	unsigned int with = key_info(key)->with & k->has, n = 0;
	char note[VIEW_FUNC];
	const char *name;
	enum key_name b;

	for (; with; with &= with - 1) {
		b = (enum key_name)__builtin_ctz(with);
		/* A thread that is called as its process is no news. */
		if ((!key_info(b)->noted && !unnamed) ||
		    (k->v[b].text && k->v[key].text && !strcmp(k->v[b].text, k->v[key].text)))
			continue;
		put_value(note, sizeof(note), k, b);
		name = key_info(b)->type == KEY_NUMBER ? key_text(b) : "";
		text_append(buf, size, "%s%s%s%s", n++ ? ", " : " (", name, *name ? " " : "", note);
	}
	if (n)
		text_append(buf, size, ")");
}

char *view_key(char *buf, size_t size, const struct keys *k, enum key_name key)
{
	char whole[600];

	if (!key_has(k, key)) {
		snprintf(buf, size, "?");
		return buf;
	}
	if (key_info(key)->type == KEY_SYMBOL) {
		snprintf(whole, sizeof(whole), key_has(k, KEY_MODULE) ? "%s [%s]" : "%s",
			 k->v[key].text, k->v[KEY_MODULE].text);
		return fmt_safe(buf, size, whole);
	}
	put_value(buf, size, k, key);
	add_notes(buf, size, k, key);
	return buf;
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
	return x->by == KEY_NONE;
}

/* --- the table of keys --- */

enum column { KEY, GROUP, COUNT, RATE, P50, P99, MAX, SHARE, ADDRESS, COLUMNS };

static const struct table_column columns[COLUMNS] = {
	[KEY] = { "", false, 0 },
	[GROUP] = { "", false, 0 },
	[COUNT] = { "COUNT", true, 0 },
	[RATE] = { "RATE/S", true, 4 },
	[P50] = { "P50", true, 3 },
	[P99] = { "P99", true, 0 },
	[MAX] = { "MAX", true, 1 },
	[SHARE] = { "SHARE", true, 2 },
	[ADDRESS] = { "ADDRESS", false, 0 },
};

static bool has_group_column(const struct metric *x)
{
	enum key_name group = key_group(x->measure);

	return group != KEY_NONE && key_info(group)->column;
}

/* What of a row is shown: values only where there are some, addresses only when asked for. */
static bool has_column(const struct view_hist *v, const struct metric *x, enum column c)
{
	switch (c) {
	case GROUP:
		return has_group_column(x) && has_several_flavours(v->model, x->source, x->measure);
	case P50:
	case P99:
	case MAX:
		return !measure_info(x->measure)->count_only;
	case ADDRESS:
		return v->scope->raw_addresses && key_info(x->by)->type == KEY_SYMBOL;
	default:
		return true;
	}
}

static char *key_cell(char *buf, size_t size, const struct metric *x)
{
	char n[FMT_LEN];

	if (!key_has(&x->keys, KEY_OTHER))
		return view_key(buf, size, &x->keys, x->by);
	snprintf(buf, size, x->keys.others ? "other (%s more)" : "other",
		 fmt_count(n, sizeof(n), x->keys.others));
	return buf;
}

/* Where keys of several flavours stand in one table. */
static void add_flavour(char *buf, size_t size, const struct view_hist *v, const struct metric *x)
{
	if (x->keys.has & KEY_GROUPS && !has_group_column(x) &&
	    has_several_flavours(v->model, x->source, x->measure))
		text_append(buf, size, " (%s)", flavour_name(x->flavour));
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
		    t->bound == x->bound &&
		    (!(x->keys.has & KEY_GROUPS) || t->flavour == x->flavour))
			sum += hist_count(&t->hist);
	}
	return sum;
}

static int add_row(struct table *t, const struct view_hist *v, const struct metric *x)
{
	uint64_t ns = scope_length_ns(v->model, v->scope), n = hist_count(&x->hist);
	char key[VIEW_KEY], count[FMT_LEN], rate[FMT_LEN];
	char p50[FMT_LEN], p99[FMT_LEN], max[FMT_LEN], share[FMT_LEN], address[FMT_LEN];
	const char *group = x->keys.has & KEY_GROUPS ? flavour_name(x->flavour) : "";
	const char *const all[COLUMNS] = { key, group, count, rate, p50, p99, max, share, address };
	const char *cells[COLUMNS];
	size_t c, ncells = 0;

	key_cell(key, sizeof(key), x);
	add_flavour(key, sizeof(key), v, x);
	fmt_count(count, sizeof(count), n);
	fmt_rate(rate, sizeof(rate), ns ? (double)n * 1e9 / (double)ns : -1);
	quantile_cell(p50, sizeof(p50), x, 0.5);
	quantile_cell(p99, sizeof(p99), x, 0.99);
	view_value(max, sizeof(max), measure_info(x->measure)->unit, x->hist.max);
	share_cell(share, sizeof(share), n, whole_of(v, x));
	address_cell(address, sizeof(address), x);
	for (c = 0; c < COLUMNS; c++)
		if (has_column(v, x, (enum column)c))
			cells[ncells++] = all[c];
	return table_add(t, cells);
}

static void put_title(char *title, size_t size, enum key_name key)
{
	size_t i;

	snprintf(title, size, "%s", key_text(key));
	for (i = 0; title[i]; i++)
		title[i] = (char)toupper((unsigned char)title[i]);
}

static bool in_table(const struct metric *x, const struct metric *first)
{
	return x->source == first->source && x->measure == first->measure && x->by == first->by &&
	       x->bound == first->bound;
}

/* One table: rows from *i on that share their breakdown, and the rest behind them. */
static int put_table(FILE *out, const struct view_hist *v, size_t *i)
{
	const struct metric *first = &v->metrics[*i];
	struct table_column heads[COLUMNS];
	size_t c, nheads = 0;
	char title[64], group[32];
	struct table t;
	int err = 0;

	for (c = 0; c < COLUMNS; c++)
		if (has_column(v, first, (enum column)c))
			heads[nheads++] = columns[c];
	put_title(title, sizeof(title), first->by);
	text_append(title, sizeof(title), "%s", view_bound(first));
	heads[KEY].title = title;
	put_title(group, sizeof(group), key_group(first->measure));
	if (has_column(v, first, GROUP))
		heads[GROUP].title = group;
	table_init(&t, heads, nheads);
	for (; !err && *i < v->n && in_table(&v->metrics[*i], first); ++*i)
		err = add_row(&t, v, &v->metrics[*i]);
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
			err = put_table(out, v, &i);
		else
			i++;
	}
	return err;
}
