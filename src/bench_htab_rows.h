/* SPDX-License-Identifier: GPL-2.0-only */
/* bench_htab_rows.h - a part of the load htab-mem: from counts to a row of the table. */
#ifndef KDEFER_BENCH_HTAB_ROWS_H
#define KDEFER_BENCH_HTAB_ROWS_H

#include "bench_htab.h"
#include "bench_memory.h"

#define HTAB_RATES 64

struct htab_row {
	enum htab_case of;
	const struct htab_options *o;
	unsigned int producers;
	unsigned int shares; /* of the keys: producers, or pairs of them */
	unsigned int keys;   /* in each */
	unsigned int batch;
	const char *trigger;
	uint32_t map_id;
	int cgroup; /* its version; 0: none */
	char no_memory[256];
	uint64_t base, limit, limit_hits;
	/* The window, and all since the start. */
	uint64_t begin_ns, end_ns;
	struct bench_work begin, end, all; /* sums over producers */
	uint64_t calls;                    /* that were to lead to a run, since the start */
	struct bench_memory memory;
	bool looked;
	struct bench_peaks peaks;
	uint64_t elements;       /* in the map at the end */
	double rate[HTAB_RATES]; /* runs per second, in parts of the window; the last so many */
	unsigned int rates;
};

void htab_add_rate(struct htab_row *r, double runs_per_s);
/*
 * How many elements are in the map by what was done to it. False: the failures do not let it be told.
 */
bool htab_expected(const struct htab_row *r, const struct bench_pull *t, uint64_t *elements);

void htab_put_row(struct htab *h, const struct htab_row *r);
void htab_put_absent(struct htab *h, const struct htab_row *r, const char *why);

#endif
