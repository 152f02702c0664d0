/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * holdup_rstat.bpf.c - why a flush of cgroup statistics took long, why its lock was held or waited for.
 *
 * What a task does is summed up in an entry of its own from the flush's beginning, and told where it
 * was too long. Long holds of the lock are remembered for a while: whoever waited for too long is told
 * who held it the longest meanwhile.
 *
 * Where the lock has tracepoints these tell of it; else (6.1 to 6.9) the function does that runs with
 * the lock held, and a hold is told of only where the kernel never gives it up on the way.
 */
#include "witness.bpf.h"
#include "subsystem.bpf.h"
#include "holdup_rstat.h"

/* ns; 0: not armed */
const volatile __u64 over_flush, over_hold, over_wait;
const volatile __u32 possible_cpus;
const volatile __u32 by_lock;  /* the lock's tracepoints are hooked */
const volatile __u32 one_lock; /* for all cgroups and subsystems */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, __u32); /* pid */
	__type(value, struct hr_task);
} tasks SEC(".maps");

struct hr_hold holds[HR_HOLDS];
__u32 nr_holds;

__u64 recording, reports_full, table_full;
__u32 ids;

#define ONE_LOCK 1 /* of kernels where there is one for all */

static __always_inline void count(__u64 *what)
{
	__sync_fetch_and_add(what, 1);
}

static __always_inline struct hr_task *task_find(void)
{
	__u32 pid = bpf_get_current_pid_tgid();

	return bpf_map_lookup_elem(&tasks, &pid);
}

static __always_inline void task_gone(void)
{
	__u32 pid = bpf_get_current_pid_tgid();

	bpf_map_delete_elem(&tasks, &pid);
}

static __noinline struct hr_task *task_new(void)
{
	__u32 pid = bpf_get_current_pid_tgid();
	struct hr_task t = {};

	if (bpf_map_update_elem(&tasks, &pid, &t, BPF_ANY))
		count(&table_full);
	return bpf_map_lookup_elem(&tasks, &pid);
}

/* --- what is told --- */

struct longest {
	__u64 lock, from, to;
	__u64 most;
	__u32 at;
};

static long hold_step(__u32 i, struct longest *l)
{
	struct hr_hold *h = &holds[i & (HR_HOLDS - 1)];
	__u64 from = h->from > l->from ? h->from : l->from;
	__u64 to = h->to < l->to ? h->to : l->to;

	if (h->lock != l->lock || !h->to || to <= from || to - from <= l->most)
		return 0;
	l->most = to - from;
	l->at = i;
	return 0;
}

/* Who held the lock the longest while this task waited. Returns the pid; 0: nobody is remembered. */
static __noinline __u32 tell_owner(struct hr_task *t, __u32 id, __u64 from, __u64 to)
{
	struct kd_rec_witness *r;
	struct longest l = {};
	struct hr_hold *h;

	if (!t || !t->lock)
		return 0;
	l.lock = t->lock;
	l.from = from;
	l.to = to;
	bpf_loop(HR_HOLDS, hold_step, &l, 0);
	if (!l.most)
		return 0;
	h = &holds[l.at & (HR_HOLDS - 1)];
	r = witness_reserve(id, KD_SRC_RSTAT, KD_ROLE_OWNER);
	if (!r)
		return h->pid;
	r->pid = h->pid;
	r->tgid = h->tgid;
	r->prio = h->prio;
	r->cpu = h->cpu;
	r->cgroup = h->cgroup;
	__builtin_memcpy(r->comm, h->comm, sizeof(r->comm));
	r->comm[sizeof(r->comm) - 1] = '\0';
	witness_submit(r);
	return h->pid;
}

static __noinline int tell_waiter(void *ctx, __u32 id)
{
	struct witness_stack *s = witness_scratch();
	struct kd_rec_witness *r = witness_reserve(id, KD_SRC_RSTAT, KD_ROLE_WAITER);

	if (!r)
		return 0;
	witness_task(r, (void *)bpf_get_current_task());
	if (s && bpf_get_stack(ctx, s, WITNESS_BYTES, 0) > 0)
		witness_names(r, 0);
	witness_submit(r);
	return 0;
}

