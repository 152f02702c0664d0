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

#define CALL_RCU_KEYS \
	(KEY_BIT(KEY_FUNC) | KEY_BIT(KEY_MODULE) | KEY_BIT(KEY_LAZY) | KEY_BIT(KEY_CPU))
#define MEMALLOC_KEYS \
	(KEY_BIT(KEY_MAP_ID) | KEY_BIT(KEY_MAP_NAME) | KEY_BIT(KEY_UNIT_SIZE) | KEY_BIT(KEY_CPU))
#define RSTAT_KEYS                                                                         \
	(KEY_BIT(KEY_CGROUP_ID) | KEY_BIT(KEY_CGROUP) | KEY_BIT(KEY_HIERARCHY) |           \
	 KEY_BIT(KEY_FLUSHER) | KEY_BIT(KEY_FLUSHER_THREAD) | KEY_BIT(KEY_FLUSHER_CLASS) | \
	 KEY_BIT(KEY_TGID) | KEY_BIT(KEY_FLUSHER_CGROUP_ID) | KEY_BIT(KEY_FLUSHER_CGROUP))

static const struct measure_info measures[] = {
	[KD_M_CALL_RCU_LATENCY] = {
		.id = KD_M_CALL_RCU_LATENCY,
		.source = KD_SRC_CALL_RCU,
		.name = "latency",
		.unit = UNIT_NS,
		.meaning = 1,
		.keys = CALL_RCU_KEYS,
		.by = KEY_BIT(KEY_FUNC) | KEY_BIT(KEY_LAZY),
		.what = "how long callbacks wait between call_rcu() and their turn to run",
		.begins = "handed over",
		.ends = "taken off to be run",
		.group_key = "flavour",
	},
	[KD_M_RCU_GP_DURATION] = {
		.id = KD_M_RCU_GP_DURATION,
		.source = KD_SRC_RCU_GP,
		.name = "duration",
		.unit = UNIT_NS,
		.meaning = 1,
		.what = "how long grace periods last",
		.begins = "started",
		.ends = "ended",
		.group_key = "flavour",
	},
	[KD_M_RCU_GP_WAIT] = {
		.id = KD_M_RCU_GP_WAIT,
		.source = KD_SRC_RCU_GP,
		.name = "wait",
		.unit = UNIT_NS,
		.meaning = 1,
		.keys = KEY_BIT(KEY_CALLER) | KEY_BIT(KEY_MODULE),
		.by = KEY_BIT(KEY_CALLER),
		.what = "how long callers of synchronize_rcu(), rcu_barrier() and their kin sleep",
		.begins = "called",
		.ends = "returned",
		.group_key = "flavour",
	},
	[KD_M_CALL_RCU_PENDING] = {
		.id = KD_M_CALL_RCU_PENDING,
		.source = KD_SRC_CALL_RCU,
		.name = "pending",
		.unit = UNIT_COUNT,
		.meaning = 1,
		.what = "how many callbacks wait, by list",
		.begins = "",
		.ends = "",
		.group_key = "flavour",
		.pending = true,
		.entries = "callbacks",
	},
	[KD_M_RCU_GP_PENDING] = {
		.id = KD_M_RCU_GP_PENDING,
		.source = KD_SRC_RCU_GP,
		.name = "pending",
		.unit = UNIT_COUNT,
		.meaning = 1,
		.what = "the grace period under way, and who still owes a quiescent state",
		.begins = "",
		.ends = "",
		.group_key = "flavour",
		.pending = true,
		.entries = "CPUs and tasks",
	},
	[KD_M_MEMALLOC_PENDING] = {
		.id = KD_M_MEMALLOC_PENDING,
		.source = KD_SRC_MEMALLOC,
		.name = "pending",
		.unit = UNIT_COUNT,
		.meaning = 1,
		.keys = KEY_BIT(KEY_MAP_ID) | KEY_BIT(KEY_MAP_NAME) | KEY_BIT(KEY_UNIT_SIZE),
		.by = KEY_BIT(KEY_MAP_ID),
		.what = "how many freed BPF objects wait, by map and list",
		.begins = "",
		.ends = "",
		.group_key = "",
		.pending = true,
		.entries = "objects",
	},
	[KD_M_RSTAT_PENDING] = {
		.id = KD_M_RSTAT_PENDING,
		.source = KD_SRC_RSTAT,
		.name = "pending",
		.unit = UNIT_COUNT,
		.meaning = 1,
		.what = "how many cgroups have statistics that wait for a flush",
		.begins = "",
		.ends = "",
		.group_key = "subsystem",
		.pending = true,
		.entries = "cgroups",
	},
	[KD_M_MEMALLOC_LATENCY] = {
		.id = KD_M_MEMALLOC_LATENCY,
		.source = KD_SRC_MEMALLOC,
		.name = "latency",
		.unit = UNIT_NS,
		.meaning = 1,
		.keys = MEMALLOC_KEYS | KEY_BIT(KEY_STAGE),
		.by = KEY_BIT(KEY_STAGE) | KEY_BIT(KEY_MAP_ID),
		.what = "how long freed batches of BPF memory wait for a grace period",
		.begins = "handed over",
		.ends = "callback run",
		.group_key = "",
	},
	[KD_M_MEMALLOC_REFILL] = {
		.id = KD_M_MEMALLOC_REFILL,
		.source = KD_SRC_MEMALLOC,
		.name = "refill",
		.unit = UNIT_NS,
		.meaning = 1,
		.keys = MEMALLOC_KEYS,
		.by = KEY_BIT(KEY_MAP_ID),
		.what = "how long a per-CPU list takes to be refilled",
		.begins = "entered",
		.ends = "left",
		.group_key = "",
	},
	[KD_M_MEMALLOC_DRAIN] = {
		.id = KD_M_MEMALLOC_DRAIN,
		.source = KD_SRC_MEMALLOC,
		.name = "drain",
		.unit = UNIT_NS,
		.meaning = 1,
		.keys = MEMALLOC_KEYS,
		.by = KEY_BIT(KEY_MAP_ID),
		.what = "how long freed objects take to be given back",
		.begins = "entered",
		.ends = "left",
		.group_key = "",
	},
	[KD_M_MEMALLOC_REFILL_FAILED] = {
		.id = KD_M_MEMALLOC_REFILL_FAILED,
		.source = KD_SRC_MEMALLOC,
		.name = "refill_failed",
		.unit = UNIT_COUNT,
		.meaning = 1,
		.keys = MEMALLOC_KEYS,
		.by = KEY_BIT(KEY_MAP_ID),
		.count_only = true,
		.what = "refills that found their per-CPU list empty: no object could be had",
		.begins = "",
		.ends = "",
		.group_key = "",
	},
	[KD_M_RSTAT_FLUSH] = {
		.id = KD_M_RSTAT_FLUSH,
		.source = KD_SRC_RSTAT,
		.name = "flush",
		.unit = UNIT_NS,
		.meaning = 1,
		.keys = RSTAT_KEYS,
		.by = KEY_BIT(KEY_CGROUP) | KEY_BIT(KEY_FLUSHER),
		.what = "how long flushes of cgroup statistics take, waits included",
		.begins = "entered",
		.ends = "left",
		.group_key = "subsystem",
	},
	[KD_M_RSTAT_WAIT] = {
		.id = KD_M_RSTAT_WAIT,
		.source = KD_SRC_RSTAT,
		.name = "wait",
		.unit = UNIT_NS,
		.meaning = 1,
		.keys = RSTAT_KEYS,
		.by = KEY_BIT(KEY_CGROUP) | KEY_BIT(KEY_FLUSHER),
		.what = "how long flushers wait for the lock of cgroup statistics",
		.begins = "requested",
		.ends = "got",
		.group_key = "subsystem",
	},
	[KD_M_RSTAT_HOLD] = {
		.id = KD_M_RSTAT_HOLD,
		.source = KD_SRC_RSTAT,
		.name = "hold",
		.unit = UNIT_NS,
		.meaning = 1,
		.keys = RSTAT_KEYS,
		.by = KEY_BIT(KEY_CGROUP) | KEY_BIT(KEY_FLUSHER),
		.what = "how long the lock of cgroup statistics is held at a time",
		.begins = "got",
		.ends = "given up",
		.group_key = "subsystem",
	},
	[KD_M_RSTAT_WORK] = {
		.id = KD_M_RSTAT_WORK,
		.source = KD_SRC_RSTAT,
		.name = "work",
		.unit = UNIT_NS,
		.meaning = 1,
		.keys = RSTAT_KEYS,
		.by = KEY_BIT(KEY_CGROUP) | KEY_BIT(KEY_FLUSHER),
		.what = "how long flushes of cgroup statistics work, without their waits",
		.begins = "entered",
		.ends = "left",
		.group_key = "subsystem",
	},
	[KD_M_RSTAT_CGROUPS] = {
		.id = KD_M_RSTAT_CGROUPS,
		.source = KD_SRC_RSTAT,
		.name = "cgroups",
		.unit = UNIT_COUNT,
		.meaning = 1,
		.keys = RSTAT_KEYS,
		.by = KEY_BIT(KEY_CGROUP) | KEY_BIT(KEY_FLUSHER),
		.what = "how many cgroups a flush visits",
		.begins = "",
		.ends = "",
		.group_key = "subsystem",
	},
	[KD_M_RSTAT_BLAME] = {
		.id = KD_M_RSTAT_BLAME,
		.source = KD_SRC_RSTAT,
		.name = "blame",
		.unit = UNIT_NS,
		.meaning = 1,
		.keys = RSTAT_KEYS,
		.by = KEY_BIT(KEY_CGROUP) | KEY_BIT(KEY_FLUSHER),
		.what = "how long others waited behind one hold of the lock, added up",
		.begins = "got",
		.ends = "given up",
		.group_key = "subsystem",
	},
	[KD_M_CALL_RCU_HOLDUP] = {
		.id = KD_M_CALL_RCU_HOLDUP,
		.source = KD_SRC_CALL_RCU,
		.name = "holdup",
		.unit = UNIT_NS,
		.meaning = 1,
		.holdup = true,
		.what = "why callbacks waited or ran for long",
		.begins = "",
		.ends = "",
		.group_key = "flavour",
	},
	[KD_M_RCU_GP_HOLDUP] = {
		.id = KD_M_RCU_GP_HOLDUP,
		.source = KD_SRC_RCU_GP,
		.name = "holdup",
		.unit = UNIT_NS,
		.meaning = 1,
		.holdup = true,
		.what = "why grace periods, and those who wait for them, took long",
		.begins = "",
		.ends = "",
		.group_key = "flavour",
	},
	[KD_M_RSTAT_HOLDUP] = {
		.id = KD_M_RSTAT_HOLDUP,
		.source = KD_SRC_RSTAT,
		.name = "holdup",
		.unit = UNIT_NS,
		.meaning = 1,
		.holdup = true,
		.what = "why flushes of cgroup statistics took long",
		.begins = "",
		.ends = "",
		.group_key = "subsystem",
	},
	[KD_M_RSTAT_HELD] = {
		.id = KD_M_RSTAT_HELD,
		.source = KD_SRC_RSTAT,
		.name = "held",
		.unit = UNIT_NS,
		.meaning = 1,
		.keys = RSTAT_KEYS,
		.by = KEY_BIT(KEY_CGROUP) | KEY_BIT(KEY_FLUSHER),
		.what = "how long a flush holds the lock, all its holds together",
		.begins = "",
		.ends = "",
		.group_key = "subsystem",
		.asked_only = true,
	},
	[KD_M_RSTAT_IRQS] = {
		.id = KD_M_RSTAT_IRQS,
		.source = KD_SRC_RSTAT,
		.name = "irqs",
		.unit = UNIT_NS,
		.meaning = 1,
		.keys = RSTAT_KEYS,
		.by = KEY_BIT(KEY_CGROUP) | KEY_BIT(KEY_FLUSHER),
		.what = "interrupts and softirqs inside a flush, outside its waits and holds",
		.begins = "",
		.ends = "",
		.group_key = "subsystem",
		.asked_only = true,
	},
	[KD_M_RSTAT_OFF_CPU] = {
		.id = KD_M_RSTAT_OFF_CPU,
		.source = KD_SRC_RSTAT,
		.name = "off_cpu",
		.unit = UNIT_NS,
		.meaning = 1,
		.keys = RSTAT_KEYS,
		.by = KEY_BIT(KEY_CGROUP) | KEY_BIT(KEY_FLUSHER),
		.what = "how long a flush is off its CPU, outside its waits and holds",
		.begins = "",
		.ends = "",
		.group_key = "subsystem",
		.asked_only = true,
	},
	[KD_M_RSTAT_HOLD_BY_8] = {
		.id = KD_M_RSTAT_HOLD_BY_8,
		.source = KD_SRC_RSTAT,
		.name = "hold_by_8",
		.unit = UNIT_NS,
		.meaning = 1,
		.keys = RSTAT_KEYS,
		.by = KEY_BIT(KEY_CGROUP) | KEY_BIT(KEY_FLUSHER),
		.what = "holds, if the lock was given up at every 8th CPU instead of each: computed",
		.begins = "",
		.ends = "",
		.group_key = "subsystem",
		.asked_only = true,
	},
	[KD_M_RSTAT_FLUSH_BY_8] = {
		.id = KD_M_RSTAT_FLUSH_BY_8,
		.source = KD_SRC_RSTAT,
		.name = "flush_by_8",
		.unit = UNIT_NS,
		.meaning = 1,
		.keys = RSTAT_KEYS,
		.by = KEY_BIT(KEY_CGROUP) | KEY_BIT(KEY_FLUSHER),
		.what = "flushes, if the lock was given up at every 8th CPU instead of each: computed",
		.begins = "",
		.ends = "",
		.group_key = "subsystem",
		.asked_only = true,
	},
};
COVERS(measures, KD_M_COUNT);

