// SPDX-License-Identifier: GPL-2.0-only
/* doc.c - the model as JSON, section by section. Names and units are a contract: cli.md. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "catalog.h"
#include "doc_parts.h"
#include "format.h"
#include "own_cost.h"
#include "plan.h"

#ifndef KDEFER_VERSION
#define KDEFER_VERSION "unknown"
#endif

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))
#define CONFIG_PREFIX "config."

/* --- small helpers of the writer --- */

bool doc_flow_open(struct json *j, char bracket)
{
	bool pretty = j->pretty;

	json_open(j, bracket);
	j->pretty = false;
	return pretty;
}

void doc_flow_close(struct json *j, bool pretty)
{
	json_close(j);
	j->pretty = pretty;
}

void doc_time(struct json *j, const char *key, uint64_t realtime_ns)
{
	char buf[FMT_LEN];

	json_kstr(j, key, realtime_ns ? fmt_rfc3339(buf, sizeof(buf), realtime_ns) : NULL);
}

void doc_known(struct json *j, const char *key, bool known, uint64_t v)
{
	if (known)
		json_ku64(j, key, v);
	else
		json_knull(j, key);
}

static const char *or_null(const char *s)
{
	return *s ? s : NULL;
}

/* --- host --- */

static const struct {
	const char *name;
	bool number;
} host_facts[] = {
	{ "hostname", false },   { "boot_id", false },
	{ "kernel", false },     { "kernel_version", false },
	{ "build_id", false },   { "cmdline", false },
	{ "machine", false },    { "cpu_model", false },
	{ "cpus_online", true }, { "cpus_possible", true },
	{ "numa_nodes", true },  { "hypervisor", false },
	{ "hz", true },          { "first_fqs_jiffies", true },
	{ "preempt", false },    { "preempt_from", false },
	{ "taint", true },
};

/* A fact that is there, but is no number, is as good as none. */
static void put_number_fact(struct json *j, const struct model *m, const char *name)
{
	uint64_t v = model_fact_u64(m, name, 0);

	doc_known(j, name, v == model_fact_u64(m, name, 1), v);
}

static void put_config(struct json *j, const struct model *m)
{
	size_t i, len = strlen(CONFIG_PREFIX);

	json_kopen(j, "config", '{');
	for (i = 0; i < m->nfacts; i++)
		if (!strncmp(m->facts[i].name, CONFIG_PREFIX, len))
			json_kstr(j, m->facts[i].name + len, m->facts[i].value);
	json_close(j);
}

void doc_host(struct json *j, const struct model *m)
{
	size_t i;

	json_kopen(j, "host", '{');
	for (i = 0; i < ROWS(host_facts); i++) {
		if (host_facts[i].number)
			put_number_fact(j, m, host_facts[i].name);
		else
			json_kstr(j, host_facts[i].name, model_fact(m, host_facts[i].name));
	}
	put_config(j, m);
	json_close(j);
}

/* --- clock --- */

/* The clocks were read together once; what they show at another time follows from the distance. */
static void put_clock_at(struct json *j, const struct model *m, const char *name, uint64_t mono_ns)
{
	uint64_t then = model_fact_u64(m, name, 0), mono = model_fact_u64(m, "monotonic_ns", 0);

	doc_known(j, name, then && mono, then + (mono_ns - mono));
}

void doc_clock(struct json *j, const struct model *m, const struct scope *sc)
{
	uint64_t at = scope_begin_ns(m, sc), real = model_realtime(m, at);

	json_kopen(j, "clock", '{');
	if (m->started && real) {
		doc_time(j, "start", real);
		doc_known(j, "realtime_ns", true, real);
		doc_known(j, "monotonic_ns", true, at);
		put_clock_at(j, m, "boottime_ns", at);
	} else {
		json_kstr(j, "start", model_fact(m, "start"));
		put_number_fact(j, m, "realtime_ns");
		put_number_fact(j, m, "monotonic_ns");
		put_number_fact(j, m, "boottime_ns");
	}
	json_close(j);
	json_ku64(j, "duration_ns", scope_length_ns(m, sc));
}

/* --- plan --- */

