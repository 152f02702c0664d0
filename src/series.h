/* SPDX-License-Identifier: GPL-2.0-only */
/* series.h - between model.c, series.c and runs.c, for nobody else: the parts of the model. */
#ifndef KDEFER_SERIES_H
#define KDEFER_SERIES_H

#include <stdlib.h>

#include "model.h"

void series_init(struct model *m);
void series_free(struct model *m);

int series_record_series(struct model *m, const struct kd_rec_series *r);
int series_record_hist(struct model *m, const struct kd_rec_hist *r);
int series_record_stat(struct model *m, const struct kd_rec_stat *r);
int series_record_worst(struct model *m, const struct kd_rec_worst *r);

/* Ends the interval of every series and group; as the baseline, forgets what came so far. */
void series_end_interval(struct model *m, bool baseline);
/* Forgets what came since the baseline. */
void series_rebase(struct model *m);

/* Runs of the measured command: runs.c. */
int runs_record_run(struct model *m, const struct kd_rec_run *r);
int runs_record_value(struct model *m, const struct kd_rec_value *r);
void runs_end_interval(struct model *m);
void runs_free(struct model *m);

/* Counts what a bound leaves out, and says it once. Returns 0. */
int model_refuse(struct model *m, const char *what);

/* Room for one more in an array of n that only grows, doubling. NULL: no memory. */
static inline void *model_grown(void *array, size_t n, size_t size)
{
	if (n & (n - 1))
		return array;
	return reallocarray(array, n ? 2 * n : 1, size);
}

#endif
