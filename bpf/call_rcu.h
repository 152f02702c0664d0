/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * call_rcu.h - what the two sides of the call_rcu source share besides the stream. Only
 * bpf/call_rcu.bpf.c and src/source_call_rcu.c include it.
 */
#ifndef KDEFER_CALL_RCU_H
#define KDEFER_CALL_RCU_H

#define CR_FLAVOURS 6     /* rcu, srcu, tasks, tasks_rude, tasks_trace, kfree */
#define CR_KFREE_BINS 4   /* lists of worst samples of kfree; a power of two */
#define CR_SLOTS_MAX 4096 /* series indices travel in 12 bits beside the time */

#define CR_SHIFT_MOST 10 /* the thinnest is 1 of 2^10 */

#define CR_DEPTH 4096 /* entries of a CPU's FIFO, and slots, with which the short way works */
#define CR_SLOTS 512

/* One waiting callback, in the order of its CPU's list. */
struct cr_entry {
	__u64 head; /* address of the rcu_head: the identity */
	__u64 key;  /* of its series: the function, and its lazy wish */
	__u64 when; /* shift << 52 | time of the hand-over in ns, 52 bits; it stands for 2^shift callbacks */
};

/* One waiting callback in the table by head. */
struct cr_away {
	__u64 when;    /* series << 52 | time of the hand-over in ns, 52 bits */
	__u32 cpu;     /* of the hand-over */
	__u32 flavour; /* and the shift from bit 8 on */
};

#define CR_CELLS 64       /* of a CPU; a power of two */
#define CR_CELL_BUCKET 48 /* bits of a count beside its bucket */

/*
 * What this CPU counted in a series, and has not added to it yet: waits that are in one bucket. Within
 * are those that are no extremes of the interval, and not among the ten worst: of these nothing else
 * has to be noted.
 */
struct cr_cell {
	__u64 key;        /* of the series; 0: none yet */
	__u64 low, width; /* what this bucket has of those within, in ns; width 0: nothing */
	__u64 within, within_width; /* these, likewise */
	__u64 n;                    /* bucket << CR_CELL_BUCKET | how many */
	__u64 sum;
	__u32 busy; /* somebody adds it to the series: 1 */
	__u16 slot;
	__u16 passed_over; /* waits of series that found no cell because of this one */
};

/* Words of cr_cpu.scratch, one for each program that may interrupt the others. */
enum cr_scratch { SCRATCH_BEGIN, SCRATCH_END, SCRATCH_SRCU, SCRATCH_TASKS, SCRATCH_COUNT };

/*
 * Per CPU, with the FIFO of its list behind it: one look-up finds both. `list` names the callback
 * list of this CPU while recording is on; what belongs to that list goes with the list, the rest
 * with the CPU that runs.
 */
struct cr_cpu {
	__u64 plain; /* `list` where each of its callbacks is followed, in the short way; else 0 */
	__u64 tail;  /* pushed so far; written by the hand-over end only */
	__u64 limit; /* where the tail has to ask anew whether there is room; as the tail */
	__u64 front; /* consumed so far, dropped ones too; written by the other end only */
	__u64 ends_plain; /* ends take the short way too: the FIFO has only such, and recording is on */
	__u64 floor;      /* tag | value from which on a sample belongs to the ten worst here */
	__u64 list;       /* &rcu_data.cblist; 0 = not recording */
	__u64 rclp; /* the batch of this CPU's own list that runs here now (only where CPUs are offloaded) */
	__u64 shift;        /* 1 of 2^shift hand-overs is followed ... */
	__u64 below;        /* ... those whose pick is below this */
	__u64 pick;         /* 32 bits that go round evenly, whatever the order of hand-overs */
	__u64 full_from;    /* since here in the FIFO all are followed again */
	__u64 left_out;     /* hand-overs that were not followed */
	__u64 left_moved;   /* such that came with, or went to, another CPU's list */
	__u64 left_ended;   /* their ends */
	__u64 dropped;      /* entries given up: their end was not seen */
	__u64 moved;        /* entries moved to the spill table: the CPU went offline */
	__u64 spilled;      /* hand-overs that went to the spill table */
	__u64 sampled_done; /* ends left out by sampling */
	__u64 kfree_begun;  /* objects given to kfree_rcu() */

	__u64 start_invoked; /* rcu_data.n_cbs_invoked when recording began */
	__u64 invoked;       /* since then, when recording ended */
	__u64 pre;           /* callbacks that waited on the list when recording began */
	__u64 bypass;        /* &rcu_data.nocb_bypass */
	__u64 hint_head;     /* last call on this CPU, and its wish */
	__u64 hint_lazy;
	__u64 offloadable; /* has a callback kthread: its list is emptied elsewhere */
	__u64 scratch[SCRATCH_COUNT];
	__u64 lost[KD_LOST_COUNT];
	struct cr_cell cell[CR_CELLS];
	struct cr_entry fifo[];
};

#define CR_CPU_BYTES(depth) (sizeof(struct cr_cpu) + (depth) * sizeof(struct cr_entry))

KD_STATIC_ASSERT(sizeof(struct cr_cpu) % 8 == 0);
KD_STATIC_ASSERT(sizeof(struct cr_entry) == 24);
KD_STATIC_ASSERT(sizeof(struct cr_cell) == 64);

/* What the run-on-demand programs are asked (struct kd_run_args.arg[0..]). */
enum cr_run {
	CR_START, /* arg[1] = CPU whose list it is; run on that CPU if it is online; 1: it may be offloaded */
	CR_STOP, /* arg[1] = CPU */
	CR_THIN, /* arg[1] = CPU, run there if it is online; arg[2] = shift; 1: come again, not all has ended */
	CR_GAUGE, /* returns ns of CR_GAUGED hand-overs that are left out, and their ends */
};

#define CR_GAUGED 1024

/* What kd_load tells of a CPU. */
struct cr_load {
	__u64 runs, left_out; /* of our programs; of these, such as only left out something */
	__u64 thin;           /* something that was left out has not ended */
};

/*
 * kd_tick: arg[0] = cursor (0 first), arg[1] = the interval that ends, arg[2] = hand-overs to kfree_rcu()
 * that the kernel kept from our programs since the start. Returns the next cursor, 0 = done.
 */

#endif
