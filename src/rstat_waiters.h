/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rstat_waiters.h - what is needed to read who waits for the locks of cgroup statistics, and what cannot
 * be read of it here, and why. Part of src/lists_rstat.c.
 */
#ifndef KDEFER_RSTAT_WAITERS_H
#define KDEFER_RSTAT_WAITERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kernel;

struct rstat_waiters {
	uint32_t form;         /* enum rss_lock */
	uint64_t global, base; /* addresses of locks; 0: none, or hidden */
	uint64_t
		key; /* of the one that says whether spinlocks have queues; 0: not needed, or hidden */
	bool by_subsys;  /* each subsystem has a lock */
	bool sure;       /* spinlocks are known to have queues */
	const char *why; /* form is RSS_LOCK_SILENT: the reason */
};

/* From BTF, which must not be forgotten yet, symbols and the CPU's flags. */
void rstat_waiters_find(struct rstat_waiters *w, const struct kernel *k, bool by_subsys);
/* What the key says, once it was read. */
void rstat_waiters_key(struct rstat_waiters *w, bool on);
/* What cannot be had, in words; "": all can. */
void rstat_waiters_note(const struct rstat_waiters *w, char *buf, size_t size);

#endif
