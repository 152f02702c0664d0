// SPDX-License-Identifier: GPL-2.0-only
/* verdict_work.c - why callbacks came late or ran long, why callers waited, why a flush took long. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "verdict_parts.h"

#define P32 "%" PRIu32
#define P64 "%" PRIu64
#define FLOOD 100           /* callbacks ahead: fewer are no flood, however they are run */
#define VISIT_NS 1000000ULL /* longer for one cgroup of one CPU: something else took the time */
#define VISITS 32

/* --- behind a grace period that was too long itself --- */

uint64_t judge_behind(struct judge *j, uint64_t most_ns)
{
	const struct holdup *gp = j->gp, *h = j->h;
	uint64_t from, to, part;
	struct verdict of;
	struct finding *f;
	char time[FMT_LEN];

	if (!gp)
		return 0;
	from = gp->rec.begin_ns > h->rec.begin_ns ? gp->rec.begin_ns : h->rec.begin_ns;
	to = gp->rec.end_ns < h->rec.end_ns ? gp->rec.end_ns : h->rec.end_ns;
	part = to > from ? to - from : 0;
	part = part < most_ns ? part : most_ns;
	verdict_of(&of, j->host, gp, NULL);
	judge_say(j, "%s %" PRId64 ", which took %s: %s",
		  h->rec.what == KD_WAIT_GP ? "in its course lay RCU's grace period"
					    : "it waited for grace period",
		  (int64_t)gp->rec.seq, fmt_ns(time, sizeof(time), holdup_ns(gp)),
		  cause_name(of.is.cause));
	if (of.is.cause == CAUSE_UNKNOWN)
		return part;
	f = judge_find(j, CAUSE_UNKNOWN, part);
	*f = of.is;
	f->part_ns = part;
	f->certain &= h->rec.what != KD_WAIT_GP;
	return part;
}

static void say_grace_periods(struct judge *j)
{
	uint64_t gps = judge_fact(j, KD_F_GPS);

	if (gps != KD_UNKNOWN)
		judge_say(j, "grace periods that ended meanwhile: " P64, gps);
}

void judge_caller(struct judge *j)
{
	say_grace_periods(j);
	if (!judge_behind(j, j->whole_ns)) {
		judge_machine(j, KD_CPU_NONE);
		judge_need(j, "no single grace period that it waited for was over its own limit: "
			      "--over rcu_gp=TIME, shorter, explains these");
	}
}

/* --- callbacks --- */

static uint64_t judge_lazy(struct judge *j)
{
	uint64_t lazy = judge_fact_or(j, KD_F_LAZY_NS, 0);
	char time[FMT_LEN];
	struct finding *f;

	if (!lazy)
		return 0;
	f = judge_find(j, CAUSE_LAZY, lazy);
	f->certain = true;
	f->who.cpu = j->h->rec.cpu;
	judge_why(f, "kept lazily for %s before a grace period was asked for: that is by design",
		  fmt_ns(time, sizeof(time), lazy));
	return lazy;
}

/* Ready to be run, and whoever runs them did not get a CPU. */
static uint64_t judge_starved(struct judge *j, uint64_t waited)
{
	uint64_t starved = judge_fact(j, KD_F_KTHREAD_NS);
	uint32_t pid = (uint32_t)judge_fact_or(j, KD_F_KTHREAD_PID, 0);
	const struct kd_rec_witness *kthread = judge_seen(j, KD_ROLE_KTHREAD, pid), *rival;
	char time[FMT_LEN], who[WHO_LEN], name[WHO_LEN];
	struct finding *f;

	if (starved == KD_UNKNOWN)
		starved = judge_fact(j, KD_F_UNREPORTED_NS);
	if (!judge_matters(starved, waited))
		return 0;
	f = judge_find(j, CAUSE_CALLBACKS_STARVED, starved);
	f->certain = true;
	if (kthread)
		culprit_take(&f->other, kthread);
	f->other.pid = pid ? pid : f->other.pid;
	rival = judge_rival(j, pid, KD_CPU_NONE, &f->who);
	f->seen = rival;
	if (!rival)
		f->who.cpu = j->h->rec.cpu;
	judge_why(f, "%s was ready to run and did not for %s; %s ran on its CPU",
		  f->other.pid ? judge_name(name, sizeof(name), &f->other) : "the softirq of RCU",
		  fmt_ns(time, sizeof(time), starved), judge_name(who, sizeof(who), &f->who));
	return starved;
}

