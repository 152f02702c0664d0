/* SPDX-License-Identifier: GPL-2.0-only */
/* samples_read.h - between samples_read.c and samples_values.c, for nobody else. */
#ifndef KDEFER_SAMPLES_READ_H
#define KDEFER_SAMPLES_READ_H

#include "model.h"
#include "samples.h"

/* Pieces of the run that is going on. */
struct going {
	int subject;
	struct sample_segments *segments;
};

struct reader {
	struct samples *t;
	const char *path;
	enum sample_side side; /* SIDE_COUNT: what the marks say */
	uint32_t file, host, boot;
	struct model m;
	struct going *going;
	size_t ngoing;
	uint32_t seen[SIDE_COUNT]; /* runs of this file */
};

/* Number of the subject that a metric is of; -E2BIG: left out, -ENOMEM. */
int reader_subject(struct reader *r, const struct metric *x);
/* All values of a run; `of` is NULL where it is the whole capture. 0 or -ENOMEM. */
int reader_values(struct reader *r, size_t run, const struct run *of);

#endif
