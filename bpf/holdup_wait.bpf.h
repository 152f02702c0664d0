/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * holdup_wait.bpf.h - a grace period that is under way: what is kept of it, whose reports came last, and
 * what is sent when it was too long. A part of holdup_gp.bpf.c.
 */
#ifndef KDEFER_HOLDUP_WAIT_BPF_H
#define KDEFER_HOLDUP_WAIT_BPF_H

#include "jiffies.bpf.h"
#include "witness.bpf.h"
#include "holdup_gp.h"

const volatile __u64 over_gp[HG_KINDS] = { ~0ULL, ~0ULL, ~0ULL, ~0ULL }; /* limits; ~0: not armed */

__u64 since;        /* what began before it is not told; 0 = not recording */
__u64 reports_full; /* reports that the ring had no room for */

struct hg_wait waits[HG_KINDS];
struct hg_past past[HG_PAST];
__u64 npast;

/* By kind * CPUs + CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct hg_cpu);
} cpus SEC(".maps");

/* Where the kernel's own state is: found once. */
__u64 rcu_state;
__u32 leaf_level;

/* Whether each system call has an offset of its own for its stack here, which tells one from the next. */
__u64 marks_move;

static __always_inline bool recording(void)
{
	return *(volatile __u64 *)&since;
}

static __always_inline struct hg_cpu *cpu_of(__u32 kind, __u32 cpu)
{
	__u32 at = kind * percpu.cpus + cpu;

	return bpf_map_lookup_elem(&cpus, &at);
}

static __always_inline __u64 switches_of(__u32 cpu)
{
	struct rq *rq = (void *)percpu_address(PERCPU_RUNQUEUES, cpu);

	return rq ? BPF_CORE_READ(rq, nr_switches) : 0;
}

static __always_inline __u64 steal_of(__u32 cpu)
{
	struct kernel_cpustat *s = (void *)percpu_address(PERCPU_CPUSTAT, cpu);
	__u32 at = bpf_core_enum_value(enum cpu_usage_stat, CPUTIME_STEAL);
	__u64 ns = 0;

	if (s)
		bpf_probe_read_kernel(&ns, sizeof(ns), &s->cpustat[at]);
	return ns;
}

/*
 * Some CPU is at work: it ticks, reports, scans. Idle ones do not tick, so that where the others have
 * interrupts off the kthread's scans, which a timer brings about, tell that from all of them being stopped.
 */
static __always_inline void alive(struct hg_wait *w, __u64 now)
{
	__u64 any = w->any_tick;

	if (now > any && any >= w->start && now - any > w->any_gap)
		w->any_gap = now - any;
	w->any_tick = now;
}

/* --- reports --- */

#define PACK_SHIFT 20
#define PACK_CPU(word) ((__u32)((word) >> 2 & 0x3ffff))
#define PACK_HOW(word) ((__u32)((word)&3))

/* When, since the start (up to five hours), on which CPU, and enum kd_how. */
static __always_inline __u64 pack(struct hg_wait *w, __u64 now, __u32 cpu, __u32 how)
{
	return (now - w->start) << PACK_SHIFT | (__u64)(cpu & 0x3ffff) << 2 | how;
}

static __always_inline __u64 packed_ns(__u64 word)
{
	return word >> PACK_SHIFT;
}

static __always_inline void report(struct hg_wait *w, __u64 word)
{
	__u64 was = __sync_lock_test_and_set(&w->last, word);

	if (was)
		*(volatile __u64 *)&w->second = was;
}

static __always_inline void report_of_task(struct hg_wait *w, __u64 now)
{
	*(volatile __u64 *)&w->last_pid = (__u32)bpf_get_current_pid_tgid();
	report(w, pack(w, now, bpf_get_smp_processor_id(), KD_HOW_TASK));
}

