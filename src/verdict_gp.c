// SPDX-License-Identifier: GPL-2.0-only
/* verdict_gp.c - why a grace period was long: its kthread, its phases, the CPUs and tasks that owed. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "verdict_parts.h"

#define P32 "%" PRIu32
#define P64 "%" PRIu64

/* --- the kthread in charge --- */

/*
 * While CPUs or tasks that report by themselves still owe, a grace period cannot end, whether its kthread
 * runs or not: it is in the way before it has started, and once all have reported. (A report that a scan
 * makes for a CPU waits for the kthread.)
 */
static uint64_t in_the_way(const struct judge *j, uint64_t starved)
{
	uint64_t how = judge_fact(j, KD_F_HOW), last = judge_fact(j, KD_F_LAST_NS), free_ns;

	if (last == KD_UNKNOWN || last > j->whole_ns ||
	    (how != KD_HOW_ITSELF && how != KD_HOW_TASK))
		return starved;
	free_ns = (j->from_ns < last ? j->from_ns : last) + j->whole_ns - last;
	return starved < free_ns ? starved : free_ns;
}

static void judge_kthread(struct judge *j)
{
	uint64_t starved = judge_fact(j, KD_F_KTHREAD_NS), part = in_the_way(j, starved);
	uint32_t pid = (uint32_t)judge_fact_or(j, KD_F_KTHREAD_PID, 0);
	const struct kd_rec_witness *kthread = judge_seen(j, KD_ROLE_KTHREAD, pid), *rival;
	char time[FMT_LEN], whole[FMT_LEN], who[WHO_LEN], name[WHO_LEN];
	struct finding *f;

	if (!judge_matters(part, j->whole_ns))
		return;
	f = judge_find(j, CAUSE_GP_KTHREAD_STARVED, part);
	f->certain = true;
	if (kthread)
		culprit_take(&f->other, kthread);
	f->other.pid = pid ? pid : f->other.pid;
	rival = judge_rival(j, pid, KD_CPU_NONE, &f->who);
	f->seen = rival;
	if (!rival)
		f->who.cpu = f->other.cpu;
	judge_why(f, "%s was ready to run and did not for %s; %s ran on its CPU",
		  judge_name(name, sizeof(name), &f->other), fmt_ns(time, sizeof(time), starved),
		  judge_name(who, sizeof(who), &f->who));
	if (part < starved - starved / 10)
		judge_say(j, "of these %s nobody else was waited for for %s",
			  fmt_ns(whole, sizeof(whole), starved), fmt_ns(time, sizeof(time), part));
}

static void judge_lazy(struct judge *j)
{
	uint64_t part = judge_fact(j, KD_F_LAZY_NS);
	char time[FMT_LEN];
	struct finding *f;

	if (!judge_matters(part, j->whole_ns))
		return;
	f = judge_find(j, CAUSE_LAZY, part);
	f->certain = true;
	judge_why(f, "kept for company for %s before a grace period was asked for",
		  fmt_ns(time, sizeof(time), part));
}

/* --- tasks --- */

struct states {
	size_t n, running, runnable, sleeping, candidates, readers, known;
	const struct kd_rec_witness *last;
};

static void states_of(const struct judge *j, uint32_t pid, struct states *s)
{
	memset(s, 0, sizeof(*s));
	for (size_t i = 0; i < j->h->nwitness; i++) {
		const struct kd_rec_witness *w = &j->h->witness[i];

		if (w->role != KD_ROLE_TASK || w->pid != pid)
			continue;
		s->n++;
		s->running += !!(w->flags & KD_WIT_RUNNING);
		s->runnable += !!(w->flags & KD_WIT_RUNNABLE);
		s->sleeping += !!(w->flags & KD_WIT_SLEEPING);
		s->candidates += !!(w->flags & KD_WIT_CANDIDATE);
		s->readers += !!(w->flags & KD_WIT_READER);
		s->known += !!(w->flags & (KD_WIT_NEST_KNOWN | KD_WIT_READER));
		s->last = w;
	}
}

static bool is_task(const struct kd_rec_witness *w, uint32_t cpu)
{
	(void)cpu;
	return w->role == KD_ROLE_TASK;
}

static bool is_anybody(const struct kd_rec_witness *w, uint32_t cpu)
{
	(void)w, (void)cpu;
	return true;
}

static void take_task(const struct judge *j, struct finding *f, uint32_t pid,
		      const struct states *s)
{
	if (s->last)
		culprit_take(&f->who, s->last);
	f->who.pid = pid;
	f->seen = judge_typical(j, pid, is_task, KD_CPU_NONE);
	if (!f->seen) /* a task that does not run may have been seen while it did */
		f->seen = judge_typical(j, pid, is_anybody, KD_CPU_NONE);
}

