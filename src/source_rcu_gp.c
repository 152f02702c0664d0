// SPDX-License-Identifier: GPL-2.0-only
/* source_rcu_gp.c - user side of bpf/rcu_gp.bpf.c: sizes its tables, starts, ticks and stops it. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "../bpf/defer.h"
#include "../bpf/rcu_gp.h"
#include "../bpf/sizes.h"
#include "percpu.h"
#include "rcu_gp.skel.h"
#include "bpf_util.h"
#include "log.h"
#include "source.h"

#define OPEN_BYTES HASH_ELEM_BYTES(sizeof(uint64_t), sizeof(struct rg_open))

struct rcu_gp {
	struct rcu_gp_bpf *skel;
	struct plan *plan;
	/* Programs that see beginnings, and what the kernel had kept from them at the start. */
	struct beginnings begins;
};

/* Powers of two. Callers by address, calls and domains at a time. */
struct sizes {
	uint32_t slots, table;
};

static const struct sizes most = { .slots = 64, .table = 512 };
static const struct sizes least = { .slots = 16, .table = 64 };

/* The kernel keeps a spare element of each table for each CPU. */
static uint64_t bytes_for(const struct sizes *s, int cpus)
{
	return (s->slots + KD_FL_RCU_END) * SERIES_BYTES +
	       2 * (s->table + (uint64_t)cpus) * OPEN_BYTES +
	       65536; /* small maps, the worst samples, rounding */
}

static int choose_sizes(struct sizes *s, uint64_t max, int cpus)
{
	for (*s = most; bytes_for(s, cpus) > max;) {
		if (s->slots > least.slots)
			s->slots /= 2;
		else if (s->table > least.table)
			s->table /= 2;
		else
			return -E2BIG;
	}
	return 0;
}

static uint64_t rcu_gp_least(const struct kernel *k, uint32_t dims)
{
	(void)dims; /* nothing of it goes by CPU */
	return bytes_for(&least, k->possible_cpus);
}

static void size_maps(struct rcu_gp *g, const struct sizes *s)
{
	bpf_map__set_max_entries(g->skel->maps.open, s->table);
	bpf_map__set_max_entries(g->skel->maps.domains, s->table);
	bpf_map__set_max_entries(g->skel->maps.slots, s->slots + KD_FL_RCU_END);
	bpf_map__set_max_entries(g->skel->maps.shadows, s->slots + KD_FL_RCU_END);
	bpf_map__set_max_entries(g->skel->maps.worst, 2 * RG_LISTS);
}

/* Rows share programs: the programs must know which flavours of what they see are asked for. */
static uint32_t flavours_of(const struct plan *plan, unsigned int measure)
{
	uint32_t flavours = 0;

	for (size_t i = 0; i < plan->n; i++)
		if (plan->entry[i].measure->source == KD_SRC_RCU_GP &&
		    plan->entry[i].measure->measure == measure && plan->entry[i].state != PLAN_OFF)
			flavours |= 1u << plan->entry[i].measure->flavour;
	return flavours;
}

static void set_constants(struct rcu_gp *g, const struct source_conf *conf, const struct sizes *s)
{
	struct rcu_gp_bpf__rodata *ro = g->skel->rodata;

	ro->nr_slots = s->slots;
	ro->slot_shift = 64 - (uint32_t)__builtin_ctz(s->slots);
	ro->more_slots = KD_FL_RCU_END; /* durations, by flavour */
	ro->wait_flavours = flavours_of(g->plan, KD_M_RCU_GP_WAIT);
	ro->gp_flavours = flavours_of(g->plan, KD_M_RCU_GP_DURATION);
	ro->sample = conf->sample;
}

/* Only for the domain of Tasks Trace, which is an SRCU domain among others since 7.0. */
static int find_percpu(struct rcu_gp *g)
{
	int err;

	if (g->skel->rodata->percpu.at[PERCPU_TASKS_TRACE_SRCU] == PERCPU_ABSENT)
		return 0;
	err = percpu_find(bpf_program__fd(g->skel->progs.kd_percpu));
	if (err)
		source_refuse(g->plan, KD_SRC_RCU_GP, "RCU's per-CPU data cannot be found: %s",
			      strerror(-err));
	return err;
}

