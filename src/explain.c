// SPDX-License-Identifier: GPL-2.0-only
/*
 * explain.c - what a measure hooks, what that means, and how to check its number without kdefer.
 *
 * The check uses the kernel's own events and histogram triggers. A wait or a grace period begins and
 * ends in one thread, so its two ends are joined by thread; a callback's are joined by its head.
 */
#include <stdio.h>
#include <string.h>

#include "catalog.h"
#include "explain.h"
#include "explain_words.h"
#include "kernel.h"
#include "plan.h"
#include "text.h"

#define TRACING "/sys/kernel/tracing"

/* The way that is used, or the best that there would be. */
static const struct plan_way *way_of(const struct plan_entry *e)
{
	return e->way ? e->way : e->measure->ways;
}

static bool said_before(const struct plan_way *way, int hook)
{
	for (int i = 0; i < hook; i++)
		if (!strcmp(way->hooks[i].target, way->hooks[hook].target))
			return true;
	return false;
}

static void put_row(FILE *out, const struct plan_entry *e, size_t width)
{
	const struct plan_way *way = way_of(e);
	const char *flavour = flavour_name(e->measure->flavour);
	char text[512];

	snprintf(text, sizeof(text), "%s: %s by %s%s%s", flavour ? flavour : "all",
		 plan_state_name(e->state), backend_name(way->backend), *e->reason ? "; " : "",
		 e->reason);
	fputc('\n', out);
	text_wrap(out, text, 0, 2, width);
	for (int i = 0; way->hooks[i].program; i++) {
		if (said_before(way, i))
			continue;
		snprintf(text, sizeof(text), "%s: %s", way->hooks[i].target,
			 explain_meaning(way->hooks[i].target));
		fputs("  ", out);
		text_wrap(out, text, 2, 4, width);
	}
}

static void put_state(FILE *out, unsigned int measure, size_t width)
{
	const char *text;

	for (size_t i = 0; (text = explain_state(measure, i)); i++) {
		fputc('\n', out);
		text_wrap(out, text, 0, 0, width);
	}
}

/* --- the check --- */

/* Taken as traceable unless it is known not to be. */
static bool can_trace(const struct kernel *k, const char *function)
{
	return kernel_has_text(k, function) != NO && kernel_traceable(k, function) != NO;
}

static void put_callbacks(FILE *out, bool fprobe)
{
	const char *events = "events/kdcheck";

	fprintf(out,
		"echo '%s:kdcheck/enq rcu_segcblist_enqueue head=$arg2 func=+8($arg2)' >> dynamic_events\n"
		"echo '%s' >> dynamic_events\n",
		fprobe ? "f" : "p",
		fprobe ? "f:kdcheck/deq rcu_cblist_dequeue%return head=$retval"
		       : "r:kdcheck/deq rcu_cblist_dequeue head=$retval");
	fputs("echo 'kdcheck_wait u64 us; u64 func' >> synthetic_events\n", out);
	fprintf(out,
		"echo 'hist:keys=head:ts0=common_timestamp.usecs,f=func:size=65536' > %s/enq/trigger\n",
		events);
	fprintf(out,
		"echo 'hist:keys=head:us=common_timestamp.usecs-$ts0,fn=$f:onmatch(kdcheck.enq)"
		".trace(kdcheck_wait,$us,$fn):size=65536' > %s/deq/trigger\n",
		events);
	fputs("echo 'hist:keys=func.sym,us.log2:sort=func,us' > events/synthetic/kdcheck_wait/trigger\n"
	      "sleep 10\n"
	      "cat events/synthetic/kdcheck_wait/hist\n"
	      "# put everything back:\n"
	      "echo '!hist:keys=func.sym,us.log2' > events/synthetic/kdcheck_wait/trigger\n",
	      out);
	fprintf(out,
		"echo '!hist:keys=head:us=common_timestamp.usecs-$ts0,fn=$f:onmatch(kdcheck.enq)"
		".trace(kdcheck_wait,$us,$fn):size=65536' > %s/deq/trigger\n",
		events);
	fprintf(out,
		"echo '!hist:keys=head:ts0=common_timestamp.usecs,f=func:size=65536' > %s/enq/trigger\n",
		events);
	fputs("echo '!kdcheck_wait' >> synthetic_events\n"
	      "echo '-:kdcheck/enq' >> dynamic_events\n"
	      "echo '-:kdcheck/deq' >> dynamic_events\n",
	      out);
}

#define PAIRS_MAX 32

/* Functions between which the time is taken: entry of the one to return of the other. */
struct pairs {
	const char *begin[PAIRS_MAX], *end[PAIRS_MAX];
	size_t n;
	bool by_work; /* some end is not seen in the thread of its beginning */
};

static void add_pair(struct pairs *p, const char *begin, const char *end)
{
	for (size_t i = 0; i < p->n; i++)
		if (!strcmp(p->begin[i], begin))
			return;
	if (p->n == PAIRS_MAX)
		return;
	p->begin[p->n] = begin;
	p->end[p->n++] = end;
}