static __always_inline struct kd_rec_holdup *reserve(__u32 id, __u8 what, __u64 from, __u64 to,
						     __u64 limit)
{
	struct kd_rec_holdup *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);
	__u64 who = bpf_get_current_pid_tgid();
	int i;

	if (!r) {
		count(&reports_full);
		return 0;
	}
	__builtin_memset(r, 0, sizeof(*r));
	r->rec.kind = KD_REC_HOLDUP;
	r->rec.len = sizeof(*r);
	r->rec.id = id;
	r->source = KD_SRC_RSTAT;
	r->what = what;
	r->cpu = bpf_get_smp_processor_id();
	r->begin_ns = from;
	r->end_ns = to;
	r->threshold_ns = limit;
	r->pid = who;
	r->tgid = who >> 32;
	bpf_get_current_comm(r->comm, sizeof(r->comm));
	for (i = 0; i < KD_PH_COUNT; i++)
		r->phase[i] = KD_UNKNOWN;
	return r;
}

static __always_inline void put_cgroup(struct kd_rec_holdup *r, struct hr_task *t)
{
	struct cgroup *cgrp = (void *)t->cgrp;

	r->flavour = t->sub;
	if (!cgrp)
		return;
	r->cgroup = BPF_CORE_READ(cgrp, kn, id);
	bpf_probe_read_kernel_str(r->name, sizeof(r->name), BPF_CORE_READ(cgrp, kn, name));
}

static __noinline int tell_flush(void *ctx, struct hr_task *t, __u64 now)
{
	__u32 id = __sync_fetch_and_add(&ids, 1), owner = 0;
	struct kd_rec_holdup *r;

	if (!t)
		return 0;
	tell_waiter(ctx, id);
	if (t->longest_wait)
		owner = tell_owner(t, id, t->longest_wait_from,
				   t->longest_wait_from + t->longest_wait);
	r = reserve(id, KD_WAIT_FLUSH, t->began, now, over_flush);
	if (!r)
		return 0;
	put_cgroup(r, t);
	KNOWN(r, KD_F_CPUS, possible_cpus);
	if (t->visited)
		KNOWN(r, KD_F_CGROUPS, t->visited);
	if (!t->alone)
		KNOWN(r, KD_F_LOCK_NS, t->waited);
	if (by_lock || t->irqsafe) {
		KNOWN(r, KD_F_HOLDS, t->holds);
		KNOWN(r, KD_F_HELD_NS, t->held);
	}
	if (owner)
		KNOWN(r, KD_F_OWNER_PID, owner);
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}

static __noinline int tell_hold(void *ctx, struct hr_task *t, __u64 from, __u64 now)
{
	__u32 id = __sync_fetch_and_add(&ids, 1);
	struct kd_rec_holdup *r;

	if (!t)
		return 0;
	tell_waiter(ctx, id);
	r = reserve(id, KD_WAIT_HOLD, from, now, over_hold);
	if (!r)
		return 0;
	put_cgroup(r, t);
	if (t->visited > t->visited_before)
		KNOWN(r, KD_F_CGROUPS, t->visited - t->visited_before);
	KNOWN(r, KD_F_HELD_NS, now - from);
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}

static __noinline int tell_lock(void *ctx, struct hr_task *t, __u64 from, __u64 now)
{
	__u32 id = __sync_fetch_and_add(&ids, 1), owner;
	struct kd_rec_holdup *r;

	if (!t)
		return 0;
	tell_waiter(ctx, id);
	owner = tell_owner(t, id, from, now);
	r = reserve(id, KD_WAIT_LOCK, from, now, over_wait);
	if (!r)
		return 0;
	put_cgroup(r, t);
	KNOWN(r, KD_F_LOCK_NS, now - from);
	if (owner)
		KNOWN(r, KD_F_OWNER_PID, owner);
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}

