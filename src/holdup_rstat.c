// SPDX-License-Identifier: GPL-2.0-only
/* holdup_rstat.c - user side of bpf/holdup_rstat.bpf.c: why flushes of cgroup statistics took long. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include <bpf/libbpf.h>

#include "../bpf/defer.h"
#include "../bpf/holdup_rstat.h"
#include "../bpf/sizes.h"
#include "percpu.h"
#include "holdup_rstat.skel.h"
#include "bpf_util.h"
#include "holdup_source.h"
#include "source.h"

#define TABLE_BYTES HASH_ELEM_BYTES(sizeof(uint32_t), sizeof(struct hr_task))
#define TASKS 512 /* that flush, or wait to, at a time */

struct holdup_rstat {
	struct holdup_source common; /* the first member */
	struct holdup_rstat_bpf *skel;
};

/* The kernel keeps a spare element of each table for each CPU. */
static uint64_t bytes_for(int cpus)
{
	return (TASKS + (uint64_t)cpus) * TABLE_BYTES + (uint64_t)cpus * 512 + 32768;
}

static uint64_t holdup_rstat_least(const struct kernel *k, uint32_t dims)
{
	(void)dims;
	return bytes_for(k->possible_cpus);
}

static void set_constants(struct holdup_rstat *h, const struct source_conf *conf)
{
	struct holdup_rstat_bpf__rodata *ro = h->skel->rodata;

	ro->over_flush = conf->over_ns[KD_M_RSTAT_FLUSH];
	ro->over_hold = conf->over_ns[KD_M_RSTAT_HOLD];
	ro->over_wait = conf->over_ns[KD_M_RSTAT_WAIT];
	ro->possible_cpus = (uint32_t)conf->kernel->possible_cpus;
	ro->one_lock = kernel_has_field(conf->kernel, "cgroup_rstat_cpu", "updated_next");
	ro->by_lock = plan_uses(h->common.plan, KD_SRC_RSTAT, "hr_hold_in");
}

static int open_object(void *state, const struct source_conf *conf)
{
	struct holdup_rstat *h = state;
	int err = holdup_source_fits(&h->common, conf, bytes_for(conf->kernel->possible_cpus));

	if (err)
		return err;
	h->skel = holdup_rstat_bpf__open_opts(bpf_util_open_opts());
	if (!h->skel)
		return holdup_source_not_opened(&h->common, -errno);
	percpu_fill(&h->skel->rodata->percpu, conf->kernel);
	percpu_size(h->skel->maps.percpu_bases, &h->skel->rodata->percpu);
	bpf_map__set_max_entries(h->skel->maps.tasks, TASKS);
	set_constants(h, conf);
	return holdup_source_load(&h->common, h->skel->skeleton, conf->ring_fd);
}

static void holdup_rstat_unload(void *state)
{
	struct holdup_rstat *h = state;

	if (!h)
		return;
	holdup_rstat_bpf__destroy(h->skel);
	free(h);
}

static int holdup_rstat_load(void **state, struct source_conf *conf)
{
	return holdup_source_new(state, conf, sizeof(struct holdup_rstat), KD_SRC_RSTAT,
				 open_object, holdup_rstat_unload);
}

const struct source source_holdup_rstat = {
	.id = KD_SRC_RSTAT,
	.holdup = true,
	.load = holdup_rstat_load,
	.hooks = holdup_source_hooks,
	.start = holdup_source_start,
	.tick = holdup_source_tick,
	.stop = holdup_source_stop,
	.unload = holdup_rstat_unload,
	.kernel_bytes = holdup_source_bytes,
	.least_bytes = holdup_rstat_least,
};
