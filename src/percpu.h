/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * percpu.h - user side of bpf/percpu.bpf.h: tells an object where the kernel's static per-CPU variables
 * are, without a symbol. Before loading percpu_fill() and percpu_size(), after it percpu_find().
 */
#ifndef KDEFER_PERCPU_USER_H
#define KDEFER_PERCPU_USER_H

#include <linux/types.h>

#include "../bpf/percpu.h"
#include "kernel.h"

struct bpf_map;

/* From BTF, which must not be forgotten yet. 0, -ENOENT when the run queues or RCU's data are not in it. */
int percpu_fill(struct percpu_where *w, const struct kernel *k);
/* The name of a variable as BTF has it. */
const char *percpu_name(enum percpu_var var);
/* Sizes the map `percpu_bases`. */
void percpu_size(struct bpf_map *bases, const struct percpu_where *w);
/*
 * Runs kd_percpu. 0; -ENODATA when the way leads nowhere on this kernel; another negative errno. CPUs
 * that were not found have no addresses, which programs see (percpu_address() is 0).
 */
int percpu_find(int prog_fd);

#endif
