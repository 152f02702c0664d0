/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bench_pull.h - how a process of a load has the kernel run a program: by a system call that a
 * tracepoint tells of, or by BPF_PROG_TEST_RUN, which every kernel has.
 */
#ifndef KDEFER_BENCH_PULL_H
#define KDEFER_BENCH_PULL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../bpf/bench.h"

struct bpf_link;
struct bpf_map;
struct bpf_program;

enum bench_pull_how { BENCH_BY_ANY, BENCH_BY_CALL, BENCH_BY_RUN };

struct bench_pull {
	enum bench_pull_how how; /* never BY_ANY once it is open */
	int run_fd;
	struct bpf_link *link;
	struct bench_work
		*work; /* n of them, mapped: shared with processes that are forked later */
	unsigned int n;
};

int bench_pull_parse(void *how, const char *name); /* for an OPT_CALL; 0 or -EINVAL (logged) */
const char *bench_pull_name(const struct bench_pull *t);

/* Before loading: how many processes there will be, and which of the two programs is needed. */
int bench_pull_prepare(struct bpf_map *work, unsigned int n);
/*
 * After loading: attaches `call` unless BY_RUN is wanted, and sees whether it runs. BY_ANY falls back
 * to `run`. 0; -ENODEV: cannot be had (logged); another negative errno (logged).
 */
int bench_pull_open(struct bench_pull *t, enum bench_pull_how want, struct bpf_map *work,
		    struct bpf_program *call, struct bpf_program *run);
void bench_pull_close(struct bench_pull *t);

/* Sums of all slots while they go on. The cursor is none. */
void bench_pull_sum(const struct bench_pull *t, struct bench_work *sum);

/* In a process of the load, once: from now on slot `index` is its own. */
void bench_pull_claim(const struct bench_pull *t, unsigned int index);
/* One run. 0, or a negative errno: the kernel did not run it. */
int bench_pull_once(const struct bench_pull *t, enum bench_op op, unsigned int index);

#endif
