/* SPDX-License-Identifier: GPL-2.0-only */
/* srcu_domains.h - SRCU domains that are built into the kernel, as both sides speak of them. */
#ifndef KDEFER_SRCU_DOMAINS_H
#define KDEFER_SRCU_DOMAINS_H

/* Value of the map `domains`. */
struct srcu_domain {
	__u64 at;  /* offset of its srcu_data in the section of per-CPU data */
	__u64 ssp; /* address of its srcu_struct; 0: not used so far, as far as was looked */
};

#endif