/*
 * Grace periods are polled: even when all CPUs are idle, rcu_gp_fqs_loop() waits one or two times
 * jiffies_till_first_fqs, since its first scan only takes notes of the CPUs that are not idle. A
 * callback, or a task, may come just after a grace period began and then needs two.
 */
static const struct {
	uint8_t measure, flavour;
	unsigned int least, most; /* waits */
} floors[] = {
	{ KD_M_CALL_RCU_LATENCY, KD_FL_RCU, 1, 4 },
	{ KD_M_RCU_GP_DURATION, KD_FL_RCU, 1, 2 },
	{ KD_M_RCU_GP_WAIT, KD_FL_RCU, 1, 4 },
};

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
	[KD_FL_SUB_ALL] = "all",
	[KD_FL_SUB_BASE] = "base",
	[KD_FL_SUB_MEMORY] = "memory",
	[KD_FL_SUB_IO] = "io",
	[KD_FL_SUB_OTHER] = "other",
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
	[KD_LOST_SAMPLED_OUT] = { "sampled_out", "hand-overs left out by --sample or --budget" },
	[KD_LOST_CLOCK] = { "clock",
			    "ends before their beginning by the clock; time not recorded" },
	[KD_LOST_LAZY_UNKNOWN] = { "lazy_unknown",
				   "counted as not lazy because the wish was not seen" },
	[KD_LOST_EXTREME] = { "extreme",
			      "extremes given up after too many tries against other CPUs" },
	[KD_LOST_UNKNOWN_END] = { "unknown_end",
				  "ends of other flavours' callbacks, and of kfree_rcu() objects, handed over before recording began, or not seen" },
	[KD_LOST_LISTS] = { "lists", "pending lists that there was no room to follow" },
	[KD_LOST_LOOK] = { "look",
			   "looks at pending lists that were cut short: some stand as before" },
	[KD_LOST_KDEFER] = { "kdefer",
			     "waits of a kdefer, this one or another, for its own hooks" },
	[KD_LOST_VANISHED] = { "vanished", "allocators that went while their lists were read" },
	[KD_LOST_TORN] = { "torn", "lists whose counter and whose walk disagreed" },
	[KD_LOST_REPORTS] = { "reports", "reports or witnesses that the ring had no room for" },
	[KD_LOST_ALIKE] = { "alike", "waits over the limit beside another that was reported" },
};
COVERS(lost, KD_LOST_COUNT);

