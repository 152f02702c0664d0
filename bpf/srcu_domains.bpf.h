/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * srcu_domains.bpf.h - the SRCU domains that are built into the kernel. Each has a static per-CPU
 * variable, which BTF knows; it points to the domain once that was used. The kernel keeps no list of
 * those of modules, nor of those that are made at run time: they are not reached.
 */
#ifndef KDEFER_SRCU_DOMAINS_BPF_H
#define KDEFER_SRCU_DOMAINS_BPF_H

#include "percpu.bpf.h"
#include "srcu_domains.h"

const volatile __u32 nr_domains;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* user space: nr_domains */
	__type(key, __u32);
	__type(value, struct srcu_domain);
} domains SEC(".maps");

static __always_inline struct srcu_data *srcu_data_of(const struct srcu_domain *d, __u32 cpu)
{
	__u64 base = percpu_base(cpu);

	return base && d ? (void *)(base + d->at) : 0;
}

/* The address of the domain, kept for user space to name it. 0: not used yet. */
static __always_inline __u64 srcu_domain_see(struct srcu_domain *d, struct srcu_data *sdp)
{
	if (!d->ssp)
		d->ssp = (__u64)BPF_CORE_READ(sdp, ssp);
	return d->ssp;
}

#endif
