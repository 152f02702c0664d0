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
	const char *entries; /* of lists: "callbacks" */
	bool count_only;     /* events have no value: nothing but their number is of use */
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

#endif
