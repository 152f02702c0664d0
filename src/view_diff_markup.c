// SPDX-License-Identifier: GPL-2.0-only
/* view_diff_markup.c - `kdefer diff` for machines that show it to people: Markdown, JUnit's XML. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "diff.h"
#include "format.h"

#ifndef KDEFER_VERSION
#define KDEFER_VERSION "unknown"
#endif

/* --- Markdown --- */

/* Text that stays text: what Markdown or HTML would read, escaped; one line. */
static void put_md(FILE *out, const char *text)
{
	char safe[2048];
	const char *s;

	for (s = fmt_safe(safe, sizeof(safe), text); *s; s++) {
		if (strchr("<&@#", *s)) /* the latter two would call people and link to issues */
			fprintf(out, "&#%d;", *s);
		else if (strchr("\\`*_[]|~", *s))
			fprintf(out, "\\%c", *s);
		else
			fputc(*s, out);
	}
}

static void put_md_list(FILE *out, const char *label, char *const *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		fprintf(out, "- %s: ", label);
		put_md(out, list[i]);
		fputc('\n', out);
	}
}

static void put_md_cell(FILE *out, const char *text)
{
	put_md(out, text);
	fputs(" | ", out);
}

static void put_md_row(FILE *out, const struct diff *d, const struct compare_row *row)
{
	char buf[2048];

	fputs("| ", out);
	put_md_cell(out, compare_row_name(d->c, row, buf, sizeof(buf)));
	put_md_cell(out, diff_value(buf, sizeof(buf), d, row, row->m.value[SIDE_BASE]));
	put_md_cell(out, diff_value(buf, sizeof(buf), d, row, row->m.value[SIDE_NEW]));
	put_md_cell(out, diff_change(buf, sizeof(buf), d, row, row->m.change));
	put_md_cell(out, diff_interval(buf, sizeof(buf), d, row));
	fprintf(out, "%s%s", verdict_name(row->verdict), *row->why ? ": " : "");
	put_md(out, row->why);
	fputs(" |\n", out);
}

static void put_md_rows(FILE *out, const struct diff *d, const struct compare_row **rows, size_t n)
{
	size_t i, left = 0;

	fputs("\n| metric | base | new | change | 95% interval | verdict |\n"
	      "|---|---:|---:|---:|---:|---|\n",
	      out);
	for (i = 0; i < n; i++) {
		if (d->full || !diff_is_dull(rows[i]))
			put_md_row(out, d, rows[i]);
		else
			left++;
	}
	if (left)
		fprintf(out, "\n%zu more rows that do not gate: `--full`.\n", left);
}

static void put_md_rules(FILE *out, const struct diff *d)
{
	size_t i;

	if (d->nrules)
		fputs("\n| rule | verdict | why |\n|---|---|---|\n", out);
	for (i = 0; i < d->nrules; i++) {
		fputs("| ", out);
		put_md_cell(out, d->rules[i]->text);
		put_md_cell(out, outcome_name(d->results[i].outcome));
		put_md(out, d->results[i].why);
		fputs(" |\n", out);
	}
}

int view_diff_markdown(FILE *out, const struct diff *d)
{
	const struct compare_row **rows;
	char method[1024];
	size_t n;

	rows = diff_sorted(d, &n);
	if (!rows)
		return -ENOMEM;
	fprintf(out, "### kdefer diff: %s\n\n",
		diff_no_match(d) ? "error: a rule names nothing" : verdict_name(diff_verdict(d)));
	put_md_list(out, "warning", d->c->warnings, d->c->nwarnings);
	if (d->c->incomparable)
		put_md_list(out, "barred", &d->c->incomparable, 1);
	put_md_list(out, "differs", d->c->differences, d->c->ndifferences);
	fputs("- method: ", out);
	put_md(out, diff_method(method, sizeof(method), d));
	fputc('\n', out);
	put_md_list(out, "note", d->c->notes, d->c->nnotes);
	put_md_rules(out, d);
	put_md_rows(out, d, rows, n);
	free(rows);
	return 0;
}

void view_diff_markdown_word(FILE *out, const char *verdict, const char *why)
{
	fprintf(out, "### kdefer diff: %s\n\n", verdict);
	put_md(out, why);
	fputc('\n', out);
}

