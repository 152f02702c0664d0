/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * reader.bpf.c - a reader of RCU that lasts as long as it is told: the tracepoint's program runs in
 * a read-side section, and turns in a loop until the clock passes `end_ns`.
 *
 * The end may be moved while it turns, so that "until 200 ms after that callback was queued" can be
 * asked for by somebody who queues it only when the reader is on its way.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

#define TURNS (1 << 23) /* what bpf_loop() allows; some seconds at least */
#define ROUNDS 16

__u32 holder;              /* thread whose getpgid() is the reader */
volatile __u64 end_ns;     /* CLOCK_MONOTONIC; moved by user space at will */
volatile __u64 started_ns; /* of the reader on its way, or of the last one */
volatile __u64 ended_ns;
__u64 readers; /* ended so far */

static long turn(__u32 i, void *ctx)
{
	return bpf_ktime_get_ns() >= end_ns;
}

static long round(__u32 i, void *ctx)
{
	bpf_loop(TURNS, turn, ctx, 0);
	return bpf_ktime_get_ns() >= end_ns;
}

SEC("tracepoint/syscalls/sys_enter_getpgid")
int hold(void *unused)
{
	int nothing = 0;

	if ((__u32)bpf_get_current_pid_tgid() != holder)
		return 0;
	started_ns = bpf_ktime_get_ns();
	bpf_loop(ROUNDS, round, &nothing, 0);
	ended_ns = bpf_ktime_get_ns();
	readers++;
	return 0;
}