static const char *const counts[] = {
	[KD_CNT_BEGUN] = "begun",
	[KD_CNT_DONE] = "done",
	[KD_CNT_OPEN] = "open",
	[KD_CNT_BARRIER] = "barrier",
	[KD_CNT_LEFT] = "left",
	[KD_CNT_KDEFER] = "kdefer",
	[KD_CNT_RUNS] = "runs",
	[KD_CNT_RUN_NS] = "run_ns",
	[KD_CNT_IN_FLUSH_NS] = "in_flush_ns",
	[KD_CNT_IN_HOLD_NS] = "in_hold_ns",
	[KD_CNT_CHECKED] = "lists_checked",
	[KD_CNT_UNCHECKED] = "lists_unchecked",
	[KD_CNT_LEFT_OUT] = "runs_left_out",
	[KD_CNT_FLOW_LOOKS] = "flow_looks",
	[KD_CNT_FLOW_IN] = "flow_in",
	[KD_CNT_FLOW_OUT] = "flow_out",
	[KD_CNT_FLOW_IN_BYTES] = "flow_in_bytes",
	[KD_CNT_FLOW_OUT_BYTES] = "flow_out_bytes",
	[KD_CNT_READ_BYTES] = "lists_read_bytes",
	[KD_CNT_READ_RUNS] = "lists_runs",
	[KD_CNT_READ_NS] = "lists_run_ns",
	[KD_CNT_LONGEST_NS] = "lists_longest_run_ns",
	[KD_CNT_FROM_SLAB] = "objects_from_slab",
	[KD_CNT_RECYCLED] = "objects_recycled",
	[KD_CNT_FROM_EITHER] = "objects_from_either",
	[KD_CNT_DRAINED] = "objects_drained",
};
COVERS(counts, KD_CNT_COUNT);

