/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rstat_task.bpf.h - what is known of each task that flushes: where it is kept. A part of rstat.bpf.c.
 *
 * Nearly all flushes find their task's own place free, by the last bits of its number: to take it and to
 * give it back is a word each. Whose place is another's goes to a preallocated hash, where that takes
 * some thousand instructions; only while something is there does anybody look there.
 */
#ifndef KDEFER_RSTAT_TASK_BPF_H
#define KDEFER_RSTAT_TASK_BPF_H

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, __u64); /* task; of an idle CPU, that */
	__type(value, struct rs_task);
} tasks SEC(".maps");

static struct rs_task none; /* what a new entry is copied from */

__u64 place_key[RS_PLACES]; /* as in `tasks`; 0: free */
struct rs_task places[RS_PLACES];
__u64 elsewhere; /* entries in `tasks` */

#define PLACE_TAKEN (~0ULL) /* by one who empties it: nobody's yet, and nothing to be swept */

#define NO_CPU (-2) /* no lock yet */

static __always_inline __u64 task_key(void)
{
	__u32 pid = bpf_get_current_pid_tgid();

	return pid ? pid : 1ULL << 32 | bpf_get_smp_processor_id();
}

static __always_inline __u64 *place_of(__u64 key)
{
	__u64 at = key;

	barrier_var(at);
	return &place_key[at & (RS_PLACES - 1)];
}

static __always_inline struct rs_task *task_by(__u64 key)
{
	__u64 at = key;

	if (*(volatile __u64 *)place_of(key) == key) {
		barrier_var(at);
		return &places[at & (RS_PLACES - 1)];
	}
	return *(volatile __u64 *)&elsewhere ? bpf_map_lookup_elem(&tasks, &key) : NULL;
}

static __always_inline struct rs_task *task_find(void)
{
	return task_by(task_key());
}

static __noinline int task_gone_elsewhere(__u64 key)
{
	if (!bpf_map_delete_elem(&tasks, &key))
		__sync_fetch_and_add(&elsewhere, -1);
	return 0;
}

static __always_inline void task_forget(__u64 key)
{
	__u64 *place = place_of(key);

	if (*(volatile __u64 *)place == key)
		__sync_val_compare_and_swap(place, key, 0);
	else
		task_gone_elsewhere(key);
}

static __always_inline void task_gone(void)
{
	task_forget(task_key());
}

static __noinline struct rs_task *task_new_elsewhere(__u64 key, __u64 now)
{
	bool there = bpf_map_lookup_elem(&tasks, &key);

	if (!there)
		__sync_fetch_and_add(&elsewhere, 1);
	if (bpf_map_update_elem(&tasks, &key, &none, BPF_ANY)) {
		if (!there)
			__sync_fetch_and_add(&elsewhere, -1);
		if (measured(now))
			count(&lost[KD_LOST_TABLE_FULL]);
	}
	return bpf_map_lookup_elem(&tasks, &key);
}

/* Empty; what there was of this task is forgotten. */
static __noinline struct rs_task *task_new(__u64 now)
{
	__u64 key = task_key(), *place = place_of(key), had, at = key;
	struct rs_task *t;

	had = *(volatile __u64 *)place;
	if ((had && had != key) || __sync_val_compare_and_swap(place, had, PLACE_TAKEN) != had) {
		t = task_new_elsewhere(key, now);
	} else {
		barrier_var(at);
		t = &places[at & (RS_PLACES - 1)];
		__builtin_memset(t, 0, offsetof(struct rs_task, ip) + sizeof(t->ip[0]));
		if (*(volatile __u64 *)&elsewhere) /* it may have been there before */
			task_gone_elsewhere(key);
		__sync_lock_test_and_set(place, key);
	}
	if (t) {
		t->cgroup_no = t->flusher_no = RS_WHO_NONE;
		t->last_cpu = NO_CPU;
	}
	return t;
}

#endif
