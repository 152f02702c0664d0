/* SPDX-License-Identifier: GPL-2.0-only */
/* holdup_cb.h - what the two sides of reports on callbacks share besides the stream. */
#ifndef KDEFER_HOLDUP_CB_H
#define KDEFER_HOLDUP_CB_H

#define HC_FOLLOWED 64 /* callbacks of a CPU followed at a time; a power of two */
#define HC_GPS 64      /* grace periods remembered; a power of two */

/* The number that was current once a grace period had ended, and when. */
struct hc_gp {
	__u64 seq, end;
};

/* A callback that is followed from its hand-over until its turn. */
struct hc_followed {
	__u64 head, func;
	__u64 when;  /* ns */
	__u64 ran;   /* how many of that list had run by then */
	__u64 asked; /* ns: when a grace period was asked for it; 0: not yet, or not seen */
	__u64 seq;   /* the grace period whose end it waits for */
	__u64 lazy;
};

/* Words of hc_cpu.scratch, one for each program that may interrupt the others. */
enum hc_scratch { HC_SCRATCH_BEGIN, HC_SCRATCH_END, HC_SCRATCH_COUNT };

/* A CPU's callback list, which is named while recording is on. */
struct hc_cpu {
	__u64 list; /* &rcu_data.cblist; 0: not recording */
	__u64 bypass;
	__u64 offloadable;
	__u64 rclp;        /* the batch of this list that runs on this CPU; 0: none */
	__u64 next;        /* jiffies from which on another callback is followed */
	__u64 tail, front; /* of those followed: written by one end each */
	__u64 given;       /* up to here they have a grace period */
	__u64 hint_head, hint_lazy;
	/* the batch */
	__u64 ran;                /* callbacks of this list that have run */
	__u64 batch_ns, queue;    /* when it began, what stood on the list */
	__u64 run_ns, run_func;   /* the callback that runs now; 0: none */
	__u64 slow_ns, slow_func; /* the longest since `slow_from` */
	__u64 slow_from;
	/* what is reported */
	__u64 reported_ns, reported_took; /* the last one */
	__u64 id, run_id;                 /* how many reports */
	__u64 seen_ns;                    /* last look at the kthread */
	__u64 kthread_ns, kthread_pid;
	__u64 witnesses, run_witnesses; /* of what is not reported yet */
	__u64 witness_ns;
	__u64 scratch[HC_SCRATCH_COUNT];
	struct hc_followed followed[HC_FOLLOWED];
};

enum hc_run {
	HC_START, /* arg[1] = CPU whose list it is; run on that CPU if it is online; 1: it may be offloaded */
	HC_STOP,
};

#endif
