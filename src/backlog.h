/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * backlog.h - what views ask of the model about lists of waiting work: which are longest, what they
 * hold back in all, how that changes.
 */
#ifndef KDEFER_BACKLOG_H
#define KDEFER_BACKLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model.h"
#include "scope.h"

/* What lists are told apart by, as filters and JSON call it. */
enum backlog_key {
	BACKLOG_FLAVOUR,
	BACKLOG_SUBSYSTEM,
	BACKLOG_LIST,
	BACKLOG_DOMAIN, /* symbol of an SRCU domain */
	BACKLOG_MAP,    /* its name or its id */
	BACKLOG_MAP_ID,
	BACKLOG_MAP_NAME,
	BACKLOG_ALLOCATOR, /* of BPF memory that belongs to no map */
	BACKLOG_UNIT_SIZE,
	BACKLOG_CPU,
	BACKLOG_PID, /* of a process that holds the map */
	BACKLOG_COMM,
	BACKLOG_KEYS,
};

const char *backlog_key_text(enum backlog_key key);
int backlog_key_by_name(const char *name, enum backlog_key *key); /* 0 or -ENOENT */

const char *backlog_key_list(void); /* all, for a message */

struct backlog_filter {
	enum backlog_key key;
	const char *glob; /* fnmatch(3) pattern */
};

struct backlog_query {
	struct scope scope; /* measures, and the window that changes, peak and mean are of */
	bool per_cpu;       /* a row for each CPU instead of one for all */
	size_t top;         /* keys per source, rest folded to `other` by list; 0 = all */
	const struct backlog_filter *filters; /* all must match; one on cpu means per_cpu */
	size_t nfilters;
};

/* A list, or several folded together. Rows of one question never overlap. */
struct backlog_row {
	uint8_t source, flavour; /* flavour: or subsystem */
	uint16_t list;
	uint32_t cpu; /* KD_CPU_NONE: all together */
	uint32_t unit_size;
	uint64_t key; /* as in struct kd_rec_pending; 0: none, or several */
	bool other;   /* the rest of its list: of `folded` keys */
	uint64_t folded;
	uint64_t length;
	uint64_t bytes;   /* of those entries whose size is known */
	uint64_t unsized; /* entries whose size is not */
	uint64_t age_ns;  /* of the oldest entry, a lower bound; KD_UNKNOWN */
	bool exact, truncated;
	/* Of these, objects for which no callback is queued and nobody comes back; age: a lower bound. */
	uint64_t stranded, stranded_bytes, stranded_ns;
	/* In the window: the level when it began, the greatest and the mean at ticks. */
	uint64_t then, then_bytes;
	uint64_t peak, peak_bytes; /* KD_UNKNOWN: of rows folded for this question */
	double mean, mean_bytes;   /* negative: the same, or the window has no length */
};

/*
 * Rows by source, then by what they hold, the largest first. The caller frees *out with free().
 * 0 or -ENOMEM. Of lists with keys, those that are and were empty are left out.
 */
int backlog_rows(const struct model *m, const struct backlog_query *q, struct backlog_row **out,
		 size_t *n);
/* The same over all keys and CPUs: one row for each source, flavour and list, in that order. */
int backlog_totals(const struct model *m, const struct backlog_query *q, struct backlog_row **out,
		   size_t *n);

/* Names of what is in a row; NULL where there is none. Strings as the kernel has them: not safe. */
const char *backlog_list(const struct model *m, const struct backlog_row *r);   /* never NULL */
const char *backlog_domain(const struct model *m, const struct backlog_row *r); /* symbol */
const char *backlog_map_name(const struct model *m, const struct backlog_row *r);
const char *backlog_allocator(const struct model *m, const struct backlog_row *r);
bool backlog_map_id(const struct backlog_row *r, uint32_t *id);
/* The i-th process or path that holds the map, "pid comm" or "pin path"; "" past the end. */
const char *backlog_holder(const struct model *m, const struct backlog_row *r, int i);

/* Change per second of a row. False: the window is too short to tell. */
bool backlog_rate(const struct model *m, const struct scope *sc, const struct backlog_row *r,
		  double *per_s);

/* Memory that a source keeps from being used, as far as its lists tell. */
struct backlog_part {
	bool any; /* the source has lists in the scope, and it is memory that they hold */
	bool exact, truncated; /* the bytes */
	uint64_t bytes;        /* of entries whose size is known */
	uint64_t length, unsized;
	bool rated;        /* net is known */
	double net;        /* bytes per second */
	double net_length; /* entries per second */
	const char *of;    /* the flavour of which that is; NULL: of all */
	bool counted;      /* what leaves is known: entries per second, and until all are through */
	double in, out;
	uint64_t drain_ns; /* at the present rate; KD_UNKNOWN: nothing leaves */
	/*
	 * in, out are at least that, and drain_ns at most: of BPF memory, whose looks tell what was there
	 * and has left. What is idle counts in none of them.
	 */
	bool bound;
	double in_bytes, out_bytes; /* per second; with `bound` */
	uint64_t stranded;          /* entries that drain_ns leaves out */
};

/* `all` has in and out in bytes where all sources have that hold memory of a known size. */
struct backlog_debt {
	struct backlog_part all, by[KD_SRC_COUNT];
};

/* Why `all` has no in and out; NULL: it has. */
const char *backlog_no_flow(const struct backlog_query *q, const struct backlog_debt *d);

bool backlog_holds_memory(unsigned int source); /* its entries are memory, of whatever size */
/* Its entries are of another kind than those of the source's other lists: no sum has both. */
bool backlog_is_apart(const struct backlog_row *r);
/* 0 or -ENOMEM. */
int backlog_debt(const struct model *m, const struct backlog_query *q, struct backlog_debt *d);

/* Until a debt that shrinks is gone, at its net rate; KD_UNKNOWN: it does not shrink. */
uint64_t backlog_gone_ns(const struct backlog_part *p);

/* The grace period of a flavour as of the newest tick; NULL: not known, or not asked for. */
const struct pending_gp *backlog_gp(const struct model *m, const struct backlog_query *q,
				    unsigned int flavour);

/* BPF memory by what it waits for. */
enum backlog_wait {
	BACKLOG_IDLE,        /* free, at hand for the next allocation */
	BACKLOG_RCU,         /* an RCU grace period, with the way to it */
	BACKLOG_TASKS_TRACE, /* an RCU Tasks Trace grace period, perhaps one of RCU behind it */
	BACKLOG_UNKNOWN,     /* in a list that this build does not know */
	BACKLOG_WAITS,
};

/* What a list of memalloc waits for; trace_lists: this kernel has lists for Tasks Trace apart. */
bool backlog_trace_lists(const struct model *m);
enum backlog_wait backlog_wait_of(unsigned int list, bool trace_lists);
const char *backlog_wait_name(enum backlog_wait w); /* as in JSON */

struct backlog_bpf {
	uint64_t objects[BACKLOG_WAITS], bytes[BACKLOG_WAITS], unsized;
	bool known; /* there are lists of it in the scope */
	bool exact, truncated;
};

/* 0 or -ENOMEM. */
int backlog_bpf(const struct model *m, const struct backlog_query *q, struct backlog_bpf *b);

#endif
