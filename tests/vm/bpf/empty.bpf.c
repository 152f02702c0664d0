/* SPDX-License-Identifier: GPL-2.0-only */
/* empty.bpf.c - two programs that do nothing at the two ends of a callback: the floor of any tool. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

SEC("fentry/rcu_segcblist_enqueue")
int empty_enqueue(void *ctx)
{
	return 0;
}

SEC("fentry/rcu_cblist_dequeue")
int empty_dequeue(void *ctx)
{
	return 0;
}
