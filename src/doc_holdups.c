// SPDX-License-Identifier: GPL-2.0-only
/* doc_holdups.c - waits that were too long as JSON: each with cause, share, who, evidence, phases. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "catalog.h"
#include "doc_parts.h"
#include "tally.h"
#include "verdict.h"

static const char *or_null(const char *s)
{
	return *s ? s : NULL;
}

static void put_share(struct json *j, const struct finding *f, const struct holdup *h)
{
	json_kdouble(j, "share", round(1000 * verdict_share(f, h)) / 1000);
}

/* Keys of a task, null where it is not known. */
static void put_culprit(struct json *j, const struct culprit *c)
{
	doc_known(j, "cpu", c->cpu != KD_CPU_NONE, c->cpu);
	doc_known(j, "pid", c->pid, c->pid);
	doc_known(j, "tgid", c->pid && c->tgid, c->tgid);
	json_kstr(j, "comm", or_null(c->comm));
}

static void put_one(struct json *j, const char *key, const struct culprit *c)
{
	bool pretty;

	if (!c->pid)
		return;
	json_key(j, key);
	pretty = doc_flow_open(j, '{');
	put_culprit(j, c);
	doc_flow_close(j, pretty);
}

static void put_candidates(struct json *j, const struct verdict *v)
{
	if (!v->ncandidates)
		return;
	json_kopen(j, "candidates", '[');
	for (size_t i = 0; i < v->ncandidates; i++) {
		bool pretty = doc_flow_open(j, '{');

		put_culprit(j, &v->candidates[i]);
		doc_flow_close(j, pretty);
	}
	json_close(j);
}

static void put_also(struct json *j, const struct holdup *h, const struct verdict *v)
{
	json_kopen(j, "also", '[');
	for (size_t i = 0; i < v->nalso; i++) {
		const struct finding *f = &v->also[i];

		json_open(j, '{');
		json_kstr(j, "cause", cause_name(f->cause));
		put_share(j, f, h);
		json_kbool(j, "certain", f->certain);
		put_culprit(j, &f->who);
		json_kstr(j, "evidence", or_null(f->why));
		json_close(j);
	}
	json_close(j);
}

static void put_stack(struct json *j, const struct verdict *v)
{
	char frame[128];

	json_kopen(j, "stack", '[');
	for (size_t i = 0; v->is.seen && witness_frame(v->is.seen, i, frame, sizeof(frame)); i++)
		json_str(j, frame);
	json_close(j);
}

/* --- evidence --- */

static void put_fact(struct json *j, unsigned int i, uint64_t v)
{
	const struct fact_info *info = wait_fact(i);

	switch (info->unit) {
	case FACT_HOW:
		json_kstr(j, info->name, how_name((unsigned int)v));
		break;
	case FACT_FLAG:
		json_kbool(j, info->name, v);
		break;
	default:
		json_ku64(j, info->name, v);
	}
}

static void put_odds(struct json *j, const struct odds *o)
{
	if (!o->known)
		return;
	json_kopen(j, "odds", '{');
	json_ku64(j, "ticks_that_could_report", o->could);
	json_ku64(j, "ticks", o->ticks);
	json_kdouble(j, o->could ? "p" : "p_below", o->p);
	json_ku64(j, "mean_ns", o->mean_ns);
	json_ku64(j, "p99_ns", o->p99_ns);
	doc_known(j, "escalates_ns", o->escalates_ns, o->escalates_ns);
	if (o->urgent_ns != KD_UNKNOWN)
		json_kstr(j, "ended_by", o->by_escalation ? "escalation" : "tick");
	else
		json_knull(j, "ended_by");
	json_close(j);
}

