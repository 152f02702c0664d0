/* SPDX-License-Identifier: GPL-2.0-only */
/* kernel_config.h - the configuration that the running kernel was built with. */
#ifndef KDEFER_KERNEL_CONFIG_H
#define KDEFER_KERNEL_CONFIG_H

/*
 * Calls each() for every line, without its newline, until that returns other than 0, which is returned.
 * -ENOENT: this host has none that can be read.
 */
int kernel_config_each(int (*each)(void *ctx, char *line), void *ctx);

#endif
