// SPDX-License-Identifier: GPL-2.0-only
/* view_diff.c - `kdefer diff` as text that goes into a mail as it is: plain ASCII, narrow. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "diff.h"
#include "format.h"
#include "text.h"

#ifndef KDEFER_VERSION
#define KDEFER_VERSION "unknown"
#endif

#define LINE 4096

struct page {
	FILE *out;
	const struct diff *d;
	size_t width;
};

/* Bytes beyond ASCII as \xNN; control characters too. */
static void to_ascii(char *buf, size_t size, const char *s)
{
	size_t at = 0;

	for (; *s && at + 5 < size; s++) {
		if ((unsigned char)*s < 0x20 || (unsigned char)*s > 0x7e)
			at += (size_t)snprintf(buf + at, size - at, "\\x%02x", (unsigned char)*s);
		else
			buf[at++] = *s;
	}
	buf[at] = '\0';
}

static void __attribute__((format(printf, 4, 5)))
put(const struct page *p, const char *label, size_t indent, const char *fmt, ...)
{
	char line[LINE], ascii[LINE];
	va_list args;

	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	to_ascii(ascii, sizeof(ascii), line);
	if (*label)
		text_field(p->out, label, ascii, p->width);
	else {
		fprintf(p->out, "%*s", (int)indent, "");
		text_wrap(p->out, ascii, indent, indent + 4, p->width);
	}
}

/* --- the head --- */

static const char *fact_of(const struct sample_file *f, const char *name)
{
	size_t i;

	for (i = 0; i < f->nfacts; i++)
		if (!strcmp(f->facts[i].name, name))
			return f->facts[i].value;
	return "?";
}

static const char *kernel_of(const struct samples *t, enum sample_side side)
{
	const char *kernel = NULL, *k;
	size_t i;

	for (i = 0; i < t->nfiles; i++) {
		if (!t->files[i].side[side])
			continue;
		k = fact_of(&t->files[i], "kernel");
		if (kernel && strcmp(kernel, k))
			return "several kernels";
		kernel = k;
	}
	return kernel ? kernel : "?";
}

struct counts {
	size_t hosts, boots, runs;
	uint64_t ns;
};

static struct counts count(const struct samples *t, enum sample_side side)
{
	struct counts n = { 0 };
	const struct sample_run *r;
	size_t i, k;
	bool host, boot;

	for (i = 0; i < t->nruns; i++) {
		r = &t->runs[i];
		if (r->side != side)
			continue;
		for (host = boot = true, k = 0; k < i; k++) {
			host &= t->runs[k].side != side || t->runs[k].host != r->host;
			boot &= t->runs[k].side != side || t->runs[k].boot != r->boot;
		}
		n.hosts += host;
		n.boots += boot;
		n.runs++;
		n.ns += r->duration_ns;
	}
	return n;
}

static void put_side(const struct page *p, enum sample_side side)
{
	const struct samples *t = p->d->t;
	struct counts n = count(t, side);
	char line[LINE] = "", time[FMT_LEN];
	size_t i;

	for (i = 0; i < t->nfiles; i++)
		if (t->files[i].side[side])
			text_append(line, sizeof(line), "%s%s", *line ? ", " : "",
				    t->files[i].path);
	put(p, side == SIDE_BASE ? "base:" : "new:", 0,
	    "%s; %zu host%s, %zu boot%s, %zu run%s, %s: %s%s", kernel_of(t, side), n.hosts,
	    n.hosts == 1 ? "" : "s", n.boots, n.boots == 1 ? "" : "s", n.runs,
	    n.runs == 1 ? "" : "s", fmt_ns(time, sizeof(time), n.ns),
	    t->paired ? (side == SIDE_BASE ? "A of " : "B of ") : "", line);
}

static void put_list(const struct page *p, const char *label, char *const *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		put(p, label, 0, "%s", list[i]);
}

static void put_selftest(const struct page *p)
{
	const struct selftest *s = &p->d->selftest;

	if (!s->done)
		return;
	if (s->slowdown > 0)
		put(p, "self test:", 0,
		    "all times of new %.3g-fold turn it red; of %u shuffles of the labels %u did",
		    s->slowdown, s->shuffles, s->red);
	else
		put(p, "self test:", 0,
		    "nothing turns it red with these captures, not even all times of new 16-fold; of "
		    "%u shuffles of the labels %u did",
		    s->shuffles, s->red);
}

static void put_verdict(const struct page *p)
{
	static const char *const words[] = {
		[VERDICT_REGRESS] = "REGRESSION",
		[VERDICT_IMPROVE] = "no regression; some totals are better",
		[VERDICT_CHANGED] = "no regression",
		[VERDICT_INCONCLUSIVE] = "INCONCLUSIVE",
		[VERDICT_SAME] = "no regression",
		[VERDICT_NOT_COMPARABLE] = "NOT COMPARABLE",
	};
	bool error = diff_no_match(p->d);

	put(p, "verdict:", 0, "%s",
	    error ? "ERROR: a rule names nothing in these captures" : words[diff_verdict(p->d)]);
}

