// SPDX-License-Identifier: GPL-2.0-only
/* rules.c - reads rules of --fail-on. What they find: rules_judge.c. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalog.h"
#include "format.h"
#include "rules.h"

struct parser {
	struct rule *r;
	char *wrong;
	size_t size;
	enum unit unit; /* of the measure */
};

/* Says what is wrong. */
static int __attribute__((format(printf, 2, 3))) bad(const struct parser *p, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(p->wrong, p->size, fmt, args);
	va_end(args);
	return -EINVAL;
}

static char *skip_space(char *s)
{
	while (isspace((unsigned char)*s))
		s++;
	return s;
}

/* Ends the word at s and returns what follows it. */
static char *cut_word(char *s)
{
	while (*s && !isspace((unsigned char)*s))
		s++;
	if (*s)
		*s++ = '\0';
	return skip_space(s);
}

/* --- the metric --- */

static int parse_pair(const struct parser *p, char *text)
{
	struct rule *r = p->r;
	char *eq = strchr(text, '=');

	if (r->npairs == SAMPLE_PAIRS)
		return bad(p, "more than %d keys", SAMPLE_PAIRS);
	if (!*text || (eq && (eq == text || !eq[1])))
		return bad(p, "a key is KEY=VALUE, and neither may be empty");
	if (eq)
		*eq = '\0';
	r->pairs[r->npairs].name = eq ? text : NULL;
	r->pairs[r->npairs++].glob = eq ? eq + 1 : text;
	return 0;
}

static int parse_pairs(const struct parser *p, char *text)
{
	char *comma;
	int err = 0;

	for (; !err && text; text = comma) {
		comma = strchr(text, ',');
		if (comma)
			*comma++ = '\0';
		err = parse_pair(p, text);
	}
	return err;
}

static bool is_loss(const char *name)
{
	unsigned int i;

	for (i = 0; i < KD_LOST_COUNT; i++)
		if (!strcmp(lost_name(i), name))
			return true;
	return !strcmp(name, "any");
}

/* Those whose only statistic is their value: a name may have dots. */
static int parse_value(const struct parser *p, char *name)
{
	struct rule *r = p->r;

	r->kind = !strcmp(r->source, "lost") ? SUBJECT_LOST : SUBJECT_VALUE;
	r->measure = name;
	r->stat = STAT_VALUE;
	if (!*name)
		return bad(p, "%s. needs a name", r->source);
	if (r->kind == SUBJECT_LOST && !is_loss(name))
		return bad(p, "no kind of loss is called %s", name);
	return 0;
}

static int parse_stat(const struct parser *p, const char *name)
{
	struct rule *r = p->r;

	if (stat_by_name(name, &r->stat) || !compare_has_stat(r->kind, r->stat))
		return bad(p, "%s.%s has no statistic %s: %s", r->source, r->measure,
			   *name ? name : "\"\"",
			   r->kind == SUBJECT_LEVEL ? "peak or mean"
						    : "mean, p50, p90, p99, p999, max or rate");
	return 0;
}

static int parse_measure(const struct parser *p, unsigned int source, const char *name)
{
	const struct measure_info *info;
	unsigned int measure;

	if (measure_by_name(source, name, &measure))
		return bad(p, "%s has no measure %s", source_name(source), *name ? name : "\"\"");
	info = measure_info(measure);
	p->r->measure = name;
	p->r->kind = info->pending ? SUBJECT_LEVEL : SUBJECT_MEASURE;
	((struct parser *)p)->unit = info->unit;
	return 0;
}

/* SOURCE.MEASURE[KEYS].STAT; the brackets are found first, since values may hold anything else. */
static int parse_metric(const struct parser *p, char *text)
{
	struct rule *r = p->r;
	char *open = strchr(text, '['), *close = open ? strchr(open, ']') : NULL, *dot, *stat;
	unsigned int source;
	int err;

	if (open && (!close || close[1] != '.'))
		return bad(p, "after [KEY=VALUE] comes .STAT");
	dot = strchr(text, '.');
	if (!dot || (open && dot > open))
		return bad(p, "a metric is SOURCE.MEASURE.STAT");
	*dot = '\0';
	r->source = text;
	if (!open && (!strcmp(text, "metric") || !strcmp(text, "lost")))
		return parse_value(p, dot + 1);
	if (source_by_name(text, &source))
		return bad(p, "no source is called %s", *text ? text : "\"\"");
	stat = open ? close + 2 : strrchr(dot + 1, '.');
	if (!stat)
		return bad(p, "a metric is SOURCE.MEASURE.STAT");
	if (open)
		*open = *close = '\0';
	else
		*stat++ = '\0';
	err = parse_measure(p, source, dot + 1);
	if (!err)
		err = parse_stat(p, stat);
	return err || !open ? err : parse_pairs(p, open + 1);
}

