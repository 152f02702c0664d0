/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * memalloc.bpf.c - BPF memory: how long freed batches wait for their grace periods, and how long the
 * work takes that refills the lists of a CPU or gives back what they hold too much of.
 *
 * A batch is handed over with the one head that its cache has for that stage, and not again before
 * the callback was called: the head's address pairs both ends. Of the stages
 *
 *   up to 6.5   Tasks Trace, then (6.1) RCU with the same head; both before memory goes back to slab
 *   since 6.6   RCU, for what may be used again only then; Tasks Trace, before it goes back
 *
 * The functions that allocate and free may not be traced. Their lists are refilled and drained by
 * bpf_mem_refill(), an interrupt of its own on the CPU whose lists they are.
 *
 * These programs run inside the allocator: nothing here allocates.
 */
#include "memalloc_maps.bpf.h"
#include "tick.bpf.h"
#include "totals.bpf.h"
#include "worst.bpf.h"
#include "memalloc.h"

const volatile __u32 kinds;      /* bits of enum ma_kind that are asked for */
const volatile __u64 sample = 1; /* follow 1 of N batches */
const volatile __u32 cpus;       /* numbers of CPUs are below it */
const volatile __u32 by_cpu;     /* a series for each CPU and kind, behind the others */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, __u64); /* struct callback_head */
	__type(value, struct ma_open);
} open SEC(".maps");

/* By user space those that were there, by a program those that are made; emptied when they go. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, __u64); /* base of a cache */
	__type(value, struct ma_owner);
} owners SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, __u32); /* serial */
	__type(value, struct ma_map);
} names SEC(".maps");

/* A refill under way: one at a time on a CPU. */
struct ma_work {
	__u64 when;
	__u32 kind;
	int free;   /* objects at hand when it began */
	__u32 bare; /* then no freed object was within its reach: what comes is from slab */
	__u32 pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ma_work);
} work SEC(".maps");

__u32 serials;
__u64 gained_slab, gained_recycled, gained_either, drained; /* objects */
struct worst_bin bins[MA_LISTS];

/* The callbacks, by symbol, or as they were seen to be called where symbols are hidden. */
extern const void __free_by_rcu __ksym __weak;
extern const void __free_rcu __ksym __weak;
extern const void __free_rcu_tasks_trace __ksym __weak;
__u64 seen_by_rcu, seen_free, seen_trace;

static __always_inline void count(__u64 *what)
{
	__sync_fetch_and_add(what, 1);
}

static __always_inline bool measured(__u64 when)
{
	__u64 from = *(volatile __u64 *)&since;

	return from && when >= from;
}

static __always_inline __u64 argument(__u64 *ctx, __u32 n)
{
	__u64 arg = 0;

	bpf_get_func_arg(ctx, n, &arg);
	return arg;
}

/* --- whose --- */

struct search {
	__u64 cache;
	struct ma_owner *owner;
};

static long try_cpu(__u32 cpu, struct search *s)
{
	__u64 *distance = bpf_map_lookup_elem(&distances, &cpu), base;

	if (!distance)
		return 1;
	base = s->cache - *distance;
	s->owner = bpf_map_lookup_elem(&owners, &base);
	return s->owner != NULL;
}

/* This CPU's, but that what another CPU has freed may be given to this one to hand over. */
static __noinline __u64 key_of(__u64 cache, __u32 kind)
{
	struct bpf_mem_cache *c = (void *)cache;
	struct search s = { .cache = cache };
	__u64 size;

	if (!try_cpu(bpf_get_smp_processor_id(), &s) && (kind == MA_RCU || kind == MA_TRACE))
		bpf_loop(cpus, try_cpu, &s, 0);
	if (!s.owner)
		return 0;
	size = BPF_CORE_READ(c, unit_size) & MA_KEY_SIZE_MASK;
	return s.owner->serial | size << MA_KEY_SIZE_SHIFT |
	       (__u64)s.owner->global << MA_KEY_GLOBAL_SHIFT | (__u64)kind << MA_KEY_KIND_SHIFT;
}

/* --- a measurement --- */

static __noinline int add_worst(__u32 kind, __u32 slot, __u32 cpu, __u64 took)
{
	__u32 first = bpf_get_smp_processor_id(), i;

	for (i = 0; i < MA_BINS; i++) {
		__u64 at = kind * MA_BINS + ((first + i) & (MA_BINS - 1));

		barrier_var(at);
		at &= MA_LISTS - 1;
		if (!worst_shared(&bins[at], at, took, (__u64)slot << 32 | cpu))
			return 0;
	}
	count(&extremes_lost);
	return 0;
}

