// SPDX-License-Identifier: GPL-2.0-only
/*
 * rules_judge.c - holds rules against a comparison. A rule passes only if each metric that it names
 * does, and one that names none is no pass.
 */
#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "rules.h"

const char *outcome_name(enum outcome o)
{
	static const char *const names[] = {
		[OUTCOME_PASS] = "pass",
		[OUTCOME_FAIL] = "fail",
		[OUTCOME_INCONCLUSIVE] = "inconclusive",
		[OUTCOME_NOT_COMPARABLE] = "not_comparable",
		[OUTCOME_NO_MATCH] = "no_match",
	};

	return names[o];
}

/* --- what a rule names --- */

/* Keys that need not be named: what totals are told apart by, and what goes with a function. */
static bool goes_unsaid(const char *name)
{
	return !strcmp(name, "flavour") || !strcmp(name, "subsystem") || !strcmp(name, "module") ||
	       !strcmp(name, "bound");
}

static bool pair_matches(const struct rule *r, size_t i, const struct sample_pair *pair)
{
	return (!r->pairs[i].name || !strcmp(r->pairs[i].name, pair->name)) &&
	       !fnmatch(r->pairs[i].glob, pair->value, 0);
}

/* Each key of the rule has its match, and the subject no other than those that go unsaid. */
static bool keys_match(const struct rule *r, const struct sample_subject *s)
{
	unsigned int used = 0;
	size_t i, k;

	for (k = 0; k < s->npairs; k++) {
		for (i = 0; i < r->npairs && (used >> i & 1 || !pair_matches(r, i, &s->pairs[k]));
		     i++)
			;
		if (i < r->npairs)
			used |= 1u << i;
		else if (!goes_unsaid(s->pairs[k].name))
			return false;
	}
	return used == (1u << r->npairs) - 1;
}

static bool names(const struct rule *r, const struct sample_subject *s)
{
	if (r->kind != s->kind || strcmp(r->source, s->source) || strcmp(r->measure, s->measure))
		return false;
	if (!r->npairs)
		return s->total || s->kind == SUBJECT_LOST;
	return keys_match(r, s);
}

static bool saw_something(const struct comparison *c, size_t subject)
{
	size_t i;

	for (i = 0; i < c->t->nruns; i++)
		if (subject < c->t->runs[i].nvalues && c->t->runs[i].values[subject].count)
			return true;
	return false;
}

/* --- limits that each new run is held against --- */

static bool beyond(const struct rule *r, double v)
{
	switch (r->op) {
	case RULE_ABOVE:
		return v > r->limit;
	case RULE_AT_LEAST:
		return v >= r->limit;
	case RULE_BELOW:
		return v < r->limit;
	default:
		return v <= r->limit;
	}
}

struct tally {
	size_t runs, failed, unknown;
	const char *disturbed;
};

static void count_run(const struct comparison *c, const struct rule *r, size_t subject,
		      const struct sample_run *run, struct tally *t)
{
	double v = samples_get(c->t, run, subject, r->stat);
	uint64_t count = subject < run->nvalues ? run->values[subject].count : 0;

	t->runs++;
	if (isnan(v)) {
		/* Where nothing happened, nothing took too long. Too few for a quantile is another matter. */
		t->unknown += count || r->kind != SUBJECT_MEASURE || r->op >= RULE_BELOW;
	} else if (beyond(r, v)) {
		if (run->disturbed && r->kind != SUBJECT_LOST) {
			t->disturbed = run->disturbed;
			t->unknown++;
		} else {
			t->failed++;
		}
	}
}

static enum outcome judge_runs(const struct comparison *c, const struct rule *r, size_t subject,
			       char *why, size_t size)
{
	size_t need = r->k ? r->k : 1, i;
	struct tally t = { 0 };

	if (!saw_something(c, subject)) {
		snprintf(why, size, "nothing was seen of it");
		return OUTCOME_INCONCLUSIVE;
	}
	for (i = 0; i < c->t->nruns; i++)
		if (c->t->runs[i].side == SIDE_NEW)
			count_run(c, r, subject, &c->t->runs[i], &t);
	if (r->n && t.runs > r->n) {
		snprintf(why, size, "new has %zu run%s, the rule speaks of %u", t.runs,
			 t.runs == 1 ? "" : "s", r->n);
		return OUTCOME_INCONCLUSIVE;
	}
	snprintf(why, size, "in %zu of %zu runs%s%s", t.failed, t.runs,
		 t.disturbed ? "; another was disturbed: " : "", t.disturbed ? t.disturbed : "");
	if (t.failed >= need)
		return OUTCOME_FAIL;
	if (r->n > t.runs) /* those that are missing might have failed as well */
		t.unknown += r->n - t.runs;
	if (t.failed + t.unknown < need)
		return OUTCOME_PASS;
	if (!t.disturbed)
		snprintf(why, size, "in %zu of %zu runs, %zu more have no such value", t.failed,
			 t.runs, t.unknown);
	return OUTCOME_INCONCLUSIVE;
}

/* --- limits on the change --- */

static enum outcome side_of_limit(const struct rule *r, const struct measured *m)
{
	bool above = r->op == RULE_ABOVE || r->op == RULE_AT_LEAST;

	if (above ? m->lo > r->limit : m->hi < r->limit)
		return OUTCOME_FAIL;
	if (above ? m->hi <= r->limit : m->lo >= r->limit)
		return OUTCOME_PASS;
	return OUTCOME_INCONCLUSIVE;
}

