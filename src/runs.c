// SPDX-License-Identifier: GPL-2.0-only
/* runs.c - the part of the model that knows the runs of the measured command. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "series.h"

static void free_value(struct value *v)
{
	free(v->name);
	free(v->unit);
	free(v->text);
}

void runs_free(struct model *m)
{
	struct run *r;
	size_t i, k;

	for (i = 0; i < m->nruns; i++) {
		r = &m->runs[i];
		for (k = 0; k < r->nvalues; k++)
			free_value(&r->values[k]);
		free(r->values);
		free(r->command);
	}
	free(m->runs);
}

static struct run *newest(struct model *m)
{
	return m->nruns ? &m->runs[m->nruns - 1] : NULL;
}

/* The last tick was cut short: what it left out belongs to an interval on the other side of a mark. */
static bool is_blurred(const struct model *m)
{
	return m->last_tick != m->last_end;
}

static int begin(struct model *m, const struct kd_rec_run *rec)
{
	struct run *runs, *r;

	m->running = false; /* one without an end stays without one */
	if (m->nruns >= MODEL_RUNS_MAX)
		return model_refuse(m, "runs");
	runs = model_grown(m->runs, m->nruns, sizeof(*runs));
	if (!runs)
		return -ENOMEM;
	m->runs = runs;
	r = &runs[m->nruns];
	*r = (struct run){
		.index = rec->index,
		.side = rec->side,
		.blurred = is_blurred(m),
		.begin_ns = rec->mono_ns,
		.real_ns = rec->real_ns,
		.from_ns = m->to_ns,
		.to_ns = m->to_ns,
		.command = strdup(stream_string(&rec->rec, sizeof(*rec), 0)),
		.sample = m->self.sample,
		.before = m->self,
		.after = m->self,
	};
	if (!r->command)
		return -ENOMEM;
	m->nruns++;
	m->running = true;
	return 0;
}

static int end(struct model *m, struct run *r, const struct kd_rec_run *rec)
{
	m->running = false;
	r->ended = true;
	r->blurred |= is_blurred(m);
	r->status = rec->status;
	r->end_ns = rec->mono_ns > r->begin_ns ? rec->mono_ns : r->begin_ns;
	return m->on_run ? m->on_run(m->ctx, m, r) : 0;
}

int runs_record_run(struct model *m, const struct kd_rec_run *rec)
{
	struct run *r = newest(m);

	if (!rec->ended)
		return r && rec->index <= r->index ? 0 /* repeated */ : begin(m, rec);
	return r && m->running && r->index == rec->index ? end(m, r, rec) : 0;
}

int runs_record_value(struct model *m, const struct kd_rec_value *rec)
{
	struct run *r = newest(m);
	struct value *values, v;

	if (!r || !m->running)
		return 0;
	if (m->nvalues >= MODEL_VALUES_MAX)
		return model_refuse(m, "values of the command");
	values = model_grown(r->values, r->nvalues, sizeof(*values));
	if (!values)
		return -ENOMEM;
	r->values = values;
	v = (struct value){
		.name = strdup(stream_string(&rec->rec, sizeof(*rec), 0)),
		.unit = strdup(stream_string(&rec->rec, sizeof(*rec), 1)),
		.text = strdup(stream_string(&rec->rec, sizeof(*rec), 2)),
		.value = rec->value,
		.better = rec->better,
	};
	if (!v.name || !v.unit || !v.text) {
		free_value(&v);
		return -ENOMEM;
	}
	values[r->nvalues++] = v;
	m->nvalues++;
	return 0;
}

static void add_totals(const struct model *m, struct run *r, size_t source)
{
	size_t i;

	for (i = 0; i < KD_LOST_COUNT; i++)
		r->lost[source][i] += m->source[source].interval[i];
	for (i = 0; i < KD_CNT_COUNT; i++)
		r->count[source][i] += m->source[source].cinterval[i];
	r->count[source][KD_CNT_OPEN] = m->source[source].cinterval[KD_CNT_OPEN];
}

void runs_end_interval(struct model *m)
{
	struct run *r = newest(m);
	size_t source;

	if (!m->running)
		return;
	if (!r->ticks++)
		r->from_ns = m->from_ns;
	r->to_ns = m->to_ns;
	r->after = m->self;
	if (m->self.sample > r->sample)
		r->sample = m->self.sample;
	for (source = 0; source < KD_SRC_COUNT; source++)
		add_totals(m, r, source);
}
