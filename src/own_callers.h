/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * own_callers.h - callers that our own hooks hide. Where a function that we follow to its end ends with a
 * jump to another, that one returns to our trampoline, "bpf_trampoline_NUMBER" to the kernel, and so its
 * caller would be none of the kernel's functions and another after each boot. The number says which
 * function the trampoline is for: that is the caller.
 */
#ifndef KDEFER_OWN_CALLERS_H
#define KDEFER_OWN_CALLERS_H

#include <stddef.h>
#include <stdint.h>

#include "../bpf/defer.h"

#define OWN_CALLERS_MAX 128

struct own_callers {
	size_t n;
	uint32_t btf_id[OWN_CALLERS_MAX];
	const char *function[OWN_CALLERS_MAX];
};

/* A function of this id in the kernel's BTF is hooked. The name is not copied; more than fit are left out. */
void own_callers_add(struct own_callers *c, uint32_t btf_id, const char *function);
/* The same by a program that is loaded; one that hooks no function of the kernel's is left out. */
void own_callers_add_program(struct own_callers *c, int prog_fd, const char *function);

union own_callers_buf {
	struct kd_rec rec;
	struct kd_rec_series series;
	struct kd_rec_holdup holdup;
};

/* The record itself, or a copy in buf that names the function instead of its trampoline. */
const void *own_callers_name(const struct own_callers *c, const void *rec, size_t size,
			     union own_callers_buf *buf);

#endif
