/* SPDX-License-Identifier: GPL-2.0-only */
/* cblist.bpf.h - the length of a callback list. */
#ifndef KDEFER_CBLIST_BPF_H
#define KDEFER_CBLIST_BPF_H

#include "ring.bpf.h"

/* All that waits or is being run, the bypass list too, until its batch is over. */
static __always_inline __u64 cblist_len(__u64 list)
{
	__u64 len = 0;

	if (bpf_core_field_exists(struct rcu_segcblist___atomic, len.counter))
		bpf_probe_read_kernel(&len, sizeof(len),
				      &((struct rcu_segcblist___atomic *)list)->len.counter);
	else if (bpf_core_field_exists(struct rcu_segcblist___plain, len))
		bpf_probe_read_kernel(&len, sizeof(len),
				      &((struct rcu_segcblist___plain *)list)->len);
	return len;
}

#endif
