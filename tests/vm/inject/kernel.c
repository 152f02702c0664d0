/* SPDX-License-Identifier: GPL-2.0-only */
/* kernel.c - CPUs that stay in the kernel, with interrupts off or coming back to it, or that stand still. */
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inject.h"
#include "inject.skel.h"

#define LOOP_NAME "inj-loop"

static volatile int enough;

static void *loop(void *arg)
{
	struct injected *i = arg;

	set_name(LOOP_NAME);
	pin(i->cpu);
	i->pid = self();
	for (unsigned long last = now_ns(), now; !enough; last = now) {
		syscall(SYS_getppid);
		now = now_ns();
		still_ns = now - last > still_ns ? now - last : still_ns;
	}
	return NULL;
}

/* Each grace period that somebody asked for meanwhile, and that took more than @o->ns, is one. */
int inject_loop(const struct options *o)
{
	struct injected i = { .cause = "kernel_loop",
			      .cpu = o->cpu,
			      .comm = LOOP_NAME,
			      .func = "inject_loop|sys_getppid|trace_call_bpf|perf_syscall_enter" };
	pthread_t thread;

	load("inject_loop", NULL);
	skel->bss->loopers = (unsigned int)getpid();
	if (pthread_create(&thread, NULL, loop, &i))
		die("thread");
	sleep_until(now_ns() + o->rest_ns);
	for (unsigned int n = 0; n < o->times; n++) {
		struct asker asker;

		asker_start(&asker, o->other);
		asker_ask(&asker);
		asker_join(&asker);
		i.begin_ns = i.asked_ns = asker.asked_ns;
		i.end_ns = asker.answered_ns;
		i.waited_ns = i.end_ns - i.begin_ns;
		if (i.waited_ns >= o->ns)
			tell(&i);
	}
	enough = 1;
	pthread_join(thread, NULL);
	fprintf(stderr, "updates %llu\n", (unsigned long long)skel->bss->updates);
	return 0;
}

/* One on each CPU, and nobody who asks: what they free themselves waits for grace periods. */
int inject_loops(const struct options *o)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct injected loops[cpus];
	pthread_t threads[cpus];

	load("inject_loop", NULL);
	skel->bss->loopers = (unsigned int)getpid();
	memset(loops, 0, sizeof(loops));
	for (long cpu = 0; cpu < cpus; cpu++) {
		loops[cpu].cpu = (int)cpu;
		if (pthread_create(&threads[cpu], NULL, loop, &loops[cpu]))
			die("thread");
	}
	sleep_until(now_ns() + o->ns);
	enough = 1;
	for (long cpu = 0; cpu < cpus; cpu++) {
		pthread_join(threads[cpu], NULL);
		printf("loop cpu=%ld pid=%d\n", cpu, loops[cpu].pid);
	}
	printf("updates %llu\n", (unsigned long long)skel->bss->updates);
	return 0;
}

static int word;

static void *sleeper(void *arg)
{
	(void)arg;
	set_name("inj-sleeper");
	syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	return NULL;
}

static void *waker(void *arg)
{
	struct injected *i = arg;

	set_name(i->comm);
	pin(i->cpu);
	i->pid = self();
	while (!skel->bss->holder)
		usleep(500);
	word = 1;
	syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	return NULL;
}

/* Until it is over there. Returns the longest time in which this CPU did not let us run. */
static unsigned long stuck_meanwhile(void)
{
	unsigned long most = 0, last = now_ns(), now;

	while (!skel->bss->ended_ns) {
		usleep(1000);
		now = now_ns();
		most = now - last > most ? now - last : most;
		last = now;
	}
	return most;
}

