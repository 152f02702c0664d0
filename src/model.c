// SPDX-License-Identifier: GPL-2.0-only
/*
 * model.c - takes in the stream: ticks, losses, and what is known of host, plan and events. Series
 * and their totals: series.c; runs of a command: runs.c. What views ask of it all: metrics.c.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "series.h"

void model_init(struct model *m)
{
	memset(m, 0, sizeof(*m));
	m->last_tick = m->last_end = -1;
	series_init(m);
	pending_init(&m->pending);
}

static void free_fact(struct fact *f)
{
	free(f->name);
	free(f->value);
}

static void free_plan_row(struct plan_row *row)
{
	free(row->backend);
	free(row->hooks);
	free(row->reason);
	free(row->fix);
}

static void free_event(struct event *e)
{
	free(e->what);
	free(e->detail);
}

void model_free(struct model *m)
{
	size_t i;

	series_free(m);
	pending_free(&m->pending);
	holdups_free(&m->holdups);
	for (i = 0; i < m->nfacts; i++)
		free_fact(&m->facts[i]);
	for (i = 0; i < m->nplan; i++)
		free_plan_row(&m->plan[i]);
	for (i = 0; i < m->nevents; i++)
		free_event(&m->events[i]);
	runs_free(m);
	free(m->facts);
	free(m->plan);
	free(m->event_buf);
	model_init(m);
}

int model_refuse(struct model *m, const char *what)
{
	if (!m->refused++)
		log_warn("too many %s in this stream: the rest is left out", what);
	return 0;
}

/* --- facts, sorted by name --- */

/* Where the fact of this name is or would be. */
static size_t fact_at(const struct model *m, const char *name, bool *found)
{
	size_t low = 0, high = m->nfacts, mid;
	int cmp;

	*found = false;
	while (low < high && !*found) {
		mid = low + (high - low) / 2;
		cmp = strcmp(name, m->facts[mid].name);
		*found = cmp == 0;
		if (cmp <= 0)
			high = mid;
		else
			low = mid + 1;
	}
	return high;
}

const char *model_fact(const struct model *m, const char *name)
{
	bool found;
	size_t at = fact_at(m, name, &found);

	return found ? m->facts[at].value : NULL;
}

uint64_t model_fact_u64(const struct model *m, const char *name, uint64_t absent)
{
	const char *text = model_fact(m, name);
	unsigned long long v;
	char *end;

	if (!text || !isdigit((unsigned char)*text))
		return absent;
	errno = 0;
	v = strtoull(text, &end, 10);
	return errno || *end ? absent : v;
}

uint64_t model_sampling(const struct model *m, bool interval, bool one_run)
{
	uint64_t n = model_fact_u64(m, "sample", 1);

	if (one_run && m->nruns)
		n = m->runs[m->nruns - 1].sample;
	else if (interval)
		n = m->self.sample ? m->self.sample : n;
	else
		n = m->sample ? m->sample : n;
	return n ? n : 1;
}

bool model_scales(const struct model *m, unsigned int measure, unsigned int flavour)
{
	return measure == KD_M_CALL_RCU_LATENCY && flavour == KD_FL_RCU &&
	       model_fact(m, SAMPLING_BY_BUDGET);
}

uint64_t model_realtime(const struct model *m, uint64_t mono_ns)
{
	uint64_t real = model_fact_u64(m, "realtime_ns", 0);
	uint64_t mono = model_fact_u64(m, "monotonic_ns", 0);

	if (!real || !mono)
		return 0;
	if (mono_ns < mono)
		return mono - mono_ns < real ? real - (mono - mono_ns) : 0;
	return mono_ns - mono <= UINT64_MAX - real ? real + (mono_ns - mono) : 0;
}

static int insert_fact(struct model *m, size_t at, const struct fact *f)
{
	struct fact *facts = model_grown(m->facts, m->nfacts, sizeof(*facts));

	if (!facts)
		return -ENOMEM;
	m->facts = facts;
	memmove(&facts[at + 1], &facts[at], (m->nfacts - at) * sizeof(*facts));
	facts[at] = *f;
	m->nfacts++;
	return 0;
}

static int record_fact(struct model *m, const struct kd_rec_text *r)
{
	bool found;
	size_t at = fact_at(m, stream_text(r, 0), &found);
	struct fact f;
	int err = 0;

	if (!found && m->nfacts >= MODEL_ROWS_MAX)
		return model_refuse(m, "facts");
	f.name = strdup(stream_text(r, 0));
	f.value = strdup(stream_text(r, 1));
	if (!f.name || !f.value) {
		err = -ENOMEM;
	} else if (found) {
		struct fact old = m->facts[at];

		m->facts[at] = f;
		f = old;
	} else {
		err = insert_fact(m, at, &f);
		if (!err)
			return 0;
	}
	free_fact(&f);
	return err;
}

