/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * call_rcu_short.bpf.h - the other end as nearly all callbacks come to it: at the front of the FIFO of
 * the CPU that runs them, in the same bucket of the same series as the last of their function there.
 * Those are counted in a cell of that CPU, which is added to the series when the bucket changes, and by
 * each tick: no CPU waits for another's line of the cache. A part of call_rcu.bpf.c.
 *
 * What comes seldom is in functions that are called last, so that nothing has to be kept for afterwards.
 */
#ifndef KDEFER_CALL_RCU_SHORT_BPF_H
#define KDEFER_CALL_RCU_SHORT_BPF_H

/* The callback is not at the front of this CPU's FIFO, or there is none: the end of a batch. */
static __noinline int end_other(struct cr_cpu *st, __u64 head)
{
	__u32 here = bpf_get_smp_processor_id();

	if (!head)
		count_run();
	else
		end_elsewhere(st, here, st, here, head);
	return 0;
}

#define CELL_COUNT ((1ULL << CR_CELL_BUCKET) - 1)
#define CELL_PLACES ((CR_CELLS - 1) * sizeof(struct cr_cell))

/* A series can be in two cells, by bits of its function's address, which begins at a multiple of 16. */
static __always_inline struct cr_cell *cell_first(struct cr_cpu *st, __u64 key)
{
	return (void *)st->cell + (key << 2 & CELL_PLACES);
}

static __always_inline struct cr_cell *cell_second(struct cr_cpu *st, __u64 key)
{
	return (void *)st->cell + (key >> 4 & CELL_PLACES);
}

/* What was counted becomes part of the series; `n` is what was in the word of that name. */
static __always_inline void cell_add(struct cr_cell *c, __u64 n, __u64 sum)
{
	struct series_slot *s = series_slot_keyed(c->slot);

	if (!s)
		return;
	if (n & CELL_COUNT)
		__sync_fetch_and_add(&s->bucket[n >> CR_CELL_BUCKET & (SERIES_ROOM - 1)],
				     n & CELL_COUNT);
	if (sum)
		__sync_fetch_and_add(&s->sum, sum);
}

/*
 * For another series: by the CPU whose cell it is, where it stands in the way more than it serves, and
 * at most once for so many waits. False: it stays.
 */
#define CELL_PATIENCE 64
#define CELL_GIVES_WAY 0xffff

static __noinline int cell_take(struct cr_cell *c)
{
	if (!c)
		return 0;
	if (!c->key)
		return 1;
	if (c->passed_over < CELL_GIVES_WAY)
		c->passed_over++;
	if (c->passed_over <= 2 * (c->n & CELL_COUNT) + CELL_PATIENCE ||
	    __sync_lock_test_and_set(&c->busy, 1))
		return 0;
	c->key = 0;
	cell_add(c, __sync_lock_test_and_set(&c->n, 0), __sync_lock_test_and_set(&c->sum, 0));
	barrier();
	*(volatile __u32 *)&c->busy = 0;
	return 1;
}

/* The tick, from afar. The sum first: a series is sent when that of it has changed. */
static long cell_drain(__u32 i, __u32 *unused)
{
	struct cr_cpu *st = cpu_state(i / CR_CELLS);
	struct cr_cell *c;
	__u64 sum;

	if (!st)
		return 1;
	c = &st->cell[i & (CR_CELLS - 1)];
	if (!c->key || __sync_lock_test_and_set(&c->busy, 1))
		return 0; /* the one at it has the new interval in mind */
	*(volatile __u64 *)&c->within_width = 0;
	*(volatile __u64 *)&c->width = 0;
	sum = __sync_lock_test_and_set(&c->sum, 0);
	cell_add(c, __sync_fetch_and_and(&c->n, ~CELL_COUNT), sum);
	barrier();
	*(volatile __u32 *)&c->busy = 0;
	return 0;
}

/* The value of a word of this interval; that of another tells nothing. */
static __always_inline __u64 value_of(__u64 word, __u64 now, __u64 otherwise)
{
	return word >> TAG_SHIFT == (now & 0xfff) ? word & VALUE_MASK : otherwise;
}

/* The cell is of the bucket of this wait from here on; `n` waits of it were counted there. */
static __always_inline void cell_turn(struct cr_cell *c, __u64 waited, __u64 n, __u64 now)
{
	__u64 bucket = hist_index(waited);
	__u32 shift = bucket < 2 * KD_HIST_SUB ? 0 : (bucket >> KD_HIST_SUB_BITS) - 1;
	__u64 low = waited >> shift << shift, high = low + (1ULL << shift); /* not included */
	__u64 within = c->within, without = within + c->within_width;

	if (high > without)
		high = without;
	if (low < within)
		low = within;
	cell_add(c, __sync_lock_test_and_set(&c->n, bucket << CR_CELL_BUCKET | n), 0);
	c->low = low;
	__sync_lock_test_and_set(&c->width, high > low ? high - low : 0);
	if (*(volatile __u64 *)&epoch != now)
		c->width = c->within_width = 0; /* a tick may have been here before us */
}

