// SPDX-License-Identifier: GPL-2.0-only
/* lists_call_rcu.c - user side of bpf/rcu_lists.bpf.c: callbacks that wait, by list, CPU and flavour. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "../bpf/defer.h"
#include "../bpf/rcu_lists.h"
#include "percpu.h"
#include "rcu_lists.skel.h"
#include "bpf_util.h"
#include "cpus.h"
#include "lists.h"
#include "log.h"
#include "srcu_domains.h"

/* A cursor is a flavour and where to go on in it. */
#define FLAVOUR_SHIFT 27

struct call_rcu_lists {
	struct rcu_lists_bpf *skel;
	struct srcu_domains domains;
	uint32_t flavours; /* bits of enum kd_flavour: rows that are not off */
	uint32_t lists;    /* bits of enum kd_list: what RCU's own callback lists have here */
	int cpus;          /* numbers are below it */
	bool no_ipi;
	bool declared; /* which lists there are was said */
};

static void unload(void *state)
{
	struct call_rcu_lists *c = state;

	rcu_lists_bpf__destroy(c->skel);
	srcu_domains_free(&c->domains);
	free(c);
}

static void note_flavours(struct call_rcu_lists *c, const struct plan *plan)
{
	for (size_t i = 0; i < plan->n; i++)
		if (plan->entry[i].measure->measure == KD_M_CALL_RCU_PENDING &&
		    plan->entry[i].state != PLAN_OFF)
			c->flavours |= 1u << plan->entry[i].measure->flavour;
}

static int load_object(struct call_rcu_lists *c, const struct lists_conf *conf)
{
	struct rcu_lists_bpf *skel = c->skel = rcu_lists_bpf__open_opts(bpf_util_open_opts());
	int err;

	if (!skel)
		return log_err(-errno, "call_rcu: cannot open what reads its lists: %s",
			       strerror(errno));
	percpu_fill(&skel->rodata->percpu,
		    conf->kernel); /* the plan has asked for what is needed */
	percpu_size(skel->maps.percpu_bases, &skel->rodata->percpu);
	bpf_map__set_max_entries(skel->maps.seen, (__u32)c->cpus);
	srcu_domains_size(skel->maps.domains, &c->domains);
	skel->rodata->hz = conf->kernel->hz ? conf->kernel->hz : 1;
	err = bpf_map__reuse_fd(skel->maps.ring, conf->ring_fd);
	if (!err)
		err = bpf_util_load(skel->obj);
	if (err) {
		lists_refuse(conf->plan, KD_SRC_CALL_RCU,
			     "the kernel does not load what reads its lists: %s",
			     bpf_util_load_error(err));
		return -ENODEV;
	}
	err = percpu_find(bpf_program__fd(skel->progs.kd_percpu));
	if (!err)
		err = srcu_domains_check(&c->domains, bpf_map__fd(skel->maps.domains),
					 bpf_program__fd(skel->progs.sd_check));
	if (err) {
		lists_refuse(conf->plan, KD_SRC_CALL_RCU, "RCU's per-CPU data cannot be found: %s",
			     strerror(-err));
		return -ENODEV;
	}
	return 0;
}

#define BIT(n) (1u << (n))
#define SEGMENTS                                                                               \
	(BIT(KD_LIST_DONE) | BIT(KD_LIST_WAIT) | BIT(KD_LIST_NEXT_READY) | BIT(KD_LIST_NEXT) | \
	 BIT(KD_LIST_INVOKING))

static uint32_t lists_of_rcu(const struct kernel *k)
{
	uint32_t lists = SEGMENTS;

	if (kernel_has_field(k, "rcu_data", "nocb_bypass"))
		lists |= BIT(KD_LIST_BYPASS);
	if (kernel_has_field(k, "rcu_data", "lazy_len"))
		lists |= BIT(KD_LIST_LAZY);
	return lists;
}

static int load(void **state, const struct lists_conf *conf)
{
	struct call_rcu_lists *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return -ENOMEM;
	c->cpus = conf->kernel->possible_cpus;
	c->no_ipi = conf->no_ipi;
	c->lists = lists_of_rcu(conf->kernel);
	note_flavours(c, conf->plan);
	err = srcu_domains_find(&c->domains, conf->kernel);
	if (!err)
		err = load_object(c, conf);
	if (err) {
		unload(c);
		return err;
	}
	*state = c;
	return 0;
}

/* A CPU that is offline, or goes offline just now, is read from afar. */
static int see_cpu(const struct call_rcu_lists *c, int cpu, bool online)
{
	int fd = bpf_program__fd(c->skel->progs.rl_see);
	uint64_t there[4] = { (uint64_t)cpu, 1 }, afar[4] = { (uint64_t)cpu, 0 };

	if (online && !c->no_ipi && !bpf_util_run_on(fd, there, cpu, NULL))
		return 0;
	return bpf_util_run(fd, afar, NULL);
}