static void put_head(const struct page *p)
{
	const struct comparison *c = p->d->c;
	char method[LINE];

	put(p, "", 0, "kdefer %s: %s", KDEFER_VERSION, p->d->command_line);
	put_verdict(p);
	put_list(p, "warning:", c->warnings, c->nwarnings);
	if (c->incomparable)
		put(p, "barred:", 0, "%s", c->incomparable);
	put_side(p, SIDE_BASE);
	put_side(p, SIDE_NEW);
	put_list(p, "differs:", c->differences, c->ndifferences);
	put(p, "method:", 0, "%s", diff_method(method, sizeof(method), p->d));
	put_list(p, "note:", c->notes, c->nnotes);
	put_selftest(p);
}

/* --- rules --- */

static void put_rules(const struct page *p)
{
	const struct diff *d = p->d;
	size_t i;

	for (i = 0; i < d->nrules; i++) {
		if (!i)
			fputs("\nRules:\n", p->out);
		put(p, "", 2, "%s: %s", outcome_name(d->results[i].outcome), d->rules[i]->text);
		if (*d->results[i].why)
			put(p, "", 6, "%s", d->results[i].why);
	}
}

/* --- rows --- */

static void put_p(char *buf, size_t size, const struct compare_row *row)
{
	if (isnan(row->corrected))
		snprintf(buf, size, "%s", "");
	else
		snprintf(buf, size, ", p %.2g", row->corrected);
}

static void put_row(const struct page *p, const struct compare_row *row)
{
	char name[2048], base[80], new[80], change[80], interval[200], chance[40];
	const struct diff *d = p->d;

	compare_row_name(d->c, row, name, sizeof(name));
	if (isnan(row->m.value[SIDE_BASE]) && isnan(row->m.value[SIDE_NEW]))
		put(p, "", 2, "%s", name);
	else
		put(p, "", 2, "%s: %s -> %s, %s", name,
		    diff_value(base, sizeof(base), d, row, row->m.value[SIDE_BASE]),
		    diff_value(new, sizeof(new), d, row, row->m.value[SIDE_NEW]),
		    diff_change(change, sizeof(change), d, row, row->m.change));
	diff_interval(interval, sizeof(interval), d, row);
	put_p(chance, sizeof(chance), row);
	if (row->verdict <= VERDICT_CHANGED)
		put(p, "", 6, "%s%s%s", *interval ? interval : "no interval", chance,
		    row->gates ? "" : ", does not gate");
	if (*row->why)
		put(p, "", 6, "%s", row->why);
}

/* Rows of one verdict. Of those by key the first few, unless all are wanted. */
#define KEYS_SHOWN 10

static size_t put_section(const struct page *p, const struct compare_row **rows, size_t n)
{
	static const char *const titles[] = {
		[VERDICT_REGRESS] = "Worse",
		[VERDICT_IMPROVE] = "Better",
		[VERDICT_CHANGED] = "Changed, neither better nor worse",
		[VERDICT_INCONCLUSIVE] = "Inconclusive",
		[VERDICT_SAME] = "Same",
		[VERDICT_NOT_COMPARABLE] = "Not comparable",
	};
	size_t i, end, shown = 0, keys = 0, left = 0;

	for (end = 0; end < n && rows[end]->verdict == rows[0]->verdict; end++)
		;
	for (i = 0; i < end; i++) {
		if (!p->d->full &&
		    (diff_is_dull(rows[i]) || (!rows[i]->gates && keys >= KEYS_SHOWN))) {
			left++;
			continue;
		}
		if (!shown++)
			fprintf(p->out, "\n%s:\n", titles[rows[0]->verdict]);
		keys += !rows[i]->gates;
		put_row(p, rows[i]);
	}
	if (left)
		fprintf(p->out, "%s  (%s: %zu more that do not gate: --full)\n", shown ? "" : "\n",
			titles[rows[0]->verdict], left);
	return end;
}

int view_diff(FILE *out, const struct diff *d, size_t width)
{
	struct page p = { out, d, width };
	const struct compare_row **rows;
	size_t n, at;

	rows = diff_sorted(d, &n);
	if (!rows)
		return -ENOMEM;
	put_head(&p);
	put_rules(&p);
	/* What bars all of it was said once. */
	for (at = 0; at < n && (!d->c->incomparable || d->full);)
		at += put_section(&p, rows + at, n - at);
	free(rows);
	return 0;
}