/* --- operator and limit --- */

static const struct {
	const char *text;
	enum rule_op op;
} ops[] = {
	{ ">=", RULE_AT_LEAST }, { "<=", RULE_AT_MOST }, { ">", RULE_ABOVE }, { "<", RULE_BELOW }
};

/* The first of these outside of brackets. What follows it, or NULL. */
static char *cut_op(struct rule *r, char *text)
{
	bool inside = false;
	size_t i;

	for (; *text; text++) {
		if (*text == '[' || *text == ']')
			inside = *text == '[';
		for (i = 0; !inside && i < sizeof(ops) / sizeof(ops[0]); i++) {
			if (strncmp(text, ops[i].text, strlen(ops[i].text)))
				continue;
			*text = '\0';
			r->op = ops[i].op;
			return text + strlen(ops[i].text);
		}
	}
	return NULL;
}

static int take_time(const struct parser *p, const char *text)
{
	uint64_t ns;

	if (isdigit((unsigned char)text[strlen(text) - 1]) && strtod(text, NULL) > 0)
		return bad(p, "%s of what? A time needs its unit, as in 250ms", text);
	if (fmt_parse_time(text, &ns))
		return bad(p, "%s is no time", text);
	p->r->limit = (double)ns;
	return 0;
}

static int take_number(const struct parser *p, const char *text)
{
	uint64_t n;
	char *end;

	p->r->limit = strtod(text, &end);
	if (end != text && !*end && isfinite(p->r->limit))
		return 0;
	if (fmt_parse_size(text, &n))
		return bad(p, "%s is no number", text);
	p->r->limit = (double)n;
	return 0;
}

static bool is_number(const char *text)
{
	const char *at = text + (*text == '+' || *text == '-');

	return isdigit((unsigned char)*at) || (*at == '.' && isdigit((unsigned char)at[1]));
}

/* "+20%", "2x", or a value in the metric's own unit. */
static int parse_limit(const struct parser *p, char *text)
{
	struct rule *r = p->r;
	char *end;
	double v;

	if (!is_number(text))
		return bad(p, "the limit is +20%%, 2x, or a value as 250ms");
	v = strtod(text, &end);
	if ((!strcmp(end, "%") || !strcmp(end, "x")) && isfinite(v)) {
		r->relative = true;
		r->limit = *end == '%' ? v / 100 : v - 1;
		if (r->limit <= -1)
			return bad(p, "nothing can be less than none of the base");
		return 0;
	}
	if (*text == '+')
		return bad(p, "%s is neither a share (+20%%) nor a value", text);
	if (r->kind == SUBJECT_MEASURE && p->unit == UNIT_NS && r->stat != STAT_RATE)
		return take_time(p, text);
	return take_number(p, text);
}

static int parse_count(const char *text, unsigned int *n)
{
	char *end;
	unsigned long v;

	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	v = strtoul(text, &end, 10);
	if (*end || !v || v > 100000)
		return -EINVAL;
	*n = (unsigned int)v;
	return 0;
}

static int parse_runs(const struct parser *p, char *text)
{
	struct rule *r = p->r;
	char *k, *of, *n, *rest;

	k = cut_word(text);
	of = cut_word(k);
	n = cut_word(of);
	rest = cut_word(n);
	if (strcmp(text, "in") || strcmp(of, "of") || *rest || parse_count(k, &r->k) ||
	    parse_count(n, &r->n) || r->k > r->n)
		return bad(p, "what follows the limit is \"in K of N\", as in 3 of 5 runs");
	if (r->relative)
		return bad(p,
			   "\"in K of N\" is for limits that each run is held against, as 250ms");
	return 0;
}

/* Spaces at the end of the metric, before the operator, are not of it. */
static void trim(char *text)
{
	size_t len = strlen(text);

	while (len && isspace((unsigned char)text[len - 1]))
		text[--len] = '\0';
}

int rule_parse(struct rule *r, const char *text, char *wrong, size_t size)
{
	struct parser p = { .r = r, .wrong = wrong, .size = size };
	char *metric, *limit, *runs;
	int err;

	memset(r, 0, sizeof(*r));
	if (strlen(text) >= sizeof(r->text))
		return bad(&p, "longer than %zu characters", sizeof(r->text) - 1);
	memcpy(r->text, text, strlen(text) + 1);
	memcpy(r->work, text, strlen(text) + 1);
	metric = skip_space(r->work);
	limit = cut_op(r, metric);
	if (!limit)
		return bad(&p, "a rule is METRIC > LIMIT, as in rcu_gp.duration.p99 > +20%%");
	limit = skip_space(limit);
	runs = cut_word(limit);
	trim(metric);
	err = parse_metric(&p, metric);
	if (!err)
		err = parse_limit(&p, limit);
	return err || !*runs ? err : parse_runs(&p, runs);
}
