/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * holdup_gp.h - what the two sides of the reports of long grace periods share besides the stream. Only
 * bpf/holdup_gp.bpf.c and its parts, and src/holdup_gp.c include it.
 */
#ifndef KDEFER_HOLDUP_GP_H
#define KDEFER_HOLDUP_GP_H

/* Grace periods that go on side by side. */
enum hg_kind {
	HG_NORMAL,
	HG_EXPEDITED,
	HG_TASKS,
	HG_TRACE, /* Tasks Trace */
	HG_KINDS, /* a power of two */
};

#define HG_BLOCKED 8 /* preempted readers whose time is kept */

/* A reader that was preempted, and how long it was seen not to run. */
struct hg_blocked {
	__u64 pid, since, ns;
};

/*
 * A grace period, from the moment it was asked for. Written by the task that carries it on, but where
 * said. All times in ns.
 */
struct hg_wait {
	__u64 id;      /* of the one under way, or of the next */
	__u64 from;    /* asked for; 0: none is under way */
	__u64 asked;   /* the next one, by whoever asks first; 0: not yet, or not seen */
	__u64 start;   /* started */
	__u64 waiting; /* initialised; 0 not yet */
	__u64 done;    /* all is reported; by whoever reports */
	__u64 seq;
	__u64 scans;
	__u64 last, second;      /* reports, packed; by all CPUs */
	__u64 last_cpu;          /* the last of a CPU, not a task */
	__u64 last_pid;          /* the task that made the last report of a task */
	__u64 any_tick, any_gap; /* of all CPUs together; by all CPUs */
	__u64 kthread;           /* the task in charge; 0 unknown */
	__u64 kthread_ns;        /* how long it was runnable and did not run */
	__u64 kthread_since;     /* seen so since; 0: not. By whoever looks, as all that follows */
	__u64 look, tell;        /* when the next look is due, when it says what it sees */
	__u64 told;              /* witnesses so far */
	__u64 most_blocked;      /* preempted readers, or holdouts, seen at one time */
	__u64 holdouts, one_pid; /* Tasks: at the last scan; the pid if there was but one */
	__u64 one_cpu, tell_kthread;
	struct hg_blocked blocked[HG_BLOCKED];
};

#define HG_FRAMES 12 /* as many as are shown (WITNESS_SHOWN) */

/* Something that ran on a CPU that was waited for: not sent, unless the wait gets too long. */
struct hg_early {
	__u64 when; /* 0: none */
	__u64 gap;
	__u64 cgroup;
	__u32 pid, tgid;
	__u32 prio, flags;
	char comm[16];
	__u64 ip[HG_FRAMES];
};

#define HG_EARLY \
	2 /* the first after half of the limit; the end of the longest time without a tick */

/* What a CPU saw of the wait that is under way: the flight recorder. */
struct hg_cpu {
	__u64 start; /* of the wait; another: nothing of this is about it */
	__u64 ticks, user, reader, bare, barred;
	__u64 tick; /* when the last tick was */
	__u64 last; /* when the last was in which it was waited for, as all above and below */
	__u64 gap, gap_end;  /* the longest time without */
	__u64 switches;      /* of the run queue, at the first tick */
	__u64 steal;         /* as well */
	__u64 urgent;        /* when RCU was first seen to want something of this CPU urgently */
	__u64 unreported;    /* since when a quiescent state is recorded; 0: none is */
	__u64 unreported_ns; /* how long that was, as far as it is over */
	__u64 next;          /* when a witness is due again */
	__u64 rival_of;      /* pid in whose stead something runs here; 0: nobody asks */
	__u64 reader_of;     /* pid of a reader, once preempted, that runs here again */
	__u64 end_switches;  /* of the run queue as this CPU reported */
	__u64 task, regs;    /* what was seen last in the kernel, and its registers in user mode */
	__u64 mark, runs; /* what differs from call to call then, and switches of the run queue */
	__u64 passes;     /* times that these had changed, and the task was the same */
	/* Of the last wait that it was reported of: its start, and when that was. Kept from wait to wait. */
	__u64 reported_of, reported_at;
	__u64 reporting; /* when it last reported, for itself or others */
	struct hg_early early[HG_EARLY];
};

/* A grace period that is over, for those who waited for it. */
struct hg_past {
	__u64 kind, seq;
	__u64 from, start, waiting, cpus, last, end;
};

#define HG_PAST 64

/* A call that waits. */
struct hg_call {
	__u64 when;   /* ns */
	__u64 caller; /* an address in the function that called; 0 unknown */
	__u32 what;   /* enum gp_call */
	__u32 flavour;
};

/* What the run-on-demand programs are asked (struct kd_run_args.arg[0]). */
enum hg_run {
	HG_START,
	HG_STOP, /* what is under way and too long already is told as such */
};

/* kd_tick: arg[0] = cursor; returns the next, 0 = done. */

#endif
