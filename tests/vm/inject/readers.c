/* SPDX-License-Identifier: GPL-2.0-only */
/* readers.c - readers of RCU that last: running, preempted, and one of two causes. */
#include <string.h>

#include "inject.h"
#include "inject.skel.h"

static void of_reader(struct injected *i, const struct reader *reader)
{
	i->begin_ns = skel->bss->started_ns;
	i->end_ns = skel->bss->ended_ns;
	i->cpu = (int)skel->bss->cpu;
	i->pid = reader->pid;
	strcpy(i->comm, reader->name);
}

static void of_asker(struct injected *i, const struct asker *asker)
{
	i->asked_ns = asker->asked_ns;
	i->waited_ns = asker->answered_ns - asker->asked_ns;
}

/* Returns whether it was there for long enough: it may come late. */
static int one_reader(const struct options *o)
{
	struct injected i = { .cause = "long_reader", .func = "inject_reader" };
	struct reader reader;
	struct asker asker;

	asker_start(&asker, o->other);
	reader_start(&reader, o->cpu, "inj-reader");
	reader_go(&reader, now_ns() + o->ns);
	asker_ask(&asker);
	reader_join(&reader);
	asker_join(&asker);
	of_reader(&i, &reader);
	of_asker(&i, &asker);
	if (i.end_ns < i.begin_ns + o->ns / 2)
		return 0;
	tell(&i);
	return 1;
}

int inject_long_reader(const struct options *o)
{
	load("inject_reader", NULL);
	for (unsigned int n = 0; n < how_many(o); n++) {
		int tries = 0;

		do
			sleep_until(now_ns() + o->rest_ns);
		while (!one_reader(o) && ++tries < 5);
		if (tries == 5)
			fputs("inject: the reader always came late\n", stderr);
	}
	return 0;
}

/* Its own work is over when it is preempted: that it lasts is the hog's doing. */
static void one_preempted(const struct options *o)
{
	struct injected i = { .cause = "preempted_reader", .func = "inject_preempt" };
	struct reader reader;
	struct asker asker;
	struct hog hog;

	asker_start(&asker, o->other);
	hog_start(&hog, o->cpu);
	reader_start(&reader, o->cpu, "inj-reader");
	reader_go(&reader, now_ns() + 10 * o->ns);
	hog_until(&hog, now_ns() + o->ns);
	skel->bss->end_ns = now_ns(); /* it is over as soon as it runs again */
	asker_ask(&asker);
	hog_join(&hog);
	reader_join(&reader);
	asker_join(&asker);
	of_reader(&i, &reader);
	of_asker(&i, &asker);
	i.begin_ns = hog.begin_ns;
	i.rival = hog.pid;
	skel->bss->still_ns = 0; /* it did not look at the clock: that is what was made */
	tell(&i);
}

int inject_preempted_reader(const struct options *o)
{
	load("inject_preempt", NULL);
	for (unsigned int n = 0; n < how_many(o); n++) {
		sleep_until(now_ns() + o->rest_ns);
		one_preempted(o);
	}
	return 0;
}

/*
 * A reader for half of the time; the kthread that would see its end is kept from running for all of it.
 * Two lines, of one grace period. Returns whether each was there for long enough: one may
 * come late.
 */
static int one_of_two(const struct options *o, pid_t kthread)
{
	struct injected i = { .cause = "long_reader", .func = "inject_reader" };
	unsigned long begin = now_ns(), still;
	struct reader reader;
	struct asker asker;
	struct hog hog;

	asker_start(&asker, o->other);
	hog_start(&hog, o->other);
	reader_start(&reader, o->cpu, "inj-reader");
	reader_go(&reader, begin + o->ns / 2);
	asker_ask(&asker);
	sleep_until(now_ns() + 20 * MS); /* until the grace period has started */
	hog_until(&hog, begin + o->ns);
	reader_join(&reader);
	hog_join(&hog);
	asker_join(&asker);
	of_reader(&i, &reader);
	of_asker(&i, &asker);
	if (i.end_ns < i.asked_ns + o->ns / 4 || hog.end_ns < i.end_ns + o->ns / 4)
		return 0;
	still = skel->bss->still_ns > still_ns ? skel->bss->still_ns : still_ns;
	i.whole_begin_ns = i.begin_ns;
	i.whole_end_ns = hog.end_ns;
	tell(&i);
	still_ns = still; /* of both */
	i.cause = "gp_kthread_starved";
	i.begin_ns = skel->bss->ended_ns;
	i.end_ns = hog.end_ns;
	i.cpu = o->other;
	i.pid = i.tgid = kthread;
	i.rival = hog.pid;
	strcpy(i.comm, "-");
	i.func = NULL;
	tell(&i);
	return 1;
}

int inject_two(const struct options *o)
{
	pid_t kthread;

	if (find_tasks("rcu_preempt", &kthread, 1) != 1 &&
	    find_tasks("rcu_sched", &kthread, 1) != 1)
		die("no kthread of grace periods");
	load("inject_reader", NULL);
	confine(kthread, o->other);
	for (unsigned int n = 0; n < how_many(o); n++) {
		int tries = 0;

		do
			sleep_until(now_ns() + o->rest_ns);
		while (!one_of_two(o, kthread) && ++tries < 5);
		if (tries == 5)
			fputs("inject: the reader always came late\n", stderr);
	}
	return 0;
}
