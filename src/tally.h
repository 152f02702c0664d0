/* SPDX-License-Identifier: GPL-2.0-only */
/* tally.h - reports of long waits summed up by cause, task and function. */
#ifndef KDEFER_TALLY_H
#define KDEFER_TALLY_H

#include <stddef.h>
#include <stdint.h>

#include "model.h"
#include "scope.h"
#include "verdict.h"

#define TALLY_FUNC 96

struct tally_row {
	uint8_t source, flavour;
	enum cause cause;
	char comm[16];         /* of whoever was in the way; "" not known */
	char func[TALLY_FUNC]; /* of the callback, the caller, or what ran; "" not known */
	uint64_t count, uncertain;
	uint64_t part_ns;        /* time in the way, in all */
	uint64_t sum_ns, max_ns; /* of the waits */
};

struct tally {
	struct tally_row *row; /* the most time first */
	size_t n;
	uint64_t reports, unknown; /* in the window */
};

/* Of the reports in the window. The caller frees t->row with free(). 0 or -ENOMEM. */
int tally_make(struct tally *t, const struct model *m, const struct scope *sc);

/* The longest reports of the window, at most `most`; returns how many. The caller frees *list. */
int tally_worst(const struct model *m, const struct scope *sc, size_t most,
		const struct holdup ***list, size_t *n);

/* The function that stands for a report: what a person would look for in the source. "" unknown. */
const char *tally_func(char *buf, size_t size, const struct holdup *h, const struct verdict *v);

#endif
