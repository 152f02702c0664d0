// SPDX-License-Identifier: GPL-2.0-only
/* diff.c - what all forms of the report share: the verdict over all, order, numbers as text. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diff.h"
#include "format.h"
#include "text.h"

static size_t outcomes(const struct diff *d, enum outcome o)
{
	size_t i, n = 0;

	for (i = 0; i < d->nrules; i++)
		n += d->results[i].outcome == o;
	return n;
}

bool diff_no_match(const struct diff *d)
{
	return outcomes(d, OUTCOME_NO_MATCH);
}

enum verdict diff_verdict(const struct diff *d)
{
	if (!d->nrules)
		return compare_verdict(d->c);
	if (outcomes(d, OUTCOME_FAIL))
		return VERDICT_REGRESS;
	if (outcomes(d, OUTCOME_NOT_COMPARABLE))
		return VERDICT_NOT_COMPARABLE;
	if (outcomes(d, OUTCOME_INCONCLUSIVE) || outcomes(d, OUTCOME_NO_MATCH))
		return VERDICT_INCONCLUSIVE;
	return VERDICT_SAME;
}

/* --- order --- */

static double size_of(const struct compare_row *row)
{
	if (isnan(row->m.change))
		return -1;
	return row->m.relative ? fabs(log1p(row->m.change)) : fabs(row->m.change);
}

static int by_importance(const void *pa, const void *pb)
{
	const struct compare_row *a = *(const struct compare_row *const *)pa;
	const struct compare_row *b = *(const struct compare_row *const *)pb;
	double sa = size_of(a), sb = size_of(b);

	if (a->verdict != b->verdict)
		return (int)a->verdict - (int)b->verdict;
	if (a->gates != b->gates)
		return b->gates - a->gates;
	if (a->m.relative != b->m.relative)
		return b->m.relative - a->m.relative;
	if (sa < sb || sa > sb)
		return sa < sb ? 1 : -1;
	return (a > b) - (a < b); /* as they came */
}

const struct compare_row **diff_sorted(const struct diff *d, size_t *n)
{
	const struct compare_row **rows =
		calloc(d->c->nrows + 1, sizeof(const struct compare_row *));
	size_t i;

	if (!rows)
		return NULL;
	for (i = 0; i < d->c->nrows; i++)
		rows[i] = &d->c->rows[i];
	qsort(rows, d->c->nrows, sizeof(const struct compare_row *), by_importance);
	*n = d->c->nrows;
	return rows;
}

bool diff_is_dull(const struct compare_row *row)
{
	return !row->gates && row->verdict >= VERDICT_INCONCLUSIVE;
}

/* --- numbers --- */

static char *plain_number(char *buf, size_t size, double v, const char *unit)
{
	if (fabs(v) >= 1000 && fabs(v) < 1e15) {
		fmt_count(buf, size, (uint64_t)(fabs(v) + 0.5));
		if (v < 0) {
			memmove(buf + 1, buf, strlen(buf) + 1); /* buf is FMT_LEN at least */
			*buf = '-';
		}
	} else {
		snprintf(buf, size, "%.3g", v);
	}
	if (*unit && strcmp(unit, "count"))
		text_append(buf, size, " %s", unit);
	return buf;
}

char *diff_value(char *buf, size_t size, const struct diff *d, const struct compare_row *row,
		 double v)
{
	const struct sample_subject *s = &d->t->subjects[row->subject];

	if (isnan(v)) {
		snprintf(buf, size, "-");
	} else if (row->stat == STAT_RATE) {
		fmt_rate(buf, size, v);
		text_append(buf, size, "/s");
	} else if (s->kind != SUBJECT_VALUE && !strcmp(s->unit, "ns") && v >= 0 && v < 1e18) {
		fmt_ns(buf, size, (uint64_t)(v + 0.5));
	} else {
		plain_number(buf, size, v, s->unit);
	}
	return buf;
}

static char *share(char *buf, size_t size, double v)
{
	double percent = v * 100;

	if (fabs(percent) < 0.05)
		snprintf(buf, size, "0%%");
	else if (fabs(percent) < 10)
		snprintf(buf, size, "%+.1f%%", percent);
	else if (percent < 1000)
		snprintf(buf, size, "%+.0f%%", percent);
	else
		snprintf(buf, size, "%.3gx", 1 + v);
	return buf;
}

char *diff_change(char *buf, size_t size, const struct diff *d, const struct compare_row *row,
		  double change)
{
	char value[FMT_LEN + UNIT_TEXT_LEN];

	if (isnan(change))
		snprintf(buf, size, "-");
	else if (row->m.relative)
		share(buf, size, change);
	else
		snprintf(buf, size, "%s%s", change < 0 ? "-" : "+",
			 diff_value(value, sizeof(value), d, row, fabs(change)));
	return buf;
}

char *diff_interval(char *buf, size_t size, const struct diff *d, const struct compare_row *row)
{
	char lo[2 * FMT_LEN], hi[2 * FMT_LEN];

	if (!isfinite(row->m.lo) || !isfinite(row->m.hi))
		snprintf(buf, size, "%s", "");
	else
		snprintf(buf, size, "%s .. %s", diff_change(lo, sizeof(lo), d, row, row->m.lo),
			 diff_change(hi, sizeof(hi), d, row, row->m.hi));
	return buf;
}

/* The test that most rows took. */
static const struct measured *usual_test(const struct diff *d)
{
	const struct measured *usual = NULL;
	size_t i;

	for (i = 0; i < d->c->nrows; i++) {
		if (d->c->rows[i].m.test == TEST_NONE)
			continue;
		if (!usual || d->c->rows[i].gates)
			usual = &d->c->rows[i].m;
		if (d->c->rows[i].gates)
			break;
	}
	return usual;
}

char *diff_method(char *buf, size_t size, const struct diff *d)
{
	const struct comparison *c = d->c;
	const struct measured *m = usual_test(d);

	if (!m || c->incomparable) {
		snprintf(buf, size, "%s", m ? "nothing was compared" : "no test: too few values");
		return buf;
	}
	if (c->level == LEVEL_INTERVAL)
		snprintf(buf, size, "%s across the intervals of one run a side",
			 test_name(m->test));
	else
		snprintf(buf, size, "%s over %s%s (%zu and %zu), p %s", test_name(m->test),
			 c->paired ? "pairs of " : "", level_name(c->level, 2), c->units[SIDE_BASE],
			 c->units[SIDE_NEW], m->exact ? "exact" : "approximated");
	text_append(buf, size,
		    "; Holm's correction for %zu totals at %.3g%%; %.3g%% intervals; less than "
		    "%.3g%% is no change",
		    c->family, c->conf.alpha * 100, (1 - c->conf.alpha) * 100,
		    c->conf.min_change * 100);
	return buf;
}
