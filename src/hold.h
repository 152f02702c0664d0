/* SPDX-License-Identifier: GPL-2.0-only */
/* hold.h - readers of RCU of known length, one after another, on one CPU. */
#ifndef KDEFER_HOLD_H
#define KDEFER_HOLD_H

#include <stdint.h>

/* The kernel's own alarm about a stall comes after 21 s, on some hosts after less. */
#define HOLD_LONGEST_NS 15000000000ULL

struct hold;

/* Loads the program that is the reader. 0 or a negative errno (logged). */
int hold_open(struct hold **h);
void hold_close(struct hold *h); /* NULL is fine */

/*
 * One reader: returns when it has ended. In a process that may run on one CPU only. How long it was,
 * by the kernel's clock, in nanoseconds, or a negative errno.
 */
int64_t hold_once(struct hold *h, uint64_t length_ns);
/* The reader on its way ends now, whoever runs it; and none begins any more. */
void hold_release(struct hold *h);

#endif
