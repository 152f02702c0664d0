// SPDX-License-Identifier: GPL-2.0-only
/* verdict.c - weighs what the kinds of waits found against each other, and says which took most. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model.h"
#include "verdict_parts.h"

#define LEAST_ALSO 20 /* 1/20 of the wait: what is less is not worth a line */

/* --- for the files that judge --- */

void judge_say(struct judge *j, const char *fmt, ...)
{
	struct verdict *v = j->v;
	va_list args;

	if (v->nlines == VERDICT_LINES)
		return;
	va_start(args, fmt);
	vsnprintf(v->line[v->nlines++], VERDICT_LINE, fmt, args);
	va_end(args);
}

void judge_need(struct judge *j, const char *fmt, ...)
{
	va_list args;

	if (*j->v->need)
		return;
	va_start(args, fmt);
	vsnprintf(j->v->need, VERDICT_LINE, fmt, args);
	va_end(args);
}

struct finding *judge_find(struct judge *j, enum cause cause, uint64_t part_ns)
{
	struct finding *f = j->n < JUDGE_FOUND ? &j->found[j->n++] : &j->spare;

	memset(f, 0, sizeof(*f));
	f->cause = cause;
	f->part_ns = part_ns < j->whole_ns ? part_ns : j->whole_ns;
	f->who.cpu = f->other.cpu = KD_CPU_NONE;
	return f;
}

void judge_why(struct finding *f, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(f->why, sizeof(f->why), fmt, args);
	va_end(args);
}

/* A time beyond the wait's end is none; a stretch without ticks may have begun before it. */
uint64_t judge_fact(const struct judge *j, unsigned int fact)
{
	const struct fact_info *info = wait_fact(fact);
	uint64_t v = holdup_fact_or(j->h, fact);
	bool may_be_longer = fact == KD_F_GAP_NS || fact == KD_F_ALL_GAP_NS;

	if (!info || (info->unit == FACT_NS && v > j->whole_ns && !may_be_longer))
		return KD_UNKNOWN;
	return v;
}

uint64_t judge_fact_or(const struct judge *j, unsigned int fact, uint64_t absent)
{
	uint64_t v = judge_fact(j, fact);

	return v == KD_UNKNOWN ? absent : v;
}

uint64_t judge_when(const struct judge *j, const struct kd_rec_witness *w)
{
	uint64_t begin = j->h->rec.begin_ns;

	return w->mono_ns > begin ? w->mono_ns - begin : 0;
}

bool judge_matters(uint64_t part_ns, uint64_t of_ns)
{
	return part_ns != KD_UNKNOWN && part_ns && part_ns >= of_ns / 4;
}

void culprit_take(struct culprit *c, const struct kd_rec_witness *w)
{
	*c = (struct culprit){ .cpu = w->cpu, .pid = w->pid, .tgid = w->tgid, .cgroup = w->cgroup };
	memcpy(c->comm, w->comm, sizeof(c->comm));
}

const char *judge_name(char *buf, size_t size, const struct culprit *c)
{
	char comm[4 * sizeof(c->comm) + 1];

	if (!c->pid)
		snprintf(buf, size, "a task that was not seen");
	else if (!*c->comm)
		snprintf(buf, size, "pid %" PRIu32, c->pid);
	else
		snprintf(buf, size, "%s (pid %" PRIu32 ")", fmt_safe(comm, sizeof(comm), c->comm),
			 c->pid);
	return buf;
}

const struct kd_rec_witness *judge_seen(const struct judge *j, unsigned int role, uint32_t pid)
{
	const struct kd_rec_witness *last = NULL;

	for (size_t i = 0; i < j->h->nwitness; i++) {
		const struct kd_rec_witness *w = &j->h->witness[i];

		if (w->role == role && (!pid || w->pid == pid))
			last = w;
	}
	return last;
}

/* Whoever was seen most often; the idle task runs in nobody's stead. */
const struct kd_rec_witness *judge_rival(const struct judge *j, uint32_t of_pid, uint32_t cpu,
					 struct culprit *c)
{
	const struct kd_rec_witness *best = NULL;
	size_t most = 0;

	memset(c, 0, sizeof(*c));
	c->cpu = KD_CPU_NONE;
	for (size_t i = 0; i < j->h->nwitness; i++) {
		const struct kd_rec_witness *w = &j->h->witness[i];
		size_t times = 0;

		if (w->role != KD_ROLE_RIVAL || w->flags & KD_WIT_IDLE || !w->pid ||
		    (of_pid && w->of_pid && w->of_pid != of_pid) ||
		    (cpu != KD_CPU_NONE && w->cpu != cpu))
			continue;
		for (size_t k = 0; k <= i; k++)
			times += j->h->witness[k].role == KD_ROLE_RIVAL &&
				 j->h->witness[k].pid == w->pid;
		if (times >= most) {
			most = times;
			best = w;
		}
	}
	if (best)
		culprit_take(c, best);
	return best;
}

