/* SPDX-License-Identifier: GPL-2.0-only */
/* cgroup_names.h - paths of the cgroups in reports of long waits, found while they are still there. */
#ifndef KDEFER_CGROUP_NAMES_H
#define KDEFER_CGROUP_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "stream.h"

#define CGROUP_NAMES_MAX 512 /* more than these stay without a name */

struct cgroup_names {
	uint64_t seen[CGROUP_NAMES_MAX]; /* ids that were looked up */
	size_t n;
	unsigned int walks; /* through the whole hierarchy */
};

/*
 * Called with each record of the kernel side, before it goes on: a cgroup in a report or witness that is
 * new is looked up, and its path said as a KD_REC_NAME. 0, or what the stream said.
 */
int cgroup_names_take(struct cgroup_names *c, const void *record, size_t size, struct stream *out);

/* The path below the mount, "/" for the root, of the cgroup with this id. 0, or -ENOENT. */
int cgroup_names_find(struct cgroup_names *c, const char *mount, uint64_t id, uint32_t pid,
		      char *buf, size_t size);

#endif
