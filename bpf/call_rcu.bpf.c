/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * call_rcu.bpf.c - how long RCU callbacks wait, by function: from joining their CPU's list to being
 * taken off it to be run.
 *
 * The two ends are paired without a hash. A CPU's callbacks leave its list in the order in which
 * they joined it, so the hand-over pushes {head, function, time} to a FIFO of that CPU and the other
 * end looks at the FIFO's front: same head, same callback. Both ends are fentry programs; the hand-over
 * runs with interrupts off in list order, the other end once for each callback.
 *
 * What breaks the order is repaired where it shows:
 *  - an end that we did not see leaves its entry at the front. The list's own length says how many
 *    entries can be there at most, and what is too much is the oldest; a few entries are looked
 *    ahead besides;
 *  - a FIFO that is full uses one shared preallocated table by head;
 *  - a CPU that goes offline has its callbacks merged into another CPU's list: its FIFO is moved to
 *    the shared table just before.
 *
 * Where fewer callbacks are followed for a time (--budget), each of these stands for as many as there
 * were then, and how many were left out is known for each list: so many ends are nobody's. They are
 * chosen in turn and not by the head's address, since the same few heads come again and again.
 *
 * What was not measured is counted by the kernel, not by us: rcu_data.n_cbs_invoked says how many
 * callbacks ran. Less those measured and those of rcu_barrier(), the rest waited already when we
 * began, or lost one of its ends. So rcu_cblist_dequeue(), which SRCU and RCU Tasks use too, need
 * not tell whose callback it is: a head that is in no FIFO is none of ours.
 *
 * An offloaded CPU's list is emptied by a kthread that may run, and move to, anywhere. Only where
 * there is such a CPU, rcu_segcblist_extract_done_cbs() is hooked too: it names a list and the local
 * list it is emptied to, which is the argument of the dequeue.
 *
 * Nothing here allocates, and every loop is bounded.
 */
#define SERIES_DIRECT
#include "cblist.bpf.h"
#include "tick.bpf.h"
#include "worst.bpf.h"
#include "flavour.bpf.h"
#include "kdefer.bpf.h"
#include "call_rcu.h"

const volatile __u32 fifo_mask;    /* entries of a CPU's FIFO, less one */
const volatile __u32 cpu_bytes;    /* of a CPU's state and FIFO */
const volatile __u32 offload;      /* some CPU may be offloaded */
const volatile __u32 lazy_exists;  /* the lazy wish is seen and means something */
const volatile __u32 sample_below; /* 0: all; else follow heads whose hash is below it */
const volatile __u32 thinnable;    /* that share may change, of RCU's own callbacks */
const volatile __u32 nr_cpus = 1;
const volatile __u32 flavours = 1 << KD_FL_RCU; /* those asked for */
/* Series by CPU exist for these only: how many, the rank of each, and back. */
const volatile __u32 nr_flavours = 1;
const volatile __u8 flavour_rank[8], flavour_ranked[8];
/*
 * CPUs for which the short way can be taken: all where none of more_slots, offload, lazy_exists and
 * sample_below is set, and tables are as large as CR_DEPTH and CR_SLOTS say; else none.
 */
const volatile __u32 plain_cpus = 1;

/*
 * All CPUs' states, each with its FIFO, in one value that needs no look-up: user space gives this
 * section a map of that size.
 */
__u64 cpu_space[1] SEC(".data.cpus");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, __u64); /* head */
	__type(value, struct cr_away);
} spill SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, __u64);   /* &rcu_data.cblist */
	__type(value, __u32); /* CPU */
} lists SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, __u64);   /* &rcu_data.barrier_head */
	__type(value, __u32); /* CPU */
} barriers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, __u64);   /* local list of a batch that runs away from its CPU */
	__type(value, __u32); /* CPU whose list it is */
} batches SEC(".maps");