/* --- stacks --- */

/* The next function of a stack: its beginning, NULL at the end; where in it that is does not count. */
static const char *function_in(const char **stack, size_t *len)
{
	const char *at = *stack + strspn(*stack, " ");

	*stack = at + strcspn(at, " ");
	*len = strcspn(at, "+ ");
	return *len && strncmp(at, "0x0", 3) ? at : NULL;
}

static bool has_function(const char *stack, const char *name, size_t len)
{
	const char *at;
	size_t n;

	while ((at = function_in(&stack, &n)))
		if (n == len && !strncmp(at, name, len))
			return true;
	return false;
}

static size_t in_common(const char *a, const char *b)
{
	const char *at;
	size_t len, n = 0;

	while ((at = function_in(&a, &len)))
		n += has_function(b, at, len);
	return n;
}

/* Callers are known: not so where a tick lands in the middle of an indirect call. */
static bool is_unwound(const struct kd_rec_witness *w)
{
	return witness_frame(w, 1, NULL, 0);
}

const struct kd_rec_witness *judge_typical(const struct judge *j, uint32_t pid, judge_which which,
					   uint32_t cpu)
{
	const struct holdup *h = j->h;
	const struct kd_rec_witness *best = NULL;
	size_t most = 0;

	for (size_t i = 0; i < h->nwitness; i++) {
		const struct kd_rec_witness *w = &h->witness[i];
		size_t n = 0;

		if (w->pid != pid || !*w->stack || !which(w, cpu))
			continue;
		for (size_t k = 0; k < h->nwitness; k++)
			if (h->witness[k].pid == pid && which(&h->witness[k], cpu))
				n += in_common(w->stack, h->witness[k].stack);
		if (is_unwound(w))
			n *= HOLDUP_WITNESSES + 1;
		if (!best || n >= most) {
			most = n;
			best = w;
		}
	}
	return best;
}

void judge_candidate(struct judge *j, const struct kd_rec_witness *w)
{
	struct verdict *v = j->v;

	for (size_t i = 0; i < v->ncandidates; i++)
		if (v->candidates[i].pid == w->pid && (w->pid || v->candidates[i].cpu == w->cpu))
			return;
	if (v->ncandidates < VERDICT_CANDIDATES)
		culprit_take(&v->candidates[v->ncandidates++], w);
}

/* --- the machine below --- */

/*
 * The first tick after it found user mode, where interrupts are never off. In the kernel they may have been,
 * on all CPUs at once: they spin for a lock so.
 */
static bool user_mode_stood_still(const struct judge *j, uint64_t gap_ns)
{
	for (size_t i = 0; i < j->h->nwitness; i++) {
		const struct kd_rec_witness *w = &j->h->witness[i];

		if (w->flags & KD_WIT_GAP && w->flags & KD_WIT_USER && !(w->flags & KD_WIT_IDLE) &&
		    w->pid && w->gap_ns >= gap_ns - gap_ns / 4)
			return true;
	}
	return false;
}

static uint64_t stolen(struct judge *j, uint32_t cpu)
{
	uint64_t steal = judge_fact(j, KD_F_STEAL_NS);
	char time[FMT_LEN];
	struct finding *f;

	if (!judge_matters(steal, j->whole_ns))
		return 0;
	f = judge_find(j, CAUSE_VCPU_PREEMPTED, steal);
	f->certain = j->machine_certain = true;
	f->who.cpu = cpu;
	judge_why(f, "the hypervisor took %s from CPU %" PRIu32 " meanwhile",
		  fmt_ns(time, sizeof(time), steal), cpu);
	return steal;
}

/*
 * All CPUs, and not just the one that was waited for, for longer than the others. On one CPU alone this
 * looks the same as interrupts that were off.
 */
static uint64_t stood_still(struct judge *j)
{
	uint64_t gap = judge_fact(j, KD_F_ALL_GAP_NS), one = judge_fact_or(j, KD_F_GAP_NS, 0);
	char time[FMT_LEN];
	struct finding *f;

	if (!judge_matters(gap, j->whole_ns) || j->host->cpus == 1 ||
	    (gap < one - one / 4 && !judge_fact_or(j, KD_F_LAST_PID, 0)))
		return 0;
	f = judge_find(j, CAUSE_VCPU_PREEMPTED, gap);
	f->certain = j->machine_certain = user_mode_stood_still(j, gap);
	judge_why(f, "no CPU had a tick for %s: the whole machine stood still",
		  fmt_ns(time, sizeof(time), gap));
	return gap;
}

