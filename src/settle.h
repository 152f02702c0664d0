/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * settle.h - between the last attach and recording: what attaching itself handed over, and the grace
 * periods that it asked for, must not be measured.
 */
#ifndef KDEFER_SETTLE_USER_H
#define KDEFER_SETTLE_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel.h"
#include "plan.h"

/*
 * Flavours (bits of enum kd_flavour) besides RCU that attaching disturbs and rows of the plan that are
 * not off would count: Tasks callbacks hand over others in turn, so where any of them counts, all do.
 */
uint32_t settle_flavours(const struct plan *p);

/* A flavour that is waited for. All zero: not looked at yet. */
struct settle_wait {
	uint32_t first; /* sequence when first looked at */
	bool seen;
	bool waited; /* it was not at rest at once */
};

/*
 * Whether it is past what had been handed over, by an answer of bpf/settle.h: at rest; or, on a host that
 * never is, after as many grace periods as callbacks that hand over callbacks can take.
 */
bool settle_past(struct settle_wait *w, uint32_t answer);

struct settle; /* what looks */

/*
 * Loads it, while the kernel's types are there. NULL: it cannot be had, and the reason is in lacks.
 */
struct settle *settle_load(const struct kernel *k, int ring_fd, char *lacks, size_t size);
void settle_unload(struct settle *s); /* may be NULL */

struct settle_conf {
	uint32_t flavours;
	uint64_t most_ns;     /* then it is given up */
	int (*stopped)(void); /* may be NULL */
};

struct settle_result {
	uint64_t grace_periods; /* waited for, by kind */
	uint64_t took_ns;
	uint32_t unsettled; /* flavours given up on */
};

/* Waits for the flavours (unless s is NULL) and for RCU, and unloads s. */
void settle(struct settle *s, const struct settle_conf *conf, struct settle_result *r);

#endif