static uint64_t judge_slow_one(struct judge *j, uint64_t waited)
{
	uint64_t slowest = judge_fact(j, KD_F_SLOWEST_NS);
	const struct kd_rec_witness *w = judge_seen(j, KD_ROLE_CALLBACK, 0);
	char time[FMT_LEN], comm[4 * sizeof(w->comm) + 1];
	struct finding *f;

	if (!judge_matters(slowest, waited))
		return 0;
	f = judge_find(j, CAUSE_SLOW_CALLBACK, slowest);
	f->certain = true;
	f->who.cpu = j->h->rec.cpu;
	f->seen = w;
	if (w)
		culprit_take(&f->who, w);
	judge_why(f, "a callback before it ran for %s%s%s", fmt_ns(time, sizeof(time), slowest),
		  w && *w->comm ? ": " : "",
		  w && *w->comm ? fmt_safe(comm, sizeof(comm), w->comm) : "");
	return slowest;
}

/* What most of them were, where that was seen: those that wait are not always those that are many. */
static void say_flood(struct judge *j)
{
	const struct kd_rec_witness *w = judge_seen(j, KD_ROLE_QUEUE, 0);
	char frame[64], func[4 * sizeof(frame)];

	if (w && witness_frame(w, 0, frame, sizeof(frame)))
		judge_say(j, "most of these, as far as was seen: %s()",
			  fmt_safe(func, sizeof(func), frame));
}

static void judge_flood(struct judge *j, uint64_t part)
{
	uint64_t ahead = judge_fact_or(j, KD_F_AHEAD, 0), queue = judge_fact_or(j, KD_F_QUEUE, 0);
	uint64_t most = ahead > queue ? ahead : queue;
	char a[FMT_LEN], b[FMT_LEN], time[FMT_LEN];
	struct finding *f;

	if (ahead < FLOOD) {
		judge_need(j,
			   "its grace period was over, and neither a queue nor a starved kthread "
			   "was seen: who ran on CPU " P32 " then",
			   j->h->rec.cpu);
		return;
	}
	f = judge_find(j, CAUSE_CALLBACK_FLOOD, part);
	f->certain = true;
	f->who.cpu = j->h->rec.cpu;
	judge_why(f, "%s callbacks were on the list of CPU " P32 ", and %s ran before it in %s",
		  fmt_count(a, sizeof(a), most), j->h->rec.cpu, fmt_count(b, sizeof(b), ahead),
		  fmt_ns(time, sizeof(time), part));
	say_flood(j);
}

static void say_steps(struct judge *j, uint64_t ready)
{
	uint64_t batch = judge_fact(j, KD_F_BATCH_NS);
	char a[FMT_LEN], b[FMT_LEN];

	if (ready != KD_UNKNOWN && batch != KD_UNKNOWN)
		judge_say(j, "its grace period was over after %s, its batch began after %s",
			  fmt_ns(a, sizeof(a), ready), fmt_ns(b, sizeof(b), batch));
	else if (ready != KD_UNKNOWN)
		judge_say(j, "its grace period was over after %s", fmt_ns(a, sizeof(a), ready));
	if (judge_fact_or(j, KD_F_OFFLOADED, 0) == 1)
		judge_say(j, "callbacks of CPU " P32 " are run by a kthread (rcu_nocbs=)",
			  j->h->rec.cpu);
	say_grace_periods(j);
}

void judge_callback(struct judge *j)
{
	uint64_t ready = judge_fact(j, KD_F_READY_NS), lazy = judge_lazy(j), waited, known;

	say_steps(j, ready);
	if (ready == KD_UNKNOWN || ready > j->whole_ns) {
		judge_behind(j, j->whole_ns - (lazy < j->whole_ns ? lazy : j->whole_ns));
		judge_need(j, "when its grace period was over is not known");
		ready = j->whole_ns;
	} else if (ready > lazy && !judge_behind(j, ready - lazy)) {
		judge_need(j, "it waited for grace periods, none of which was over its own limit: "
			      "--over rcu_gp=TIME, shorter, explains these");
	}
	waited = j->whole_ns - ready;
	if (!judge_matters(waited, j->whole_ns))
		return;
	known = judge_machine(j, j->h->rec.cpu);
	if (!known)
		known = judge_starved(j, waited);
	if (!known)
		known = judge_slow_one(j, waited);
	if (!known)
		judge_flood(j, waited);
}

/* Nothing stands between its beginning and its end but itself, unless its CPU was taken away. */
void judge_run(struct judge *j)
{
	const struct kd_rec_witness *w = judge_seen(j, KD_ROLE_CALLBACK, 0);
	uint64_t taken = judge_machine(j, j->h->rec.cpu);
	struct finding *f;
	char time[FMT_LEN];

	if (!w)
		w = judge_seen(j, KD_ROLE_CPU, 0);
	f = judge_find(j, CAUSE_SLOW_CALLBACK, j->whole_ns - taken);
	f->certain = !taken;
	if (w)
		culprit_take(&f->who, w);
	f->who.pid = j->h->rec.pid ? j->h->rec.pid : f->who.pid;
	f->who.cpu = j->h->rec.cpu;
	f->seen = w;
	judge_why(f, "it ran for %s on CPU " P32, fmt_ns(time, sizeof(time), j->whole_ns),
		  j->h->rec.cpu);
}