static const struct {
	uint16_t flag;
	const char *name;
} states[] = {
	{ KD_WIT_USER, "user" },
	{ KD_WIT_READER, "reader" },
	{ KD_WIT_BARRED, "barred" },
	{ KD_WIT_RUNNING, "running" },
	{ KD_WIT_RUNNABLE, "runnable" },
	{ KD_WIT_SLEEPING, "sleeping" },
	{ KD_WIT_IDLE, "idle" },
	{ KD_WIT_GAP, "gap" },
	{ KD_WIT_NEST_KNOWN, "nest_known" },
	{ KD_WIT_CANDIDATE, "candidate" },
};

static void put_sample(struct json *j, const struct holdup *h, const struct kd_rec_witness *w)
{
	bool pretty = doc_flow_open(j, '{');

	json_ku64(j, "at_ns", w->mono_ns > h->rec.begin_ns ? w->mono_ns - h->rec.begin_ns : 0);
	json_kstr(j, "role", role_name(w->role));
	doc_known(j, "cpu", w->cpu != KD_CPU_NONE, w->cpu);
	json_ku64(j, "pid", w->pid);
	json_kstr(j, "comm", or_null(w->comm));
	json_kopen(j, "state", '[');
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if (w->flags & states[i].flag)
			json_str(j, states[i].name);
	json_close(j);
	if (w->gap_ns)
		json_ku64(j, "gap_ns", w->gap_ns);
	if (w->of_pid)
		json_ku64(j, "of_pid", w->of_pid);
	json_ku64(j, "prio", w->prio);
	doc_flow_close(j, pretty);
}

static void put_evidence(struct json *j, const struct holdup *h, const struct verdict *v)
{
	uint64_t fact;

	json_kopen(j, "evidence", '{');
	for (unsigned int i = 0; i < KD_F_COUNT; i++)
		if (holdup_fact(h, i, &fact))
			put_fact(j, i, fact);
	doc_known(j, "alone_ns", v->alone_ns != KD_UNKNOWN, v->alone_ns);
	put_odds(j, &v->odds);
	json_kopen(j, "text", '[');
	if (*v->is.why)
		json_str(j, v->is.why);
	for (size_t i = 0; i < v->nlines; i++)
		json_str(j, v->line[i]);
	json_close(j);
	json_ku64(j, "samples_left_out", h->unseen);
	json_kopen(j, "samples", '[');
	for (size_t i = 0; i < h->nwitness; i++)
		put_sample(j, h, &h->witness[i]);
	json_close(j);
	json_close(j);
}

static void put_phases(struct json *j, const struct holdup *h)
{
	bool pretty;

	json_key(j, "phases");
	pretty = doc_flow_open(j, '{');
	for (unsigned int i = 0; i < KD_PH_COUNT; i++) {
		uint64_t ns = holdup_phase(h, i);

		doc_known(j, phase_name(i), ns != KD_UNKNOWN, ns);
	}
	doc_flow_close(j, pretty);
}

/* --- a report --- */

static void put_cgroup(struct json *j, const struct model *m, const char *key, uint64_t id)
{
	char id_key[32];

	snprintf(id_key, sizeof(id_key), "%s_id", key);
	json_kstr(j, key,
		  id ? pending_text(&m->pending, KD_NAME_CGROUP, KD_SRC_CALL_RCU, id, 0) : NULL);
	doc_known(j, id_key, id, id);
}

static void put_wait(struct json *j, const struct model *m, const struct holdup *h)
{
	const struct kd_rec_holdup *r = &h->rec;
	const struct measure_info *info = holdup_measure(r->source);

	json_kstr(j, "source", source_name(r->source));
	if (flavour_name(r->flavour) && *info->group_key)
		json_kstr(j, info->group_key, flavour_name(r->flavour));
	json_kstr(j, "wait", wait_name(r->what));
	doc_time(j, "time", model_realtime(m, r->begin_ns));
	json_ku64(j, "monotonic_ns", r->begin_ns);
	json_ku64(j, "duration_ns", holdup_ns(h));
	json_ku64(j, "threshold_ns", r->threshold_ns);
	doc_known(j, "seq", r->seq, r->seq);
	json_kbool(j, "ongoing", r->flags & KD_HOLDUP_ONGOING);
	if (r->flags & KD_HOLDUP_LOWER)
		json_kstr(j, "bound", "lower");
	if (r->flags & KD_HOLDUP_KDEFER)
		json_kbool(j, "kdefer", true);
}

