/* SPDX-License-Identifier: GPL-2.0-only */
/* totals.bpf.h - what a source counts that pairs beginnings with ends, and how a tick sends it. */
#ifndef KDEFER_TOTALS_BPF_H
#define KDEFER_TOTALS_BPF_H

#include "tick.bpf.h"

__u64 since; /* what began before it is not measured; 0 = not recording */
__u64 begun, done;
__u64 absent;    /* ends without a beginning */
__u64 ring_full; /* ticks that were cut short by the ring */
__u64 lost[KD_LOST_COUNT];

static __always_inline __u64 at_least_zero(__u64 n)
{
	return (__s64)n > 0 ? n : 0;
}

/*
 * An end without a beginning belongs to what began before our programs were there, unless that many
 * beginnings were kept from us: `missed` by the kernel, others for want of room. What is open follows
 * from the rest; `over`: the kinds of loss, as bits, that end what had begun. 1: the ring is full.
 */
static __always_inline int send_totals(__u32 source, __u64 missed, __u32 over)
{
	__u64 total[KD_LOST_COUNT], n_open = begun - done;
	int full = 0, i;

	for (i = 0; i < KD_LOST_COUNT; i++) {
		total[i] = *(volatile __u64 *)&lost[i];
		if (over >> i & 1)
			n_open -= total[i];
	}
	missed += total[KD_LOST_TABLE_FULL];
	total[KD_LOST_UNMATCHED_END] = absent < missed ? absent : missed;
	total[KD_LOST_PRE_START] += absent - total[KD_LOST_UNMATCHED_END];
	total[KD_LOST_RING_FULL] = ring_full;
	total[KD_LOST_EXTREME] = extremes_lost;
	for (i = 0; i < KD_LOST_COUNT; i++)
		if (total[i])
			full |= send_total(source, KD_REC_LOST, i, total[i]);
	full |= send_total(source, KD_REC_COUNT, KD_CNT_BEGUN, begun);
	full |= send_total(source, KD_REC_COUNT, KD_CNT_DONE, done);
	full |= send_total(source, KD_REC_COUNT, KD_CNT_OPEN, at_least_zero(n_open));
	full |= send_total(source, KD_REC_COUNT, KD_CNT_RUNS, runs_counted());
	return full;
}

#endif
