/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bench.bpf.h - what programs of loads share: they are run by a process of the load, by a system call
 * that a tracepoint tells of, or by BPF_PROG_TEST_RUN where there is none.
 */
#ifndef KDEFER_BENCH_BPF_H
#define KDEFER_BENCH_BPF_H

#include <linux/bpf.h>
#include <linux/errno.h>
#include <bpf/bpf_helpers.h>

#include <stdbool.h>

#include "bench.h"

char LICENSE[] SEC("license") = "GPL";

/* What the tracepoint of a system call hands over, the same on all kernels. */
struct bench_syscall {
	__u64 common;
	__u64 number;
	__u64 arg[6];
};

struct bench_run_args {
	__u64 arg[4];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* user space sets it */
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct bench_work);
} work SEC(".maps");

/* The slot of the process that makes this call; NULL: the call is not one of ours. */
static __always_inline struct bench_work *work_of(__u32 arg)
{
	__u32 index = BENCH_CALL_INDEX(arg);
	struct bench_work *w;

	if (BENCH_CALL_MARK(arg) != 1)
		return NULL;
	w = bpf_map_lookup_elem(&work, &index);
	if (!w || w->pid != bpf_get_current_pid_tgid() >> 32)
		return NULL;
	w->runs++;
	return w;
}

/* An int: on 6.1 the upper half of what a map operation returns is none of it. */
static __always_inline void failed(struct bench_work *w, int err)
{
	switch (err) {
	case -ENOMEM:
		w->failed[BENCH_FAILED_NOMEM]++;
		break;
	case -E2BIG:
		w->failed[BENCH_FAILED_FULL]++;
		break;
	case -EBUSY:
		w->failed[BENCH_FAILED_BUSY]++;
		break;
	case -EEXIST:
		w->failed[BENCH_FAILED_EXISTS]++;
		break;
	case -ENOENT:
		w->failed[BENCH_FAILED_ABSENT]++;
		break;
	default:
		w->failed[BENCH_FAILED_OTHER]++;
		break;
	}
}

#endif
