// SPDX-License-Identifier: GPL-2.0-only
/* doc_lists.c - pending lists as JSON: lengths, what they hold back, grace periods. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "catalog.h"
#include "doc_parts.h"

/* --- pending --- */

static void put_number(struct json *j, enum backlog_key key, bool known, uint64_t v)
{
	if (known)
		json_ku64(j, backlog_key_text(key), v);
}

static void put_text(struct json *j, enum backlog_key key, const char *text)
{
	if (text)
		json_kstr(j, backlog_key_text(key), text);
}

static void put_key(struct json *j, const struct model *m, const struct backlog_row *r,
		    bool raw_addresses)
{
	bool subsystem = r->source == KD_SRC_RSTAT, pretty;
	char address[24];
	uint32_t id;
	bool map = backlog_map_id(r, &id);

	json_key(j, "key");
	pretty = doc_flow_open(j, '{');
	put_text(j, subsystem ? BACKLOG_SUBSYSTEM : BACKLOG_FLAVOUR, flavour_name(r->flavour));
	put_text(j, BACKLOG_DOMAIN, backlog_domain(m, r));
	put_number(j, BACKLOG_MAP_ID, map, id);
	put_text(j, BACKLOG_MAP_NAME, backlog_map_name(m, r));
	put_text(j, BACKLOG_ALLOCATOR, backlog_allocator(m, r));
	put_number(j, BACKLOG_UNIT_SIZE, r->unit_size, r->unit_size);
	put_number(j, BACKLOG_CPU, r->cpu != KD_CPU_NONE, r->cpu);
	if (r->source == KD_SRC_CALL_RCU && r->key && raw_addresses) {
		snprintf(address, sizeof(address), "0x%016" PRIx64, r->key);
		json_kstr(j, "address", address);
	}
	if (r->other)
		json_kbool(j, "other", true);
	doc_flow_close(j, pretty);
	if (r->other)
		json_ku64(j, "folded", r->folded);
}

/* "123 bpftool" or "pin /sys/fs/bpf/x" */
static void put_holder(struct json *j, const char *holder)
{
	unsigned long long pid = 0;
	int after = 0;
	bool pretty = doc_flow_open(j, '{');

	if (!strncmp(holder, "pin ", 4)) {
		json_kstr(j, "pin", holder + 4);
	} else if (sscanf(holder, "%llu %n", &pid, &after) == 1 && after) {
		json_ku64(j, "pid", pid);
		json_kstr(j, "comm", holder + after);
	} else {
		json_kstr(j, "comm", holder);
	}
	doc_flow_close(j, pretty);
}

static void put_holders(struct json *j, const struct model *m, const struct backlog_row *r)
{
	if (!*backlog_holder(m, r, 0))
		return;
	json_kopen(j, "holders", '[');
	for (int i = 0; *backlog_holder(m, r, i); i++)
		put_holder(j, backlog_holder(m, r, i));
	json_close(j);
}

static bool is_sized(const struct backlog_row *r)
{
	return !r->length || r->unsized < r->length;
}

static void put_run(struct json *j, const struct model *m, const struct scope *sc,
		    const struct backlog_row *r)
{
	if (sc->interval || m->ticks < 2 || r->peak == KD_UNKNOWN || r->mean < 0)
		return;
	json_ku64(j, "peak", r->peak);
	json_kdouble(j, "mean", r->mean);
	if (r->peak_bytes) {
		json_ku64(j, "peak_bytes", r->peak_bytes);
		json_kdouble(j, "mean_bytes", r->mean_bytes);
	}
}

/* Objects that nobody comes back for. */
static void put_stranded(struct json *j, const struct backlog_row *r)
{
	if (!r->stranded)
		return;
	json_kopen(j, "stranded", '{');
	json_ku64(j, "length", r->stranded);
	json_ku64(j, "bytes", r->stranded_bytes);
	json_ku64(j, "age_ns", r->stranded_ns);
	json_close(j);
}

static void put_row(struct json *j, const struct model *m, const struct scope *sc,
		    const struct backlog_row *r, bool trace_lists)
{
	double rate;

	json_open(j, '{');
	json_kstr(j, "source", source_name(r->source));
	json_kstr(j, "list", backlog_list(m, r));
	if (r->source == KD_SRC_MEMALLOC)
		json_kstr(j, "stage", backlog_wait_name(backlog_wait_of(r->list, trace_lists)));
	put_key(j, m, r, sc->raw_addresses);
	json_ku64(j, "length", r->length);
	if (backlog_holds_memory(r->source))
		doc_known(j, "bytes", is_sized(r), r->bytes);
	if (backlog_holds_memory(r->source) && r->unsized && is_sized(r))
		json_ku64(j, "unsized", r->unsized);
	doc_known(j, "age_ns", r->age_ns != KD_UNKNOWN, r->age_ns);
	put_stranded(j, r);
	json_kbool(j, "exact", r->exact);
	json_kbool(j, "truncated", r->truncated);
	if (backlog_rate(m, sc, r, &rate))
		json_kdouble(j, "rate_per_s", rate);
	else
		json_knull(j, "rate_per_s");
	put_run(j, m, sc, r);
	put_holders(j, m, r);
	json_close(j);
}

int doc_pending(struct json *j, const struct model *m, const struct backlog_query *q)
{
	struct backlog_row *rows;
	size_t n;
	int err = backlog_rows(m, q, &rows, &n);
	bool trace_lists = backlog_trace_lists(m);

	if (err)
		return err;
	json_kopen(j, "pending", '[');
	for (size_t i = 0; i < n; i++)
		put_row(j, m, &q->scope, &rows[i], trace_lists);
	json_close(j);
	free(rows);
	return 0;
}

/* --- debt --- */

