/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * memalloc.h - what the two sides of the memalloc source share besides the stream. Only
 * bpf/memalloc.bpf.c and src/source_memalloc.c include it.
 */
#ifndef KDEFER_MEMALLOC_H
#define KDEFER_MEMALLOC_H

#include "defer.h"

/* What is measured; also the slot of what finds no room, or whose map is not known. 0: none. */
enum ma_kind {
	MA_NONE,
	MA_RCU, /* latency, by stage */
	MA_TRACE,
	MA_REFILL,
	MA_DRAIN,
	MA_EMPTY, /* refill_failed */
	MA_KINDS,
};

/* Lists of worst samples for each kind. Not one a CPU, for our programs can be preempted. */
#define MA_BINS 4
#define MA_LISTS (8 * MA_BINS)

/* Something handed over, by the address of its callback's head. */
struct ma_open {
	__u64 when; /* ns; MA_SKIP: left out by sampling */
	__u64 cache;
	__u32 cpu;
	__u32 kind; /* MA_RCU, MA_TRACE */
};

#define MA_SKIP 1ULL

/*
 * An allocator, by the base of its per-CPU memory, which may be another's later. So each that is made
 * gets a number of its own, and what it does counts under that. Which map it is of is found out when
 * a tick comes, and the map has its id.
 */
struct ma_owner {
	__u32 serial;
	__u32 global; /* 1 + which of those that belong to no map; 0: of a map */
};
#define MA_SERIAL_OURS (1u << 31) /* given by a program, others by user space */

/* The map of an allocator, by its serial. */
struct ma_map {
	__u32 id;
	char name[20]; /* NUL-terminated */
};

/*
 * Key of a series: serial, size of objects (24 bits), which global allocator (2 bits), kind (3 bits).
 * Never 0, for the kind is not.
 */
#define MA_KEY_SIZE_SHIFT 32
#define MA_KEY_SIZE_MASK 0xffffffULL
#define MA_KEY_GLOBAL_SHIFT 56
#define MA_KEY_KIND_SHIFT 58

/* What the run-on-demand program is asked (struct kd_run_args.arg[0]). */
enum ma_run {
	MA_START,
	MA_STOP,
};

/*
 * kd_tick: arg[0] = cursor (0 first), arg[1] = the interval that ends, arg[2] = hand-overs that the
 * kernel kept from our programs since the start. Returns the next cursor, 0 = done.
 */

#endif