static const char *const dims[] = {
	[KD_DIM_MAIN] = "main",
	[KD_DIM_CPU] = "cpu",
	[KD_DIM_FLUSHER] = "flusher",
};
COVERS(dims, KD_DIM_COUNT);

static const char *const lists[] = {
	[KD_LIST_DONE] = "done",
	[KD_LIST_WAIT] = "wait",
	[KD_LIST_NEXT_READY] = "next_ready",
	[KD_LIST_NEXT] = "next",
	[KD_LIST_LAZY] = "lazy",
	[KD_LIST_BYPASS] = "bypass",
	[KD_LIST_INVOKING] = "invoking",
	[KD_LIST_KFREE] = "kfree",
	[KD_LIST_FREE_LLIST] = "free_llist",
	[KD_LIST_FREE_LLIST_EXTRA] = "free_llist_extra",
	[KD_LIST_FREE_BY_RCU] = "free_by_rcu",
	[KD_LIST_WAITING_FOR_GP] = "waiting_for_gp",
	[KD_LIST_FREE_BY_RCU_TTRACE] = "free_by_rcu_ttrace",
	[KD_LIST_WAITING_FOR_GP_TTRACE] = "waiting_for_gp_ttrace",
	[KD_LIST_UPDATED] = "updated",
	[KD_LIST_WAITERS] = "waiters",
	[KD_LIST_BACKLOG] = "backlog",
	[KD_LIST_CPUS_OWED] = "cpus_owed",
	[KD_LIST_TASKS_OWED] = "tasks_owed",
};
COVERS(lists, KD_LIST_COUNT);

