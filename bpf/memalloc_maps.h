/* SPDX-License-Identifier: GPL-2.0-only */
/* memalloc_maps.h - what the programs of memalloc_maps.bpf.h say of allocators of BPF memory. */
#ifndef KDEFER_MEMALLOC_MAPS_BPF_SHARED_H
#define KDEFER_MEMALLOC_MAPS_BPF_SHARED_H

#include "defer.h"

#define ML_GLOBALS 3 /* bpf_global_ma, bpf_global_percpu_ma, bpf_cpumask_ma */

/* A map with an allocator, as kd_maps writes it. */
struct ml_found {
	__u64 map;      /* struct bpf_map */
	__u64 cache[2]; /* per-CPU, of one size; 0: none */
	__u32 id;
	__u32 type;
	char name[16];
};

struct ml_globals {
	struct {
		__u64 sizes; /* per-CPU: caches of all sizes; 0: none */
		__u64 one;   /* per-CPU: a cache of one size; 0: none */
	} of[ML_GLOBALS];
};

#endif
