/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rcu_gp.bpf.c - how long grace periods last, and how long those wait who ask for one and sleep.
 *
 * Both ends of everything but SRCU's grace periods are in one task: one preallocated table by task
 * holds what has begun. A task waits in one call at a time, so that the calls share one entry of it.
 *
 * A call that another of them makes in turn (synchronize_rcu() calls synchronize_rcu_expedited()
 * where /sys/kernel/rcu_expedited says so) is one wait of one caller: it counts once, for the outer
 * function. The flavour says what was asked for; how the kernel served it shows in the durations.
 *
 * An SRCU grace period starts in srcu_gp_start(), in whatever task, and ends in process_srcu(), in a
 * part that is inlined: the kernel writes down when (srcu_last_gp_end), and we read it as soon as
 * process_srcu() returns, or the next grace period starts. Since 7.0 this is how Tasks Trace works.
 *
 * These programs run in task context, mostly, with preemption on: one may be interrupted by another,
 * also by itself, which the kernel then leaves out and counts. Nothing here allocates.
 */
#include "tick.bpf.h"
#include "totals.bpf.h"
#include "worst.bpf.h"
#include "flavour.bpf.h"
#include "kdefer.bpf.h"
#include "caller.bpf.h"
#include "gp_calls.h"
#include "srcu_gp.bpf.h"
#include "rcu_gp.h"

const volatile __u32 wait_flavours, gp_flavours; /* bits of enum kd_flavour that are asked for */
const volatile __u64 sample = 1;                 /* follow 1 of N */

#define RG_GRACE_PERIOD CALL_NONE /* what begins and ends, if it is no call */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, __u64); /* task; of a grace period, with the flavour in the upper half */
	__type(value, struct rg_open);
} open SEC(".maps");

/* SRCU domains seen, each with the start of its grace period, 0 = none under way. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, __u64); /* struct srcu_struct */
	__type(value, __u64);
} domains SEC(".maps");

struct worst_bin bins[RG_LISTS];

static __always_inline void count(__u64 *what)
{
	__sync_fetch_and_add(what, 1);
}

static __always_inline bool measured(__u64 when)
{
	__u64 from = *(volatile __u64 *)&since;

	return from && when >= from;
}

/* --- a measurement --- */

static __noinline int add_worst(__u32 group, __u32 slot, __u32 cpu, __u64 took)
{
	__u32 first = bpf_get_smp_processor_id(), i;

	for (i = 0; i < RG_BINS; i++) {
		__u64 at = group * RG_BINS + ((first + i) & (RG_BINS - 1));

		barrier_var(
			at); /* the mask right before its use: the verifier of 6.1 forgets bounds at an "or" */
		at &= RG_LISTS - 1;
		if (!worst_shared(&bins[at], at, took, (__u64)slot << 32 | cpu))
			return 0;
	}
	count(&extremes_lost);
	return 0;
}

/* Kernel text has its upper byte set: there is room for the flavour. */
#define KEY_FLAVOUR_SHIFT 56

static __always_inline __u32 slot_of(const struct rg_open *o)
{
	__u64 low = (1ULL << KEY_FLAVOUR_SHIFT) - 1;
	__u32 slot;

	if (o->what == RG_GRACE_PERIOD)
		return nr_slots + o->flavour;
	slot = slot_find((o->caller & low) | (__u64)o->flavour << KEY_FLAVOUR_SHIFT);
	return slot ? slot : o->flavour; /* no room: the flavour's rest */
}

static __noinline int finish(struct rg_open *o, __u64 end)
{
	struct series_slot *s;
	__u64 took;
	__u32 slot;

	if (!o || o->when == RG_SKIP)
		return 0;
	if (!measured(o->when)) {
		if (since)
			count(&lost[KD_LOST_PRE_START]);
		return 0;
	}
	took = end - o->when;
	if (took > VALUE_MASK) {
		count(&lost[KD_LOST_CLOCK]);
		return 0;
	}
	count(&done);
	slot = slot_of(o);
	s = bpf_map_lookup_elem(&slots, &slot);
	if (!s)
		return 0;
	series_add(s, epoch, took);
	add_worst(o->what == RG_GRACE_PERIOD ? o->flavour : KD_FL_RCU_END + o->flavour, slot,
		  o->cpu, took);
	return 0;
}

/* RG_SKIP for what sampling leaves out. */
static __always_inline __u64 begin_time(void)
{
	__u64 now = bpf_ktime_get_ns();

	if (sample > 1 && bpf_get_prandom_u32() % sample) {
		if (measured(now))
			count(&lost[KD_LOST_SAMPLED_OUT]);
		return RG_SKIP;
	}
	if (measured(now))
		count(&begun);
	return now;
}

/* Waits that a kdefer causes are no part of what is measured: known by their end, and counted. */
static __always_inline __u64 leave_out(void)
{
	if (measured(bpf_ktime_get_ns()))
		count(&lost[KD_LOST_KDEFER]);
	return RG_SKIP;
}

