// SPDX-License-Identifier: GPL-2.0-only
/* verdict_cpu.c - why a CPU did not report a quiescent state: from its ticks and who ran there. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "verdict_parts.h"

#define P32 "%" PRIu32
#define P64 "%" PRIu64

/* --- samples --- */

static bool is_of(const struct kd_rec_witness *w, uint32_t cpu)
{
	return w->role == KD_ROLE_CPU && w->cpu == cpu;
}

/* In the kernel, and busy: what can be in the way. */
static bool is_busy(const struct kd_rec_witness *w)
{
	return !(w->flags & (KD_WIT_USER | KD_WIT_IDLE)) && w->pid;
}

static bool is_sample(const struct kd_rec_witness *w, uint32_t cpu)
{
	return is_of(w, cpu) && is_busy(w);
}

static size_t times_of(const struct judge *j, uint32_t cpu, const struct kd_rec_witness *like)
{
	size_t n = 0;

	for (size_t i = 0; i < j->h->nwitness; i++) {
		const struct kd_rec_witness *w = &j->h->witness[i];

		n += is_of(w, cpu) && is_busy(w) && w->pid == like->pid;
	}
	return n;
}

static void find_who(const struct judge *j, uint32_t cpu, struct samples *s)
{
	for (size_t i = 0; i < j->h->nwitness; i++) {
		const struct kd_rec_witness *w = &j->h->witness[i];
		size_t n;

		if (!is_of(w, cpu) || !is_busy(w))
			continue;
		n = times_of(j, cpu, w);
		if (n >= s->of_pid) {
			s->of_pid = n;
			culprit_take(&s->who, w);
		}
	}
	if (2 * s->of_pid < s->not_idle)
		s->who.pid = 0; /* no one task */
	s->seen = judge_typical(j, s->who.pid, is_sample, cpu);
}

static void take_sample(const struct judge *j, const struct kd_rec_witness *w, uint64_t until_ns,
			struct samples *s)
{
	bool outside = w->flags & KD_WIT_NEST_KNOWN && !(w->flags & KD_WIT_READER) && is_busy(w);

	s->n++;
	s->user += (w->flags & KD_WIT_USER) && !(w->flags & KD_WIT_IDLE);
	s->idle += (w->flags & KD_WIT_IDLE) || !w->pid;
	s->not_idle += is_busy(w);
	s->reader += is_busy(w) && w->flags & KD_WIT_READER;
	s->bare += outside && !(w->flags & KD_WIT_BARRED);
	s->barred += is_busy(w) && w->flags & KD_WIT_BARRED;
	s->unknown += is_busy(w) && !(w->flags & (KD_WIT_NEST_KNOWN | KD_WIT_READER));
	/* The last tick is the one that reports: it tells nothing of those before it. */
	s->bare_before += outside && !(w->flags & KD_WIT_BARRED) &&
			  judge_when(j, w) + j->tick_ns + j->tick_ns / 2 < until_ns;
	s->last_ns = judge_when(j, w);
	/* A CPU without work has no tick either, nor one in user mode that is to have none. */
	if (w->flags & KD_WIT_GAP && is_busy(w) && (!s->gap || w->gap_ns > s->gap->gap_ns))
		s->gap = w;
}

void samples_of(const struct judge *j, uint32_t cpu, uint64_t until_ns, struct samples *s)
{
	*s = (struct samples){ .who.cpu = cpu };
	for (size_t i = 0; i < j->h->nwitness; i++)
		if (is_of(&j->h->witness[i], cpu))
			take_sample(j, &j->h->witness[i], until_ns, s);
	find_who(j, cpu, s);
	s->who.cpu = cpu;
}

/* --- ticks --- */

/*
 * Facts of a CPU are of this one, which ended the wait. Where a task did, they are of the CPU it ended
 * on, which may have reported long before.
 */
static bool is_last(const struct judge *j, uint32_t cpu)
{
	return judge_fact(j, KD_F_LAST_CPU) == cpu && !judge_fact_or(j, KD_F_LAST_PID, 0);
}

struct ticks {
	bool known;
	uint64_t n, user, reader, bare, barred; /* parts: 0 where they are not known */
	bool readers;                           /* reader and bare are known */
};

