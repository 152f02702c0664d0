/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keeps CPU 1 in an RCU reader, so that no callback which is queued meanwhile can run before that
 * reader ends:
 *
 *   reader [--files N] [--stay MS] [COMMAND...]   one reader. Queues the callbacks of N files, runs
 *                                     the command, and ends the reader MS after that
 *   reader --files N --each MS COMMAND...         one reader of MS after another, and in each of
 *                                     them, when a third and when two thirds are over, the callbacks
 *                                     of N files. No more of both once SIGUSR1 comes ($READER is our
 *                                     process id).
 *                                     --rest MS: and so long none in between
 *
 * All is kept off CPU 1, where it would have to wait. Prints when the last reader began and ended
 * (CLOCK_MONOTONIC) and how many there were, and ends with the command's status.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <getopt.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "reader.skel.h"

#define READER_CPU 1
#define LONGEST_S 20 /* short of the kernel's own alarm about a stall, 21 s */
#define MS 1000000UL

static struct reader_bpf *skel;
static unsigned long each_ns, rest_ns, stay_ns, files;
static volatile sig_atomic_t enough;

static void on_enough(int sig)
{
	(void)sig;
	enough = 1;
}

static unsigned long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000UL + ts.tv_nsec;
}

/* To that CPU, or away from it. */
static void pin(int cpu, int to_it)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (int i = 0; i < sysconf(_SC_NPROCESSORS_CONF); i++)
		if ((i == cpu) == to_it)
			CPU_SET(i, &set);
	if (sched_setaffinity(0, sizeof(set), &set)) {
		perror("reader: sched_setaffinity");
		exit(125);
	}
}

/*
 * What we ourselves freed to get here is past before the first reader, so that it is not held up too.
 * Between two readers the CPU is in none for a moment: there a grace period can end. It is given up for
 * that moment, as RCU Tasks waits for each task to do, but for no longer: asleep, the CPU would pass a
 * whole grace period more.
 */
static void *hold(void *unused)
{
	(void)unused;
	pin(READER_CPU, 1);
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
	skel->bss->holder = (unsigned int)syscall(SYS_gettid);
	do {
		skel->bss->end_ns = now_ns() + (each_ns ? each_ns : LONGEST_S * 1000 * MS);
		getpgid(0);
		sched_yield();
		if (rest_ns && !enough)
			usleep(rest_ns / 1000);
	} while (each_ns && !enough);
	return NULL;
}

/* Creating, closing and unlinking a file queues three or four, depending on the kernel. */
static void queue_callbacks(void)
{
	static const char file[] = "/tmp/reader.file";

	for (unsigned long i = 0; i < files; i++) {
		int fd = open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

		if (fd < 0 || close(fd) || unlink(file))
			perror(file);
	}
}

/*
 * Some in each reader, until the command ends: when a third is over, which begins a grace period that
 * ends with this reader, and when two thirds are, which then need another one, that ends with the next.
 */
static int wait_and_queue(pid_t pid, int *status)
{
	unsigned long reader = 0, started, thirds = 0;
	pid_t got;

	while (!(got = waitpid(pid, status, WNOHANG))) {
		started = skel->bss->started_ns;
		if (started != reader)
			thirds = 0;
		reader = started;
		if (!enough && thirds < 2 && now_ns() - started > each_ns / 3 * (thirds + 1)) {
			queue_callbacks();
			thirds++;
		}
		usleep(2000);
	}
	return got == pid ? 0 : -1;
}

static int run(char **argv)
{
	int status, err;
	pid_t pid = fork();

	if (!pid) {
		execvp(argv[0], argv);
		perror(argv[0]);
		_exit(127);
	}
	if (pid < 0)
		return 125;
	err = each_ns ? wait_and_queue(pid, &status) : waitpid(pid, &status, 0) != pid;
	if (err)
		return 125;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int load(void)
{
	skel = reader_bpf__open_and_load();
	if (!skel || reader_bpf__attach(skel)) {
		perror("reader: cannot load its program");
		return -1;
	}
	return 0;
}

static int hold_and_run(char **argv)
{
	pthread_t thread;
	int status;

	if (pthread_create(&thread, NULL, hold, NULL))
		return 125;
	while (!skel->bss->started_ns)
		usleep(100);
	if (!each_ns)
		queue_callbacks();
	status = *argv ? run(argv) : 0;
	enough = 1;
	if (!each_ns)
		skel->bss->end_ns = now_ns() + stay_ns;
	pthread_join(thread, NULL);
	printf("started_ns %llu ended_ns %llu readers %llu\n",
	       (unsigned long long)skel->bss->started_ns, (unsigned long long)skel->bss->ended_ns,
	       (unsigned long long)skel->bss->readers);
	return status;
}

static int usage(void)
{
	fputs("usage: reader [--files N] [--stay MS | --each MS [--rest MS]] [COMMAND...]\n",
	      stderr);
	return 125;
}

static int parse(int argc, char **argv)
{
	static const struct option options[] = { { "stay", 1, NULL, 's' },
						 { "each", 1, NULL, 'e' },
						 { "files", 1, NULL, 'f' },
						 { "rest", 1, NULL, 'r' },
						 {} };
	int option;

	while ((option = getopt_long(argc, argv, "+", options, NULL)) != -1) {
		if (option == 's')
			stay_ns = strtoul(optarg, NULL, 10) * MS;
		else if (option == 'e')
			each_ns = strtoul(optarg, NULL, 10) * MS;
		else if (option == 'r')
			rest_ns = strtoul(optarg, NULL, 10) * MS;
		else if (option == 'f')
			files = strtoul(optarg, NULL, 10);
		else
			return -1;
	}
	return each_ns && !argv[optind] ? -1 : 0;
}

int main(int argc, char **argv)
{
	char pid[16];
	int status;

	if (parse(argc, argv))
		return usage();
	snprintf(pid, sizeof(pid), "%d", getpid());
	setenv("READER", pid, 1);
	signal(SIGUSR1, on_enough);
	if (load())
		return 125;
	pin(READER_CPU, 0);
	status = hold_and_run(argv + optind);
	reader_bpf__destroy(skel);
	return status;
}