/* --- JUnit --- */

/* Control characters cannot stand in XML at all, and bytes that are no UTF-8 neither. */
static void put_xml(FILE *out, const char *text)
{
	char safe[2048];
	const char *s;

	for (s = fmt_safe(safe, sizeof(safe), text); *s; s++) {
		switch (*s) {
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '&':
			fputs("&amp;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			fputc(*s, out);
		}
	}
}

/* What became of a case, as JUnit has it: NULL is passed. */
static void put_case(FILE *out, const char *class, const char *name, const char *element,
		     const char *message)
{
	fprintf(out, "  <testcase classname=\"%s\" name=\"", class);
	put_xml(out, name);
	if (!element) {
		fputs("\"/>\n", out);
		return;
	}
	fprintf(out, "\"><%s message=\"", element);
	put_xml(out, message);
	fputs("\"/></testcase>\n", out);
}

static const char *element_of_rule(enum outcome o)
{
	static const char *const elements[] = {
		[OUTCOME_PASS] = NULL,
		[OUTCOME_FAIL] = "failure",
		[OUTCOME_INCONCLUSIVE] = "skipped",
		[OUTCOME_NOT_COMPARABLE] = "error",
		[OUTCOME_NO_MATCH] = "error",
	};

	return elements[o];
}

/* Where rules judge, totals do not. */
static const char *element_of_row(const struct diff *d, const struct compare_row *row)
{
	if (row->verdict == VERDICT_REGRESS)
		return d->nrules ? NULL : "failure";
	if (row->verdict == VERDICT_INCONCLUSIVE || row->verdict == VERDICT_NOT_COMPARABLE)
		return "skipped";
	return NULL;
}

static void put_junit_row(FILE *out, const struct diff *d, const struct compare_row *row)
{
	char name[2048], base[80], new[80], change[80], interval[200], message[2048];

	snprintf(message, sizeof(message), "%s -> %s, %s, 95%% interval %s%s%s",
		 diff_value(base, sizeof(base), d, row, row->m.value[SIDE_BASE]),
		 diff_value(new, sizeof(new), d, row, row->m.value[SIDE_NEW]),
		 diff_change(change, sizeof(change), d, row, row->m.change),
		 *diff_interval(interval, sizeof(interval), d, row) ? interval : "none",
		 *row->why ? "; " : "", row->why);
	put_case(out, "kdefer.total", compare_row_name(d->c, row, name, sizeof(name)),
		 element_of_row(d, row), message);
}

static void count_junit(const struct diff *d, size_t n[3])
{
	const char *e;
	size_t i;

	for (i = 0; i < d->nrules + d->c->nrows; i++) {
		if (i < d->nrules)
			e = element_of_rule(d->results[i].outcome);
		else if (d->c->rows[i - d->nrules].gates)
			e = element_of_row(d, &d->c->rows[i - d->nrules]);
		else
			continue;
		n[0]++;
		n[1] += e && !strcmp(e, "failure");
		n[2] += e && !strcmp(e, "error");
	}
}

int view_diff_junit(FILE *out, const struct diff *d)
{
	const struct compare_row **rows;
	size_t n, i, counts[3] = { 0 };

	rows = diff_sorted(d, &n);
	if (!rows)
		return -ENOMEM;
	count_junit(d, counts);
	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<testsuite name=\"kdefer diff\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\">\n",
		counts[0], counts[1], counts[2]);
	for (i = 0; i < d->nrules; i++)
		put_case(out, "kdefer.rule", d->rules[i]->text,
			 element_of_rule(d->results[i].outcome), d->results[i].why);
	for (i = 0; i < n; i++)
		if (rows[i]->gates)
			put_junit_row(out, d, rows[i]);
	fputs("</testsuite>\n", out);
	free(rows);
	return 0;
}

void view_diff_junit_word(FILE *out, const char *why, bool failed)
{
	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<testsuite name=\"kdefer diff\" tests=\"1\" failures=\"0\" errors=\"%d\">\n",
		failed);
	put_case(out, "kdefer", "comparison", failed ? "error" : "skipped", why);
	fputs("</testsuite>\n", out);
}
