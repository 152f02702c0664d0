/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * holdup_caller.bpf.h - who waited for long in synchronize_rcu() and its kin, and for which grace
 * period. A part of holdup_gp.bpf.c.
 */
#ifndef KDEFER_HOLDUP_CALLER_BPF_H
#define KDEFER_HOLDUP_CALLER_BPF_H

#include "caller.bpf.h"
#include "holdup_wait.bpf.h"
#include "flavour.bpf.h"
#include "gp_calls.h"
#include "kdefer.bpf.h"

const volatile __u64 over_wait = ~0ULL; /* limit; ~0: not armed */

#define LANE_CALLER HG_KINDS

__u64 calls_told, calls_lost;

/* Both ends of a call are in one task, which waits in one at a time. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 256);
	__type(key, __u32); /* pid */
	__type(value, struct hg_call);
} calls SEC(".maps");

/* The grace period that a call waited for, among those that are over. */
struct hg_served {
	__u64 from, to; /* of the call */
	__u64 kind, gps;
	__u64 end; /* of the best so far */
	__u32 at;
};

static long served_step(__u32 i, struct hg_served *s)
{
	struct hg_past *p = &past[i & (HG_PAST - 1)];
	__u64 end = *(volatile __u64 *)&p->end;

	if (p->kind != s->kind || end <= s->from || end > s->to)
		return 0;
	s->gps++;
	if (p->start >= s->from && end > s->end) {
		s->end = end;
		s->at = i;
	}
	return 0;
}

static __noinline int fill_served(struct kd_rec_holdup *r, __u32 kind)
{
	struct hg_served s = { .kind = kind };
	struct hg_past *p;
	int i;

	if (!r)
		return 0;
	for (i = 0; i < KD_PH_COUNT; i++)
		r->phase[i] = KD_UNKNOWN;
	if (kind >= HG_KINDS)
		return 0;
	s.from = r->begin_ns;
	s.to = r->end_ns;
	bpf_loop(HG_PAST, served_step, &s, 0);
	fact(r, KD_F_GPS, s.gps);
	if (!s.end)
		return 0;
	p = &past[s.at & (HG_PAST - 1)];
	r->seq = p->seq;
	r->phase[KD_PH_REQUESTED] = p->start - s.from;
	r->phase[KD_PH_INIT] = p->waiting - p->start;
	r->phase[KD_PH_WAIT_CPUS] = p->cpus - p->waiting;
	r->phase[KD_PH_WAIT_TASKS] = p->last - p->cpus;
	r->phase[KD_PH_CLEANUP] = p->end - p->last;
	r->phase[KD_PH_CB_WAIT] = s.to - p->end;
	return 0;
}

static __always_inline __u32 kind_of(__u32 flavour)
{
	switch (flavour) {
	case KD_FL_EXPEDITED:
		return HG_EXPEDITED;
	case KD_FL_TASKS:
		return HG_TASKS;
	case KD_FL_TASKS_TRACE:
		return HG_TRACE;
	}
	return flavour == KD_FL_RCU ? HG_NORMAL : HG_KINDS; /* nobody keeps those of the others */
}

static __noinline int send_call(struct hg_call *c, __u64 now)
{
	struct task_struct *t = (void *)bpf_get_current_task();
	struct kd_rec_holdup *r;
	__u64 caller;

	if (!c)
		return 0;
	r = holdup_reserve(KD_WAIT_CALLER, c->flavour);
	if (!r)
		return 0;
	r->rec.id = wait_id(__sync_fetch_and_add(&calls_told, 1), LANE_CALLER);
	r->flags = by_kdefer() ? KD_HOLDUP_KDEFER : 0;
	r->cpu = bpf_get_smp_processor_id();
	r->begin_ns = c->when;
	r->end_ns = now;
	r->threshold_ns = over_wait;
	r->cgroup = BPF_CORE_READ(t, cgroups, dfl_cgrp, kn, id);
	r->pid = BPF_CORE_READ(t, pid);
	r->tgid = BPF_CORE_READ(t, tgid);
	bpf_get_current_comm(r->comm, sizeof(r->comm));
	caller = c->caller;
	if (caller)
		bpf_snprintf(r->name, sizeof(r->name), "%ps", &caller, sizeof(caller));
	fill_served(r, kind_of(c->flavour));
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}

/* One that another of them makes in turn is part of that. */
static __noinline int call_begin(__u32 what, __u32 flavour, __u64 caller)
{
	__u32 key = (__u32)bpf_get_current_pid_tgid();
	struct hg_call c = { .what = what, .flavour = flavour, .caller = caller }, *outer;

	if (!recording())
		return 0;
	outer = bpf_map_lookup_elem(&calls, &key);
	if (outer && outer->when >= since && GP_CALL_INSIDE(what, outer->what))
		return 0;
	c.when = bpf_ktime_get_ns();
	if (bpf_map_update_elem(&calls, &key, &c, BPF_ANY))
		__sync_fetch_and_add(&calls_lost, 1);
	return 0;
}

static __noinline int call_end(__u32 what)
{
	__u32 key = (__u32)bpf_get_current_pid_tgid();
	struct hg_call *found = bpf_map_lookup_elem(&calls, &key), c;
	__u64 now;

	if (!found || found->what != what)
		return 0;
	c = *found;
	bpf_map_delete_elem(&calls, &key);
	now = bpf_ktime_get_ns();
	if (recording() && c.when >= since && now - c.when > over_wait)
		send_call(&c, now);
	return 0;
}

static __always_inline __u32 flavour_of_domain(__u64 *ctx)
{
	__u64 ssp = 0;

	bpf_get_func_arg(ctx, 0, &ssp);
	return srcu_flavour(ssp);
}

#define CALL(name, function, what, flavour)                       \
	SEC("fentry/" #function)                                  \
	int hg_##name##_in(__u64 *ctx)                            \
	{                                                         \
		return call_begin(what, flavour, caller_of(ctx)); \
	}                                                         \
	SEC("fexit/" #function)                                   \
	int hg_##name##_out(__u64 *ctx)                           \
	{                                                         \
		return call_end(what);                            \
	}

GP_CALLS(CALL)

#endif
