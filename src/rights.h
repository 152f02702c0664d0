/* SPDX-License-Identifier: GPL-2.0-only */
/* rights.h - capabilities of this process. */
#ifndef KDEFER_RIGHTS_H
#define KDEFER_RIGHTS_H

#include <stdbool.h>

/*
 * Keeps only what reading maps and running programs needs (CAP_BPF, CAP_PERFMON, CAP_SYSLOG), and
 * with `files` what writing files as root means (in a home directory that is not root's, say).
 * 0 or -errno.
 */
int rights_drop(bool files);

#endif