/* CPUs of a leaf have reported: the lowest of them stands for all. */
static __noinline int report_of_cpus(__u32 kind, __u64 mask, __u32 first)
{
	struct hg_wait *w = &waits[kind & (HG_KINDS - 1)];
	__u32 here = bpf_get_smp_processor_id(), cpu;
	__u64 now = bpf_ktime_get_ns(), lowest = mask & -mask, word;
	struct hg_cpu *c = cpu_of(kind, here), *of;

	alive(w, now);
	for (cpu = first; lowest > 1 && cpu < first + 64; cpu++)
		lowest >>= 1;
	word = pack(w, now, cpu,
		    cpu == here && !(mask & (mask - 1)) ? KD_HOW_ITSELF : KD_HOW_FOR_IT);
	*(volatile __u64 *)&w->last_cpu = word;
	report(w, word);
	if (!c)
		return 0;
	c->reporting = now; /* what follows from it comes at once, on this CPU */
	of = cpu_of(kind, cpu);
	if (of) {
		of->reported_of = w->start;
		of->reported_at = now;
	}
	if (cpu == here && c->start == w->start &&
	    now - w->start > over_gp[kind & (HG_KINDS - 1)] / 2)
		c->end_switches = switches_of(here);
	return 0;
}

#define AT_ONCE_NS 200000

/*
 * All that one node waited for is reported: is that the end of a CPU's report, within the same section
 * with interrupts off? If not it is a preempted reader, that has ended here.
 */
static __always_inline bool by_cpu(__u32 kind, __u64 now)
{
	struct hg_cpu *c = cpu_of(kind, bpf_get_smp_processor_id());

	return c && now - c->reporting < AT_ONCE_NS;
}

/* --- the task in charge --- */

/* It runs: this is it. */
static __always_inline void kthread_runs(struct hg_wait *w, __u64 now)
{
	__u64 from = __sync_lock_test_and_set(&w->kthread_since, 0);

	if (from && now > from)
		__sync_fetch_and_add(&w->kthread_ns, now - from);
}

/* --- one that is over --- */

static __always_inline void fact(struct kd_rec_holdup *r, enum kd_fact which, __u64 value)
{
	r->known |= 1ULL << which;
	r->fact[which] = value;
}

struct hg_times {
	__u64 cpus, last; /* when the last CPU had reported, when the last of all */
};

/* Tasks waits for tasks alone. */
static __always_inline bool of_tasks(__u32 kind)
{
	return kind >= HG_TASKS;
}

static __always_inline void when_reported(struct hg_times *t, __u32 kind, __u64 end)
{
	struct hg_wait *w = &waits[kind & (HG_KINDS - 1)];

	t->last = w->last ? w->start + packed_ns(w->last) : end;
	if (of_tasks(kind) && w->kthread && !w->last)
		t->last = w->waiting; /* its kthread had nobody to scan for */
	t->cpus = t->last;
	if (of_tasks(kind))
		t->cpus = w->waiting;
	else if (PACK_HOW(w->last) == KD_HOW_TASK)
		t->cpus = w->last_cpu ? w->start + packed_ns(w->last_cpu) : w->waiting;
	if (t->cpus < w->waiting)
		t->cpus = w->waiting;
	if (t->last < t->cpus)
		t->last = t->cpus;
	if (t->last > end)
		t->last = end;
}

static __noinline int fill_phases(struct kd_rec_holdup *r, __u32 kind)
{
	struct hg_wait *w = &waits[kind & (HG_KINDS - 1)];
	struct hg_times t;
	int i;

	if (!r)
		return 0;
	for (i = 0; i < KD_PH_COUNT; i++)
		r->phase[i] = KD_UNKNOWN;
	if (!w->start) {
		r->phase[KD_PH_REQUESTED] = r->end_ns - w->from;
		return 0;
	}
	r->phase[KD_PH_REQUESTED] = w->start - w->from;
	if (!w->waiting) {
		r->phase[KD_PH_INIT] = r->end_ns - w->start;
		return 0;
	}
	r->phase[KD_PH_INIT] = w->waiting - w->start;
	when_reported(&t, kind, r->end_ns);
	if (r->flags & KD_HOLDUP_ONGOING && !w->done) {
		/* For CPUs or for readers that were preempted: that it is not over is all that is known. */
		r->phase[of_tasks(kind) ? KD_PH_WAIT_TASKS : KD_PH_WAIT_CPUS] =
			r->end_ns - w->waiting;
		return 0;
	}
	r->phase[KD_PH_WAIT_CPUS] = t.cpus - w->waiting;
	r->phase[KD_PH_WAIT_TASKS] = t.last - t.cpus;
	r->phase[KD_PH_CLEANUP] = r->end_ns - t.last;
	return 0;
}

