// SPDX-License-Identifier: GPL-2.0-only
/* catalog.c - the tables behind catalog.h. A name that is printed once is never changed. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "catalog.h"

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))
/* Holes in a table do not show here; the unit test looks for those. */
#define COVERS(table, count) _Static_assert(ROWS(table) == (count), #table " covers its enum")

static const char *const sources[] = {
	[KD_SRC_CALL_RCU] = "call_rcu",
	[KD_SRC_RCU_GP] = "rcu_gp",
	[KD_SRC_MEMALLOC] = "memalloc",
	[KD_SRC_RSTAT] = "rstat",
};
COVERS(sources, KD_SRC_COUNT);

static const struct measure_info measures[] = {
	[KD_M_CALL_RCU_LATENCY] = {
		.id = KD_M_CALL_RCU_LATENCY,
		.source = KD_SRC_CALL_RCU,
		.name = "latency",
		.unit = UNIT_NS,
		.meaning = 1,
		.main_key = "func",
		.what = "how long callbacks wait between call_rcu() and their turn to run",
		.begins = "handed over",
		.ends = "taken off to be run",
	},
	[KD_M_RCU_GP_DURATION] = {
		.id = KD_M_RCU_GP_DURATION,
		.source = KD_SRC_RCU_GP,
		.name = "duration",
		.unit = UNIT_NS,
		.meaning = 1,
		.main_key = "",
		.what = "how long grace periods last",
		.begins = "started",
		.ends = "ended",
	},
	[KD_M_RCU_GP_WAIT] = {
		.id = KD_M_RCU_GP_WAIT,
		.source = KD_SRC_RCU_GP,
		.name = "wait",
		.unit = UNIT_NS,
		.meaning = 1,
		.main_key = "caller",
		.what = "how long callers of synchronize_rcu(), rcu_barrier() and their kin sleep",
		.begins = "called",
		.ends = "returned",
	},
};
COVERS(measures, KD_M_COUNT);

static const char *const units[] = {
	[UNIT_NS] = "ns",
	[UNIT_COUNT] = "count",
};
COVERS(units, UNIT_COUNT + 1);

static const char *const flavours[] = {
	[KD_FL_NONE] = NULL,
	[KD_FL_RCU] = "rcu",
	[KD_FL_SRCU] = "srcu",
	[KD_FL_TASKS] = "tasks",
	[KD_FL_TASKS_RUDE] = "tasks_rude",
	[KD_FL_TASKS_TRACE] = "tasks_trace",
	[KD_FL_KFREE] = "kfree",
	[KD_FL_EXPEDITED] = "expedited",
};
COVERS(flavours, KD_FL_COUNT);

static const struct {
	const char *name, *help;
} lost[] = {
	[KD_LOST_RING_FULL] = { "ring_full",
				"ticks cut short because the ring was not drained in time" },
	[KD_LOST_TABLE_FULL] = { "table_full", "hand-overs that no table had room for" },
	[KD_LOST_RECURSION] = { "recursion",
				"events withheld by the kernel while our program was running" },
	[KD_LOST_UNMATCHED_BEGIN] = { "unmatched_begin", "hand-overs whose end was not seen" },
	[KD_LOST_UNMATCHED_END] = { "unmatched_end", "ends whose hand-over was not seen" },
	[KD_LOST_PRE_START] = { "pre_start",
				"ends of what was handed over before recording began" },
	[KD_LOST_SAMPLED_OUT] = { "sampled_out", "hand-overs left out by --sample" },
	[KD_LOST_CLOCK] = { "clock",
			    "ends before their beginning by the clock; time not recorded" },
	[KD_LOST_LAZY_UNKNOWN] = { "lazy_unknown",
				   "counted as not lazy because the wish was not seen" },
	[KD_LOST_EXTREME] = { "extreme",
			      "extremes given up after too many tries against other CPUs" },
	[KD_LOST_UNKNOWN_END] = { "unknown_end",
				  "ends of SRCU and Tasks callbacks handed over before recording began, or not seen" },
};
COVERS(lost, KD_LOST_COUNT);

static const char *const counts[] = {
	[KD_CNT_BEGUN] = "begun",
	[KD_CNT_DONE] = "done",
	[KD_CNT_OPEN] = "open",
	[KD_CNT_BARRIER] = "barrier",
};
COVERS(counts, KD_CNT_COUNT);

static const char *const dims[] = {
	[KD_DIM_MAIN] = "main",
	[KD_DIM_CPU] = "cpu",
};
COVERS(dims, KD_DIM_COUNT);

static const char *name_at(const char *const *names, size_t n, size_t i)
{
	return i < n && names[i] ? names[i] : "?";
}

static int find_name(const char *const *names, size_t n, const char *name, unsigned int *i)
{
	unsigned int at;

	for (at = 0; at < n; at++) {
		if (names[at] && !strcmp(names[at], name)) {
			*i = at;
			return 0;
		}
	}
	return -ENOENT;
}

const char *source_name(unsigned int source)
{
	return name_at(sources, ROWS(sources), source);
}

int source_by_name(const char *name, unsigned int *source)
{
	return find_name(sources, ROWS(sources), name, source);
}

const struct measure_info *measure_info(unsigned int measure)
{
	return measure < ROWS(measures) ? &measures[measure] : NULL;
}

int measure_by_name(unsigned int source, const char *name, unsigned int *measure)
{
	unsigned int i;

	for (i = 0; i < ROWS(measures); i++) {
		if (measures[i].source == source && !strcmp(measures[i].name, name)) {
			*measure = i;
			return 0;
		}
	}
	return -ENOENT;
}

const char *unit_name(enum unit unit)
{
	return name_at(units, ROWS(units), unit);
}

const char *flavour_name(unsigned int flavour)
{
	return flavour < ROWS(flavours) ? flavours[flavour] : NULL;
}

int flavour_by_name(const char *name, unsigned int *flavour)
{
	return find_name(flavours, ROWS(flavours), name, flavour);
}

const char *lost_name(unsigned int what)
{
	return what < ROWS(lost) ? lost[what].name : "?";
}

const char *lost_help(unsigned int what)
{
	return what < ROWS(lost) ? lost[what].help : "?";
}

const char *count_name(unsigned int what)
{
	return name_at(counts, ROWS(counts), what);
}

const char *dim_name(unsigned int dim)
{
	return name_at(dims, ROWS(dims), dim);
}
