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
	KD_M_CALL_RCU_PENDING, /* ..._PENDING: lists, read as state; no histogram */
	KD_M_RCU_GP_PENDING,
	KD_M_MEMALLOC_PENDING,
	KD_M_RSTAT_PENDING,
	KD_M_MEMALLOC_LATENCY,
	KD_M_MEMALLOC_REFILL,
	KD_M_MEMALLOC_DRAIN,
	KD_M_MEMALLOC_REFILL_FAILED, /* a count without a histogram: buckets of value 0 only */
	KD_M_RSTAT_FLUSH,
	KD_M_RSTAT_WAIT,
	KD_M_RSTAT_HOLD,
	KD_M_RSTAT_WORK,
	KD_M_RSTAT_CGROUPS,
	KD_M_RSTAT_BLAME,
	KD_M_CALL_RCU_HOLDUP, /* ..._HOLDUP: reports of waits that were too long; no histogram */
	KD_M_RCU_GP_HOLDUP,
	KD_M_RSTAT_HOLDUP,
	KD_M_RSTAT_HELD, /* this and what follows: only if asked for */
	KD_M_RSTAT_IRQS,
	KD_M_RSTAT_OFF_CPU,
	KD_M_RSTAT_HOLD_BY_8,
	KD_M_RSTAT_FLUSH_BY_8,
	KD_M_COUNT,
};

/*
 * What the totals of a measure are told apart by: the flavour of RCU, or for rstat the subsystem whose
 * statistics are flushed. Which of the two: `group_key` of the measure, src/catalog.c.
 */
enum kd_flavour {
	KD_FL_NONE,
	KD_FL_RCU,
	KD_FL_SRCU,
	KD_FL_TASKS,
	KD_FL_TASKS_RUDE,
	KD_FL_TASKS_TRACE,
	KD_FL_KFREE,
	KD_FL_EXPEDITED,
	KD_FL_RCU_END,                 /* those of RCU are below */
	KD_FL_SUB_ALL = KD_FL_RCU_END, /* one flush does all subsystems */
	KD_FL_SUB_BASE,
	KD_FL_SUB_MEMORY,
	KD_FL_SUB_IO,
	KD_FL_SUB_OTHER,
	KD_FL_COUNT,
};

/*
 * What distinguishes the series of one measure. A measure's total is the sum of its MAIN series;
 * series of the other kinds cut the same events another way and never enter a total.
 */
enum kd_dim {
	KD_DIM_MAIN, /* by the source's main key; the key that stands for the rest has KD_SERIES_OTHER */
	KD_DIM_CPU,     /* key[0] = CPU of the hand-over */
	KD_DIM_FLUSHER, /* rstat: key[0] = tgid | class << 32, key[1] = cgroup id of the flusher */
	KD_DIM_COUNT,
};

/* memalloc: which stage of its life an object or batch was in; key[1] of a series has it above bit 32. */
enum kd_stage {
	KD_STAGE_NONE,
	KD_STAGE_RCU,         /* handed to RCU, until its callback */
	KD_STAGE_TASKS_TRACE, /* handed to RCU Tasks Trace, until its callback */
	KD_STAGE_COUNT,
};

/* rstat: on whose behalf a flush is done. */
enum kd_flusher_class {
	KD_FC_OTHER,
	KD_FC_MEMORY_STAT,
	KD_FC_CPU_STAT,
	KD_FC_PERIODIC,
	KD_FC_RECLAIM,
	KD_FC_ZSWAP,
	KD_FC_REMOVAL,
	KD_FC_BPF,
	KD_FC_IO_STAT,
	KD_FC_SELF, /* kdefer's own */
	KD_FC_COUNT,
};

#define KD_SERIES_OTHER (1u << 0) /* no room for a key of its own */
#define KD_SERIES_LAZY (1u << 1)  /* callbacks that asked to be batched lazily */
#define KD_SERIES_EAGER (1u << 2) /* the others, where lazy callbacks exist on this kernel */
#define KD_SERIES_UPPER (1u << 3) /* values are upper bounds of what is measured */
#define KD_SERIES_LOWER (1u << 4) /* ... lower bounds */