/* Facts are of the CPU that reported last; of others there are samples alone. */
static struct ticks ticks_of(const struct judge *j, uint32_t cpu, const struct samples *s)
{
	if (!is_last(j, cpu) || judge_fact(j, KD_F_TICKS) == KD_UNKNOWN)
		return (struct ticks){
			.known = s->n,
			.n = s->n,
			.user = s->user + s->idle,
			.reader = s->reader,
			.bare = s->bare,
			.barred = s->barred,
			.readers = s->n && !s->unknown,
		};
	return (struct ticks){
		.known = true,
		.n = judge_fact(j, KD_F_TICKS),
		.user = judge_fact_or(j, KD_F_TICKS_USER, 0),
		.reader = judge_fact_or(j, KD_F_TICKS_READER, 0),
		.bare = judge_fact_or(j, KD_F_TICKS_BARE, 0),
		.barred = judge_fact_or(j, KD_F_TICKS_BARRED, 0),
		.readers = judge_fact(j, KD_F_TICKS_READER) != KD_UNKNOWN,
	};
}

static void say_ticks(struct judge *j, uint32_t cpu, const struct ticks *t)
{
	uint64_t others = t->reader + t->bare + t->user, barred = t->n > others ? t->n - others : 0;
	char hz[32] = "";

	if (!t->known || !t->n)
		return;
	if (j->host->hz)
		snprintf(hz, sizeof(hz), " (HZ=" P64 ")", j->host->hz);
	if (t->readers)
		judge_say(j,
			  P64 " ticks of CPU " P32 "%s: " P64 " in a reader, " P64
			      " in the kernel outside readers, " P64
			      " there with preemption or softirqs off, " P64
			      " in user mode or idle",
			  t->n, cpu, hz, t->reader, t->bare, barred, t->user);
	else
		judge_say(j,
			  P64 " ticks of CPU " P32 "%s: " P64 " in the kernel, " P64
			      " in user mode or idle",
			  t->n, cpu, hz, t->n > t->user ? t->n - t->user : 0, t->user);
}

/* --- the arithmetic of a loop --- */

/* How often a tick finds the CPU where it may report, and how long that takes. */
static void reckon(struct judge *j, const struct ticks *t)
{
	struct odds *o = &j->v->odds;
	double n;

	if (!t->n || !j->tick_ns)
		return;
	*o = (struct odds){
		.known = true,
		.reader_based = t->readers,
		.could = t->user + (t->readers ? t->bare : 0),
		.ticks = t->n,
		.escalates_ns = j->host->sched_qs_jiffies * j->tick_ns,
		.urgent_ns = judge_fact(j, KD_F_URGENT_NS),
	};
	/* None of n: then p is below 3/n with a confidence of 95%. */
	o->p = o->could ? (double)o->could / (double)o->ticks : 3.0 / (double)o->ticks;
	o->p = o->p > 1 ? 1 : o->p;
	o->mean_ns = (uint64_t)((double)j->tick_ns / o->p);
	n = o->p < 1 ? log(0.01) / log(1 - o->p) : 1;
	o->p99_ns = (uint64_t)((double)j->tick_ns * (n > 1 ? n : 1));
	o->by_escalation = o->urgent_ns != KD_UNKNOWN && o->urgent_ns && o->urgent_ns <= j->last_ns;
}

static void say_odds(struct judge *j)
{
	const struct odds *o = &j->v->odds;
	char mean[FMT_LEN], p99[FMT_LEN], at[FMT_LEN];

	if (!o->known)
		return;
	judge_say(j, "RCU here learns of it when a tick lands %s",
		  o->reader_based ? "in user mode, or outside of readers with preemption on"
				  : "in user mode (or at a context switch)");
	fmt_ns(mean, sizeof(mean), o->mean_ns);
	if (o->could)
		judge_say(j,
			  P64 " of " P64
			      " ticks did: p = %.2g%%, a wait of 1/(p*HZ) = %s on average, "
			      "99%% within %s",
			  o->could, o->ticks, 100 * o->p, mean,
			  fmt_ns(p99, sizeof(p99), o->p99_ns));
	else
		judge_say(j,
			  "none of " P64
			  " ticks did: p < %.2g%%, a wait of 1/(p*HZ) > %s on average",
			  o->ticks, 100 * o->p, mean);
	if (o->escalates_ns)
		judge_say(j,
			  "RCU's own escalation: jiffies_to_sched_qs, " P64
			  " jiffies (%s) after the "
			  "start, it asks for a reschedule",
			  j->host->sched_qs_jiffies, fmt_ns(at, sizeof(at), o->escalates_ns));
	if (o->urgent_ns == KD_UNKNOWN)
		judge_say(j, "whether it had asked is not known");
	else if (o->by_escalation)
		judge_say(j,
			  "it had asked by %s, and the report came %s later: the escalation ended "
			  "the wait",
			  fmt_ns(at, sizeof(at), o->urgent_ns),
			  fmt_ns(mean, sizeof(mean), j->last_ns - o->urgent_ns));
	else
		judge_say(j,
			  "it had not asked: a tick that landed well, or a context switch, ended "
			  "the wait");
}

