/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rstat_waiters.bpf.h - part of rstat_state.bpf.c: how many wait for a lock of cgroup statistics now, read
 * from afar: to interrupt those that wait would take until they have had the lock.
 *
 * A queued spinlock is one word: held, one that waits for it beside the queue ("pending", which CPU it
 * is does not show), and the CPU that is last in the queue. A CPU in a queue has a node of its own,
 * which leads to the next; those whose nodes lead to that last one wait for this lock. On kernels for
 * real time the lock is a mutex, and those that wait for it are in its tree.
 */
#ifndef KDEFER_RSTAT_WAITERS_BPF_H
#define KDEFER_RSTAT_WAITERS_BPF_H

#include "ring.bpf.h"
#include "percpu.bpf.h"
#include "rstat_state.h"

const volatile __u32 lock_form;   /* enum rss_lock */
const volatile __u64 lock_global; /* address of the lock of all statistics; 0: none, or hidden */
const volatile __u64 lock_base;   /* of that of base statistics, where each subsystem has its own */

#define LOCK_PENDING 0xff00
#define LOCK_TAIL_INDEX(word) ((word) >> 16 & 3)
#define LOCK_TAIL_CPU(word) ((word) >> 18) /* + 1; 0: nobody is in the queue */
#define NODES 4                            /* of a CPU: as deep as interrupts nest */
#define PASSED 1024
#define WAITERS_NS 800000 /* it holds up its own CPU only */

struct rss_queue queue;
struct rss_passed passed[PASSED];

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* user space: a CPU each */
	__type(key, __u32);
	__type(value, __u32); /* how often it is in the queue */
} queued SEC(".maps");

/* --- a queue --- */

static __always_inline struct rss_passed *passed_at(__u64 node)
{
	return &passed[node * 0x9e3779b97f4a7c15ULL >> 54 & (PASSED - 1)];
}

static __always_inline __u64 node_of(__u32 cpu, __u32 index)
{
	__u64 first = percpu_address(PERCPU_QNODES, cpu);

	return first ? first + index * bpf_core_type_size(struct qnode) : 0;
}

static long follow(__u32 i, void *unused)
{
	struct rss_queue *q = &queue;
	__u64 node = q->node;
	struct rss_passed *known = passed_at(node);

	if (node == q->tail || (known->node == node && known->walk == q->walk)) {
		q->leads = 1;
		return 1;
	}
	node = (__u64)BPF_CORE_READ((struct mcs_spinlock *)node, next);
	q->node = node;
	return !node;
}

static long node_step(__u32 index, void *unused)
{
	struct rss_queue *q = &queue;
	__u64 node = node_of(q->cpu, index);
	__u32 *n;

	q->node = node;
	q->leads = 0;
	bpf_loop(STEPS, follow, unused, 0);
	q->cut |= !q->leads && q->node;
	if (!q->leads)
		return 0;
	*passed_at(node) = (struct rss_passed){ .node = node, .walk = q->walk };
	q->found++;
	n = bpf_map_lookup_elem(&queued, &q->cpu);
	if (n)
		(*n)++;
	return 0;
}

static long cpu_step(__u32 cpu, void *unused)
{
	struct rss_queue *q = &queue;
	__u64 first = node_of(cpu, 0);
	__u32 *n = bpf_map_lookup_elem(&queued, &cpu);
	int used;

	if (!n || !first)
		return 0;
	*n = 0;
	used = BPF_CORE_READ((struct mcs_spinlock *)first, count);
	q->used |= used || BPF_CORE_READ((struct mcs_spinlock *)first, locked) ||
		   BPF_CORE_READ((struct mcs_spinlock *)first, next);
	if (!q->tail || used <= 0)
		return 0;
	if (bpf_ktime_get_ns() > q->deadline) { /* those of later CPUs are to be 0 all the same */
		q->cut = 1;
		return 0;
	}
	q->cpu = cpu;
	bpf_loop(used < NODES ? used : NODES, node_step, unused, 0);
	return 0;
}

/* How many CPUs are in the lock's queue. */
static __noinline __u32 count_queue(__u64 lock)
{
	struct rss_queue *q = &queue;
	__u32 word = word_at(lock);
	int nothing = 0;

	q->word = word;
	q->found = 0;
	q->tail = LOCK_TAIL_CPU(word) ? node_of(LOCK_TAIL_CPU(word) - 1, LOCK_TAIL_INDEX(word)) : 0;
	q->walk++;
	bpf_loop(percpu.cpus, cpu_step, &nothing, 0);
	return q->found;
}

/* --- the tree of a mutex --- */

static __always_inline __u64 parent_of(__u64 node)
{
	return BPF_CORE_READ((struct rb_node *)node, __rb_parent_color) & ~3ULL;
}

static __always_inline __u64 left_of(__u64 node)
{
	return (__u64)BPF_CORE_READ((struct rb_node *)node, rb_left);
}

/* In order: all that hangs left of a node, the node, all that hangs right of it. */
static long waiter_step(__u32 i, void *unused)
{
	struct rss_queue *q = &queue;
	__u64 node = q->node, next = q->up ? 0 : left_of(node);

	if (next) {
		q->node = next;
		return 0;
	}
	q->n += q->up != 1;
	next = q->up == 1 ? 0 : (__u64)BPF_CORE_READ((struct rb_node *)node, rb_right);
	if (next) {
		q->node = next;
		q->up = 0;
		return 0;
	}
	next = parent_of(node);
	q->node = next;
	if (!next)
		return 1;
	q->up = left_of(next) == node ? 2 : 1;
	return 0;
}

