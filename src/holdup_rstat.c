// SPDX-License-Identifier: GPL-2.0-only
/* holdup_rstat.c - user side of bpf/holdup_rstat.bpf.c: why flushes of cgroup statistics took long. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "../bpf/defer.h"
#include "../bpf/holdup_rstat.h"
#include "../bpf/sizes.h"
#include "percpu.h"
#include "holdup_rstat.skel.h"
#include "bpf_util.h"
#include "log.h"
#include "source.h"

#define TABLE_BYTES HASH_ELEM_BYTES(sizeof(uint32_t), sizeof(struct hr_task))
#define TASKS 512 /* that flush, or wait to, at a time */

struct holdup_rstat {
	struct holdup_rstat_bpf *skel;
	struct plan *plan;
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
	ro->by_lock = plan_uses(h->plan, KD_SRC_RSTAT, "hr_hold_in");
}

static int load_object(struct holdup_rstat *h, const struct source_conf *conf)
{
	int err;

	if (bytes_for(conf->kernel->possible_cpus) > conf->max_memory) {
		holdup_refuse(h->plan, KD_SRC_RSTAT,
			      "its tables do not fit into the %llu bytes that are left",
			      (unsigned long long)conf->max_memory);
		return -E2BIG;
	}
	h->skel = holdup_rstat_bpf__open_opts(bpf_util_open_opts());
	if (!h->skel)
		return log_err(-errno, "rstat.holdup: cannot open its programs: %s",
			       strerror(errno));
	percpu_fill(&h->skel->rodata->percpu, conf->kernel);
	percpu_size(h->skel->maps.percpu_bases, &h->skel->rodata->percpu);
	bpf_map__set_max_entries(h->skel->maps.tasks, TASKS);
	set_constants(h, conf);
	source_choose_programs(h->skel->obj, h->plan, KD_SRC_RSTAT);
	err = bpf_map__reuse_fd(h->skel->maps.ring, conf->ring_fd);
	if (!err)
		err = bpf_util_load(h->skel->obj);
	if (err)
		holdup_refuse(h->plan, KD_SRC_RSTAT, "the kernel does not load its programs: %s",
			      bpf_util_load_error(err));
	return err;
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
	struct holdup_rstat *h = calloc(1, sizeof(*h));
	int err;

	if (!h)
		return -ENOMEM;
	h->plan = conf->plan;
	err = load_object(h, conf);
	if (err) {
		holdup_refuse(conf->plan, KD_SRC_RSTAT, "cannot be set up: %s", strerror(-err));
		holdup_rstat_unload(h);
		return err == -ENOMEM ? err : -ENODEV;
	}
	*state = h;
	return 0;
}

static size_t holdup_rstat_hooks(void *state, struct source_hook *hooks, size_t max)
{
	struct holdup_rstat *h = state;

	return source_collect_hooks(h->skel->obj, h->plan, KD_SRC_RSTAT, hooks, max);
}

static int control(struct holdup_rstat *h, enum hr_run what)
{
	uint64_t args[4] = { what };

	return bpf_util_run(bpf_program__fd(h->skel->progs.kd_control), args, NULL);
}

static int holdup_rstat_start(void *state)
{
	int err = control(state, HR_START);

	return err ? log_err(err, "rstat.holdup: cannot start recording: %s", strerror(-err)) : 0;
}

static void holdup_rstat_stop(void *state)
{
	control(state, HR_STOP);
}

/* Reports come when what they are about ends: a tick adds what was lost of them. */
static int64_t holdup_rstat_tick(void *state, uint32_t cursor, uint32_t interval)
{
	struct holdup_rstat *h = state;
	uint64_t args[4] = { cursor, interval };
	uint32_t next;
	int err = bpf_util_run(bpf_program__fd(h->skel->progs.kd_tick), args, &next);

	return err ? err : (int64_t)next;
}

static uint64_t holdup_rstat_bytes(void *state)
{
	struct holdup_rstat *h = state;

	return bpf_util_map_bytes(h->skel->obj, "ring");
}

const struct source source_holdup_rstat = {
	.id = KD_SRC_RSTAT,
	.holdup = true,
	.load = holdup_rstat_load,
	.hooks = holdup_rstat_hooks,
	.start = holdup_rstat_start,
	.tick = holdup_rstat_tick,
	.stop = holdup_rstat_stop,
	.unload = holdup_rstat_unload,
	.kernel_bytes = holdup_rstat_bytes,
	.least_bytes = holdup_rstat_least,
};
