/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bench_memory.h - memory that a load is charged for: in a cgroup of its own, v2 or v1, above what
 * such a cgroup is charged for without the load.
 */
#ifndef KDEFER_BENCH_MEMORY_H
#define KDEFER_BENCH_MEMORY_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bench_guard;

struct bench_cgroup {
	char path[PATH_MAX]; /* "": there is none */
	int version;         /* 2 or 1 */
	char why[256];       /* there is none: why not */
};

/*
 * Makes a cgroup kdefer-bench-PID[-suffix] that counts memory, below our own if it can be there. 0;
 * -ENODEV: cannot be had (why says it, nothing is logged).
 */
int bench_cgroup_make(struct bench_cgroup *g, struct bench_guard *guard, const char *suffix);
int bench_cgroup_remove(struct bench_cgroup *g);     /* before its time; 0 or a negative errno */
int bench_cgroup_join(const struct bench_cgroup *g); /* this process; 0 or a negative errno */
/* Writes a setting of the cgroup whose folder this is. 0 or a negative errno. */
int bench_cgroup_write(const char *dir, const char *file, const char *text);
int bench_cgroup_limit(const struct bench_cgroup *g, uint64_t bytes);
int bench_cgroup_usage(const struct bench_cgroup *g, uint64_t *bytes);
int bench_cgroup_limit_hits(const struct bench_cgroup *g, uint64_t *times);

/* What memory.current and its like may say too much: what CPUs have been charged for in advance. */
uint64_t bench_memory_resolution(void);

/*
 * Has make(ctx) make a map in a process that is in the cgroup, so that this is charged for all that
 * the map ever takes, and for nothing else. The descriptor is ours then. Before that a process comes
 * and goes that makes none: *base is what the cgroup is charged for that. A cgroup that could not be
 * had is left out. A descriptor, or a negative errno (not logged).
 */
int bench_memory_map(const struct bench_cgroup *g, int (*make)(void *ctx), void *ctx,
		     uint64_t *base);

/* Usage over a window, by samples; its peak by the kernel, where that can tell it of the window. */
struct bench_memory {
	const struct bench_cgroup *g;
	uint64_t base, start, last, most;
	double sum, squares;                   /* of bytes times ns */
	uint64_t last_ns, ns, samples, unread; /* unread: samples that could not be had */
	int peak_fd;                           /* of a file that was reset for us; -1 */
	uint64_t peak_before;  /* since the cgroup was made, when the window began */
	uint64_t peak;         /* above base; filled by bench_memory_end() */
	const char *peak_from; /* "kernel" or "samples" */
};

void bench_memory_begin(struct bench_memory *m, const struct bench_cgroup *g, uint64_t base,
			uint64_t now_ns);
void bench_memory_sample(struct bench_memory *m, uint64_t now_ns);
void bench_memory_end(struct bench_memory *m, uint64_t now_ns);
double bench_memory_mean(const struct bench_memory *m); /* above base, in bytes */
double bench_memory_sd(const struct bench_memory *m);

#endif
