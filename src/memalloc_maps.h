/* SPDX-License-Identifier: GPL-2.0-only */
/* memalloc_maps.h - the maps that have an allocator of their own, and who holds them. */
#ifndef KDEFER_MEMALLOC_MAPS_H
#define KDEFER_MEMALLOC_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../bpf/memalloc_lists.h"

/* --- what goes with bpf/memalloc_maps.bpf.h, in whatever object --- */

/* Numbers of possible CPUs are below n; which are, by number, and how many. 0 or a negative errno. */
struct ml_cpus {
	bool *possible;
	uint32_t n, npossible;
};
int memalloc_cpus_read(struct ml_cpus *c);

/*
 * Fills the map `distances` by kd_distance, and *distance (may be NULL; c->n words, the caller frees)
 * with the same. 0 or a negative errno.
 */
int memalloc_distances(const struct ml_cpus *c, int prog_fd, int map_fd, uint64_t **distance);

/* Where allocators are that belong to no map, by kd_globals and the map `globals`. */
int memalloc_globals(int prog_fd, int map_fd, struct ml_globals *g);
const char *memalloc_global_name(unsigned int i);
bool memalloc_any_global(const struct ml_globals *g);

/* --- maps --- */

struct ml_map {
	struct ml_found found;
	uint64_t said; /* a hash of what was last said of it; 0: nothing yet */
};

/* In ascending order of ids. */
struct ml_maps {
	struct ml_map *map;
	size_t n;
};

/* All there are now, by a link of kd_maps; what was said of those that are still there is kept. */
int memalloc_maps_read(struct ml_maps *m, int prog_fd);
struct ml_map *memalloc_maps_find(const struct ml_maps *m, uint32_t id); /* NULL: none */
void memalloc_maps_free(struct ml_maps *m);

/* Who holds maps: processes with a file descriptor, and paths in BPF file systems. */
struct ml_holders;

/* By a link of kd_files. Looks at every open file of the host: not to be done often. 0 or a negative errno. */
int memalloc_holders_read(struct ml_holders **h, int prog_fd);
void memalloc_holders_free(struct ml_holders *h);
/*
 * Holders of a map, each "PID COMM" or "pin PATH", at most `max`, the last "more N" if there are more.
 * Points text[] into buf. Returns how many.
 */
int memalloc_holders_texts(const struct ml_holders *h, uint32_t id, const char **text, int max,
			   char *buf, size_t size);

#endif
