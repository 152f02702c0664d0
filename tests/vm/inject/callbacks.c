/* SPDX-License-Identifier: GPL-2.0-only */
/* callbacks.c - callbacks: too many, one that lasts, and one that is in no hurry. */
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inject.h"
#include "inject.skel.h"

#define FLOOD_PATIENCE_NS (60000 * MS)
#define FLOOD_EACH_NS 2000 /* so that they are not run in less time than they are handed over in */
#define FLOOD_LEAST_NS (300 * MS) /* of all, if they are few */

/* A name that is looked for in vain makes a directory entry, freed behind a grace period. */
void queue_callbacks(unsigned int n)
{
	while (n--)
		if (!access("/tmp/inject.none", F_OK))
			die("/tmp/inject.none is there");
}

void queue_file(void)
{
	static const char file[] = "/tmp/inject.file";
	int fd = open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	if (fd < 0 || close(fd) || unlink(file))
		die(file);
}

/* New credentials hand over the old ones, to be freed by put_cred_rcu(), in less time than anything else. */
static void queue_creds(unsigned int n)
{
	while (n--)
		if (prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0))
			die("new credentials");
}

static void until_freed(void)
{
	unsigned long limit = now_ns() + FLOOD_PATIENCE_NS;

	while (!skel->bss->freed_ns) {
		usleep(1000);
		if (now_ns() > limit)
			die("the flood does not end");
	}
}

/* All of them behind one reader, so that they are ready at once, on the CPU that is left alone. */
static void one_flood(const struct options *o)
{
	struct injected i = { .cause = "callback_flood",
			      .source = "call_rcu",
			      .func = "put_cred_rcu",
			      .cpu = o->other,
			      .many = o->many,
			      .comm = "-" };
	unsigned long each = FLOOD_EACH_NS;
	struct reader reader;
	struct asker asker;

	asker_start(&asker, o->other);
	reader_start(&reader, o->cpu, "inj-reader");
	reader_go(&reader, now_ns() + FLOOD_PATIENCE_NS);
	asker_ask(&asker); /* another one, that has started when they come */
	skel->bss->freed = skel->bss->freed_ns = 0;
	queue_creds(1); /* the first ones are shared with other threads */
	skel->bss->each_ns = each * o->many < FLOOD_LEAST_NS ? FLOOD_LEAST_NS / o->many : each;
	skel->bss->many = o->many;
	queue_creds(o->many);
	i.begin_ns = i.asked_ns = now_ns();
	skel->bss->end_ns = i.begin_ns;
	reader_join(&reader);
	asker_join(&asker);
	until_freed();
	i.end_ns = skel->bss->freed_ns;
	skel->bss->many = 0;
	tell(&i);
}

int inject_flood(const struct options *o)
{
	load("inject_reader", "inject_flood");
	for (unsigned int n = 0; n < how_many(o); n++) {
		sleep_until(now_ns() + o->rest_ns);
		one_flood(o);
	}
	return 0;
}

/* The callback of one of several files stays; the others, handed over behind it, are late by as much. */
int inject_slow(const struct options *o)
{
	struct injected i = {
		.cause = "slow_callback", .source = "call_rcu", .func = "__d_free", .comm = "-"
	};

	load("inject_slow", NULL);
	for (unsigned int n = 0; n < how_many(o); n++) {
		sleep_until(now_ns() + o->rest_ns);
		skel->bss->started_ns = skel->bss->ended_ns = 0;
		skel->bss->stay_ns = o->ns;
		skel->bss->armed = 1;
		i.asked_ns = now_ns();
		for (int file = 0; file < 20; file++)
			queue_file();
		while (!skel->bss->ended_ns)
			usleep(1000);
		i.begin_ns = skel->bss->started_ns;
		i.end_ns = skel->bss->ended_ns;
		i.cpu = (int)skel->bss->cpu;
		tell(&i);
	}
	return 0;
}

#define WAKES "/sys/module/rcutree/parameters/rcu_normal_wake_from_gp"

/*
 * Whoever waits for a grace period hands over a callback that is not lazy, behind which those that are go
 * too. Newer kernels have another list for who waits, and then lazy ones stay.
 */
void asking_hurries(void)
{
	int fd = open(WAKES, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return; /* as it always was */
	if (write(fd, "0", 1) != 1)
		die(WAKES);
	close(fd);
}

void flush_lazy(const struct options *o)
{
	struct asker asker;

	asker_start(&asker, o->other);
	asker_ask(&asker);
	asker_join(&asker);
}

/*
 * Few callbacks, and nothing else that would ask for a grace period. None is there that was kept before:
 * the time after which all go is counted from the first.
 */
int inject_lazy(const struct options *o)
{
	struct injected i = { .cause = "lazy", .source = "call_rcu", .cpu = o->other, .comm = "-" };

	asking_hurries();
	for (unsigned int n = 0; n < how_many(o); n++) {
		sleep_until(now_ns() + o->rest_ns);
		flush_lazy(o);
		i.begin_ns = i.asked_ns = now_ns();
		queue_callbacks(3);
		sleep_until(i.begin_ns + o->ns);
		i.end_ns = now_ns();
		tell(&i);
	}
	return 0;
}
