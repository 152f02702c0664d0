// SPDX-License-Identifier: GPL-2.0-only
/*
 * rstat.bpf.c - cgroup statistics: how long flushes take, wait for the lock and hold it, and for whom.
 *
 * Everything begins and ends in one task, so one preallocated table by task holds what is under way.
 * What the kernel has differs: one lock for all, or one for each subsystem, taken once or for each
 * CPU; tracepoints at the lock, or none; functions that may be hooked, or not. Each program says one
 * thing (entered, waits, got, gave up, left), and what follows from it is the same for all.
 *
 * Without function hooks a flush is what lies between the first and the last lock of one task over
 * ascending CPUs: a lower bound. Without tracepoints a hold is known where the lock is not given up
 * on the way; else the flush without its first wait is an upper bound of its longest hold.
 *
 * How long others wait behind a hold needs no list of them: each lock has one word with the number of
 * its waiters and the sum of their times, which gives what all have waited up to any moment; a hold
 * is charged with the difference between its ends.
 *
 * The programs at the lock run with interrupts off (except on PREEMPT_RT), those of functions do
 * not. Nothing here allocates.
 */
#define SLOTS_MOST 2048
#define SERIES_KNOWN(idx) is_named(idx)
#include "series.bpf.h"
static __always_inline bool is_named(__u32 idx);
#include "tick.bpf.h"
#include "totals.bpf.h"
#include "subsystem.bpf.h"
#include "rstat.h"
#define WORST_WHO struct rs_task
#include "worst.bpf.h"
#include "rstat_who.bpf.h"

const volatile __u32 by_lock;                       /* the tracepoints of the lock are */
const volatile __u32 final_cpu;                     /* the last possible one: a flush ends there */
const volatile __u64 wanted;                        /* bits of enum kd_measure_id */
const volatile __u64 text_from, text_bytes = ~0ULL; /* of the kernel */
const volatile __u64 tick_ns;    /* between two ticks of the scheduler's clock; 0: not hooked */
const volatile __u64 sample = 1; /* follow 1 of N flushes */

struct worst_bin bins[RS_LISTS];

static __always_inline void count(__u64 *what)
{
	__sync_fetch_and_add(what, 1);
}

static __always_inline bool measured(__u64 when)
{
	__u64 from = *(volatile __u64 *)&since;

	return from && when >= from;
}

#include "rstat_series.bpf.h"

/* --- who waits for a lock --- */

/*
 * For each lock: how many wait, in the lower bits, and above them the sum of the ends less the
 * beginnings of all waits, those that still last with their beginning only. One atomic addition
 * changes both. All of it is modulo 2^52 ns.
 */
#define WAITERS_BITS 12
#define WAITERS_MASK ((1ULL << WAITERS_BITS) - 1)
#define TIME_MASK (~0ULL >> WAITERS_BITS)

__u64 waiting[8]; /* by subsystem; the lock for all, and those not known: 0 */

static __always_inline __u64 *waiting_for(struct rs_task *t)
{
	return &waiting[sub_index(t->sub) & 7];
}

static __always_inline void wait_begins(struct rs_task *t, __u64 now)
{
	t->wait_from = now;
	__sync_fetch_and_add(waiting_for(t), 1 - (now << WAITERS_BITS));
}

static __always_inline void wait_ends(struct rs_task *t, __u64 now)
{
	t->wait_from = 0;
	__sync_fetch_and_add(waiting_for(t), (now << WAITERS_BITS) - 1);
}

/* What all have waited for this lock up to now. */
static __always_inline __u64 waited_by(struct rs_task *t, __u64 now)
{
	__u64 w = *(volatile __u64 *)waiting_for(t);

	return ((w >> WAITERS_BITS) + (w & WAITERS_MASK) * now) & TIME_MASK;
}

static __always_inline bool somebody_waits(struct rs_task *t)
{
	return *(volatile __u64 *)waiting_for(t) & WAITERS_MASK;
}

/* --- tasks --- */

#include "rstat_task.bpf.h"
#include "rstat_way.bpf.h"

/*
 * Whose flush it is, and of what. Before the time is taken where a function is hooked. `from`: the
 * function, or 0 where ctx are arguments of a tracepoint.
 */
static __noinline int know(void *ctx, struct rs_task *t, __u64 from, __u32 sub, __u32 class)
{
	__u32 said;

	if (!class) {
		t->from = from;
		said = way_said(ctx, t);
		class = said & 0xff;
		if (sub == KD_FL_COUNT)
			sub = said >> 8;
	}
	t->how |= RS_KNOWN;
	t->sub = sub == KD_FL_COUNT ? KD_FL_NONE : sub;
	t->flusher_no = rs_flusher_number(class);
	return 0;
}

/* The cgroup; its pointer must be one of which the kernel has said so. */
static __always_inline void know_cgroup(struct rs_task *t, struct cgroup *cgrp)
{
	t->cgroup = (__u64)cgrp;
	/* From the table: as an argument of such a function it must be a number to the verifier. */
	t->cgroup_no = rs_cgroup_number(*(volatile __u64 *)&t->cgroup, cgrp->kn->id,
					cgrp->root->hierarchy_id, cgrp->self.flags);
}

/* Of flushes, some may be left out; of what began before recording, all. */
static __always_inline void decide(struct rs_task *t, __u64 now)
{
	if (!measured(now)) {
		t->how |= RS_SKIP;
	} else if (sample > 1 && bpf_get_prandom_u32() % sample) {
		count(&lost[KD_LOST_SAMPLED_OUT]);
		t->how |= RS_SKIP;
	}
}

static __always_inline bool followed(struct rs_task *t)
{
	return !(t->how & RS_SKIP);
}

/* --- what happens --- */

