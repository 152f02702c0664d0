// SPDX-License-Identifier: GPL-2.0-only
/*
 * rsload.c - cgroups with statistics to flush, and those who read them.
 *
 *   rsload make PARENT N            N cgroups below PARENT
 *   rsload unmake PARENT N          and away with them
 *   rsload dirty PARENT N CPUS      each of them has run something on so many CPUs since
 *   rsload read FILE THREADS TIMES NAME  each thread, of that name, reads FILE so often
 *   rsload long PARENT N TIMES      as rslong: dirties them on the last CPU and reads cpu.stat, so often
 *   rsload push                     takes each CPU away for 300 us of every millisecond, until killed
 *   rsload churn PARENT SECONDS [MOST]   makes and removes a cgroup that was used, again and again, so often
 *                                   at most; says how many
 *
 * PARENT is a folder of the v2 hierarchy. Says what it did on standard output.
 */
#define _GNU_SOURCE 1
#include <fcntl.h>
#include <limits.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void child_path(char *buf, size_t size, const char *parent, int i)
{
	snprintf(buf, size, "%s/c%d", parent, i);
}

static void make(const char *parent, int n)
{
	char path[512];

	for (int i = 0; i < n; i++) {
		child_path(path, sizeof(path), parent, i);
		if (mkdir(path, 0755))
			die(path);
	}
	printf("made %d\n", n);
}

static void unmake(const char *parent, int n)
{
	char path[512];

	for (int i = 0; i < n; i++) {
		child_path(path, sizeof(path), parent, i);
		if (rmdir(path))
			die(path);
	}
	printf("removed %d\n", n);
}

/* A process that is born in the cgroup, so that nothing has to be moved. */
static void run_in(const char *path, int cpu)
{
	struct clone_args args = { .flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD };
	cpu_set_t set;
	pid_t pid;

	args.cgroup = (uint64_t)open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if ((int)args.cgroup < 0)
		die(path);
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
	if (pid < 0)
		die("clone3");
	if (!pid) {
		sched_yield();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	close((int)args.cgroup);
}

static void dirty(const char *parent, int n, int from, int cpus)
{
	char path[512];

	for (int cpu = from; cpu < from + cpus; cpu++)
		for (int i = 0; i < n; i++) {
			child_path(path, sizeof(path), parent, i);
			run_in(path, cpu);
		}
	printf("dirtied %d on %d CPUs\n", n, cpus);
}

static const char *file, *name;
static int times;

static void *reader(void *arg)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	char buf[16384];

	(void)arg;
	prctl(PR_SET_NAME, name);
	if (fd < 0)
		die(file);
	for (int i = 0; i < times; i++)
		if (pread(fd, buf, sizeof(buf), 0) < 0) /* io.stat may be empty, and is flushed */
			die(file);
	close(fd);
	return NULL;
}

static void read_all(int threads)
{
	pthread_t *t = calloc((size_t)threads, sizeof(*t));

	prctl(PR_SET_NAME, name);
	for (int i = 0; i < threads; i++)
		if (pthread_create(&t[i], NULL, reader, NULL))
			die("pthread_create");
	for (int i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	printf("read %d\n", threads * times);
	free(t);
}

/* Known to whoever watches, and all code warm, before the read that takes long. */
static void read_long(const char *parent, int n, int rounds)
{
	int fd, last = (int)sysconf(_SC_NPROCESSORS_ONLN) - 1;
	char path[512], buf[16384];

	prctl(PR_SET_NAME, "rslong");
	snprintf(path, sizeof(path), "%s/cpu.stat", parent);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die(path);
	for (int i = 0; i < 20; i++)
		if (pread(fd, buf, sizeof(buf), 0) <= 0)
			die(path);
	for (int i = 0; i < rounds; i++) {
		dirty(parent, n, last, 1);
		if (pread(fd, buf, sizeof(buf), 0) <= 0)
			die(path);
	}
	close(fd);
}

static int64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void *pusher(void *arg)
{
	const struct sched_param first = { .sched_priority = 1 };
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)(intptr_t)arg, &set);
	if (sched_setaffinity(0, sizeof(set), &set) || sched_setscheduler(0, SCHED_FIFO, &first))
		die("push");
	for (;;) {
		int64_t end = now_us() + 300;

		while (now_us() < end)
			;
		usleep(700);
	}
	return NULL;
}

static void push(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t thread;

	for (intptr_t cpu = 0; cpu < cpus; cpu++)
		if (pthread_create(&thread, NULL, pusher, (void *)cpu))
			die("pthread_create");
	pause();
}

static void churn(const char *parent, int seconds, int most)
{
	time_t end = time(NULL) + seconds;
	char path[512];
	int n = 0;

	while (time(NULL) < end && n < most) {
		snprintf(path, sizeof(path), "%s/churn%d", parent, n++);
		if (mkdir(path, 0755))
			die(path);
		run_in(path, n & 1 && sysconf(_SC_NPROCESSORS_ONLN) > 1);
		if (rmdir(path))
			die(path);
		usleep(1000);
	}
	printf("churned %d\n", n);
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "make")) {
		make(argv[2], atoi(argv[3]));
	} else if (argc == 4 && !strcmp(argv[1], "unmake")) {
		unmake(argv[2], atoi(argv[3]));
	} else if (argc == 5 && !strcmp(argv[1], "dirty")) {
		dirty(argv[2], atoi(argv[3]), 0, atoi(argv[4]));
	} else if (argc == 6 && !strcmp(argv[1], "read")) {
		file = argv[2];
		name = argv[5];
		times = atoi(argv[4]);
		read_all(atoi(argv[3]));
	} else if (argc == 5 && !strcmp(argv[1], "long")) {
		read_long(argv[2], atoi(argv[3]), atoi(argv[4]));
	} else if (argc == 2 && !strcmp(argv[1], "push")) {
		push();
	} else if ((argc == 4 || argc == 5) && !strcmp(argv[1], "churn")) {
		churn(argv[2], atoi(argv[3]), argc == 5 ? atoi(argv[4]) : INT_MAX);
	} else {
		fprintf(stderr, "usage: see rsload.c\n");
		return 2;
	}
	return 0;
}
