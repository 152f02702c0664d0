/* SPDX-License-Identifier: GPL-2.0-only */
/* bars.h - a histogram as people know it from bcc and bpftrace: powers of two, counts, bars. */
#ifndef KDEFER_BARS_H
#define KDEFER_BARS_H

#include <stddef.h>
#include <stdio.h>

#include "catalog.h"
#include "histogram.h"

/*
 * `title` stands over the ranges. Empty rows at both ends are left out, two and more inside become
 * one "..." line. Nothing at all for an empty histogram. Lines fit `width` columns (40 and up).
 */
void bars_print(FILE *out, const struct hist *h, enum unit unit, const char *title, size_t width);

#endif