static int load_object(struct rcu_gp *g, struct source_conf *conf)
{
	struct sizes s;
	int err = choose_sizes(&s, conf->max_memory, conf->kernel->possible_cpus);

	if (err) {
		source_refuse(g->plan, KD_SRC_RCU_GP,
			      "its tables do not fit into the %llu bytes that are left",
			      (unsigned long long)conf->max_memory);
		return err;
	}
	g->skel = rcu_gp_bpf__open_opts(bpf_util_open_opts());
	if (!g->skel)
		return log_err(-errno, "rcu_gp: cannot open its programs: %s", strerror(errno));
	percpu_fill(&g->skel->rodata->percpu, conf->kernel);
	percpu_size(g->skel->maps.percpu_bases, &g->skel->rodata->percpu);
	size_maps(g, &s);
	set_constants(g, conf, &s);
	source_choose_programs(g->skel->obj, g->plan, KD_SRC_RCU_GP);
	err = bpf_map__reuse_fd(g->skel->maps.ring, conf->ring_fd);
	if (!err)
		err = bpf_util_load(g->skel->obj);
	if (err)
		source_refuse(g->plan, KD_SRC_RCU_GP, "the kernel does not load its programs: %s",
			      bpf_util_load_error(err));
	return err ? err : find_percpu(g);
}

static void rcu_gp_unload(void *state)
{
	struct rcu_gp *g = state;

	if (!g)
		return;
	rcu_gp_bpf__destroy(g->skel);
	free(g);
}

static int rcu_gp_load(void **state, struct source_conf *conf)
{
	struct rcu_gp *g = calloc(1, sizeof(*g));
	int err;

	if (!g)
		return -ENOMEM;
	g->plan = conf->plan;
	err = load_object(g, conf);
	if (err) {
		source_refuse(conf->plan, KD_SRC_RCU_GP, "cannot be set up: %s", strerror(-err));
		rcu_gp_unload(g);
		return err == -ENOMEM ? err : -ENODEV;
	}
	*state = g;
	return 0;
}

static size_t rcu_gp_hooks(void *state, struct source_hook *hooks, size_t max)
{
	struct rcu_gp *g = state;
	size_t n = source_collect_hooks(g->skel->obj, g->plan, KD_SRC_RCU_GP, hooks, max);

	beginnings_collect(&g->begins, hooks, n);
	return n;
}

static int control(struct rcu_gp *g, enum rg_run what)
{
	uint64_t args[4] = { what };

	return bpf_util_run(bpf_program__fd(g->skel->progs.kd_control), args, NULL);
}

static int rcu_gp_start(void *state)
{
	struct rcu_gp *g = state;
	int err;

	beginnings_start(&g->begins);
	err = control(g, RG_START);
	return err ? log_err(err, "rcu_gp: cannot start recording: %s", strerror(-err)) : 0;
}

static void rcu_gp_stop(void *state)
{
	control(state, RG_STOP);
}

static int rcu_gp_runs(void *state, struct cpu_runs *by_cpu, int cpus)
{
	struct rcu_gp *own = state;

	return source_cell_runs(own->skel->obj, by_cpu, cpus);
}

static int64_t rcu_gp_tick(void *state, uint32_t cursor, uint32_t interval)
{
	struct rcu_gp *g = state;
	uint64_t args[4] = { cursor, interval };
	uint32_t next;
	int err;

	args[2] = beginnings_missed(&g->begins);
	err = bpf_util_run(bpf_program__fd(g->skel->progs.kd_tick), args, &next);
	return err ? err : (int64_t)next;
}

static uint64_t rcu_gp_bytes(void *state)
{
	struct rcu_gp *g = state;

	return bpf_util_map_bytes(g->skel->obj, "ring");
}

const struct source source_rcu_gp = {
	.id = KD_SRC_RCU_GP,
	.load = rcu_gp_load,
	.hooks = rcu_gp_hooks,
	.start = rcu_gp_start,
	.tick = rcu_gp_tick,
	.runs = rcu_gp_runs,
	.stop = rcu_gp_stop,
	.unload = rcu_gp_unload,
	.kernel_bytes = rcu_gp_bytes,
	.least_bytes = rcu_gp_least,
};
