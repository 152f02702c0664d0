/* SPDX-License-Identifier: GPL-2.0-only */
/* bpf_util.h - what every source does with libbpf. */
#ifndef KDEFER_BPF_UTIL_H
#define KDEFER_BPF_UTIL_H

#include <stddef.h>
#include <stdint.h>

struct bpf_object;

/* libbpf's own messages are kept for the reason of a failure, and never shown on their own. Call once. */
void bpf_util_quiet(void);

struct bpf_object_open_opts;

/*
 * How to open an object. A type that the kernel does not have is looked for in the BTF of its modules
 * too, which takes CAP_SYS_ADMIN and is an error of libbpf 1.1 without: then only in the kernel's own.
 */
const struct bpf_object_open_opts *bpf_util_open_opts(void);

/* Loads; keeps what libbpf and the verifier said last, for bpf_util_load_error(). 0 or negative errno. */
int bpf_util_load(struct bpf_object *obj);
/* The same of a skeleton, whose global variables are then mapped too. */
struct bpf_object_skeleton;
int bpf_util_load_skeleton(struct bpf_object_skeleton *skel);
/* One line: why the last load failed. */
const char *bpf_util_load_error(int err);

/*
 * Runs a SEC("raw_tp") program with four words of arguments, here or on a given CPU (then in its
 * interrupt, so that nothing of that CPU moves meanwhile). What it returned goes to ret if not NULL.
 * 0; -ENXIO when that CPU is offline; another negative errno.
 */
int bpf_util_run(int prog_fd, uint64_t args[4], uint32_t *ret);
int bpf_util_run_on(int prog_fd, uint64_t args[4], int cpu, uint32_t *ret);

/*
 * Runs an iterator program once: all it writes, as an array of *n elements of `size` bytes, which
 * the caller frees. 0 or a negative errno (not logged).
 */
int bpf_util_iterate(int prog_fd, size_t size, void **array, size_t *n);
/*
 * One run of an iterator program, to be read to its end. Its link is gone before it is read: while we
 * look, nothing is to be seen of us that could be taken for a hook. A descriptor or a negative errno.
 */
int bpf_util_iterator(int prog_fd);

/* Kernel memory of all maps of an object but the one called `except`, as the kernel accounts it. */
uint64_t bpf_util_map_bytes(const struct bpf_object *obj, const char *except);
/* The same of one map. */
uint64_t bpf_util_fd_bytes(int map_fd);

/* Events that the kernel did not hand to this program since it ran already on that CPU. */
uint64_t bpf_util_missed(int prog_fd);

#endif
