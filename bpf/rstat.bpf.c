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
#include "rstat.h"
#define WORST_WHO struct rs_task
#include "worst.bpf.h"
#include "rstat_who.bpf.h"

const volatile __u32 shape;                         /* enum rs_shape */
const volatile __u32 by_lock;                       /* the tracepoints of the lock are */
const volatile __u32 final_cpu;                     /* the last possible one: a flush ends there */
const volatile __u64 wanted;                        /* bits of enum kd_measure_id */
const volatile __u64 text_from, text_bytes = ~0ULL; /* of the kernel */
const volatile __u64 tick_ns;    /* between two ticks of the scheduler's clock; 0: not hooked */
const volatile __u64 sample = 1; /* follow 1 of N flushes */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, __u64); /* task; of an idle CPU, that */
	__type(value, struct rs_task);
} tasks SEC(".maps");

static struct rs_task none; /* what a new entry is copied from */

__u64 since; /* what began before it is not measured; 0 = not recording */
__u64 begun, done;
__u64 absent;    /* ends without a beginning */
__u64 ring_full; /* ticks that were cut short by the ring */
__u64 lost[KD_LOST_COUNT];

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

/* --- series --- */

#define KIND_ROOM 16 /* RS_KINDS, rounded up so that a mask bounds the index */

/* A measure, and whether its value is a bound. RS_KINDS of them. */
enum rs_kind {
	RS_FLUSH,
	RS_FLUSH_LOWER,
	RS_WAIT,
	RS_HOLD,
	RS_HOLD_UPPER,
	RS_HOLD_LOWER,
	RS_WORK,
	RS_WORK_UPPER,
	RS_WORK_LOWER,
	RS_CGROUPS,
	RS_BLAME,
	RS_BLAME_UPPER,
};

static const struct {
	__u8 measure, flags, worst; /* worst: which lists + 1; 0 none */
} kinds[KIND_ROOM] = {
	[RS_FLUSH] = { KD_M_RSTAT_FLUSH, 0, 1 },
	[RS_FLUSH_LOWER] = { KD_M_RSTAT_FLUSH, KD_SERIES_LOWER, 1 },
	[RS_WAIT] = { KD_M_RSTAT_WAIT, 0, 2 },
	[RS_HOLD] = { KD_M_RSTAT_HOLD, 0, 3 },
	[RS_HOLD_UPPER] = { KD_M_RSTAT_HOLD, KD_SERIES_UPPER, 3 },
	[RS_HOLD_LOWER] = { KD_M_RSTAT_HOLD, KD_SERIES_LOWER, 0 },
	[RS_WORK] = { KD_M_RSTAT_WORK, 0, 4 },
	[RS_WORK_UPPER] = { KD_M_RSTAT_WORK, KD_SERIES_UPPER, 4 },
	[RS_WORK_LOWER] = { KD_M_RSTAT_WORK, KD_SERIES_LOWER, 4 },
	[RS_CGROUPS] = { KD_M_RSTAT_CGROUPS, 0, 0 },
	[RS_BLAME] = { KD_M_RSTAT_BLAME, 0, 0 },
	[RS_BLAME_UPPER] = { KD_M_RSTAT_BLAME, KD_SERIES_UPPER, 0 },
};

/* The verifier of 6.1 forgets bounds of 32 bits: the mask stands right before the use. */
static __always_inline __u32 kind_at(__u32 kind)
{
	__u64 at = kind;

	barrier_var(at);
	return at & (KIND_ROOM - 1);
}

#define KIND(kind, member) (kinds[kind_at(kind)].member)

static __always_inline __u32 sub_index(__u32 sub)
{
	return sub > KD_FL_SUB_ALL && sub <= KD_FL_SUB_OTHER ? sub - KD_FL_SUB_ALL : 0;
}

static __always_inline __u32 sub_of_index(__u32 i)
{
	return i ? KD_FL_SUB_ALL + i : shape == RS_BY_SUBSYS ? KD_FL_NONE : KD_FL_SUB_ALL;
}