static void put_waiter(struct json *j, const struct holdup *h)
{
	struct culprit waiter = { .cpu = h->rec.cpu, .pid = h->rec.pid, .tgid = h->rec.tgid };

	memcpy(waiter.comm, h->rec.comm, sizeof(waiter.comm));
	put_one(j, "waiter", &waiter);
}

static void put_holdup(struct json *j, const struct model *m, const struct holdup *h)
{
	bool caller = h->rec.what == KD_WAIT_CALLER;
	struct verdict v;
	char func[TALLY_FUNC];
	bool starved;

	verdict_in(&v, m, h);
	starved = v.is.cause == CAUSE_GP_KTHREAD_STARVED || v.is.cause == CAUSE_CALLBACKS_STARVED;
	json_open(j, '{');
	put_wait(j, m, h);
	json_kstr(j, "cause", cause_name(v.is.cause));
	put_share(j, &v.is, h);
	json_kbool(j, "certain", v.is.certain);
	put_candidates(j, &v);
	put_culprit(j, &v.is.who);
	put_cgroup(j, m, "cgroup", v.is.who.cgroup);
	if (h->rec.source == KD_SRC_RSTAT)
		put_cgroup(j, m, "flushed", h->rec.cgroup);
	put_one(j, starved ? "starved" : "rival", &v.is.other);
	json_kstr(j, "func", or_null(tally_func(func, sizeof(func), h, &v)));
	if (caller)
		json_kstr(j, "caller", or_null(h->rec.name));
	put_waiter(j, h);
	put_also(j, h, &v);
	put_stack(j, &v);
	put_evidence(j, h, &v);
	put_phases(j, h);
	json_kstr(j, "needed", or_null(v.need));
	json_kstr(j, "remedy", or_null(cause_remedy(v.is.cause)));
	json_close(j);
}

void doc_holdups(struct json *j, const struct model *m, const struct scope *sc,
		 const struct holdup *one)
{
	json_kopen(j, "holdups", '[');
	if (one)
		put_holdup(j, m, one);
	for (size_t i = 0; !one && i < m->holdups.n; i++)
		if (scope_has_holdup(m, sc, &m->holdups.h[i]))
			put_holdup(j, m, &m->holdups.h[i]);
	json_close(j);
}

int doc_holdup_summary(struct json *j, const struct model *m, const struct scope *sc)
{
	struct tally t;
	int err = tally_make(&t, m, sc);

	if (err)
		return err;
	json_kopen(j, "summary", '{');
	json_ku64(j, "waits", t.reports);
	json_ku64(j, "unknown", t.unknown);
	json_ku64(j, "left_out", m->holdups.left_out);
	json_ku64(j, "samples_without_end", m->holdups.ended_without);
	json_kopen(j, "causes", '[');
	for (size_t i = 0; i < t.n; i++) {
		const struct tally_row *r = &t.row[i];
		const struct measure_info *info = holdup_measure(r->source);

		json_open(j, '{');
		json_kstr(j, "cause", cause_name(r->cause));
		json_kstr(j, "source", source_name(r->source));
		if (flavour_name(r->flavour) && *info->group_key)
			json_kstr(j, info->group_key, flavour_name(r->flavour));
		json_kstr(j, "comm", or_null(r->comm));
		json_kstr(j, "func", or_null(r->func));
		json_ku64(j, "count", r->count);
		json_ku64(j, "uncertain", r->uncertain);
		json_ku64(j, "in_the_way_ns", r->part_ns);
		json_ku64(j, "duration_ns", r->sum_ns);
		json_ku64(j, "max_ns", r->max_ns);
		json_close(j);
	}
	json_close(j);
	json_close(j);
	free(t.row);
	return 0;
}
