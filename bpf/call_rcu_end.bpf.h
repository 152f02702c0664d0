/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * call_rcu_end.bpf.h - the other end: which hand-over it belongs to, wherever that is, and what is counted
 * of it. A part of call_rcu.bpf.c.
 */
#ifndef KDEFER_CALL_RCU_END_BPF_H
#define KDEFER_CALL_RCU_END_BPF_H

static __always_inline __u64 waited_since(__u64 when)
{
	return (bpf_ktime_get_ns() - when) & VALUE_MASK;
}

/* Adds a wait to its series, in interval `now`; it stands for 2^shift. */
static __always_inline bool add(struct cr_cpu *st, __u32 owner_cpu, __u32 slot, __u64 waited,
				__u64 now, __u32 shift)
{
	struct series_slot *s;

	if (waited >> (TAG_SHIFT - 1)) {
		count_lost(st, KD_LOST_CLOCK, 1);
		return false;
	}
	s = series_slot_keyed(slot);
	if (!s)
		return false;
	series_add_for(s, now, waited, shift);
	if (more_slots) {
		__u32 idx = owner_cpu * nr_flavours + flavour_rank[slot_flavour(slot) & 7];

		s = bpf_map_lookup_elem(&slots, &idx);
		if (s)
			series_add_for(s, now, waited, shift);
	}
	return true;
}

static __always_inline void finish(struct cr_cpu *st, __u32 here, __u32 owner_cpu, __u64 when,
				   __u32 shift)
{
	__u64 waited = waited_since(when), now = epoch;
	__u32 slot = when >> TAG_SHIFT;

	if (add(st, owner_cpu, slot, waited, now, shift) &&
	    (__s64)(tagged(now, waited) - st->floor) > 0)
		worst_insert(&st->floor, here, waited, (__u64)slot << 32 | owner_cpu);
}

/* Takes an entry: its slot and time in the form of the table. */
static __always_inline __u64 take(struct cr_cpu *owner, __u64 pos)
{
	struct cr_entry *e = &owner->fifo[pos & fifo_mask];
	__u64 when = e->when & VALUE_MASK, key = e->key;

	owner->front = pos + 1;
	return when | (__u64)slot_find(key) << TAG_SHIFT;
}

static __always_inline void drop(struct cr_cpu *owner, __u64 front, __u64 n)
{
	owner->dropped += n;
	owner->front = front + n;
}

/* How many callbacks the entry at this place stands for: 2^this. Asked before it is taken. */
static __always_inline __u32 shift_at(struct cr_cpu *owner, __u64 pos)
{
	return thinnable ? owner->fifo[pos & fifo_mask].when >> TAG_SHIFT & 15 : 0;
}

/* What is known of a callback that was not at the front, beside its time. */
struct found {
	__u32 cpu;   /* of the hand-over */
	__u32 shift; /* it stands for 2^shift */
};

/* Takes a head out of the table: its `when`. 0: not there. */
static __noinline __u64 spill_take(__u64 head, struct found *f)
{
	struct cr_away *found = bpf_map_lookup_elem(&spill, &head);
	__u32 flavour;
	__u64 when;

	if (!found || !f)
		return 0;
	when = found->when;
	f->cpu = found->cpu;
	flavour = found->flavour & 0xff;
	f->shift = found->flavour >> 8 & 15;
	if (bpf_map_delete_elem(&spill, &head))
		return 0;
	__sync_fetch_and_add(&nr_spilled, -1);
	__sync_fetch_and_add(flavour == KD_FL_RCU ? &spill_done : &others_done, 1);
	return when;
}

#define LOOK_AHEAD 4

/* A few entries behind the front: what comes before it has lost its end. */
static __noinline __u64 look_ahead(struct cr_cpu *owner, __u64 head, struct found *f)
{
	__u64 front, waiting, i;

	if (!owner || !f)
		return 0;
	front = owner->front;
	waiting = *(volatile __u64 *)&owner->tail - front;
	for (i = 1; i <= LOOK_AHEAD; i++)
		if (i < waiting && owner->fifo[(front + i) & fifo_mask].head == head) {
			drop(owner, front, i);
			f->shift = shift_at(owner, front + i);
			return take(owner, front + i);
		}
	return 0;
}

/* Callbacks on this list, or taken off it by a batch, that were left out when they were handed over. */
static __always_inline __u64 left_waiting(struct cr_cpu *owner)
{
	return thinnable ? owner->left_out + owner->left_moved - owner->left_ended : 0;
}

static __always_inline __u64 surplus(__u64 n, __u64 most)
{
	return n < most ? n : most;
}