static __noinline int add(__u32 kind, __u64 cache, __u32 cpu, __u64 took)
{
	__u64 key = key_of(cache, kind);
	__u32 slot = key ? slot_find(key) : 0, other;
	struct series_slot *s;

	if (!slot)
		slot = kind; /* no room, or not known whose */
	s = bpf_map_lookup_elem(&slots, &slot);
	if (!s)
		return 0;
	series_add(s, epoch, took);
	if (kind != MA_EMPTY)
		add_worst(kind, slot, cpu, took);
	if (!by_cpu)
		return 0;
	other = nr_slots + cpu * MA_KINDS + kind;
	s = bpf_map_lookup_elem(&slots, &other);
	if (s)
		series_add(s, epoch, took);
	return 0;
}

/* --- batches --- */

static __noinline int begin(__u64 head, __u64 cache, __u32 kind)
{
	struct ma_open o = { .cache = cache, .kind = kind }, *old;
	__u64 now = bpf_ktime_get_ns();

	if (!(kinds >> kind & 1))
		return 0;
	old = bpf_map_lookup_elem(&open, &head);
	if (old && old->when != MA_SKIP && measured(old->when))
		count(&lost[KD_LOST_UNMATCHED_BEGIN]); /* its end was not seen */
	o.when = now;
	o.cpu = bpf_get_smp_processor_id();
	if (sample > 1 && bpf_get_prandom_u32() % sample) {
		o.when = MA_SKIP;
		if (measured(now))
			count(&lost[KD_LOST_SAMPLED_OUT]);
	} else if (measured(now)) {
		count(&begun);
	}
	if (bpf_map_update_elem(&open, &head, &o, BPF_ANY) && measured(o.when))
		count(&lost[KD_LOST_TABLE_FULL]);
	return 0;
}

static __noinline int end(__u64 head)
{
	struct ma_open *found = bpf_map_lookup_elem(&open, &head), o;
	__u64 took;

	if (!found) {
		if (since)
			count(&absent);
		return 0;
	}
	o = *found;
	bpf_map_delete_elem(&open, &head);
	if (o.when == MA_SKIP)
		return 0;
	if (!measured(o.when)) {
		if (since)
			count(&lost[KD_LOST_PRE_START]);
		return 0;
	}
	took = bpf_ktime_get_ns() - o.when;
	if (took > VALUE_MASK) {
		count(&lost[KD_LOST_CLOCK]);
		return 0;
	}
	count(&done);
	return add(o.kind, o.cache, o.cpu, took);
}

/* One stage has the name that with two is the other's. */
static __always_inline bool two_stages(void)
{
	struct bpf_mem_cache *c = 0;

	return bpf_core_field_exists(c->free_by_rcu_ttrace);
}

static __always_inline __u64 cache_of_rcu(__u64 head)
{
	return head - bpf_core_field_offset(struct bpf_mem_cache, rcu);
}

static __always_inline __u64 cache_of_trace(__u64 head)
{
	if (two_stages())
		return head - bpf_core_field_offset(struct bpf_mem_cache, rcu_ttrace);
	return cache_of_rcu(head);
}

static __always_inline bool is(__u64 func, const void *symbol, __u64 seen)
{
	return func && (func == (__u64)symbol || func == seen);
}

static __always_inline int handed_to_rcu(__u64 *ctx)
{
	__u64 head = argument(ctx, 0);

	if (is(argument(ctx, 1), &__free_by_rcu, seen_by_rcu))
		begin(head, cache_of_rcu(head), MA_RCU);
	return 0;
}

SEC("fentry/call_rcu_hurry")
int ma_hurry_in(__u64 *ctx)
{
	count_run();
	return handed_to_rcu(ctx);
}

/* Where there are no lazy callbacks there is none that hurries. */
SEC("fentry/call_rcu")
int ma_rcu_in(__u64 *ctx)
{
	count_run();
	return handed_to_rcu(ctx);
}

static __always_inline int handed_to_trace(__u64 head, __u64 func)
{
	if (is(func, &__free_rcu_tasks_trace, seen_trace) || is(func, &__free_rcu, seen_free))
		begin(head, cache_of_trace(head), MA_TRACE);
	return 0;
}

SEC("fentry/call_rcu_tasks_trace")
int ma_trace_in(__u64 *ctx)
{
	count_run();
	return handed_to_trace(argument(ctx, 0), argument(ctx, 1));
}

/* Since 7.0 Tasks Trace is an SRCU domain. */
SEC("fentry/call_srcu")
int ma_srcu_in(__u64 *ctx)
{
	count_run();
	return handed_to_trace(argument(ctx, 1), argument(ctx, 2));
}

SEC("fentry/__free_by_rcu")
int ma_by_rcu_out(__u64 *ctx)
{
	count_run();
	seen_by_rcu = bpf_get_func_ip(ctx);
	return end(argument(ctx, 0));
}

SEC("fentry/__free_rcu_tasks_trace")
int ma_trace_out(__u64 *ctx)
{
	count_run();
	seen_trace = bpf_get_func_ip(ctx);
	return end(argument(ctx, 0));
}

