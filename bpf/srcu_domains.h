/* SPDX-License-Identifier: GPL-2.0-only */
/* srcu_domains.h - SRCU domains that are built into the kernel, as both sides speak of them. */
#ifndef KDEFER_SRCU_DOMAINS_H
#define KDEFER_SRCU_DOMAINS_H

/* Value of the map `domains`. */
struct srcu_domain {
	__u64 at; /* offset of its srcu_data in the section of per-CPU data, or as if it were there */
	__u64 ssp; /* address of its srcu_struct; 0: not used so far, as far as was looked */
};

/* sd_check: arg[0] = first, arg[1] = past the last: what has only `ssp`, if that is a domain, gets `at`. */

#endif
