/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * attach.h - a process of its own attaches the programs, hands the links over, and detaches them.
 *
 * Attaching and detaching wait for grace periods inside the kernel and cannot be interrupted there:
 * where one is held up for good, that process is stuck, but the tool is not. It keeps a copy of every
 * link, so that what the tool itself closes, also by its death, is never the last one; and it ends
 * with the tool, so that nothing stays attached.
 */
#ifndef KDEFER_ATTACH_H
#define KDEFER_ATTACH_H

#include <stddef.h>
#include <stdint.h>

struct attach_job {
	int prog_fd;
	int attach_type; /* enum bpf_attach_type */
	int link_fd; /* out: >= 0, owned by the caller; attached as long as it and the process live */
	int err;     /* out: 0; negative errno; -ETIME: not attached in time; -EINTR: stopped */
};

struct attach;

/*
 * 0 when every job has its answer (see err of each), negative errno when no process could be had (*a
 * is then NULL). stopped(): asked whenever a signal came; true ends the wait, and the rest has -EINTR.
 * May be NULL.
 */
int attach_all(struct attach **a, struct attach_job *jobs, size_t n, uint64_t timeout_ns,
	       int (*stopped)(void));

/* Detaches one, some time soon. The caller closes its link_fd first. */
void attach_drop(struct attach *a, size_t job);

/*
 * Detaches all that is left, after the caller closed every link_fd; slow(left) is called once after a
 * second (may be NULL). Waits until none went away for timeout_ns, and not at all for a process that
 * is stuck attaching. Frees a (NULL is fine). 0, or -ETIME: it is still at it, and will end when the
 * kernel lets it.
 */
int attach_end(struct attach *a, uint64_t timeout_ns, void (*slow)(size_t left));

#endif
