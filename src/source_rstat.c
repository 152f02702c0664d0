// SPDX-License-Identifier: GPL-2.0-only
/* source_rstat.c - user side of bpf/rstat.bpf.c: sizes its tables, starts, ticks and stops it. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "../bpf/defer.h"
#include "../bpf/rstat.h"
#include "../bpf/sizes.h"
#include "rstat.skel.h"
#include "bpf_util.h"
#include "cpus.h"
#include "log.h"
#include "rstat_callers.h"
#include "source.h"

#define TASK_BYTES HASH_ELEM_BYTES(sizeof(uint64_t), sizeof(struct rs_task))

struct rstat {
	struct rstat_bpf *skel;
	struct plan *plan;
	/* Programs that see beginnings, and what the kernel had kept from them at the start. */
	struct beginnings begins;
};

/*
 * Powers of two: series, some eight for each name; cgroups and flushers with names; tasks at a time.
 * rest: series of what has no number of its own.
 */
struct sizes {
	uint32_t slots, who, tasks, rest;
};

static const struct sizes most = { .slots = 2048, .who = 256, .tasks = 4096 };
static const struct sizes least = {
	.slots = 64, .who = 16, .tasks = 64, .rest = RS_REST(RS_KINDS)
};

static uint64_t bytes_for(const struct sizes *s, int cpus)
{
	return (s->slots + s->rest) * SERIES_BYTES + 2 * s->who * sizeof(struct rs_who) +
	       (s->tasks + (uint64_t)cpus) * TASK_BYTES + RS_PLACES * sizeof(struct rs_task) +
	       RS_WAYS * sizeof(struct rs_way) + 2 * RS_LISTS * WORST_WHO_BYTES +
	       131072; /* small maps, rounding */
}

/* What flushes spend their time with has series of its own. */
static const uint64_t split_measures = 1ULL << KD_M_RSTAT_HELD | 1ULL << KD_M_RSTAT_IRQS |
				       1ULL << KD_M_RSTAT_OFF_CPU | 1ULL << KD_M_RSTAT_HOLD_BY_8 |
				       1ULL << KD_M_RSTAT_FLUSH_BY_8;

static int choose_sizes(struct sizes *s, uint64_t max, int cpus, bool split)
{
	*s = most;
	s->rest = split ? RS_REST(RS_KINDS) : RS_REST(RS_KINDS_ALWAYS);
	while (bytes_for(s, cpus) > max) {
		if (s->slots > least.slots)
			s->slots /= 2;
		else if (s->tasks > least.tasks)
			s->tasks /= 2;
		else if (s->who > least.who)
			s->who /= 2;
		else
			return -E2BIG;
	}
	return 0;
}

static uint64_t rstat_least(const struct kernel *k, uint32_t dims)
{
	(void)dims; /* by flusher is always known, nothing goes by CPU */
	return bytes_for(&least, k->possible_cpus);
}

static void size_maps(struct rstat *r, const struct sizes *s)
{
	bpf_map__set_max_entries(r->skel->maps.tasks, s->tasks);
	bpf_map__set_max_entries(r->skel->maps.whos, 2 * s->who);
	bpf_map__set_max_entries(r->skel->maps.slots, s->slots + s->rest);
	bpf_map__set_max_entries(r->skel->maps.shadows, s->slots + s->rest);
	bpf_map__set_max_entries(r->skel->maps.worst, 2 * RS_LISTS);
}

static enum rs_shape shape_of(const struct kernel *k)
{
	if (kernel_has_field(k, "css_rstat_cpu", "updated_next"))
		return RS_BY_SUBSYS;
	return kernel_has_func(k, "cgroup_rstat_flush_locked") ? RS_GLOBAL_BODY : RS_GLOBAL;
}

/* A flush goes over all possible CPUs. */
static int last_cpu(uint32_t *last)
{
	int *cpus, n, err = cpus_read("possible", &cpus, &n);

	if (err)
		return log_err(err, "rstat: cannot read which CPUs are possible: %s",
			       strerror(-err));
	*last = n ? (uint32_t)cpus[n - 1] : 0;
	free(cpus);
	return 0;
}

static uint64_t measures_of(const struct plan *plan)
{
	uint64_t measures = 0;

	for (size_t i = 0; i < plan->n; i++)
		if (plan->entry[i].measure->source == KD_SRC_RSTAT &&
		    plan->entry[i].state != PLAN_OFF)
			measures |= 1ULL << plan->entry[i].measure->measure;
	return measures;
}

