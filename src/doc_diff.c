// SPDX-License-Identifier: GPL-2.0-only
/* doc_diff.c - `kdefer diff --json`. Names are a contract. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diff.h"
#include "doc_parts.h"

static void put_texts(struct json *j, const char *key, char *const *list, size_t n)
{
	size_t i;

	json_kopen(j, key, '[');
	for (i = 0; i < n; i++)
		json_str(j, list[i]);
	json_close(j);
}

/* NaN and infinities are null. */
static void put_number(struct json *j, const char *key, double v)
{
	if (isfinite(v) && fabs(v) < 9e15 && v >= 0 && v <= floor(v))
		json_ku64(j, key, (uint64_t)v);
	else
		json_kdouble(j, key, v);
}

/* --- sides --- */

static void put_files(struct json *j, const struct samples *t, enum sample_side side)
{
	size_t i;

	json_kopen(j, "files", '[');
	for (i = 0; i < t->nfiles; i++)
		if (t->files[i].side[side])
			json_str(j, t->files[i].path);
	json_close(j);
}

static void put_fact(struct json *j, const char *name, const char *value)
{
	if (!strcmp(name, "cpus_online") && value && !value[strspn(value, "0123456789")])
		json_ku64(j, name, strtoull(value, NULL, 10));
	else
		json_kstr(j, name, value);
}

/* Of its first file; that others of its side differ is among the differences. */
static void put_host(struct json *j, const struct samples *t, enum sample_side side)
{
	static const char *const wanted[] = { "hostname",  "kernel",      "kernel_version",
					      "build_id",  "cmdline",     "machine",
					      "cpu_model", "cpus_online", "hypervisor" };
	const struct sample_file *f;
	size_t i = 0, k, w;

	while (i < t->nfiles && !t->files[i].side[side])
		i++;
	json_kopen(j, "host", '{');
	for (w = 0; i < t->nfiles && w < sizeof(wanted) / sizeof(wanted[0]); w++) {
		f = &t->files[i];
		for (k = 0; k < f->nfacts && strcmp(f->facts[k].name, wanted[w]); k++)
			;
		put_fact(j, wanted[w], k < f->nfacts ? f->facts[k].value : NULL);
	}
	json_close(j);
}

static void put_side(struct json *j, const struct samples *t, enum sample_side side)
{
	size_t i, k, runs = 0, boots = 0;

	for (i = 0; i < t->nruns; i++) {
		if (t->runs[i].side != side)
			continue;
		runs++;
		for (k = 0; k < i; k++)
			if (t->runs[k].side == side && t->runs[k].boot == t->runs[i].boot)
				break;
		boots += k == i;
	}
	json_open(j, '{');
	json_kstr(j, "side", side == SIDE_BASE ? "base" : "new");
	put_files(j, t, side);
	put_host(j, t, side);
	json_ku64(j, "runs", runs);
	json_ku64(j, "boots", boots);
	json_close(j);
}

/* --- rows --- */

static const char *better_of(const struct diff *d, const struct compare_row *row)
{
	uint8_t better = d->t->subjects[row->subject].better;

	if (row->stat == STAT_RATE || better == KD_BETTER_NONE)
		return "none";
	return better == KD_BETTER_LOWER ? "lower" : "higher";
}

static void put_key(struct json *j, const struct sample_subject *s)
{
	bool pretty;
	size_t i;

	json_key(j, "key");
	pretty = doc_flow_open(j, '{');
	for (i = 0; i < s->npairs; i++)
		json_kstr(j, s->pairs[i].name, s->pairs[i].value);
	doc_flow_close(j, pretty);
}

static void put_pair(struct json *j, const char *key, double a, double b)
{
	bool pretty;

	json_key(j, key);
	pretty = doc_flow_open(j, '[');
	json_double(j, a);
	json_double(j, b);
	doc_flow_close(j, pretty);
}