/* A reader that was switched out: being on RCU's list of these is proof of it. */
static void judge_preempted(struct judge *j, uint32_t pid, uint64_t until_ns)
{
	uint64_t in_way = until_ns > j->from_ns ? until_ns - j->from_ns : 0;
	uint64_t blocked =
		pid == judge_fact(j, KD_F_LAST_PID) ? judge_fact(j, KD_F_BLOCKED_NS) : KD_UNKNOWN;
	uint64_t part;
	char name[WHO_LEN], rival[WHO_LEN], time[FMT_LEN];
	struct finding *f;
	struct states s;

	states_of(j, pid, &s);
	if (blocked == KD_UNKNOWN && s.n > 2) /* as often as it was seen so */
		blocked = (uint64_t)((double)in_way * (double)(s.n - s.running) / (double)s.n);
	/* Never seen, it may have run in its reader until the last CPU had reported. */
	if (blocked == KD_UNKNOWN && !s.n)
		blocked = holdup_phase(j->h, KD_PH_WAIT_TASKS);
	part = blocked != KD_UNKNOWN && blocked < in_way ? blocked : in_way;
	/* It ran most of the time, and was switched out at the end. */
	if (blocked != KD_UNKNOWN && s.n && judge_matters(in_way - part, j->whole_ns)) {
		f = judge_find(j, CAUSE_LONG_READER, in_way - part);
		take_task(j, f, pid, &s);
		f->certain = s.running > 0;
		judge_why(f, "%s ran in its reader for %s", judge_name(name, sizeof(name), &f->who),
			  fmt_ns(time, sizeof(time), in_way - part));
	}
	f = judge_find(j, CAUSE_PREEMPTED_READER, part);
	take_task(j, f, pid, &s);
	f->certain = true;
	judge_rival(j, pid, KD_CPU_NONE, &f->other);
	judge_why(f, "%s was switched out in a reader, and reported after %s%s%s%s",
		  judge_name(name, sizeof(name), &f->who), fmt_ns(time, sizeof(time), until_ns),
		  f->other.pid ? "; " : "",
		  f->other.pid ? judge_name(rival, sizeof(rival), &f->other) : "",
		  f->other.pid ? " ran in its stead" : "");
}

static bool is_first_of_pid(const struct judge *j, size_t at)
{
	const struct kd_rec_witness *w = &j->h->witness[at];

	for (size_t i = 0; i < at; i++)
		if (j->h->witness[i].role == w->role && j->h->witness[i].pid == w->pid)
			return false;
	return true;
}

/* Readers that left before the last one did, after long. */
static void judge_other_tasks(struct judge *j, uint32_t but)
{
	uint64_t second = judge_fact_or(j, KD_F_SECOND_NS, j->last_ns);

	for (size_t i = 0; i < j->h->nwitness; i++) {
		const struct kd_rec_witness *w = &j->h->witness[i];
		uint64_t until;
		struct states s;

		if (w->role != KD_ROLE_TASK || !w->pid || w->pid == but || !is_first_of_pid(j, i))
			continue;
		states_of(j, w->pid, &s);
		until = judge_when(j, s.last) + j->tick_ns;
		until = until < second ? until : second;
		if (s.n > 1 && until > j->from_ns && judge_matters(until - j->from_ns, j->whole_ns))
			judge_preempted(j, w->pid, until);
	}
}

/* --- who reported last --- */

static void say_last(struct judge *j)
{
	uint64_t last = judge_fact(j, KD_F_LAST_NS), second = judge_fact(j, KD_F_SECOND_NS);
	uint64_t cpu = judge_fact(j, KD_F_LAST_CPU), how = judge_fact(j, KD_F_HOW);
	uint64_t pid = judge_fact_or(j, KD_F_LAST_PID, 0);
	char a[FMT_LEN], b[FMT_LEN], whose[48], by[64] = "";

	if (last == KD_UNKNOWN)
		return;
	if (pid)
		snprintf(whose, sizeof(whose), "task " P64, pid);
	else if (cpu != KD_UNKNOWN)
		snprintf(whose, sizeof(whose), "CPU " P64, cpu);
	else
		snprintf(whose, sizeof(whose), "the last");
	if (how != KD_UNKNOWN && how != KD_HOW_UNKNOWN)
		snprintf(by, sizeof(by), " (by %s)", how_name((unsigned int)how));
	if (second != KD_UNKNOWN)
		judge_say(j, "%s reported last%s, after %s; the last but one after %s", whose, by,
			  fmt_ns(a, sizeof(a), last), fmt_ns(b, sizeof(b), second));
	else
		judge_say(j, "%s reported last%s, after %s", whose, by, fmt_ns(a, sizeof(a), last));
}