static void put_words(struct json *j, const char *key, const char *words)
{
	char word[256];
	bool pretty;
	size_t len;

	json_key(j, key);
	pretty = doc_flow_open(j, '[');
	for (words += strspn(words, " "); *words; words += strspn(words, " ")) {
		len = strcspn(words, " ");
		snprintf(word, sizeof(word), "%.*s", (int)len, words);
		json_str(j, word);
		words += len;
	}
	doc_flow_close(j, pretty);
}

void doc_measure(struct json *j, unsigned int source, unsigned int measure)
{
	const struct measure_info *info = measure_info(measure);

	json_kstr(j, "source", source_name(source));
	json_kstr(j, "measure", info ? info->name : NULL);
}

static void put_plan_row(struct json *j, const struct plan_row *row)
{
	const char *flavour = flavour_name(row->flavour);
	enum key_name group = key_group(row->measure);

	json_open(j, '{');
	doc_measure(j, row->source, row->measure);
	if (flavour && group != KEY_NONE)
		json_kstr(j, key_text(group), flavour);
	json_kstr(j, "backend", *row->backend ? row->backend : "none");
	put_words(j, "hooks", row->hooks);
	json_kstr(j, "state", plan_state_name(row->state));
	json_kstr(j, "reason", or_null(row->reason));
	json_kstr(j, "fix", or_null(row->fix));
	json_ku64(j, "meaning", row->meaning);
	json_close(j);
}

void doc_plan(struct json *j, const struct model *m, const struct scope *sc)
{
	size_t i;

	json_kopen(j, "plan", '[');
	for (i = 0; i < m->nplan; i++)
		if (scope_has(sc, m->plan[i].measure, m->plan[i].flavour))
			put_plan_row(j, &m->plan[i]);
	json_close(j);
}

/* --- what is missing, what was counted --- */

void doc_lost(struct json *j, const struct model *m, const struct scope *sc)
{
	unsigned int source, what;

	json_kopen(j, "lost", '{');
	for (source = 0; source < KD_SRC_COUNT; source++) {
		if (!m->source[source].seen || !scope_has_source(sc, source))
			continue;
		json_kopen(j, source_name(source), '{');
		for (what = 0; what < KD_LOST_COUNT; what++)
			if (scope_may_lose(sc, source, what))
				json_ku64(j, lost_name(what), scope_lost(m, sc, source, what));
		json_close(j);
	}
	if (m->refused) { /* of no source: what it would have belonged to was not taken in */
		json_kopen(j, "stream", '{');
		json_ku64(j, "refused", m->refused);
		json_close(j);
	}
	json_close(j);
}

/* Where objects came from; absent from captures of versions that did not count them. */
static void put_objects(struct json *j, const struct model *m, const struct scope *sc)
{
	const uint64_t *total = m->source[KD_SRC_MEMALLOC].ctotal;

	if (!total[KD_CNT_FROM_SLAB] && !total[KD_CNT_RECYCLED] && !total[KD_CNT_FROM_EITHER] &&
	    !total[KD_CNT_DRAINED])
		return;
	for (unsigned int what = KD_CNT_FROM_SLAB; what <= KD_CNT_DRAINED; what++)
		json_ku64(j, count_name(what), scope_count(m, sc, KD_SRC_MEMALLOC, what));
}

void doc_counts(struct json *j, const struct model *m, const struct scope *sc)
{
	unsigned int source, what;

	json_kopen(j, "counts", '{');
	for (source = 0; source < KD_SRC_COUNT; source++) {
		if (!m->source[source].seen || !scope_has_source(sc, source))
			continue;
		json_kopen(j, source_name(source), '{');
		for (what = 0; what < KD_CNT_COUNT; what++)
			/* What left lists is in their rates, what our programs took in "self". */
			if (what != KD_CNT_LEFT && what < KD_CNT_RUNS)
				json_ku64(j, count_name(what), scope_count(m, sc, source, what));
		if (source == KD_SRC_MEMALLOC)
			put_objects(j, m, sc);
		json_close(j);
	}
	json_close(j);
}

/* --- the tool itself, and what happened meanwhile --- */