/* --- the lock --- */

static __noinline int wait_over(void *ctx, struct hr_task *t, __u64 now)
{
	__u64 took;

	if (!t || !t->asked)
		return 0;
	took = now - t->asked;
	t->waited += took;
	if (took > t->longest_wait) {
		t->longest_wait = took;
		t->longest_wait_from = t->asked;
	}
	if (over_wait && took > over_wait)
		tell_lock(ctx, t, t->asked, now);
	t->asked = 0;
	return 0;
}

static __always_inline __u64 worth_keeping(void)
{
	__u64 least = over_wait ? over_wait : over_flush;

	return least / 16;
}

static __noinline int hold_over(void *ctx, struct hr_task *t, __u64 now)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct hr_hold *h;
	__u64 took, who;

	if (!t || !t->got)
		return 0;
	took = now - t->got;
	t->held += took;
	t->holds++;
	if (t->lock && took > worth_keeping()) {
		h = &holds[__sync_fetch_and_add(&nr_holds, 1) & (HR_HOLDS - 1)];
		who = bpf_get_current_pid_tgid();
		h->to = 0;
		h->lock = t->lock;
		h->from = t->got;
		h->pid = who;
		h->tgid = who >> 32;
		h->cpu = bpf_get_smp_processor_id();
		h->prio = BPF_CORE_READ(task, prio);
		h->cgroup = bpf_get_current_cgroup_id();
		bpf_get_current_comm(h->comm, sizeof(h->comm));
		barrier();
		h->to = now;
	}
	if (over_hold && took > over_hold && (by_lock || t->irqsafe))
		tell_hold(ctx, t, t->got, now);
	t->got = 0;
	return 0;
}

static __always_inline struct hr_task *lock_task(__u64 cgrp)
{
	struct hr_task *t = task_find();

	if (t)
		return t;
	t = task_new(); /* its function is not hooked, or does not show */
	if (t) {
		t->cgrp = cgrp;
		t->lock = one_lock ? ONE_LOCK : 0;
	}
	return t;
}

