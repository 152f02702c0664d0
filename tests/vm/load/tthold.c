/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keeps a thread in a reader of RCU Tasks Trace, asleep, so that no grace period of that flavour can
 * end meanwhile:
 *
 *   tthold [--free N] SECONDS [COMMAND...]
 *   tthold [--free N] --stay SECONDS COMMAND...
 *
 * Once the reader is on its way, frees N programs that may sleep, each of which hands one callback to
 * RCU Tasks Trace (__bpf_prog_put_rcu), and runs the command. Prints when the reader began, when the
 * last program was freed, when the reader ended (CLOCK_MONOTONIC) and its thread, and ends with the
 * command's status. The reader lasts SECONDS (0.5, say), whatever the command does; with --stay, that long
 * after the command has ended.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "tthold.skel.h"

static struct tthold_bpf *skel;
static int stay; /* with the command */
static pid_t reader_tid;

static unsigned long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000UL + ts.tv_nsec;
}

/* Whoever comes by here runs the program. */
__attribute__((noinline)) void tthold_here(void)
{
	__asm__ volatile("");
}

static void *reader(void *unused)
{
	(void)unused;
	reader_tid = (pid_t)syscall(SYS_gettid);
	tthold_here();
	return NULL;
}

/* The descriptor that has to be asked to fill the page; -1. */
static int withhold(void *page, size_t size)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = {
		.range = { .start = (unsigned long)page, .len = size },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &reg))
		return -1;
	return fd;
}

static int fill(int fd, void *page, size_t size)
{
	struct uffdio_zeropage zero = { .range = { .start = (unsigned long)page, .len = size } };

	return ioctl(fd, UFFDIO_ZEROPAGE, &zero);
}

static int load(void *page)
{
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .func_name = "tthold_here");

	skel = tthold_bpf__open_and_load();
	if (!skel)
		return -1;
	skel->bss->page = (unsigned long)page;
	skel->links.hold = bpf_program__attach_uprobe_opts(skel->progs.hold, getpid(),
							   "/proc/self/exe", 0, &opts);
	return skel->links.hold ? 0 : -1;
}

/* Of a type that must be able to sleep. */
static int free_one(void)
{
	static const struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .prog_flags = BPF_F_SLEEPABLE);
	int fd = bpf_prog_load(BPF_PROG_TYPE_SYSCALL, "freed", "GPL", nothing, 2, &opts);

	return fd < 0 ? -1 : close(fd);
}

static pid_t run(char **argv)
{
	pid_t pid = fork();

	if (!pid) {
		execvp(argv[0], argv);
		perror(argv[0]);
		_exit(127);
	}
	return pid;
}

static int status_of(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		return 125;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void sleep_until(unsigned long ns)
{
	struct timespec ts = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL))
		;
}

static int die(const char *what)
{
	fprintf(stderr, "tthold: %s: ", what);
	perror(NULL);
	return 125;
}

static int hold(unsigned long ns, unsigned long programs, char **argv, int uffd, void *page,
		size_t size)
{
	unsigned long freed_ns = 0;
	pthread_t thread;
	pid_t pid = 0;
	int status = 0;

	if (pthread_create(&thread, NULL, reader, NULL))
		return die("thread");
	while (!skel->bss->started_ns)
		usleep(100);
	for (; programs; programs--)
		if (free_one())
			return die("program to be freed");
	freed_ns = now_ns();
	if (*argv)
		pid = run(argv);
	if (stay)
		status = status_of(pid);
	sleep_until((stay ? now_ns() : skel->bss->started_ns) + ns);
	if (fill(uffd, page, size))
		return die("userfaultfd");
	pthread_join(thread, NULL);
	if (skel->bss->result || skel->bss->ended_ns - skel->bss->started_ns < ns) {
		fputs("tthold: the reader did not stay\n", stderr);
		return 125;
	}
	printf("started_ns %llu freed_ns %lu ended_ns %llu tid %d\n",
	       (unsigned long long)skel->bss->started_ns, freed_ns,
	       (unsigned long long)skel->bss->ended_ns, reader_tid);
	fflush(stdout);
	return pid && !stay ? status_of(pid) : status;
}

int main(int argc, char **argv)
{
	size_t size = sysconf(_SC_PAGESIZE);
	unsigned long programs = 0;
	int uffd, at = 1;
	void *page;

	if (argc > 3 && !strcmp(argv[1], "--free")) {
		programs = strtoul(argv[2], NULL, 10);
		at = 3;
	}
	if (at + 2 < argc && !strcmp(argv[at], "--stay")) {
		stay = 1;
		at++;
	}
	if (at >= argc || atof(argv[at]) <= 0) {
		fputs("usage: tthold [--free N] SECONDS [COMMAND...] | --stay SECONDS COMMAND...\n",
		      stderr);
		return 125;
	}
	page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uffd = withhold(page, size);
	if (page == MAP_FAILED || uffd < 0)
		return die("userfaultfd");
	if (load(page))
		return die("its program");
	return hold((unsigned long)(atof(argv[at]) * 1e9), programs, argv + at + 1, uffd, page,
		    size);
}
