/* SPDX-License-Identifier: GPL-2.0-only */
/* srcu_gp.bpf.h - the grace period of an SRCU domain, from the domain or from its work. */
#ifndef KDEFER_SRCU_GP_BPF_H
#define KDEFER_SRCU_GP_BPF_H

#include "ring.bpf.h"

/* Since 6.4 in a part of srcu_struct of its own. */
#define SRCU_WORD(word)                                                                  \
	static __always_inline __u64 word(__u64 ssp)                                     \
	{                                                                                \
		if (bpf_core_type_exists(struct srcu_usage))                             \
			return BPF_CORE_READ((struct srcu_struct *)ssp, srcu_sup, word); \
		return BPF_CORE_READ((struct srcu_struct___v6_1 *)ssp, word);            \
	}

SRCU_WORD(srcu_gp_seq)
SRCU_WORD(srcu_last_gp_end)

static __always_inline __u64 srcu_of_work(__u64 work)
{
	if (bpf_core_type_exists(struct srcu_usage)) {
		struct srcu_usage *sup;

		sup = (void *)(work - bpf_core_field_offset(struct srcu_usage, work.work));
		return (__u64)BPF_CORE_READ(sup, srcu_ssp);
	}
	return work - bpf_core_field_offset(struct srcu_struct___v6_1, work.work);
}

#endif