/* --- both ends in one task --- */

static __always_inline __u64 task_key(__u32 flavour)
{
	return (__u32)bpf_get_current_pid_tgid() | (__u64)flavour << 32;
}

static __noinline int begin(__u64 key, __u8 what, __u8 flavour, __u64 caller)
{
	struct rg_open o = { .caller = caller, .what = what, .flavour = flavour }, *old;

	old = bpf_map_lookup_elem(&open, &key);
	if (old && GP_CALL_INSIDE(what, old->what))
		return 0;
	if (old && old->when != RG_SKIP && measured(old->when))
		count(&lost[KD_LOST_UNMATCHED_BEGIN]); /* its end was not seen */
	o.cpu = bpf_get_smp_processor_id();
	o.when = what != RG_GRACE_PERIOD && by_kdefer() ? leave_out() : begin_time();
	if (bpf_map_update_elem(&open, &key, &o, BPF_ANY) && o.when != RG_SKIP && measured(o.when))
		count(&lost[KD_LOST_TABLE_FULL]);
	return 0;
}

static __noinline int end(__u64 key, __u8 what)
{
	struct rg_open *found = bpf_map_lookup_elem(&open, &key), o;

	if (found && found->what != what && GP_CALL_INSIDE(what, found->what))
		return 0;
	if (!found || found->what != what) {
		if (since)
			count(&absent);
		return 0;
	}
	o = *found;
	bpf_map_delete_elem(&open, &key);
	return finish(&o, bpf_ktime_get_ns());
}

/* --- who waits --- */

static __always_inline int wait_begin(__u64 *ctx, __u8 what, __u8 flavour)
{
	if (wait_flavours >> flavour & 1)
		begin(task_key(0), what, flavour, caller_of(ctx));
	return 0;
}

static __always_inline int wait_end(__u8 what, __u8 flavour)
{
	if (wait_flavours >> flavour & 1)
		end(task_key(0), what);
	return 0;
}

/* The first argument as a number: the verifier allows little arithmetic on typed pointers. */
static __always_inline __u64 first_argument(__u64 *ctx)
{
	__u64 arg = 0;

	bpf_get_func_arg(ctx, 0, &arg);
	return arg;
}

static __always_inline __u8 flavour_of_domain(__u64 *ctx)
{
	return srcu_flavour(first_argument(ctx));
}

