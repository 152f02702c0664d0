// SPDX-License-Identifier: GPL-2.0-only
/* settle.c - waits until what attaching caused is past. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/membarrier.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "../bpf/defer.h"
#include "../bpf/settle.h"
#include "percpu.h"
#include "settle.skel.h"
#include "bpf_util.h"
#include "clock.h"
#include "settle.h"

#define NAP_NS 10000000ULL /* the first; each is twice the one before, up to ... */
#define NAP_MOST_NS 160000000ULL
/*
 * The rest of one that is under way, one for the callback, one for what that handed over, and one more
 * since what is queued during a grace period may be assigned to the one after the next.
 */
#define PERIODS 4u
#define SEQ_OF_PERIOD 4u /* the two lowest bits are the state */

#define TASKS_KINDS (1u << KD_FL_TASKS | 1u << KD_FL_TASKS_RUDE | 1u << KD_FL_TASKS_TRACE)

uint32_t settle_flavours(const struct plan *p)
{
	uint32_t flavours = 0;

	for (size_t i = 0; i < p->n; i++) {
		const struct plan_measure *m = p->entry[i].measure;

		/* Flushes of statistics pass no callbacks. */
		if (p->entry[i].state == PLAN_OFF || m->source == KD_SRC_RSTAT)
			continue;
		flavours |= TASKS_KINDS;
		if (m->flavour == KD_FL_SRCU)
			flavours |= 1u << KD_FL_SRCU;
	}
	return flavours;
}

bool settle_past(struct settle_wait *w, uint32_t answer)
{
	uint32_t seq = answer >> 1;

	if (answer == SETTLE_ABSENT || !(answer & SETTLE_BUSY))
		return true;
	if (!w->seen)
		w->first = seq;
	w->seen = w->waited = true;
	return ((seq - w->first) & SETTLE_SEQ_MASK) >= PERIODS * SEQ_OF_PERIOD;
}

struct settle {
	struct settle_bpf *skel;
};

static int load(struct settle *s, const struct kernel *k, int ring_fd)
{
	int err;

	s->skel = settle_bpf__open_opts(bpf_util_open_opts());
	if (!s->skel)
		return -errno;
	percpu_fill(&s->skel->rodata->percpu, k);
	percpu_size(s->skel->maps.percpu_bases, &s->skel->rodata->percpu);
	err = bpf_map__reuse_fd(s->skel->maps.ring, ring_fd);
	if (!err)
		err = bpf_util_load(s->skel->obj);
	return err ? err : percpu_find(bpf_program__fd(s->skel->progs.kd_percpu));
}

void settle_unload(struct settle *s)
{
	if (s)
		settle_bpf__destroy(s->skel);
	free(s);
}

struct settle *settle_load(const struct kernel *k, int ring_fd, char *lacks, size_t size)
{
	struct settle *s = calloc(1, sizeof(*s));
	int err = s ? load(s, k, ring_fd) : -ENOMEM;

	if (!err)
		return s;
	snprintf(lacks, size, "%s", bpf_util_load_error(err));
	settle_unload(s);
	return NULL;
}

/* Those that are not past yet. */
static uint32_t look(const struct settle_bpf *skel, uint32_t flavours, struct settle_wait *waits)
{
	uint32_t left = 0;

	for (unsigned int f = 0; f < KD_FL_RCU_END; f++) {
		uint64_t args[4] = { f };
		uint32_t answer = SETTLE_ABSENT;

		if (!(flavours >> f & 1) ||
		    bpf_util_run(bpf_program__fd(skel->progs.st_look), args, &answer))
			continue;
		if (!settle_past(&waits[f], answer))
			left |= 1u << f;
	}
	return left;
}

static void wait_for(const struct settle_conf *conf, const struct settle_bpf *skel,
		     struct settle_wait *waits, uint64_t end_ns, struct settle_result *r)
{
	uint64_t nap_ns = NAP_NS;

	while ((r->unsettled = look(skel, conf->flavours, waits)) && clock_mono_ns() < end_ns &&
	       !(conf->stopped && conf->stopped())) {
		const struct timespec nap = clock_timespec(nap_ns);

		nanosleep(&nap, NULL);
		nap_ns = nap_ns * 2 < NAP_MOST_NS ? nap_ns * 2 : NAP_MOST_NS;
	}
}

static void wait_for_rcu(struct settle_result *r)
{
	if (!syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		r->grace_periods++;
}

/*
 * What waited for Tasks may hand over to RCU, and what waited for RCU to SRCU: so each twice, where the
 * second time there is mostly nothing left.
 */
void settle(struct settle *s, const struct settle_conf *conf, struct settle_result *r)
{
	struct settle_wait waits[KD_FL_RCU_END] = { 0 };
	uint64_t begin = clock_mono_ns();

	*r = (struct settle_result){ 0 };
	if (s) {
		wait_for(conf, s->skel, waits, begin + conf->most_ns, r);
		wait_for_rcu(r);
		wait_for(conf, s->skel, waits, begin + conf->most_ns, r);
		settle_unload(s); /* which hands over to RCU */
	}
	for (unsigned int f = 0; f < KD_FL_RCU_END; f++)
		r->grace_periods += waits[f].waited && !(r->unsettled >> f & 1);
	wait_for_rcu(r);
	r->took_ns = clock_mono_ns() - begin;
}
