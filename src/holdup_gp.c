// SPDX-License-Identifier: GPL-2.0-only
/* holdup_gp.c - user side of bpf/holdup_gp.bpf.c: why grace periods took long. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "../bpf/defer.h"
#include "../bpf/gp_calls.h"
#include "../bpf/holdup_gp.h"
#include "percpu.h"
#include "holdup_gp.skel.h"
#include "bpf_util.h"
#include "holdup_source.h"
#include "source.h"

struct holdup_gp {
	struct holdup_source common; /* the first member */
	struct holdup_gp_bpf *skel;
};

static uint64_t bytes_for(int cpus)
{
	return (uint64_t)cpus * (HG_KINDS * sizeof(struct hg_cpu) + 512) + 65536;
}

static uint64_t holdup_gp_least(const struct kernel *k, uint32_t dims)
{
	(void)dims;
	return bytes_for(k->possible_cpus);
}

static uint64_t limit(uint64_t over_ns)
{
	return over_ns ? over_ns : UINT64_MAX;
}

static void set_constants(struct holdup_gp *h, const struct source_conf *conf)
{
	struct holdup_gp_bpf__rodata *ro = h->skel->rodata;

	ro->over_gp[HG_NORMAL] = limit(conf->over_gp_ns[KD_FL_RCU]);
	ro->over_gp[HG_EXPEDITED] = limit(conf->over_gp_ns[KD_FL_EXPEDITED]);
	ro->over_gp[HG_TASKS] = limit(conf->over_gp_ns[KD_FL_TASKS]);
	ro->over_gp[HG_TRACE] = limit(conf->over_gp_ns[KD_FL_TASKS_TRACE]);
	ro->over_srcu = limit(conf->over_gp_ns[KD_FL_SRCU]);
	ro->over_rude = limit(conf->over_gp_ns[KD_FL_TASKS_RUDE]);
	ro->over_wait = limit(conf->over_ns[KD_M_RCU_GP_WAIT]);
	ro->hz = conf->kernel->hz ? conf->kernel->hz : 1;
	ro->has_task_from_pid =
		btf__find_by_name_kind(conf->kernel->btf, "bpf_task_from_pid", BTF_KIND_FUNC) > 0;
}

/* Callers are hooked only where they are asked for. */
static void drop_callers(struct plan *plan)
{
#define BOTH_ENDS(name, ...) "hg_" #name "_in", "hg_" #name "_out",
	static const char *const programs[] = { GP_CALLS(BOTH_ENDS) };
#undef BOTH_ENDS

	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		plan_drop_hook(plan, KD_SRC_RCU_GP, programs[i]);
}

static int open_object(void *state, const struct source_conf *conf)
{
	struct holdup_gp *h = state;
	int err = holdup_source_fits(&h->common, conf, bytes_for(conf->kernel->possible_cpus));

	if (err)
		return err;
	h->skel = holdup_gp_bpf__open_opts(bpf_util_open_opts());
	if (!h->skel)
		return holdup_source_not_opened(&h->common, -errno);
	percpu_fill(&h->skel->rodata->percpu, conf->kernel);
	percpu_size(h->skel->maps.percpu_bases, &h->skel->rodata->percpu);
	bpf_map__set_max_entries(h->skel->maps.cpus,
				 HG_KINDS * (uint32_t)conf->kernel->possible_cpus);
	set_constants(h, conf);
	if (!conf->over_ns[KD_M_RCU_GP_WAIT])
		drop_callers(h->common.plan);
	err = holdup_source_load(&h->common, h->skel->skeleton, conf->ring_fd);
	return err ? err
		   : holdup_source_percpu(&h->common, bpf_program__fd(h->skel->progs.kd_percpu));
}

static void holdup_gp_unload(void *state)
{
	struct holdup_gp *h = state;

	if (!h)
		return;
	holdup_gp_bpf__destroy(h->skel);
	free(h);
}

static int holdup_gp_load(void **state, struct source_conf *conf)
{
	return holdup_source_new(state, conf, sizeof(struct holdup_gp), KD_SRC_RCU_GP, open_object,
				 holdup_gp_unload);
}

const struct source source_holdup_gp = {
	.id = KD_SRC_RCU_GP,
	.holdup = true,
	.load = holdup_gp_load,
	.hooks = holdup_source_hooks,
	.start = holdup_source_start,
	.tick = holdup_source_tick,
	.stop = holdup_source_stop,
	.unload = holdup_gp_unload,
	.kernel_bytes = holdup_source_bytes,
	.least_bytes = holdup_gp_least,
};
