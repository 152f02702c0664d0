// SPDX-License-Identifier: GPL-2.0-only
/* bench_htab_rows.c - a part of the load htab-mem: from counts to a row of the table. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bench_htab_rows.h"
#include "format.h"
#include "stats.h"
#include "text.h"

static const char *const failures[] = {
	[BENCH_FAILED_NOMEM] = "failed_no_memory", [BENCH_FAILED_FULL] = "failed_map_full",
	[BENCH_FAILED_BUSY] = "failed_busy",       [BENCH_FAILED_EXISTS] = "failed_exists",
	[BENCH_FAILED_ABSENT] = "failed_absent",   [BENCH_FAILED_OTHER] = "failed_other",
};

void htab_add_rate(struct htab_row *r, double runs_per_s)
{
	r->rate[r->rates++ % HTAB_RATES] = runs_per_s;
}

static uint64_t all_failed(const struct bench_work *w)
{
	uint64_t n = 0;

	for (int f = 0; f < BENCH_FAILURES; f++)
		n += w->failed[f];
	return n;
}

/*
 * An update of batch_add_batch_del adds an element unless an earlier delete failed for another reason
 * than that there was none; of overwrite only the first one of a key does.
 */
bool htab_expected(const struct htab_row *r, const struct bench_pull *t, uint64_t *elements)
{
	bool odd = r->all.failed[BENCH_FAILED_BUSY] || r->all.failed[BENCH_FAILED_OTHER];

	*elements = r->all.updates - r->all.deletes;
	if (r->of == HTAB_PAIRS || r->of == HTAB_NO_OP)
		return true;
	if (r->of == HTAB_ADD_DELETE)
		return !odd;
	if (all_failed(&r->all))
		return false;
	*elements = 0;
	for (unsigned int i = 0; i < t->n; i++)
		*elements += t->work[i].updates < r->keys ? t->work[i].updates : r->keys;
	return true;
}

/* --- the row --- */

static void put_params(struct bench_row *row, const struct htab_row *r)
{
	const struct htab_options *o = r->o;

	bench_param(row, "producers", r->producers);
	bench_param(row, "max_entries", o->max_entries);
	bench_param(row, "keys", (uint64_t)r->keys * r->shares);
	bench_param(row, "batch", r->batch);
	bench_param(row, "value_size_bytes", o->value_size);
	bench_param_text(row, "preallocated", o->preallocated ? "yes" : "no");
	if (r->trigger)
		bench_param_text(row, "trigger", r->trigger);
	if (r->cgroup) {
		bench_param_text(row, "cgroup", r->cgroup == 2 ? "v2" : "v1");
		bench_param(row, "memory_limit_bytes", r->limit);
		bench_param(row, "memory_resolution_bytes", bench_memory_resolution());
	}
	if (r->memory.peak_from)
		bench_param_text(row, "memory_peak_from", r->memory.peak_from);
	if (r->end_ns)
		bench_param(row, "duration_ns", r->end_ns - r->begin_ns);
}

/* A loop is a batch of operations: of batch_add_batch_del a run has two. */
static void put_speed(struct bench_row *row, const struct htab_row *r)
{
	double s = (double)(r->end_ns - r->begin_ns) / 1e9;
	double loops = r->of == HTAB_ADD_DELETE ? 2.0 / r->producers : 1.0 / r->producers;
	size_t n = r->rates < HTAB_RATES ? r->rates : HTAB_RATES;
	double ops =
		(double)(r->end.updates + r->end.deletes - r->begin.updates - r->begin.deletes);

	bench_value_sd(row, "loops", (double)(r->end.runs - r->begin.runs) * loops / s,
		       n > 1 ? stats_sd(r->rate, n) * loops : -1, "/s", KD_BETTER_HIGHER);
	if (r->of == HTAB_NO_OP)
		bench_absent(row, "map_ops", "/s", KD_BETTER_HIGHER, "it does not touch the map");
	else
		bench_value(row, "map_ops", ops / s, "/s", KD_BETTER_HIGHER);
}

static void put_memory(struct bench_row *row, const struct htab_row *r)
{
	static const char *const names[] = { "memory_average", "memory_peak", "memory_start" };
	/* At the least: what is charged for elements is no less than their values. */
	double held = (double)r->elements * (double)r->o->value_size;
	const struct bench_memory *m = &r->memory;
	const char *why = r->no_memory;

	if (!*why && (double)m->last + (double)bench_memory_resolution() < held)
		why = "this kernel does not charge cgroups for memory of maps";
	if (!*why && (m->unread || !m->samples))
		why = "it could not be read all the time: somebody else changed the cgroup";
	if (*why) {
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			bench_absent(row, names[i], "bytes", KD_BETTER_LOWER, "%s", why);
		return;
	}
	bench_value_sd(row, names[0], bench_memory_mean(m), bench_memory_sd(m), "bytes",
		       KD_BETTER_LOWER);
	bench_value(row, names[1], (double)m->peak, "bytes", KD_BETTER_LOWER);
	bench_value(row, names[2], m->start > m->base ? (double)(m->start - m->base) : 0, "bytes",
		    KD_BETTER_NONE);
}

