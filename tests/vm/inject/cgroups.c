/* SPDX-License-Identifier: GPL-2.0-only */
/* cgroups.c - flushes of cgroup statistics: of many cgroups, and behind one of many. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inject.h"
#include "inject.skel.h"

#define LEAST_NS (MS / 2) /* twice the limit */
#define MOST_NS (6 * MS)  /* some times what it takes: the CPU was not run for a while */
#define PARENT "/sys/fs/cgroup/inject"
#define ALSO 16 /* in the queue, at most */

/* Any file that has all statistics flushed. */
static const char *stat_file = PARENT "/cpu.stat";

static void path_of(char *path, size_t size, unsigned int n)
{
	snprintf(path, size, PARENT "/c%u", n);
}

/* A controller that is not there is no matter: memory makes flushes longer. */
static void with_controllers(const char *file)
{
	static const char *const names[] = { "+memory", "+io" };
	int fd = open(file, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		die(file);
	for (int n = 0; n < 2; n++)
		if (write(fd, names[n], strlen(names[n])) < 0)
			perror(names[n]);
	close(fd);
}

static void make(unsigned int many)
{
	char path[64];

	with_controllers("/sys/fs/cgroup/cgroup.subtree_control");
	if (mkdir(PARENT, 0755) && errno != EEXIST)
		die(PARENT);
	with_controllers(PARENT "/cgroup.subtree_control");
	for (unsigned int n = 0; n < many; n++) {
		path_of(path, sizeof(path), n);
		if (mkdir(path, 0755) && errno != EEXIST)
			die(path);
	}
}

/* Each runs a process that is born in it, so that nothing has to be moved, on the CPU where we are. */
static void run_in(unsigned int n)
{
	struct clone_args args = { .flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD };
	char path[64];
	long pid;
	int fd;

	path_of(path, sizeof(path), n);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		die(path);
	args.cgroup = (unsigned long)fd;
	pid = syscall(SYS_clone3, &args, sizeof(args));
	if (!pid) {
		sched_yield();
		_exit(0);
	}
	if (pid < 0 || waitpid((pid_t)pid, NULL, 0) != pid)
		die("clone3");
	close(fd);
}

static void dirty(unsigned int many, int cpu)
{
	pin(cpu);
	for (unsigned int n = 0; n < many; n++)
		run_in(n);
}

static void read_stat(int fd, struct injected *i)
{
	char text[16384];

	i->begin_ns = i->asked_ns = now_ns();
	if (pread(fd, text, sizeof(text), 0) < 0)
		die(stat_file);
	i->end_ns = now_ns();
	i->waited_ns = i->end_ns - i->begin_ns;
}

/* Whoever reads is known beforehand to whoever watches, and all code is warm. */
int inject_cgroups(const struct options *o)
{
	struct injected i = { .cause = "many_cgroups",
			      .source = "rstat",
			      .flavour = "-",
			      .comm = "inj-flusher",
			      .cpu = o->other };
	int fd;

	stat_file = o->file ? o->file : stat_file;
	make(o->many);
	set_name(i.comm);
	i.pid = self();
	fd = open(stat_file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die(PARENT);
	for (int n = 0; n < 20; n++)
		read_stat(fd, &i);
	for (unsigned int n = 0; n < how_many(o); n++) {
		/* The kernel flushes of its own accord every two seconds, what is dirtied meanwhile. */
		for (int tries = 0; tries < 5; tries++) {
			dirty(o->many, o->cpu);
			pin(o->other);
			read_stat(fd, &i);
			if (i.waited_ns > LEAST_NS && i.waited_ns < MOST_NS)
				break;
		}
		tell(&i);
	}
	close(fd);
	return 0;
}

static volatile int held; /* there is somebody to wait for */

static void *read_behind(void *arg)
{
	struct injected *i = arg;
	int fd = open(stat_file, O_RDONLY | O_CLOEXEC);

	pin(i->cpu ? 0 : 1);
	set_name("inj-behind");
	if (fd < 0)
		die(PARENT);
	while (!held)
		usleep(200);
	read_stat(fd, i);
	close(fd);
	return NULL;
}

/* One more in the queue, on a CPU of its own. */
static void *read_also(void *arg)
{
	struct injected unused;
	int fd = open(stat_file, O_RDONLY | O_CLOEXEC);

	pin((int)(intptr_t)arg);
	set_name("inj-also");
	if (fd < 0)
		die(PARENT);
	while (!held)
		usleep(200);
	read_stat(fd, &unused);
	close(fd);
	return NULL;
}

static void *hold_lock(void *arg)
{
	struct injected *i = arg, unused;
	int fd = open(stat_file, O_RDONLY | O_CLOEXEC);

	pin(i->cpu);
	set_name(i->comm);
	i->pid = self();
	if (fd < 0)
		die(PARENT);
	skel->bss->started_ns = 0;
	skel->bss->stay_ns = i->whole_end_ns; /* how long, until it is said when */
	skel->bss->armed = 1;
	skel->bss->holder = (unsigned int)i->pid;
	dirty(10, i->cpu);
	read_stat(fd, &unused);
	close(fd);
	return NULL;
}

/* Returns whether somebody came while it was held. */
static int one_lock(const struct options *o, unsigned int also)
{
	pthread_t more[ALSO];
	struct injected i = { .cause = "lock_contention",
			      .source = "rstat",
			      .flavour = "-",
			      .comm = "inj-holder",
			      .cpu = o->cpu,
			      .whole_end_ns = o->ns };
	pthread_t holding, waiting;

	held = 0;
	for (unsigned int n = 0; n < also; n++)
		if (pthread_create(&more[n], NULL, read_also, (void *)(intptr_t)(2 + n)))
			die("thread");
	/* Both beforehand: who has a new stack mapped may wait for the CPU that has interrupts off. */
	if (pthread_create(&waiting, NULL, read_behind, &i) ||
	    pthread_create(&holding, NULL, hold_lock, &i))
		die("thread");
	while (!i.pid || !skel->bss->started_ns)
		usleep(200);
	i.whole_end_ns = 0;
	held = 1;
	pthread_join(holding, NULL);
	pthread_join(waiting, NULL);
	for (unsigned int n = 0; n < also; n++)
		pthread_join(more[n], NULL);
	skel->bss->holder = 0;
	if (i.waited_ns < o->ns / 4)
		return 0;
	tell(&i); /* begin and end are of the one behind, the culprit is in front */
	return 1;
}

static int hold_and_wait(const struct options *o, unsigned int also)
{
	stat_file = o->file ? o->file : stat_file;
	make(10);
	load("inject_flush", NULL);
	for (unsigned int n = 0; n < how_many(o); n++) {
		int tries = 0;

		do
			sleep_until(now_ns() + o->rest_ns);
		while (!one_lock(o, also) && ++tries < 5);
		if (tries == 5)
			fputs("inject: nobody came while the lock was held\n", stderr);
	}
	return 0;
}

/* One that holds the lock for long, and one more, on another CPU, that finds it taken. */
int inject_lock(const struct options *o)
{
	return hold_and_wait(o, 0);
}

/* And so many more, on CPUs from 2 on. */
int inject_queue(const struct options *o)
{
	if (o->many > ALSO)
		die("--many");
	return hold_and_wait(o, o->many);
}

/* --- many flushes of known length, one behind another --- */

#define LEAF PARENT "/held"

static void join(const char *group)
{
	char path[128], text[16];
	int fd, len = snprintf(text, sizeof(text), "%d", getpid());

	snprintf(path, sizeof(path), "%s/cgroup.procs", group);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, text, (size_t)len) != len)
		die(path);
	close(fd);
}