/* --- what kept it --- */

/* How much of a stretch that ended then lies in the time in which it was waited for. */
static uint64_t within(const struct judge *j, uint64_t gap, uint64_t end, uint64_t until_ns)
{
	uint64_t from = end > gap ? end - gap : 0;

	from = from > j->from_ns ? from : j->from_ns;
	end = end < until_ns ? end : until_ns;
	return end > from ? end - from : 0;
}

/*
 * Without a witness of its end a CPU without ticks may have been idle. But then a scan reports for it: if
 * there were scans, and it had to do so itself, it was not.
 */
static uint64_t gap_by_facts(const struct judge *j, uint32_t cpu, uint64_t until_ns,
			     const struct samples *s)
{
	uint64_t gap = judge_fact(j, KD_F_GAP_NS), end = judge_fact(j, KD_F_GAP_END_NS);

	if (!is_last(j, cpu) || gap == KD_UNKNOWN || end == KD_UNKNOWN || s->idle || s->user ||
	    judge_fact(j, KD_F_HOW) != KD_HOW_ITSELF || judge_fact_or(j, KD_F_SCANS, 0) < 2)
		return 0;
	return within(j, gap, end, until_ns);
}

static uint64_t judge_gap(struct judge *j, uint32_t cpu, uint64_t until_ns, const struct samples *s)
{
	uint64_t in_way = until_ns > j->from_ns ? until_ns - j->from_ns : 0, gap;
	struct finding *f;
	char time[FMT_LEN];

	gap = s->gap ? within(j, s->gap->gap_ns, judge_when(j, s->gap), until_ns)
		     : gap_by_facts(j, cpu, until_ns, s);
	if (!judge_matters(gap, in_way))
		return 0;
	f = judge_find(j, CAUSE_IRQS_OFF, gap);
	f->certain = s->gap && !j->host->virtual && !j->machine_ns;
	f->who = s->who;
	f->seen = s->gap ? s->gap : s->seen;
	if (s->gap)
		culprit_take(&f->who, s->gap);
	f->who.cpu = cpu;
	judge_why(f, "CPU " P32 " had no tick for %s, others had%s", cpu,
		  fmt_ns(time, sizeof(time), gap),
		  j->host->virtual ? " (or the hypervisor did not run it: no steal time tells)"
				   : "");
	return gap;
}

/* Whoever was seen most often, in user mode too: that is no place to be stuck in, but keeps others out. */
static const struct kd_rec_witness *ran_most(const struct judge *j, uint32_t cpu)
{
	const struct kd_rec_witness *best = NULL;
	size_t most = 0;

	for (size_t i = 0; i < j->h->nwitness; i++) {
		const struct kd_rec_witness *w = &j->h->witness[i];
		size_t times = 0;

		if (!is_of(w, cpu) || !w->pid || w->flags & KD_WIT_IDLE)
			continue;
		for (size_t k = 0; k <= i; k++)
			times += is_of(&j->h->witness[k], cpu) && j->h->witness[k].pid == w->pid;
		if (times >= most) {
			most = times;
			best = w;
		}
	}
	return best;
}

/* A quiescent state that was passed through, and nobody told RCU's tree of it. */
static uint64_t judge_unreported(struct judge *j, uint32_t cpu, uint64_t in_way,
				 const struct samples *s)
{
	uint64_t part = is_last(j, cpu) ? judge_fact(j, KD_F_UNREPORTED_NS) : KD_UNKNOWN;
	struct finding *f;
	char time[FMT_LEN], who[WHO_LEN];
	const struct kd_rec_witness *w;

	if (!judge_matters(part, in_way))
		return 0;
	f = judge_find(j, CAUSE_CALLBACKS_STARVED, part);
	f->certain = true;
	w = judge_rival(j, 0, cpu, &f->who);
	if (!w)
		w = ran_most(j, cpu);
	if (w)
		culprit_take(&f->who, w);
	f->who.cpu = cpu;
	f->seen = w && *w->stack ? w : s->who.pid == f->who.pid ? s->seen : NULL;
	judge_why(f,
		  "CPU " P32
		  " had a quiescent state to report for %s: its RCU softirq or kthread did "
		  "not run; %s did",
		  cpu, fmt_ns(time, sizeof(time), part), judge_name(who, sizeof(who), &f->who));
	return part;
}

