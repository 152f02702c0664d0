/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * holdup_gp.h - what the two sides of the reports of long grace periods share besides the stream. Only
 * bpf/holdup_gp.bpf.c and src/holdup_gp.c include it.
 */
#ifndef KDEFER_HOLDUP_GP_H
#define KDEFER_HOLDUP_GP_H

/* Grace periods that go on side by side. */
enum hg_kind {
	HG_NORMAL,
	HG_KINDS,
};

/* A wait, from the moment it was asked for. Written by the kthread, but where said. */
struct hg_wait {
	__u64 id;      /* of the one under way, or of the next */
	__u64 from;    /* asked for; 0: none is under way. ns, as all times here */
	__u64 start;   /* started */
	__u64 waiting; /* initialised; 0 not yet */
	__u64 seq;
	__u64 scans;
	__u64 last, second;      /* reports, packed; by all CPUs */
	__u64 last_cpu;          /* the last of a CPU, not a task */
	__u64 last_pid;          /* the task that made the last report of a task */
	__u64 any_tick, any_gap; /* of all CPUs together; by all CPUs */
	__u64 kthread_ns;        /* how long it was runnable and did not run */
	__u64 kthread_since;     /* seen so since; 0: not. By whoever looks */
	__u64 look, tell;        /* when the next look is due, when it says what it sees */
	__u64 told;              /* witnesses so far */
};

/* What a CPU saw of the wait that is under way: the flight recorder. */
struct hg_cpu {
	__u64 start; /* of the wait; another: nothing of this is about it */
	__u64 ticks, user, reader, bare, barred;
	__u64 last;          /* when the last tick was; ns, as all times here */
	__u64 gap, gap_end;  /* the longest time without */
	__u64 switches;      /* of the run queue, at the first tick */
	__u64 steal;         /* as well */
	__u64 urgent;        /* when RCU was first seen to want something of this CPU urgently */
	__u64 unreported;    /* since when a quiescent state is recorded; 0: none is */
	__u64 unreported_ns; /* how long that was, as far as it is over */
	__u64 next;          /* when a witness is due again */
	__u64 rival_of;      /* pid in whose stead something runs here; 0: nobody asks */
	__u64 end_switches;  /* of the run queue as this CPU reported */
	__u64 reported;      /* when it did, for itself or others */
	__u64 task, regs;    /* what was seen last in the kernel, and its registers in user mode */
	__u64 passes;        /* times that these had changed */
};

/* What the run-on-demand programs are asked (struct kd_run_args.arg[0]). */
enum hg_run {
	HG_START,
	HG_STOP, /* what is under way and too long already is told as such */
};

/* kd_tick: arg[0] = cursor; returns the next, 0 = done. */

#endif
