// SPDX-License-Identifier: GPL-2.0-only
/* lists_rstat.c - user side of bpf/rstat_state.bpf.c: cgroups that wait for a flush, and who waits to do it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "../bpf/defer.h"
#include "../bpf/rstat.h"
#include "../bpf/rstat_state.h"
#include "percpu.h"
#include "rstat_state.skel.h"
#include "bpf_util.h"
#include "cpus.h"
#include "lists.h"
#include "log.h"
#include "rstat_waiters.h"

struct rstat_lists {
	struct rstat_state_bpf *skel;
	int *possible; /* CPUs */
	int n;
	bool no_ipi;
	struct rstat_waiters waiters;
};

static void unload(void *state)
{
	struct rstat_lists *s = state;

	rstat_state_bpf__destroy(s->skel);
	free(s->possible);
	free(s);
}

/* What the program is told before it is loaded. */
static void fill(struct rstat_lists *s, const struct lists_conf *conf)
{
	struct rstat_state_bpf *skel = s->skel;
	bool by_subsys = kernel_has_field(conf->kernel, "css_rstat_cpu", "updated_next");

	percpu_fill(&skel->rodata->percpu,
		    conf->kernel); /* the plan has asked for what is needed */
	percpu_size(skel->maps.percpu_bases, &skel->rodata->percpu);
	percpu_size(skel->maps.queued, &skel->rodata->percpu);
	skel->rodata->shape = by_subsys ? RS_BY_SUBSYS : RS_GLOBAL;
	rstat_waiters_find(&s->waiters, conf->kernel, by_subsys);
	skel->rodata->lock_form = s->waiters.form;
	skel->rodata->lock_global = s->waiters.global;
	skel->rodata->lock_base = s->waiters.base;
}

/* 1: the ring is full. */
static int look_lock(struct rstat_lists *s, uint32_t unit)
{
	uint64_t args[4] = { unit, s->waiters.sure };
	uint32_t answer = 0;
	int err = bpf_util_run(bpf_program__fd(s->skel->progs.rss_waiters), args, &answer);

	if (err)
		return log_err(err, "rstat: cannot read who waits for its locks: %s",
			       strerror(-err));
	s->waiters.sure |= !!(answer & RSS_USED);
	return answer & RSS_FULL;
}

/* Whether spinlocks have queues, by the kernel's own word for it or because some were used. */
static int ask_queues(struct rstat_lists *s)
{
	uint64_t args[4] = { s->waiters.key };
	uint32_t on = 0;
	int err;

	if (s->waiters.form != RSS_LOCK_QUEUE || s->waiters.sure)
		return 0;
	if (!s->waiters.key)
		return look_lock(s, RSS_UNITS);
	err = bpf_util_run(bpf_program__fd(s->skel->progs.rss_key), args, &on);
	if (!err)
		rstat_waiters_key(&s->waiters, on);
	return err;
}

static void note(const struct rstat_lists *s, struct plan *plan)
{
	for (size_t i = 0; i < plan->n; i++)
		if (plan->entry[i].measure->measure == KD_M_RSTAT_PENDING &&
		    plan->entry[i].state != PLAN_OFF)
			rstat_waiters_note(&s->waiters, plan->entry[i].reason, PLAN_TEXT);
}

static int load_object(struct rstat_lists *s, const struct lists_conf *conf)
{
	struct rstat_state_bpf *skel = s->skel = rstat_state_bpf__open_opts(bpf_util_open_opts());
	int err;

	if (!skel)
		return log_err(-errno, "rstat: cannot open what reads its lists: %s",
			       strerror(errno));
	fill(s, conf);
	err = bpf_map__reuse_fd(skel->maps.ring, conf->ring_fd);
	if (!err)
		err = bpf_util_load(skel->obj);
	if (err) {
		lists_refuse(conf->plan, KD_SRC_RSTAT,
			     "the kernel does not load what reads its lists: %s",
			     bpf_util_load_error(err));
		return -ENODEV;
	}
	err = percpu_find(bpf_program__fd(skel->progs.kd_percpu));
	if (err)
		lists_refuse(conf->plan, KD_SRC_RSTAT, "per-CPU data cannot be found: %s",
			     strerror(-err));
	else if ((err = ask_queues(s)))
		lists_refuse(conf->plan, KD_SRC_RSTAT, "the state of its locks cannot be read: %s",
			     strerror(-err));
	if (err)
		return -ENODEV;
	note(s, conf->plan);
	return 0;
}

static int load(void **state, const struct lists_conf *conf)
{
	struct rstat_lists *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->no_ipi = conf->no_ipi;
	err = cpus_read("possible", &s->possible, &s->n);
	if (err)
		log_err(err, "rstat: cannot read which CPUs are possible: %s", strerror(-err));
	else
		err = load_object(s, conf);
	if (err) {
		unload(s);
		return err;
	}
	*state = s;
	return 0;
}

/* A CPU that is offline, or goes offline just now, is read from afar. */
static int look_cpu(const struct rstat_lists *s, int cpu, uint32_t unit, uint32_t *next)
{
	int fd = bpf_program__fd(s->skel->progs.rss_look);
	uint64_t there[4] = { (uint64_t)cpu, 1, unit }, afar[4] = { (uint64_t)cpu, 0, unit };

	if (!s->no_ipi && !bpf_util_run_on(fd, there, cpu, next))
		return 0;
	return bpf_util_run(fd, afar, next);
}

/*
 * A cursor is a lock, + 1; behind all of these a CPU, by its place among the possible ones, and where to go on
 * in its lists. Locks come first, before any CPU is interrupted: one that waits for a lock, or holds it,
 * would answer only after that.
 */
#define LOCKS (RSS_UNITS / 2)

static int64_t look_locks(struct rstat_lists *s, uint32_t from)
{
	for (uint32_t i = from; i < LOCKS; i++) {
		int full = look_lock(s, i * 2);

		if (full < 0)
			return full;
		if (full)
			return i + 1;
	}
	return 0;
}

static int64_t look_cpus(const struct rstat_lists *s, uint32_t from)
{
	int at = (int)(from / RSS_UNITS);
	uint32_t unit = from % RSS_UNITS, next = RSS_UNITS;

	for (; at < s->n; at++, unit = 0) {
		int err = look_cpu(s, s->possible[at], unit, &next);

		if (err)
			return log_err(err, "rstat: cannot read the lists of CPU %d: %s",
				       s->possible[at], strerror(-err));
		if (next < RSS_UNITS)
			return LOCKS + 1 + (int64_t)at * RSS_UNITS + next;
	}
	return 0;
}

static int64_t look(void *state, uint32_t cursor)
{
	struct rstat_lists *s = state;
	int64_t next = 0;

	if (cursor > LOCKS)
		return look_cpus(s, cursor - LOCKS - 1);
	if (s->waiters.form != RSS_LOCK_SILENT)
		next = look_locks(s, cursor ? cursor - 1 : 0);
	return next ? next : look_cpus(s, 0);
}

static int names(void *state, struct stream *out)
{
	(void)state; /* a CPU needs none */
	(void)out;
	return 0;
}

static uint64_t kernel_bytes(void *state)
{
	const struct rstat_lists *s = state;

	return bpf_util_map_bytes(s->skel->obj, "ring");
}

const struct lists lists_rstat = {
	.source = KD_SRC_RSTAT,
	.load = load,
	.look = look,
	.names = names,
	.unload = unload,
	.kernel_bytes = kernel_bytes,
};
