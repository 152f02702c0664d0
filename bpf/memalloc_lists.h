/* SPDX-License-Identifier: GPL-2.0-only */
/* memalloc_lists.h - what bpf/memalloc_lists.bpf.c and src/lists_memalloc.c agree on. */
#ifndef KDEFER_MEMALLOC_LISTS_H
#define KDEFER_MEMALLOC_LISTS_H

#include "defer.h"
#include "memalloc_maps.h"

#define ML_LISTS 16       /* lists of a struct bpf_mem_cache, at most */
#define ML_CACHE_WORDS 64 /* of it, at most: 512 bytes */
#define ML_NODES 1024     /* followed in one run */
#define ML_WINDOW 1024    /* caches that programs know at a time */
#define ML_ROWS 512       /* found by one run */
#define ML_SEND 256       /* records written by one run */

/* How the length of a list of this kernel is found. */
enum ml_kind {
	ML_COUNTED, /* free_llist: its counter */
	ML_OWNED,   /* by walking it; nobody but its CPU touches it */
	ML_WAITING, /* by walking it; only taken as a whole, once its grace period is over */
	ML_SHARED,  /* by walking it; other CPUs add to it, its own also takes from it */
	ML_NUMBER,  /* a counter that we have no name for */
};

struct ml_list {
	__u16 offset; /* in struct bpf_mem_cache, bytes */
	__u16 list;   /* enum kd_list */
	__u16 kind;   /* enum ml_kind */
	__u16 queued; /* where it says whether the callback is queued that this list waits for; 0: no such */
};

/* A file descriptor of a map. */
struct ml_holder {
	__u32 id;
	__u32 tgid;
	char comm[16];
};

struct ml_cache {
	__u64 map;   /* struct bpf_map; 0: global, and there for ever */
	__u64 cache; /* per-CPU */
	__u32 id;    /* the map must still have it after its lists were read */
	__u32 pad;
};

#define ML_MORE (1u << 0)   /* not at its end, or not stable: kd_walk goes on */
#define ML_LOCAL (1u << 1)  /* read on its own CPU */
#define ML_CUT (1u << 2)    /* not walked: at least this many */
#define ML_QUEUED (1u << 3) /* the callback that takes it further is queued, or it cannot be told */

/* One list that is not empty. */
struct ml_row {
	__u32 cache; /* in the window */
	__u32 list;  /* in the table of lists */
	__u32 flags;
	__u32 unit_size;
	__u32 percpu_size;
	__u32 pad;
	__u64 head;   /* first node, at the time of the length */
	__u64 cursor; /* node to go on at; 0: seen to its end */
	__u64 tail;   /* the last node that was counted */
	__u64 length; /* nodes before the cursor */
	__u64 state; /* a hash of the whole cache: equal if nothing of it has changed; 0: of free_llist */
};

/* kd_walk: goes on with one row. */
struct ml_job {
	struct ml_row row;
	struct ml_cache cache;
	__u64 state;    /* of the cache, after this run */
	__u32 restarts; /* times its beginning was found gone */
	__u32 gone;     /* the map is */
};

/* One page-aligned value that user space maps. */
struct ml_shared {
	__u64 raw[ML_CACHE_WORDS]; /* programs' own */
	__u32 look;                /* number of the look under way */
	__u32 pad;
	__u32 rows;     /* kd_sweep: in row[] */
	__u32 vanished; /* kd_sweep: maps that went while their lists were read, in this run */
	__u32 torn;     /* kd_sweep: free_llist walked, but not free_cnt long, in this run */
	__u32 nodes;    /* kd_sweep: followed in this run */
	__u32 checked; /* kd_sweep: free_llist walked to its end, and held against free_cnt, in this run */
	__u32 unchecked; /* kd_sweep: the same, but too long to be walked to its end, or changed meanwhile */
	__u32 walked;  /* kd_walk: nodes followed in this run */
	__u32 took_ns; /* the run, until just before its end */
	struct ml_job job;
	struct ml_cache cache[ML_WINDOW];
	struct ml_row row[ML_ROWS];
	struct kd_rec_pending send[ML_SEND];
};

/*
 * kd_sweep: arg[0] = first cache of the window, arg[1] = end, arg[2] = distance of this CPU's memory,
 * arg[3] = enum ml_place. Returns the cache to go on with.
 */
enum ml_place {
	ML_ON_CPU, /* run on the CPU whose lists they are */
	ML_AFAR,   /* of another CPU, whose lists move meanwhile: never exact */
};

/* kd_walk: arg[0] = distance, arg[1] = enum ml_place. Goes on with `job`. kd_send: arg[0] = records; returns how many went. */

#endif