#define KEY_USED (1ULL << 63)

/* Slot of a name's series; without a name, or room, that of the rest. */
static __always_inline __u32 slot_of(__u32 kind, __u32 sub, __u32 who, __u32 flusher)
{
	__u32 s = sub_index(sub), slot = 0;

	if (who != RS_WHO_NONE)
		slot = slot_find(KEY_USED | who | s << 16 | (__u64)kind << 24);
	return slot ? slot : nr_slots + ((kind * RS_SUBS + s) << 1 | flusher);
}

static __always_inline bool is_bad(__u64 took, __u32 list)
{
	__u64 at = list, floor;

	barrier_var(at); /* as above */
	floor = *(volatile __u64 *)&bins[at & (RS_LISTS - 1)].floor;
	return (__s64)(tagged(epoch, took) - floor) > 0;
}

/* The frames at the top are those of our own programs, which are not in the kernel's text. */
static __always_inline void worst_fill(struct worst_who *who, struct rs_task *t)
{
	__u64 id = bpf_get_current_pid_tgid();
	__u32 first, i;

	who->pid = id;
	who->tgid = id >> 32;
	who->cgroup = bpf_get_current_cgroup_id();
	bpf_get_current_comm(who->comm, sizeof(who->comm));
	for (first = 0; first < RS_FRAMES - WORST_FRAMES; first++)
		if (t->ip[first] - text_from < text_bytes)
			break;
	for (i = 0; i < WORST_FRAMES; i++) {
		__u64 at = first + i;

		barrier_var(at);
		who->ip[i] = t->ip[at & (RS_FRAMES - 1)];
	}
}

__noinline int rs_add_worst(struct rs_task *t, __u32 kind, __u32 slot, __u64 took)
{
	__u32 cpu = bpf_get_smp_processor_id(), list, i;

	if (!t || kind >= RS_KINDS || !KIND(kind, worst) || t->how & RS_SWEPT)
		return 0;
	list = (KIND(kind, worst) - 1) * RS_BINS;
	if (!is_bad(took, list + (cpu & (RS_BINS - 1))))
		return 0;
	for (i = 0; i < RS_BINS; i++) {
		__u64 at = list + ((cpu + i) & (RS_BINS - 1));

		barrier_var(
			at); /* the mask right before its use: the verifier of 6.1 forgets bounds */
		at &= RS_LISTS - 1;
		if (!worst_shared(&bins[at], at, took, (__u64)slot << 32 | cpu, t))
			return 0;
	}
	count(&extremes_lost);
	return 0;
}

/*
 * A value, by cgroup and by flusher. This and what else is called from everywhere is not static: the
 * verifier then looks at it once.
 */
__noinline int rs_add(struct rs_task *t, __u32 kind, __u64 value)
{
	struct series_slot *s;
	__u32 slot;

	if (!t || kind >= RS_KINDS || !(wanted >> KIND(kind, measure) & 1))
		return 0;
	if (value > VALUE_MASK) {
		count(&lost[KD_LOST_CLOCK]);
		return 0;
	}
	slot = slot_of(kind, t->sub, t->flusher_no, 1);
	s = bpf_map_lookup_elem(&slots, &slot);
	if (s)
		series_add(s, epoch, value);
	slot = slot_of(kind, t->sub, t->cgroup_no, 0);
	s = bpf_map_lookup_elem(&slots, &slot);
	if (s)
		series_add(s, epoch, value);
	rs_add_worst(t, kind, slot, value);
	return 0;
}

static __always_inline void add_zeros(struct series_slot *s, __u32 n)
{
	__sync_fetch_and_add(&s->bucket[0], n);
	extreme(&s->extreme[epoch & 1].min, tagged(epoch, VALUE_MASK));
}

