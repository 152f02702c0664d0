// SPDX-License-Identifier: GPL-2.0-only
/* doc_runs.c - the runs of the measured command, and the labels of the capture, as JSON. */
#include <string.h>

#include "catalog.h"
#include "doc_parts.h"

#define LABEL_PREFIX "label."

static void put_values(struct json *j, const struct run *r)
{
	size_t i;
	bool pretty;

	json_kopen(j, "values", '[');
	for (i = 0; i < r->nvalues; i++) {
		pretty = doc_flow_open(j, '{');
		json_kstr(j, "name", r->values[i].name);
		json_kdouble(j, "value", r->values[i].value);
		json_kstr(j, "unit", r->values[i].unit);
		json_kstr(j, "better", better_name(r->values[i].better));
		doc_flow_close(j, pretty);
	}
	json_close(j);
}

static void put_run(struct json *j, const struct run *r)
{
	json_open(j, '{');
	json_ku64(j, "index", r->index);
	if (r->side != KD_SIDE_NONE)
		json_kstr(j, "side", r->side == KD_SIDE_A ? "a" : "b");
	doc_time(j, "start", r->real_ns);
	doc_known(j, "duration_ns", r->ended, r->end_ns - r->begin_ns);
	doc_known(j, "status", r->ended && r->status != KD_STATUS_UNKNOWN, r->status);
	json_kstr(j, "command", r->command);
	json_ku64(j, "intervals", r->ticks);
	json_kbool(j, "complete", r->ended && !r->blurred);
	put_values(j, r);
	json_close(j);
}

void doc_runs(struct json *j, const struct model *m)
{
	size_t i;

	if (!m->nruns)
		return;
	json_kopen(j, "runs", '[');
	for (i = 0; i < m->nruns; i++)
		put_run(j, &m->runs[i]);
	json_close(j);
}

void doc_labels(struct json *j, const struct model *m)
{
	size_t i, len = strlen(LABEL_PREFIX);
	bool any = false;

	for (i = 0; i < m->nfacts; i++) {
		if (strncmp(m->facts[i].name, LABEL_PREFIX, len))
			continue;
		if (!any)
			json_kopen(j, "labels", '{');
		any = true;
		json_kstr(j, m->facts[i].name + len, m->facts[i].value);
	}
	if (any)
		json_close(j);
}