static const char *const stages[] = {
	[KD_STAGE_NONE] = NULL,
	[KD_STAGE_RCU] = "rcu",
	[KD_STAGE_TASKS_TRACE] = "tasks_trace",
};
COVERS(stages, KD_STAGE_COUNT);

static const char *const flusher_classes[] = {
	[KD_FC_OTHER] = "other",       [KD_FC_MEMORY_STAT] = "memory.stat",
	[KD_FC_CPU_STAT] = "cpu.stat", [KD_FC_PERIODIC] = "periodic",
	[KD_FC_RECLAIM] = "reclaim",   [KD_FC_ZSWAP] = "zswap",
	[KD_FC_REMOVAL] = "removal",   [KD_FC_BPF] = "bpf",
	[KD_FC_IO_STAT] = "io.stat",   [KD_FC_SELF] = "kdefer",
};
COVERS(flusher_classes, KD_FC_COUNT);

static const char *const gp_states[] = {
	[KD_GP_IDLE] = "idle",
	[KD_GP_STARTING] = "starting",
	[KD_GP_WAITING] = "waiting",
	[KD_GP_CLEANUP] = "cleanup",
};
COVERS(gp_states, KD_GP_STATE_COUNT);

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

static const struct measure_info *measure_with(unsigned int source,
					       bool (*has)(const struct measure_info *m))
{
	static const struct measure_info none = { .id = KD_M_COUNT, .name = "?", .entries = "?" };

	for (size_t i = 0; i < ROWS(measures); i++)
		if (has(&measures[i]) && measures[i].source == source)
			return &measures[i];
	return &none;
}