static void set_times(struct judge *j)
{
	uint64_t requested = holdup_phase(j->h, KD_PH_REQUESTED),
		 init = holdup_phase(j->h, KD_PH_INIT);
	uint64_t last = judge_fact(j, KD_F_LAST_NS), second = judge_fact(j, KD_F_SECOND_NS);

	j->from_ns = (requested == KD_UNKNOWN ? 0 : requested) + (init == KD_UNKNOWN ? 0 : init);
	if (j->from_ns > j->whole_ns)
		j->from_ns = 0;
	if (last != KD_UNKNOWN && last <= j->whole_ns)
		j->last_ns = last;
	if (last != KD_UNKNOWN && second != KD_UNKNOWN && second <= last)
		j->v->alone_ns = last - (second > j->from_ns ? second : j->from_ns);
	if (j->v->alone_ns > j->whole_ns)
		j->v->alone_ns = KD_UNKNOWN;
}

/* The only one that was still seen at the end; KD_CPU_NONE: nobody, or several. */
static uint32_t only_cpu_at_end(struct judge *j)
{
	uint32_t cpu = KD_CPU_NONE;
	uint64_t last = 0;

	for (size_t i = 0; i < j->h->nwitness; i++)
		if (j->h->witness[i].role == KD_ROLE_CPU)
			last = judge_when(j, &j->h->witness[i]);
	for (size_t i = 0; i < j->h->nwitness; i++) {
		const struct kd_rec_witness *w = &j->h->witness[i];

		if (w->role != KD_ROLE_CPU || judge_when(j, w) + 3 * j->tick_ns < last)
			continue;
		if (cpu != KD_CPU_NONE && cpu != w->cpu)
			return KD_CPU_NONE;
		cpu = w->cpu;
	}
	return cpu;
}

/* RCU, normal and expedited: CPUs, and readers that were switched out. */
static void judge_holders(struct judge *j)
{
	uint32_t pid = (uint32_t)judge_fact_or(j, KD_F_LAST_PID, 0);
	uint64_t cpu = judge_fact(j, KD_F_LAST_CPU), cpus = holdup_phase(j->h, KD_PH_WAIT_CPUS);
	uint64_t cpus_until = pid && cpus != KD_UNKNOWN && j->from_ns + cpus < j->last_ns
				      ? j->from_ns + cpus
				      : j->last_ns;

	if (pid)
		judge_preempted(j, pid, j->last_ns);
	if (cpu == KD_UNKNOWN && !pid)
		cpu = only_cpu_at_end(j);
	/* The CPU of a reader that was switched out has reported by that. */
	if (cpu != KD_UNKNOWN && cpu != KD_CPU_NONE && !pid)
		judge_cpu(j, (uint32_t)cpu, j->last_ns);
	else
		judge_machine(j, KD_CPU_NONE);
	judge_other_cpus(j, cpu == KD_UNKNOWN || pid ? KD_CPU_NONE : (uint32_t)cpu, cpus_until);
	judge_other_tasks(j, pid);
	if (cpu == KD_UNKNOWN && !pid)
		judge_need(j,
			   "who reported last is not known: that takes rcu_report_qs_rnp() to be "
			   "hooked, and the wait to end while it is watched");
}

/* --- other flavours --- */

/* A holdout of Tasks RCU: it has not switched by itself since, whatever it does. */
static void judge_not_switching(struct judge *j, uint32_t pid, uint64_t until_ns)
{
	char name[WHO_LEN], time[FMT_LEN];
	struct finding *f;
	struct states s;

	states_of(j, pid, &s);
	/* That a task has not switched is found out by a look, the first of which comes after a while. */
	if (judge_fact_or(j, KD_F_SCANS, 2) < 2) {
		judge_need(j,
			   "at the kernel's first look at its holdouts all had switched: how long "
			   "they took until then is not known");
		return;
	}
	/* Who sleeps has given up its CPU: that was not looked at yet, which happens ten times a second. */
	if (s.sleeping > s.running + s.runnable) {
		judge_need(j, "the last holdout was asleep when it was seen, and only waited to be "
			      "looked at");
		return;
	}
	f = judge_find(j, CAUSE_TASK_NOT_SWITCHING,
		       until_ns > j->from_ns ? until_ns - j->from_ns : 0);
	take_task(j, f, pid, &s);
	f->certain = true;
	judge_rival(j, pid, KD_CPU_NONE, &f->other);
	judge_why(f, "%s neither gave up its CPU by itself nor was in user mode for %s%s",
		  judge_name(name, sizeof(name), &f->who), fmt_ns(time, sizeof(time), until_ns),
		  s.runnable > s.running ? ", and mostly did not get to run" : "");
}