/* More than a few: it is not stuck, whatever else it is. Those at the ends of the wait are no sign. */
static bool switches(const struct judge *j, uint32_t cpu, uint64_t in_way)
{
	uint64_t n = is_last(j, cpu) ? judge_fact(j, KD_F_SWITCHES) : KD_UNKNOWN;

	return n != KD_UNKNOWN && n > 3 && (!j->tick_ns || n > in_way / j->tick_ns / 2);
}

static bool outlasted_urgency(const struct judge *j)
{
	uint64_t urgent = judge_fact_or(j, KD_F_URGENT_NS, 0);
	uint64_t tick = j->tick_ns ? j->tick_ns : 10000000; /* the longest there is */

	return urgent && j->last_ns >= urgent + 6 * tick;
}

/*
 * Whether its task had been in user mode again and again. Once is no sign: the first tick may have come
 * before it entered the kernel for this stay.
 */
static bool passed_often(const struct ticks *t, uint64_t passes)
{
	return passes > 1 + t->n / 8;
}

/*
 * One stretch with preemption or softirqs off is a reader of RCU as well, also where no nesting is counted.
 * Now the one and now the other is a loop.
 */
static uint64_t ticks_inside(const struct ticks *t)
{
	if (!t->readers)
		return 0;
	return t->reader > t->barred ? t->reader : t->barred;
}

/*
 * In a reader whenever it was looked at. A loop of short readers can look so, as long as RCU has not
 * asked it to reschedule, unless its user registers tell that it was in user mode meanwhile.
 */
static bool is_one_reader(const struct judge *j, uint32_t cpu, const struct ticks *t,
			  const struct samples *s, bool *certain)
{
	uint64_t passes = judge_fact(j, KD_F_PASSES);
	uint64_t inside = ticks_inside(t);
	bool one_stay = passes <= 1 && judge_fact_or(j, KD_F_STACK_OFFSETS, 0);

	*certain = false;
	if (!inside || (passes != KD_UNKNOWN && passed_often(t, passes)))
		return false;
	/*
	 * One tick before the CPU had noticed the grace period, and the one that reported. In one stay some may
	 * have come before it was at its reader.
	 */
	if (s->bare_before || t->n - inside > 2)
		return one_stay && t->n >= 3 && inside >= t->n - t->n / 3;
	/* Registers that stay the same prove nothing: a loop of one call has the same each time. */
	*certain = t->n >= 3 && t->reader + 2 >= inside && is_last(j, cpu) && outlasted_urgency(j);
	return true;
}

static void say_passes(struct judge *j, uint32_t cpu, const struct ticks *t)
{
	uint64_t n = is_last(j, cpu) ? judge_fact(j, KD_F_PASSES) : KD_UNKNOWN;

	if (n == KD_UNKNOWN)
		return;
	if (passed_often(t, n))
		judge_say(j,
			  "between " P64 " pairs of ticks its task had been in user mode: many "
			  "short stays in the kernel, not one long one",
			  n);
	else if (judge_fact_or(j, KD_F_STACK_OFFSETS, 0))
		judge_say(j,
			  "neither its user registers nor the random offset of its kernel stack "
			  "changed%s: one stay in the kernel",
			  n ? " but for its beginning" : "");
	else
		judge_say(j,
			  "its user registers stayed the same%s: one stay in the kernel, or the "
			  "same call again and again",
			  n ? " but for its beginning" : "");
}

/* Both stand there: what ended as RCU asked for it was a loop rather, what ended before that a reader. */
static void be_either(struct judge *j, struct finding *f, uint64_t part)
{
	bool asked = judge_fact_or(j, KD_F_URGENT_NS, 0);
	struct finding *other = judge_find(j, asked ? CAUSE_LONG_READER : CAUSE_KERNEL_LOOP, part);

	f->cause = asked ? CAUSE_KERNEL_LOOP : CAUSE_LONG_READER;
	f->rather = true;
	other->who = f->who;
	other->seen = f->seen;
	judge_why(other,
		  "the same samples fit: nothing told a loop of short readers from one long one");
}