SEC("tp_btf/cgroup_rstat_lock_contended")
int hr_wait_in(__u64 *ctx)
{
	struct hr_task *t;

	if (!recording)
		return 0;
	t = lock_task(ctx[0]);
	if (t)
		t->asked = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/cgroup_rstat_locked")
int hr_hold_in(__u64 *ctx)
{
	struct hr_task *t;
	__u64 now;

	if (!recording)
		return 0;
	t = lock_task(ctx[0]);
	if (!t)
		return 0;
	now = bpf_ktime_get_ns();
	wait_over(ctx, t, now);
	t->visited_before = t->visited;
	t->got = now;
	return 0;
}

SEC("tp_btf/cgroup_rstat_unlock")
int hr_hold_out(__u64 *ctx)
{
	struct hr_task *t = task_find();

	if (!t)
		return 0;
	hold_over(ctx, t, bpf_ktime_get_ns());
	if (!t->began)
		task_gone();
	return 0;
}

static __always_inline __u64 argument(__u64 *ctx, __u32 n)
{
	__u64 arg = 0;

	bpf_get_func_arg(ctx, n, &arg);
	return arg;
}

/* The function that took the lock is a part of another: how long it waited is not known. */
static __always_inline struct hr_task *body_alone(__u64 cgrp, __u64 now)
{
	struct hr_task *t = recording ? task_new() : 0;

	if (!t)
		return 0;
	t->cgrp = cgrp;
	t->sub = KD_FL_SUB_ALL;
	t->lock = ONE_LOCK;
	t->began = now;
	t->alone = 1;
	return t;
}

/* Where it has no tracepoints: it is called with the lock held, and waited for from the entry on. */
SEC("fentry/cgroup_rstat_flush_locked")
int hr_body_in(__u64 *ctx)
{
	struct hr_task *t = task_find();
	__u64 now = bpf_ktime_get_ns();

	if (!t)
		t = body_alone(argument(ctx, 0), now);
	if (!t)
		return 0;
	wait_over(ctx, t, now);
	t->visited_before = t->visited;
	t->got = now;
	return 0;
}

SEC("fexit/cgroup_rstat_flush_locked")
int hr_body_out(__u64 *ctx)
{
	struct hr_task *t = task_find();
	__u64 now = bpf_ktime_get_ns();

	if (!t)
		return 0;
	hold_over(ctx, t, now);
	if (!t->alone)
		return 0;
	if (over_flush && now - t->began > over_flush)
		tell_flush(ctx, t, now);
	task_gone();
	return 0;
}

/* --- the public functions --- */

static __noinline int flush_in(__u64 cgrp, __u32 sub, __u64 lock, __u32 irqsafe)
{
	struct hr_task *t;

	if (!recording)
		return 0;
	t = task_new();
	if (!t)
		return 0;
	t->cgrp = cgrp;
	t->sub = sub;
	t->lock = lock;
	t->irqsafe = irqsafe;
	t->began = bpf_ktime_get_ns();
	if (!by_lock)
		t->asked = t->began;
	return 0;
}

static __noinline int flush_out(void *ctx)
{
	struct hr_task *t = task_find();
	__u64 now = bpf_ktime_get_ns();

	if (!t || !t->began)
		return 0;
	if (over_flush && now - t->began > over_flush)
		tell_flush(ctx, t, now);
	t->began = 0;
	if (!t->got) /* else cgroup_rstat_flush_hold(): the lock is still held */
		task_gone();
	return 0;
}

#define FLUSH(program, function, irqsafe)                                            \
	SEC("fentry/" #function)                                                     \
	int program##_in(__u64 *ctx)                                                 \
	{                                                                            \
		return flush_in(argument(ctx, 0), KD_FL_SUB_ALL, ONE_LOCK, irqsafe); \
	}                                                                            \
	SEC("fexit/" #function)                                                      \
	int program##_out(__u64 *ctx)                                                \
	{                                                                            \
		return flush_out(ctx);                                               \
	}

FLUSH(hr_flush, cgroup_rstat_flush, 0)
FLUSH(hr_irqsafe, cgroup_rstat_flush_irqsafe, 1)
FLUSH(hr_keep, cgroup_rstat_flush_hold, 0)

/* Each subsystem has a lock of its own, and base statistics have one. */
SEC("fentry/css_rstat_flush")
int hr_css_in(__u64 *ctx)
{
	struct cgroup_subsys_state *css = (void *)argument(ctx, 0);
	__u64 ss = (__u64)BPF_CORE_READ(css, ss);

	return flush_in((__u64)BPF_CORE_READ(css, cgroup), sub_of((__u64)css), ss ? ss : ONE_LOCK,
			0);
}

SEC("fexit/css_rstat_flush")
int hr_css_out(__u64 *ctx)
{
	return flush_out(ctx);
}

/* --- cgroups visited, once for each CPU --- */

static __always_inline int visit(void)
{
	struct hr_task *t = task_find();

	if (t)
		t->visited++;
	return 0;
}

SEC("fentry/bpf_rstat_flush")
int hr_visit_base(void *ctx)
{
	return visit();
}

SEC("fentry/mem_cgroup_css_rstat_flush")
int hr_visit_memory(void *ctx)
{
	return visit();
}

SEC("fentry/blkcg_rstat_flush")
int hr_visit_io(void *ctx)
{
	return visit();
}

/* --- what user space runs --- */

SEC("raw_tp")
int kd_control(struct kd_run_args *args)
{
	*(volatile __u64 *)&recording = args->arg[0] == HR_START;
	return 0;
}

SEC("raw_tp")
int kd_tick(struct kd_run_args *args)
{
	int full = send_total(KD_SRC_RSTAT, KD_REC_LOST, KD_LOST_REPORTS,
			      reports_full + witness_full + table_full);

	return full ? 1 : 0;
}
