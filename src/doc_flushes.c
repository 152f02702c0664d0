// SPDX-License-Identifier: GPL-2.0-only
/* doc_flushes.c - flushes of cgroup statistics as JSON: whose others wait for, what takes their time. */
#include <errno.h>

#include "catalog.h"
#include "doc_parts.h"
#include "flushes.h"

/* --- blame --- */

/* What is the same in all rows, the sum over subsystems, is no key of these. */
static void put_keys(struct json *j, const struct flush_row *row, enum key_name by)
{
	struct keys k = { .has = KEY_BIT(KEY_OTHER) };

	if (row->keys)
		k = *row->keys;
	k.has &= ~KEY_GROUPS;
	doc_keys(j, &k, by, false);
}

static void put_blame(struct json *j, const struct flush_row *row, enum key_name by)
{
	bool pretty = doc_flow_open(j, '{');

	put_keys(j, row, by);
	doc_known(j, "flushes", row->flushes, row->flushes);
	doc_known(j, "flush_ns", row->flushes, row->flush_ns);
	doc_known(j, "hold_ns", row->hold_ns, row->hold_ns);
	json_ku64(j, "behind_ns", row->behind_ns);
	if (row->bound)
		json_kstr(j, "bound", "upper");
	doc_flow_close(j, pretty);
}

static void put_gain(struct json *j, const struct flush_rows *all)
{
	const struct flush_row *row = all->row;
	double share;

	if (!flush_gain(all, &share))
		return;
	json_kopen(j, "gain", '{');
	put_keys(j, row, all->by);
	json_kdouble(j, "share", share);
	json_ku64(j, "behind_ns", row->behind_ns);
	json_ku64(j, "waited_ns", all->waited_ns);
	json_close(j);
}

static void put_blames(struct json *j, const char *name, const struct flush_rows *all)
{
	json_kopen(j, name, '[');
	for (size_t i = 0; i < all->n && all->row[i].behind_ns; i++)
		put_blame(j, &all->row[i], all->by);
	json_close(j);
}

/* --- split --- */

static void put_by_8(struct json *j, const struct flush_row *row)
{
	const struct hist *hold = row->hold, *then = row->hold_by_8;
	double shorter;

	if (!hold || !then || !hist_count(then)) {
		json_knull(j, "by_8");
		return;
	}
	json_kopen(j, "by_8", '{');
	json_ku64(j, "hold_max_ns", then->max);
	json_ku64(j, "hold_max_now_ns", hold->max);
	json_ku64(j, "flushes", row->by_8);
	json_ku64(j, "flush_ns", row->by_8_ns);
	if (flush_by_8(row, &shorter))
		json_kdouble(j, "shorter_at_most", shorter);
	else
		json_knull(j, "shorter_at_most");
	json_close(j);
}

static void put_split(struct json *j, const struct model *m, const struct scope *sc,
		      const struct flush_row *row)
{
	const char *subsystem = flavour_name(row->subsystem);
	struct flush_split s;
	bool pretty;

	flush_split(&s, m, sc, row);
	pretty = doc_flow_open(j, '{');
	json_kopen(j, "key", '{');
	if (subsystem)
		json_kstr(j, "subsystem", subsystem);
	json_close(j);
	if (row->lower)
		json_kstr(j, "bound", "lower");
	json_ku64(j, "flushes", row->flushes);
	json_ku64(j, "flush_ns", row->flush_ns);
	json_ku64(j, "wait_ns", s.wait_ns);
	doc_known(j, "held_ns", s.knows_held, s.held_ns);
	doc_known(j, "irqs_ns", s.knows_irqs, s.irqs_ns);
	doc_known(j, "off_cpu_ns", s.knows_off_cpu, s.off_cpu_ns);
	json_ku64(j, "rest_ns", s.rest_ns);
	put_by_8(j, row);
	doc_flow_close(j, pretty);
}

/* --- put together --- */

static int doc_blame(struct json *j, const struct model *m, const struct scope *sc,
		     const struct filter *filters, size_t nfilters)
{
	struct flush_rows cgroups, flushers = { .n = 0 };
	int err = flush_rows_collect(&cgroups, m, sc, filters, nfilters, KEY_CGROUP);

	if (!err)
		err = flush_rows_collect(&flushers, m, sc, filters, nfilters, KEY_FLUSHER);
	if (!err) {
		json_kopen(j, "blame", '{');
		put_blames(j, "cgroups", &cgroups);
		put_blames(j, "flushers", &flushers);
		if (!nfilters) /* of a part of those who wait nothing follows for all */
			put_gain(j, &flushers);
		json_close(j);
	}
	flush_rows_free(&cgroups);
	flush_rows_free(&flushers);
	return err;
}

static int doc_split(struct json *j, const struct model *m, const struct scope *sc,
		     const struct filter *filters, size_t nfilters)
{
	struct flush_rows all;
	int err = flush_rows_collect(&all, m, sc, filters, nfilters, KEY_NONE);

	if (!err) {
		json_kopen(j, "split", '[');
		for (size_t i = 0; i < all.n; i++)
			if (all.row[i].flushes)
				put_split(j, m, sc, &all.row[i]);
		json_close(j);
	}
	flush_rows_free(&all);
	return err;
}

int doc_flushes(struct json *j, const struct model *m, const struct scope *sc,
		const struct filter *filters, size_t nfilters)
{
	int err = 0;

	if (flush_is_blamed(m, sc))
		err = doc_blame(j, m, sc, filters, nfilters);
	if (!err && flush_is_split(m, sc))
		err = doc_split(j, m, sc, filters, nfilters);
	return err;
}
