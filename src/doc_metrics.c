// SPDX-License-Identifier: GPL-2.0-only
/* doc_metrics.c - metrics as JSON: keys, exact numbers, buckets, the worst samples. */
#include <inttypes.h>

#include "catalog.h"
#include "doc_parts.h"

static void put_address(struct json *j, uint64_t address)
{
	char buf[24];

	snprintf(buf, sizeof(buf), "0x%016" PRIx64, address);
	json_kstr(j, "address", buf);
}

static void put_key(struct json *j, enum key_name key, const struct key_value *v)
{
	switch (key_info(key)->type) {
	case KEY_TEXT:
		json_kstr(j, key_text(key), key_is_unnamed(v) ? NULL : v->text);
		break;
	case KEY_SYMBOL:
		json_kstr(j, key_text(key), v->text);
		break;
	case KEY_NUMBER:
		json_ku64(j, key_text(key), v->number);
		break;
	case KEY_BOOL:
		json_kbool(j, key_text(key), v->number);
	}
}

void doc_keys(struct json *j, const struct keys *k, enum key_name by, bool raw_addresses)
{
	unsigned int i;
	bool pretty;

	json_key(j, "key");
	pretty = doc_flow_open(j, '{');
	for (i = 0; i < KEY_OTHER; i++)
		if (key_has(k, (enum key_name)i))
			put_key(j, (enum key_name)i, &k->v[i]);
	if (raw_addresses && k->address)
		put_address(j, k->address);
	if (key_has(k, KEY_OTHER)) {
		json_kbool(j, key_text(KEY_OTHER), true);
		json_kstr(j, "of", key_text(by)); /* there may be one of each breakdown */
	}
	doc_flow_close(j, pretty);
}

static void put_quantile(struct json *j, const char *key, const struct hist *h, double q)
{
	uint64_t v = 0;
	int err = hist_quantile(h, q, &v);

	doc_known(j, key, !err, v);
}

void doc_buckets(struct json *j, const struct hist *h)
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

/* What the series of a sample is told apart by, null where nobody knows. */
static void put_whose(struct json *j, const struct measure_info *info, const struct series *s)
{
	unsigned int main = key_main(info->by), i, shown;
	struct keys k = { 0 };

	for (i = 0; i < KEY_OTHER; i++)
		if (s && main >> i & 1)
			key_set(&k, s, (enum key_name)i);
	shown = k.has | main;
	for (i = 0; i < KEY_OTHER; i++) {
		if (!(shown >> i & 1))
			continue;
		if (!(k.has >> i & 1) || key_is_unnamed(&k.v[i]))
			json_knull(j, key_text((enum key_name)i));
		else
			put_key(j, (enum key_name)i, &k.v[i]);
	}
}

/* The task that did it, and the functions on its stack as far as they are known. */
static void put_task(struct json *j, const struct worst *w)
{
	json_kopen(j, "task", '{');
	json_ku64(j, "pid", w->pid);
	json_ku64(j, "tgid", w->tgid);
	json_kstr(j, "comm", w->comm);
	json_ku64(j, "cgroup_id", w->cgroup_id);
	json_kstr(j, "stack", *w->stack ? w->stack : NULL);
	json_close(j);
}

static void put_worst(struct json *j, const struct model *m, const struct measure_info *info,
		      const struct worst *w)
{
	bool pretty = doc_flow_open(j, '{');

	doc_time(j, "time", model_realtime(m, w->mono_ns));
	json_ku64(j, "monotonic_ns", w->mono_ns);
	json_ku64(j, "value", w->value);
	json_ku64(j, "cpu", w->cpu);
	put_whose(j, info, model_series(m, w->series));
	if (w->pid)
		put_task(j, w);
	doc_flow_close(j, pretty);
}

static void put_worst_list(struct json *j, const struct model *m, const struct measure_info *info,
			   const struct worst_list *list)
{
	int i;

	json_kopen(j, "worst", '[');
	for (i = 0; i < list->n; i++)
		put_worst(j, m, info, &list->w[i]);
	json_close(j);
}

/* Followed only in part, or extremes given up: then tails and extremes are not the true ones. */
static bool is_exact(const struct model *m, const struct scope *sc, const struct metric *x)
{
	return !scope_is_sampled(m, sc, x->measure, x->flavour) &&
	       !scope_lost(m, sc, x->source, KD_LOST_EXTREME) && !x->bound;
}

/* Of what is only counted, values mean nothing. */
static void put_values(struct json *j, const struct hist *h, bool known)
{
	static const struct hist none = { .min = UINT64_MAX };
	bool any = known && hist_count(h) && h->min <= h->max;

	if (!known)
		h = &none;
	doc_known(j, "sum", known, h->sum);
	doc_known(j, "min", any, h->min);
	doc_known(j, "max", any, h->max);
	put_quantile(j, "p50", h, 0.5);
	put_quantile(j, "p90", h, 0.9);
	put_quantile(j, "p99", h, 0.99);
	put_quantile(j, "p999", h, 0.999);
}

static void put_metric(struct json *j, const struct model *m, const struct scope *sc,
		       const struct metric *x)
{
	const struct measure_info *info = measure_info(x->measure);
	static const struct hist none;

	json_open(j, '{');
	doc_measure(j, x->source, x->measure);
	json_kstr(j, "unit", unit_name(info->unit));
	doc_keys(j, &x->keys, x->by, sc->raw_addresses);
	if (key_has(&x->keys, KEY_OTHER) && x->keys.others)
		json_ku64(j, "folded", x->keys.others);
	json_ku64(j, "count", hist_count(&x->hist));
	put_values(j, &x->hist, !info->count_only);
	json_kbool(j, "exact", is_exact(m, sc, x));
	if (x->bound)
		json_kstr(j, "bound", x->bound & KD_SERIES_UPPER ? "upper" : "lower");
	doc_buckets(j, info->count_only ? &none : &x->hist);
	if (x->worst)
		put_worst_list(j, m, info, x->worst);
	json_close(j);
}

void doc_metrics(struct json *j, const struct model *m, const struct scope *sc,
		 const struct metric *metrics, size_t n)
{
	size_t i;

	json_kopen(j, "metrics", '[');
	for (i = 0; i < n; i++)
		if (scope_has_measure(sc, metrics[i].measure) &&
		    !measure_info(metrics[i].measure)->pending)
			put_metric(j, m, sc, &metrics[i]);
	json_close(j);
}