/* RCU's own lists of all CPUs, one after the other, each at one moment. */
static int see_all(const struct call_rcu_lists *c)
{
	int *online = NULL, n = 0, at = 0, err = cpus_read("online", &online, &n);

	for (int cpu = 0; cpu < c->cpus && !err; cpu++) {
		while (at < n && online[at] < cpu)
			at++;
		err = see_cpu(c, cpu, at < n && online[at] == cpu);
	}
	free(online);
	return err;
}

static int64_t emit(const struct call_rcu_lists *c, unsigned int flavour, uint32_t from)
{
	uint64_t args[4] = { flavour, from, c->domains.n };
	uint32_t next = 0;
	int err = bpf_util_run(bpf_program__fd(c->skel->progs.rl_emit), args, &next);

	return err ? err : (int64_t)next;
}

static int64_t look(void *state, uint32_t cursor)
{
	const struct call_rcu_lists *c = state;
	unsigned int flavour = cursor >> FLAVOUR_SHIFT;
	uint32_t from = cursor & ((1u << FLAVOUR_SHIFT) - 1);
	int64_t next = 0;
	int err;

	if (!cursor && c->flavours >> KD_FL_RCU & 1) {
		err = see_all(c);
		if (err)
			return log_err(err, "call_rcu: cannot read the lists of a CPU: %s",
				       strerror(-err));
	}
	for (; flavour <= KD_FL_KFREE && !next; flavour++, from = 0)
		if (c->flavours >> flavour & 1) {
			next = emit(c, flavour, from);
			if (next > 0)
				return next | (int64_t)flavour << FLAVOUR_SHIFT;
		}
	if (next < 0)
		return log_err((int)next, "call_rcu: cannot read its lists: %s",
			       strerror((int)-next));
	return 0;
}

/* What ran, by the kernel's own count: a total since boot, as it was when the lists were seen. */
static int say_left(const struct call_rcu_lists *c, struct stream *out)
{
	struct kd_rec_total r = { .rec = { .kind = KD_REC_COUNT, .len = sizeof(r) },
				  .source = KD_SRC_CALL_RCU,
				  .what = KD_CNT_LEFT };
	struct rl_seen seen;

	for (uint32_t cpu = 0; cpu < (uint32_t)c->cpus; cpu++)
		if (!bpf_map_lookup_elem(bpf_map__fd(c->skel->maps.seen), &cpu, &seen))
			r.total += seen.invoked;
	return stream_record(out, &r, sizeof(r));
}

static int declare(unsigned int flavour, uint32_t lists, struct stream *out)
{
	struct kd_rec_pending r = { .rec = { .kind = KD_REC_PENDING, .len = sizeof(r) },
				    .source = KD_SRC_CALL_RCU,
				    .flavour = (uint8_t)flavour,
				    .cpu = KD_CPU_NONE,
				    .flags = KD_PENDING_EXACT,
				    .bytes = KD_UNKNOWN,
				    .age_ns = KD_UNKNOWN };
	int err = 0;

	for (; lists && !err; lists &= lists - 1) {
		r.list = (uint16_t)__builtin_ctz(lists);
		err = stream_record(out, &r, sizeof(r));
	}
	return err;
}

/* Empty lists are in no snapshot: once it is said which there are, or an empty one would be an unknown one. */
static int declare_all(struct call_rcu_lists *c, struct stream *out)
{
	int err = 0;

	for (unsigned int f = 0; f <= KD_FL_KFREE && !err && !c->declared; f++)
		if (c->flavours >> f & 1)
			err = declare(f,
				      f == KD_FL_KFREE ? BIT(KD_LIST_KFREE)
				      : f == KD_FL_RCU ? c->lists
						       : SEGMENTS,
				      out);
	c->declared = true;
	return err;
}

static int names(void *state, struct stream *out)
{
	struct call_rcu_lists *c = state;
	int err = declare_all(c, out);

	if (!err && c->flavours >> KD_FL_RCU & 1)
		err = say_left(c, out);
	if (err)
		return err;
	return srcu_domains_name(&c->domains, bpf_map__fd(c->skel->maps.domains), KD_SRC_CALL_RCU,
				 out);
}

static uint64_t kernel_bytes(void *state)
{
	const struct call_rcu_lists *c = state;

	return bpf_util_map_bytes(c->skel->obj, "ring");
}

const struct lists lists_call_rcu = {
	.source = KD_SRC_CALL_RCU,
	.load = load,
	.look = look,
	.names = names,
	.unload = unload,
	.kernel_bytes = kernel_bytes,
};
