// SPDX-License-Identifier: GPL-2.0-only
/* holdup_cb.c - user side of bpf/holdup_cb.bpf.c: why callbacks waited or ran for long. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "../bpf/defer.h"
#include "../bpf/holdup_cb.h"
#include "../bpf/sizes.h"
#include "percpu.h"
#include "holdup_cb.skel.h"
#include "bpf_util.h"
#include "cpus.h"
#include "holdup_source.h"
#include "log.h"
#include "source.h"

#define TABLE_BYTES HASH_ELEM_BYTES(sizeof(uint64_t), sizeof(uint32_t))
#define STEPS 8 /* of the limit: one callback is followed in each */

struct holdup_cb {
	struct holdup_source common; /* the first member */
	struct holdup_cb_bpf *skel;
	int cpus; /* possible */
	int *online;
	int nonline;
};

/* The kernel keeps a spare element of each table for each CPU. */
static uint64_t bytes_for(int cpus)
{
	return (uint64_t)cpus * (sizeof(struct hc_cpu) + 4 * TABLE_BYTES + 512) +
	       128 * TABLE_BYTES + 32768;
}

static uint64_t holdup_cb_least(const struct kernel *k, uint32_t dims)
{
	(void)dims;
	return bytes_for(k->possible_cpus);
}

static void size_maps(struct holdup_cb *h)
{
	uint32_t cpus = (uint32_t)h->cpus;

	bpf_map__set_max_entries(h->skel->maps.cpus, cpus);
	bpf_map__set_max_entries(h->skel->maps.kthreads, cpus);
}

static void set_constants(struct holdup_cb *h, const struct source_conf *conf)
{
	struct holdup_cb_bpf__rodata *ro = h->skel->rodata;
	const struct kernel *k = conf->kernel;
	uint64_t hz = k->hz ? (uint64_t)k->hz : 1000;

	ro->nr_cpus = (uint32_t)h->cpus;
	ro->limit_ns = conf->over_ns[KD_M_CALL_RCU_LATENCY];
	ro->run_limit_ns = conf->over_ns[KD_M_CALL_RCU_HOLDUP];
	ro->step_ns = ro->limit_ns / STEPS;
	ro->tick_ns = 1000000000ULL / hz;
}

static int load_object(struct holdup_cb *h, const struct source_conf *conf)
{
	int err;

	h->skel = holdup_cb_bpf__open_opts(bpf_util_open_opts());
	if (!h->skel)
		return holdup_source_not_opened(&h->common, -errno);
	percpu_fill(&h->skel->rodata->percpu, conf->kernel);
	percpu_size(h->skel->maps.percpu_bases, &h->skel->rodata->percpu);
	size_maps(h);
	set_constants(h, conf);
	err = holdup_source_load(&h->common, h->skel->skeleton, conf->ring_fd);
	return err ? err
		   : holdup_source_percpu(&h->common, bpf_program__fd(h->skel->progs.kd_percpu));
}

static bool is_online(const struct holdup_cb *h, int cpu)
{
	for (int i = 0; i < h->nonline; i++)
		if (h->online[i] == cpu)
			return true;
	return false;
}

/* On the CPU that it is about, where that is online, so that its list stands still meanwhile. */
static int control(struct holdup_cb *h, enum hc_run what, int cpu, uint32_t *ret)
{
	uint64_t args[4] = { what, (uint64_t)cpu };
	int fd = h->common.control_fd;

	if (is_online(h, cpu) && !bpf_util_run_on(fd, args, cpu, ret))
		return 0;
	return bpf_util_run(fd, args, ret);
}

static int control_all(struct holdup_cb *h, enum hc_run what)
{
	uint32_t answer = 0;
	int err = 0;

	for (int cpu = 0; cpu < h->cpus && !err; cpu++) {
		err = control(h, what, cpu, &answer);
		if (!err && (int32_t)answer < 0)
			err = -ENODATA; /* no such CPU in the tables, or in the kernel's */
		if (!err && answer == 1)
			h->skel->bss->offload = 1;
	}
	return err;
}

static int prepare(void *state, const struct source_conf *conf)
{
	struct holdup_cb *h = state;
	int err;

	h->cpus = conf->kernel->possible_cpus;
	err = holdup_source_fits(&h->common, conf, bytes_for(h->cpus));
	if (!err)
		err = cpus_read("online", &h->online, &h->nonline);
	return err ? err : load_object(h, conf);
}

static void holdup_cb_unload(void *state)
{
	struct holdup_cb *h = state;

	if (!h)
		return;
	holdup_cb_bpf__destroy(h->skel);
	free(h->online);
	free(h);
}

static int holdup_cb_load(void **state, struct source_conf *conf)
{
	return holdup_source_new(state, conf, sizeof(struct holdup_cb), KD_SRC_CALL_RCU, prepare,
				 holdup_cb_unload);
}

static int holdup_cb_start(void *state)
{
	int err = control_all(state, HC_START);

	return err ? log_err(err, "call_rcu.holdup: cannot start recording: %s", strerror(-err))
		   : 0;
}

static void holdup_cb_stop(void *state)
{
	control_all(state, HC_STOP);
}

const struct source source_holdup_cb = {
	.id = KD_SRC_CALL_RCU,
	.holdup = true,
	.load = holdup_cb_load,
	.hooks = holdup_source_hooks,
	.start = holdup_cb_start,
	.tick = holdup_source_tick,
	.stop = holdup_cb_stop,
	.unload = holdup_cb_unload,
	.kernel_bytes = holdup_source_bytes,
	.least_bytes = holdup_cb_least,
};