/* More entries than callbacks: the oldest lost their end. (A hand-over elsewhere may be half done.) */
static __noinline __u64 drop_surplus(struct cr_cpu *owner, __u64 head, struct found *f)
{
	__u64 front, waiting, len;

	if (!owner || !f)
		return 0;
	front = owner->front;
	waiting = *(volatile __u64 *)&owner->tail - front;
	len = cblist_len(owner->list) + offload;
	waiting += left_waiting(owner);
	if (waiting <= len)
		return 0;
	drop(owner, front, surplus(waiting - len, *(volatile __u64 *)&owner->tail - front));
	front = owner->front;
	if (!len || owner->fifo[front & fifo_mask].head != head)
		return 0;
	f->shift = shift_at(owner, front);
	return take(owner, front);
}

#define SURPLUS_EACH 256 /* ends that were left out, between looks for entries that lost theirs */

/*
 * As many ends as there were such hand-overs are theirs, whichever: the count is right when all have
 * ended.
 */
static __always_inline bool was_left_out(struct cr_cpu *owner)
{
	if ((__s64)left_waiting(owner) <= 0)
		return false;
	owner->left_ended++;
	return true;
}

/* The front is not this head: returns its `when` if we have it elsewhere, else 0. */
static __noinline __u64 search(struct cr_cpu *owner, __u64 head, struct found *f)
{
	bool left_out;
	__u64 when;

	if (!owner || !f)
		return 0;
	when = nr_spilled ? spill_take(head, f) : 0;
	if (when)
		return when;
	when = look_ahead(owner, head, f);
	if (when)
		return when;
	left_out = was_left_out(owner);
	if (left_out && (owner->left_ended & (SURPLUS_EACH - 1)))
		return 0;
	when = drop_surplus(owner, head, f);
	if (when || left_out)
		return when;
	if (bpf_map_lookup_elem(&barriers, &head))
		__sync_fetch_and_add(&nr_barriers, 1);
	else
		__sync_fetch_and_add(&strangers, 1);
	return 0;
}

/* Offloaded CPUs: whose list is emptied here. 0: none that we follow. */
static __noinline __u32 batch_owner(__u64 local)
{
	__u32 *cpu = bpf_map_lookup_elem(&batches, &local);

	return cpu ? *cpu : ~0U;
}

/* Entries of the FIFO that were matched. */
static __always_inline __u64 taken(struct cr_cpu *owner)
{
	return owner->front - owner->dropped;
}

/* Not at the front of its FIFO: kept out of the way of those that are, which is nearly all. */
static __noinline int end_elsewhere(struct cr_cpu *st, __u32 here, struct cr_cpu *owner, __u32 cpu,
				    __u64 head)
{
	struct found f = { .cpu = cpu };
	__u64 when, matched, left_ended;

	if (!st || !owner)
		return 0;
	matched = taken(owner);
	left_ended = owner->left_ended;
	when = search(owner, head, &f);
	/* Of those that took an entry of the FIFO, or that were left out, these counts tell. */
	if (taken(owner) == matched && owner->left_ended == left_ended)
		count_run();
	if (when)
		finish(st, here, f.cpu, when, f.shift & 15);
	return 0;
}

/* The end of one callback of `owner`, whose state and CPU these are; `st` is the CPU that runs. */
static __always_inline void end_one(struct cr_cpu *st, __u32 here, struct cr_cpu *owner,
				    __u32 owner_cpu, __u64 head)
{
	__u64 front = owner->front;

	if (owner->fifo[front & fifo_mask].head != head || front == *(volatile __u64 *)&owner->tail)
		end_elsewhere(st, here, owner, owner_cpu, head);
	else {
		__u32 shift = shift_at(owner, front);

		finish(st, here, owner_cpu, take(owner, front), shift);
	}
}

static __noinline int end_special(struct rcu_cblist *rclp)
{
	__u32 here = bpf_get_smp_processor_id(), owner_cpu = here;
	struct cr_cpu *st = cpu_state(here), *owner = st;
	__u64 local = (__u64)rclp, head;

	if (!st || !st->list)
		return 0;
	head = (__u64)rclp->head;
	if (!head) {
		count_run(); /* the end of the batch */
		return 0;
	}
	if (offload && local != st->rclp) {
		owner_cpu = batch_owner(local);
		owner = cpu_state(owner_cpu);
		if (!owner || !owner->list) {
			count_run();
			return 0;
		}
	}
	if (sample_below && sampled_out(as_number(&st->scratch[SCRATCH_END], head))) {
		st->sampled_done++;
		return 0;
	}
	end_one(st, here, owner, owner_cpu, head);
	return 0;
}

#endif