uint64_t judge_machine(struct judge *j, uint32_t cpu)
{
	if (!j->machine_judged) {
		j->machine_judged = true;
		j->machine_ns = stolen(j, cpu);
		if (!j->machine_ns)
			j->machine_ns = stood_still(j);
	}
	return j->machine_ns;
}

/* --- weighing --- */

static bool goes_before(const struct finding *a, const struct finding *b)
{
	uint64_t more = a->part_ns > b->part_ns ? a->part_ns : b->part_ns;
	uint64_t less = a->part_ns > b->part_ns ? b->part_ns : a->part_ns;

	/* Parts are known to within some ticks: those that are nearly equal go by the order of tests. */
	if (more - less > more / 10 || a->cause == b->cause)
		return a->part_ns > b->part_ns;
	return a->rather != b->rather ? a->rather : a->cause < b->cause;
}

static void sort(struct judge *j)
{
	for (size_t i = 1; i < j->n; i++)
		for (size_t k = i; k && goes_before(&j->found[k], &j->found[k - 1]); k--) {
			struct finding f = j->found[k];

			j->found[k] = j->found[k - 1];
			j->found[k - 1] = f;
		}
}

static void add_also(struct judge *j, const struct finding *f)
{
	struct verdict *v = j->v;

	if (v->nalso < VERDICT_FINDINGS && f->part_ns && f->part_ns >= j->whole_ns / LEAST_ALSO)
		v->also[v->nalso++] = *f;
}

static void be_unknown(struct judge *j)
{
	struct finding *f = &j->v->is;
	uint64_t explained = j->n ? j->found[0].part_ns : 0;

	memset(f, 0, sizeof(*f));
	f->cause = CAUSE_UNKNOWN;
	f->part_ns = j->whole_ns - explained;
	f->who.cpu = f->other.cpu = KD_CPU_NONE;
	judge_need(j,
		   "nobody was seen in the way: samples are taken once a wait is over its limit; a "
		   "lower --over takes more");
}

static void weigh(struct judge *j)
{
	size_t i = 0;

	sort(j);
	if (j->n && judge_matters(j->found[0].part_ns, j->whole_ns))
		j->v->is = j->found[i++];
	else
		be_unknown(j);
	for (; i < j->n; i++)
		add_also(j, &j->found[i]);
	if (j->v->is.cause != CAUSE_UNKNOWN)
		j->v->need[0] = '\0';
}

void verdict_of(struct verdict *v, const struct verdict_host *host, const struct holdup *h,
		const struct holdup *gp)
{
	struct judge j = {
		.host = host,
		.h = h,
		.gp = gp,
		.v = v,
		.whole_ns = holdup_ns(h),
		.tick_ns = host->hz ? 1000000000 / host->hz : 0,
		.last_ns = holdup_ns(h),
	};

	memset(v, 0, sizeof(*v));
	v->alone_ns = KD_UNKNOWN;
	switch (h->rec.what) {
	case KD_WAIT_GP:
		judge_gp(&j);
		break;
	case KD_WAIT_CALLBACK:
		judge_callback(&j);
		break;
	case KD_WAIT_RUN:
		judge_run(&j);
		break;
	case KD_WAIT_CALLER:
		judge_caller(&j);
		break;
	default:
		judge_rstat(&j);
	}
	weigh(&j);
}

void verdict_in(struct verdict *v, const struct model *m, const struct holdup *h)
{
	const struct verdict_host host = verdict_host_of(m);

	verdict_of(v, &host, h, holdups_behind(&m->holdups, h));
}

struct verdict_host verdict_host_of(const struct model *m)
{
	const char *rcu = model_fact(m, "preempt_rcu");
	uint64_t hz = model_fact_u64(m, "hz", 0);

	return (struct verdict_host){
		.hz = hz <= 1000000 ? hz : 0,
		.preempt_rcu = rcu && !strcmp(rcu, "yes"),
		.preempt_rcu_known = rcu,
		.sched_qs_jiffies = model_fact_u64(m, "to_sched_qs_jiffies", 0) % 1000000,
		.cpus = model_fact_u64(m, "cpus_online", 0),
		.possible_cpus = model_fact_u64(m, "cpus_possible", 0),
		.virtual = model_fact(m, "hypervisor"),
	};
}

double verdict_share(const struct finding *f, const struct holdup *h)
{
	uint64_t whole = holdup_ns(h);

	return whole ? (double)f->part_ns / (double)whole : 0;
}
