/* SPDX-License-Identifier: GPL-2.0-only */
/* callbacks.c - callbacks: too many, one that lasts, and one that is in no hurry. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inject.h"
#include "inject.skel.h"

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

#define FLOOD_EACH_NS \
	150000 /* so that few are many: handing them over takes far less than running them */

/* All of them behind one reader, so that they are ready at once, on the CPU that is left alone. */
static void one_flood(const struct options *o)
{
	struct injected i = { .cause = "callback_flood",
			      .source = "call_rcu",
			      .func = "__d_free",
			      .cpu = o->other,
			      .comm = "-" };
	struct reader reader;
	struct asker asker;

	asker_start(&asker, o->other);
	reader_start(&reader, o->cpu, "inj-reader");
	reader_go(&reader, now_ns() + 20000 * MS);
	asker_ask(&asker); /* another one, that has started when they come */
	skel->bss->each_ns = FLOOD_EACH_NS;
	skel->bss->left = o->many;
	queue_callbacks(o->many);
	i.begin_ns = i.asked_ns = now_ns();
	skel->bss->end_ns = i.begin_ns;
	reader_join(&reader);
	asker_join(&asker);
	while (skel->bss->left)
		usleep(1000);
	skel->bss->each_ns = 0;
	i.end_ns = now_ns();
	tell(&i);
}

int inject_flood(const struct options *o)
{
	load("inject_reader", "inject_flood");
	for (unsigned int n = 0; n < o->times; n++) {
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
	for (unsigned int n = 0; n < o->times; n++) {
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

/* Few callbacks, and nothing else that would ask for a grace period. */
int inject_lazy(const struct options *o)
{
	struct injected i = { .cause = "lazy", .source = "call_rcu", .cpu = o->other, .comm = "-" };

	for (unsigned int n = 0; n < o->times; n++) {
		sleep_until(now_ns() + o->rest_ns);
		i.begin_ns = i.asked_ns = now_ns();
		queue_callbacks(3);
		sleep_until(i.begin_ns + o->ns);
		i.end_ns = now_ns();
		tell(&i);
	}
	return 0;
}