static unsigned int rounds;

static void *flush_often(void *arg)
{
	struct injected unused;
	int fd = open(stat_file, O_RDONLY | O_CLOEXEC);

	pin((int)(intptr_t)arg);
	if (fd < 0)
		die(stat_file);
	for (unsigned int n = 0; n < rounds; n++) {
		sched_yield(); /* its time is charged now, so that there is something to flush */
		read_stat(fd, &unused);
	}
	close(fd);
	return NULL;
}

/* Two threads that each flush the cgroup they are in, --times each; the shortest takes --ms. */
int inject_flushes(const struct options *o)
{
	pthread_t threads[2];

	make(0);
	if (mkdir(LEAF, 0755) && errno != EEXIST)
		die(LEAF);
	join(LEAF);
	set_name("inj-held");
	stat_file = LEAF "/cpu.stat";
	rounds = o->times;
	load("inject_flushes", NULL);
	skel->bss->each_ns = o->ns / 4;
	skel->bss->loopers = (unsigned int)getpid();
	for (intptr_t cpu = 0; cpu < 2; cpu++)
		if (pthread_create(&threads[cpu], NULL, flush_often, (void *)cpu))
			die("thread");
	for (int n = 0; n < 2; n++)
		pthread_join(threads[n], NULL);
	skel->bss->loopers = 0;
	join("/sys/fs/cgroup");
	printf("flushed %u\n", 2 * rounds);
	return rmdir(LEAF) ? 1 : 0;
}
