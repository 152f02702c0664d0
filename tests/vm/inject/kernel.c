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
	while (!enough)
		syscall(SYS_getppid);
	return NULL;
}

/* Each grace period that somebody asked for meanwhile, and that took more than @o->ns, is one. */
int inject_loop(const struct options *o)
{
	struct injected i = { .cause = "kernel_loop",
			      .cpu = o->cpu,
			      .comm = LOOP_NAME,
			      .func = "inject_loop|sys_getppid" };
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

/* Waking somebody stays, under the lock that it needs. Returns whether it was asked for meanwhile. */
static int one_irqs_off(const struct options *o)
{
	struct injected i = { .cause = "irqs_off",
			      .cpu = o->cpu,
			      .comm = "inj-waker",
			      .func = "try_to_wake_up|futex_wake|wake_up_q" };
	pthread_t sleeping, waking;
	struct asker asker;

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
	pthread_join(waking, NULL);
	pthread_join(sleeping, NULL);
	asker_join(&asker);
	skel->bss->holder = 0;
	i.begin_ns = skel->bss->started_ns;
	i.end_ns = skel->bss->ended_ns;
	i.asked_ns = asker.asked_ns;
	i.waited_ns = asker.answered_ns - asker.asked_ns;
	if (i.asked_ns > i.end_ns - o->ns / 2)
		return 0;
	tell(&i);
	return 1;
}

/* A CPU that waits for the one that is off, to flush its TLB or so, cannot ask: then it is made again. */
int inject_irqs_off(const struct options *o)
{
	load("inject_irqs", NULL);
	for (unsigned int n = 0; n < o->times; n++) {
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
 * The host stops the machine when it reads that on the console (tests/vm/machine.py). Somebody always waits
 * for a grace period meanwhile; for one of them no time was left for anything.
 */
struct waits {
	pthread_t thread;
	unsigned long least_ns;
	volatile unsigned long begin_ns, end_ns; /* of one that was so long; 0: none yet */
	volatile int over;
};

static void *wait_on(void *arg)
{
	struct waits *w = arg;
	unsigned long begin, end;

	set_name("inj-asker");
	while (!w->over) {
		begin = now_ns();
		syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
		end = now_ns();
		if (end - begin < w->least_ns)
			continue;
		w->begin_ns = begin;
		w->end_ns = end;
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

static void one_stop(const struct options *o)
{
	struct injected i = { .cause = "vcpu_preempted", .cpu = -1, .comm = "-" };
	struct waits w = { .least_ns = o->ns - o->ns / 20 };
	unsigned long limit;

	if (pthread_create(&w.thread, NULL, wait_on, &w))
		die("thread");
	for (int tries = 0; tries < 3 && !w.end_ns; tries++) {
		sleep_until(now_ns() + 100 * MS);
		ask_host(o->ns);
		for (limit = now_ns() + o->ns + 3000 * MS; !w.end_ns && now_ns() < limit;)
			usleep(10000);
	}
	w.over = 1;
	pthread_join(w.thread, NULL);
	if (!w.end_ns) {
		fputs("inject: the host did not stop this machine\n", stderr);
		return;
	}
	i.begin_ns = i.asked_ns = w.begin_ns;
	i.end_ns = w.end_ns;
	i.waited_ns = i.end_ns - i.begin_ns;
	tell(&i);
}

int inject_vcpu(const struct options *o)
{
	for (unsigned int n = 0; n < o->times; n++) {
		sleep_until(now_ns() + o->rest_ns);
		one_stop(o);
	}
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

/* Takes a hook away that was made for one tracer, which waits for a Tasks grace period. */
static pid_t start_unhooking(void)
{
	pid_t pid;

	if (mkdir(INSTANCE, 0755))
		die(INSTANCE);
	write_to(INSTANCE "/set_ftrace_filter", "schedule");
	write_to(INSTANCE "/current_tracer", "function");
	pid = fork();
	if (pid)
		return pid;
	write_to(INSTANCE "/current_tracer", "nop");
	_exit(0);
}

static void one_not_switching(const struct options *o)
{
	struct injected i = { .cause = "task_not_switching",
			      .flavour = "tasks",
			      .cpu = -1,
			      .comm = "inj-busy",
			      .func = "readv|urandom|chacha" };
	pid_t unhooking;

	pin(o->cpu);
	i.pid = i.tgid = start_busy(i.comm);
	pin(o->other);
	i.begin_ns = now_ns();
	sleep_until(i.begin_ns + 100 * MS);
	i.asked_ns = now_ns();
	unhooking = start_unhooking();
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
	for (unsigned int n = 0; n < o->times; n++) {
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
