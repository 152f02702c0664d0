/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tthold.bpf.c - a reader of RCU Tasks Trace that sleeps: a program that may sleep runs in a
 * read-side section, and reads a page of user memory that is not there until somebody fills it.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

__u64 page;                /* address in the process that enters the hooked function */
volatile __u64 started_ns; /* CLOCK_MONOTONIC */
volatile __u64 ended_ns;
volatile __s64 result; /* of the read */

SEC("uprobe.s")
int hold(void *unused)
{
	char byte;

	started_ns = bpf_ktime_get_ns();
	result = bpf_copy_from_user(&byte, sizeof(byte), (const void *)page);
	ended_ns = bpf_ktime_get_ns();
	return 0;
}
