/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * inject.bpf.c - each of these makes the kernel stay where it holds something up, until the clock
 * passes `end_ns`. User space loads those alone that a cause needs.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "GPL";

#define TURNS (1 << 23) /* what bpf_loop() allows; some seconds at least */
#define ROUNDS 16
#define UPDATES 64 /* of a map in one call, as in the story */
#define KEYS 4096

__u32 holder;              /* thread that is to stay there; 0: none */
__u32 loopers;             /* process whose threads update the map */
__u32 armed;               /* the next one to come by stays */
volatile __u64 end_ns;     /* CLOCK_MONOTONIC */
volatile __u64 stay_ns;    /* instead of end_ns, for what cannot tell beforehand when it begins */
volatile __u64 gp_ns;      /* when the grace period began that is under way */
volatile __u64 least_ns;   /* shorter ones are none */
volatile __u64 started_ns; /* of what is on its way, or of the last one */
volatile __u64 ended_ns;
volatile __u64
	still_ns; /* the longest time in which whoever stays there did not get to look at the clock */
volatile __u64 turn_ns;
volatile __u32 cpu;
volatile __u64 many;     /* callbacks of a flood; 0: none */
volatile __u64 each_ns;  /* how long each takes */
volatile __u64 freed;    /* of these */
volatile __u64 freed_ns; /* when all were */
__u64 updates;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, KEYS * 4);
	__type(key, __u32);
	__type(value, __u64);
} inject_map SEC(".maps");

#define WORK 10000

/*
 * Most of the time in this loop. Of who calls by a pointer, as bpf_loop() does, and the clock, nothing can be
 * told from a stack that was taken in between.
 */
static long turn(__u32 i, void *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	int work;

	if (now - turn_ns > still_ns)
		still_ns = now - turn_ns;
	turn_ns = now;
	for (work = 0; work < WORK; work++)
		asm volatile("" ::: "memory");
	return now >= end_ns;
}

static long turn_until(__u32 i, __u64 *until)
{
	return bpf_ktime_get_ns() >= *until;
}

static long round(__u32 i, void *ctx)
{
	bpf_loop(TURNS, turn, ctx, 0);
	return bpf_ktime_get_ns() >= end_ns;
}

static __always_inline int stay(void)
{
	int nothing = 0;

	cpu = bpf_get_smp_processor_id();
	turn_ns = started_ns = bpf_ktime_get_ns();
	if (stay_ns)
		end_ns = started_ns + stay_ns;
	bpf_loop(ROUNDS, round, &nothing, 0);
	ended_ns = bpf_ktime_get_ns();
	return 0;
}

static __always_inline int is_holder(void)
{
	return holder && (__u32)bpf_get_current_pid_tgid() == holder;
}

/* A reader that is not preempted: up to 6.12 programs of tracepoints run with that disabled. */
SEC("tracepoint/syscalls/sys_enter_getpgid")
int inject_reader(void *unused)
{
	return is_holder() ? stay() : 0;
}

/* One that can be. */
SEC("fentry/__x64_sys_getpgid")
int inject_preempt(void *unused)
{
	return is_holder() ? stay() : 0;
}

/* In try_to_wake_up(), with interrupts off. */
SEC("raw_tp/sched_waking")
int inject_irqs(void *unused)
{
	if (!is_holder() || !armed)
		return 0;
	armed = 0;
	return stay();
}

/* In a callback of RCU. Files are freed by it on all kernels. */
SEC("fentry/__d_free")
int inject_slow(void *unused)
{
	if (!armed || __sync_val_compare_and_swap(&armed, 1, 0) != 1)
		return 0;
	return stay();
}

/* Many callbacks, on whichever CPU, take their time each: how many were run, and when the last of them. */
SEC("fentry/put_cred_rcu")
int inject_flood(void *unused)
{
	__u64 until = bpf_ktime_get_ns() + each_ns;

	if (!many)
		return 0;
	bpf_loop(TURNS, turn_until, &until, 0);
	if (__sync_fetch_and_add(&freed, 1) + 1 == many)
		freed_ns = bpf_ktime_get_ns();
	return 0;
}

/* In a flush of cgroup statistics, under its lock. */
SEC("fentry/bpf_rstat_flush")
int inject_flush(void *unused)
{
	if (!is_holder() || !armed)
		return 0;
	armed = 0;
	return stay();
}

/* How long grace periods took from their initialisation on, and when the longest had begun. */
SEC("fentry/rcu_gp_fqs_loop")
int inject_gp_in(void *unused)
{
	gp_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("fexit/rcu_gp_fqs_loop")
int inject_gp_out(void *unused)
{
	__u64 now = bpf_ktime_get_ns();

	if (!gp_ns || now - gp_ns < least_ns)
		return 0;
	started_ns = gp_ns;
	ended_ns = now;
	return 0;
}

static long update(__u32 i, void *ctx)
{
	__u32 key = bpf_get_prandom_u32() % KEYS;
	__u64 value = i;

	bpf_map_delete_elem(&inject_map, &key);
	bpf_map_update_elem(&inject_map, &key, &value, BPF_ANY);
	return 0;
}

/* Short readers, one after another: as much work in the kernel as a call of the story's does. */
SEC("tracepoint/syscalls/sys_enter_getppid")
int inject_loop(void *unused)
{
	int nothing = 0;

	if (!loopers || bpf_get_current_pid_tgid() >> 32 != loopers)
		return 0;
	bpf_loop(UPDATES, update, &nothing, 0);
	__sync_fetch_and_add(&updates, UPDATES);
	return 0;
}

/*
 * Each cgroup that a flush by this process visits takes its time, with the lock held: 1, 2, 4 or 8 times
 * the shortest, one after another.
 */
SEC("fentry/bpf_rstat_flush")
int inject_flushes(void *unused)
{
	__u64 until;

	if (!loopers || bpf_get_current_pid_tgid() >> 32 != loopers)
		return 0;
	until = bpf_ktime_get_ns() + (each_ns << (__sync_fetch_and_add(&updates, 1) & 3));
	bpf_loop(TURNS, turn_until, &until, 0);
	return 0;
}