/* What is known of the CPU that was the last. */
static __noinline int fill_cpu(struct kd_rec_holdup *r, __u32 kind, __u32 cpu, __u64 until)
{
	struct hg_wait *w = &waits[kind & (HG_KINDS - 1)];
	struct hg_cpu *c = cpu_of(kind, cpu);
	__u64 gap;

	if (!r || !c)
		return 0;
	if (c->reported_of == w->start && c->reported_at < until)
		until = c->reported_at; /* a task that it ran was the last */
	if (c->start != w->start) {     /* not one tick */
		fact(r, KD_F_TICKS, 0);
		fact(r, KD_F_GAP_NS, until - w->start);
		fact(r, KD_F_GAP_END_NS, until - r->begin_ns);
		return 0;
	}
	fact(r, KD_F_TICKS, c->ticks);
	fact(r, KD_F_TICKS_USER, c->user);
	if (bpf_core_field_exists(struct task_struct, rcu_read_lock_nesting)) {
		fact(r, KD_F_TICKS_READER, c->reader);
		fact(r, KD_F_TICKS_BARE, c->bare);
	}
	fact(r, KD_F_TICKS_BARRED, c->barred);
	fact(r, KD_F_PASSES, c->passes);
	fact(r, KD_F_STACK_OFFSETS, marks_move);
	gap = until > c->last ? until - c->last : 0;
	fact(r, KD_F_GAP_NS, gap > c->gap ? gap : c->gap);
	fact(r, KD_F_GAP_END_NS, (gap > c->gap ? until : c->gap_end) - r->begin_ns);
	if (c->switches)
		fact(r, KD_F_SWITCHES,
		     (c->end_switches ? c->end_switches : switches_of(cpu)) - c->switches);
	if (kind == HG_NORMAL) {
		fact(r, KD_F_URGENT_NS, c->urgent ? c->urgent - r->begin_ns : 0);
		gap = c->unreported && until > c->unreported ? until - c->unreported : 0;
		fact(r, KD_F_UNREPORTED_NS, c->unreported_ns + gap);
	}
	if (c->steal)
		fact(r, KD_F_STEAL_NS, steal_of(cpu) - c->steal);
	return 0;
}

static __noinline int fill_blocked(struct kd_rec_holdup *r, struct hg_wait *w)
{
	int i;

	if (!r || !w)
		return 0;
	fact(r, KD_F_HOLDOUTS, w->most_blocked);
	for (i = 0; i < HG_BLOCKED; i++)
		if (w->last_pid && w->blocked[i].pid == w->last_pid) {
			__u64 from = w->blocked[i].since, until = w->start + packed_ns(w->last);

			fact(r, KD_F_BLOCKED_NS,
			     w->blocked[i].ns + (from && until > from ? until - from : 0));
		}
	return 0;
}

static __noinline int fill_facts(struct kd_rec_holdup *r, __u32 kind)
{
	struct hg_wait *w = &waits[kind & (HG_KINDS - 1)];
	struct task_struct *k = (void *)w->kthread;
	__u64 gap;

	if (!r)
		return 0;
	if (k) {
		fact(r, KD_F_KTHREAD_PID, BPF_CORE_READ(k, pid));
		fact(r, KD_F_KTHREAD_NS, w->kthread_ns);
	}
	if (!w->start)
		return 0;
	if (kind == HG_NORMAL || of_tasks(kind))
		fact(r, KD_F_SCANS, w->scans);
	if (!of_tasks(kind)) {
		gap = r->end_ns > w->any_tick ? r->end_ns - w->any_tick : 0;
		fact(r, KD_F_ALL_GAP_NS, gap > w->any_gap ? gap : w->any_gap);
	}
	if (of_tasks(kind) || bpf_core_field_exists(struct task_struct, rcu_node_entry))
		fill_blocked(r, w);
	if (!w->last)
		return 0;
	fact(r, KD_F_LAST_NS, w->start + packed_ns(w->last) - r->begin_ns);
	if (w->second)
		fact(r, KD_F_SECOND_NS, w->start + packed_ns(w->second) - r->begin_ns);
	if (r->flags & KD_HOLDUP_ONGOING && !w->done)
		return 0; /* somebody has not reported yet */
	fact(r, KD_F_HOW, PACK_HOW(w->last));
	if (of_tasks(
		    kind)) { /* of several that were waited for, the last scan does not tell who was the last */
		if (!w->last_pid)
			return 0;
		fact(r, KD_F_LAST_PID, w->last_pid);
		fact(r, KD_F_LAST_CPU, PACK_CPU(w->last));
		return 0;
	}
	fact(r, KD_F_LAST_CPU, PACK_CPU(w->last));
	fact(r, KD_F_LAST_PID, PACK_HOW(w->last) == KD_HOW_TASK ? w->last_pid : 0);
	return fill_cpu(r, kind, PACK_CPU(w->last), w->start + packed_ns(w->last));
}

