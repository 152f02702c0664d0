/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bench_trigger.bpf.c - what an event costs, by the way in which a program is attached.
 *
 * Two programs make events in a loop, which user space runs; of the others one is attached, and does
 * nothing but count. The function that is hooked is a helper that does next to nothing, is there in
 * every kernel, and is rarely called by anybody else. The tracepoint is the one that the kernel has for
 * its own tests; where it is not there, user space makes events of another by system calls.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "bench_trigger.h"

char LICENSE[] SEC("license") = "GPL";

/*
 * Added to without locks: a program runs only once at a time on a CPU, and what comes on top of it is
 * missed, which the kernel and the sums show.
 */
struct trigger_slot slots[TRIGGER_SLOTS];

struct trigger_args {
	__u64 arg[4];
};

extern int bpf_modify_return_test_tp(int nonce) __ksym __weak;

/* --- makers of events: arg[0] = how many; return how many were made --- */

static long call_function(__u32 i, void *ctx)
{
	(void)bpf_get_numa_node_id();
	return 0;
}

static long pass_tracepoint(__u32 i, void *ctx)
{
	(void)bpf_modify_return_test_tp(0);
	return 0;
}

SEC("raw_tp")
int kd_make_calls(struct trigger_args *args)
{
	return (int)bpf_loop((__u32)args->arg[0], call_function, NULL, 0);
}

SEC("raw_tp")
int kd_make_passes(struct trigger_args *args)
{
	return (int)bpf_loop((__u32)args->arg[0], pass_tracepoint, NULL, 0);
}

/* --- what is attached --- */

static __always_inline int count(void)
{
	slots[bpf_get_smp_processor_id() & (TRIGGER_SLOTS - 1)].hits++;
	return 0;
}

SEC("kprobe")
int kd_kprobe(void *ctx)
{
	return count();
}

SEC("kretprobe")
int kd_kretprobe(void *ctx)
{
	return count();
}

SEC("kprobe.multi")
int kd_kprobe_multi(void *ctx)
{
	return count();
}

SEC("kretprobe.multi")
int kd_kretprobe_multi(void *ctx)
{
	return count();
}

SEC("fentry/bpf_get_numa_node_id")
int kd_fentry(void *ctx)
{
	return count();
}

SEC("fexit/bpf_get_numa_node_id")
int kd_fexit(void *ctx)
{
	return count();
}

SEC("tp")
int kd_tp(void *ctx)
{
	return count();
}

SEC("raw_tp")
int kd_raw_tp(void *ctx)
{
	return count();
}

SEC("tp_btf/task_rename")
int kd_tp_btf(void *ctx)
{
	return count();
}
