/* SPDX-License-Identifier: GPL-2.0-only */
/* cpus.h - CPU lists as the kernel writes them ("0-3,8"). */
#ifndef KDEFER_CPUS_H
#define KDEFER_CPUS_H

#define CPUS_MAX 65536 /* no list is believed beyond this number */

/* Numbers of the CPUs in `text`, ascending as given; the caller frees *cpus. -EINVAL, -ENOMEM. */
int cpus_parse(const char *text, int **cpus, int *n);

/* From /sys/devices/system/cpu/WHICH ("online", "possible"). 0 or a negative errno. */
int cpus_read(const char *which, int **cpus, int *n);

#endif
