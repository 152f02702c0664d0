/* SPDX-License-Identifier: GPL-2.0-only */
/* inject.h - what the injectors share: threads of known place and name, and the line that is said. */
#ifndef KDEFER_INJECT_H
#define KDEFER_INJECT_H

#include <pthread.h>
#include <sys/types.h>

#define MS 1000000UL
#define NAME 16

extern struct inject_bpf *skel;

struct options {
	unsigned long ns;      /* how long each lasts */
	unsigned int times;    /* how many, one after another */
	unsigned long rest_ns; /* in between */
	int cpu;               /* where */
	int other;         /* a CPU that is left alone: whoever asks for grace periods is there */
	unsigned int many; /* callbacks, cgroups */
	const char *kthreads; /* by the beginning of their names */
	int again;            /* those that were spoiled are made once more */
	const char *file;     /* whose reading flushes statistics; NULL: of the CPU */
};

/* One wait that was made, as the judge reads it. Times are of CLOCK_MONOTONIC. */
struct injected {
	const char *cause;
	const char *source, *flavour;             /* of the wait; NULL: rcu_gp of rcu */
	unsigned long begin_ns, asked_ns, end_ns; /* asked: when the grace period was asked for */
	unsigned long whole_begin_ns,
		whole_end_ns;    /* of the wait that this is a part of; 0: it is all */
	unsigned long waited_ns; /* by whoever asked, by their own clock */
	int cpu;
	pid_t pid, tgid;
	char comm[NAME];
	pid_t rival; /* who ran in the stead of that one, or 0; the report may name either first */
	unsigned int many; /* callbacks; 0: that is not the point */
	const char *func;  /* on the stack, or of the callback; alternatives separated by | */
};

/*
 * From then on a thread on the CPU that is left alone sees whether timers come in time there, too: those of
 * an emulated CPU may not, while it runs.
 */
void beat_start(struct options *o);

/* The longest time in which a CPU was not run, as whoever keeps looking at the clock there saw; told once. */
extern volatile unsigned long still_ns;

unsigned long now_ns(void);
void sleep_until(unsigned long ns);
__attribute__((noreturn)) void die(const char *what);
pid_t self(void);
void pin(int cpu);
void set_name(const char *name);
void tell(const struct injected *injected);
/*
 * As many as were asked for, and with --again those once more in which a CPU was not run for long, as far as
 * was told: so that there are enough without. At most half as many again and two.
 */
unsigned int how_many(const struct options *o);

/* A thread that asks for a grace period once told to, from another CPU. */
struct asker {
	pthread_t thread;
	int cpu;
	volatile int go;
	volatile unsigned long asked_ns; /* 0: not yet */
	unsigned long answered_ns;
};

void asker_start(struct asker *asker, int cpu);
void asker_ask(struct asker *asker);  /* waits until it does */
void asker_join(struct asker *asker); /* until it was answered */

/* A thread of real-time priority that takes its CPU in user mode until a given time. */
struct hog {
	pthread_t thread;
	int cpu;
	volatile unsigned long end_ns; /* 0: not yet told */
	volatile unsigned long begin_ns;
	volatile pid_t pid;
};

extern int hog_over_rcuc; /* not 0: RCU's own kthread of that CPU is to be kept from running too */

void hog_start(struct hog *hog, int cpu);
void hog_until(struct hog *hog, unsigned long end_ns); /* waits until it runs */
void hog_join(struct hog *hog);

/* A thread that calls getpgid(), where a program may hold it. */
struct reader {
	pthread_t thread;
	int cpu;
	const char *name;
	volatile pid_t pid;
	volatile int go;
};

void reader_start(struct reader *reader, int cpu, const char *name);
void reader_go(struct reader *reader, unsigned long end_ns); /* waits until it is held */
void reader_join(struct reader *reader);

/* Processes whose name begins so; returns how many were found, at most max. */
int find_tasks(const char *begin, pid_t *pids, int max);
/* The one that drives grace periods; comm: room for NAME, its name. */
pid_t gp_kthread(char *comm);
void confine(pid_t pid, int cpu);
void unconfine(pid_t pid, int cpus);

void load(const char *program, const char *second);
/* Hands callbacks over: files that are not there, each a directory entry to free. */
void queue_callbacks(unsigned int n);
void queue_file(void);
/* From then on who waits for a grace period on a CPU has that CPU's lazy callbacks go too. */
void asking_hurries(void);
/* Lazy callbacks of the CPU that is left alone go, and their grace period has ended. */
void flush_lazy(const struct options *o);

int inject_long_reader(const struct options *o);
int inject_preempted_reader(const struct options *o);
int inject_two(const struct options *o);
int inject_gp_kthread(const struct options *o);
int inject_callbacks_starved(const struct options *o);
int inject_softirq_starved(const struct options *o);
int inject_flood(const struct options *o);
int inject_slow(const struct options *o);
int inject_lazy(const struct options *o);
int inject_loop(const struct options *o);
int inject_loops(const struct options *o);
int inject_irqs_off(const struct options *o);
int inject_vcpu(const struct options *o);
int inject_not_switching(const struct options *o);
int inject_cgroups(const struct options *o);
int inject_lock(const struct options *o);
int inject_queue(const struct options *o);
int inject_flushes(const struct options *o);
int inject_metronome(const struct options *o);

#endif