static __always_inline __u32 kind_of_hold(struct rs_task *t)
{
	return by_lock || t->how & RS_WHOLE ? RS_HOLD : RS_HOLD_UPPER;
}

#include "rstat_own.bpf.h"
#include "rstat_split.bpf.h"

/*
 * It waited, and where that began a task was preempted in our program, which the kernel then keeps from
 * others on that CPU. The wait is no zero: it is not longer than since the last hold.
 */
static __always_inline void wait_unseen(struct rs_task *t, __u64 now)
{
	__u64 from = t->ended > t->began ? t->ended : t->began;

	if (t->began && now > from)
		t->waited += now - from;
	t->how |= RS_UNSEEN;
	if (followed(t))
		count(&absent);
}

/* It has got the lock. contended: the kernel says that it waited. */
static __always_inline void got_lock(struct rs_task *t, __u64 now, bool contended)
{
	__u64 from = t->wait_from;

	t->gap = 0;
	if (from) {
		wait_ends(t, now);
		t->waited += now - from;
		if (followed(t))
			rs_add(t, RS_WAIT, now - from);
	} else if (contended) {
		wait_unseen(t, now);
	} else {
		t->at_once++;
	}
	if (followed(t))
		count(&begun);
	/* What our own work adds to the hold is not the flush's; the others do wait for it. */
	t->behind = waited_by(t, now);
	t->got = bpf_ktime_get_ns();
	if (t->how & RS_SPAN && !t->began)
		t->began = t->got; /* after our own work of naming it */
	own_got(t, now);
	split_got(t);
}

/*
 * Where the lock may be given up on the way, nobody says so; but then interrupts are on, and a tick
 * that is due comes. So the longest time without one, less the one tick that was not due yet, was
 * held at one go.
 */
static __always_inline void add_lower(struct rs_task *t, __u64 got, __u64 now)
{
	__u64 gap = now - (t->tick > got ? t->tick : got);

	if (t->gap > gap)
		gap = t->gap;
	rs_add(t, RS_HOLD_LOWER, gap > tick_ns ? gap - tick_ns : 0);
}

/* It has given it up, and its flush, if any, is over with that: `last`. Returns when that is told. */
static __always_inline __u64 gave_lock(struct rs_task *t, __u64 now, bool last)
{
	__u64 got = t->got, told = now, blame;
	__u32 kind = kind_of_hold(t);

	t->got = 0;
	t->ended = now;
	split_gave(t, now - got);
	if (!followed(t))
		return told;
	count(&done);
	count(&own.hold_runs);
	rs_add(t, kind, now - got);
	if (kind == RS_HOLD_UPPER && tick_ns)
		add_lower(t, got, now);
	/* What has been waited does not depend on the time while nobody waits. */
	if (!last || somebody_waits(t))
		told = bpf_ktime_get_ns();
	blame = (waited_by(t, told) - t->behind) & TIME_MASK;
	/* One who began to wait between the clock and the word counts as less than nothing. */
	if (!blame || blame > TIME_MASK / 2)
		return told;
	rs_add(t, kind == RS_HOLD ? RS_BLAME : RS_BLAME_UPPER, blame);
	return last ? told : bpf_ktime_get_ns();
}

/*
 * One lock around a flush, taken first and given up last, is the flush: the function around it may
 * be part of another (cgroup_rstat_flush_hold() is, where cpu.stat is read).
 */
static __always_inline bool is_whole(struct rs_task *t)
{
	if (t->how & RS_CUT)
		return false;
	return t->how & RS_CALL || (shape == RS_GLOBAL_BODY && by_lock);
}

static __always_inline __u32 kind_of_work(struct rs_task *t)
{
	if (!by_lock)
		return t->how & RS_WHOLE ? RS_WORK : RS_WORK_UPPER;
	return is_whole(t) && !(t->how & RS_UNSEEN) ? RS_WORK : RS_WORK_LOWER;
}

/* The flush is over: by its function's return, or by its last lock. */
static __always_inline void flush_over(struct rs_task *t, __u64 now)
{
	__u64 took = now - t->began;

	t->began = 0;
	if (!followed(t))
		return;
	rs_add_at_once(t);
	rs_add(t, is_whole(t) ? RS_FLUSH : RS_FLUSH_LOWER, took);
	rs_add(t, kind_of_work(t), took - t->waited);
	split_over(t, took, now);
	own_flush(t);
}

/*
 * The return of its function was kept from us: our program was preempted, and ran for another on the
 * same CPU. What is known is a lower bound, up to its last hold.
 */
static __always_inline void flush_cut(struct rs_task *t)
{
	if (!t->began || t->got || t->wait_from || !t->ended) {
		if (followed(t))
			count(&lost[KD_LOST_UNMATCHED_BEGIN]);
		return;
	}
	t->how |= RS_CUT;
	if (followed(t) && t->how & RS_CALL)
		count(&done);
	flush_over(t, t->ended);
}

/* The lock is given up. last: a flush that is seen by its locks only is over with it. */
static __always_inline int lock_out(bool last, __s32 cpu)
{
	__u64 now = bpf_ktime_get_ns(), told;
	struct rs_task *t = task_find();

	if (!t || !t->got) {
		if (since)
			count(&absent);
		return 0;
	}
	split_cpus(t, cpu);
	last = !(t->how & RS_CALL) && (last || !(t->how & RS_SPAN));
	told = gave_lock(t, now, last);
	if (!last) {
		own_ran(t, now, told);
		return 0;
	}
	if (t->how & RS_SPAN)
		flush_over(t, now);
	else if (followed(t))
		rs_add_at_once(t);
	task_gone();
	return 0;
}

#include "rstat_lock.bpf.h"
#include "rstat_call.bpf.h"
#include "rstat_run.bpf.h"
