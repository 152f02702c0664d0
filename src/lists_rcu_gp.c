// SPDX-License-Identifier: GPL-2.0-only
/* lists_rcu_gp.c - user side of bpf/gp_state.bpf.c: the grace period of each flavour, and who owes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "../bpf/defer.h"
#include "../bpf/gp_state.h"
#include "percpu.h"
#include "gp_state.skel.h"
#include "bpf_util.h"
#include "lists.h"
#include "log.h"
#include "srcu_domains.h"

struct rcu_gp_state {
	struct gp_state_bpf *skel;
	struct srcu_domains domains;
	uint32_t flavours; /* bits of enum kd_flavour: rows that are not off */
};

#define TASK_FLAVOURS (1u << KD_FL_TASKS | 1u << KD_FL_TASKS_TRACE)

static void unload(void *state)
{
	struct rcu_gp_state *g = state;

	gp_state_bpf__destroy(g->skel);
	srcu_domains_free(&g->domains);
	free(g);
}

static void note_flavours(struct rcu_gp_state *g, const struct plan *plan)
{
	for (size_t i = 0; i < plan->n; i++)
		if (plan->entry[i].measure->measure == KD_M_RCU_GP_PENDING &&
		    plan->entry[i].state != PLAN_OFF)
			g->flavours |= 1u << plan->entry[i].measure->flavour;
}

static int find_all(struct rcu_gp_state *g)
{
	int err = percpu_find(bpf_program__fd(g->skel->progs.kd_percpu)), fd;

	if (!err)
		err = srcu_domains_check(&g->domains, bpf_map__fd(g->skel->maps.domains),
					 bpf_program__fd(g->skel->progs.sd_check));
	if (err || !(g->flavours & TASK_FLAVOURS))
		return err;
	fd = bpf_util_iterator(bpf_program__fd(g->skel->progs.gs_task)); /* does it work here? */
	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

static int load_object(struct rcu_gp_state *g, const struct lists_conf *conf)
{
	struct gp_state_bpf *skel = g->skel = gp_state_bpf__open_opts(bpf_util_open_opts());
	int err;

	if (!skel)
		return log_err(-errno, "rcu_gp: cannot open what reads its state: %s",
			       strerror(errno));
	percpu_fill(&skel->rodata->percpu,
		    conf->kernel); /* the plan has asked for what is needed */
	percpu_size(skel->maps.percpu_bases, &skel->rodata->percpu);
	srcu_domains_size(skel->maps.domains, &g->domains);
	skel->rodata->hz = conf->kernel->hz ? conf->kernel->hz : 1;
	bpf_program__set_autoload(skel->progs.gs_task, g->flavours & TASK_FLAVOURS);
	err = bpf_map__reuse_fd(skel->maps.ring, conf->ring_fd);
	if (!err)
		err = bpf_util_load(skel->obj);
	if (err) {
		lists_refuse(conf->plan, KD_SRC_RCU_GP,
			     "the kernel does not load what reads its state: %s",
			     bpf_util_load_error(err));
		return -ENODEV;
	}
	err = find_all(g);
	if (err) {
		lists_refuse(conf->plan, KD_SRC_RCU_GP, "RCU's state cannot be found: %s",
			     strerror(-err));
		return -ENODEV;
	}
	return 0;
}

static int load(void **state, const struct lists_conf *conf)
{
	struct rcu_gp_state *g = calloc(1, sizeof(*g));
	int err;

	if (!g)
		return -ENOMEM;
	note_flavours(g, conf->plan);
	err = srcu_domains_find(&g->domains, conf->kernel);
	if (!err)
		err = load_object(g, conf);
	if (err) {
		unload(g);
		return err;
	}
	*state = g;
	return 0;
}

static int step(const struct rcu_gp_state *g, unsigned int flavour, enum gs_step what,
		uint32_t from, uint32_t *answer)
{
	uint64_t args[4] = { flavour, what, from, g->domains.n };

	return bpf_util_run(bpf_program__fd(g->skel->progs.gs_look), args, answer);
}

/* All CPUs and preempted readers, by as many runs as it takes. */
static int walk_nodes(const struct rcu_gp_state *g, unsigned int flavour)
{
	uint32_t from = 0;
	int err;

	do
		err = step(g, flavour, GS_WALK, from, &from);
	while (!err && from);
	return err;
}

/* All tasks; the kernel takes them one by one, and pauses as it likes. */
static int walk_tasks(const struct rcu_gp_state *g)
{
	int fd = bpf_util_iterator(bpf_program__fd(g->skel->progs.gs_task));
	ssize_t n;
	char buf[64];

	if (fd < 0)
		return fd;
	do
		n = read(fd, buf, sizeof(buf));
	while (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)));
	close(fd);
	return n < 0 ? -errno : 0;
}

static int walk(const struct rcu_gp_state *g, unsigned int flavour)
{
	switch (flavour) {
	case KD_FL_RCU:
	case KD_FL_EXPEDITED:
		return walk_nodes(g, flavour);
	case KD_FL_TASKS:
	case KD_FL_TASKS_TRACE:
		return walk_tasks(g);
	}
	return 0; /* who owes does not show */
}

/* One flavour: those who owe come before the grace period that they owe. */
static int see(const struct rcu_gp_state *g, unsigned int flavour)
{
	uint32_t under_way = 0, full = 0;
	int err = step(g, flavour, GS_BEGIN, 0, &under_way);

	if (!err && under_way)
		err = walk(g, flavour);
	if (!err)
		err = step(g, flavour, GS_END, 0, &full);
	return err ? err : full ? -ENOSPC : 0;
}

/* A cursor is the flavour to go on with. The ring is empty at its beginning, and has room for one. */
static int64_t look(void *state, uint32_t cursor)
{
	const struct rcu_gp_state *g = state;
	uint32_t flavour = cursor;
	int err = 0;

	while (flavour < KD_FL_RCU_END && !(g->flavours >> flavour & 1))
		flavour++;
	if (flavour < KD_FL_RCU_END)
		err = see(g, flavour++);
	if (err)
		return log_err(err, "rcu_gp: cannot read the state of grace periods: %s",
			       strerror(-err));
	return g->flavours >> flavour ? flavour : 0;
}

static int names(void *state, struct stream *out)
{
	struct rcu_gp_state *g = state;

	return srcu_domains_name(&g->domains, bpf_map__fd(g->skel->maps.domains), KD_SRC_RCU_GP,
				 out);
}

static uint64_t kernel_bytes(void *state)
{
	const struct rcu_gp_state *g = state;

	return bpf_util_map_bytes(g->skel->obj, "ring");
}

const struct lists lists_rcu_gp = {
	.source = KD_SRC_RCU_GP,
	.load = load,
	.look = look,
	.names = names,
	.unload = unload,
	.kernel_bytes = kernel_bytes,
};