/* Programs NAME_in and NAME_out are the two ends. */
static const char *other_end(const struct plan_way *way, const char *in, size_t stem)
{
	for (const struct plan_hook *h = way->hooks; h->program; h++)
		if (!strncmp(h->program, in, stem) && !strcmp(h->program + stem, "_out"))
			return h->target;
	return NULL;
}

static void collect_pairs(struct pairs *p, const struct kernel *k, const struct plan_way *way)
{
	for (const struct plan_hook *h = way->hooks; h->program; h++) {
		size_t len = strlen(h->program);
		const char *end;

		if (len < 4 || strcmp(h->program + len - 3, "_in"))
			continue;
		end = other_end(way, h->program, len - 3);
		if (!end || !can_trace(k, h->target) || !can_trace(k, end))
			continue;
		if (!strcmp(end, "process_srcu"))
			p->by_work = true;
		else
			add_pair(p, h->target, end);
	}
}

/* A loop over the pairs, for they are many and alike. */
static void put_for(FILE *out, const struct pairs *p)
{
	fputs("for pair in", out);
	for (size_t i = 0; i < p->n; i++)
		fprintf(out, "%s%s:%s", i % 2 ? " " : " \\\n\t", p->begin[i], p->end[i]);
	fputs("; do\n\tb=${pair%:*} e=${pair#*:}\n", out);
}

static void put_spans(FILE *out, const struct pairs *p, bool fprobe)
{
	static const char on[] =
		"hist:keys=common_pid:us=common_timestamp.usecs-\\$ts0:onmatch(kdcheck.in_$b)"
		".trace(kdcheck_$b,\\$us)";

	put_for(out, p);
	fprintf(out,
		"\techo \"%s:kdcheck/in_$b $b\" >> dynamic_events\n"
		"\techo \"%s\" >> dynamic_events\n",
		fprobe ? "f" : "p", fprobe ? "f:kdcheck/out_$b $e%return" : "r:kdcheck/out_$b $e");
	fputs("\techo \"kdcheck_$b u64 us\" >> synthetic_events\n"
	      "\techo 'hist:keys=common_pid:ts0=common_timestamp.usecs' > events/kdcheck/in_$b/trigger\n",
	      out);
	fprintf(out, "\techo \"%s\" > events/kdcheck/out_$b/trigger\n", on);
	fputs("\techo 'hist:keys=us.log2:sort=us' > events/synthetic/kdcheck_$b/trigger\n"
	      "done\n"
	      "sleep 10\n"
	      "for h in events/synthetic/kdcheck_*/hist; do echo \"$h\"; cat \"$h\"; done\n"
	      "# put everything back:\n",
	      out);
	put_for(out, p);
	fputs("\techo '!hist:keys=us.log2:sort=us' > events/synthetic/kdcheck_$b/trigger\n", out);
	fprintf(out, "\techo \"!%s\" > events/kdcheck/out_$b/trigger\n", on);
	fputs("\techo '!hist:keys=common_pid:ts0=common_timestamp.usecs' > events/kdcheck/in_$b/trigger\n"
	      "\techo \"!kdcheck_$b\" >> synthetic_events\n"
	      "\techo \"-:kdcheck/in_$b\" >> dynamic_events\n"
	      "\techo \"-:kdcheck/out_$b\" >> dynamic_events\n"
	      "done\n",
	      out);
}

/* Tracepoints between which the time is taken, both in one task. */
static const struct span {
	unsigned int measure; /* enum kd_measure_id */
	const char *begin, *end;
	const char *note;
} spans[] = {
	{ KD_M_RSTAT_HOLD, "cgroup_rstat_locked", "cgroup_rstat_unlock", NULL },
	{ KD_M_RSTAT_WAIT, "cgroup_rstat_lock_contended", "cgroup_rstat_locked",
	  "(These are the waits that were not over at once.)" },
};

static bool has_hook(const struct plan *p, const char *target)
{
	for (size_t i = 0; i < p->n; i++)
		for (const struct plan_hook *h = way_of(&p->entry[i])->hooks; h->program; h++)
			if (!strcmp(h->target, target))
				return true;
	return false;
}

static const struct span *span_of(const struct plan *p)
{
	for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++)
		if (spans[i].measure == p->entry[0].measure->measure &&
		    has_hook(p, spans[i].begin) && has_hook(p, spans[i].end))
			return &spans[i];
	return NULL;
}

static void put_span(FILE *out, const struct span *sp)
{
	static const char begin[] = "hist:keys=common_pid:ts0=common_timestamp.usecs";
	char end[160];

	snprintf(end, sizeof(end),
		 "hist:keys=common_pid:us=common_timestamp.usecs-$ts0:onmatch(cgroup.%s)"
		 ".trace(kdcheck_span,$us)",
		 sp->begin);
	fprintf(out,
		"echo 'kdcheck_span u64 us' >> synthetic_events\n"
		"echo '%s' > events/cgroup/%s/trigger\n"
		"echo '%s' > events/cgroup/%s/trigger\n"
		"echo 'hist:keys=us.log2:sort=us' > events/synthetic/kdcheck_span/trigger\n"
		"sleep 10\n"
		"cat events/synthetic/kdcheck_span/hist\n"
		"# put everything back:\n"
		"echo '!hist:keys=us.log2:sort=us' > events/synthetic/kdcheck_span/trigger\n"
		"echo '!%s' > events/cgroup/%s/trigger\n"
		"echo '!%s' > events/cgroup/%s/trigger\n"
		"echo '!kdcheck_span' >> synthetic_events\n",
		begin, sp->begin, end, sp->end, end, sp->end, begin, sp->begin);
}