/* With one stage: handed on to RCU by it, unless (6.2 to 6.5) it has freed at once. */
SEC("fexit/__free_rcu_tasks_trace")
int ma_then_in(__u64 *ctx)
{
	__u64 head = argument(ctx, 0), cache = cache_of_rcu(head);
	struct bpf_mem_cache *c = (void *)cache;

	count_run();
	if (BPF_CORE_READ(c, call_rcu_in_progress.counter))
		begin(head, cache, MA_RCU);
	return 0;
}

/* The last callback: of Tasks Trace since 7.1, of RCU with one stage. */
SEC("fentry/__free_rcu")
int ma_free_out(__u64 *ctx)
{
	count_run();
	seen_free = bpf_get_func_ip(ctx);
	return end(argument(ctx, 0));
}

/* --- work --- */

static __always_inline __u64 cache_of_work(__u64 irq_work)
{
	return irq_work - bpf_core_field_offset(struct bpf_mem_cache, refill_work);
}

/* Freed objects that a refill may take again before their grace period is over. */
static __noinline int any_freed(__u64 cache)
{
	struct bpf_mem_cache *c = (void *)cache;

	if (!two_stages())
		return BPF_CORE_READ(c, free_by_rcu.first) != NULL;
	return BPF_CORE_READ(c, free_by_rcu_ttrace.first) ||
	       BPF_CORE_READ(c, waiting_for_gp_ttrace.first);
}

/*
 * A refill takes freed objects first, and asks slab when there are none left. So if some are left when it
 * ends it took nothing else. With one stage that does not say it: 6.1 takes none, those after it do.
 */
static __noinline int count_objects(struct ma_work *w, __u64 cache)
{
	struct bpf_mem_cache *c = (void *)cache;
	__s64 gained;

	if (!w)
		return 0;
	gained = (__s64)BPF_CORE_READ(c, free_cnt) - w->free;
	if (gained < 0)
		__sync_fetch_and_add(&drained, -gained);
	else if (w->bare)
		__sync_fetch_and_add(&gained_slab, gained);
	else if (two_stages() && any_freed(cache))
		__sync_fetch_and_add(&gained_recycled, gained);
	else
		__sync_fetch_and_add(&gained_either, gained);
	return 0;
}

SEC("fentry/bpf_mem_refill")
int ma_refill_in(__u64 *ctx)
{
	__u64 cache = cache_of_work(argument(ctx, 0));
	struct bpf_mem_cache *c = (void *)cache;
	__u32 zero = 0, kind;
	struct ma_work *w = bpf_map_lookup_elem(&work, &zero);
	int free = BPF_CORE_READ(c, free_cnt);

	count_run();
	if (!w)
		return 0;
	kind = free < BPF_CORE_READ(c, low_watermark)    ? MA_REFILL
	       : free > BPF_CORE_READ(c, high_watermark) ? MA_DRAIN
							 : MA_NONE;
	w->kind = kind;
	w->free = free;
	w->bare = !any_freed(cache);
	w->when = bpf_ktime_get_ns();
	if (!free && (kinds >> MA_EMPTY & 1) && measured(w->when))
		add(MA_EMPTY, cache, bpf_get_smp_processor_id(), 0);
	return 0;
}

SEC("fexit/bpf_mem_refill")
int ma_refill_out(__u64 *ctx)
{
	__u32 zero = 0, kind;
	struct ma_work *w = bpf_map_lookup_elem(&work, &zero);
	__u64 when;

	count_run();
	if (!w)
		return 0;
	when = w->when;
	kind = w->kind;
	w->when = 0;
	if (!when || !measured(when) || !(kinds >> kind & 1) || kind == MA_NONE)
		return 0;
	add(kind, cache_of_work(argument(ctx, 0)), bpf_get_smp_processor_id(),
	    bpf_ktime_get_ns() - when);
	return count_objects(w, cache_of_work(argument(ctx, 0)));
}

/* --- allocators --- */

static __always_inline __u64 base_of(__u64 *ctx)
{
	struct bpf_mem_alloc *ma = (void *)argument(ctx, 0);

	return (__u64)BPF_CORE_READ(ma, cache);
}

SEC("fexit/bpf_mem_alloc_init")
int ma_new(__u64 *ctx)
{
	struct ma_owner o = { .serial = MA_SERIAL_OURS };
	__u64 base = base_of(ctx);

	count_run();
	if (!base)
		return 0;
	o.serial |= __sync_fetch_and_add(&serials, 1);
	bpf_map_update_elem(&owners, &base, &o, BPF_ANY); /* no room: it counts under "other" */
	return 0;
}

