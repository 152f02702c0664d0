/* SPDX-License-Identifier: GPL-2.0-only */
/* verdict_parts.h - between verdict.c and the files that know one kind of wait each, for nobody else. */
#ifndef KDEFER_VERDICT_PARTS_H
#define KDEFER_VERDICT_PARTS_H

#include "catalog.h"
#include "format.h"
#include "verdict.h"

#define JUDGE_FOUND 16

/* A verdict that is being made. Times are ns since the wait began. */
struct judge {
	const struct verdict_host *host;
	const struct holdup *h, *gp;
	struct verdict *v;
	struct finding found[JUDGE_FOUND];
	size_t n;
	bool machine_judged;
	bool machine_certain;       /* then: nothing else looks like that */
	uint64_t machine_ns;        /* then: what is laid to the machine below */
	struct finding spare;       /* where there is no room for more */
	uint64_t whole_ns, tick_ns; /* tick_ns 0: HZ is not known */
	uint64_t from_ns;           /* when the wait for CPUs and tasks began */
	uint64_t last_ns;           /* when the last had reported, or the end */
};

/* One line of evidence. */
void judge_say(struct judge *j, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* What an unknown cause needs to be known; the first that is said counts. */
void judge_need(struct judge *j, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A finding with this cause and part; the caller fills in the rest. Never NULL. */
struct finding *judge_find(struct judge *j, enum cause cause, uint64_t part_ns);
void judge_why(struct finding *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

uint64_t judge_fact(const struct judge *j, unsigned int fact); /* or KD_UNKNOWN */
uint64_t judge_fact_or(const struct judge *j, unsigned int fact, uint64_t absent);
/* When a witness was seen; 0 for one from before the wait. */
uint64_t judge_when(const struct judge *j, const struct kd_rec_witness *w);
/* Whether this much is worth a cause: a quarter of what is asked about. */
bool judge_matters(uint64_t part_ns, uint64_t of_ns);

void culprit_take(struct culprit *c, const struct kd_rec_witness *w);
/* Who ran in the stead of this task; pid 0 in *c: nobody was seen. Returns the witness or NULL. */
const struct kd_rec_witness *judge_rival(const struct judge *j, uint32_t of_pid, uint32_t cpu,
					 struct culprit *c);
/* The witness with this role and pid (0: any) that was seen last, or NULL. */
const struct kd_rec_witness *judge_seen(const struct judge *j, unsigned int role, uint32_t pid);
/*
 * Of the witnesses with this pid that @which takes, the one whose stack has most in common with those of
 * the others; NULL: none has a stack.
 */
typedef bool (*judge_which)(const struct kd_rec_witness *w, uint32_t cpu);
const struct kd_rec_witness *judge_typical(const struct judge *j, uint32_t pid, judge_which which,
					   uint32_t cpu);
void judge_candidate(struct judge *j, const struct kd_rec_witness *w);

/* Time stolen, and all CPUs without a tick: where the machine below is to blame. Returns its part. */
uint64_t judge_machine(struct judge *j, uint32_t cpu);

/* "bench (pid 12)", "pid 12", "a task not seen" */
#define WHO_LEN 64
const char *judge_name(char *buf, size_t size, const struct culprit *c);

/* --- what was seen on one CPU --- */

struct samples {
	size_t n; /* ticks looked at while it owed, idle ones too */
	size_t user, idle, reader, bare, barred, unknown;
	size_t bare_before; /* seen outside readers well before the last report */
	const struct kd_rec_witness
		*gap; /* busy at the first tick after the longest time without one */
	size_t of_pid, not_idle;
	uint64_t last_ns;
	struct culprit who;                /* most of them; pid 0: no one task */
	const struct kd_rec_witness *seen; /* the stack that was seen most often */
};

void samples_of(const struct judge *j, uint32_t cpu, uint64_t until_ns, struct samples *s);

void judge_gp(struct judge *j);                                   /* verdict_gp.c */
void judge_cpu(struct judge *j, uint32_t cpu, uint64_t until_ns); /* verdict_cpu.c */
void judge_other_cpus(struct judge *j, uint32_t but, uint64_t until_ns);
void judge_callback(struct judge *j); /* verdict_work.c */
void judge_run(struct judge *j);
void judge_caller(struct judge *j);
/*
 * The cause of a grace period that was too long itself is this wait's cause, as far as both lasted together;
 * of a grace period that is not sure, since nothing tells when it waited for the other. Returns that part.
 */
uint64_t judge_behind(struct judge *j, uint64_t most_ns);
void judge_rstat(struct judge *j);

#endif
