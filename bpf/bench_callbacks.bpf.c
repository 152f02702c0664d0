/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bench_callbacks.bpf.c - a reader of RCU that lasts as long as it is told. User space runs the
 * program, and the kernel runs it in a read-side section, without leaving the CPU.
 *
 * When kdefer is to end, user space says so here: no signal reaches a program.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

#define TURNS (1 << 23) /* what bpf_loop() allows; some tenths of a second at least */
#define ROUNDS (1 << 10)

struct hold_args {
	__u64 arg[4];
};

volatile __u32 released;                     /* set by user space: no more of it */
volatile __u64 end_ns, started_ns, ended_ns; /* CLOCK_MONOTONIC */

static __always_inline long is_over(void)
{
	return released || bpf_ktime_get_ns() >= end_ns;
}

static long turn(__u32 i, void *ctx)
{
	return is_over();
}

static long round(__u32 i, void *ctx)
{
	bpf_loop(TURNS, turn, ctx, 0);
	return is_over();
}

/* arg[0] = how long, in nanoseconds */
SEC("raw_tp")
int kd_hold(struct hold_args *args)
{
	int nothing = 0;

	started_ns = bpf_ktime_get_ns();
	end_ns = started_ns + args->arg[0];
	bpf_loop(ROUNDS, round, &nothing, 0);
	ended_ns = bpf_ktime_get_ns();
	return 0;
}
