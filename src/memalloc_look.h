/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * memalloc_look.h - one look at the lists of all BPF allocators, in small parts: runs the programs of
 * bpf/memalloc_lists.bpf.c, CPU by CPU, and makes records of what they find.
 */
#ifndef KDEFER_MEMALLOC_LOOK_H
#define KDEFER_MEMALLOC_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memalloc_layout.h"
#include "memalloc_maps.h"

/* One cache of an allocator, on all CPUs. */
struct ml_place_of {
	struct ml_cache cache;
	uint64_t key; /* map id, or KD_KEY_GLOBAL + n */
};

/* A list that was not empty. */
struct ml_entry {
	struct ml_row row;
	uint32_t cache; /* index of all caches */
	uint32_t cpu;
	enum ml_place place;
	bool exact;
	uint64_t key;
	uint64_t bytes; /* KD_UNKNOWN: it is a counter */
	uint64_t age_ns;
};

/* What a list was when it was last seen to have changed. */
struct ml_seen {
	uint64_t key;
	uint32_t unit_size, cpu, list;
	uint64_t head, tail, length, bytes, state;
	bool queued, exact;
	bool cut; /* at least so long */
	uint64_t since_ns;
};

/* Of objects that wait for a grace period, and their bytes: since the first look, at least so many. */
struct ml_flow {
	uint64_t looks; /* that had one before them */
	uint64_t in, out, in_bytes, out_bytes;
};

enum ml_phase { ML_SWEEP, ML_WALK, ML_FINISH, ML_SENDING, ML_DONE };

struct ml_look {
	/* Set once. */
	int sweep_fd, walk_fd, send_fd;
	struct ml_shared *shared;
	const struct ml_layout *layout;
	uint64_t *distance; /* of each possible CPU */
	const struct ml_cpus *cpus;
	bool *online;
	bool no_ipi;

	/* All caches of this look. */
	struct ml_place_of *cache;
	size_t ncaches;

	/* Where it is. */
	enum ml_phase phase;
	size_t window, window_n; /* caches that programs know now */
	uint32_t cpu, next;      /* CPU of the window, cache of the CPU */
	int stalled;
	size_t at; /* entry that is walked, or sent */
	int runs;  /* of this entry */
	uint64_t begun_ns, walk_until_ns;

	struct ml_entry *entry;
	size_t n, room;
	struct ml_seen *seen; /* sorted: a map's objects of one size stand together */
	size_t nseen;
	struct ml_flow flow;

	/* Totals. */
	uint64_t vanished, torn, checked, unchecked;
	uint64_t read_bytes, runs_done, run_ns, longest_ns; /* see KD_CNT_READ_BYTES */
};

/* Begins one; cache, ncaches and online are set. */
void memalloc_look_begin(struct ml_look *l);
/* The next small part. 0, 1: the ring is full, a negative errno (logged). The last sets phase to ML_DONE. */
int memalloc_look_step(struct ml_look *l);
void memalloc_look_free(struct ml_look *l);

/* src/memalloc_entries.c: entries of one list become one, and get their bytes and age. 0 or -ENOMEM. */
int memalloc_entries_finish(struct ml_look *l);
/*
 * src/memalloc_flow.c: adds to `flow` what came and left between two looks, each sorted as `seen` is.
 * `last_list`: the one from which objects leave, as an index of the layout's lists.
 */
void memalloc_flow_add(struct ml_flow *flow, uint32_t last_list, const struct ml_seen *then,
		       size_t nthen, const struct ml_seen *now, size_t nnow);
void memalloc_entries_record(const struct ml_look *l, const struct ml_entry *e,
			     struct kd_rec_pending *r);

#endif