/* Why events are missing. Names: src/catalog.c. Counted where it happens, per source. */
enum kd_lost {
	KD_LOST_RING_FULL,  /* ticks cut short because user space did not drain the ring */
	KD_LOST_TABLE_FULL, /* hand-overs that no table had room for */
	KD_LOST_RECURSION,  /* events the kernel did not give us: our program was running already */
	KD_LOST_UNMATCHED_BEGIN, /* hand-overs whose end was not seen */
	KD_LOST_UNMATCHED_END,   /* ends whose hand-over was not seen */
	KD_LOST_PRE_START,       /* ends of what was handed over before recording began */
	KD_LOST_SAMPLED_OUT,     /* hand-overs left out by sampling */
	KD_LOST_CLOCK,           /* ends before their beginning by the clock: time not recorded */
	KD_LOST_LAZY_UNKNOWN,    /* counted as not lazy because the wish was not seen */
	KD_LOST_EXTREME,         /* extremes given up after too many tries against other CPUs */
	KD_LOST_UNKNOWN_END, /* ends of SRCU and Tasks callbacks from before we began, or not seen to begin */
	KD_LOST_LISTS,    /* pending lists that there was no room to follow */
	KD_LOST_LOOK,     /* looks at pending lists that were cut short */
	KD_LOST_KDEFER,   /* waits of a kdefer, for what it attaches and detaches */
	KD_LOST_VANISHED, /* lists left out since their owner went while they were read */
	KD_LOST_TORN,     /* lists that were counted, and walked to another length */
	KD_LOST_REPORTS,  /* reports of waits, or witnesses of one, that the ring had no room for */
	KD_LOST_ALIKE,    /* waits over the limit, not reported beside another of the same list */
	KD_LOST_COUNT,
};