/* --- plan --- */

/* The row of this measure and flavour, a new one if need be. Bounded by their number. */
static struct plan_row *get_plan_row(struct model *m, uint64_t a)
{
	uint8_t source = (uint8_t)a, measure = (uint8_t)(a >> 8), flavour = (uint8_t)(a >> 16);
	struct plan_row *row, *rows;
	size_t i;

	for (i = 0; i < m->nplan; i++) {
		row = &m->plan[i];
		if (row->source == source && row->measure == measure && row->flavour == flavour)
			return row;
	}
	rows = model_grown(m->plan, m->nplan, sizeof(*rows));
	if (!rows)
		return NULL;
	m->plan = rows;
	row = &rows[m->nplan++];
	memset(row, 0, sizeof(*row));
	row->source = source;
	row->measure = measure;
	row->flavour = flavour;
	return row;
}

static int record_plan(struct model *m, const struct kd_rec_text *r)
{
	struct plan_row *row = NULL, fresh = {
		.source = (uint8_t)r->a,
		.measure = (uint8_t)(r->a >> 8),
		.flavour = (uint8_t)(r->a >> 16),
		.state = (uint8_t)(r->a >> 24),
		.meaning = (uint32_t)(r->a >> 32),
		.backend = strdup(stream_text(r, 0)),
		.hooks = strdup(stream_text(r, 1)),
		.reason = strdup(stream_text(r, 2)),
		.fix = strdup(stream_text(r, 3)),
	};

	if (fresh.backend && fresh.hooks && fresh.reason && fresh.fix)
		row = get_plan_row(m, r->a);
	if (!row) {
		free_plan_row(&fresh);
		return -ENOMEM;
	}
	free_plan_row(row);
	*row = fresh;
	return 0;
}

/* --- events: a window that slides through a buffer of twice its size, the oldest drop out --- */

static bool is_newest_event(const struct model *m, const struct event *e)
{
	const struct event *last;

	if (!m->nevents)
		return false;
	last = &m->events[m->nevents - 1];
	return last->realtime_ns == e->realtime_ns && last->mono_ns == e->mono_ns &&
	       !strcmp(last->what, e->what) && !strcmp(last->detail, e->detail);
}

static int make_room_for_event(struct model *m)
{
	if (!m->event_buf) {
		m->event_buf = calloc(2 * MODEL_ROWS_MAX, sizeof(*m->event_buf));
		m->events = m->event_buf;
	}
	if (!m->event_buf)
		return -ENOMEM;
	if (m->nevents == MODEL_ROWS_MAX) {
		free_event(m->events++);
		m->nevents--;
	}
	if (m->events + m->nevents == m->event_buf + 2 * MODEL_ROWS_MAX) {
		memcpy(m->event_buf, m->events, m->nevents * sizeof(*m->events));
		m->events = m->event_buf;
	}
	return 0;
}

static int record_event(struct model *m, const struct kd_rec_text *r)
{
	struct event e = {
		.realtime_ns = r->a,
		.mono_ns = r->b,
		.what = strdup(stream_text(r, 0)),
		.detail = strdup(stream_text(r, 1)),
	};
	int err = e.what && e.detail ? 0 : -ENOMEM;
	bool again = !err && is_newest_event(m, &e);

	if (!err && !again)
		err = make_room_for_event(m);
	if (err || again) {
		free_event(&e);
		return err;
	}
	m->events[m->nevents++] = e;
	return 0;
}

/* --- losses, counts, ticks --- */

static int record_total(struct model *m, const struct kd_rec_total *r)
{
	bool lost = r->rec.kind == KD_REC_LOST;
	uint64_t *total = lost ? m->source[r->source].total : m->source[r->source].ctotal;

	m->source[r->source].seen = true;
	if (r->total > total[r->what] || (!lost && r->what == KD_CNT_OPEN))
		total[r->what] = r->total;
	return 0;
}

static void end_totals(const uint64_t *total, uint64_t *base, uint64_t *prev, uint64_t *interval,
		       int n, bool baseline)
{
	int i;

	for (i = 0; i < n; i++) {
		if (baseline)
			base[i] = prev[i] = total[i];
		interval[i] = total[i] - prev[i];
		prev[i] = total[i];
	}
}

