/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * catalog.h - names of everything that has a number in defer.h, and what a view must know of it:
 * a new source adds rows here and touches no view.
 */
#ifndef KDEFER_CATALOG_H
#define KDEFER_CATALOG_H

#include <stdbool.h>
#include <stdint.h>

#include "../bpf/defer.h"
#include "keys.h"

enum unit { UNIT_NS, UNIT_COUNT };

struct measure_info {
	enum kd_measure_id id;
	enum kd_source_id source;
	const char *name; /* "latency" */
	enum unit unit;
	uint32_t meaning;   /* raised when the definition changes */
	unsigned int keys;  /* bits of enum key_name that its series carry, besides group_key */
	unsigned int by;    /* those that it is broken down by unless others are asked for */
	const char *what;   /* one line for help and man page */
	const char *begins; /* "handed over"; "" where nothing begins or ends */
	const char *ends;   /* "taken off to be run" */
	const char
		*group_key; /* what totals are told apart by: "flavour", "subsystem"; "": nothing */
	bool pending;       /* list lengths, no histogram */
	bool holdup;        /* reports of waits that were too long: hooked where they are armed */
	const char *entries; /* of lists: "callbacks" */
	bool count_only;     /* events have no value: nothing but their number is of use */
	bool asked_only;     /* costs more, or explains another: not taken with its source */
};

const char *source_name(unsigned int source);                  /* "call_rcu"; never NULL ("?") */
int source_by_name(const char *name, unsigned int *source);    /* 0 or -ENOENT */
const struct measure_info *measure_info(unsigned int measure); /* NULL past the end */
/* The one of a source that is lists; never NULL ("?"). */
const struct measure_info *pending_measure(unsigned int source);
int measure_by_name(unsigned int source, const char *name, unsigned int *measure);

/* How many of its own polling waits RCU needs at least and at most; false where nobody knows. */
bool measure_floor(unsigned int measure, unsigned int flavour, unsigned int *least,
		   unsigned int *most);

const char *unit_name(enum unit unit);          /* "ns", "count" */
const char *flavour_name(unsigned int flavour); /* "rcu"; NULL for KD_FL_NONE */
int flavour_by_name(const char *name, unsigned int *flavour);
const char *lost_name(unsigned int what); /* "unmatched_end" */
const char *lost_help(unsigned int what); /* one line */
bool lost_by_design(unsigned int what);   /* left out on purpose: puts no number in doubt */
const char *count_name(unsigned int what);
const char *list_name(unsigned int list);   /* "free_by_rcu"; "?" for one that KD_REC_NAME names */
const char *stage_name(unsigned int stage); /* NULL for KD_STAGE_NONE */
const char *flusher_class_name(unsigned int fc);
const char *gp_state_name(unsigned int state);
const char *dim_name(unsigned int dim); /* "cpu" */

/* "lower", "higher" or "none" */
const char *better_name(enum kd_better better);
int better_by_name(const char *name, enum kd_better *better); /* 0 or -EINVAL */

/* --- waits that were too long (catalog_waits.c) --- */

/* The one of a source that reports these; never NULL ("?" where it has none). */
const struct measure_info *holdup_measure(unsigned int source);

/* Bits of all such measures: they are hooked only where a command arms them. */
uint64_t holdup_measures(void);

enum fact_unit { FACT_NS, FACT_COUNT, FACT_CPU, FACT_PID, FACT_HOW, FACT_FLAG };

struct fact_info {
	const char *name; /* "ticks_user": key of the evidence in JSON */
	enum fact_unit unit;
	const char *what; /* one line for text and man page */
};

const struct fact_info *wait_fact(unsigned int fact); /* NULL past the end */
const char *wait_name(unsigned int what);             /* "grace period" */
const char *phase_name(unsigned int phase);           /* "wait_cpus" */
const char *phase_text(unsigned int phase);           /* "waiting for CPUs" */
const char *role_name(unsigned int role);             /* "cpu" */
const char *how_name(unsigned int how);               /* "itself" */

#endif
