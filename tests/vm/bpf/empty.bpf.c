/* SPDX-License-Identifier: GPL-2.0-only */
/* empty.bpf.c - programs that do nothing, at whatever they are attached to: the floor of any tool. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

SEC("fentry")
int empty_entry(void *ctx)
{
	return 0;
}

SEC("fexit")
int empty_exit(void *ctx)
{
	return 0;
}

SEC("tp_btf")
int empty_point(void *ctx)
{
	return 0;
}