static void put_row(struct json *j, const struct diff *d, const struct compare_row *row)
{
	const struct sample_subject *s = &d->t->subjects[row->subject];
	const struct measured *m = &row->m;
	bool pretty;

	json_open(j, '{');
	json_kstr(j, "source", s->source);
	json_kstr(j, "measure", s->measure);
	put_key(j, s);
	json_kstr(j, "stat", stat_name(row->stat));
	json_kstr(j, "unit", row->stat == STAT_RATE ? "per_s" : s->unit);
	json_kstr(j, "better", better_of(d, row));
	put_number(j, "base", m->value[SIDE_BASE]);
	put_number(j, "new", m->value[SIDE_NEW]);
	json_kdouble(j, "change", m->change);
	json_kbool(j, "relative", m->relative);
	put_pair(j, "ci", m->lo, m->hi);
	json_kdouble(j, "noise", m->test == TEST_NONE ? NAN : m->noise);
	json_kdouble(j, "p", m->p);
	json_kdouble(j, "p_corrected", row->corrected);
	json_key(j, "n");
	pretty = doc_flow_open(j, '[');
	json_u64(j, m->n[SIDE_BASE]);
	json_u64(j, m->n[SIDE_NEW]);
	doc_flow_close(j, pretty);
	json_kstr(j, "test", m->test == TEST_NONE ? NULL : test_name(m->test));
	json_kbool(j, "gates", row->gates);
	json_kstr(j, "verdict", verdict_name(row->verdict));
	json_kstr(j, "why", *row->why ? row->why : NULL);
	json_close(j);
}

static int put_rows(struct json *j, const struct diff *d)
{
	const struct compare_row **rows;
	size_t n, i;

	rows = diff_sorted(d, &n);
	if (!rows)
		return -ENOMEM;
	json_kopen(j, "rows", '[');
	for (i = 0; i < n; i++)
		put_row(j, d, rows[i]);
	json_close(j);
	free(rows);
	return 0;
}

static void put_rules(struct json *j, const struct diff *d)
{
	size_t i;

	json_kopen(j, "rules", '[');
	for (i = 0; i < d->nrules; i++) {
		json_open(j, '{');
		json_kstr(j, "rule", d->rules[i]->text);
		json_kstr(j, "verdict", outcome_name(d->results[i].outcome));
		json_ku64(j, "matched", d->results[i].matched);
		json_kstr(j, "why", *d->results[i].why ? d->results[i].why : NULL);
		json_close(j);
	}
	json_close(j);
}

static void put_selftest(struct json *j, const struct selftest *s)
{
	if (!s->done)
		return;
	json_kopen(j, "self_test", '{');
	json_kdouble(j, "slowdown", s->slowdown > 0 ? s->slowdown : NAN);
	json_ku64(j, "shuffles", s->shuffles);
	json_ku64(j, "red", s->red);
	json_close(j);
}

int doc_diff(FILE *out, const struct diff *d)
{
	const struct comparison *c = d->c;
	char method[1024];
	struct json j;
	int err;

	json_init(&j, out, true);
	doc_open(&j, "diff");
	json_kstr(&j, "verdict", diff_no_match(d) ? "error" : verdict_name(diff_verdict(d)));
	json_ku64(&j, "exit", (uint64_t)d->exit);
	if (diff_no_match(d))
		doc_error(&j, "a rule names nothing in these captures");
	json_kopen(&j, "sides", '[');
	put_side(&j, d->t, SIDE_BASE);
	put_side(&j, d->t, SIDE_NEW);
	json_close(&j);
	put_texts(&j, "differences", c->differences, c->ndifferences);
	put_texts(&j, "warnings", c->warnings, c->nwarnings);
	put_texts(&j, "notes", c->notes, c->nnotes);
	json_kstr(&j, "incomparable", c->incomparable);
	json_kstr(&j, "unit_of_replication", level_name(c->level, 1));
	json_kbool(&j, "paired", c->paired);
	json_kstr(&j, "method", diff_method(method, sizeof(method), d));
	put_selftest(&j, &d->selftest);
	put_rules(&j, d);
	err = put_rows(&j, d);
	json_close(&j);
	return err ? err : json_end(&j);
}

void doc_diff_word(FILE *out, const char *verdict, int code, const char *why)
{
	struct json j;

	json_init(&j, out, !code);
	doc_open(&j, "diff");
	json_kstr(&j, "verdict", verdict);
	json_ku64(&j, "exit", (uint64_t)code);
	if (code)
		doc_error(&j, why);
	json_close(&j);
	json_end(&j);
}
