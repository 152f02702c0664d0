/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel_preempt.h - the preemption model, where the running kernel does not show it (no debugfs): from
 * its configuration and how it was booted.
 */
#ifndef KDEFER_KERNEL_PREEMPT_H
#define KDEFER_KERNEL_PREEMPT_H

#include <stdbool.h>

struct preempt_config {
	bool none, voluntary, full, lazy, rt; /* what was chosen */
	bool dynamic;                         /* can be another, by boot option and at run time */
	bool has_lazy;                        /* the machine's code knows the lazy model */
};

/* What a line of the configuration says of it, "CONFIG_X=y"; others change nothing. */
void preempt_config_line(struct preempt_config *c, const char *line);
/*
 * The model, or "": not to be told. cmdline: the kernel's command line, NULL unknown. *fixed: it
 * cannot have been changed since.
 */
const char *preempt_model(const struct preempt_config *c, const char *cmdline, bool *fixed);

#endif
