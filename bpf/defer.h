/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * defer.h - what both sides agree on: the records of the stream, and the histogram layout.
 *
 * Everything a front end ever sees is a sequence of these records: from the ring buffer (live)
 * or from a capture file (replay). Integers are host endian; a capture says which endian it is.
 *
 * Rules for every record
 *  - starts with struct kd_rec; len counts the header, is a multiple of 8, and is at most
 *    KD_REC_KERNEL_MAX for records written by BPF programs, KD_REC_MAX for those of user space;
 *  - aggregates are running totals since recording began, so a lost or repeated record costs
 *    nothing; minima, maxima and worst samples belong to the interval that the next KD_REC_TICK ends;
 *  - an unknown kind is skipped by its length, a longer record than known is read up to what is known.
 */
#ifndef KDEFER_DEFER_H
#define KDEFER_DEFER_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#define KD_REC_KERNEL_MAX 512
#define KD_REC_MAX 4096

/*
 * Histogram: log-linear. Values below 8 have a bucket each; every higher power of two is split into
 * 8 equal buckets. Read at the middle of its bucket a value is within 1/16. 496 buckets hold any u64.
 */
#define KD_HIST_SUB_BITS 3
#define KD_HIST_SUB (1 << KD_HIST_SUB_BITS)
#define KD_HIST_GROUPS (64 - KD_HIST_SUB_BITS + 1) /* 62: the first holds 0..7 */
#define KD_HIST_BUCKETS (KD_HIST_GROUPS * KD_HIST_SUB)

enum kd_source_id {
	KD_SRC_CALL_RCU,
	KD_SRC_RCU_GP,
	KD_SRC_MEMALLOC,
	KD_SRC_RSTAT,
	KD_SRC_COUNT,
};

/* Measures of all sources, one number space; names and units: src/catalog.c. */
enum kd_measure_id {
	KD_M_CALL_RCU_LATENCY,
	KD_M_RCU_GP_DURATION,
	KD_M_RCU_GP_WAIT,
	KD_M_COUNT,
};

enum kd_flavour {
	KD_FL_NONE,
	KD_FL_RCU,
	KD_FL_SRCU,
	KD_FL_TASKS,
	KD_FL_TASKS_RUDE,
	KD_FL_TASKS_TRACE,
	KD_FL_KFREE,
	KD_FL_EXPEDITED,
	KD_FL_COUNT,
};

/*
 * What distinguishes the series of one measure. A measure's total is the sum of its MAIN series;
 * series of the other kinds cut the same events another way and never enter a total.
 */
enum kd_dim {
	KD_DIM_MAIN, /* by the source's main key; the key that stands for the rest has KD_SERIES_OTHER */
	KD_DIM_CPU, /* key[0] = CPU of the hand-over */
	KD_DIM_COUNT,
};

#define KD_SERIES_OTHER (1u << 0) /* no room for a key of its own */
#define KD_SERIES_LAZY (1u << 1)  /* callbacks that asked to be batched lazily */
#define KD_SERIES_EAGER (1u << 2) /* the others, where lazy callbacks exist on this kernel */

/* Why events are missing. Names: src/catalog.c. Counted where it happens, per source. */
enum kd_lost {
	KD_LOST_RING_FULL,  /* ticks cut short because user space did not drain the ring */
	KD_LOST_TABLE_FULL, /* hand-overs that no table had room for */
	KD_LOST_RECURSION,  /* events the kernel did not give us: our program was running already */
	KD_LOST_UNMATCHED_BEGIN, /* hand-overs whose end was not seen */
	KD_LOST_UNMATCHED_END,   /* ends whose hand-over was not seen */
	KD_LOST_PRE_START,       /* ends of what was handed over before recording began */
	KD_LOST_SAMPLED_OUT,     /* hand-overs left out by --sample */
	KD_LOST_CLOCK,           /* ends before their beginning by the clock: time not recorded */
	KD_LOST_LAZY_UNKNOWN,    /* counted as not lazy because the wish was not seen */
	KD_LOST_EXTREME,         /* extremes given up after too many tries against other CPUs */
	KD_LOST_UNKNOWN_END, /* ends of SRCU and Tasks callbacks from before we began, or not seen to begin */
	KD_LOST_COUNT,
};

/* Things counted that are not losses. */
enum kd_count {
	KD_CNT_BEGUN, /* hand-overs seen */
	KD_CNT_DONE,  /* ends matched with their hand-over */
	KD_CNT_OPEN,  /* handed over, not done: still waiting now (a level, not a total) */
	KD_CNT_BARRIER, /* callbacks of rcu_barrier(): handed over by no call_rcu(), so not measured */
	KD_CNT_COUNT,
};

