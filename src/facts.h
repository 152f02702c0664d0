/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * facts.h - what of this kernel and its settings bears on the measures, for a person and for JSON; and
 * in words what this kernel does, decided by what it has, never by its version.
 */
#ifndef KDEFER_FACTS_H
#define KDEFER_FACTS_H

#include <stdbool.h>
#include <stddef.h>

struct kernel;

#define FACTS_MAX 40
#define FACT_LEN 256

/* key: for JSON, name: for a person. A value that cannot be had is "". */
struct fact_row {
	const char *key, *name;
	char value[FACT_LEN];
	bool number;
};

struct facts {
	struct fact_row row[FACTS_MAX];
	size_t n;
};

void facts_read(struct facts *f, const struct kernel *k);
void facts_add(struct facts *f, const char *key, const char *name, const char *value);

/* A deferral that kernels do in several ways: which one this kernel has. */
struct variant {
	const char *subject; /* "rstat" */
	const char *name;    /* "R7"; NULL: this kernel has none */
	const char *text;    /* one sentence */
};

#define VARIANTS 3
void facts_variants(const struct kernel *k, struct variant v[VARIANTS]);

#endif