static void judge_stay(struct judge *j, uint32_t cpu, uint64_t part, const struct samples *s,
		       const struct ticks *t)
{
	bool sure, reader = is_one_reader(j, cpu, t, s, &sure);
	uint64_t n = is_last(j, cpu) ? judge_fact(j, KD_F_SWITCHES) : KD_UNKNOWN;
	struct finding *f = judge_find(j, reader ? CAUSE_LONG_READER : CAUSE_KERNEL_LOOP, part);
	char who[WHO_LEN], time[FMT_LEN];

	f->who = s->who;
	f->seen = s->seen;
	f->certain = s->who.pid && (!reader || sure);
	judge_why(f, "CPU " P32 " ran %s%s for %s%s", cpu, judge_name(who, sizeof(who), &f->who),
		  !reader ? " in the kernel"
		  : t->reader + 2 < ticks_inside(t)
			  ? ", with preemption or softirqs off at every sample,"
			  : ", in a reader at every sample,",
		  fmt_ns(time, sizeof(time), part),
		  n != KD_UNKNOWN && n <= 3 ? ", without a context switch" : "");
	say_ticks(j, cpu, t);
	say_passes(j, cpu, t);
	if (reader && !sure)
		be_either(j, f, part);
	/* Of the one that ended the wait, or is about to. */
	if (f->cause == CAUSE_KERNEL_LOOP &&
	    (is_last(j, cpu) || judge_fact(j, KD_F_LAST_CPU) == KD_UNKNOWN)) {
		reckon(j, t);
		say_odds(j);
	}
}

/* Ticks in the kernel for a fair part of that time, or it was seen there. */
static bool was_busy(const struct judge *j, uint64_t in_way, const struct samples *s,
		     const struct ticks *t)
{
	uint64_t kernel = t->n > t->user ? t->n - t->user : 0, each = j->tick_ns;
	uint64_t gap = judge_fact_or(j, KD_F_GAP_NS, in_way);

	if (!is_last(j, s->who.cpu) || !t->known || !j->tick_ns)
		return s->not_idle || kernel > 1;
	/* Where ticks come late, as in a guest, each stands for more; not where the CPU went idle for long. */
	if (kernel && gap < in_way / 2 && in_way / t->n > each)
		each = in_way / t->n;
	return kernel && judge_matters(kernel * each, in_way);
}

void judge_cpu(struct judge *j, uint32_t cpu, uint64_t until_ns)
{
	uint64_t in_way = until_ns > j->from_ns ? until_ns - j->from_ns : 0, known;
	struct samples s;
	struct ticks t;

	samples_of(j, cpu, until_ns, &s);
	t = ticks_of(j, cpu, &s);
	known = judge_machine(j, cpu);
	if (!known)
		known = judge_gap(j, cpu, until_ns, &s);
	else if (!j->machine_certain && s.gap && is_last(j, cpu))
		judge_gap(j, cpu, until_ns, &s); /* the same is seen of that */
	if (!known)
		known = judge_unreported(j, cpu, in_way, &s);
	in_way = in_way > known ? in_way - known : 0;
	if (known && !judge_matters(in_way, j->whole_ns))
		return;
	if (switches(j, cpu, in_way)) {
		judge_say(j, "CPU " P32 " switched tasks " P64 " times meanwhile: it was not stuck",
			  cpu, judge_fact(j, KD_F_SWITCHES));
		judge_need(j,
			   "CPU " P32
			   " switched tasks and still owed: rcu:rcu_quiescent_state_report "
			   "and rcu:rcu_utilization tell when it reported",
			   cpu);
	} else if (was_busy(j, in_way, &s, &t)) {
		judge_stay(j, cpu, in_way, &s, &t);
	} else if (s.idle || judge_fact(j, KD_F_HOW) == KD_HOW_FOR_IT) {
		judge_say(j, "CPU " P32 " was idle or in user mode: a scan had to see that for it",
			  cpu);
		judge_need(j, "why the scan came late: only the kthread in charge tells");
	} else {
		judge_need(j,
			   "no tick of CPU " P32 " was seen while it owed: a lower --over samples "
			   "earlier",
			   cpu);
	}
}

/* CPUs that reported before the last one, but were in the way for long all the same. */
void judge_other_cpus(struct judge *j, uint32_t but, uint64_t until_ns)
{
	uint64_t second = judge_fact_or(j, KD_F_SECOND_NS, until_ns);

	for (size_t i = 0; i < j->h->nwitness; i++) {
		const struct kd_rec_witness *w = &j->h->witness[i];
		uint64_t until;
		struct samples s;
		bool before = false;

		for (size_t k = 0; k < i; k++)
			before |= is_of(&j->h->witness[k], w->cpu);
		if (w->role != KD_ROLE_CPU || w->cpu == but || before)
			continue;
		samples_of(j, w->cpu, until_ns, &s);
		until = s.last_ns + j->tick_ns < second ? s.last_ns + j->tick_ns : second;
		/* One sample is a CPU on its way out; a task that was switched out later stands for itself. */
		if (s.not_idle < 2 || s.who.pid == judge_fact_or(j, KD_F_LAST_PID, 0) ||
		    until <= j->from_ns || !judge_matters(until - j->from_ns, j->whole_ns))
			continue;
		judge_cpu(j, w->cpu, until);
	}
}