/* Where the number of free objects is, from the argument of the refill work. -1: not to be told. */
static int free_count_at(const struct kernel *k)
{
	int count = kernel_field_at(k, "bpf_mem_cache", "free_cnt"),
	    work = kernel_field_at(k, "bpf_mem_cache", "refill_work");

	return count >= 0 && work >= 0 && count > work && can_trace(k, "bpf_mem_refill")
		       ? count - work
		       : -1;
}

/* A count and no time: refills by how many objects were left. */
static void put_refills(FILE *out, int count_at, bool fprobe)
{
	fprintf(out,
		"echo '%s:kdcheck/refill bpf_mem_refill free=+%d($arg1):s32' >> dynamic_events\n"
		"echo 'hist:keys=free:sort=free' > events/kdcheck/refill/trigger\n"
		"sleep 10\n"
		"cat events/kdcheck/refill/hist\n"
		"# the number is the hits of \"free: 0\"; put everything back:\n"
		"echo '!hist:keys=free:sort=free' > events/kdcheck/refill/trigger\n"
		"echo '-:kdcheck/refill' >> dynamic_events\n",
		fprobe ? "f" : "p", count_at);
}

#define TIMES "times in microseconds, by powers of two"

static void put_intro(FILE *out, const char *shown, bool fprobe, size_t width)
{
	char text[256];

	snprintf(
		text, sizeof(text),
		"To check the number without kdefer, paste this into a root shell (it watches for ten "
		"seconds; %s):",
		shown);
	fputc('\n', out);
	text_wrap(out, text, 0, 0, width);
	if (!fprobe)
		text_wrap(
			out,
			"This kernel has no fprobe events. Its kprobe events may miss some returns, in "
			"bursts: see the last column of kprobe_profile.",
			0, 0, width);
	fputs("\ncd " TRACING "\n", out);
}

static void put_no_check(FILE *out, size_t width)
{
	text_wrap(
		out,
		"The tracefs of this kernel has no pair of events between which this is the time: "
		"there is no way to check the number with it.",
		0, 0, width);
}

static void put_check(FILE *out, const struct kernel *k, const struct plan *p, bool fprobe,
		      size_t width)
{
	const struct span *span = span_of(p);
	struct pairs pairs = { .n = 0 };
	/* Batches of BPF memory are callbacks among others: paired by head, shown by function. */
	bool callbacks = p->entry[0].measure->source == KD_SRC_CALL_RCU ||
			 p->entry[0].measure->measure == KD_M_MEMALLOC_LATENCY;

	if (p->entry[0].measure->measure == KD_M_MEMALLOC_REFILL_FAILED) {
		int at = free_count_at(k);

		if (at < 0) {
			put_no_check(out, width);
			return;
		}
		put_intro(out, "refills by the objects that were left", fprobe, width);
		put_refills(out, at, fprobe);
		return;
	}
	if (span) {
		if (span->note)
			text_wrap(out, span->note, 0, 0, width);
		put_intro(out, TIMES, true, width); /* no function, and so no return, is traced */
		put_span(out, span);
		return;
	}
	for (size_t i = 0; i < p->n && !callbacks; i++)
		collect_pairs(&pairs, k, way_of(&p->entry[i]));
	if (pairs.by_work)
		text_wrap(
			out,
			"(The two ends of an SRCU grace period are in different threads: the commands leave "
			"it out.)",
			0, 0, width);
	if (callbacks &&
	    (!can_trace(k, "rcu_segcblist_enqueue") || !can_trace(k, "rcu_cblist_dequeue")))
		callbacks = false;
	if (!callbacks && !pairs.n) {
		put_no_check(out, width);
		return;
	}
	put_intro(out, TIMES, fprobe, width);
	if (callbacks)
		put_callbacks(out, fprobe);
	else
		put_spans(out, &pairs, fprobe);
}

void explain(FILE *out, const struct kernel *k, const struct plan *p, bool fprobe, size_t width)
{
	const struct measure_info *info = p->n ? measure_info(p->entry[0].measure->measure) : NULL;
	char text[512];

	if (!info)
		return;
	snprintf(text, sizeof(text), "%s.%s: %s, in %s", source_name(info->source), info->name,
		 info->what, unit_name(info->unit));
	text_wrap(out, text, 0, 2, width);
	for (size_t i = 0; i < p->n; i++)
		put_row(out, &p->entry[i], width);
	if (info->pending || info->holdup)
		put_state(out, info->id, width);
	else
		put_check(out, k, p, fprobe, width);
}

bool explain_fprobe(void)
{
	FILE *f = fopen(TRACING "/README", "re");
	char line[512];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f))
		found = strstr(line, "f[:") != NULL;
	if (f)
		fclose(f);
	return found;
}
