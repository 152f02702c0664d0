/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Loads whose cost is compared with and without a watcher, and prints a figure that repeats:
 *
 *   costload callbacks ROUNDS REPEATS     a round creates, closes and unlinks one file, in this folder
 *   costload flush FILE ROUNDS REPEATS    a round reads FILE, a cgroup's cpu.stat, from its beginning
 *   costload refill ROUNDS REPEATS        a round adds 64 elements to a hash and deletes them
 *
 * Prints for each repeat "ROUNDS NS". Where callbacks are, what is timed begins and ends just behind a
 * batch of them, which shows as a round that takes long: as many are then run in it as are queued in it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define BATCH_NS \
	100000 /* a round takes a fifth of it without a batch, and several times it with one */
#define ELEMENTS 64

static const char *file; /* of flush */
static int fd;

static long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000L + ts.tv_nsec;
}

static int callbacks(void)
{
	int f = open("costload", O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);

	return f < 0 || close(f) || unlink("costload");
}

static int flush(void)
{
	char text[4096];

	return pread(fd, text, sizeof(text), 0) <= 0;
}

static int element(int cmd, unsigned int key)
{
	long value = 0;
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (unsigned int)fd;
	attr.key = (unsigned long)&key;
	attr.value = (unsigned long)&value;
	if (cmd == BPF_MAP_DELETE_ELEM)
		attr.value = 0;
	return syscall(SYS_bpf, cmd, &attr, sizeof(attr)) != 0;
}

static int refill(void)
{
	int bad = 0;

	for (unsigned int i = 0; i < ELEMENTS; i++)
		bad |= element(BPF_MAP_UPDATE_ELEM, i);
	for (unsigned int i = 0; i < ELEMENTS; i++)
		bad |= element(BPF_MAP_DELETE_ELEM, i);
	return bad;
}

static int open_hash(void)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_HASH;
	attr.key_size = sizeof(int);
	attr.value_size = sizeof(long);
	attr.max_entries = 2 * ELEMENTS;
	attr.map_flags = BPF_F_NO_PREALLOC;
	return (int)syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));
}

/* Rounds until one has a batch in it; how many, or -1. */
static long rounds_to_batch(void)
{
	long n = 0, begin, end = now_ns();

	do {
		begin = end;
		if (callbacks())
			return -1;
		n++;
		end = now_ns();
	} while (end - begin < BATCH_NS);
	return n;
}

static long one(int (*round)(void))
{
	return round == callbacks ? rounds_to_batch() : round() ? -1 : 1;
}

static int repeat(int (*round)(void), long rounds)
{
	long begin, done = 0, n = one(round);

	for (begin = now_ns(); n > 0 && done < rounds; done += n)
		n = one(round);
	if (n < 0) {
		perror("costload");
		return 1;
	}
	printf("%ld %ld\n", done, now_ns() - begin);
	return 0;
}

int main(int argc, char **argv)
{
	int (*round)(void) = callbacks;
	int at = 2, bad = 0;

	if (argc > 2 && !strcmp(argv[1], "flush")) {
		file = argv[at++];
		fd = open(file, O_RDONLY | O_CLOEXEC);
		round = flush;
	} else if (argc > 2 && !strcmp(argv[1], "refill")) {
		fd = open_hash();
		round = refill;
	}
	if (argc != at + 2 || fd < 0) {
		fprintf(stderr, "costload: see the head of costload.c\n");
		return 2;
	}
	for (long i = 0; i < atol(argv[at + 1]) && !bad; i++)
		bad = repeat(round, atol(argv[at]));
	return bad;
}
