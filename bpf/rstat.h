/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rstat.h - what the two sides of the rstat source share besides the stream. Only bpf/rstat*.bpf.[ch],
 * src/source_rstat.c and the session for src/session_cost_rstat.c include it.
 */
#ifndef KDEFER_RSTAT_H
#define KDEFER_RSTAT_H

/* Which of the kernel's ways the locks and functions are. Seen in BTF, not in the version. */
enum rs_shape {
	RS_GLOBAL_BODY, /* one lock, held by cgroup_rstat_flush_locked() (6.1 to 6.14) */
	RS_GLOBAL,      /* one lock, taken anew for each CPU (6.15) */
	RS_BY_SUBSYS,   /* css_rstat_flush(), a lock for each subsystem (6.16 on) */
};

/*
 * Lists of worst samples: each measure and subsystem has some, for who adds can be preempted. What shares
 * a list drives out the lesser: a short wait for one lock is none the less the worst of that lock.
 */
#define RS_BINS 4
#define RS_WORST_MEASURES 4 /* flush, wait, hold, work */
#define RS_WORST_SUBS 8     /* RS_SUBS, rounded up so that a mask bounds the index */
#define RS_LISTS (RS_WORST_MEASURES * RS_WORST_SUBS * RS_BINS)

/* Cgroups, and behind them flushers: who has a number has a name. */
#define RS_WHO_MOST 512 /* of each kind; a power of two */
#define RS_WHO_NONE 0xffff

#define RS_PATH 216 /* bytes, with the NUL: a flusher has two names before it */

struct rs_path {
	char text[2 * RS_PATH]; /* only the first RS_PATH, and a NUL, count */
};

struct rs_who {
	__u64 key[2]; /* as in struct kd_rec_series */
	__u32 ready, pad;
	char process[16], thread[16]; /* of a flusher */
	struct rs_path path;
};

KD_STATIC_ASSERT(sizeof(struct rs_who) == 24 + 32 + 2 * RS_PATH);

/* Functions that may be on the stack of a flush, ascending; what is not used has from = ~0. */
#define RS_RANGES 64

struct rs_range {
	__u64 from, to;
	__u32 says; /* enum kd_flusher_class | enum kd_flavour of the subsystem << 8 */
	__u32 pad;
};

#define RS_FRAMES 16 /* a power of two, as the next */
#define RS_WORDS 32  /* of the stack: see rstat_way.bpf.h */

#define RS_WAYS 32       /* a power of two */
#define RS_WAY_FRAMES 12 /* up to the one that decides */

/* Return addresses on the stack, innermost first, that say for whom a flush is done. */
struct rs_way {
	__u64 ip[RS_WAY_FRAMES];
	__u32 at[RS_WAY_FRAMES]; /* the word in which it is */
	__u64 last;              /* ip and at of the one that decides */
	__u32 last_at, n;
	__u64 from; /* the function whose arguments they are; 0: of a tracepoint of the lock */
	__u32 says; /* as rs_frames_say() */
	__u32 pad;
};

KD_STATIC_ASSERT(sizeof(struct rs_way) == 8 * RS_WAY_FRAMES + 4 * RS_WAY_FRAMES + 32);

/* What a flush spends its time with, besides waits; all in ns, kept where it is asked for. */
struct rs_split {
	__u64 held;              /* the lock */
	__u64 irqs, off;         /* interrupts and softirqs; off the CPU: outside holds and waits */
	__u64 irqs_ago, off_ago; /* these when the lock was given up last */
	__u64 irq_from, off_from;
	__u64 group;  /* held by the holds since the last one that ended a group */
	__u64 spared; /* between holds of one group, but for interrupts and switches */
	__u16 holds;
	__u8 irq_depth;
	__u8 many; /* some hold was for more CPUs than one */
	__u32 own; /* runs of our programs at interrupts and switches in this flush */
};

