/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rstat_call.bpf.h - functions of the kernel: flushes from entry to return, the lock where it has no
 * tracepoints, cgroups visited. A part of rstat.bpf.c.
 */
#ifndef KDEFER_RSTAT_CALL_BPF_H
#define KDEFER_RSTAT_CALL_BPF_H

/* --- the public functions --- */

static __always_inline __u64 argument(__u64 *ctx, __u32 n)
{
	__u64 arg = 0;

	bpf_get_func_arg(ctx, n, &arg);
	return arg;
}

static __noinline int flush_in(__u64 *ctx, struct cgroup *cgrp, __u32 sub, __u32 how)
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
	know(ctx, t, bpf_get_func_ip(ctx), sub, 0);
	know_cgroup(t, cgrp);
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
	if (!t->got) {
		task_gone();
		return 0;
	}
	/* cgroup_rstat_flush_hold(): the lock is still held, and we run in that hold. */
	t->how &= ~RS_CALL;
	own_in_hold(t, now);
	return 0;
}

#define FLUSH(program, function, how)                                     \
	SEC("fentry/" #function)                                          \
	int program##_in(__u64 *ctx)                                      \
	{                                                                 \
		count_run();                                              \
		return flush_in(ctx, (void *)ctx[0], KD_FL_SUB_ALL, how); \
	}                                                                 \
	SEC("fexit/" #function)                                           \
	int program##_out(__u64 *ctx)                                     \
	{                                                                 \
		count_run();                                              \
		return flush_out();                                       \
	}

FLUSH(rs_flush, cgroup_rstat_flush, 0)
FLUSH(rs_irqsafe, cgroup_rstat_flush_irqsafe, RS_WHOLE)
FLUSH(rs_keep, cgroup_rstat_flush_hold, 0)

SEC("fentry/css_rstat_flush")
int rs_css_in(__u64 *ctx)
{
	struct cgroup_subsys_state *css = (void *)ctx[0];

	count_run();
	return flush_in(ctx, css->cgroup, sub_of(argument(ctx, 0)), 0);
}

SEC("fexit/css_rstat_flush")
int rs_css_out(__u64 *ctx)
{
	count_run();
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
	know(ctx, t, bpf_get_func_ip(ctx), KD_FL_SUB_ALL, 0);
	know_cgroup(t, (void *)ctx[0]);
	t->began = bpf_ktime_get_ns();
	return t;
}

SEC("fentry/cgroup_rstat_flush_locked")
int rs_body_in(__u64 *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	struct rs_task *t = task_find();
	bool called = t && t->how & RS_CALL;

	count_run();
	if (!called)
		t = task_in_body(ctx, now);
	if (!t)
		return 0;
	got_lock(t, now, false);
	if (!called)
		t->at_once = 0; /* whether it waited was not seen */
	return 0;
}

SEC("fexit/cgroup_rstat_flush_locked")
int rs_body_out(__u64 *ctx)
{
	count_run();
	return lock_out(true, -1);
}

/* A tick on the CPU that flushes, in an interrupt. */
SEC("fentry/rcu_sched_clock_irq")
int rs_tick(__u64 *ctx)
{
	struct rs_task *t = task_find();
	__u64 now = bpf_ktime_get_ns(), from;

	count_run();
	if (!t || !t->got)
		return 0;
	from = t->tick > t->got ? t->tick : t->got;
	if (now - from > t->gap)
		t->gap = now - from;
	t->tick = now;
	if (followed(t))
		count(&own.ticks);
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
	count_run();
	return visit(shape == RS_BY_SUBSYS ? KD_FL_SUB_BASE : KD_FL_SUB_ALL);
}

SEC("fentry/mem_cgroup_css_rstat_flush")
int rs_visit_memory(__u64 *ctx)
{
	count_run();
	return visit(KD_FL_SUB_MEMORY);
}

SEC("fentry/blkcg_rstat_flush")
int rs_visit_io(__u64 *ctx)
{
	count_run();
	return visit(KD_FL_SUB_IO);
}

#endif
