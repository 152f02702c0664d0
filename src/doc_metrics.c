// SPDX-License-Identifier: GPL-2.0-only
/* doc_metrics.c - metrics as JSON: keys, exact numbers, buckets, the worst samples. */
#include <inttypes.h>

#include "catalog.h"
#include "doc_parts.h"

static bool has_key(const struct keys *k, enum key_name key)
{
	return k->has >> key & 1;
}

static void put_address(struct json *j, uint64_t address)
{
	char buf[24];

	snprintf(buf, sizeof(buf), "0x%016" PRIx64, address);
	json_kstr(j, "address", buf);
}

/* `of`: which breakdown the rest is the rest of, since there may be one of each. */
static void put_keys(struct json *j, const struct keys *k, enum key_name of, bool raw_addresses)
{
	bool pretty;

	json_key(j, "key");
	pretty = doc_flow_open(j, '{');
	if (has_key(k, KEY_FLAVOUR))
		json_kstr(j, key_text(KEY_FLAVOUR), k->flavour);
	if (has_key(k, KEY_LAZY))
		json_kbool(j, key_text(KEY_LAZY), k->lazy);
	if (has_key(k, KEY_FUNC))
		json_kstr(j, key_text(KEY_FUNC), k->func);
	if (has_key(k, KEY_CALLER))
		json_kstr(j, key_text(KEY_CALLER), k->caller);
	if (has_key(k, KEY_MODULE))
		json_kstr(j, key_text(KEY_MODULE), k->module);
	if ((has_key(k, KEY_FUNC) || has_key(k, KEY_CALLER)) && raw_addresses && k->address)
		put_address(j, k->address);
	if (has_key(k, KEY_CPU))
		json_ku64(j, key_text(KEY_CPU), k->cpu);
	if (has_key(k, KEY_OTHER)) {
		json_kbool(j, key_text(KEY_OTHER), true);
		json_kstr(j, "of", key_text(of));
	}
	doc_flow_close(j, pretty);
}

static void put_quantile(struct json *j, const char *key, const struct hist *h, double q)
{
	uint64_t v = 0;
	int err = hist_quantile(h, q, &v);

	doc_known(j, key, !err, v);
}

static void put_buckets(struct json *j, const struct hist *h)
{
	unsigned int i;
	bool pretty;

	json_key(j, "buckets");
	pretty = doc_flow_open(j, '[');
	for (i = 0; i < KD_HIST_BUCKETS; i++) {
		if (!h->bucket[i])
			continue;
		json_open(j, '[');
		json_u64(j, hist_low(i));
		json_u64(j, hist_high(i));
		json_u64(j, h->bucket[i]);
		json_close(j);
	}
	doc_flow_close(j, pretty);
}

/* With what the measure's series are told apart by, if by anything. */
static void put_worst(struct json *j, const struct model *m, const char *main_key,
		      const struct worst *w)
{
	const struct series *s = model_series(m, w->series);
	bool pretty = doc_flow_open(j, '{');

	doc_time(j, "time", model_realtime(m, w->mono_ns));
	json_ku64(j, "monotonic_ns", w->mono_ns);
	json_ku64(j, "value", w->value);
	json_ku64(j, "cpu", w->cpu);
	if (*main_key)
		json_kstr(j, main_key, s ? s->func : NULL);
	if (s && s->module)
		json_kstr(j, "module", s->module);
	doc_flow_close(j, pretty);
}

static void put_worst_list(struct json *j, const struct model *m, const char *main_key,
			   const struct worst_list *list)
{
	int i;

	json_kopen(j, "worst", '[');
	for (i = 0; i < list->n; i++)
		put_worst(j, m, main_key, &list->w[i]);
	json_close(j);
}

/* Followed only in part, or extremes given up: then tails and extremes are not the true ones. */
static bool is_exact(const struct model *m, const struct scope *sc, const struct metric *x)
{
	return scope_sampling(m) == 1 && !scope_lost(m, sc, x->source, KD_LOST_EXTREME);
}

static void put_metric(struct json *j, const struct model *m, const struct scope *sc,
		       const struct metric *x, enum key_name of)
{
	const struct measure_info *info = measure_info(x->measure);
	uint64_t count = hist_count(&x->hist);

	json_open(j, '{');
	doc_measure(j, x->source, x->measure);
	json_kstr(j, "unit", info ? unit_name(info->unit) : NULL);
	put_keys(j, &x->keys, of, sc->raw_addresses);
	if (has_key(&x->keys, KEY_OTHER) && x->keys.others)
		json_ku64(j, "folded", x->keys.others);
	json_ku64(j, "count", count);
	json_ku64(j, "sum", x->hist.sum);
	doc_known(j, "min", count && x->hist.min <= x->hist.max, x->hist.min);
	doc_known(j, "max", count && x->hist.min <= x->hist.max, x->hist.max);
	put_quantile(j, "p50", &x->hist, 0.5);
	put_quantile(j, "p90", &x->hist, 0.9);
	put_quantile(j, "p99", &x->hist, 0.99);
	put_quantile(j, "p999", &x->hist, 0.999);
	json_kbool(j, "exact", is_exact(m, sc, x));
	put_buckets(j, &x->hist);
	if (x->worst)
		put_worst_list(j, m, info ? info->main_key : "", x->worst);
	json_close(j);
}

/* Of which breakdown metrics[i] is the rest: that of the row before; alone, of the main key. */
static enum key_name rest_of(const struct metric *metrics, size_t i)
{
	const struct measure_info *info = measure_info(metrics[i].measure);
	enum key_name by = KEY_OTHER;

	if (i && metrics[i - 1].measure == metrics[i].measure)
		by = scope_breakdown(&metrics[i - 1]);
	if (by == KEY_FLAVOUR || by == KEY_OTHER)
		key_by_name(info ? info->main_key : "", &by);
	return by;
}

void doc_metrics(struct json *j, const struct model *m, const struct scope *sc,
		 const struct metric *metrics, size_t n)
{
	size_t i;

	json_kopen(j, "metrics", '[');
	for (i = 0; i < n; i++)
		if (scope_has_measure(sc, metrics[i].measure))
			put_metric(j, m, sc, &metrics[i], rest_of(metrics, i));
	json_close(j);
}