static void put_double(struct json *j, const char *key, bool known, double v)
{
	if (known)
		json_kdouble(j, key, v);
	else
		json_knull(j, key);
}

/* Bytes are known of what says how large it is; if nothing does, of nothing. */
static bool knows_bytes(const struct backlog_part *p)
{
	return p->any && (!p->length || p->unsized < p->length);
}

/* Bytes are told as bounds alone: at least so much, and the time at most. */
static void put_flow(struct json *j, const struct backlog_part *p, bool counted)
{
	put_double(j, "in_per_s", p->bound, p->in_bytes);
	put_double(j, "out_per_s", p->bound, p->out_bytes);
	doc_known(j, "drain_ns", counted && p->drain_ns != KD_UNKNOWN, p->drain_ns);
	if (p->bound)
		json_kstr(j, "bound", "lower");
}

static void put_part(struct json *j, unsigned int source, const struct backlog_part *p)
{
	json_open(j, '{');
	json_kstr(j, "source", source_name(source));
	doc_known(j, "bytes", knows_bytes(p), p->bytes);
	json_ku64(j, "length", p->length);
	json_ku64(j, "unsized", p->unsized);
	json_kbool(j, "exact", p->exact);
	json_kbool(j, "truncated", p->truncated);
	put_double(j, "net_per_s", p->rated && knows_bytes(p), p->net);
	put_double(j, "net_entries_per_s", p->rated, p->net_length);
	json_kstr(j, "flow_of", p->of);
	put_double(j, "in_entries_per_s", p->counted, p->in);
	put_double(j, "out_entries_per_s", p->counted, p->out);
	put_flow(j, p, p->counted);
	json_close(j);
}

static void put_waits(struct json *j, const struct backlog_bpf *b)
{
	json_kopen(j, "memalloc", '{');
	for (int i = 0; i < BACKLOG_WAITS; i++) {
		bool pretty;

		json_key(j, backlog_wait_name((enum backlog_wait)i));
		pretty = doc_flow_open(j, '{');
		json_ku64(j, "length", b->objects[i]);
		json_ku64(j, "bytes", b->bytes[i]);
		doc_flow_close(j, pretty);
	}
	json_close(j);
}

int doc_debt(struct json *j, const struct model *m, const struct backlog_query *q)
{
	struct backlog_debt d;
	struct backlog_bpf bpf;
	int err = backlog_debt(m, q, &d);

	if (!err)
		err = backlog_bpf(m, q, &bpf);
	if (err)
		return err;
	json_kopen(j, "debt", '{');
	doc_known(j, "bytes", knows_bytes(&d.all), d.all.bytes);
	put_flow(j, &d.all, d.all.bound);
	json_kstr(j, "reason", backlog_no_flow(q, &d));
	put_double(j, "net_per_s", d.all.rated && knows_bytes(&d.all), d.all.net);
	doc_known(j, "gone_ns", backlog_gone_ns(&d.all) != KD_UNKNOWN, backlog_gone_ns(&d.all));
	json_ku64(j, "unsized", d.all.unsized);
	json_kbool(j, "exact", d.all.any && d.all.exact);
	json_kbool(j, "truncated", d.all.truncated);
	json_kopen(j, "by", '[');
	for (unsigned int s = 0; s < KD_SRC_COUNT; s++)
		if (d.by[s].any)
			put_part(j, s, &d.by[s]);
	json_close(j);
	if (bpf.known)
		put_waits(j, &bpf);
	json_close(j);
	return 0;
}

/* --- grace periods --- */

static void put_cpus(struct json *j, const struct pending_gp *g)
{
	bool pretty;

	json_key(j, "cpus");
	pretty = doc_flow_open(j, '[');
	for (size_t i = 0; i < g->nowed; i++)
		if (!g->owed[i].is_task)
			json_u64(j, g->owed[i].cpu);
	doc_flow_close(j, pretty);
}

static void put_tasks(struct json *j, const struct pending_gp *g)
{
	json_kopen(j, "tasks", '[');
	for (size_t i = 0; i < g->nowed; i++) {
		const struct kd_rec_owed *o = &g->owed[i];
		bool pretty;

		if (!o->is_task)
			continue;
		pretty = doc_flow_open(j, '{');
		json_ku64(j, "pid", o->pid);
		json_ku64(j, "tgid", o->tgid);
		json_kstr(j, "comm", o->comm);
		doc_known(j, "cpu", o->cpu != KD_CPU_NONE, o->cpu);
		doc_flow_close(j, pretty);
	}
	json_close(j);
}

static void put_gp(struct json *j, const struct pending_gp *g)
{
	json_open(j, '{');
	json_kstr(j, "flavour", flavour_name(g->gp.flavour));
	json_ku64(j, "seq", g->gp.seq);
	json_kstr(j, "state", gp_state_name(g->gp.state));
	doc_known(j, "age_ns", g->gp.age_ns != KD_UNKNOWN, g->gp.age_ns);
	json_ku64(j, "cpus_owed", g->gp.cpus_owed);
	json_ku64(j, "tasks_owed", g->gp.tasks_owed);
	json_kbool(j, "exact", g->gp.flags & KD_PENDING_EXACT);
	json_kbool(j, "truncated", g->gp.flags & KD_PENDING_TRUNCATED); /* at least so many owe */
	put_cpus(j, g);
	put_tasks(j, g);
	json_close(j);
}

void doc_gp(struct json *j, const struct model *m, const struct backlog_query *q)
{
	json_kopen(j, "gp", '[');
	for (unsigned int f = 0; f < KD_FL_COUNT; f++) {
		const struct pending_gp *g = backlog_gp(m, q, f);

		if (g)
			put_gp(j, g);
	}
	json_close(j);
}
