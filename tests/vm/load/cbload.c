/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A load of RCU callbacks of known size: every round creates, closes and unlinks one
 * file. On tmpfs each round queues a fixed number of callbacks (three or four,
 * depending on the kernel). Prints the rounds done and the time they took.
 *
 * With --whole that time begins and ends just behind a batch of callbacks, which shows as a round that
 * takes long: as many callbacks are then run in it as are queued in it. Without it some thousand of
 * each may belong to what was before or comes after, which is half a per cent of 15,000 rounds.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct load {
	long rounds;
	long seconds;        /* when given, rounds are not */
	long cpu;            /* -1: not pinned */
	int whole;           /* between ends of batches */
	const char *pattern; /* work in a folder PATTERN.PID */
};

static char file[32]; /* holds the process id, for several loads may share a folder */

static int usage(void)
{
	fputs("usage: cbload [--whole] [--pattern NAME] ROUNDS|--seconds S [CPU]\n", stderr);
	return 2;
}

static int fail(const char *what)
{
	perror(what);
	return 1;
}

/* A whole number above or at @min, or -1. */
static long number(const char *text, long min)
{
	char *end;
	long value = text ? strtol(text, &end, 10) : -1;

	return text && end != text && !*end && value >= min && value <= INT_MAX ? value : -1;
}

static long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000L + ts.tv_nsec;
}

static int pin(long cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set);
}

static int make_and_remove(void)
{
	int fd = open(file, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);

	return fd < 0 || close(fd) || unlink(file);
}

#define BATCH_NS \
	100000 /* a round takes a fifth of it without one, a small batch several times it */

/* Rounds until one of them has a batch in it; how many, or -1. */
static long run_to_batch(void)
{
	long rounds = 0, start, end = now_ns();

	do {
		start = end;
		if (make_and_remove())
			return -1;
		rounds++;
		end = now_ns();
	} while (end - start < BATCH_NS);
	return rounds;
}

static int run_whole(const struct load *load)
{
	long rounds = 0, more = run_to_batch(), start = now_ns();

	while (more > 0 && rounds < load->rounds) {
		more = run_to_batch();
		rounds += more;
	}
	if (more < 0)
		return fail(file);
	printf("rounds %ld elapsed_ns %ld\n", rounds, now_ns() - start);
	return 0;
}

static int run(const struct load *load)
{
	long start = now_ns(), limit_ns = load->seconds * 1000000000L, rounds = 0;

	if (load->whole)
		return run_whole(load);
	for (; load->seconds ? now_ns() - start < limit_ns : rounds < load->rounds; rounds++)
		if (make_and_remove())
			return fail(file);
	printf("rounds %ld elapsed_ns %ld\n", rounds, now_ns() - start);
	return 0;
}

static int run_in_folder(const struct load *load)
{
	char folder[256];

	snprintf(folder, sizeof(folder), "%s.%d", load->pattern, getpid());
	if (mkdir(folder, 0700) || chdir(folder))
		return fail(folder);
	return run(load) || chdir("..") || rmdir(folder);
}

static int parse(int argc, char **argv, struct load *load)
{
	static const struct option options[] = { { "seconds", 1, NULL, 's' },
						 { "pattern", 1, NULL, 'p' },
						 { "whole", 0, NULL, 'w' },
						 {} };
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'p')
			load->pattern = optarg;
		else if (option == 'w')
			load->whole = 1;
		else if (option != 's' || (load->seconds = number(optarg, 1)) < 0)
			return -1;
	}
	if (!load->seconds && (load->rounds = number(argv[optind++], 1)) < 0)
		return -1;
	if (optind < argc && (load->cpu = number(argv[optind++], 0)) < 0)
		return -1;
	return optind < argc ? -1 : 0;
}

int main(int argc, char **argv)
{
	struct load load = { .cpu = -1 };

	if (parse(argc, argv, &load))
		return usage();
	snprintf(file, sizeof(file), "cbload.%d", getpid());
	if (load.cpu >= 0 && pin(load.cpu))
		return fail("cbload: cannot pin to that CPU");
	return load.pattern ? run_in_folder(&load) : run(&load);
}