KD_STATIC_ASSERT(sizeof(struct rs_split) == 80);

/* What if the lock was given up at every so many CPUs. */
#define RS_GROUP 8

/* A task in a flush, or with the lock, or waiting for it. */
struct rs_task {
	__u64 began;     /* the flush; 0: in none */
	__u64 wait_from; /* waits for the lock; 0: it does not */
	__u64 got;       /* holds the lock; 0: it does not */
	__u64 ended;     /* the last hold */
	__u64 waited;    /* in this flush */
	__u64 behind;    /* what others had waited when it got the lock: see waited_by() */
	__u64 cgroup;    /* struct cgroup */
	__u64 tick, gap; /* the last tick in this hold, and the longest time without one */
	__u64 own_ns;    /* our programs in this flush: see struct rs_own */
	struct rs_split split;
	__u32 visited; /* cgroups */
	__u32 at_once; /* acquisitions without a wait, not recorded yet */
	__s32 last_cpu;
	__u32 own_runs;
	__u16 cgroup_no, flusher_no; /* in the table of names; RS_WHO_NONE */
	__u8 sub;                    /* enum kd_flavour */
	__u8 how;                    /* RS_... below */
	__u8 pad[2];
	__u64 from;          /* the function whose arguments `words` begin with; 0: a tracepoint */
	__u64 ip[RS_FRAMES]; /* [0] is 0: not looked at */
	__u64 words[RS_WORDS];
};

KD_STATIC_ASSERT(sizeof(struct rs_task) == 11 * 8 + 24 + 80 + 8 * RS_FRAMES + 8 * RS_WORDS);

#define RS_PLACES 128 /* tasks that are found without a look-up; a power of two */

/*
 * What our programs took between the two ends of flushes and holds that were measured. What a program
 * does before its stamp is outside of what begins there, and after it of what ends there. Between its
 * first look at the clock and its last a program says how long it ran; before and behind these, its
 * edges, it cannot: user space finds their length in how long the kernel says that a run takes.
 */
struct rs_own {
	__u64 got_ns;     /* all runs that see the lock got, between their looks at the clock */
	__u64 flush_ns;   /* runs in flushes, between their looks */
	__u64 flush_runs; /* as many edges are in flushes, with those at their ends */
	__u64 hold_ns;    /* the same of holds */
	__u64 hold_runs;
	__u64 visits; /* runs at cgroups visited: in flushes, and in holds as well */
	__u64 ticks;  /* runs at ticks in holds, and in flushes as well */
	__u64 splits; /* runs at interrupts and switches in flushes */
};

KD_STATIC_ASSERT(sizeof(struct rs_own) == 64);

#define RS_CALL 1     /* between entry and return of the public function */
#define RS_SPAN 2     /* a flush seen by its locks only */
#define RS_WHOLE 4    /* the lock is not given up on the way */
#define RS_SKIP 8     /* left out by sampling, or began before recording */
#define RS_CUT 32     /* its end was not seen */
#define RS_SWEPT 64   /* its task may be gone: what is current is another */
#define RS_KNOWN 16   /* cgroup_no, flusher_no, sub and ip are set */
#define RS_UNSEEN 128 /* it waited, and since when was kept from us: `waited` is at most so long */

/* What the run-on-demand program is asked (struct kd_run_args.arg[0]). */
enum rs_run {
	RS_START,
	RS_STOP,
};

/*
 * kd_tick: arg[0] = cursor (0 first), arg[1] = the interval that ends, arg[2] = beginnings that the
 * kernel kept from our programs since the start. Returns the next cursor, 0 = done.
 */

/* Series of what has no number of its own: one for each kind, subsystem and dimension. */
#define RS_KINDS_ALWAYS \
	12 /* the others exist where it is asked what flushes spend their time with */
#define RS_KINDS 17
#define RS_SUBS 5
#define RS_REST(kinds) ((kinds)*RS_SUBS * 2)

#endif
