/* SPDX-License-Identifier: GPL-2.0-only */
/* memalloc_layout.h - the lists of this kernel's struct bpf_mem_cache, as its BTF has them. */
#ifndef KDEFER_MEMALLOC_LAYOUT_H
#define KDEFER_MEMALLOC_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "../bpf/memalloc_lists.h"

struct btf;

#define ML_TYPES 64

struct ml_layout {
	struct ml_list list[ML_LISTS];
	char name[ML_LISTS][64];
	size_t n;
	size_t left_out;         /* lists that there was no room for */
	uint32_t cache_size;     /* of struct bpf_mem_cache, bytes */
	uint32_t sizes;          /* caches of an allocator of all sizes */
	char type[ML_TYPES][32]; /* names of map types, by number; "": none */
	uint32_t type_rhash;     /* number of that map type; 0: this kernel has none */
};

/*
 * Those that we know by name, and every further list head and counter of objects by the kernel's own
 * name (KD_LIST_UNKNOWN + i). 0, or -ENOENT: no such structure, or a list of it is not where it can be.
 */
int memalloc_layout(const struct btf *btf, struct ml_layout *l);

#endif
