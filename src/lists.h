/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * lists.h - pending lists of one source, read as kernel state: nothing is hooked. One BPF file that
 * user space runs on demand, one file here, rows with BACKEND_STATE in the plan.
 */
#ifndef KDEFER_LISTS_H
#define KDEFER_LISTS_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel.h"
#include "plan.h"
#include "stream.h"

struct lists_conf {
	const struct kernel *kernel;
	struct plan *plan; /* the ..._PENDING rows of this source */
	int ring_fd;       /* the session's ring buffer, which the object shares */
	bool no_ipi;       /* read other CPUs from afar, not exact, rather than interrupt them */
};

struct lists {
	unsigned int source; /* enum kd_source_id */
	uint32_t also;       /* bits of further sources whose rows it serves; 0: none */

	/*
	 * Opens and loads. Rows that cannot be had are refused in the plan with their reason. 0, -ENODEV
	 * when no row is left, or another negative errno (logged).
	 */
	int (*load)(void **state, const struct lists_conf *conf);
	/*
	 * A part of a snapshot: runs programs that write KD_REC_PENDING, _GP, _OWED (and, if it has any,
	 * KD_REC_COUNT and _LOST) into the ring, each under 1 ms. `cursor` is 0 first, then what was
	 * returned. 0: all written; > 0: drain the ring and come again; negative errno: failed (logged).
	 *
	 * A snapshot is whole: a list that is not in it is taken for empty, so empty lists need no record.
	 * Each list (source, flavour, list, CPU, key, unit size) at most once. One that may be empty but
	 * was not seen exactly has length 0 without KD_PENDING_EXACT.
	 */
	int64_t (*look)(void *state, uint32_t cursor);
	/* After a look: KD_REC_NAME for what it saw and has not named yet. 0 or what the sink said. */
	int (*names)(void *state, struct stream *out);
	void (*unload)(void *state);
	uint64_t (*kernel_bytes)(void *state); /* of its maps, the ring not counted */
};

#define LISTS_MAX 8
extern const struct lists *const lists_sources[]; /* NULL-terminated, at most LISTS_MAX */

/* Switches off the ..._PENDING rows of a source that are not off yet. */
void lists_refuse(struct plan *plan, unsigned int source, const char *reason_fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
