/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rstat_run.bpf.h - what user space runs: recording on and off, and the tick. A part of rstat.bpf.c.
 */
#ifndef KDEFER_RSTAT_RUN_BPF_H
#define KDEFER_RSTAT_RUN_BPF_H

/* --- run by user space --- */

/* So that nothing that is counted can have looked before this was set. */
#define START_AHEAD_NS 1000000

SEC("raw_tp")
int kd_control(struct kd_run_args *args)
{
	*(volatile __u64 *)&runs_on = args->arg[0] == RS_START;
	*(volatile __u64 *)&since =
		args->arg[0] == RS_START ? bpf_ktime_get_ns() + START_AHEAD_NS : 0;
	return 0;
}

/* --- the tick --- */

static __always_inline int tick_totals(__u64 missed)
{
	int full = send_totals(KD_SRC_RSTAT, missed, 1u << KD_LOST_UNMATCHED_BEGIN), i;

	for (i = 0; i < RS_LISTS; i++)
		floor_refresh(&bins[i].floor, epoch);
	return full;
}

#define OLD_NS 5000000000LL

/* Of a task that has gone, with a flush whose end was kept from us. */
static __always_inline bool is_old(struct rs_task *t, __u64 now)
{
	return t->ended && !t->got && !t->wait_from && (__s64)(now - t->ended) >= OLD_NS;
}

static long sweep_task(void *map, __u64 *key, struct rs_task *t, __u64 *now)
{
	if (!is_old(t, *now))
		return 0;
	t->how |= RS_SWEPT;
	flush_cut(t);
	task_gone_elsewhere(*key);
	return 0;
}

/* bpf_loop() body */
static long sweep_place(__u32 i, __u64 *now)
{
	__u64 at = i, key;
	struct rs_task *t;

	barrier_var(at);
	at &= RS_PLACES - 1;
	key = *(volatile __u64 *)&place_key[at];
	t = &places[at];
	if (!key || key == PLACE_TAKEN || !is_old(t, *now) ||
	    __sync_val_compare_and_swap(&place_key[at], key, PLACE_TAKEN) != key)
		return 0;
	if (is_old(t, *now)) { /* still: nobody began with it meanwhile */
		t->how |= RS_SWEPT;
		flush_cut(t);
		key = 0;
	}
	__sync_lock_test_and_set(&place_key[at], key);
	return 0;
}

static __always_inline void sweep(void)
{
	__u64 now = bpf_ktime_get_ns();

	bpf_loop(RS_PLACES, sweep_place, &now, 0);
	bpf_for_each_map_elem(&tasks, sweep_task, &now, 0);
}

/* Samples, then totals: 0 when all is written, else where to go on. */
SEC("raw_tp")
int kd_tick(struct kd_run_args *args)
{
	struct series_walk w = {
		.interval = args->arg[1],
		.id_base = KD_SRC_RSTAT << 24,
		.deadline = bpf_ktime_get_ns() + TICK_NS,
	};
	__u32 next;

	if (!args->arg[0])
		sweep();
	next = tick_samples(&w, args->arg[0], RS_LISTS);
	ring_full += w.full;
	if (next)
		return next;
	return tick_totals(args->arg[2]) ? CURSOR_TOTALS : 0;
}

#endif
