/* SPDX-License-Identifier: GPL-2.0-only */
/* subsystem.bpf.h - which subsystem's statistics something of the kernel's is about. */
#ifndef KDEFER_SUBSYSTEM_BPF_H
#define KDEFER_SUBSYSTEM_BPF_H

#include "ring.bpf.h"

static __always_inline bool is_text(const char *name, const char *text, int n)
{
	int i;

#pragma unroll
	for (i = 0; i < 8; i++)
		if (i < n && name[i] != text[i])
			return false;
	return true;
}

/* The subsystem by its name; the cgroup itself has none, and base statistics. */
static __noinline __u32 sub_of(__u64 css)
{
	struct cgroup_subsys *ss = BPF_CORE_READ((struct cgroup_subsys_state *)css, ss);
	char name[8] = {};

	if (!ss)
		return KD_FL_SUB_BASE;
	bpf_probe_read_kernel_str(name, sizeof(name), BPF_CORE_READ(ss, name));
	if (is_text(name, "memory", 7))
		return KD_FL_SUB_MEMORY;
	return is_text(name, "io", 3) ? KD_FL_SUB_IO : KD_FL_SUB_OTHER;
}

#endif
