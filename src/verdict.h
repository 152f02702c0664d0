/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * verdict.h - why a wait was too long, from the facts and witnesses of its report alone: the same live
 * and replayed. A cause is named with evidence for it, or it is unknown and what would tell is said.
 */
#ifndef KDEFER_VERDICT_H
#define KDEFER_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "holdups.h"

/* Names are a contract. Order is that in which they are tried: of equal ones the first is named. */
enum cause {
	CAUSE_LAZY,
	CAUSE_GP_KTHREAD_STARVED,
	CAUSE_PREEMPTED_READER,
	CAUSE_VCPU_PREEMPTED,
	CAUSE_IRQS_OFF,
	CAUSE_CALLBACKS_STARVED,
	CAUSE_SLEEPING_READER,
	CAUSE_TASK_NOT_SWITCHING,
	CAUSE_LONG_READER,
	CAUSE_KERNEL_LOOP,
	CAUSE_SLOW_CALLBACK,
	CAUSE_CALLBACK_FLOOD,
	CAUSE_LOCK_CONTENTION,
	CAUSE_MANY_CGROUPS,
	CAUSE_UNKNOWN,
	CAUSE_COUNT,
};

const char *cause_name(enum cause c);   /* "kernel_loop" */
const char *cause_text(enum cause c);   /* what it means, one line */
const char *cause_remedy(enum cause c); /* what is known to help, one line */

#define VERDICT_LINE 240
#define VERDICT_LINES 20
#define VERDICT_FINDINGS 8
#define VERDICT_CANDIDATES 8

/* Where and who; pid 0: not known. Texts as the kernel has them. */
struct culprit {
	uint32_t cpu; /* or KD_CPU_NONE */
	uint32_t pid, tgid;
	uint64_t cgroup; /* id in the v2 hierarchy; 0 unknown */
	char comm[16];
};

struct finding {
	enum cause cause;
	uint64_t part_ns; /* time of the wait during which it was in the way */
	bool certain;     /* nothing else known would look like this */
	bool rather;      /* of two that fit the same samples: this one */
	/*
	 * Who is in the way: the task in the reader or loop; of what was starved, whoever ran in its stead.
	 * `other`: who ran in the stead of a preempted reader; who was starved. pid 0: not seen.
	 */
	struct culprit who, other;
	const struct kd_rec_witness *seen; /* whose stack tells the most; or NULL */
	char why[VERDICT_LINE];
};

/* How often a tick could have reported for a CPU, and how long that takes on average. */
struct odds {
	bool known;
	bool reader_based; /* preemptible RCU: outside readers counts too, else user mode alone */
	uint64_t could, ticks; /* of these ticks so many */
	double p;              /* could / ticks; an upper bound where could is 0 */
	uint64_t mean_ns, p99_ns;
	uint64_t escalates_ns; /* jiffies_to_sched_qs: when RCU asks urgently; 0 unknown */
	uint64_t urgent_ns;    /* when it did; 0: it had not; KD_UNKNOWN */
	bool by_escalation;    /* which of the two came first */
};

struct verdict {
	struct finding is;                     /* what took most of it */
	struct finding also[VERDICT_FINDINGS]; /* the greatest first */
	size_t nalso;
	struct culprit
		candidates[VERDICT_CANDIDATES]; /* where the kernel does not tell who it was */
	size_t ncandidates;
	uint64_t alone_ns; /* from the last report but one to the last; KD_UNKNOWN */
	struct odds odds;
	char line[VERDICT_LINES][VERDICT_LINE]; /* evidence, in words */
	size_t nlines;
	char need[VERDICT_LINE]; /* of an unknown cause: what would tell; "" */
};

/* What the host's facts say; see verdict_host_of(). */
struct verdict_host {
	uint64_t hz; /* 0 unknown */
	bool preempt_rcu, preempt_rcu_known;
	uint64_t sched_qs_jiffies; /* 0 unknown */
	uint64_t cpus, possible_cpus;
	bool virtual; /* a hypervisor is below */
};

struct model;
struct verdict_host verdict_host_of(const struct model *m);

/* gp: the grace period that a callback or caller waited for, if it was too long itself; or NULL. */
void verdict_of(struct verdict *v, const struct verdict_host *host, const struct holdup *h,
		const struct holdup *gp);
/* The same for a report of a model. */
void verdict_in(struct verdict *v, const struct model *m, const struct holdup *h);

/* 0..1: the part of the wait during which it was in the way. */
double verdict_share(const struct finding *f, const struct holdup *h);

#endif