/* Most acquisitions do not wait: those are added at once when the flush is over. */
__noinline int rs_add_at_once(struct rs_task *t)
{
	struct series_slot *s;
	__u32 slot;

	if (!t || !t->at_once || !(wanted >> KD_M_RSTAT_WAIT & 1))
		return 0;
	slot = slot_of(RS_WAIT, t->sub, t->flusher_no, 1);
	s = bpf_map_lookup_elem(&slots, &slot);
	if (s)
		add_zeros(s, t->at_once);
	slot = slot_of(RS_WAIT, t->sub, t->cgroup_no, 0);
	s = bpf_map_lookup_elem(&slots, &slot);
	if (s)
		add_zeros(s, t->at_once);
	t->at_once = 0;
	return 0;
}

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

/* --- tasks --- */

#define NO_CPU (-2) /* no lock yet */

static __always_inline __u64 task_key(void)
{
	__u32 pid = bpf_get_current_pid_tgid();

	return pid ? pid : 1ULL << 32 | bpf_get_smp_processor_id();
}

static __always_inline struct rs_task *task_find(void)
{
	__u64 key = task_key();

	return bpf_map_lookup_elem(&tasks, &key);
}

static __always_inline void task_gone(void)
{
	__u64 key = task_key();

	bpf_map_delete_elem(&tasks, &key);
}

static __noinline struct rs_task *task_new(__u64 now)
{
	__u64 key = task_key();
	struct rs_task *t;

	if (bpf_map_update_elem(&tasks, &key, &none, BPF_ANY)) {
		if (measured(now))
			count(&lost[KD_LOST_TABLE_FULL]);
		return NULL;
	}
	t = bpf_map_lookup_elem(&tasks, &key);
	if (t) {
		t->cgroup_no = t->flusher_no = RS_WHO_NONE;
		t->last_cpu = NO_CPU;
	}
	return t;
}