/* Things counted that are not losses. */
enum kd_count {
	KD_CNT_BEGUN, /* hand-overs seen */
	KD_CNT_DONE,  /* ends matched with their hand-over */
	KD_CNT_OPEN,  /* handed over, not done: still waiting now (a level, not a total) */
	KD_CNT_BARRIER, /* callbacks of rcu_barrier(): handed over by no call_rcu(), so not measured */
	KD_CNT_LEFT, /* entries that left the lists of a source; of call_rcu, those of the flavour rcu */
	KD_CNT_KDEFER, /* of the hand-overs seen: Tasks and Tasks Trace callbacks of a kdefer */
	KD_CNT_RUNS,   /* runs of our programs */
	KD_CNT_RUN_NS, /* time in them, estimated by user space from a moment in which it was measured */
	KD_CNT_IN_FLUSH_NS, /* rstat: of that, between the two ends of a flush ... */
	KD_CNT_IN_HOLD_NS,  /* ... and of a hold */
	KD_CNT_CHECKED,   /* memalloc: lists that were walked and held against the kernel's count */
	KD_CNT_UNCHECKED, /* ... and that were to be, but were too long or changed meanwhile */
	KD_CNT_LEFT_OUT, /* of the runs, those that left out an event, at either end, by sampling */
	KD_CNT_FLOW_LOOKS, /* memalloc: looks that were held against the one before */
	KD_CNT_FLOW_IN,  /* ... objects that came meanwhile to wait for a grace period, at least */
	KD_CNT_FLOW_OUT, /* ... and that left, at least */
	KD_CNT_FLOW_IN_BYTES,  /* ... their bytes */
	KD_CNT_FLOW_OUT_BYTES, /* ... */
	KD_CNT_READ_BYTES, /* memalloc: that looks at its lists have read of the kernel's memory */
	KD_CNT_READ_RUNS,  /* ... runs of programs for it */
	KD_CNT_READ_NS,    /* ... time in them */
	KD_CNT_LONGEST_NS, /* ... and the longest of these (a level that only grows) */
	/* memalloc: objects that refills brought, from slab, of what was freed, from one of these; that drains took */
	KD_CNT_FROM_SLAB,
	KD_CNT_RECYCLED,
	KD_CNT_FROM_EITHER,
	KD_CNT_DRAINED,
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
	KD_REC_PENDING,
	KD_REC_GP,
	KD_REC_OWED,
	KD_REC_HOLDUP,
	KD_REC_WITNESS,
	/* written by user space */
	KD_REC_HOST = 64, /* a fact about host or run: name and value */
	KD_REC_PLAN,      /* one row of the plan */
	KD_REC_SELF,      /* what the tool itself costs */
	KD_REC_EVENT,     /* something that happened: time, what, detail */
	KD_REC_NAME,      /* what a number in KD_REC_PENDING stands for */
	KD_REC_RUN,       /* a run of the measured command begins or has ended */
	KD_REC_VALUE,     /* what the command measured itself in its run */
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
	__u8 source;  /* enum kd_source_id */
	__u8 measure; /* enum kd_measure_id */
	__u8 flavour; /* enum kd_flavour */
	__u8 dim;     /* enum kd_dim */
	__u32 flags;  /* KD_SERIES_* */
	/*
	 * MAIN of call_rcu: function address. MAIN of memalloc: map id (0: a global allocator), unit size |
	 * enum kd_stage << 32. MAIN of rstat: cgroup id, and hierarchy id (0: v2). CPU: the CPU.
	 * FLUSHER: see enum kd_dim; tgid 0 stands for several processes of one name.
	 */
	__u64 key[2];
	/*
	 * call_rcu, rcu_gp: symbol, or "symbol [module]". memalloc: map name. rstat MAIN: path of the
	 * cgroup; FLUSHER: process comm, thread comm, path of its cgroup, each NUL-terminated.
	 */
	char name[KD_NAME_LEN];
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

/* What a source that knows its tasks adds to it (rec.len says so). */
struct kd_rec_worst_who {
	struct kd_rec_worst worst;
	__u32 pid, tgid;
	char comm[16];   /* NUL-terminated */
	__u64 cgroup;    /* id in the v2 hierarchy */
	char stack[256]; /* names of functions, innermost first, separated by spaces; "" unknown */
};

/* Running total of one kind of loss (KD_REC_LOST) or count (KD_REC_COUNT) of a source. */
struct kd_rec_total {
	struct kd_rec rec;
	__u16 source;
	__u16 what; /* enum kd_lost, enum kd_count */
	__u32 pad;
	__u64 total;
};

/*
 * --- state, read and not hooked ---
 *
 * Lists whose length a snapshot saw. In the ring each snapshot is whole: what is not in it is empty.
 * In the stream (src/levels.c stands between) a length holds until the next record of the same list,
 * and a length of 0 says that the list is empty or gone.
 */
enum kd_list {
	/* call_rcu: segments of a CPU's callback list, and what stands before and after it */
	KD_LIST_DONE,
	KD_LIST_WAIT,
	KD_LIST_NEXT_READY,
	KD_LIST_NEXT,
	KD_LIST_LAZY,
	KD_LIST_BYPASS,
	KD_LIST_INVOKING,
	KD_LIST_KFREE,
	/* memalloc: as in the kernel's struct bpf_mem_cache */
	KD_LIST_FREE_LLIST,
	KD_LIST_FREE_LLIST_EXTRA,
	KD_LIST_FREE_BY_RCU,
	KD_LIST_WAITING_FOR_GP,
	KD_LIST_FREE_BY_RCU_TTRACE,
	KD_LIST_WAITING_FOR_GP_TTRACE,
	/* rstat */
	KD_LIST_UPDATED,
	KD_LIST_WAITERS,
	KD_LIST_BACKLOG,
	/* rcu_gp: not in records of lists, the model makes them of KD_REC_GP */
	KD_LIST_CPUS_OWED,
	KD_LIST_TASKS_OWED,
	KD_LIST_COUNT,
	/* + i: the i-th list of this kernel that this build has no name for; KD_NAME_LIST says its name */
	KD_LIST_UNKNOWN = 128,
	KD_LIST_MAX = 192,
};

#define KD_CPU_NONE (~0u)  /* of no CPU, or of all together */
#define KD_UNKNOWN (~0ULL) /* a number that could not be had */

#define KD_PENDING_EXACT (1u << 0)     /* the length is what it was at one moment */
#define KD_PENDING_TRUNCATED (1u << 1) /* the walk was cut: at least this many */
#define KD_PENDING_STRANDED (1u << 2) /* unchanged for age_ns, and no callback is queued for them */

struct kd_rec_pending {
	struct kd_rec rec; /* id: 0 */
	__u8 source;       /* enum kd_source_id */
	__u8 flavour;      /* enum kd_flavour */
	__u16 list;        /* enum kd_list */
	__u32 cpu;         /* or KD_CPU_NONE */
	__u64 key; /* call_rcu srcu: the domain's address; memalloc: map id, or KD_KEY_GLOBAL + n */
	__u32 unit_size; /* memalloc: bytes of an object as allocated; else 0 */
	__u32 flags;     /* KD_PENDING_* */
	__u64 length;    /* entries; at most KD_PENDING_MOST */
	__u64 bytes;     /* memory held back, at most KD_PENDING_MOST; or KD_UNKNOWN */
	__u64 age_ns;    /* of the oldest entry, a lower bound; or KD_UNKNOWN */
};

#define KD_PENDING_MOST (1ULL << 46) /* so that sums hold */
#define KD_KEY_GLOBAL (1ULL << 32)   /* + n: the n-th global allocator; KD_NAME_MAP says its name */

enum kd_gp_state { KD_GP_IDLE, KD_GP_STARTING, KD_GP_WAITING, KD_GP_CLEANUP, KD_GP_STATE_COUNT };

/* The grace period of a flavour as a snapshot saw it. */
struct kd_rec_gp {
	struct kd_rec rec;
	__u8 flavour;
	__u8 state; /* enum kd_gp_state */
	__u16 pad;
	__u32 cpus_owed;  /* that still owe a quiescent state */
	__u32 tasks_owed; /* blocked readers or holdouts */
	__u32 flags;      /* KD_PENDING_*, of the counts */
	__u64 seq;        /* the kernel's number, as in its messages (they print it with a sign) */
	__u64 age_ns;     /* since it began; KD_UNKNOWN */
	__u64 key; /* srcu: the domain of this, the oldest grace period under way, else 0; NAME_DOMAIN */
};

/* One that owes: comes before the KD_REC_GP of its flavour. At most 64 each a flavour. */
struct kd_rec_owed {
	struct kd_rec rec;
	__u8 flavour;
	__u8 is_task;
	__u16 pad;
	__u32 cpu; /* of a task: where it ran last */
	__u32 pid;
	__u32 tgid;
	char comm[16]; /* NUL-terminated */
};

/*
 * --- waits that were too long ---
 *
 * The kernel side sends facts, never a verdict: src/verdict.c makes that of them, live or replayed.
 * Witnesses of a wait come while it goes on, and before the KD_REC_HOLDUP that ends it.
 */
enum kd_wait {
	KD_WAIT_GP, /* a grace period: begins when it starts, or when it was asked for if known */
	KD_WAIT_CALLBACK, /* from call_rcu() until the callback is taken off to be run */
	KD_WAIT_RUN,      /* a callback that ran for long */
	KD_WAIT_CALLER,   /* a caller of synchronize_rcu() and its kin */
	KD_WAIT_FLUSH,    /* rstat: a flush */
	KD_WAIT_HOLD,     /* rstat: one hold of the lock */
	KD_WAIT_LOCK,     /* rstat: one wait for the lock */
	KD_WAIT_COUNT,
};

/* Parts of a wait, in order; they add up to no more than the whole. */
enum kd_phase {
	KD_PH_REQUESTED,  /* asked for, not started */
	KD_PH_INIT,       /* started, until the first wait for quiescent states */
	KD_PH_WAIT_CPUS,  /* until the last CPU had reported */
	KD_PH_WAIT_TASKS, /* from then until the last blocked reader or holdout had */
	KD_PH_CLEANUP,    /* from the last report until all was cleaned up */
	KD_PH_CB_WAIT,    /* its grace period over, until its turn to be run */
	KD_PH_CB_RUN,     /* running */
	KD_PH_COUNT,
};

/* Who reported last, or how. */
enum kd_how { KD_HOW_UNKNOWN, KD_HOW_ITSELF, KD_HOW_FOR_IT, KD_HOW_TASK, KD_HOW_COUNT };

/*
 * What is known of a wait. Times are since its beginning where they say "when". Names and units:
 * src/catalog_waits.c; a fact is printed by that table alone. At most KD_FACTS_MAX.
 */
enum kd_fact {
	KD_F_LAST_CPU, /* CPU whose report was the last */
	KD_F_LAST_PID, /* task that was the last blocked reader or holdout to report; 0: none was */
	KD_F_LAST_NS,  /* when the last reported */
	KD_F_SECOND_NS,    /* when the last but one did */
	KD_F_HOW,          /* enum kd_how: of the last report */
	KD_F_TICKS,        /* ticks of the scheduling clock on LAST_CPU during the wait */
	KD_F_TICKS_USER,   /* of these: in user mode or idle */
	KD_F_TICKS_READER, /* in an RCU reader (preemptible RCU) */
	KD_F_TICKS_BARE,   /* in the kernel, where a reader could not be: outside any */
	KD_F_TICKS_BARRED, /* in the kernel with preemption or softirqs off */
	KD_F_GAP_NS,       /* longest time without a tick on LAST_CPU */
	KD_F_GAP_END_NS,   /* when that ended */
	KD_F_ALL_GAP_NS,   /* longest time in which no CPU ticked, reported or scanned */
	KD_F_SWITCHES,     /* context switches on LAST_CPU during the wait */
	KD_F_URGENT_NS, /* when RCU was first seen to have asked that CPU urgently; 0: it had not */
	KD_F_UNREPORTED_NS, /* how long LAST_CPU had one, as far as ticks saw, and did not report it */
	KD_F_KTHREAD_NS,    /* how long the kthread in charge was runnable and did not run */
	KD_F_KTHREAD_PID,
	KD_F_SCANS,      /* scans for quiescent states (force_qs_rnp) */
	KD_F_STEAL_NS,   /* time stolen by the hypervisor on LAST_CPU */
	KD_F_BLOCKED_NS, /* how long LAST_PID was seen preempted or asleep in its reader */
	KD_F_HOLDOUTS,   /* most tasks that were waited for at one time */
	KD_F_READY_NS,   /* callbacks: when their grace period had ended */
	KD_F_BATCH_NS,   /* when the batch began in which it was run */
	KD_F_QUEUE,      /* callbacks on the list, the most that were seen since it waits */
	KD_F_AHEAD,      /* callbacks that ran on that list between READY and its turn */
	KD_F_SLOWEST_NS, /* the longest of these */
	KD_F_GPS,        /* grace periods that ended during the wait */
	KD_F_OFFLOADED,  /* 1: this CPU's callbacks are run by a kthread */
	KD_F_LAZY_NS,    /* how long it was kept lazily before a grace period was asked for */
	KD_F_CGROUPS,    /* rstat: cgroups visited */
	KD_F_CPUS,       /* rstat: CPUs visited */
	KD_F_HOLDS,      /* rstat: times the lock was held */
	KD_F_HELD_NS,    /* rstat: time it was held by this flush */
	KD_F_LOCK_NS,    /* rstat: time this flush waited for it */
	KD_F_OWNER_PID,  /* rstat: who held it the longest meanwhile */
	/*
	 * Between how many pairs of ticks on LAST_CPU its task had been in user mode: its user registers
	 * (bpf_task_pt_regs) had changed, or the random offset of its kernel stack. 0: none was seen. Tells a
	 * loop of system calls from one long reader.
	 */
	KD_F_PASSES,
	KD_F_MARGIN_NS,     /* by how much it may have been longer: what is known to a tick */
	KD_F_STACK_OFFSETS, /* 1: for that, each system call has an offset of its own here */
	KD_F_COUNT,
};
#define KD_FACTS_MAX 40

#define KD_HOLDUP_ONGOING (1u << 0) /* not over when recording ended */
#define KD_HOLDUP_KDEFER (1u << 1)  /* caused by attaching or detaching of a kdefer */
#define KD_HOLDUP_LOWER (1u << 2)   /* the duration is a lower bound */

struct kd_rec_holdup {
	struct kd_rec rec;      /* id: number of the wait, of its source; witnesses carry it too */
	__u8 source;            /* enum kd_source_id */
	__u8 flavour;           /* enum kd_flavour */
	__u8 what;              /* enum kd_wait */
	__u8 flags;             /* KD_HOLDUP_* */
	__u32 cpu;              /* where it was handed over or waited, or KD_CPU_NONE */
	__u64 begin_ns, end_ns; /* CLOCK_MONOTONIC */
	__u64 threshold_ns;
	__u64 seq;       /* number of the grace period, as in the kernel's messages; else 0 */
	__u64 cgroup;    /* of whoever waited, or what is flushed; 0 unknown */
	__u32 pid, tgid; /* whoever waited; 0: nobody, or unknown */
	char comm[16];   /* NUL-terminated */
	char name[48];   /* function of the callback, caller, srcu domain; NUL-terminated; "" */
	__u64 phase[KD_PH_COUNT]; /* ns, or KD_UNKNOWN */
	__u64 known;              /* bit i: fact[i] is known */
	__u64 fact[KD_FACTS_MAX];
};

enum kd_role {
	KD_ROLE_CPU,      /* runs on a CPU that still owes a quiescent state */
	KD_ROLE_TASK,     /* blocked or preempted in a reader, or a holdout */
	KD_ROLE_KTHREAD,  /* the kthread in charge */
	KD_ROLE_RIVAL,    /* runs where one of the two would */
	KD_ROLE_CALLBACK, /* runs for long among callbacks; comm is the function's name if known */
	KD_ROLE_OWNER,    /* holds the lock */
	KD_ROLE_WAITER,   /* waits: a flusher, a caller */
	KD_ROLE_QUEUE,    /* nobody: the stack is what most callbacks are that come before */
	KD_ROLE_COUNT,
};

#define KD_WIT_USER (1u << 0)     /* in user mode, or idle */
#define KD_WIT_READER (1u << 1)   /* inside an RCU reader, or one of the flavour's */
#define KD_WIT_BARRED (1u << 2)   /* preemption or softirqs off */
#define KD_WIT_RUNNING (1u << 3)  /* on a CPU */
#define KD_WIT_RUNNABLE (1u << 4) /* wants to, and is not */
#define KD_WIT_SLEEPING (1u << 5)
#define KD_WIT_IDLE (1u << 6)       /* the idle task */
#define KD_WIT_GAP (1u << 7)        /* the first tick after `gap_ns` without one */
#define KD_WIT_NEST_KNOWN (1u << 8) /* READER and its absence mean something */
#define KD_WIT_CANDIDATE (1u << 9)  /* may be in the way: the kernel does not tell who is */

struct kd_rec_witness {
	struct kd_rec rec; /* id: as in its KD_REC_HOLDUP */
	__u64 mono_ns;
	__u8 source; /* enum kd_source_id */
	__u8 role;   /* enum kd_role */
	__u16 flags; /* KD_WIT_* */
	__u32 cpu;
	__u32 pid, tgid;
	__u64 cgroup;  /* id in the v2 hierarchy; 0 unknown */
	__u64 gap_ns;  /* before this, without a tick on the CPU; 0: none worth telling */
	__u32 prio;    /* as the kernel has it: below 100 real-time */
	__u32 of_pid;  /* RIVAL: in whose stead */
	char comm[16]; /* NUL-terminated */
	/* Functions, innermost first, separated by spaces; one that is "0x0" ends it; "" unknown. */
	char stack[320];
};

/* KD_REC_NAME: a = enum kd_name_of | source << 8, b = the number; texts as said. */
enum kd_name_of {
	KD_NAME_LIST,   /* b = list: its name */
	KD_NAME_DOMAIN, /* b = address: symbol of an srcu_struct */
	KD_NAME_MAP, /* b = map id or KD_KEY_GLOBAL + n: name, type, then holders: "pid comm" or "pin path" */
	KD_NAME_CGROUP, /* b = id in the v2 hierarchy: path below its mount */
	KD_NAME_COUNT,
};

#define KD_STATIC_ASSERT(x) _Static_assert(x, #x)
KD_STATIC_ASSERT(sizeof(struct kd_rec) == 8);
KD_STATIC_ASSERT(sizeof(struct kd_rec_tick) == 32);
KD_STATIC_ASSERT(sizeof(struct kd_rec_series) == 32 + KD_NAME_LEN);
KD_STATIC_ASSERT(sizeof(struct kd_rec_series) <= KD_REC_KERNEL_MAX);
KD_STATIC_ASSERT(sizeof(struct kd_rec_hist) == 16 + 8 * KD_HIST_SUB);
KD_STATIC_ASSERT(sizeof(struct kd_rec_stat) == 32);
KD_STATIC_ASSERT(sizeof(struct kd_rec_worst) == 32);
KD_STATIC_ASSERT(sizeof(struct kd_rec_worst_who) == 320);
KD_STATIC_ASSERT(sizeof(struct kd_rec_total) == 24);
KD_STATIC_ASSERT(sizeof(struct kd_rec_pending) == 56);
KD_STATIC_ASSERT(sizeof(struct kd_rec_gp) == 48);
KD_STATIC_ASSERT(sizeof(struct kd_rec_owed) == 40);
KD_STATIC_ASSERT(sizeof(struct kd_rec_holdup) == KD_REC_KERNEL_MAX);
KD_STATIC_ASSERT(sizeof(struct kd_rec_witness) == 392);
KD_STATIC_ASSERT(KD_F_COUNT <= KD_FACTS_MAX);
KD_STATIC_ASSERT(__builtin_offsetof(struct kd_rec_series, key) == 16);
KD_STATIC_ASSERT(__builtin_offsetof(struct kd_rec_hist, count) == 16);

/* User-space records: text after the fixed part, NUL-terminated strings one after another. */
struct kd_rec_text {
	struct kd_rec rec;
	__u64 a; /* PLAN: source | measure<<8 | flavour<<16 | state<<24 | meaning<<32; EVENT: realtime ns */
	__u64 b; /* EVENT: monotonic ns */
	char text
		[]; /* HOST: name, value. PLAN: backend, hooks, reason, fix. EVENT: what, detail; NAME: enum kd_name_of */
};

/*
 * Runs: a tick comes before either mark, so that every interval belongs wholly to one run or to the
 * gap between two. Without such marks a stream is one run from its first tick to its last.
 */
#define KD_STATUS_UNKNOWN 0xffff /* the time was up before the command */

enum kd_side { KD_SIDE_NONE, KD_SIDE_A, KD_SIDE_B, KD_SIDE_COUNT };

struct kd_rec_run {
	struct kd_rec rec;
	__u64 mono_ns, real_ns; /* when the command was let go, or had ended */
	__u32 index;            /* grows by one from 0 */
	__u8 side;              /* enum kd_side: --ab */
	__u8 ended;             /* 0: begins */
	__u16 status;           /* ended: as a shell says it, 128 + n for a signal */
	char command[];         /* NUL-terminated */
};

enum kd_better { KD_BETTER_NONE, KD_BETTER_LOWER, KD_BETTER_HIGHER, KD_BETTER_COUNT };

/* Of the run that is going on. */
struct kd_rec_value {
	struct kd_rec rec;
	double value; /* finite */
	__u8 better;  /* enum kd_better */
	__u8 pad[7];
	char text[]; /* name, unit, the value as it was written: NUL-terminated each */
};
KD_STATIC_ASSERT(sizeof(struct kd_rec_run) == 32);
KD_STATIC_ASSERT(sizeof(struct kd_rec_value) == 24);

struct kd_rec_self {
	struct kd_rec rec;
	__u64 events; /* program runs */
	__u64 run_ns; /* estimated: events times the calibrated cost; 0 = not calibrated */
	__u64 cpu_ns; /* user and system time of this process */
	__u64 rss_bytes;
	__u64 kernel_bytes; /* maps and ring */
	__u64 attach_ns;
	__u64 detach_ns;     /* 0 while attached, and if it was not done in time */
	__u64 grace_periods; /* waited for between the last attach and the start */
	__u64 sample; /* 1/N of the events are followed; 1 = all; the thinnest since the record before */
};

#endif