/* Its per-CPU memory may be another's soon. */
SEC("fentry/bpf_mem_alloc_destroy")
int ma_gone(__u64 *ctx)
{
	__u64 base = base_of(ctx);

	count_run();
	if (base)
		bpf_map_delete_elem(&owners, &base);
	return 0;
}

/* --- run by user space --- */

#define START_AHEAD_NS \
	1000000 /* so that nothing that is counted can have looked before this was set */

SEC("raw_tp")
int kd_control(struct kd_run_args *args)
{
	*(volatile __u64 *)&runs_on = args->arg[0] == MA_START;
	*(volatile __u64 *)&since =
		args->arg[0] == MA_START ? bpf_ktime_get_ns() + START_AHEAD_NS : 0;
	return 0;
}

static __always_inline __u8 measure_of(__u32 kind)
{
	return kind == MA_REFILL  ? KD_M_MEMALLOC_REFILL
	       : kind == MA_DRAIN ? KD_M_MEMALLOC_DRAIN
	       : kind == MA_EMPTY ? KD_M_MEMALLOC_REFILL_FAILED
				  : KD_M_MEMALLOC_LATENCY;
}

/* Whose it is; not 0: of a map that has gone before it was seen. */
static __always_inline int name_series(struct kd_rec_series *r, __u64 key)
{
	__u32 serial = (__u32)key, global = key >> MA_KEY_GLOBAL_SHIFT & 3;
	struct ma_map *map = bpf_map_lookup_elem(&names, &serial);

	if (global == 1)
		__builtin_memcpy(r->name, "bpf_global_ma", sizeof("bpf_global_ma"));
	else if (global == 2)
		__builtin_memcpy(r->name, "bpf_global_percpu_ma", sizeof("bpf_global_percpu_ma"));
	else if (global == 3)
		__builtin_memcpy(r->name, "bpf_cpumask_ma", sizeof("bpf_cpumask_ma"));
	else if (map)
		__builtin_memcpy(r->name, map->name, sizeof(map->name));
	else
		return 1;
	r->key[0] = map ? map->id : 0;
	return 0;
}

static __always_inline void series_describe(struct kd_rec_series *r, __u32 idx, __u64 key)
{
	__u32 behind = idx - nr_slots, kind = key >> MA_KEY_KIND_SHIFT & 7;
	__u64 stage;

	if (idx >= nr_slots)
		kind = behind % MA_KINDS;
	else if (idx < SLOTS_REST)
		kind = idx;
	stage = kind == MA_RCU ? KD_STAGE_RCU : kind == MA_TRACE ? KD_STAGE_TASKS_TRACE : 0;
	r->source = KD_SRC_MEMALLOC;
	r->measure = measure_of(kind);
	r->flavour = KD_FL_NONE;
	if (idx >= nr_slots) {
		r->dim = KD_DIM_CPU;
		r->key[0] = behind / MA_KINDS;
		return;
	}
	r->dim = KD_DIM_MAIN;
	r->key[1] = stage << 32;
	if (idx < SLOTS_REST || name_series(r, key)) {
		r->flags = KD_SERIES_OTHER;
		return;
	}
	r->key[1] |= key >> MA_KEY_SIZE_SHIFT & MA_KEY_SIZE_MASK;
}

/* Verified once by itself: with what it is called from it takes too long. */
__noinline int send_objects(void)
{
	int full = 0;

	full |= send_total(KD_SRC_MEMALLOC, KD_REC_COUNT, KD_CNT_FROM_SLAB, gained_slab);
	full |= send_total(KD_SRC_MEMALLOC, KD_REC_COUNT, KD_CNT_RECYCLED, gained_recycled);
	full |= send_total(KD_SRC_MEMALLOC, KD_REC_COUNT, KD_CNT_FROM_EITHER, gained_either);
	full |= send_total(KD_SRC_MEMALLOC, KD_REC_COUNT, KD_CNT_DRAINED, drained);
	return full;
}

static __always_inline int tick_totals(__u64 missed)
{
	int full = send_totals(KD_SRC_MEMALLOC, missed,
			       1u << KD_LOST_UNMATCHED_BEGIN | 1u << KD_LOST_TABLE_FULL |
				       1u << KD_LOST_CLOCK),
	    i;

	full |= send_objects();
	for (i = 0; i < MA_LISTS; i++)
		floor_refresh(&bins[i].floor, epoch);
	return full;
}

/* Samples, then totals: 0 when all is written, else where to go on. */
SEC("raw_tp")
int kd_tick(struct kd_run_args *args)
{
	struct series_walk w = {
		.interval = args->arg[1],
		.id_base = KD_SRC_MEMALLOC << 24,
		.deadline = bpf_ktime_get_ns() + TICK_NS,
	};
	__u32 next = tick_samples(&w, args->arg[0], MA_LISTS);

	ring_full += w.full;
	if (next)
		return next;
	return tick_totals(args->arg[2]) ? CURSOR_TOTALS : 0;
}