/* Whose flush it is, and of what. Before the time is taken where a function is hooked. */
static __noinline int know(void *ctx, struct rs_task *t, __u64 cgrp, __u32 sub, __u32 class)
{
	__u32 said;

	if (!t || t->how & RS_KNOWN)
		return 0;
	t->how |= RS_KNOWN;
	t->cgroup = cgrp;
	if (!class) {
		bpf_get_stack(ctx, t->ip, sizeof(t->ip), 0);
		said = rs_frames_say(t);
		class = said & 0xff;
		if (sub == KD_FL_COUNT)
			sub = said >> 8;
	}
	t->sub = sub == KD_FL_COUNT ? KD_FL_NONE : sub;
	/* From the table: as an argument of a function it must be a number to the verifier. */
	t->cgroup_no = rs_cgroup_number(*(volatile __u64 *)&t->cgroup);
	t->flusher_no = rs_flusher_number(class);
	return 0;
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

/* It has got the lock. */
static __always_inline void got_lock(struct rs_task *t, __u64 now)
{
	__u64 from = t->wait_from;

	t->gap = 0;
	if (from) {
		wait_ends(t, now);
		t->waited += now - from;
		if (followed(t))
			rs_add(t, RS_WAIT, now - from);
	} else {
		t->at_once++;
	}
	if (followed(t))
		count(&begun);
	/* What our own work adds to the hold is not the flush's; the others do wait for it. */
	t->behind = waited_by(t, now);
	t->got = bpf_ktime_get_ns();
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

/* It has given it up. */
static __always_inline void gave_lock(struct rs_task *t, __u64 now)
{
	__u64 got = t->got, blame;
	__u32 kind = kind_of_hold(t);

	t->got = 0;
	t->ended = now;
	if (!followed(t))
		return;
	count(&done);
	rs_add(t, kind, now - got);
	if (kind == RS_HOLD_UPPER && tick_ns)
		add_lower(t, got, now);
	blame = (waited_by(t, bpf_ktime_get_ns()) - t->behind) & TIME_MASK;
	/* One who began to wait between the clock and the word counts as less than nothing. */
	if (blame && blame <= TIME_MASK / 2)
		rs_add(t, kind == RS_HOLD ? RS_BLAME : RS_BLAME_UPPER, blame);
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
	return is_whole(t) ? RS_WORK : RS_WORK_LOWER;
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

/* --- the lock, by its tracepoints: (struct cgroup *, int cpu, bool contended) --- */

/*
 * cpu is -1 when the lock is not taken for a CPU: around a flush in the old kernels, to read base
 * statistics in those with a lock for each subsystem.
 */
static __always_inline bool is_read(__s32 cpu)
{
	return shape == RS_BY_SUBSYS && cpu < 0;
}

/* The last lock of a flush that is seen by its locks only. */
static __always_inline bool is_last(__s32 cpu)
{
	return shape == RS_GLOBAL_BODY ? cpu < 0 : cpu < 0 || (__u32)cpu == final_cpu;
}

/* A new flush: what we hold of this task is of an old one whose end was not seen. */
static __always_inline bool is_stale(struct rs_task *t, __u64 cgrp, __s32 cpu)
{
	if (!t->began)
		return false;
	if (is_read(cpu))
		return true; /* not in a flush */
	if (t->cgroup != cgrp)
		return true;
	if (t->last_cpu == NO_CPU)
		return false; /* it waits for its first lock */
	return shape == RS_GLOBAL_BODY ? cpu < 0 && !t->got : cpu <= t->last_cpu;
}

static __noinline struct rs_task *task_at_lock(__u64 *ctx, __u64 now)
{
	__u64 cgrp = ctx[0];
	__s32 cpu = ctx[1];
	struct rs_task *t = task_find();

	if (t && is_stale(t, cgrp, cpu)) {
		if (t->wait_from)
			wait_ends(t, now);
		flush_cut(t);
		t = NULL;
	}
	if (t)
		return t;
	t = task_new(now);
	if (!t)
		return NULL;
	decide(t, now);
	know(ctx, t, cgrp,
	     is_read(cpu)            ? KD_FL_SUB_BASE
	     : shape == RS_BY_SUBSYS ? KD_FL_COUNT
				     : KD_FL_SUB_ALL,
	     is_read(cpu) ? KD_FC_CPU_STAT : 0);
	if (!is_read(cpu)) {
		t->began = bpf_ktime_get_ns(); /* after our own work of naming it */
		t->how |= RS_SPAN;
	}
	return t;
}

SEC("tp_btf/cgroup_rstat_lock_contended")
int rs_wait_in(__u64 *ctx)
{
	struct rs_task *t = task_at_lock(ctx, bpf_ktime_get_ns());
	__u64 now = bpf_ktime_get_ns();

	if (!t)
		return 0;
	if (t->wait_from) { /* its end was not seen */
		wait_ends(t, now);
		count(&lost[KD_LOST_UNMATCHED_BEGIN]);
	}
	wait_begins(t, now);
	return 0;
}

SEC("tp_btf/cgroup_rstat_locked")
int rs_hold_in(__u64 *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	struct rs_task *t = task_at_lock(ctx, now);

	if (!t)
		return 0;
	if (t->got && followed(t))
		count(&lost[KD_LOST_UNMATCHED_BEGIN]);
	t->last_cpu = ctx[1];
	got_lock(t, now);
	return 0;
}

SEC("tp_btf/cgroup_rstat_unlock")
int rs_hold_out(__u64 *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	struct rs_task *t = task_find();

	if (!t || !t->got) {
		if (since)
			count(&absent);
		return 0;
	}
	gave_lock(t, now);
	if (t->how & RS_CALL)
		return 0;
	if (t->how & RS_SPAN && !is_last(ctx[1]))
		return 0;
	if (t->how & RS_SPAN)
		flush_over(t, now);
	else if (followed(t))
		rs_add_at_once(t);
	task_gone();
	return 0;
}

/* --- the public functions --- */

static __always_inline __u64 argument(__u64 *ctx, __u32 n)
{
	__u64 arg = 0;

	bpf_get_func_arg(ctx, n, &arg);
	return arg;
}

static __noinline int flush_in(__u64 *ctx, __u64 cgrp, __u32 sub, __u32 how)
{
	__u64 now = bpf_ktime_get_ns();
	struct rs_task *t = task_find();

	if (t && t->wait_from)
		wait_ends(t, now);
	if (t && (t->began || t->got))
		flush_cut(t);
	t = task_new(now);
	if (!t)
		return 0;
	t->how = RS_CALL | how;
	decide(t, now);
	know(ctx, t, cgrp, sub, 0);
	t->began = bpf_ktime_get_ns();
	if (followed(t))
		count(&begun);
	if (!by_lock)
		wait_begins(t, t->began);
	return 0;
}

static __noinline int flush_out(void)
{
	__u64 now = bpf_ktime_get_ns();
	struct rs_task *t = task_find();

	if (!t || !t->began || !(t->how & RS_CALL)) {
		if (since && !by_lock) /* else it is known by its locks, as a lower bound */
			count(&absent);
		return 0;
	}
	if (t->wait_from)
		wait_ends(t, now); /* the body is not hooked, or was not seen */
	if (followed(t)) {
		count(&done);
		rs_add(t, RS_CGROUPS, t->visited);
	}
	flush_over(t, now);
	if (t->got) /* cgroup_rstat_flush_hold(): the lock is still held */
		t->how &= ~RS_CALL;
	else
		task_gone();
	return 0;
}

#define FLUSH(program, function, how)                                       \
	SEC("fentry/" #function)                                            \
	int program##_in(__u64 *ctx)                                        \
	{                                                                   \
		return flush_in(ctx, argument(ctx, 0), KD_FL_SUB_ALL, how); \
	}                                                                   \
	SEC("fexit/" #function)                                             \
	int program##_out(__u64 *ctx)                                       \
	{                                                                   \
		return flush_out();                                         \
	}

FLUSH(rs_flush, cgroup_rstat_flush, 0)
FLUSH(rs_irqsafe, cgroup_rstat_flush_irqsafe, RS_WHOLE)
FLUSH(rs_keep, cgroup_rstat_flush_hold, 0)

static __always_inline bool is_text(const char *name, const char *text, int n)
{
	int i;

#pragma unroll
	for (i = 0; i < 8; i++)
		if (i < n && name[i] != text[i])
			return false;
	return true;
}

/* The subsystem by its name; the cgroup itself has none, and base statistics. */
static __noinline __u32 sub_of(__u64 css)
{
	struct cgroup_subsys *ss = BPF_CORE_READ((struct cgroup_subsys_state *)css, ss);
	char name[8] = {};

	if (!ss)
		return KD_FL_SUB_BASE;
	bpf_probe_read_kernel_str(name, sizeof(name), BPF_CORE_READ(ss, name));
	if (is_text(name, "memory", 7))
		return KD_FL_SUB_MEMORY;
	return is_text(name, "io", 3) ? KD_FL_SUB_IO : KD_FL_SUB_OTHER;
}

SEC("fentry/css_rstat_flush")
int rs_css_in(__u64 *ctx)
{
	__u64 css = argument(ctx, 0);

	return flush_in(ctx, (__u64)BPF_CORE_READ((struct cgroup_subsys_state *)css, cgroup),
			sub_of(css), 0);
}

SEC("fexit/css_rstat_flush")
int rs_css_out(__u64 *ctx)
{
	return flush_out();
}

/* --- where the lock has no tracepoints: the function that is called with the lock held --- */

/* A caller that is not hooked, as its function is part of another: only from here on it is seen. */
static __noinline struct rs_task *task_in_body(__u64 *ctx, __u64 now)
{
	struct rs_task *t = task_new(now);

	if (!t)
		return NULL;
	decide(t, now);
	t->how |= RS_SPAN;
	know(ctx, t, argument(ctx, 0), KD_FL_SUB_ALL, 0);
	t->began = bpf_ktime_get_ns();
	return t;
}

SEC("fentry/cgroup_rstat_flush_locked")
int rs_body_in(__u64 *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	struct rs_task *t = task_find();
	bool called = t && t->how & RS_CALL;

	if (!called)
		t = task_in_body(ctx, now);
	if (!t)
		return 0;
	got_lock(t, now);
	if (!called)
		t->at_once = 0; /* whether it waited was not seen */
	return 0;
}

SEC("fexit/cgroup_rstat_flush_locked")
int rs_body_out(__u64 *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	struct rs_task *t = task_find();

	if (!t || !t->got) {
		if (since)
			count(&absent);
		return 0;
	}
	gave_lock(t, now);
	if (t->how & RS_CALL)
		return 0;
	flush_over(t, now);
	task_gone();
	return 0;
}

/* A tick on the CPU that flushes, in an interrupt. */
SEC("fentry/rcu_sched_clock_irq")
int rs_tick(__u64 *ctx)
{
	struct rs_task *t = task_find();
	__u64 now = bpf_ktime_get_ns(), from;

	if (!t || !t->got)
		return 0;
	from = t->tick > t->got ? t->tick : t->got;
	if (now - from > t->gap)
		t->gap = now - from;
	t->tick = now;
	return 0;
}

/* --- cgroups visited --- */

static __always_inline int visit(__u32 sub)
{
	struct rs_task *t = task_find();

	if (t && (sub == KD_FL_SUB_ALL || t->sub == sub))
		t->visited++;
	return 0;
}

/* Called for each cgroup and CPU: in a flush of all, or of base statistics. */
SEC("fentry/bpf_rstat_flush")
int rs_visit_base(__u64 *ctx)
{
	return visit(shape == RS_BY_SUBSYS ? KD_FL_SUB_BASE : KD_FL_SUB_ALL);
}

SEC("fentry/mem_cgroup_css_rstat_flush")
int rs_visit_memory(__u64 *ctx)
{
	return visit(KD_FL_SUB_MEMORY);
}

SEC("fentry/blkcg_rstat_flush")
int rs_visit_io(__u64 *ctx)
{
	return visit(KD_FL_SUB_IO);
}

/* --- run by user space --- */

#define START_AHEAD_NS \
	1000000 /* so that nothing that is counted can have looked before this was set */

SEC("raw_tp")
int kd_control(struct kd_run_args *args)
{
	*(volatile __u64 *)&since =
		args->arg[0] == RS_START ? bpf_ktime_get_ns() + START_AHEAD_NS : 0;
	return 0;
}

/* --- the tick --- */

/* A flusher's process and thread, each with its NUL, come before its path. */
static __always_inline void put_name(struct kd_rec_series *r, struct rs_who *w, __u32 flusher)
{
	__u32 at = 0, i;

	for (i = 0; i < 2 && flusher; i++) {
		long len = bpf_probe_read_kernel_str(r->name + at, 16, i ? w->thread : w->process);

		at += len > 0 ? len : 1;
		barrier_var(at);
		at &= 63;
	}
	if (at <= sizeof(r->name) - RS_PATH)
		bpf_probe_read_kernel_str(r->name + at, RS_PATH, w->path.text);
}

/* Another task may have taken its number just now, and be about to name it. */
static __always_inline bool is_named(__u32 idx)
{
	struct rs_who *w;

	if (idx >= nr_slots)
		return true;
	w = who_at(slot_key[idx & (SLOTS_MOST - 1)] & 0xffff);
	return w && *(volatile __u32 *)&w->ready;
}

static __always_inline void series_describe(struct kd_rec_series *r, __u32 idx, __u64 key)
{
	__u32 kind, sub, dim, no = key & 0xffff;
	struct rs_who *w = NULL;

	if (idx >= nr_slots) {
		__u32 rest = idx - nr_slots;

		dim = rest & 1;
		sub = (rest >> 1) % RS_SUBS;
		kind = (rest >> 1) / RS_SUBS;
		r->flags = KD_SERIES_OTHER;
	} else {
		dim = no >= RS_WHO_MOST;
		sub = key >> 16 & 0xff;
		kind = key >> 24 & 0xff;
		w = who_at(no);
	}
	r->source = KD_SRC_RSTAT;
	r->measure = KIND(kind, measure);
	r->flavour = sub_of_index(sub);
	r->dim = dim ? KD_DIM_FLUSHER : KD_DIM_MAIN;
	r->flags |= KIND(kind, flags);
	if (!w)
		return;
	r->key[0] = w->key[0];
	r->key[1] = w->key[1];
	put_name(r, w, dim);
}

static __always_inline __u64 at_least_zero(__u64 n)
{
	return (__s64)n > 0 ? n : 0;
}

/* As in rcu_gp.bpf.c: an end without a beginning began before, unless a beginning was kept from us. */
static __always_inline int tick_totals(__u64 missed)
{
	__u64 total[KD_LOST_COUNT], n_open;
	int full = 0, i;

	for (i = 0; i < KD_LOST_COUNT; i++)
		total[i] = *(volatile __u64 *)&lost[i];
	n_open = begun - done - total[KD_LOST_UNMATCHED_BEGIN];
	missed += total[KD_LOST_TABLE_FULL];
	total[KD_LOST_UNMATCHED_END] = absent < missed ? absent : missed;
	total[KD_LOST_PRE_START] += absent - total[KD_LOST_UNMATCHED_END];
	total[KD_LOST_RING_FULL] = ring_full;
	total[KD_LOST_EXTREME] = extremes_lost;
	for (i = 0; i < KD_LOST_COUNT; i++)
		if (total[i])
			full |= send_total(KD_SRC_RSTAT, KD_REC_LOST, i, total[i]);
	full |= send_total(KD_SRC_RSTAT, KD_REC_COUNT, KD_CNT_BEGUN, begun);
	full |= send_total(KD_SRC_RSTAT, KD_REC_COUNT, KD_CNT_DONE, done);
	full |= send_total(KD_SRC_RSTAT, KD_REC_COUNT, KD_CNT_OPEN, at_least_zero(n_open));
	for (i = 0; i < RS_LISTS; i++)
		floor_refresh(&bins[i].floor, epoch);
	return full;
}

#define OLD_NS 5000000000LL

/* Tasks that have gone, with a flush whose end was kept from us. */
static long sweep_task(void *map, __u64 *key, struct rs_task *t, __u64 *now)
{
	if (!t->ended || t->got || t->wait_from || (__s64)(*now - t->ended) < OLD_NS)
		return 0;
	t->how |= RS_SWEPT;
	flush_cut(t);
	bpf_map_delete_elem(&tasks, key);
	return 0;
}

static __always_inline void sweep(void)
{
	__u64 now = bpf_ktime_get_ns();

	bpf_for_each_map_elem(&tasks, sweep_task, &now, 0);
}

#define CURSOR_WORST (1u << 24)
#define CURSOR_TOTALS (1u << 25)

/* As every source's: see call_rcu.bpf.c. */
SEC("raw_tp")
int kd_tick(struct kd_run_args *args)
{
	__u32 cursor = args->arg[0];
	struct series_walk w = {
		.interval = args->arg[1],
		.id_base = KD_SRC_RSTAT << 24,
		.deadline = bpf_ktime_get_ns() + TICK_NS,
	};

	if (!cursor)
		sweep();
	if (epoch == w.interval)
		epoch = w.interval + 1;
	if (cursor < CURSOR_WORST) {
		if (tick_series(&w, cursor)) {
			ring_full += w.full;
			return w.stop;
		}
		cursor = CURSOR_WORST;
	}
	if (cursor < CURSOR_TOTALS) {
		w.first = cursor - CURSOR_WORST;
		bpf_loop(RS_LISTS - w.first, tick_worst, &w, 0);
		if (w.full) {
			ring_full++;
			return CURSOR_WORST + w.stop;
		}
	}
	return tick_totals(args->arg[2]) ? CURSOR_TOTALS : 0;
}
