/* SPDX-License-Identifier: GPL-2.0-only */
/* jiffies.bpf.h - what the kernel noted in ticks of its clock, as an age. */
#ifndef KDEFER_JIFFIES_BPF_H
#define KDEFER_JIFFIES_BPF_H

#include "ring.bpf.h"

#define NS_PER_S 1000000000ULL

const volatile __u32 hz = 1; /* user space sets it */

static __always_inline __u64 jiffies_age(__u64 since)
{
	__u64 jiffies = bpf_jiffies64() - since;

	return (__s64)jiffies > 0 ? jiffies * (NS_PER_S / hz) : 0;
}

#endif
