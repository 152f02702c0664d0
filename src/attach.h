/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * attach.h - attaches programs in a child process that hands the links over.
 *
 * Attaching waits for grace periods inside the kernel and cannot be interrupted there: where one is
 * held up for good, the child is stuck, but the tool is not.
 */
#ifndef KDEFER_ATTACH_H
#define KDEFER_ATTACH_H

#include <stddef.h>
#include <stdint.h>

struct attach_job {
	int prog_fd;
	int attach_type; /* enum bpf_attach_type */
	int link_fd;     /* out: >= 0, owned by the caller */
	int err;         /* out: 0; negative errno; -ETIME: not attached in time; -EINTR: stopped */
};

/*
 * 0 when every job has its answer (see err of each), negative errno when no child could be had.
 * stopped(): asked whenever a signal came; true ends the wait, and the rest has -EINTR. May be NULL.
 */
int attach_all(struct attach_job *jobs, size_t n, uint64_t timeout_ns, int (*stopped)(void));

#endif
