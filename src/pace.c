// SPDX-License-Identifier: GPL-2.0-only
/* pace.c - when what of a stream is due. */
#include "pace.h"

#define S 1000000000ULL

/* In 128 bits: hours of a fast stream do not fit into 64. */
uint64_t pace_due(const struct pace *p, uint64_t now_ns)
{
	uint64_t passed = (uint64_t)((unsigned __int128)now_ns * p->per_s / S);

	return (passed / p->burst + 1) * p->burst;
}

/* Rounded up, so that it is due when that time has come. */
uint64_t pace_next_ns(const struct pace *p, uint64_t done)
{
	return (uint64_t)(((unsigned __int128)done * S + p->per_s - 1) / p->per_s);
}

uint64_t pace_share(uint64_t all, unsigned int n, unsigned int index)
{
	return all / n + (index < all % n);
}