enum kd_rec_kind {
	/* written by BPF programs */
	KD_REC_TICK = 1,
	KD_REC_SERIES,
	KD_REC_HIST,
	KD_REC_STAT,
	KD_REC_WORST,
	KD_REC_LOST,
	KD_REC_COUNT,
	/* written by user space */
	KD_REC_HOST = 64, /* a fact about host or run: name and value */
	KD_REC_PLAN,      /* one row of the plan */
	KD_REC_SELF,      /* what the tool itself costs */
	KD_REC_EVENT,     /* something that happened: time, what, detail */
};

struct kd_rec {
	__u16 kind; /* enum kd_rec_kind */
	__u16 len;  /* bytes, with this header */
	__u32 id;   /* series, where the record belongs to one; else 0 */
};

/* Ends a tick: all that came before belongs to its interval. */
struct kd_rec_tick {
	struct kd_rec rec;
	__u64 mono_ns;  /* CLOCK_MONOTONIC */
	__u32 tick;     /* 0 = recording began; grows by one */
	__u32 complete; /* 0: cut short, what is missing comes with the next tick */
	__u64 skipped;  /* ticks that could not be completed before this one */
};

#define KD_NAME_LEN 256

/* Says what series `rec.id` is; comes before its first total, again at the start of a capture. */
struct kd_rec_series {
	struct kd_rec rec;
	__u8 source;            /* enum kd_source_id */
	__u8 measure;           /* enum kd_measure_id */
	__u8 flavour;           /* enum kd_flavour */
	__u8 dim;               /* enum kd_dim */
	__u32 flags;            /* KD_SERIES_* */
	__u64 key[2];           /* MAIN of call_rcu: function address; CPU: the CPU */
	char name[KD_NAME_LEN]; /* symbol, or "symbol [module]"; NUL-terminated */
};

/* Running totals of one group of buckets. */
struct kd_rec_hist {
	struct kd_rec rec;
	__u32 group; /* 0 .. KD_HIST_GROUPS - 1 */
	__u32 pad;
	__u64 count[KD_HIST_SUB];
};

/* Running sum, and the extremes of this interval (min > max: nothing in this interval). */
struct kd_rec_stat {
	struct kd_rec rec;
	__u64 sum;
	__u64 min;
	__u64 max;
};

/* One of the worst samples of this interval. rec.id = series of its main key. */
struct kd_rec_worst {
	struct kd_rec rec;
	__u64 mono_ns; /* when it ended */
	__u64 value;
	__u32 cpu; /* of the hand-over */
	__u32 pad;
};

/* Running total of one kind of loss (KD_REC_LOST) or count (KD_REC_COUNT) of a source. */
struct kd_rec_total {
	struct kd_rec rec;
	__u16 source;
	__u16 what; /* enum kd_lost, enum kd_count */
	__u32 pad;
	__u64 total;
};

#define KD_STATIC_ASSERT(x) _Static_assert(x, #x)
KD_STATIC_ASSERT(sizeof(struct kd_rec) == 8);
KD_STATIC_ASSERT(sizeof(struct kd_rec_tick) == 32);
KD_STATIC_ASSERT(sizeof(struct kd_rec_series) == 32 + KD_NAME_LEN);
KD_STATIC_ASSERT(sizeof(struct kd_rec_series) <= KD_REC_KERNEL_MAX);
KD_STATIC_ASSERT(sizeof(struct kd_rec_hist) == 16 + 8 * KD_HIST_SUB);
KD_STATIC_ASSERT(sizeof(struct kd_rec_stat) == 32);
KD_STATIC_ASSERT(sizeof(struct kd_rec_worst) == 32);
KD_STATIC_ASSERT(sizeof(struct kd_rec_total) == 24);
KD_STATIC_ASSERT(__builtin_offsetof(struct kd_rec_series, key) == 16);
KD_STATIC_ASSERT(__builtin_offsetof(struct kd_rec_hist, count) == 16);

/* User-space records: text after the fixed part, NUL-terminated strings one after another. */
struct kd_rec_text {
	struct kd_rec rec;
	__u64 a; /* PLAN: source | measure<<8 | flavour<<16 | state<<24 | meaning<<32; EVENT: realtime ns */
	__u64 b;     /* EVENT: monotonic ns */
	char text[]; /* HOST: name, value. PLAN: backend, hooks, reason, fix. EVENT: what, detail */
};

struct kd_rec_self {
	struct kd_rec rec;
	__u64 events; /* program runs */
	__u64 run_ns; /* estimated: events times the calibrated cost; 0 = not calibrated */
	__u64 cpu_ns; /* user and system time of this process */
	__u64 rss_bytes;
	__u64 kernel_bytes; /* maps and ring */
	__u64 attach_ns;
	__u64 detach_ns;     /* 0 while attached */
	__u64 grace_periods; /* waited for between the last attach and the start */
	__u64 sample;        /* 1/N of the events are followed; 1 = all */
};

#endif