__u64 nr_spilled;  /* entries now in the spill table */
__u64 others_done; /* callbacks of the other flavours matched there */
__u64 spill_done;  /* matched there */
__u64 nr_kdefers;  /* callbacks of Tasks and Tasks Trace that a kdefer handed over */
__u64 nr_barriers; /* callbacks of rcu_barrier() seen */
__u64 strangers;   /* ends of heads that nobody knows */

static __always_inline struct cr_cpu *cpu_at(__u64 cpu, __u64 bytes)
{
	void *space = cpu_space;

	barrier_var(space);
	return space + cpu * bytes;
}

/* NULL: there is no such CPU. */
static __always_inline struct cr_cpu *cpu_state(__u32 cpu)
{
	__u64 at = cpu;

	barrier_var(
		at); /* what is compared is what is multiplied, or the verifier forgets the bound */
	return at < nr_cpus ? cpu_at(at, cpu_bytes) : NULL;
}

static __always_inline void count_lost(struct cr_cpu *st, enum kd_lost what, __u64 n)
{
	__sync_fetch_and_add(&st->lost[what], n);
}

/* --- the hand-over --- */

/*
 * The top bits of a function's address are always set. In a key the first, cleared, says "lazy", and
 * the three after it are changed by the number of the flavour: none for RCU.
 */
#define KEY_LAZY (1ULL << 63)
#define KEY_FLAVOUR_SHIFT 60
#define KEY_FLAVOUR_MASK 7

static __always_inline __u32 slot_flavour(__u32 slot)
{
	if (slot < SLOTS_REST)
		return KD_FL_RCU + slot;
	return KD_FL_RCU +
	       (~(slot_key[slot & (SLOTS_MOST - 1)] >> KEY_FLAVOUR_SHIFT) & KEY_FLAVOUR_MASK);
}

/* By the head's address, so that both ends decide alike and nothing needs to be remembered. */
static __always_inline int sampled_out(__u64 head)
{
	return ((__u32)(head >> 3) * 0x9e3779b1U) >= sample_below;
}

/*
 * A share that may change: chosen in turn, by multiples of the golden ratio, which are spread evenly
 * whichever of the hand-overs one looks at: callbacks of several functions often take turns.
 */
static __always_inline bool leave_out(struct cr_cpu *st)
{
	__u64 pick;

	if (!thinnable)
		return false;
	pick = (__u32)st->pick + 0x9e3779b1U;
	pick = (__u32)pick;
	st->pick = pick;
	if (pick < st->below)
		return false;
	st->left_out++; /* nobody else does: interrupts are off */
	return true;
}

/* `flavour`, and the shift from bit 8 on: a subprogram has five arguments. */
static __noinline int spill_push(struct cr_cpu *st, __u64 head, __u64 when, __u32 cpu,
				 __u32 flavour)
{
	struct cr_away away = { .when = when, .cpu = cpu, .flavour = flavour };
	long err;

	if (!st)
		return 0;
	__sync_fetch_and_add(&st->spilled, 1);
	if (nr_spilled && bpf_map_lookup_elem(&spill, &head)) {
		/* Its end was never seen: the new life of this head is the one that counts. */
		count_lost(st, KD_LOST_UNMATCHED_BEGIN, 1);
		bpf_map_update_elem(&spill, &head, &away, BPF_EXIST);
		return 0;
	}
	err = bpf_map_update_elem(&spill, &head, &away, BPF_NOEXIST);
	if (err)
		count_lost(st, KD_LOST_TABLE_FULL, 1);
	else
		__sync_fetch_and_add(&nr_spilled, 1);
	return 0;
}

static __always_inline __u64 lazy_bit(struct cr_cpu *st, __u64 head)
{
	if (!lazy_exists || !st->offloadable)
		return 0;
	if (st->hint_head != head) {
		count_lost(st, KD_LOST_LAZY_UNKNOWN, 1);
		return 0;
	}
	return st->hint_lazy ? KEY_LAZY : 0;
}

/* Has the FIFO room? Asked where the tail has come as far as there was when it was asked last. */
static __always_inline bool has_room(struct cr_cpu *st, __u64 tail)
{
	if (tail != st->limit)
		return true;
	st->limit = *(volatile __u64 *)&st->front + fifo_mask + 1;
	return tail != st->limit;
}

