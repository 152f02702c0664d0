/* SPDX-License-Identifier: GPL-2.0-only */
/* starved.c - RCU's own kthreads, confined to a CPU that a hog of higher priority takes. */
#include <string.h>

#include "inject.h"
#include "inject.skel.h"

#define KTHREADS 256

static void one_gp_kthread(const struct options *o, struct injected *i)
{
	struct asker asker;
	struct hog hog;

	asker_start(&asker, o->other);
	hog_start(&hog, o->cpu);
	hog_until(&hog, now_ns() + o->ns);
	asker_ask(&asker);
	hog_join(&hog);
	asker_join(&asker);
	i->begin_ns = hog.begin_ns;
	i->end_ns = hog.end_ns;
	i->rival = hog.pid;
	i->asked_ns = asker.asked_ns;
	i->waited_ns = asker.answered_ns - asker.asked_ns;
	tell(i);
}

int inject_gp_kthread(const struct options *o)
{
	struct injected i = { .cause = "gp_kthread_starved", .cpu = o->cpu };

	i.pid = i.tgid = gp_kthread(i.comm);
	confine(i.pid, o->cpu);
	for (unsigned int n = 0; n < how_many(o); n++) {
		sleep_until(now_ns() + o->rest_ns);
		one_gp_kthread(o, &i);
	}
	confine(i.pid, o->other);
	return 0;
}

/*
 * Callbacks of the CPU that is left alone; the kthreads that would run them are on the hog's. Those that
 * were kept lazily are gone before, and somebody asks, so that these are not kept.
 */
static void one_callbacks(const struct options *o, struct injected *i)
{
	struct asker asker;
	struct hog hog;

	asker_start(&asker, o->other);
	flush_lazy(o);
	hog_start(&hog, o->cpu);
	hog_until(&hog, now_ns() + o->ns);
	i->asked_ns = now_ns();
	for (int n = 0; n < 20; n++)
		queue_file();
	asker_ask(&asker);
	hog_join(&hog);
	asker_join(&asker);
	i->begin_ns = hog.begin_ns;
	i->end_ns = hog.end_ns;
	i->rival = hog.pid;
	tell(i);
}

/* Those that run the callbacks alone: the ones that wait for grace periods are named rcuog. */
int inject_callbacks_starved(const struct options *o)
{
	struct injected i = { .cause = "callbacks_starved", .source = "call_rcu", .cpu = o->cpu };
	pid_t pids[KTHREADS];
	int found;

	asking_hurries();
	strcpy(i.comm, o->kthreads);
	strcat(i.comm, o->other ? "/1" : "/0");
	if (find_tasks(i.comm, &i.pid, 1) != 1)
		die(i.comm);
	i.tgid = i.pid;
	found = find_tasks(o->kthreads, pids, KTHREADS);
	for (int n = 0; n < found; n++)
		confine(pids[n], o->cpu);
	for (unsigned int n = 0; n < how_many(o); n++) {
		sleep_until(now_ns() + o->rest_ns);
		one_callbacks(o, &i);
	}
	for (int n = 0; n < found; n++)
		unconfine(pids[n], 2);
	return 0;
}

/* rcutree.use_softirq=0, or a realtime kernel: a kthread of that CPU reports to RCU and runs callbacks. */
int inject_softirq_starved(const struct options *o)
{
	struct injected i = { .cause = "callbacks_starved", .cpu = o->cpu };

	hog_over_rcuc = 1;
	strcpy(i.comm, o->cpu ? "rcuc/1" : "rcuc/0");
	if (find_tasks(i.comm, &i.pid, 1) != 1)
		die(i.comm);
	i.tgid = i.pid;
	for (unsigned int n = 0; n < how_many(o); n++) {
		sleep_until(now_ns() + o->rest_ns);
		one_gp_kthread(o, &i);
	}
	return 0;
}