/* A reader in which sleeping is allowed. */
static void judge_reader(struct judge *j, uint32_t pid, uint64_t until_ns)
{
	uint64_t part = until_ns > j->from_ns ? until_ns - j->from_ns : 0;
	char name[WHO_LEN], time[FMT_LEN];
	enum cause cause = CAUSE_SLEEPING_READER;
	struct finding *f;
	struct states s;

	states_of(j, pid, &s);
	if (s.known && !s.readers) {
		judge_need(
			j,
			"the last on the list was in no reader when it was seen, and only waited "
			"to be looked at");
		return;
	}
	if (s.running > s.sleeping && s.running >= s.runnable)
		cause = CAUSE_LONG_READER;
	else if (s.runnable > s.sleeping)
		cause = CAUSE_PREEMPTED_READER;
	f = judge_find(j, cause, part);
	take_task(j, f, pid, &s);
	f->certain = s.n && !s.candidates;
	judge_rival(j, pid, KD_CPU_NONE, &f->other);
	judge_why(
		f,
		"%s was in a reader for %s: seen asleep %zu times, running %zu, ready to run %zu%s",
		judge_name(name, sizeof(name), &f->who), fmt_ns(time, sizeof(time), until_ns),
		s.sleeping, s.running, s.runnable,
		s.candidates ? "; it may be another: this flavour keeps no list of its readers"
			     : "");
}

typedef void (*judge_task)(struct judge *j, uint32_t pid, uint64_t until_ns);

static uint32_t last_seen_task(const struct judge *j)
{
	const struct kd_rec_witness *w = judge_seen(j, KD_ROLE_TASK, 0);

	return w ? w->pid : 0;
}

static void judge_tasks(struct judge *j, judge_task one)
{
	uint32_t pid = (uint32_t)judge_fact_or(j, KD_F_LAST_PID, 0);

	if (!pid)
		pid = last_seen_task(j);
	if (!pid) {
		judge_need(j, "no task was seen that had to be waited for");
		return;
	}
	one(j, pid, j->last_ns);
	for (size_t i = 0; i < j->h->nwitness; i++) {
		const struct kd_rec_witness *w = &j->h->witness[i];
		struct states s;
		uint64_t until;

		if (w->role != KD_ROLE_TASK || !w->pid)
			continue;
		if (w->flags & KD_WIT_CANDIDATE)
			judge_candidate(j, w);
		if (w->flags & KD_WIT_CANDIDATE || w->pid == pid || !is_first_of_pid(j, i))
			continue;
		states_of(j, w->pid, &s);
		until = judge_when(j, s.last);
		if (s.n > 1 && until > j->from_ns && judge_matters(until - j->from_ns, j->whole_ns))
			one(j, w->pid, until);
	}
}

/* In the course of theirs SRCU and the Tasks flavours wait for RCU's grace periods, too. */
static void judge_other_flavour(struct judge *j, judge_task one)
{
	size_t before = j->n;

	judge_tasks(j, one);
	if (j->n == before && !judge_behind(j, j->whole_ns))
		judge_machine(j, KD_CPU_NONE);
}

static void say_facts(struct judge *j)
{
	uint64_t scans = judge_fact(j, KD_F_SCANS), holdouts = judge_fact(j, KD_F_HOLDOUTS);

	if (scans != KD_UNKNOWN)
		judge_say(j, "scans for quiescent states: " P64, scans);
	if (holdouts != KD_UNKNOWN)
		judge_say(j, "tasks waited for at one time, at most: " P64, holdouts);
	if (j->h->unseen)
		judge_say(j, "samples that are left out here: " P64, j->h->unseen);
}

void judge_gp(struct judge *j)
{
	set_times(j);
	say_last(j);
	judge_kthread(j);
	judge_lazy(j);
	switch (j->h->rec.flavour) {
	case KD_FL_TASKS:
		judge_other_flavour(j, judge_not_switching);
		break;
	case KD_FL_TASKS_TRACE:
	case KD_FL_SRCU:
		judge_other_flavour(j, judge_reader);
		break;
	default:
		judge_holders(j);
	}
	say_facts(j);
}
