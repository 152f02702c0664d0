/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bench_guard.h - takes away what a load makes outside of its own memory (cgroups, files, folders,
 * settings), however kdefer ends: a process of its own does it when kdefer is done or dead. Maps,
 * programs and links need none of this, they go with the last process that holds them.
 */
#ifndef KDEFER_BENCH_GUARD_H
#define KDEFER_BENCH_GUARD_H

#include <stddef.h>
#include <sys/types.h>

struct bench_guard {
	pid_t pid; /* 0: not started */
	int pipe;
	char **made; /* what it was told of, to see whether it is gone */
	size_t n;
};

/*
 * Before anything is made, and before maps are opened that it would hold. 0 or a negative errno
 * (logged).
 */
int bench_guard_start(struct bench_guard *g);

/*
 * To be called before the thing is made; what is not there in the end is nobody's fault. Taken away
 * in the reverse order. 0 or a negative errno (logged): then do not make it.
 */
int bench_guard_cgroup(struct bench_guard *g, const char *path); /* its processes are killed */
int bench_guard_folder(struct bench_guard *g, const char *path); /* with the files in it */
int bench_guard_file(struct bench_guard *g, const char *path);
int bench_guard_mount(struct bench_guard *g, const char *path);
/* Not taken away but written: puts a setting back. text is one line without a newline. */
int bench_guard_write(struct bench_guard *g, const char *path, const char *text);

/* All of that is done now; says on standard error what could not be taken away. NULL-safe. */
void bench_guard_end(struct bench_guard *g);

#endif
