/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pending.h - the part of the model that knows lists of waiting work: how long each is, was, and was
 * at most; grace periods and who owes them; names. Filled by model.c; what views ask: backlog.h.
 */
#ifndef KDEFER_PENDING_H
#define KDEFER_PENDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "level_table.h"

struct model;
struct kd_rec_text;

/* Sums are kept as the stream comes, so that what was the most is the most of the sum, seen at ticks. */
enum pending_kind {
	PENDING_LIST,  /* one list as in the stream: of one CPU, map and so on */
	PENDING_KEY,   /* over CPUs: by source, flavour, list, key, unit size */
	PENDING_TOTAL, /* over keys: by source, flavour, list */
	PENDING_SOURCE,
	PENDING_ALL,
	PENDING_KINDS,
};

/* What a list held from tick to tick. A level counts for the interval that the tick ends at which it was seen. */
struct pending_span {
	uint64_t since_ns; /* all before is in the areas */
	uint64_t peak, peak_bytes;
	unsigned __int128 area, area_bytes; /* entries times ns, bytes times ns */
	uint64_t begin, begin_bytes;        /* the level when it began */
	uint32_t of; /* which run of the command, counted from 1; 0: all since the baseline */
	bool ended;
	bool inexact, truncated; /* one look at it or more */
};

struct pending_node {
	/* As of the newest tick. Of a sum: of its parts. */
	uint64_t length, bytes; /* bytes: where they are known */
	uint32_t lists;         /* parts that are not empty; of a list 0 or 1 */
	uint32_t inexact, truncated;
	uint64_t unsized;                  /* entries whose bytes are not known */
	uint64_t stranded, stranded_bytes; /* of all these: KD_PENDING_STRANDED */
	/* Only of a list: the oldest entry was `age_ns` old at `age_at_ns`; KD_UNKNOWN. */
	uint64_t age_ns, age_at_ns;
	uint32_t flags;
	uint64_t prev, prev_bytes, changed; /* before the tick numbered so */
	struct pending_span whole, one_run;
	uint32_t parent; /* index + 1 in nodes; 0: none */
	uint32_t dirty;  /* of a list: chain of those that a record changed; index + 1, see below */
	bool staged;
	struct {
		uint64_t length, bytes, age_ns;
		uint32_t flags;
	} next; /* what came since the newest tick */
};

struct pending_gp {
	bool known;
	struct kd_rec_gp gp;
	uint64_t at_ns; /* of the tick that it came with */
	struct kd_rec_owed *owed;
	size_t nowed;
};

/* At most as many who owe are told apart; more are only counted. */
#define PENDING_OWED_MAX 64
#define PENDING_NODES_MAX (1u << 18)
#define PENDING_NAMES_MAX (1u << 15)

struct pending {
	struct level_table table; /* of nodes; kind is enum pending_kind */
	struct pending_node *node;
	uint32_t dirty;           /* first of the chain; UINT32_MAX: its end */
	struct level_table names; /* kind is enum kd_name_of */
	struct kd_rec_text **name;
	struct pending_gp gp[KD_FL_COUNT];      /* as of the newest tick */
	struct pending_gp next_gp[KD_FL_COUNT]; /* what came since */
};

void pending_init(struct pending *p);
void pending_free(struct pending *p);

/* 0 or -ENOMEM. */
int pending_record_list(struct model *m, const struct kd_rec_pending *r);
int pending_record_gp(struct model *m, const struct kd_rec_gp *r);
int pending_record_owed(struct model *m, const struct kd_rec_owed *r);
int pending_record_name(struct model *m, const struct kd_rec_text *r);
/* from_ns, to_ns and ticks of the model are those of the interval that ends. */
void pending_end_interval(struct model *m, bool baseline);
/* The newest tick is the baseline from now on: start_ns of the model is that already. */
void pending_rebase(struct model *m);

/* Accounts for the node's present level, which held until then; one that held no time is not in the span. */
void pending_hold(struct pending_span *s, uint64_t until_ns, const struct pending_node *n);

/* The same of the last run of the command alone, to its end; all zero where there is none. */
void pending_run_span(const struct model *m, const struct pending_node *n,
		      struct pending_span *out);
/* Of all since the baseline. */
void pending_whole_span(const struct model *m, const struct pending_node *n,
			struct pending_span *out);

/* The i-th text of a name, "" past the end; NULL: not named. */
const char *pending_text(const struct pending *p, enum kd_name_of what, unsigned int source,
			 uint64_t number, int i);

#endif
