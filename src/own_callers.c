// SPDX-License-Identifier: GPL-2.0-only
/* own_callers.c - callers that our own hooks hide. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "own_callers.h"

#define TRAMPOLINE "bpf_trampoline_"
#define OF_KERNEL (1ULL << 31) /* set where the function is not that of another BPF program */

void own_callers_add(struct own_callers *c, uint32_t btf_id, const char *function)
{
	if (c->n >= OWN_CALLERS_MAX)
		return;
	c->btf_id[c->n] = btf_id;
	c->function[c->n++] = function;
}

void own_callers_add_program(struct own_callers *c, int prog_fd, const char *function)
{
	struct bpf_prog_info info = { 0 };
	__u32 len = sizeof(info);

	if (!bpf_obj_get_info_by_fd(prog_fd, &info, &len) && info.type == BPF_PROG_TYPE_TRACING &&
	    info.attach_btf_id)
		own_callers_add(c, info.attach_btf_id, function);
}

static const char *function_of(const struct own_callers *c, const char *name)
{
	uint64_t key;

	if (strncmp(name, TRAMPOLINE, strlen(TRAMPOLINE)) != 0)
		return NULL;
	key = strtoull(name + strlen(TRAMPOLINE), NULL, 10);
	for (size_t i = 0; key & OF_KERNEL && i < c->n; i++)
		if (c->btf_id[i] == (key & (OF_KERNEL - 1)))
			return c->function[i];
	return NULL;
}

static void put_name(char *name, size_t size, const char *function)
{
	memset(name, 0, size);
	snprintf(name, size, "%s", function);
}

const void *own_callers_name(const struct own_callers *c, const void *rec, size_t size,
			     union own_callers_buf *buf)
{
	const struct kd_rec_series *series = rec;
	const struct kd_rec_holdup *holdup = rec;
	unsigned int kind = series->rec.kind;
	const char *function = NULL;

	if (kind == KD_REC_SERIES && size == sizeof(*series) && series->source == KD_SRC_RCU_GP &&
	    series->dim == KD_DIM_MAIN)
		function = function_of(c, series->name);
	else if (kind == KD_REC_HOLDUP && size == sizeof(*holdup) && holdup->what == KD_WAIT_CALLER)
		function = function_of(c, holdup->name);
	if (!function)
		return rec;
	memcpy(buf, rec, size);
	if (kind == KD_REC_SERIES)
		put_name(buf->series.name, sizeof(buf->series.name), function);
	else
		put_name(buf->holdup.name, sizeof(buf->holdup.name), function);
	return buf;
}