/*
 * Which waits of this series need no more than to be counted, in interval `now`. Extremes and the
 * floor of the ten worst only become more extreme while it lasts.
 */
static __always_inline void cell_bound(struct cr_cpu *st, struct cr_cell *c, struct series_slot *s,
				       __u64 now)
{
	__u64 max = value_of(*(volatile __u64 *)&s->extreme[now & 1].max, now, 0);
	__u64 min = VALUE_MASK - value_of(*(volatile __u64 *)&s->extreme[now & 1].min, now, 0);
	__u64 tenth = value_of(st->floor, now, 0);

	if (max > tenth)
		max = tenth;
	c->within = min;
	c->within_width = max >= min ? max - min + 1 : 0;
}

/* So that the short way counts the next wait of this series that is alike. */
static __noinline int cell_note(struct cr_cpu *st, __u32 slot, __u64 key, __u64 waited, __u64 now)
{
	struct series_slot *s = series_slot_keyed(slot);
	struct cr_cell *c;

	if (!st || !s)
		return 0;
	c = cell_first(st, key);
	if (c->key != key) {
		struct cr_cell *second = cell_second(st, key);

		if (second->key == key || (!cell_take(c) && cell_take(second)))
			c = second;
		else if (c->key)
			return 0;
	}
	if (c->key != key) {
		c->slot = slot;
		c->passed_over = 0;
		barrier();
		*(volatile __u64 *)&c->key = key;
	}
	cell_bound(st, c, s, now);
	cell_turn(c, waited, 0, now);
	return 0;
}

/* It has no cell, or is not one of those that its cell counts. */
static __noinline int end_anew(struct cr_cpu *st, __u64 key, __u64 waited)
{
	__u32 here = bpf_get_smp_processor_id(), slot = slot_find(key);
	__u64 now = epoch;

	if (!st || !add(st, here, slot, waited, now, 0))
		return 0;
	if ((__s64)(tagged(now, waited) - st->floor) > 0)
		worst_insert(&st->floor, here, waited, (__u64)slot << 32 | here);
	cell_note(st, slot, key, waited, now);
	return 0;
}

/* Not of the bucket of the last: the only thing to be noted, mostly. */
static __noinline int end_turn(struct cr_cpu *st, struct cr_cell *c, __u64 key, __u64 waited)
{
	__u64 now = epoch;

	if (!c)
		return 0;
	barrier();
	if (waited - c->within >= c->within_width)
		return end_anew(st, key, waited);
	cell_turn(c, waited, 1, now);
	__sync_fetch_and_add(&c->sum, waited);
	return 0;
}

static __always_inline int end_plain(struct cr_cpu *st, __u64 head, __u64 ended)
{
	__u64 front = st->front, key, waited;
	struct cr_entry *e = &st->fifo[front & (CR_DEPTH - 1)];
	struct cr_cell *c;

	barrier_var(e);
	if (e->head != head || front == *(volatile __u64 *)&st->tail)
		return end_other(st, head);
	key = e->key;
	waited = ended - e->when;
	barrier(); /* the entry can be filled anew from here on */
	*(volatile __u64 *)&st->front = front + 1;
	c = cell_first(st, key);
	if (c->key != key) {
		c = cell_second(st, key);
		if (c->key != key)
			return end_anew(st, key, waited);
	}
	if (waited - c->low >= c->width)
		return end_turn(st, c, key, waited);
	__sync_fetch_and_add(&c->n, 1);
	__sync_fetch_and_add(&c->sum, waited);
	return 0;
}

/*
 * Not all callbacks are followed: few instructions for the end of one that is not. It is neither at the
 * front nor next; should the front have lost its end, that is found out now and then.
 */
static __noinline int end_thin(struct cr_cpu *st, struct rcu_cblist *rclp)
{
	__u64 front, head, next;

	if (!st || !st->list)
		return 0;
	front = st->front;
	head = (__u64)rclp->head;
	if (head == st->fifo[front & (CR_DEPTH - 1)].head || nr_spilled ||
	    head == st->fifo[(front + 1) & (CR_DEPTH - 1)].head || !head)
		return end_special(rclp);
	next = st->left_ended + 1;
	if ((__s64)(st->left_out + st->left_moved - next) < 0 || !(next & (SURPLUS_EACH - 1)))
		return end_special(rclp);
	st->left_ended = next;
	return 0;
}

SEC("fentry/rcu_cblist_dequeue")
int kd_dequeue(__u64 *ctx)
{
	__u64 ended, cpu = bpf_get_smp_processor_id();
	struct rcu_cblist *rclp;
	struct cr_cpu *st;

	barrier_var(cpu);
	if (cpu >= plain_cpus)
		return end_special((void *)ctx[0]);
	st = cpu_at(cpu, CR_CPU_BYTES(CR_DEPTH));
	if (!st->ends_plain)
		return end_thin(st, (void *)ctx[0]);
	ended = bpf_ktime_get_ns();
	rclp = (void *)ctx[0];
	return end_plain(st, (__u64)rclp->head, ended);
}

#endif
