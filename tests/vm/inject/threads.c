/* SPDX-License-Identifier: GPL-2.0-only */
/* threads.c - whoever holds up, hogs and asks: threads of known place, name and length. */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "inject.h"
#include "inject.skel.h"

#define HOG_PRIORITY 50 /* above RCU's own kthreads, which have 1 at most unless told otherwise */
#define BEAT_PRIORITY \
	90 /* above all others here: nothing but a CPU that does not run makes it late */
#define PATIENCE_NS (10000 * MS)

volatile unsigned long still_ns;
int hog_over_rcuc;

unsigned long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000UL + ts.tv_nsec;
}

void sleep_until(unsigned long ns)
{
	struct timespec ts = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL))
		;
}

void die(const char *what)
{
	fprintf(stderr, "inject: %s: ", what);
	perror(NULL);
	exit(125);
}

pid_t self(void)
{
	return (pid_t)syscall(SYS_gettid);
}

void confine(pid_t pid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(pid, sizeof(set), &set))
		die("sched_setaffinity");
}

void unconfine(pid_t pid, int cpus)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (int i = 0; i < cpus; i++)
		CPU_SET(i, &set);
	if (sched_setaffinity(pid, sizeof(set), &set))
		die("sched_setaffinity");
}

void pin(int cpu)
{
	confine(0, cpu);
}

void set_name(const char *name)
{
	prctl(PR_SET_NAME, name);
}

#define BEAT_NS (5 * MS)

static void *beat(void *arg)
{
	struct sched_param param = { .sched_priority = BEAT_PRIORITY };
	const struct options *o = arg;

	set_name("inj-beat");
	pin(o->other);
	if (sched_setscheduler(0, SCHED_FIFO, &param))
		die("sched_setscheduler");
	for (unsigned long next = now_ns() + BEAT_NS, late;; next = now_ns() + BEAT_NS) {
		sleep_until(next);
		late = now_ns() - next;
		still_ns = late > still_ns ? late : still_ns;
	}
	return NULL;
}

void beat_start(struct options *o)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, beat, o))
		die("thread");
}

/* As why.py says it, whose numbers these are. */
static int is_spoiled(const struct injected *i, unsigned long still)
{
	unsigned long begin = i->asked_ns > i->begin_ns ? i->asked_ns : i->begin_ns;

	return still > 20 * MS && still > (i->end_ns - begin) / 10;
}

static unsigned int spoiled;

unsigned int how_many(const struct options *o)
{
	unsigned int most = o->again ? o->times / 2 + 2 : 0;

	return o->times + (spoiled < most ? spoiled : most);
}

void tell(const struct injected *i)
{
	unsigned long still =
		skel && skel->bss->still_ns > still_ns ? skel->bss->still_ns : still_ns;

	printf("injected cause=%s source=%s flavour=%s begin_ns=%lu asked_ns=%lu end_ns=%lu "
	       "waited_ns=%lu cpu=%d pid=%d tgid=%d rival=%d comm=%s func=%s",
	       i->cause, i->source ? i->source : "rcu_gp", i->flavour ? i->flavour : "rcu",
	       i->begin_ns, i->asked_ns, i->end_ns, i->waited_ns, i->cpu, i->pid,
	       i->tgid ? i->tgid : getpid(), i->rival, *i->comm ? i->comm : "-",
	       i->func ? i->func : "-");
	printf(" still_ns=%lu", still);
	spoiled += is_spoiled(i, still);
	still_ns = 0;
	if (skel)
		skel->bss->still_ns = 0;
	if (i->whole_end_ns)
		printf(" whole_begin_ns=%lu whole_end_ns=%lu", i->whole_begin_ns, i->whole_end_ns);
	if (i->many)
		printf(" many=%u", i->many);
	putchar('\n');
}

/* Waits until *what is no longer 0. */
static void until_set(volatile const unsigned long *what, const char *name)
{
	unsigned long begin = now_ns();

	while (!*what) {
		usleep(200);
		if (now_ns() - begin > PATIENCE_NS) {
			errno = ETIMEDOUT;
			die(name);
		}
	}
}

static void *ask(void *arg)
{
	struct asker *asker = arg;

	set_name("inj-asker");
	pin(asker->cpu);
	while (!asker->go)
		usleep(200);
	asker->asked_ns = now_ns();
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
	asker->answered_ns = now_ns();
	return NULL;
}