static __noinline __u32 count_tree(__u64 lock)
{
	struct rt_mutex_base *mutex = (void *)lock;
	struct rss_queue *q = &queue;
	int nothing = 0;

	q->n = q->up = 0;
	q->node = (__u64)BPF_CORE_READ(mutex, waiters.rb_root.rb_node);
	if (q->node)
		bpf_loop(STEPS, waiter_step, &nothing, 0);
	q->cut |= !!q->node;
	return q->n;
}

/* --- what is told --- */

/* `n` of them on that CPU. 1: the ring is full. */
static __noinline int tell_waiters(__u32 sub, __u32 cpu, __u32 n, __u32 flags)
{
	struct kd_rec_pending *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);

	if (!r)
		return 1;
	*r = (struct kd_rec_pending){
		.rec = { .kind = KD_REC_PENDING, .len = sizeof(*r) },
		.source = KD_SRC_RSTAT,
		.flavour = sub,
		.list = KD_LIST_WAITERS,
		.cpu = cpu,
		.flags = flags,
		.length = n,
		.bytes = KD_UNKNOWN,
		.age_ns = KD_UNKNOWN,
	};
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}

struct rss_tell {
	__u32 sub, flags, full;
};

static long tell_cpu(__u32 cpu, struct rss_tell *t)
{
	__u32 *n = bpf_map_lookup_elem(&queued, &cpu);

	if (n && *n)
		t->full |= tell_waiters(t->sub, cpu, *n, t->flags);
	return t->full;
}

/* Is there no room for so many records? In a ring that is empty there has to be. */
static __always_inline bool is_full(__u32 n)
{
	__u64 used = bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA);

	return used && used + (n + 1ULL) * (sizeof(struct kd_rec_pending) + 8) >
			       bpf_ringbuf_query(&ring, BPF_RB_RING_SIZE);
}

/* Twice with the same result is taken for exact; and in a lock that is free nobody waits. */
static __always_inline int see_queue(__u64 lock, __u32 sub, bool sure)
{
	struct rss_queue *q = &queue;
	struct rss_tell t = { .sub = sub };
	__u32 first = count_queue(lock), word = q->word;
	__u32 second = count_queue(lock), n = !!(q->word & LOCK_PENDING);

	if (q->cut || (LOCK_TAIL_CPU(q->word) && !second))
		t.flags = KD_PENDING_TRUNCATED;
	else if (word >> 8 == q->word >> 8 && first == second && (sure || q->used || q->word >> 8))
		t.flags = KD_PENDING_EXACT;
	n += LOCK_TAIL_CPU(q->word) && !second;
	if (is_full(second + n))
		return 1;
	if (second)
		bpf_loop(percpu.cpus, tell_cpu, &t, 0);
	return t.full || tell_waiters(sub, KD_CPU_NONE, n, t.flags);
}

static __always_inline int see_tree(__u64 lock, __u32 sub)
{
	__u32 first = count_tree(lock), second = count_tree(lock);

	return tell_waiters(sub, KD_CPU_NONE, second,
			    queue.cut         ? KD_PENDING_TRUNCATED
			    : first == second ? KD_PENDING_EXACT
					      : 0);
}

/* --- where the locks are --- */

static __always_inline __u64 lock_of(__u64 css)
{
	struct cgroup_subsys *ss =
		css ? BPF_CORE_READ((struct cgroup_subsys_state *)css, ss) : NULL;

	if (!ss || !bpf_core_field_exists(ss->rstat_ss_lock))
		return 0;
	return (__u64)ss + bpf_core_field_offset(struct cgroup_subsys, rstat_ss_lock);
}

static __always_inline __u64 find_lock(__u32 unit, __u32 *sub)
{
	if (shape != RS_BY_SUBSYS) {
		*sub = KD_FL_SUB_ALL;
		return unit == RSS_BASE ? lock_global : 0;
	}
	*sub = unit == RSS_BASE     ? KD_FL_SUB_BASE
	       : unit == RSS_MEMORY ? KD_FL_SUB_MEMORY
				    : KD_FL_SUB_IO;
	return unit == RSS_BASE ? lock_base
				: lock_of(unit == RSS_MEMORY ? memory_root() : io_root());
}

/* RSS_UNITS: of no lock, but whether any was seen to have a queue. */
SEC("raw_tp")
int rss_waiters(struct kd_run_args *args)
{
	struct rss_queue *q = &queue;
	__u32 sub;
	__u64 lock = args->arg[0] < RSS_UNITS ? find_lock(args->arg[0], &sub) : 0;
	int full = 0;

	q->cut = q->used = 0;
	q->deadline = bpf_ktime_get_ns() + WAITERS_NS;
	if (args->arg[0] >= RSS_UNITS && lock_form == RSS_LOCK_QUEUE)
		count_queue(0);
	if (lock && lock_form == RSS_LOCK_MUTEX)
		full = see_tree(lock, sub);
	else if (lock)
		full = see_queue(lock, sub, args->arg[1]);
	return full | q->used << 1;
}

/* 1: a key of the kernel's (struct static_key) at that address is on. */
SEC("raw_tp")
int rss_key(struct kd_run_args *args)
{
	return (int)word_at(args->arg[0]) > 0;
}

#endif