/* Waking somebody stays, under the lock that it needs. Returns whether it was waited for by others alone. */
static int one_irqs_off(const struct options *o)
{
	struct injected i = { .cause = "irqs_off",
			      .cpu = o->cpu,
			      .comm = "inj-waker",
			      .func = "try_to_wake_up|futex_wake|wake_up_q" };
	pthread_t sleeping, waking;
	struct asker asker;
	unsigned long stuck;

	word = 0;
	skel->bss->started_ns = skel->bss->ended_ns = 0;
	skel->bss->stay_ns = o->ns;
	skel->bss->armed = 1;
	asker_start(&asker, o->other);
	if (pthread_create(&sleeping, NULL, sleeper, NULL) ||
	    pthread_create(&waking, NULL, waker, &i))
		die("thread");
	sleep_until(now_ns() + 20 * MS);
	skel->bss->holder = (unsigned int)i.pid;
	while (!skel->bss->started_ns)
		usleep(200);
	asker_ask(&asker);
	stuck = stuck_meanwhile();
	pthread_join(waking, NULL);
	pthread_join(sleeping, NULL);
	asker_join(&asker);
	skel->bss->holder = 0;
	still_ns = stuck > still_ns ? stuck : still_ns;
	i.begin_ns = skel->bss->started_ns;
	i.end_ns = skel->bss->ended_ns;
	i.asked_ns = asker.asked_ns;
	i.waited_ns = asker.answered_ns - asker.asked_ns;
	if (i.asked_ns > i.end_ns - o->ns / 2 || stuck > o->ns / 2)
		return 0;
	tell(&i);
	return 1;
}

/*
 * A CPU that itself waits for the one that is off, so that it flushes its TLB or sees new code, neither asks
 * nor starts a grace period: then it is made again.
 */
int inject_irqs_off(const struct options *o)
{
	load("inject_irqs", NULL);
	for (unsigned int n = 0; n < how_many(o); n++) {
		int tries = 0;

		do
			sleep_until(now_ns() + o->rest_ns);
		while (!one_irqs_off(o) && ++tries < 5);
		if (tries == 5)
			fputs("inject: nobody could ask while interrupts were off\n", stderr);
	}
	return 0;
}

/*
 * The host stops the machine when it reads that on the console (tests/vm/machine.py). Some wait for a grace
 * period again and again, so that mostly one is under way then; if none was, it is stopped once more.
 */
#define WAITERS 3

static volatile int over;

static void *wait_on(void *arg)
{
	unsigned int pause_us = 1 + *(const unsigned int *)arg;

	set_name("inj-asker");
	while (!over) {
		syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
		usleep(pause_us);
	}
	return NULL;
}

static void ask_host(unsigned long ns)
{
	FILE *console = fopen("/dev/console", "w");

	if (!console)
		die("/dev/console");
	fprintf(console, "host: stop for %lu ms\n", ns / MS);
	fclose(console);
}

/* Returns whether a grace period was as long. */
static int one_stop(const struct options *o)
{
	struct injected i = { .cause = "vcpu_preempted", .cpu = -1, .comm = "-" };
	unsigned long limit = now_ns() + o->ns + 1000 * MS;

	skel->bss->started_ns = skel->bss->ended_ns = 0;
	ask_host(o->ns);
	while (!skel->bss->ended_ns && now_ns() < limit)
		usleep(10000);
	if (!skel->bss->ended_ns)
		return 0;
	i.begin_ns = i.asked_ns = skel->bss->started_ns;
	i.end_ns = skel->bss->ended_ns;
	i.waited_ns = i.end_ns - i.begin_ns;
	tell(&i);
	return 1;
}

int inject_vcpu(const struct options *o)
{
	unsigned int pauses[WAITERS] = { 0, 3000, 7000 };
	pthread_t threads[WAITERS];

	load("inject_gp_in", "inject_gp_out");
	skel->bss->least_ns = o->ns - o->ns / 20;
	for (int n = 0; n < WAITERS; n++)
		if (pthread_create(&threads[n], NULL, wait_on, &pauses[n]))
			die("thread");
	for (unsigned int n = 0; n < how_many(o); n++) {
		int tries = 0;

		do
			sleep_until(now_ns() + o->rest_ns);
		while (!one_stop(o) && ++tries < 8);
		if (tries == 8)
			fputs("inject: no grace period was under way when the host stopped\n",
			      stderr);
	}
	over = 1;
	for (int n = 0; n < WAITERS; n++)
		pthread_join(threads[n], NULL);
	return 0;
}

#define PIECES 1024 /* as many as one call takes, all to the same place */

