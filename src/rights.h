/* SPDX-License-Identifier: GPL-2.0-only */
/* rights.h - capabilities of this process. */
#ifndef KDEFER_RIGHTS_H
#define KDEFER_RIGHTS_H

/* Keeps only what reading maps and running programs needs (CAP_BPF, CAP_PERFMON, CAP_SYSLOG). 0 or -errno. */
int rights_drop(void);

#endif
