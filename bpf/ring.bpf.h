/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ring.bpf.h - what every kernel side includes: the contract, the helpers, the one ring buffer.
 *
 * All sources write to the same ring: user space gives each object the same map.
 */
#ifndef KDEFER_RING_BPF_H
#define KDEFER_RING_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

#include <stdbool.h>

#include "defer.h"
#include "../vmlinux/kernel.h"

#ifndef __ksym
#error "bpf_helpers.h is too old"
#endif

char LICENSE[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096); /* user space sets the size */
} ring SEC(".maps");

/* Arguments of a program that user space runs: see source.h. */
struct kd_run_args {
	__u64 arg[4];
};

/* The word at an address of the kernel; 0: nothing can be read there. */
static __always_inline __u64 word_at(__u64 address)
{
	__u64 v = 0;

	bpf_probe_read_kernel(&v, sizeof(v), (void *)address);
	return v;
}

/*
 * A pointer as a number: the verifier allows no arithmetic on typed pointers, and forgets the type
 * only in a map. One scratch word for each program that may interrupt the other.
 */
static __always_inline __u64 as_number(__u64 *scratch, __u64 pointer)
{
	*(volatile __u64 *)scratch = pointer;
	return *(volatile __u64 *)scratch;
}

/* Running total of one kind of loss or count. Not 0: the ring is full. */
static __always_inline int send_total(__u16 source, __u16 kind, __u16 what, __u64 total)
{
	struct kd_rec_total *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);

	if (!r)
		return -1;
	r->rec.kind = kind;
	r->rec.len = sizeof(*r);
	r->rec.id = 0;
	r->source = source;
	r->what = what;
	r->pad = 0;
	r->total = total;
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}

#endif
