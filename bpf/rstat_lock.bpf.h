/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rstat_lock.bpf.h - the lock by its tracepoints: (struct cgroup *, int cpu, bool contended). A part of
 * rstat.bpf.c.
 */
#ifndef KDEFER_RSTAT_LOCK_BPF_H
#define KDEFER_RSTAT_LOCK_BPF_H

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
	know_cgroup(t, (void *)ctx[0]);
	know(ctx, t, 0,
	     is_read(cpu)            ? KD_FL_SUB_BASE
	     : shape == RS_BY_SUBSYS ? KD_FL_COUNT
				     : KD_FL_SUB_ALL,
	     is_read(cpu) ? KD_FC_CPU_STAT : 0);
	if (!is_read(cpu))
		t->how |= RS_SPAN;
	return t;
}

SEC("tp_btf/cgroup_rstat_lock_contended")
int rs_wait_in(__u64 *ctx)
{
	__u64 from = bpf_ktime_get_ns(), now;
	struct rs_task *t = task_at_lock(ctx, from);

	count_run();
	if (!t)
		return 0;
	now = bpf_ktime_get_ns();
	own_ran(t, from, now);
	if (t->wait_from) { /* its end was not seen */
		wait_ends(t, now);
		count(&lost[KD_LOST_UNMATCHED_BEGIN]);
	}
	wait_begins(t, now);
	if (t->how & RS_SPAN && !t->began)
		t->began = now;
	return 0;
}

SEC("tp_btf/cgroup_rstat_locked")
int rs_hold_in(__u64 *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	struct rs_task *t = task_at_lock(ctx, now);

	count_run();
	if (!t)
		return 0;
	if (t->got && followed(t))
		count(&lost[KD_LOST_UNMATCHED_BEGIN]);
	t->last_cpu = ctx[1];
	got_lock(t, now, ctx[2]);
	return 0;
}

SEC("tp_btf/cgroup_rstat_unlock")
int rs_hold_out(__u64 *ctx)
{
	count_run();
	return lock_out(is_last(ctx[1]), ctx[1]);
}

#endif
