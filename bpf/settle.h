/* SPDX-License-Identifier: GPL-2.0-only */
/* settle.h - what bpf/settle.bpf.c and user space say to each other. */
#ifndef KDEFER_SETTLE_H
#define KDEFER_SETTLE_H

/*
 * st_look: arg[0] = enum kd_flavour. Returns SETTLE_ABSENT where this kernel has none that can be found;
 * else SETTLE_BUSY if callbacks wait or a grace period is under way, and above that bit the sequence of
 * grace periods.
 */
#define SETTLE_ABSENT (~0u)
#define SETTLE_BUSY 1u
#define SETTLE_SEQ_BITS 30 /* of the sequence, shifted up by one */
#define SETTLE_SEQ_MASK ((1u << SETTLE_SEQ_BITS) - 1)

#endif