static bool is_pending(const struct measure_info *m)
{
	return m->pending;
}

static bool is_holdup(const struct measure_info *m)
{
	return m->holdup;
}

const struct measure_info *pending_measure(unsigned int source)
{
	return measure_with(source, is_pending);
}

const struct measure_info *holdup_measure(unsigned int source)
{
	return measure_with(source, is_holdup);
}

uint64_t holdup_measures(void)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < ROWS(measures); i++)
		if (measures[i].holdup)
			bits |= 1ULL << i;
	return bits;
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

bool measure_floor(unsigned int measure, unsigned int flavour, unsigned int *least,
		   unsigned int *most)
{
	size_t i;

	for (i = 0; i < ROWS(floors); i++) {
		if (floors[i].measure != measure || floors[i].flavour != flavour)
			continue;
		*least = floors[i].least;
		*most = floors[i].most;
		return true;
	}
	return false;
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

bool lost_by_design(unsigned int what)
{
	return what == KD_LOST_PRE_START || what == KD_LOST_SAMPLED_OUT || what == KD_LOST_KDEFER ||
	       what == KD_LOST_VANISHED || what == KD_LOST_ALIKE;
}

const char *count_name(unsigned int what)
{
	return name_at(counts, ROWS(counts), what);
}

const char *list_name(unsigned int list)
{
	return name_at(lists, ROWS(lists), list);
}

const char *stage_name(unsigned int stage)
{
	return stage < ROWS(stages) ? stages[stage] : NULL;
}

const char *flusher_class_name(unsigned int fc)
{
	return name_at(flusher_classes, ROWS(flusher_classes), fc);
}

const char *gp_state_name(unsigned int state)
{
	return name_at(gp_states, ROWS(gp_states), state);
}

const char *dim_name(unsigned int dim)
{
	return name_at(dims, ROWS(dims), dim);
}

/* --- which way is better --- */

static const char *const betters[KD_BETTER_COUNT] = {
	[KD_BETTER_NONE] = "none",
	[KD_BETTER_LOWER] = "lower",
	[KD_BETTER_HIGHER] = "higher",
};

const char *better_name(enum kd_better better)
{
	return better < KD_BETTER_COUNT ? betters[better] : "none";
}

int better_by_name(const char *name, enum kd_better *better)
{
	for (int i = 0; i < KD_BETTER_COUNT; i++)
		if (!strcmp(name, betters[i])) {
			*better = (enum kd_better)i;
			return 0;
		}
	return -EINVAL;
}