/* What is put there is whole before it can be seen. */
static __always_inline void put(struct cr_cpu *st, __u64 tail, struct cr_entry *e, __u64 head,
				__u64 key)
{
	e->head = head;
	e->key = key;
	e->when = bpf_ktime_get_ns();
	if (thinnable)
		e->when = (e->when & VALUE_MASK) | st->shift << TAG_SHIFT;
	barrier();
	*(volatile __u64 *)&st->tail = tail + 1;
}

static __noinline int push_followed(struct cr_cpu *st, struct callback_head *rhp)
{
	__u64 head = (__u64)rhp, key, tail;

	if (!st)
		return 0;
	if (sample_below && sampled_out(as_number(&st->scratch[SCRATCH_BEGIN], head))) {
		count_lost(st, KD_LOST_SAMPLED_OUT, 1);
		count_run();
		return 0;
	}
	key = as_number(&st->scratch[SCRATCH_BEGIN], (__u64)rhp->func) ^ lazy_bit(st, head);
	tail = st->tail;
	if (has_room(st, tail)) {
		put(st, tail, &st->fifo[tail & fifo_mask], head, key);
		return 0;
	}
	spill_push(st, head, (__u64)slot_find(key) << TAG_SHIFT | (bpf_ktime_get_ns() & VALUE_MASK),
		   bpf_get_smp_processor_id(), KD_FL_RCU | (__u32)st->shift << 8);
	count_run();
	return 0;
}

/* Runs in list order, interrupts off, on the list's own CPU. */
static __noinline int push(struct cr_cpu *st, struct callback_head *rhp)
{
	if (!st || leave_out(st))
		return 0;
	return push_followed(st, rhp);
}

/* Of a list that is another one, or of which not all are followed: few instructions where one is not. */
static __noinline int enqueue_thin(struct cr_cpu *st, struct rcu_segcblist *rsclp,
				   struct callback_head *rhp)
{
	if (!st)
		return 0;
	if ((__u64)rsclp != st->list) {
		count_run();
		return 0;
	}
	if (leave_out(st))
		return 0;
	return push_followed(st, rhp);
}

static __noinline int enqueue_special(struct rcu_segcblist *rsclp, struct callback_head *rhp)
{
	struct cr_cpu *st = cpu_state(bpf_get_smp_processor_id());

	if (st && (__u64)rsclp == st->list)
		return push(st, rhp);
	count_run(); /* the list of something else */
	return 0;
}

/*
 * Every instruction here and in kd_dequeue() is paid for each callback: what is always so has its
 * numbers in the instructions, and all else is apart.
 */
SEC("fentry/rcu_segcblist_enqueue")
int kd_enqueue(__u64 *ctx)
{
	__u64 cpu = bpf_get_smp_processor_id(), tail;
	struct callback_head *rhp;
	struct cr_entry *e;
	struct cr_cpu *st;

	barrier_var(cpu);
	if (cpu >= plain_cpus)
		return enqueue_special((void *)ctx[0], (void *)ctx[1]);
	st = cpu_at(cpu, CR_CPU_BYTES(CR_DEPTH));
	if (ctx[0] != st->plain)
		return enqueue_thin(st, (void *)ctx[0], (void *)ctx[1]);
	tail = st->tail;
	rhp = (void *)ctx[1];
	if (tail == st->limit)
		return push_followed(st, rhp);
	/*
	 * Not whole before it is counted: interrupts are off, and of this CPU nobody takes entries
	 * elsewhere while it runs.
	 */
	st->tail = tail + 1;
	e = &st->fifo[tail & (CR_DEPTH - 1)];
	barrier_var(e);
	e->head = (__u64)rhp;
	e->key = (__u64)rhp->func;
	e->when = bpf_ktime_get_ns();
	return 0;
}

