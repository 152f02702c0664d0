/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bench.h - the loads of `kdefer bench`: what a load is, and what it hands back. One file a load
 * (src/bench_NAME.c, and bpf/bench_NAME.bpf.c if it has programs), and a line in src/bench.c. Text,
 * JSON and figures of a recording are all made of the one result.
 *
 * Shared pieces: processes on CPUs and measured windows (bench_crew.h), what has to be taken away
 * again however we end (bench_guard.h), memory of a cgroup (bench_memory.h), lists of BPF memory
 * (bench_lists.h).
 */
#ifndef KDEFER_BENCH_H
#define KDEFER_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "../bpf/defer.h"
#include "histogram.h"
#include "json.h"
#include "opts.h"

/* --- what was measured --- */

struct bench_param {
	char *name, *text;
	bool number;
	bool key; /* rows of one case differ in it: it is a part of the names of their metrics */
};

struct bench_value {
	char *name, *unit;
	enum kd_better better;
	double value;
	double sd;    /* standard deviation of the same unit; negative: none */
	char *absent; /* why there is no value; NULL: there is one */
};

/* How one kind of thing in a row was distributed. */
struct bench_hist {
	char *name, *unit;
	struct hist *hist;
};

struct bench_row {
	char *name; /* of the case: one word, as it stands in names of metrics */
	struct bench_param *param;
	size_t nparams;
	struct bench_value *value;
	size_t nvalues;
	struct bench_hist *hist;
	size_t nhists;
	struct bench_result *of;
};

struct bench_result {
	struct bench_row **row;
	size_t nrows;
	char **note; /* what a reader has to know beside the table */
	size_t nnotes;
	int err;               /* -ENOMEM: something is missing */
	struct bench_row lost; /* what is filled where there was no memory for a row */
};

void bench_result_init(struct bench_result *r);
void bench_result_free(struct bench_result *r);

/*
 * Names and texts are copied. A parameter whose name ends in _ns or _bytes is shown as a time or a
 * size. None of these fails: `err` of the result says what came of them.
 */
struct bench_row *bench_row(struct bench_result *r, const char *name); /* never NULL */
void bench_param(struct bench_row *row, const char *name, uint64_t value);
void bench_param_text(struct bench_row *row, const char *name, const char *text);
void bench_key(struct bench_row *row, const char *name, uint64_t value); /* key: see above */
void bench_key_text(struct bench_row *row, const char *name, const char *text);
/* Units are words without spaces, base units where there is one: ns, bytes, /s, count. */
void bench_value(struct bench_row *row, const char *name, double value, const char *unit,
		 enum kd_better better);
void bench_value_sd(struct bench_row *row, const char *name, double value, double sd,
		    const char *unit, enum kd_better better);
void bench_absent(struct bench_row *row, const char *name, const char *unit, enum kd_better better,
		  const char *reason_fmt, ...) __attribute__((format(printf, 5, 6)));
void bench_hist(struct bench_row *row, const char *name, const char *unit, const struct hist *h);
void bench_note(struct bench_result *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

const struct bench_param *bench_find_param(const struct bench_row *row, const char *name);
const struct bench_value *bench_find_value(const struct bench_row *row, const char *name);
/* "LOAD.CASE[.KEY=VALUE...].NAME", the name of a metric. Returns buf. */
char *bench_metric_name(char *buf, size_t size, const char *load, const struct bench_row *row,
			const struct bench_value *v);

/* --- a load --- */

/* A column of its table. */
struct bench_column {
	const char *title;
	const char *of; /* a value or a param of the row; NULL: the case */
	double scale;   /* of a value: what it is divided by; 0: 1 */
	int decimals;
	bool sd;  /* with its standard deviation, "1.52 +- 0.03" */
	int rank; /* where there is no room the highest rank goes first; 0 stays */
};

struct bench_guard;

/* A run of a load, as the load sees it. */
struct bench_run {
	struct bench_result *result;
	struct bench_guard *guard; /* takes away what the load leaves behind: bench_guard.h */
	/* To a person who waits; NULL: nobody does. done_ns of of_ns (0: unknown) of `what`. */
	void (*progress)(void *ctx, const char *what, uint64_t done_ns, uint64_t of_ns);
	void *ctx;
};

struct bench_load {
	const char *name, *summary;
	const char *usage; /* "[--max-entries N] ..." */
	const char *does;  /* to the machine, in sentences: a part of the help */
	const struct opt *options;
	size_t size; /* of the structure that they fill */
	void (*defaults)(void *options);
	int (*check)(const void *options);  /* what they say together; 0 or -EINVAL (logged) */
	void (*release)(void *options);     /* what they hold; NULL: nothing */
	const struct bench_column *columns; /* ended by a title of NULL */
	/*
	 * Measures, and leaves nothing behind but the result. 0; -EINTR: a signal came, and the result
	 * holds what there was by then; -ENODEV: cannot be run here (logged why); another negative errno
	 * (logged).
	 */
	int (*run)(struct bench_run *run, const void *options);
};

extern const struct bench_load *const bench_loads[]; /* NULL-terminated */
const struct bench_load *bench_find(const char *name);

/* The kernel does not make a map (err is its negative errno): logs why; what run() is to return. */
int bench_no_map(const struct bench_load *load, uint64_t entries, int err);

/* --- how it is shown --- */

void view_bench(FILE *out, const struct bench_load *load, const struct bench_result *r,
		size_t width);
void view_bench_metrics(FILE *out, const struct bench_load *load, const struct bench_result *r);
void doc_bench(struct json *j, const struct bench_load *load, const struct bench_result *r);

#endif