/* In the kernel for good, and preempted at most: a Tasks grace period waits for it. */
static pid_t start_busy(const char *name)
{
	static char piece[1 << 20];
	static struct iovec all[PIECES];
	pid_t pid = fork();
	int fd;

	if (pid)
		return pid;
	set_name(name);
	fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
	for (int i = 0; i < PIECES; i++)
		all[i] = (struct iovec){ piece, sizeof(piece) };
	while (readv(fd, all, PIECES) > 0)
		;
	_exit(1);
}

static void write_to(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY | O_TRUNC | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		die(file);
	close(fd);
}

#define INSTANCE "/sys/kernel/tracing/instances/inject"

static void hook(void)
{
	if (mkdir(INSTANCE, 0755))
		die(INSTANCE);
	write_to(INSTANCE "/set_ftrace_filter", "schedule");
	write_to(INSTANCE "/current_tracer", "function");
}

/* Takes a hook away that was made for one tracer, which waits for a Tasks grace period. */
static pid_t start_unhooking(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	write_to(INSTANCE "/current_tracer", "nop");
	_exit(0);
}

static int waits_for_tasks(pid_t pid)
{
	char path[64], text[4096];
	int fd, n;

	snprintf(path, sizeof(path), "/proc/%d/stack", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die(path);
	n = (int)read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	return !!strstr(text, "rcu_tasks");
}

#define SOME_WHILE (60 * MS) /* longer than the waits before it, for each CPU to have switched */

/* When it began to wait. First it has code changed, which takes its time where all CPUs are emulated by one. */
static unsigned long until_waiting(pid_t pid)
{
	unsigned long limit = now_ns() + 10000 * MS, since = 0, now;

	while ((now = now_ns()) < limit) {
		if (!waits_for_tasks(pid))
			since = 0;
		else if (!since)
			since = now;
		else if (now - since > SOME_WHILE)
			return since;
		usleep(2000);
	}
	die("nobody waits for tasks");
}

static void one_not_switching(const struct options *o)
{
	struct injected i = { .cause = "task_not_switching",
			      .flavour = "tasks",
			      .cpu = -1,
			      .comm = "inj-busy",
			      .func = "readv|urandom|chacha" };
	pid_t unhooking;

	hook();
	pin(o->cpu);
	i.pid = i.tgid = start_busy(i.comm);
	pin(o->other);
	i.begin_ns = now_ns();
	sleep_until(i.begin_ns + 100 * MS);
	unhooking = start_unhooking();
	i.asked_ns = until_waiting(unhooking);
	sleep_until(i.asked_ns + o->ns);
	i.end_ns = now_ns();
	kill(i.pid, SIGKILL);
	waitpid(unhooking, NULL, 0);
	i.waited_ns = now_ns() - i.asked_ns;
	waitpid(i.pid, NULL, 0);
	rmdir(INSTANCE);
	tell(&i);
}

int inject_not_switching(const struct options *o)
{
	for (unsigned int n = 0; n < how_many(o); n++) {
		sleep_until(now_ns() + o->rest_ns);
		one_not_switching(o);
	}
	return 0;
}

/*
 * Not a wait: says when a CPU did not get to run a thread of the highest priority for 20 ms, for on a
 * busy host that happens in emulation, and then what is told of that moment may be true.
 */
#define LATE_NS (20 * MS)

static void *beat(void *arg)
{
	struct sched_param param = { .sched_priority = 99 };
	int cpu = *(int *)arg;
	unsigned long last, now;

	pin(cpu);
	set_name("inj-metronome");
	if (sched_setscheduler(0, SCHED_FIFO, &param))
		die("sched_setscheduler");
	for (last = now_ns(); !enough; last = now) {
		usleep(2000);
		now = now_ns();
		if (now - last > LATE_NS)
			printf("gap begin_ns=%lu end_ns=%lu cpu=%d\n", last, now, cpu);
	}
	return NULL;
}

int inject_metronome(const struct options *o)
{
	static int cpus[2] = { 0, 1 };
	pthread_t threads[2];

	for (int n = 0; n < 2; n++)
		if (pthread_create(&threads[n], NULL, beat, &cpus[n]))
			die("thread");
	sleep_until(now_ns() + o->ns);
	enough = 1;
	for (int n = 0; n < 2; n++)
		pthread_join(threads[n], NULL);
	return 0;
}