/* Offloaded CPUs: under load callbacks first join the bypass list, which keeps the order. */
SEC("fentry/rcu_cblist_enqueue")
int BPF_PROG(kd_bypass, struct rcu_cblist *rclp, struct callback_head *rhp)
{
	struct cr_cpu *st = cpu_state(bpf_get_smp_processor_id());

	if (st && st->list && (__u64)rclp == st->bypass)
		push(st, rhp);
	else
		count_run();
	return 0;
}

/* A flush that brings a callback along puts it on the emptied bypass list. */
SEC("fentry/rcu_cblist_flush_enqueue")
int BPF_PROG(kd_bypass_flush, struct rcu_cblist *drclp, struct rcu_cblist *srclp,
	     struct callback_head *rhp)
{
	struct cr_cpu *st = cpu_state(bpf_get_smp_processor_id());

	if (rhp && st && st->list && (__u64)srclp == st->bypass)
		push(st, rhp);
	else
		count_run();
	return 0;
}

/* Only where lazy callbacks exist: the wish is an argument here and nowhere later. */
SEC("fentry/__call_rcu_common")
int BPF_PROG(kd_lazy_wish, struct callback_head *head)
{
	struct cr_cpu *st = cpu_state(bpf_get_smp_processor_id());

	count_run();
	if (!st)
		return 0;
	st->hint_lazy = ctx[2] & 0xff; /* bool lazy_in */
	st->hint_head = (__u64)head;
	return 0;
}

#include "call_rcu_others.bpf.h"

/* --- the batch, where CPUs are offloaded --- */

SEC("fentry/rcu_segcblist_extract_done_cbs")
int BPF_PROG(kd_batch, struct rcu_segcblist *rsclp, struct rcu_cblist *rclp)
{
	struct cr_cpu *owner, *st = cpu_state(bpf_get_smp_processor_id());
	__u64 local = (__u64)rclp, list = (__u64)rsclp;
	__u32 *cpu;

	count_run();
	if (!st)
		return 0;
	if (list == st->list) {
		st->rclp = local;
		if (!st->offloadable)
			return 0; /* in softirq, or a kthread that cannot leave this CPU */
	} else if (st->rclp == local)
		st->rclp = 0; /* another list's batch at the same place on the stack */
	cpu = bpf_map_lookup_elem(&lists, &list);
	owner = cpu ? cpu_state(*cpu) : 0;
	if (owner && owner->list)
		bpf_map_update_elem(&batches, &local, cpu, BPF_ANY);
	else
		bpf_map_delete_elem(&batches, &local);
	return 0;
}

#include "call_rcu_end.bpf.h"
#include "call_rcu_short.bpf.h"

/* --- CPU hotplug --- */

struct move {
	struct cr_cpu *st;
	__u32 cpu;
	__u64 front;
};

static long move_one(__u32 i, struct move *m)
{
	struct cr_entry *e = &m->st->fifo[(m->front + i) & fifo_mask];

	spill_push(m->st, e->head, (__u64)slot_find(e->key) << TAG_SHIFT | (e->when & VALUE_MASK),
		   m->cpu, KD_FL_RCU | shift_at(m->st, m->front + i) << 8);
	__sync_fetch_and_add(&m->st->spilled, -1); /* it was counted when it was pushed */
	return 0;
}

/* In task context on another CPU, before the dead CPU's callbacks are merged into this one's list. */
SEC("fentry/rcutree_migrate_callbacks")
int BPF_PROG(kd_migrate, int cpu)
{
	struct move m = { .st = cpu_state(cpu), .cpu = cpu };
	struct cr_cpu *here = cpu_state(bpf_get_smp_processor_id());
	__u64 left;

	count_run();
	if (!m.st || !here || !m.st->list || m.st->offloadable)
		return 0;
	m.front = m.st->front;
	bpf_loop(m.st->tail - m.front, move_one, &m, 0);
	m.st->moved += m.st->tail - m.front;
	m.st->front = m.st->tail;
	left = left_waiting(m.st);
	m.st->left_moved -= left;
	here->left_moved += left;
	return 0;
}

#include "call_rcu_kfree.bpf.h"
#include "call_rcu_run.bpf.h"