/* Numbers of waits are the source's: those of callers have lanes too. */
static __always_inline __u32 wait_id(__u64 n, __u32 lane)
{
	return n << 3 | lane;
}

static __always_inline struct kd_rec_holdup *holdup_reserve(__u8 what, __u8 flavour)
{
	struct kd_rec_holdup *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);

	if (!r) {
		__sync_fetch_and_add(&reports_full, 1);
		return 0;
	}
	__builtin_memset(r, 0, sizeof(*r));
	r->rec.kind = KD_REC_HOLDUP;
	r->rec.len = sizeof(*r);
	r->source = KD_SRC_RCU_GP;
	r->flavour = flavour;
	r->what = what;
	r->cpu = KD_CPU_NONE;
	return r;
}

static __always_inline __u8 flavour_of(__u32 kind)
{
	switch (kind) {
	case HG_EXPEDITED:
		return KD_FL_EXPEDITED;
	case HG_TASKS:
		return KD_FL_TASKS;
	case HG_TRACE:
		return KD_FL_TASKS_TRACE;
	}
	return KD_FL_RCU;
}

static __noinline int send_holdup(__u32 kind, __u64 end, __u32 flags)
{
	struct hg_wait *w = &waits[kind & (HG_KINDS - 1)];
	struct kd_rec_holdup *r;

	r = holdup_reserve(KD_WAIT_GP, flavour_of(kind));
	if (!r)
		return 0;
	r->rec.id = wait_id(w->id, kind);
	r->flags = flags;
	r->begin_ns = w->from;
	r->end_ns = end;
	r->threshold_ns = over_gp[kind & (HG_KINDS - 1)];
	r->seq = w->start ? w->seq : 0;
	fill_phases(r, kind);
	fill_facts(r, kind);
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}

/* For those who waited for it. One writer a kind: a number is not given twice. */
static __noinline int keep_past(__u32 kind, __u64 end)
{
	struct hg_wait *w = &waits[kind & (HG_KINDS - 1)];
	__u64 at = __sync_fetch_and_add(&npast, 1);
	struct hg_past *p = &past[at & (HG_PAST - 1)];
	struct hg_times t;

	when_reported(&t, kind, end);
	p->end = 0;
	barrier();
	p->kind = kind;
	p->seq = w->seq;
	p->from = w->from;
	p->start = w->start;
	p->waiting = w->waiting ? w->waiting : end;
	p->cpus = t.cpus;
	p->last = t.last;
	barrier();
	*(volatile __u64 *)&p->end = end;
	return 0;
}

/* Its start: what was kept of the one before is gone. From then on ticks see it. */
static __always_inline void wait_begin(struct hg_wait *w, __u64 now, __u64 from, __u64 seq)
{
	w->last = w->second = w->last_cpu = w->last_pid = 0;
	w->scans = w->waiting = w->done = 0;
	w->holdouts = w->one_pid = 0;
	w->any_tick = now;
	w->any_gap = 0;
	w->seq = seq;
	w->start = now;
	barrier();
	*(volatile __u64 *)&w->from = from;
}

/* Its evidence was counted from when it was asked for, which may be before its start. */
static __always_inline void wait_forget(struct hg_wait *w)
{
	int i;

	*(volatile __u64 *)&w->from = 0;
	barrier();
	w->kthread_ns = w->told = w->tell = w->tell_kthread = w->start = w->waiting =
		w->most_blocked = 0;
	for (i = 0; i < HG_BLOCKED; i++)
		w->blocked[i].pid = w->blocked[i].since = w->blocked[i].ns = 0;
	w->id++;
}

#endif
