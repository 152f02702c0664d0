/* SPDX-License-Identifier: GPL-2.0-only */
/* kdefer.bpf.h - kdefers know of each other by the names of their processes. */
#ifndef KDEFER_KDEFER_BPF_H
#define KDEFER_KDEFER_BPF_H

#include "ring.bpf.h"

/*
 * Is the running task a kdefer's, this one's or another's: the command, or the process that holds its
 * hooks (src/attach.c)? What is asked for in it is asked for by measuring, not by what is measured.
 */
static __always_inline bool by_kdefer(void)
{
	static const char command[16] = "kdefer", hooks[16] = "kdefer-hooks";
	__u64 comm[2] = {}, name[2];

	bpf_get_current_comm(comm, sizeof(comm));
	__builtin_memcpy(name, command, sizeof(name));
	if (comm[0] == name[0])
		return true;
	__builtin_memcpy(name, hooks, sizeof(name));
	return comm[0] == name[0] && comm[1] == name[1];
}

#endif
