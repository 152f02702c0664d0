// SPDX-License-Identifier: GPL-2.0-only
/* bars.c - rows of a power-of-two histogram that fit the width. */
#include <inttypes.h>
#include <stdint.h>
#include <string.h>

#include "bars.h"
#include "format.h"

#define EDGE 7                          /* columns of fmt_edge_ns() */
#define LABEL (1 + EDGE + 2 + EDGE + 1) /* "[4.19 ms, 8.39 ms)" */
#define BAR_MIN 4                       /* shorter ones tell nothing */
#define BAR_MAX 100

/* How the rows of one histogram are laid out. */
struct layout {
	int first, last; /* rows that are not empty */
	uint64_t max;
	size_t count; /* columns of the counts */
	size_t bar;   /* 0: no bars */
	bool commas;
};

/* 2^i as bpftrace writes it: 512, then 1K, 2K ... */
static char *edge_count(char *buf, size_t size, int power)
{
	snprintf(buf, size, "%u%.*s", 1u << power % 10, power >= 10, &" KMGTPE"[power / 10]);
	return buf;
}

static char *edge(char *buf, size_t size, enum unit unit, int power)
{
	if (power >= 64)
		snprintf(buf, size, "...");
	else if (unit == UNIT_NS)
		fmt_edge_ns(buf, size, power ? 1ull << power : 0);
	else if (!power)
		snprintf(buf, size, "0");
	else
		edge_count(buf, size, power);
	return buf;
}

static char *count_text(char *buf, size_t size, const struct layout *l, uint64_t n)
{
	if (l->commas)
		return fmt_count(buf, size, n);
	snprintf(buf, size, "%" PRIu64, n);
	return buf;
}

static void set_widths(struct layout *l, size_t width)
{
	const size_t frame = strlen(" |") + strlen("|");
	size_t left;
	char buf[FMT_LEN];

	l->count = strlen(count_text(buf, sizeof(buf), l, l->max));
	if (l->count < strlen("count"))
		l->count = strlen("count");
	left = LABEL + 1 + l->count + frame;
	l->bar = width > left ? width - left : 0;
	if (l->bar > BAR_MAX)
		l->bar = BAR_MAX;
	if (l->bar < BAR_MIN)
		l->bar = 0;
}

/* False for an empty histogram. */
static bool lay_out(struct layout *l, const uint64_t *rows, size_t width)
{
	int i;

	memset(l, 0, sizeof(*l));
	l->first = -1;
	for (i = 0; i < HIST_POW2_ROWS; i++) {
		if (!rows[i])
			continue;
		if (l->first < 0)
			l->first = i;
		l->last = i;
		if (rows[i] > l->max)
			l->max = rows[i];
	}
	l->commas = true;
	set_widths(l, width);
	if (!l->bar) { /* counts so large that they leave no room: shorter ones */
		l->commas = false;
		set_widths(l, width);
	}
	return l->first >= 0;
}

static void put_row(FILE *out, const struct layout *l, enum unit unit, int i, uint64_t n)
{
	char low[FMT_LEN], high[FMT_LEN], count[FMT_LEN], bar[BAR_MAX + 1];

	fprintf(out, "[%*s, %*s) %*s", EDGE, edge(low, sizeof(low), unit, i), EDGE,
		edge(high, sizeof(high), unit, i + 1), (int)l->count,
		count_text(count, sizeof(count), l, n));
	if (l->bar)
		fprintf(out, " |%s|", fmt_bar(bar, sizeof(bar), n, l->max, l->bar));
	fputc('\n', out);
}

/* Empty rows from i on, up to one that is not: how many. */
static int empty_run(const uint64_t *rows, int i, int last)
{
	int n = 0;

	while (i + n < last && !rows[i + n])
		n++;
	return n;
}

void bars_print(FILE *out, const struct hist *h, enum unit unit, const char *title, size_t width)
{
	uint64_t rows[HIST_POW2_ROWS];
	struct layout l;
	int i, empty;

	hist_fold(h, rows);
	if (!lay_out(&l, rows, width))
		return;
	fprintf(out, "%*s %*s\n", LABEL, title, (int)l.count, "count");
	for (i = l.first; i <= l.last; i++) {
		empty = empty_run(rows, i, l.last);
		if (empty < 2) {
			put_row(out, &l, unit, i, rows[i]);
			continue;
		}
		fprintf(out, "%*s\n", LABEL / 2 + 2, "...");
		i += empty - 1;
	}
}
