/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * srcu_domains.bpf.h - the SRCU domains that can be reached. The kernel keeps no list of them.
 *
 *  - One that is built in whole has a static per-CPU variable, which BTF knows; it points to the domain
 *    once that was used.
 *  - One that is set up at run time, or is a module's, is reached where kallsyms has its symbol: it is a
 *    domain if its per-CPU data points back to it.
 *
 * What is part of something allocated (a device's, a virtual machine's) is not reached.
 */
#ifndef KDEFER_SRCU_DOMAINS_BPF_H
#define KDEFER_SRCU_DOMAINS_BPF_H

#include "percpu.bpf.h"
#include "srcu_domains.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* user space */
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

/*
 * Of a per-CPU pointer to an address on a CPU it is as far as from the beginning of the section, as its
 * symbol has it, to that CPU's; RCU Tasks knows both of one variable. 0: not found.
 */
static __always_inline __u64 percpu_section(enum percpu_var var, __u32 cpu)
{
	struct rcu_tasks *rtp = (void *)percpu_rcu_tasks(var, cpu);

	return rtp ? (__u64)BPF_CORE_READ(rtp, rtpcpu) - percpu.at[var] : 0;
}

struct sd_check {
	__u64 section;
	__u32 first, here;
};

static long sd_check_one(__u32 i, struct sd_check *c)
{
	__u32 at = c->first + i;
	struct srcu_domain *d = bpf_map_lookup_elem(&domains, &at);
	struct srcu_struct *ssp;
	struct srcu_data *sdp;

	if (!d || !d->ssp)
		return 0;
	ssp = (void *)d->ssp;
	d->at = (__u64)BPF_CORE_READ(ssp, sda) - c->section;
	sdp = srcu_data_of(d, c->here);
	if (!sdp || (__u64)BPF_CORE_READ(sdp, ssp) != d->ssp)
		d->ssp = d->at = 0;
	return 0;
}

SEC("raw_tp")
int sd_check(struct kd_run_args *args)
{
	struct sd_check c = { .first = args->arg[0], .here = bpf_get_smp_processor_id() };

	c.section = percpu_section(PERCPU_TASKS, c.here);
	if (!c.section)
		c.section = percpu_section(PERCPU_TASKS_RUDE, c.here);
	if (!c.section)
		c.section = percpu_section(PERCPU_TASKS_TRACE, c.here);
	if (args->arg[1] > args->arg[0])
		bpf_loop(args->arg[1] - args->arg[0], sd_check_one, &c, 0);
	return 0;
}

#endif
