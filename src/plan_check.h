/* SPDX-License-Identifier: GPL-2.0-only */
/* plan_check.h - whether one way to get a measure can work on a kernel. */
#ifndef KDEFER_PLAN_CHECK_H
#define KDEFER_PLAN_CHECK_H

struct kernel;
struct plan_entry;
struct plan_way;

/*
 * 0, with e->hooks those of the way that are there, and e->reason what is missing; or -ENODEV, with the
 * reason and the fix. What comes first on a person's way to a remedy is said first.
 */
int plan_check_way(const struct kernel *k, struct plan_entry *e, const struct plan_way *way);

/* Symbols that are wanted whatever the table asks for; NULL-ended. */
extern const char *const plan_global_symbols[];

#endif