static void end_sources(struct model *m, bool baseline)
{
	int i;

	for (i = 0; i < KD_SRC_COUNT; i++) {
		typeof(m->source[0]) *src = &m->source[i];

		end_totals(src->total, src->base, src->prev, src->interval, KD_LOST_COUNT,
			   baseline);
		end_totals(src->ctotal, src->cbase, src->cprev, src->cinterval, KD_CNT_COUNT,
			   baseline);
		/* A level has no difference: as it is, in the interval and in total - base. */
		src->cbase[KD_CNT_OPEN] = src->cprev[KD_CNT_OPEN] = 0;
		src->cinterval[KD_CNT_OPEN] = src->ctotal[KD_CNT_OPEN];
	}
}

static int end_interval(struct model *m, const struct kd_rec_tick *r, bool baseline)
{
	series_end_interval(m, baseline);
	end_sources(m, baseline);
	m->from_ns = baseline ? r->mono_ns : m->to_ns;
	m->to_ns = r->mono_ns > m->from_ns ? r->mono_ns : m->from_ns;
	if (baseline) {
		m->start_ns = r->mono_ns;
		m->started = true;
		pending_end_interval(m, true);
		return 0;
	}
	m->ticks++;
	runs_end_interval(m);
	pending_end_interval(m, false);
	return m->on_interval ? m->on_interval(m->ctx, m) : 0;
}

/* Numbers grow, but a tick that was cut short may be followed by a whole one of its number. */
static int record_tick(struct model *m, const struct kd_rec_tick *r)
{
	bool baseline = !m->started;

	if (r->tick <= (r->complete ? m->last_end : m->last_tick))
		return 0; /* late or repeated */
	if (r->tick > m->last_tick)
		m->last_tick = r->tick;
	if (r->complete)
		m->last_end = r->tick;
	else
		m->incomplete++;
	return r->complete || baseline ? end_interval(m, r, baseline) : 0;
}

void model_rebase(struct model *m)
{
	for (int i = 0; i < KD_SRC_COUNT; i++) {
		typeof(m->source[0]) *src = &m->source[i];

		memcpy(src->base, src->total, sizeof(src->base));
		memcpy(src->cbase, src->ctotal, sizeof(src->cbase));
		src->cbase[KD_CNT_OPEN] = 0; /* a level */
	}
	m->start_ns = m->to_ns;
	m->sample = m->self.sample;
	series_rebase(m);
	pending_rebase(m);
	holdups_clear(&m->holdups);
}

static int record_holdup(struct model *m, const struct kd_rec_holdup *r)
{
	const struct holdup *h;
	int err = holdups_end(&m->holdups, r, m->ticks + 1, &h);

	m->source[r->source].seen = true;
	if (!err && m->on_holdup)
		err = m->on_holdup(m->ctx, m, h);
	if (!err)
		holdups_settle(&m->holdups);
	return err;
}

static int record_self(struct model *m, const struct kd_rec_self *r)
{
	memcpy(&m->self, r, sizeof(m->self));
	if (m->self.sample > m->sample)
		m->sample = m->self.sample;
	return 0;
}

static int take(struct model *m, const struct kd_rec *rec)
{
	const void *r = rec;

	switch (rec->kind) {
	case KD_REC_TICK:
		return record_tick(m, r);
	case KD_REC_SERIES:
		return series_record_series(m, r);
	case KD_REC_HIST:
		return series_record_hist(m, r);
	case KD_REC_STAT:
		return series_record_stat(m, r);
	case KD_REC_WORST:
		return series_record_worst(m, r);
	case KD_REC_LOST:
	case KD_REC_COUNT:
		return record_total(m, r);
	case KD_REC_PENDING:
		return pending_record_list(m, r);
	case KD_REC_GP:
		return pending_record_gp(m, r);
	case KD_REC_OWED:
		return pending_record_owed(m, r);
	case KD_REC_HOLDUP:
		return record_holdup(m, r);
	case KD_REC_WITNESS:
		return holdups_witness(&m->holdups, r);
	case KD_REC_NAME:
		return pending_record_name(m, r);
	case KD_REC_HOST:
		return record_fact(m, r);
	case KD_REC_PLAN:
		return record_plan(m, r);
	case KD_REC_EVENT:
		return record_event(m, r);
	case KD_REC_RUN:
		return runs_record_run(m, r);
	case KD_REC_VALUE:
		return runs_record_value(m, r);
	case KD_REC_SELF:
		return record_self(m, r);
	default:
		return 0; /* the stream knows it, the model has no use for it */
	}
}

int model_record(void *ctx, const struct kd_rec *rec)
{
	int err = take(ctx, rec);

	return err == -ENOMEM ? log_err(err, "out of memory while reading records") : err;
}
