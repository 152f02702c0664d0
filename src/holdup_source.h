/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * holdup_source.h - what the sources of reports (src/holdup_gp.c and its like) have in common. A struct
 * holdup_source is the first member of the state of each.
 */
#ifndef KDEFER_HOLDUP_SOURCE_H
#define KDEFER_HOLDUP_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "source.h"

struct bpf_object;
struct bpf_object_skeleton;

struct holdup_source {
	struct plan *plan;
	unsigned int id; /* enum kd_source_id */
	struct bpf_object *obj;
	int control_fd, tick_fd; /* its programs kd_control and kd_tick */
};

/*
 * Makes a zeroed state of `size` bytes and has `open` fill it: its object opened, sized, and loaded by
 * holdup_source_load(). Where that fails the rows are refused, and it is given to `unload`. As load() of
 * struct source.
 */
int holdup_source_new(void **state, const struct source_conf *conf, size_t size, unsigned int id,
		      int (*open)(void *state, const struct source_conf *conf),
		      void (*unload)(void *state));

/* -E2BIG, with its reason in the plan, where `bytes` are more than is left. */
int holdup_source_fits(const struct holdup_source *h, const struct source_conf *conf,
		       uint64_t bytes);

/* An error that opening the object ended with, logged. */
int holdup_source_not_opened(const struct holdup_source *h, int err);

/* Loads what the plan uses of an open object, its maps sized; else the reason is in the plan. */
int holdup_source_load(struct holdup_source *h, struct bpf_object_skeleton *skeleton, int ring_fd);

/* Has kd_percpu find RCU's per-CPU data; else the reason is in the plan. */
int holdup_source_percpu(const struct holdup_source *h, int percpu_fd);

/* The functions of struct source that are alike. kd_control is asked 0 to start and 1 to stop. */
size_t holdup_source_hooks(void *state, struct source_hook *hooks, size_t max);
int holdup_source_start(void *state);
void holdup_source_stop(void *state);
int64_t holdup_source_tick(void *state, uint32_t cursor, uint32_t interval);
uint64_t holdup_source_bytes(void *state);

#endif
