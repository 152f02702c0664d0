/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sizes.h - bytes of kernel memory of what every source has (the kernel side holds them to it), and
 * what stands in skeletons of several sources.
 */
#ifndef KDEFER_SIZES_H
#define KDEFER_SIZES_H

#define SERIES_SLOT_BYTES (5 * 8 + 512 * 8)
#define SERIES_SHADOW_BYTES (4 * 8 + 512 * 8)
#define SERIES_BYTES (SERIES_SLOT_BYTES + SERIES_SHADOW_BYTES) /* of each series */
#define WORST_BYTES (2 * 8 + 10 * 3 * 8)            /* of a list of worst samples of one interval */
#define WORST_WHO_BYTES (WORST_BYTES + 10 * 12 * 8) /* where each says who */

/* An element of a preallocated hash: its header, key and value, its share of the buckets. */
#define HASH_ELEM_BYTES(key, value) (72 + ((key) + 7) / 8 * 8 + ((value) + 7) / 8 * 8)

/* The state of a list of worst samples that is no CPU's own. */
struct worst_bin {
	__u64 busy;
	__u64 floor; /* tag | value from which on a sample belongs to the ten worst of this list */
};

#endif