static int set_constants(struct rstat *r, const struct source_conf *conf, const struct sizes *s)
{
	struct rstat_bpf__rodata *ro = r->skel->rodata;
	struct rs_range ranges[RS_RANGES], text;
	uint32_t last = 0;
	int err = last_cpu(&last);

	if (!err)
		err = rstat_callers(ranges, &text);
	if (err)
		return err;
	memcpy((void *)ro->ranges, ranges, sizeof(ranges));

	ro->text_from = text.from;
	ro->text_bytes = text.to - text.from;
	ro->nr_slots = s->slots;
	ro->slot_shift = 64 - (uint32_t)__builtin_ctz(s->slots);
	ro->more_slots = s->rest;
	ro->who_most = s->who;
	ro->shape = shape_of(conf->kernel);
	ro->by_lock = plan_uses(r->plan, KD_SRC_RSTAT, "rs_hold_in");
	ro->final_cpu = last;
	ro->wanted = measures_of(r->plan);
	ro->split = (ro->wanted & split_measures) != 0;
	ro->own_tgid = (uint32_t)getpid();
	if (conf->kernel->hz && plan_uses(r->plan, KD_SRC_RSTAT, "rs_tick"))
		ro->tick_ns = 1000000000 / conf->kernel->hz;
	ro->sample = conf->sample;
	return 0;
}

static int load_object(struct rstat *r, struct source_conf *conf)
{
	struct sizes s;
	bool split = measures_of(conf->plan) & split_measures;
	int err = choose_sizes(&s, conf->max_memory, conf->kernel->possible_cpus, split);

	if (err) {
		source_refuse(r->plan, KD_SRC_RSTAT,
			      "its tables do not fit into the %llu bytes that are left",
			      (unsigned long long)conf->max_memory);
		return err;
	}
	r->skel = rstat_bpf__open_opts(bpf_util_open_opts());
	if (!r->skel)
		return log_err(-errno, "rstat: cannot open its programs: %s", strerror(errno));
	size_maps(r, &s);
	err = set_constants(r, conf, &s);
	if (err)
		return err;
	source_choose_programs(r->skel->obj, r->plan, KD_SRC_RSTAT);
	err = bpf_map__reuse_fd(r->skel->maps.ring, conf->ring_fd);
	if (!err)
		err = bpf_util_load(r->skel->obj);
	if (err)
		source_refuse(r->plan, KD_SRC_RSTAT, "the kernel does not load its programs: %s",
			      bpf_util_load_error(err));
	return err;
}

static void rstat_unload(void *state)
{
	struct rstat *r = state;

	if (!r)
		return;
	rstat_bpf__destroy(r->skel);
	free(r);
}

static int rstat_load(void **state, struct source_conf *conf)
{
	struct rstat *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	r->plan = conf->plan;
	err = load_object(r, conf);
	if (err) {
		source_refuse(conf->plan, KD_SRC_RSTAT, "cannot be set up: %s", strerror(-err));
		rstat_unload(r);
		return err == -ENOMEM ? err : -ENODEV;
	}
	*state = r;
	return 0;
}

static size_t rstat_hooks(void *state, struct source_hook *hooks, size_t max)
{
	struct rstat *r = state;
	size_t n = source_collect_hooks(r->skel->obj, r->plan, KD_SRC_RSTAT, hooks, max);

	beginnings_collect(&r->begins, hooks, n);
	return n;
}

static int control(struct rstat *r, enum rs_run what)
{
	uint64_t args[4] = { what };

	return bpf_util_run(bpf_program__fd(r->skel->progs.kd_control), args, NULL);
}

static int rstat_start(void *state)
{
	struct rstat *r = state;
	int err;

	beginnings_start(&r->begins);
	err = control(r, RS_START);
	return err ? log_err(err, "rstat: cannot start recording: %s", strerror(-err)) : 0;
}

static void rstat_stop(void *state)
{
	control(state, RS_STOP);
}

static int rstat_runs(void *state, struct cpu_runs *by_cpu, int cpus)
{
	struct rstat *own = state;

	return source_cell_runs(own->skel->obj, by_cpu, cpus);
}

static int64_t rstat_tick(void *state, uint32_t cursor, uint32_t interval)
{
	struct rstat *r = state;
	uint64_t args[4] = { cursor, interval };
	uint32_t next;
	int err;

	args[2] = beginnings_missed(&r->begins);
	err = bpf_util_run(bpf_program__fd(r->skel->progs.kd_tick), args, &next);
	return err ? err : (int64_t)next;
}

static uint64_t rstat_bytes(void *state)
{
	struct rstat *r = state;

	return bpf_util_map_bytes(r->skel->obj, "ring");
}

static int rstat_own(void *state, struct rs_own *own)
{
	struct rstat *r = state;
	uint32_t zero = 0;
	int err = bpf_map_lookup_elem(bpf_map__fd(r->skel->maps.data_own), &zero, own);

	return err ? log_err(-errno, "rstat: cannot read what its own programs took: %s",
			     strerror(errno))
		   : 0;
}

const struct source source_rstat = {
	.id = KD_SRC_RSTAT,
	.load = rstat_load,
	.hooks = rstat_hooks,
	.start = rstat_start,
	.tick = rstat_tick,
	.runs = rstat_runs,
	.stop = rstat_stop,
	.unload = rstat_unload,
	.kernel_bytes = rstat_bytes,
	.least_bytes = rstat_least,
	.own = rstat_own,
};