void asker_start(struct asker *asker, int cpu)
{
	memset(asker, 0, sizeof(*asker));
	asker->cpu = cpu;
	if (pthread_create(&asker->thread, NULL, ask, asker))
		die("thread");
}

void asker_ask(struct asker *asker)
{
	asker->go = 1;
	until_set(&asker->asked_ns, "nobody asks");
}

void asker_join(struct asker *asker)
{
	pthread_join(asker->thread, NULL);
}

static void *take_cpu(void *arg)
{
	struct sched_param param = { .sched_priority = HOG_PRIORITY };
	struct hog *hog = arg;

	set_name("inj-hog");
	pin(hog->cpu);
	if (sched_setscheduler(0, SCHED_FIFO, &param))
		die("sched_setscheduler");
	hog->pid = self();
	while (!hog->end_ns)
		usleep(500);
	hog->begin_ns = now_ns();
	for (unsigned long last = hog->begin_ns, now = last; now < hog->end_ns; last = now) {
		now = now_ns();
		if (now - last > still_ns)
			still_ns = now - last;
	}
	hog->end_ns = now_ns(); /* where CPUs stand still it may be late */
	return NULL;
}

static void spare(const char *name)
{
	struct sched_param param = { .sched_priority = HOG_PRIORITY + 1 };
	pid_t pid;

	if (find_tasks(name, &pid, 1) == 1 && sched_setscheduler(pid, SCHED_FIFO, &param))
		die("sched_setscheduler");
}

/*
 * The hog is to keep out others alone: not the kthread that reports and runs callbacks of that CPU, nor the
 * one for softirqs, which up to 6.1 none are run without while it waits for its turn.
 */
static void spare_rcu(int cpu)
{
	spare(cpu ? "rcuc/1" : "rcuc/0");
	spare(cpu ? "ksoftirqd/1" : "ksoftirqd/0");
}

void hog_start(struct hog *hog, int cpu)
{
	memset(hog, 0, sizeof(*hog));
	hog->cpu = cpu;
	if (!hog_over_rcuc)
		spare_rcu(cpu);
	if (pthread_create(&hog->thread, NULL, take_cpu, hog))
		die("thread");
	while (!hog->pid)
		usleep(200);
}

void hog_until(struct hog *hog, unsigned long end_ns)
{
	hog->end_ns = end_ns;
	until_set(&hog->begin_ns, "the hog does not run");
}

void hog_join(struct hog *hog)
{
	pthread_join(hog->thread, NULL);
}

static void *read_long(void *arg)
{
	struct reader *reader = arg;

	set_name(reader->name);
	pin(reader->cpu);
	reader->pid = self();
	while (!reader->go)
		usleep(500);
	getpgid(0);
	return NULL;
}

void reader_start(struct reader *reader, int cpu, const char *name)
{
	memset(reader, 0, sizeof(*reader));
	reader->cpu = cpu;
	reader->name = name;
	if (pthread_create(&reader->thread, NULL, read_long, reader))
		die("thread");
	while (!reader->pid)
		usleep(200);
}

void reader_go(struct reader *reader, unsigned long end_ns)
{
	skel->bss->started_ns = 0;
	skel->bss->end_ns = end_ns;
	skel->bss->holder = (unsigned int)reader->pid;
	reader->go = 1;
	until_set((volatile const unsigned long *)&skel->bss->started_ns,
		  "the reader does not come");
}

void reader_join(struct reader *reader)
{
	pthread_join(reader->thread, NULL);
	skel->bss->holder = 0;
}

static int name_begins(const char *pid, const char *begin)
{
	char path[64], comm[64];
	int fd, n;

	snprintf(path, sizeof(path), "/proc/%.20s/comm", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = (int)read(fd, comm, sizeof(comm) - 1);
	close(fd);
	comm[n > 0 ? n : 0] = 0;
	return !strncmp(comm, begin, strlen(begin));
}

int find_tasks(const char *begin, pid_t *pids, int max)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int n = 0;

	while (proc && (entry = readdir(proc)) && n < max)
		if (isdigit((unsigned char)entry->d_name[0]) && name_begins(entry->d_name, begin))
			pids[n++] = atoi(entry->d_name);
	if (proc)
		closedir(proc);
	return n;
}

pid_t gp_kthread(char *comm)
{
	pid_t pid;

	strcpy(comm, "rcu_preempt");
	if (find_tasks(comm, &pid, 1) == 1)
		return pid;
	strcpy(comm, "rcu_sched");
	if (find_tasks(comm, &pid, 1) == 1)
		return pid;
	die("no kthread of grace periods");
}
