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
#include "kernel.h"
#include "plan.h"
#include "text.h"

#define TRACING "/sys/kernel/tracing"

static const struct {
	const char *function, *meaning;
} meanings[] = {
	{ "rcu_segcblist_enqueue", "a callback joins its CPU's list: its wait begins" },
	{ "rcu_cblist_dequeue", "a callback is taken off its list to be run: its wait ends" },
	{ "rcu_segcblist_extract_done_cbs", "a batch leaves a CPU's list: whose batch it is" },
	{ "rcu_cblist_enqueue", "a callback of an offloaded CPU goes to the bypass list" },
	{ "rcu_cblist_flush_enqueue", "the bypass list is emptied into the CPU's list" },
	{ "__call_rcu_common", "whether the callback may wait for company (lazy)" },
	{ "rcutree_migrate_callbacks", "a CPU goes offline: its callbacks move" },
	{ "srcu_gp_start_if_needed", "an SRCU callback is handed over, synchronize_srcu()'s too" },
	{ "call_rcu_tasks_generic", "a Tasks callback of any kind is handed over" },
	{ "kvfree_call_rcu", "memory is handed over to be freed after a grace period" },
	{ "kfree_call_rcu_nolock", "the same, of those who may take no lock" },
	{ "kvfree_rcu_bulk", "a page of such memory's addresses is freed" },
	{ "kvfree_rcu_list", "such memory for which there was no page is freed" },
	{ "kfree_rcu_work", "such memory whose grace period is over is freed" },
	{ "rcu_free_sheaf", "such memory of one slab cache is freed together" },
	{ "rcu_free_sheaf_nobarn", "the same, where the cache keeps no sheaves" },
	{ "rcu_gp_init", "a normal grace period begins" },
	{ "rcu_gp_fqs_loop", "it is initialised, and waits for quiescent states" },
	{ "force_qs_rnp", "a scan for CPUs that are idle, which are reported then" },
	{ "rcu_report_qs_rnp", "a quiescent state is reported: whose, and by whom" },
	{ "rcu_gp_kthread_wake", "all is reported: by whom, where it was a preempted reader" },
	{ "rcu_gp_cleanup", "a normal grace period ends" },
	{ "sync_rcu_exp_select_cpus", "an expedited grace period begins" },
	{ "rcu_exp_wait_wake", "an expedited grace period is waited for, and ends" },
	{ "synchronize_rcu_expedited_wait_once",
	  "an expedited grace period is waited for: its end" },
	{ "rcu_report_exp_cpu_mult", "quiescent states for the expedited one: whose, by whom" },
	{ "__rcu_report_exp_rnp", "a preempted reader was the last that it waited for" },
	{ "rcu_tasks_wait_gp", "a Tasks (or Tasks Trace) grace period, begin and end" },
	{ "rcu_tasks_postscan", "all tasks that a Tasks grace period waits for are found" },
	{ "rcu_tasks_trace_postscan", "all readers that Tasks Trace waits for are found" },
	{ "check_all_holdout_tasks", "the scan of tasks that are still waited for" },
	{ "check_all_holdout_tasks_trace", "the scan of readers that are still waited for" },
	{ "rcu_tasks_rude_wait_gp", "a Tasks Rude grace period, begin and end" },
	{ "srcu_gp_start", "an SRCU grace period begins" },
	{ "process_srcu", "the work that carries an SRCU grace period on, to its end" },
	{ "cleanup_srcu_struct", "an SRCU domain goes" },
	{ "call_rcu_hurry", "a callback is handed over to RCU, not to wait for company" },
	{ "call_rcu", "a callback is handed over to RCU" },
	{ "call_rcu_tasks_trace", "a callback is handed over to RCU Tasks Trace" },
	{ "call_srcu", "a callback is handed over to SRCU, which Tasks Trace is since 7.0" },
	{ "__free_by_rcu", "freed BPF memory has waited for RCU" },
	{ "__free_rcu_tasks_trace", "freed BPF memory has waited for Tasks Trace" },
	{ "__free_rcu", "freed BPF memory has waited for the last of its grace periods" },
	{ "bpf_mem_refill",
	  "a CPU's list of free BPF objects is filled or drained, entry and return" },
	{ "bpf_mem_alloc_init",
	  "an allocator is made: whose it is shows when the map has its number" },
	{ "bpf_mem_alloc_destroy", "an allocator goes: its memory may be another's soon" },
	{ "bpf_mem_cache", "the lists of an allocator on each CPU: read there, nothing is hooked" },
	{ "rcu_data.cblist", "a CPU's callback list: four segments, bypass, batch being invoked" },
	{ "srcu_data.srcu_cblist", "the callback list of a CPU and SRCU domain" },
	{ "rcu_tasks__percpu.cblist", "the callback lists of RCU Tasks" },
	{ "rcu_tasks_rude__percpu.cblist", "the callback lists of RCU Tasks Rude" },
	{ "rcu_tasks_trace__percpu.cblist", "the callback lists of RCU Tasks Trace" },
	{ "rcu_tasks_trace_srcu_struct.srcu_cblist", "the callback lists of Tasks Trace's domain" },
	{ "krc", "objects of kfree_rcu() that are gathered, and batches behind a grace period" },
	{ "rcu_state.gp_seq",
	  "the normal grace period; CPUs and preempted readers that owe, by node" },
	{ "rcu_state.expedited_sequence", "the expedited one, and who owes it" },
	{ "srcu_struct.srcu_gp_seq", "the grace period of each SRCU domain" },
	{ "rcu_tasks.tasks_gp_seq", "the Tasks grace period; tasks that are marked as held for" },
	{ "rcu_tasks_rude.tasks_gp_seq", "the Tasks Rude grace period" },
	{ "rcu_tasks_trace.tasks_gp_seq",
	  "the Tasks Trace grace period; readers that it waits for" },
	{ "rcu_tasks_trace_srcu_struct.srcu_gp_seq",
	  "the grace period of Tasks Trace's domain; tasks that read on its old counters" },
	{ "css_rstat_flush", "a flush of one subsystem's statistics, entry and return" },
	{ "cgroup_rstat_flush", "a flush of all statistics, entry and return" },
	{ "cgroup_rstat_flush_irqsafe", "a flush with interrupts off from entry to return" },
	{ "cgroup_rstat_flush_hold", "a flush that keeps the lock for its caller" },
	{ "cgroup_rstat_flush_locked", "entered with the lock held: the wait for it is over" },
	{ "cgroup_rstat_lock_contended", "the lock is taken: the wait for it begins" },
	{ "cgroup_rstat_locked", "the lock is got: the wait ends, the hold begins" },
	{ "cgroup_rstat_unlock", "the lock is about to be given up: the hold ends" },
	{ "rcu_sched_clock_irq",
	  "a tick: interrupts were on, or the tick was late; what it interrupts" },
	{ "bpf_rstat_flush", "a flush visits a cgroup (base statistics)" },
	{ "mem_cgroup_css_rstat_flush", "a flush visits a memory cgroup" },
	{ "blkcg_rstat_flush", "a flush visits a cgroup of io" },
	{ "irq_handler_entry", "a device's interrupt handler begins" },
	{ "irq_handler_exit", "a device's interrupt handler ends" },
	{ "softirq_entry", "a softirq begins" },
	{ "softirq_exit", "a softirq ends" },
	{ "local_timer_entry", "the interrupt of the CPU's own timer begins" },
	{ "local_timer_exit", "the interrupt of the CPU's own timer ends" },
	{ "reschedule_entry", "an interrupt that asks for another task begins" },
	{ "reschedule_exit", "an interrupt that asks for another task ends" },
	{ "call_function_entry", "a function that another CPU asks of several begins" },
	{ "call_function_exit", "a function that another CPU asks of several ends" },
	{ "call_function_single_entry", "a function that another CPU asks for begins" },
	{ "call_function_single_exit", "a function that another CPU asks for ends" },
	{ "irq_work_entry", "work that was put off to an interrupt begins" },
	{ "irq_work_exit", "work that was put off to an interrupt ends" },
	{ "sched_switch", "a task leaves its CPU to another" },
};