#define WAIT(name, function, what, flavour)            \
	SEC("fentry/" #function)                       \
	int rg_##name##_in(__u64 *ctx)                 \
	{                                              \
		count_run();                           \
		return wait_begin(ctx, what, flavour); \
	}                                              \
	SEC("fexit/" #function)                        \
	int rg_##name##_out(__u64 *ctx)                \
	{                                              \
		count_run();                           \
		return wait_end(what, flavour);        \
	}

GP_CALLS(WAIT)

/* --- grace periods --- */

static __always_inline int gp_begin(__u8 flavour)
{
	if (gp_flavours >> flavour & 1)
		begin(task_key(flavour), RG_GRACE_PERIOD, flavour, 0);
	return 0;
}

static __always_inline int gp_end(__u8 flavour)
{
	if (gp_flavours >> flavour & 1)
		end(task_key(flavour), RG_GRACE_PERIOD);
	return 0;
}

/* It returns false when nothing was to be done, and its bool is the lowest byte only. */
SEC("fexit/rcu_gp_init")
int rg_gp_in(__u64 *ctx)
{
	count_run();
	return (ctx[0] & 0xff) ? gp_begin(KD_FL_RCU) : 0;
}

SEC("fexit/rcu_gp_cleanup")
int rg_gp_out(__u64 *ctx)
{
	count_run();
	return gp_end(KD_FL_RCU);
}

#define GRACE_PERIOD(program, first, last, flavour) \
	SEC("fentry/" #first)                       \
	int program##_in(__u64 *ctx)                \
	{                                           \
		count_run();                        \
		return gp_begin(flavour);           \
	}                                           \
	SEC("fexit/" #last)                         \
	int program##_out(__u64 *ctx)               \
	{                                           \
		count_run();                        \
		return gp_end(flavour);             \
	}

/* The next may start, in another task, while this one still wakes its waiters. */
GRACE_PERIOD(rg_exp, sync_rcu_exp_select_cpus, rcu_exp_wait_wake, KD_FL_EXPEDITED)

static __noinline __u8 flavour_here(__u64 *ctx)
{
	return tasks_flavour((struct rcu_tasks *)first_argument(ctx));
}

/* Tasks and Tasks Trace (to 6.19) share the function. */
GRACE_PERIOD(rg_tasks_gp, rcu_tasks_wait_gp, rcu_tasks_wait_gp, flavour_here(ctx))
GRACE_PERIOD(rg_rude_gp, rcu_tasks_rude_wait_gp, rcu_tasks_rude_wait_gp, KD_FL_TASKS_RUDE)

/* --- grace periods of SRCU --- */

static __noinline int srcu_finish(__u64 ssp, __u64 when)
{
	struct rg_open o = { .when = when, .what = RG_GRACE_PERIOD, .flavour = srcu_flavour(ssp) };

	o.cpu = bpf_get_smp_processor_id();
	return finish(&o, srcu_last_gp_end(ssp));
}

/* The domain's lock is held: one at a time for each. */
SEC("fentry/srcu_gp_start")
int rg_srcu_gp_in(__u64 *ctx)
{
	__u64 ssp = first_argument(ctx), now, was, *when;

	count_run();
	if (!(gp_flavours >> srcu_flavour(ssp) & 1))
		return 0;
	when = bpf_map_lookup_elem(&domains, &ssp);
	now = begin_time();
	if (!when) {
		if (bpf_map_update_elem(&domains, &ssp, &now, BPF_ANY) && now != RG_SKIP &&
		    measured(now))
			count(&lost[KD_LOST_TABLE_FULL]);
		return 0;
	}
	was = __sync_lock_test_and_set(when, now);
	if (was)
		srcu_finish(ssp, was); /* it ended in the process_srcu() that we are in */
	return 0;
}

SEC("fexit/process_srcu")
int rg_srcu_gp_out(__u64 *ctx)
{
	__u64 ssp = srcu_of_work(first_argument(ctx)), was, none = 0, *when;

	count_run();
	if (!(gp_flavours >> srcu_flavour(ssp) & 1))
		return 0;
	when = bpf_map_lookup_elem(&domains, &ssp);
	if (!when) {
		if (measured(srcu_last_gp_end(ssp)) &&
		    !bpf_map_update_elem(&domains, &ssp, &none, BPF_NOEXIST))
			count(&absent);
		return 0;
	}
	was = *(volatile __u64 *)when;
	if (!was || (srcu_gp_seq(ssp) & 3))
		return 0; /* none, or under way */
	if (__sync_val_compare_and_swap(when, was, 0) == was)
		srcu_finish(ssp, was);
	return 0;
}

/* The domain goes: its address may be another's soon. */
SEC("fentry/cleanup_srcu_struct")
int rg_srcu_gone(__u64 *ctx)
{
	__u64 ssp = first_argument(ctx);

	count_run();
	bpf_map_delete_elem(&domains, &ssp);
	return 0;
}

/* --- run by user space --- */

#define START_AHEAD_NS \
	1000000 /* so that nothing that is counted can have looked before this was set */

SEC("raw_tp")
int kd_control(struct kd_run_args *args)
{
	*(volatile __u64 *)&runs_on = args->arg[0] == RG_START;
	*(volatile __u64 *)&since =
		args->arg[0] == RG_START ? bpf_ktime_get_ns() + START_AHEAD_NS : 0;
	return 0;
}

/* --- the tick --- */

static __always_inline void series_describe(struct kd_rec_series *r, __u32 idx, __u64 key)
{
	__u64 address = key | 0xffULL << KEY_FLAVOUR_SHIFT;

	r->source = KD_SRC_RCU_GP;
	if (idx >= nr_slots) {
		r->measure = KD_M_RCU_GP_DURATION;
		r->flavour = idx - nr_slots;
		return;
	}
	r->measure = KD_M_RCU_GP_WAIT;
	r->flavour = key >> KEY_FLAVOUR_SHIFT;
	if (idx < SLOTS_REST) {
		r->flavour = idx;
		r->flags = KD_SERIES_OTHER;
		return;
	}
	if (!(key << 8))
		return; /* the caller was not found */
	r->key[0] = address;
	/* The kernel's own name for it: works whatever kptr_restrict says, modules too. */
	bpf_snprintf(r->name, sizeof(r->name), "%ps", &address, sizeof(address));
	if (r->name[0] == '0' && r->name[1] == 'x')
		r->name[0] = '\0'; /* its module has gone: no name, and no raw address */
}

static __always_inline int tick_totals(__u64 missed)
{
	int full = send_totals(KD_SRC_RCU_GP, missed,
			       1u << KD_LOST_UNMATCHED_BEGIN | 1u << KD_LOST_TABLE_FULL |
				       1u << KD_LOST_CLOCK),
	    i;

	for (i = 0; i < RG_LISTS; i++)
		floor_refresh(&bins[i].floor, epoch);
	return full;
}

/* Samples, then totals: 0 when all is written, else where to go on. */
SEC("raw_tp")
int kd_tick(struct kd_run_args *args)
{
	struct series_walk w = {
		.interval = args->arg[1],
		.id_base = KD_SRC_RCU_GP << 24,
		.deadline = bpf_ktime_get_ns() + TICK_NS,
	};
	__u32 next;

	next = tick_samples(&w, args->arg[0], RG_LISTS);
	ring_full += w.full;
	if (next)
		return next;
	return tick_totals(args->arg[2]) ? CURSOR_TOTALS : 0;
}
