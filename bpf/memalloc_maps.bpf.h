/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * memalloc_maps.bpf.h - which allocators of BPF memory there are, and where: shared by what reads their
 * lists and by what watches them at work.
 *
 * An allocator's caches are per-CPU memory. What the kernel keeps of it is a base; a CPU's copy is
 * that CPU's distance away, the same for all such memory. A per-CPU map of our own tells the distance.
 */
#ifndef KDEFER_MEMALLOC_MAPS_BPF_H
#define KDEFER_MEMALLOC_MAPS_BPF_H

#include "ring.bpf.h"
#include "memalloc_maps.h"

const volatile __u32 type_rhash; /* number of that type of map on this kernel; 0: none */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* user space: a CPU each */
	__type(key, __u32);
	__type(value, __u64);
} distances SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ml_globals);
} globals SEC(".maps");

/* Only there to be looked at. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} sample_percpu SEC(".maps");

extern const void bpf_global_ma __ksym __weak;
extern const void bpf_global_percpu_ma __ksym __weak;
extern const void bpf_cpumask_ma __ksym __weak;

/* A pointer as a number, which the verifier does not follow. */
static __always_inline __u64 number_of(void *pointer)
{
	void *volatile p = pointer;
	__u64 v = 0;

	bpf_probe_read_kernel(&v, sizeof(v), (void *)&p);
	return v;
}

/* arg[0] = CPU. */
SEC("raw_tp")
int kd_distance(struct kd_run_args *args)
{
	__u32 zero = 0, cpu = args->arg[0];
	struct bpf_array *array;
	void *there = bpf_map_lookup_percpu_elem(&sample_percpu, &zero, cpu);
	__u64 distance;

	if (!there)
		return 1;
	array = (void *)number_of(&sample_percpu);
	distance = number_of(there) - (__u64)BPF_CORE_READ(array, pptrs[0]);
	return bpf_map_update_elem(&distances, &cpu, &distance, BPF_ANY) ? 1 : 0;
}

static __always_inline void global_at(struct ml_globals *g, __u32 i, const void *symbol)
{
	struct bpf_mem_alloc *ma = (void *)symbol;

	g->of[i].sizes = symbol ? (__u64)BPF_CORE_READ(ma, caches) : 0;
	g->of[i].one = symbol ? (__u64)BPF_CORE_READ(ma, cache) : 0;
}

/* Allocators that belong to no map, where kallsyms has their addresses. */
SEC("raw_tp")
int kd_globals(struct kd_run_args *args)
{
	__u32 zero = 0;
	struct ml_globals *g = bpf_map_lookup_elem(&globals, &zero);

	if (!g)
		return 1;
	global_at(g, 0, &bpf_global_ma);
	global_at(g, 1, &bpf_global_percpu_ma);
	global_at(g, 2, &bpf_cpumask_ma);
	return 0;
}

static __always_inline void caches_of(struct ml_found *f, void *map)
{
	struct bpf_htab *htab = map;
	struct lpm_trie *trie = map;
	struct bpf_rhtab *rhtab = map;
	struct bpf_local_storage_map *storage = map;

	switch (f->type) {
	case BPF_MAP_TYPE_HASH:
	case BPF_MAP_TYPE_PERCPU_HASH:
	case BPF_MAP_TYPE_LRU_HASH:
	case BPF_MAP_TYPE_LRU_PERCPU_HASH:
	case BPF_MAP_TYPE_HASH_OF_MAPS:
		f->cache[0] = (__u64)BPF_CORE_READ(htab, ma.cache);
		f->cache[1] = (__u64)BPF_CORE_READ(htab, pcpu_ma.cache);
		return;
	case BPF_MAP_TYPE_LPM_TRIE:
		if (bpf_core_field_exists(trie->ma))
			f->cache[0] = (__u64)BPF_CORE_READ(trie, ma.cache);
		return;
	case BPF_MAP_TYPE_SK_STORAGE:
	case BPF_MAP_TYPE_INODE_STORAGE:
	case BPF_MAP_TYPE_TASK_STORAGE:
	case 32: /* BPF_MAP_TYPE_CGRP_STORAGE, which older headers lack */
		if (bpf_core_field_exists(storage->selem_ma)) {
			f->cache[0] = (__u64)BPF_CORE_READ(storage, selem_ma.cache);
			f->cache[1] = (__u64)BPF_CORE_READ(storage, storage_ma.cache);
		}
		return;
	}
	if (type_rhash && f->type == type_rhash && bpf_core_field_exists(rhtab->ma))
		f->cache[0] = (__u64)BPF_CORE_READ(rhtab, ma.cache);
}

SEC("iter/bpf_map")
int kd_maps(struct bpf_iter__bpf_map *ctx)
{
	struct bpf_map *map = ctx->map;
	struct ml_found f = {};

	if (!map)
		return 0;
	f.map = (__u64)map;
	f.id = BPF_CORE_READ(map, id);
	f.type = BPF_CORE_READ(map, map_type);
	caches_of(&f, map);
	if (!f.id || !(f.cache[0] | f.cache[1]))
		return 0;
	bpf_probe_read_kernel(f.name, sizeof(f.name), &map->name);
	bpf_seq_write(ctx->meta->seq, &f, sizeof(f));
	return 0;
}

#endif
