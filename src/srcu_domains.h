/* SPDX-License-Identifier: GPL-2.0-only */
/* srcu_domains.h - user side of bpf/srcu_domains.bpf.h: which domains there are, and their names. */
#ifndef KDEFER_SRCU_DOMAINS_USER_H
#define KDEFER_SRCU_DOMAINS_USER_H

#include <stddef.h>
#include <stdint.h>

#include "kernel.h"
#include "stream.h"

struct bpf_map;

struct srcu_domains {
	struct srcu_domain_name {
		char *name;
		uint64_t at, ssp; /* as in struct srcu_domain */
		uint64_t named;   /* the address under which the stream knows it */
	} * of;
	size_t n;
	size_t sure; /* those from BTF come first; the others are candidates until they were checked */
};

/*
 * From BTF, which must not be forgotten yet, and from symbols. That of Tasks Trace is a flavour, and left
 * out. 0, -ENOMEM.
 */
int srcu_domains_find(struct srcu_domains *d, const struct kernel *k);
void srcu_domains_free(struct srcu_domains *d);
/* The map `domains`, before the load. */
void srcu_domains_size(struct bpf_map *map, const struct srcu_domains *d);
/* After it, and after percpu_find(): sd_check says which candidates are domains. 0 or a negative errno. */
int srcu_domains_check(struct srcu_domains *d, int map_fd, int prog_fd);
/* KD_REC_NAME for those that were seen in use and are not named yet. 0 or what the sink said. */
int srcu_domains_name(struct srcu_domains *d, int map_fd, unsigned int source, struct stream *out);

#endif
