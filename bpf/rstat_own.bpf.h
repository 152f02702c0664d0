/* SPDX-License-Identifier: GPL-2.0-only */
/* rstat_own.bpf.h - what our programs take of what they measure: struct rs_own. A part of rstat.bpf.c. */
#ifndef KDEFER_RSTAT_OWN_BPF_H
#define KDEFER_RSTAT_OWN_BPF_H

struct rs_own own SEC(".data.own"); /* a map of its own: user space reads it */

static __always_inline void own_add(__u64 *what, __u64 n)
{
	if (n)
		__sync_fetch_and_add(what, n);
}

/* One that lies in a flush, or at its first lock begins one: what comes before that is outside. */
static __always_inline void own_ran(struct rs_task *t, __u64 from, __u64 to)
{
	if (!t->began)
		return;
	if (from < t->began)
		from = t->began;
	t->own_runs++;
	if (to > from)
		t->own_ns += to - from;
}

/* The lock was got, and the hold begins when this run is as good as over. */
static __always_inline void own_got(struct rs_task *t, __u64 from)
{
	own_add(&own.got_ns, t->got - from);
	own_ran(t, from, t->got);
}

/* One that lies in a hold. */
static __always_inline void own_in_hold(struct rs_task *t, __u64 from)
{
	if (!followed(t))
		return;
	own_add(&own.hold_runs, 1);
	own_add(&own.hold_ns, bpf_ktime_get_ns() - from);
}

static __always_inline void own_flush(struct rs_task *t)
{
	own_add(&own.flush_ns, t->own_ns);
	/* Seen by its locks only, the edges at its two ends are those of one run, which is counted already. */
	own_add(&own.flush_runs, t->own_runs + (t->how & RS_CALL ? 1 : 0));
	own_add(&own.visits, t->visited);
	own_add(&own.splits, t->split.own);
	t->own_ns = t->own_runs = 0;
}

#endif