static const char *meaning(const char *function)
{
	for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++)
		if (!strcmp(meanings[i].function, function))
			return meanings[i].meaning;
	return "called to wait: its entry and its return";
}

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
			 meaning(way->hooks[i].target));
		fputs("  ", out);
		text_wrap(out, text, 2, 4, width);
	}
}

/* --- what is read as state --- */

/* No event tells it: what the words mean, and what else of the kernel's says the same. */
static const struct {
	unsigned int measure; /* enum kd_measure_id */
	const char *text;
} states[] = {
	{ KD_M_CALL_RCU_PENDING,
	  "A callback is in one list at a time, and the lists of a flavour add up to what waits. done: "
	  "its grace period is over, and it waits for its turn; wait: for the grace period under way, "
	  "as far as its CPU knows; next_ready: for the one after it; next: not assigned yet; lazy and "
	  "bypass: of offloaded CPUs, before they join the list; invoking: the batch being run now, "
	  "with what of it has run already, until all of it has." },
	{ KD_M_CALL_RCU_PENDING,
	  "A CPU's own list is read on that CPU, all lengths at one moment. Lists that others may change "
	  "meanwhile (of offloaded CPUs, of the other flavours) are read from afar, one length after "
	  "another, and marked as not exact. No event of tracefs tells lengths of lists; RCU stall "
	  "warnings print the sum of RCU's as q=." },
	{ KD_M_RCU_GP_HOLDUP,
	  "Nothing is sent of a grace period that ends in time. Of one that is longer than the limit: its "
	  "phases, whose report was the last, what the ticks of that CPU interrupted from the beginning "
	  "on, and from the limit on what runs on CPUs that are still waited for, with its stack. How long "
	  "it was can be checked as rcu_gp.duration, plus what it waited to be started." },
	{ KD_M_RCU_GP_PENDING,
	  "The number is the kernel's own: RCU stall warnings print it as g=. Its lowest two bits are 0 "
	  "when no grace period is under way. The age is in ticks of the kernel's clock." },
	{ KD_M_RCU_GP_PENDING,
	  "The CPU that looks may owe a quiescent state just because it looks: while our program runs, "
	  "for less than a millisecond." },
};

