/* SPDX-License-Identifier: GPL-2.0-only */
/* hist.bpf.h - which bucket of the log-linear histogram (defer.h) a value belongs to. */
#ifndef KDEFER_HIST_BPF_H
#define KDEFER_HIST_BPF_H

#include "ring.bpf.h"

#define LOG2_4(n) n, n, n, n
#define LOG2_16(n) LOG2_4(n), LOG2_4(n), LOG2_4(n), LOG2_4(n)
#define LOG2_64(n) LOG2_16(n), LOG2_16(n), LOG2_16(n), LOG2_16(n)

/* floor(log2(i)); [0] is not used */
const volatile __u8 log2_table[256] = {
	0,          0,          1,          1,          LOG2_4(2),  LOG2_4(3),  LOG2_4(3),
	LOG2_16(4), LOG2_16(5), LOG2_16(5), LOG2_64(6), LOG2_64(7), LOG2_64(7),
};

static __noinline __u32 log2_large(__u64 v)
{
	__u32 e = 32;

	v >>= 32;
	if (v >> 16) {
		v >>= 16;
		e += 16;
	}
	if (v >> 8) {
		v >>= 8;
		e += 8;
	}
	return e + log2_table[v & 0xff];
}

/*
 * floor(log2(v)) for v > 0: no instruction for it. Most waits are from 64 us to 4 s: two compares and
 * a look at the table.
 */
static __always_inline __u32 log2_u64(__u64 v)
{
	if (v < 1ULL << 16)
		return v < 1ULL << 8 ? log2_table[v & 0xff] : 8 + log2_table[v >> 8 & 0xff];
	if (v < 1ULL << 24)
		return 16 + log2_table[v >> 16 & 0xff];
	if (v < 1ULL << 32)
		return 24 + log2_table[v >> 24 & 0xff];
	return log2_large(v);
}

static __always_inline __u32 hist_index(__u64 v)
{
	__u32 e;

	if (v < KD_HIST_SUB)
		return v;
	e = log2_u64(v) - KD_HIST_SUB_BITS;
	return (e << KD_HIST_SUB_BITS) + (v >> e);
}

#endif