static void say_interval(const struct comparison *c, const struct measured *m, double level,
			 char *why, size_t size)
{
	if (isfinite(m->lo) && isfinite(m->hi))
		snprintf(why, size, "%+.3g%%, %.4g%% interval %+.3g%% .. %+.3g%%", m->change * 100,
			 level * 100, m->lo * 100, m->hi * 100);
	else
		snprintf(why, size,
			 "%+.3g%%; %zu and %zu %s allow no %.4g%% interval, %zu a side would",
			 m->change * 100, m->n[SIDE_BASE], m->n[SIDE_NEW],
			 c->paired ? "pairs" : level_name(c->level, 2), level * 100,
			 compare_least_units(c, 1 - level));
}

static enum outcome judge_change(const struct comparison *c, const struct rule *r, size_t subject,
				 double level, char *why, size_t size)
{
	struct compare_row row = { .subject = subject, .stat = r->stat };
	struct measured *m = &row.m;
	enum outcome o;

	if (compare_measure(c, subject, r->stat, level, m)) {
		snprintf(why, size, "out of memory");
		return OUTCOME_INCONCLUSIVE;
	}
	if (!m->n[SIDE_BASE] || !m->n[SIDE_NEW]) {
		snprintf(why, size, "no value in %s (%llu samples, %s needs %llu a run)",
			 m->n[SIDE_BASE] ? "new" : "base",
			 (unsigned long long)m->samples[m->n[SIDE_BASE] ? SIDE_NEW : SIDE_BASE],
			 stat_name(r->stat), (unsigned long long)stat_needs(r->stat));
		return OUTCOME_INCONCLUSIVE;
	}
	if (m->test == TEST_NONE) {
		snprintf(why, size, "cannot tell: %s", m->none);
		return OUTCOME_INCONCLUSIVE;
	}
	if (!m->relative) {
		bool none = m->lo >= 0 && m->hi <= 0 && !(m->value[SIDE_BASE] > 0);

		snprintf(why, size, none ? "0 on both sides" : "values of 0 have no ratio");
		return none && r->limit > 0 ? OUTCOME_PASS : OUTCOME_INCONCLUSIVE;
	}
	say_interval(c, m, level, why, size);
	o = side_of_limit(r, m);
	if (o != OUTCOME_INCONCLUSIVE && compare_doubt(c, &row, why, size))
		o = OUTCOME_INCONCLUSIVE;
	return o;
}

/* --- all rules --- */

/* A walk over the metrics that a rule names, and how many these are. */
struct visit {
	const struct comparison *c;
	const struct rule *r;
	size_t named, comparable;
	bool only_seen; /* leave out totals that saw nothing, since others did */
	double level;   /* 0: only count */
	struct rule_result *out;
};

/* The worst of its metrics decides: fail, inconclusive, pass. */
static void take_outcome(struct visit *v, size_t subject, enum outcome o, const char *why)
{
	struct rule_result *out = v->out;
	bool first = !out->matched++;
	bool worse = o == OUTCOME_FAIL ? out->outcome != OUTCOME_FAIL
				       : o == OUTCOME_INCONCLUSIVE && out->outcome == OUTCOME_PASS;

	if (!first && !worse)
		return;
	out->outcome = o;
	snprintf(out->why, sizeof(out->why), "%s: %s", v->c->t->subjects[subject].name, why);
}

static void visit_subject(struct visit *v, size_t subject)
{
	const struct sample_subject *s = &v->c->t->subjects[subject];
	char why[400] = "";
	enum outcome o;

	if (!names(v->r, s))
		return;
	if (v->only_seen && s->kind == SUBJECT_MEASURE && !saw_something(v->c, subject))
		return;
	v->named++;
	if (compare_barred(v->c, subject, why, sizeof(why))) {
		if (v->out && !v->out->matched)
			snprintf(v->out->why, sizeof(v->out->why), "%s: %s", s->name, why);
		return;
	}
	v->comparable++;
	if (!(v->level > 0))
		return;
	o = v->r->relative ? judge_change(v->c, v->r, subject, v->level, why, sizeof(why))
			   : judge_runs(v->c, v->r, subject, why, sizeof(why));
	take_outcome(v, subject, o, why);
}

static void visit_all(struct visit *v)
{
	size_t i;

	v->named = v->comparable = 0;
	for (i = 0; i < v->c->t->nsubjects; i++)
		visit_subject(v, i);
}

static bool some_saw_something(const struct comparison *c, const struct rule *r)
{
	size_t i;

	for (i = 0; i < c->t->nsubjects; i++)
		if (names(r, &c->t->subjects[i]) && saw_something(c, i))
			return true;
	return false;
}

/* How many intervals all rules look at: so many may err together. */
static size_t family(const struct comparison *c, const struct rule *const *rules, size_t n)
{
	size_t i, m = 0;

	for (i = 0; i < n; i++) {
		struct visit v = { .c = c, .r = rules[i], .only_seen = true };

		visit_all(&v);
		m += rules[i]->relative ? v.comparable : 0;
	}
	return m ? m : 1;
}

static void judge(const struct comparison *c, const struct rule *r, double level,
		  struct rule_result *out)
{
	struct visit v = { .c = c, .r = r, .level = level, .out = out };

	memset(out, 0, sizeof(*out));
	v.only_seen = some_saw_something(c, r);
	visit_all(&v);
	if (!v.named) {
		out->outcome = OUTCOME_NO_MATCH;
		snprintf(out->why, sizeof(out->why), "names nothing in these captures");
	} else if (!v.comparable) {
		out->outcome = OUTCOME_NOT_COMPARABLE;
	}
}

void rules_judge(const struct comparison *c, const struct rule *const *rules, size_t n,
		 struct rule_result *out)
{
	double level = 1 - c->conf.alpha / (double)family(c, rules, n);
	size_t i;

	for (i = 0; i < n; i++)
		judge(c, rules[i], level, &out[i]);
}
