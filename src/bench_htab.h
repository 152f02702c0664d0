/* SPDX-License-Identifier: GPL-2.0-only */
/* bench_htab.h - parts of the load htab-mem: options and cases; one case measured. */
#ifndef KDEFER_BENCH_HTAB_H
#define KDEFER_BENCH_HTAB_H

#include <stdbool.h>
#include <stdint.h>

#include "bench.h"
#include "bench_crew.h"
#include "bench_lists.h"
#include "bench_pull.h"

enum htab_case {
	HTAB_NO_OP, /* the loop alone: what the others cost above it is the map's */
	HTAB_OVERWRITE,
	HTAB_ADD_DELETE,
	HTAB_PAIRS, /* one CPU adds what another deletes, in turn */
	HTAB_CASES,
};

struct htab_options {
	enum htab_case use_case;
	bool all, full, preallocated;
	uint64_t max_entries, keys, batch, value_size, producers;
	struct bench_cpus cpus;
	uint64_t duration_ns, warm_up_ns, look_ns, limit;
	enum bench_pull_how trigger;
};

struct htab {
	struct bench_run *run;
	const struct htab_options *o;
	struct bench_cpus cpus; /* of the producers */
	uint64_t limit;         /* of memory; 0: none */
	struct bench_lists lists;
};

const char *htab_case_name(enum htab_case of);
unsigned int htab_share(const struct htab_options *o, unsigned int shares); /* keys of each */
unsigned int htab_batch(const struct htab_options *o, unsigned int keys);

/* Measures one case into a row of the result. As bench_load.run(). */
int htab_measure(struct htab *h, enum htab_case of);
/* A row without values. 0. */
int htab_absent(struct htab *h, enum htab_case of, const char *why);

#endif
