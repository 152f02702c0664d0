/* SPDX-License-Identifier: GPL-2.0-only */
/* holdup_cb.h - what the two sides of reports on callbacks share besides the stream. */
#ifndef KDEFER_HOLDUP_CB_H
#define KDEFER_HOLDUP_CB_H

#define HC_FOLLOWED 64 /* callbacks of a CPU followed at a time; a power of two */
#define HC_STEPS 8     /* lengths of the time from one to the next; a power of two */
#define HC_GPS 64      /* grace periods remembered; a power of two */

/* The number that was current once a grace period had ended, and when. */
struct hc_gp {
	__u64 seq, end;
};

/* A callback that is followed from the first look that finds it on its list until its turn. */
struct hc_followed {
	__u64 number; /* of all that were ever handed over to its list */
	__u64 func;
	__u64 when;   /* ns of that look */
	__u64 margin; /* it had been there for this long at most */
	__u64 done;   /* how many of that list had run by then */
	__u64 asked;  /* ns: first look at which a grace period was asked for it; 0: not yet */
	__u64 ready;  /* ns: first look at which that was over; 0: not yet */
	__u64 seq;    /* the grace period whose end it waits for; 0: not known */
	__u64 lazy;
};

/* A CPU's callback list, which is named while recording is on. */
struct hc_cpu {
	__u64 list; /* &rcu_data.cblist; 0: not recording */
	__u64 offloadable;
	__u64 busy; /* one at a time looks or takes */
	__u64 scratch;
	/* the batch that began last */
	__u64 rclp;     /* the local list that it is run from */
	__u64 batch_ns; /* when */
	__u64 runner;   /* the task that runs it */
	/* the last look */
	__u64 looked_ns;
	__u64 done;   /* callbacks that were taken off to be run, ever */
	__u64 newest; /* number of the last of the list */
	/* of the first look at that one: when, since when it may be there, what had run */
	__u64 newest_ns, newest_margin, newest_done;
	__u64 chosen;        /* number of the last that was followed */
	__u64 queue;         /* how many the list counts */
	__u64 most, most_ns; /* the most since the first that is followed waits, and when */
	__u64 chosen_ns;     /* when that was */
	/* of those followed: to `front` they had their turn, to `ready` they could have it */
	__u64 tail, front, ready;
	/* the callback that runs */
	__u64 run;                /* its number; 0: none */
	__u64 run_ns, run_seen;   /* first and last look at it */
	__u64 run_margin;         /* it may have run for that much longer */
	__u64 run_func;           /* 0: not seen */
	__u64 slow_ns, slow_from; /* the longest since then */
	/* what is reported */
	__u64 reported_ns, reported_took, reported_late; /* the last one */
	__u64 id, run_id;                                /* how many reports */
	__u64 seen_ns;                                   /* last look at the kthread */
	__u64 kthread_ns, kthread_pid;
	/* next to run whenever a batch was looked at: how often, what most were, by how many more than not */
	__u64 queue_looks, queue_func, queue_votes;
	__u64 witnesses, run_witnesses; /* of what is not reported yet */
	__u64 witness_ns;
	struct hc_followed followed[HC_FOLLOWED];
};

enum hc_run {
	HC_START, /* arg[1] = CPU whose list it is; run on that CPU if it is online; 1: it may be offloaded */
	HC_STOP,
};

#endif