/* --- rstat --- */

static void judge_lock(struct judge *j, uint64_t part)
{
	uint32_t pid = (uint32_t)judge_fact_or(j, KD_F_OWNER_PID, 0);
	const struct kd_rec_witness *owner = judge_seen(j, KD_ROLE_OWNER, pid);
	char name[WHO_LEN], time[FMT_LEN];
	struct finding *f;

	if (!judge_matters(part, j->whole_ns))
		return;
	f = judge_find(j, CAUSE_LOCK_CONTENTION, part);
	if (owner)
		culprit_take(&f->who, owner);
	f->who.pid = pid ? pid : f->who.pid;
	f->certain = f->who.pid;
	f->seen = owner;
	judge_why(f, "it waited %s for the lock; %s held it the longest meanwhile",
		  fmt_ns(time, sizeof(time), part), judge_name(name, sizeof(name), &f->who));
	for (size_t i = 0; i < j->h->nwitness; i++)
		if (j->h->witness[i].role == KD_ROLE_OWNER)
			judge_candidate(j, &j->h->witness[i]);
	if (j->v->ncandidates < 2)
		j->v->ncandidates = 0; /* it is named already */
}

static void judge_many(struct judge *j, uint64_t part)
{
	uint64_t cgroups = judge_fact(j, KD_F_CGROUPS), cpus = judge_fact(j, KD_F_CPUS);
	char n[FMT_LEN], time[FMT_LEN], each[FMT_LEN];
	struct finding *f;

	if (!judge_matters(part, j->whole_ns))
		return;
	if (cgroups == KD_UNKNOWN) {
		judge_need(j,
			   "how many cgroups it visited is not known: that takes bpf_rstat_flush() "
			   "or mem_cgroup_css_rstat_flush() to be hooked");
		return;
	}
	if (cgroups < VISITS || part / cgroups > VISIT_NS) {
		judge_say(j, "it visited " P64 " cgroups in that time: too few to account for it",
			  cgroups);
		judge_need(j,
			   "what its CPU did meanwhile: interrupts, or a task of higher priority");
		return;
	}
	f = judge_find(j, CAUSE_MANY_CGROUPS, part);
	f->certain = true;
	f->who = (struct culprit){ .cpu = j->h->rec.cpu,
				   .pid = j->h->rec.pid,
				   .tgid = j->h->rec.tgid,
				   .cgroup = j->h->rec.cgroup };
	memcpy(f->who.comm, j->h->rec.comm, sizeof(f->who.comm));
	f->seen = judge_seen(j, KD_ROLE_WAITER, 0);
	judge_why(f, "%s visits to cgroups%s in %s, %s each", fmt_count(n, sizeof(n), cgroups),
		  cpus != KD_UNKNOWN ? ", CPU by CPU," : "", fmt_ns(time, sizeof(time), part),
		  fmt_ns(each, sizeof(each), part / cgroups));
	if (cpus != KD_UNKNOWN)
		judge_say(j, "all " P64 " possible CPUs were looked at, " P64 " are online", cpus,
			  j->host->cpus);
}

void judge_rstat(struct judge *j)
{
	uint64_t lock = judge_fact(j, KD_F_LOCK_NS), held = judge_fact(j, KD_F_HELD_NS);
	uint64_t holds = judge_fact(j, KD_F_HOLDS);
	char time[FMT_LEN];

	if (judge_machine(j, j->h->rec.cpu))
		return;
	if (j->h->rec.what == KD_WAIT_LOCK) {
		judge_lock(j, j->whole_ns);
		return;
	}
	if (j->h->rec.what == KD_WAIT_HOLD) {
		judge_many(j, j->whole_ns);
		return;
	}
	if (lock != KD_UNKNOWN)
		judge_lock(j, lock);
	/* Without the lock's tracepoints the two cannot be told apart. */
	judge_many(j, held != KD_UNKNOWN   ? held
		      : lock != KD_UNKNOWN ? j->whole_ns - lock
					   : j->whole_ns);
	if (holds != KD_UNKNOWN && held != KD_UNKNOWN)
		judge_say(j, "it held the lock " P64 " times, %s in all", holds,
			  fmt_ns(time, sizeof(time), held));
}
