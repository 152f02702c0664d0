/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rsflush.bpf.c - flushes the statistics of each cgroup that an iterator shows it, as BPF programs may
 * that collect statistics of their own. Which function does it, and of what, is the kernel's: up to 6.15
 * cgroup_rstat_flush(), later css_rstat_flush().
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct cgroup_subsys_state {
	struct cgroup *cgroup;
};

struct cgroup {
	struct cgroup_subsys_state self;
};

struct bpf_iter__cgroup {
	struct bpf_iter_meta *meta;
	struct cgroup *cgroup;
};
#pragma clang attribute pop

extern void cgroup_rstat_flush(struct cgroup *cgrp) __attribute__((weak)) __ksym;
extern void css_rstat_flush(struct cgroup_subsys_state *css) __attribute__((weak)) __ksym;

SEC("iter.s/cgroup")
int rsflush_all(struct bpf_iter__cgroup *ctx)
{
	struct cgroup *cgrp = ctx->cgroup;

	if (cgrp && cgrp->self.cgroup) /* looked into, so that its type is in our BTF whole */
		cgroup_rstat_flush(cgrp);
	return 0;
}

SEC("iter.s/cgroup")
int rsflush_base(struct bpf_iter__cgroup *ctx)
{
	struct cgroup *cgrp = ctx->cgroup;

	if (cgrp)
		css_rstat_flush(
			(void *)cgrp); /* what it begins with is its own part: base statistics */
	return 0;
}