static uint64_t since(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

/* Of time measured, what our own programs took within it. */
static void put_shares(struct json *j, const struct model *m, const struct scope *sc)
{
	const struct measure_info *info;
	bool any = false;
	char name[64];
	double share;

	for (unsigned int i = 0; (info = measure_info(i)); i++) {
		share = own_cost_share(m, sc, i);
		if (isnan(share) || !scope_has_measure(sc, i))
			continue;
		if (!any)
			json_kopen(j, "share_of_measure", '{');
		any = true;
		snprintf(name, sizeof(name), "%s.%s", source_name(info->source), info->name);
		if (own_cost_is_possible(share))
			json_kdouble(j, name, share);
		else
			json_knull(j, name);
	}
	if (any)
		json_close(j);
}

/* Lists that were walked in full and held against the kernel's own count: how often that was done. */
static void put_checks(struct json *j, const struct model *m)
{
	const uint64_t *total = m->source[KD_SRC_MEMALLOC].ctotal;

	if (total[KD_CNT_CHECKED] || total[KD_CNT_UNCHECKED]) {
		json_ku64(j, "lists_checked", total[KD_CNT_CHECKED]);
		json_ku64(j, "lists_unchecked", total[KD_CNT_UNCHECKED]);
	}
	if (!total[KD_CNT_READ_RUNS])
		return; /* a capture of a version that did not count it */
	json_ku64(j, "lists_runs", total[KD_CNT_READ_RUNS]);
	json_ku64(j, "lists_run_ns", total[KD_CNT_READ_NS]);
	json_ku64(j, "lists_longest_run_ns", total[KD_CNT_LONGEST_NS]);
	json_ku64(j, "lists_read_bytes", total[KD_CNT_READ_BYTES]);
}

void doc_self(struct json *j, const struct model *m, const struct scope *sc,
	      const struct kd_rec_self *before)
{
	static const struct kd_rec_self nothing;
	const struct kd_rec_self *self = &m->self, *then = before ? before : &nothing;
	bool known = self->sample; /* every such record has it */
	char sampling[FMT_LEN];

	snprintf(sampling, sizeof(sampling), "1/%" PRIu64, scope_sampling(m, sc));
	json_kopen(j, "self", '{');
	doc_known(j, "events", known && self->events, since(self->events, then->events));
	doc_known(j, "run_ns", self->run_ns, since(self->run_ns, then->run_ns));
	if (model_fact(m, OWN_COST_UNKNOWN))
		json_kstr(j, "run_ns_lacks", model_fact(m, OWN_COST_UNKNOWN));
	put_shares(j, m, sc);
	json_kstr(j, "sampling", sampling);
	if (model_fact(m, SAMPLING_BY_BUDGET))
		json_kstr(j, "sampling_by_budget", model_fact(m, SAMPLING_BY_BUDGET));
	doc_known(j, "cpu_ns", known, since(self->cpu_ns, then->cpu_ns));
	doc_known(j, "rss_bytes", known, self->rss_bytes);
	doc_known(j, "kernel_bytes", known, self->kernel_bytes);
	doc_known(j, "attach_ns", known, self->attach_ns);
	doc_known(j, "settle_ns", model_fact(m, SESSION_SETTLE_NS),
		  model_fact_u64(m, SESSION_SETTLE_NS, 0));
	doc_known(j, "detach_ns", self->detach_ns, self->detach_ns);
	doc_known(j, "grace_periods", known, self->grace_periods);
	put_checks(j, m);
	json_close(j);
}

void doc_events(struct json *j, const struct model *m, const struct scope *sc)
{
	const struct event *e;
	size_t i;

	json_kopen(j, "events", '[');
	for (i = 0; i < m->nevents; i++) {
		e = &m->events[i];
		if (!scope_has_event(m, sc, e))
			continue;
		json_open(j, '{');
		doc_time(j, "time", e->realtime_ns);
		json_kstr(j, "what", e->what);
		json_kstr(j, "detail", or_null(e->detail));
		json_close(j);
	}
	json_close(j);
}

void doc_open(struct json *j, const char *command)
{
	json_open(j, '{');
	json_kstr(j, "schema", DOC_SCHEMA);
	json_kstr(j, "command", command);
	json_kstr(j, "kdefer", KDEFER_VERSION);
}

void doc_error(struct json *j, const char *error)
{
	json_kstr(j, "error", error);
}