static void put_state(FILE *out, unsigned int measure, size_t width)
{
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if (states[i].measure == measure) {
			fputc('\n', out);
			text_wrap(out, states[i].text, 0, 0, width);
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

static void put_intro(FILE *out, bool fprobe, size_t width)
{
	fputc('\n', out);
	text_wrap(
		out,
		"To check the number without kdefer, paste this into a root shell (it watches for ten "
		"seconds; times in microseconds, by powers of two):",
		0, 0, width);
	if (!fprobe)
		text_wrap(
			out,
			"This kernel has no fprobe events. Its kprobe events may miss some returns, in "
			"bursts: see the last column of kprobe_profile.",
			0, 0, width);
	fputs("\ncd " TRACING "\n", out);
}

static void put_check(FILE *out, const struct kernel *k, const struct plan *p, bool fprobe,
		      size_t width)
{
	const struct span *span = span_of(p);
	struct pairs pairs = { .n = 0 };
	/* Batches of BPF memory are callbacks among others: paired by head, shown by function. */
	bool callbacks = p->entry[0].measure->source == KD_SRC_CALL_RCU ||
			 p->entry[0].measure->measure == KD_M_MEMALLOC_LATENCY;

	if (span) {
		if (span->note)
			text_wrap(out, span->note, 0, 0, width);
		put_intro(out, true, width); /* no function, and so no return, is traced */
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
		text_wrap(
			out,
			"The tracefs of this kernel has no pair of events between which this is the time: "
			"there is no way to check the number with it.",
			0, 0, width);
		return;
	}
	put_intro(out, fprobe, width);
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
