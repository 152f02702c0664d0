/* SPDX-License-Identifier: GPL-2.0-only */
/* view_hist.h - `kdefer hist` as text: for each total a header and a histogram, then its keys. */
#ifndef KDEFER_VIEW_HIST_H
#define KDEFER_VIEW_HIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "model.h"
#include "scope.h"

struct view_hist {
	const struct model *model;
	const struct scope *scope;
	const struct metric *metrics; /* of model_metrics() */
	size_t n;
	const struct filter *filters;
	size_t nfilters;
	size_t width; /* columns */
	bool brief;   /* a further interval: what does not change is not said again */
};

/* Pure: writes to out, keeps nothing. 0 or -ENOMEM; errors of out are the caller's to ask for. */
int view_hist(FILE *out, const struct view_hist *v);

#endif
