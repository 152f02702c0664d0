/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sieve.h - leaves out of a stream what no reader of it would keep: of the worst samples, which each CPU
 * has its own of, only the worst of all CPUs for each measure, flavour and bound. For captures, which
 * they would otherwise make several times as large.
 */
#ifndef KDEFER_SIEVE_H
#define KDEFER_SIEVE_H

#include <stddef.h>
#include <stdint.h>

#include "stream.h"

struct sieve_group;
struct sieve_series;

struct sieve {
	stream_sink out;
	void *ctx;
	struct sieve_group *groups;
	size_t ngroups;
	struct sieve_series *series; /* hash by id */
	size_t nseries, room;
};

void sieve_init(struct sieve *s, stream_sink out, void *ctx);
void sieve_free(struct sieve *s);

/*
 * A stream_sink; ctx is the sieve. Worst samples are held back until the tick that ends their interval,
 * all else is passed on at once. -ENOMEM (logged), or what `out` said.
 */
int sieve_record(void *sieve, const struct kd_rec *rec);

#endif