static void put_failures(struct bench_row *row, const struct htab_row *r)
{
	bench_value(row, "failed", (double)(all_failed(&r->end) - all_failed(&r->begin)), "count",
		    KD_BETTER_LOWER);
	for (int f = 0; f < BENCH_FAILURES; f++)
		if (r->end.failed[f] != r->begin.failed[f])
			bench_value(row, failures[f],
				    (double)(r->end.failed[f] - r->begin.failed[f]), "count",
				    KD_BETTER_LOWER);
	/* Of the whole run: a program that is at work on that CPU already keeps the next one out. */
	bench_value(row, "missed", (double)(r->calls - r->all.runs), "count", KD_BETTER_LOWER);
	bench_value(row, "elements", (double)r->elements, "count", KD_BETTER_NONE);
}

static const char *no_lists(const struct htab *h)
{
	if (h->o->preallocated)
		return "the elements of a preallocated map are freed to its own lists";
	if (!h->o->look_ns)
		return "--look 0";
	return h->lists.why;
}

static void put_lists(const struct htab *h, struct bench_row *row, const struct htab_row *r)
{
	char name[80];

	if (!r->looked) {
		bench_absent(row, "waiting_peak", "count", KD_BETTER_LOWER, "%s", no_lists(h));
		return;
	}
	bench_value(row, "waiting_peak", (double)r->peaks.waiting, "count", KD_BETTER_LOWER);
	for (unsigned int i = 0; i < r->peaks.n; i++) {
		const struct bench_peak *p = &r->peaks.peak[i];

		snprintf(name, sizeof(name), "peak_%s", p->list);
		bench_value(row, name, (double)p->length, "count", KD_BETTER_LOWER);
		snprintf(name, sizeof(name), "mean_%s", p->list);
		bench_value(row, name, p->mean, "count", KD_BETTER_LOWER);
	}
	bench_value(row, "looks", (double)r->peaks.looks, "count", KD_BETTER_NONE);
}

/* --- beside the table --- */

static void note_lists(struct htab *h, const struct htab_row *r)
{
	char text[800] = "", n[FMT_LEN], bytes[FMT_LEN];

	for (unsigned int i = 0; i < r->peaks.n; i++) {
		const struct bench_peak *p = &r->peaks.peak[i];

		if (p->length)
			text_append(text, sizeof(text), "%s%s %s (%s)", *text ? ", " : "", p->list,
				    fmt_count(n, sizeof(n), p->length),
				    fmt_bytes(bytes, sizeof(bytes), p->bytes));
	}
	if (r->looked)
		bench_note(h->run->result, "%s, longest lists in %" PRIu64 " looks: %s%s",
			   htab_case_name(r->of), r->peaks.looks, *text ? text : "all empty",
			   r->peaks.inexact ? " (or more: not all were read to their end)" : "");
}

static void note_failures(struct htab *h, const struct htab_row *r)
{
	char text[400] = "", n[FMT_LEN];

	for (int f = 0; f < BENCH_FAILURES; f++)
		if (r->end.failed[f] != r->begin.failed[f])
			text_append(text, sizeof(text), "%s%s %s", *text ? ", " : "",
				    failures[f] + strlen("failed_"),
				    fmt_count(n, sizeof(n), r->end.failed[f] - r->begin.failed[f]));
	if (*text)
		bench_note(h->run->result, "%s, operations that failed: %s", htab_case_name(r->of),
			   text);
	if (r->calls != r->all.runs)
		bench_note(h->run->result, "%s: %s calls did not run the program",
			   htab_case_name(r->of), fmt_count(n, sizeof(n), r->calls - r->all.runs));
	if (r->limit_hits)
		bench_note(h->run->result,
			   "%s: memory was at its limit of %s %" PRIu64 " times (--limit)",
			   htab_case_name(r->of), fmt_bytes(n, sizeof(n), r->limit), r->limit_hits);
}

void htab_put_row(struct htab *h, const struct htab_row *r)
{
	struct bench_row *row = bench_row(h->run->result, htab_case_name(r->of));

	put_params(row, r);
	put_speed(row, r);
	put_memory(row, r);
	put_failures(row, r);
	put_lists(h, row, r);
	note_lists(h, r);
	note_failures(h, r);
}

void htab_put_absent(struct htab *h, const struct htab_row *r, const char *why)
{
	static const struct {
		const char *name, *unit;
		enum kd_better better;
	} all[] = {
		{ "loops", "/s", KD_BETTER_HIGHER },
		{ "map_ops", "/s", KD_BETTER_HIGHER },
		{ "memory_average", "bytes", KD_BETTER_LOWER },
		{ "memory_peak", "bytes", KD_BETTER_LOWER },
		{ "failed", "count", KD_BETTER_LOWER },
		{ "waiting_peak", "count", KD_BETTER_LOWER },
	};
	struct bench_row *row = bench_row(h->run->result, htab_case_name(r->of));

	put_params(row, r);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		bench_absent(row, all[i].name, all[i].unit, all[i].better, "%s", why);
}
