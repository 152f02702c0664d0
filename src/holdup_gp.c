// SPDX-License-Identifier: GPL-2.0-only
/* holdup_gp.c - user side of bpf/holdup_gp.bpf.c: why grace periods took long. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "../bpf/defer.h"
#include "../bpf/gp_calls.h"
#include "../bpf/holdup_gp.h"
#include "percpu.h"
#include "holdup_gp.skel.h"
#include "bpf_util.h"
#include "log.h"
#include "source.h"

struct holdup_gp {
	struct holdup_gp_bpf *skel;
	struct plan *plan;
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

static int load_object(struct holdup_gp *h, struct source_conf *conf)
{
	int err;

	if (bytes_for(conf->kernel->possible_cpus) > conf->max_memory) {
		holdup_refuse(h->plan, KD_SRC_RCU_GP,
			      "its tables do not fit into the %llu bytes that are left",
			      (unsigned long long)conf->max_memory);
		return -E2BIG;
	}
	h->skel = holdup_gp_bpf__open_opts(bpf_util_open_opts());
	if (!h->skel)
		return log_err(-errno, "rcu_gp.holdup: cannot open its programs: %s",
			       strerror(errno));
	percpu_fill(&h->skel->rodata->percpu, conf->kernel);
	percpu_size(h->skel->maps.percpu_bases, &h->skel->rodata->percpu);
	bpf_map__set_max_entries(h->skel->maps.cpus,
				 HG_KINDS * (uint32_t)conf->kernel->possible_cpus);
	set_constants(h, conf);
	if (!conf->over_ns[KD_M_RCU_GP_WAIT])
		drop_callers(h->plan);
	source_choose_programs(h->skel->obj, h->plan, KD_SRC_RCU_GP);
	err = bpf_map__reuse_fd(h->skel->maps.ring, conf->ring_fd);
	if (!err)
		err = bpf_util_load(h->skel->obj);
	if (err) {
		holdup_refuse(h->plan, KD_SRC_RCU_GP, "the kernel does not load its programs: %s",
			      bpf_util_load_error(err));
		return err;
	}
	err = percpu_find(bpf_program__fd(h->skel->progs.kd_percpu));
	if (err)
		holdup_refuse(h->plan, KD_SRC_RCU_GP, "RCU's per-CPU data cannot be found: %s",
			      strerror(-err));
	return err;
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
	struct holdup_gp *h = calloc(1, sizeof(*h));
	int err;

	if (!h)
		return -ENOMEM;
	h->plan = conf->plan;
	err = load_object(h, conf);
	if (err) {
		holdup_refuse(conf->plan, KD_SRC_RCU_GP, "cannot be set up: %s", strerror(-err));
		holdup_gp_unload(h);
		return err == -ENOMEM ? err : -ENODEV;
	}
	*state = h;
	return 0;
}

static size_t holdup_gp_hooks(void *state, struct source_hook *hooks, size_t max)
{
	struct holdup_gp *h = state;

	return source_collect_hooks(h->skel->obj, h->plan, KD_SRC_RCU_GP, hooks, max);
}

static int control(struct holdup_gp *h, enum hg_run what)
{
	uint64_t args[4] = { what };

	return bpf_util_run(bpf_program__fd(h->skel->progs.kd_control), args, NULL);
}

static int holdup_gp_start(void *state)
{
	int err = control(state, HG_START);

	return err ? log_err(err, "rcu_gp.holdup: cannot start recording: %s", strerror(-err)) : 0;
}

static void holdup_gp_stop(void *state)
{
	control(state, HG_STOP);
}

/* Reports come when what they are about ends: a tick adds what was lost of them. */
static int64_t holdup_gp_tick(void *state, uint32_t cursor, uint32_t interval)
{
	struct holdup_gp *h = state;
	uint64_t args[4] = { cursor, interval };
	uint32_t next;
	int err;

	err = bpf_util_run(bpf_program__fd(h->skel->progs.kd_tick), args, &next);
	return err ? err : (int64_t)next;
}

static uint64_t holdup_gp_bytes(void *state)
{
	struct holdup_gp *h = state;

	return bpf_util_map_bytes(h->skel->obj, "ring");
}

const struct source source_holdup_gp = {
	.id = KD_SRC_RCU_GP,
	.holdup = true,
	.load = holdup_gp_load,
	.hooks = holdup_gp_hooks,
	.start = holdup_gp_start,
	.tick = holdup_gp_tick,
	.stop = holdup_gp_stop,
	.unload = holdup_gp_unload,
	.kernel_bytes = holdup_gp_bytes,
	.least_bytes = holdup_gp_least,
};
