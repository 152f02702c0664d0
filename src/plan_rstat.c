// SPDX-License-Identifier: GPL-2.0-only
/*
 * plan_rstat.c - ways to measure flushes of cgroup statistics. Which functions and locks there are
 * tells how they work: see enum rs_shape in bpf/rstat.h.
 */
#include <stddef.h>

#include "plan_ways.h"

/* Tables: one hook a line, as far as that goes. */
/* clang-format off */

#define WITHOUT_IRQSAFE "flushes that keep interrupts off from beginning to end"
#define WITHOUT_KEEP "flushes that keep the lock for their caller"

#define BOTH_ENDS(name, function) \
	{ .program = name "_in", .target = function, .need = HOOK_REQUIRED }, \
	{ .program = name "_out", .target = function, .need = HOOK_REQUIRED }
#define BOTH_ENDS_IF(name, function, test, missing) \
	{ .program = name "_in", .target = function, .need = HOOK_OPTIONAL, .without = missing, \
	  .case_type = test, .case_field = "updated_next" }, \
	{ .program = name "_out", .target = function, .need = HOOK_OPTIONAL, .without = missing, \
	  .case_type = test, .case_field = "updated_next" }

/*
 * The public functions. cgroup_rstat_flush_irqsafe() went in 6.4: its absence is no loss, so there
 * is a way with it and one without.
 */
#define CALLS_BY_SUBSYS BOTH_ENDS("rs_css", "css_rstat_flush")
#define CALLS BOTH_ENDS("rs_flush", "cgroup_rstat_flush"), \
	BOTH_ENDS_IF("rs_keep", "cgroup_rstat_flush_hold", "cgroup_rstat_cpu", WITHOUT_KEEP)
#define CALLS_IRQSAFE BOTH_ENDS("rs_irqsafe", "cgroup_rstat_flush_irqsafe"), CALLS
#define BODY BOTH_ENDS("rs_body", "cgroup_rstat_flush_locked")

#define LOCK_WAIT \
	{ .program = "rs_wait_in", .target = "cgroup_rstat_lock_contended", .need = HOOK_REQUIRED, .is_tp = true }
#define LOCK_GOT \
	{ .program = "rs_hold_in", .target = "cgroup_rstat_locked", .need = HOOK_REQUIRED, .is_tp = true }
#define LOCK_GIVEN \
	{ .program = "rs_hold_out", .target = "cgroup_rstat_unlock", .need = HOOK_REQUIRED, .is_tp = true }
#define LOCK LOCK_WAIT, LOCK_GOT, LOCK_GIVEN

#define BOUND_NOTE(text) .note = text

static const struct plan_field by_subsys[] = { { "css_rstat_cpu", "updated_next" }, { 0 } };
static const struct plan_field by_cgroup[] = { { "cgroup_rstat_cpu", "updated_next" }, { 0 } };

/* --- the locks, by their tracepoints --- */

static const struct plan_hook lock[] = { LOCK, { 0 } };

static const struct plan_hook lock_lower[] = {
	LOCK_WAIT, LOCK_GOT,
	{ .program = "rs_hold_out", .target = "cgroup_rstat_unlock", .need = HOOK_REQUIRED,
	  BOUND_NOTE("a lower bound: from the first lock of a flush to its last, its functions are not hooked") },
	{ 0 },
};

/* --- the functions --- */

static const struct plan_hook calls_by_subsys[] = { CALLS_BY_SUBSYS, { 0 } };
static const struct plan_hook calls_by_subsys_and_lock[] = { CALLS_BY_SUBSYS, LOCK, { 0 } };
static const struct plan_hook calls_irqsafe[] = { CALLS_IRQSAFE, { 0 } };
static const struct plan_hook calls[] = { CALLS, { 0 } };
static const struct plan_hook calls_and_lock[] = { CALLS, LOCK, { 0 } };

/* Without tracepoints: from 6.1 to 6.9. */
#define BODY_NOTED(text) \
	{ .program = "rs_body_in", .target = "cgroup_rstat_flush_locked", .need = HOOK_REQUIRED, BOUND_NOTE(text) }, \
	{ .program = "rs_body_out", .target = "cgroup_rstat_flush_locked", .need = HOOK_REQUIRED }

#define FIRST_WAIT "the first wait of a flush; further ones, where it gave up the lock on its way, do not show"
#define UPPER_HOLD "exact where the lock is kept to the end, else bounds: it may be given up on the way"
#define TICK { .program = "rs_tick", .target = "rcu_sched_clock_irq", .need = HOOK_OPTIONAL, .without = "lower bounds" }
#define UPPER_WORK "without the first wait of a flush; an upper bound where it gave up the lock on its way"
#define UPPER_BLAME "an upper bound where a flush gave up the lock on its way"

#define UNTRIED "not tried on such a kernel: "

static const struct plan_hook wait_irqsafe[] = { CALLS_IRQSAFE, BODY_NOTED(FIRST_WAIT), { 0 } };
static const struct plan_hook wait_old[] = { CALLS, BODY_NOTED(UNTRIED FIRST_WAIT), { 0 } };
static const struct plan_hook hold_irqsafe[] = { CALLS_IRQSAFE, BODY_NOTED(UPPER_HOLD), TICK, { 0 } };
static const struct plan_hook hold_old[] = { CALLS, BODY_NOTED(UNTRIED UPPER_HOLD), TICK, { 0 } };
static const struct plan_hook work_irqsafe[] = { CALLS_IRQSAFE, BODY_NOTED(UPPER_WORK), { 0 } };
static const struct plan_hook work_old[] = { CALLS, BODY_NOTED(UNTRIED UPPER_WORK), { 0 } };
static const struct plan_hook blame_irqsafe[] = { CALLS_IRQSAFE, BODY_NOTED(UPPER_BLAME), { 0 } };
static const struct plan_hook blame_old[] = { CALLS, BODY_NOTED(UNTRIED UPPER_BLAME), { 0 } };

/* --- cgroups visited --- */

#define VISITS_NOTE "one for each CPU whose counters of a cgroup are folded"

static const struct plan_hook visits_by_subsys[] = {
	CALLS_BY_SUBSYS,
	{ .program = "rs_visit_base", .target = "bpf_rstat_flush", .need = HOOK_OPTIONAL,
	  .without = "base statistics", BOUND_NOTE(VISITS_NOTE) },
	{ .program = "rs_visit_memory", .target = "mem_cgroup_css_rstat_flush", .need = HOOK_OPTIONAL,
	  .without = "memory", BOUND_NOTE(VISITS_NOTE) },
	{ .program = "rs_visit_io", .target = "blkcg_rstat_flush", .need = HOOK_OPTIONAL,
	  .without = "io", BOUND_NOTE(VISITS_NOTE) },
	{ 0 },
};
#define VISITS \
	{ .program = "rs_visit_base", .target = "bpf_rstat_flush", .need = HOOK_REQUIRED, BOUND_NOTE(VISITS_NOTE) }
static const struct plan_hook visits_irqsafe[] = { CALLS_IRQSAFE, VISITS, { 0 } };
static const struct plan_hook visits[] = { CALLS, VISITS, { 0 } };

/* --- what a flush spends its time with --- */

#define TP(name, tracepoint) \
	{ .program = name, .target = tracepoint, .need = HOOK_REQUIRED, .is_tp = true }
#define TP_X86(name, tracepoint, missing) \
	{ .program = name, .target = tracepoint, .need = HOOK_OPTIONAL, .is_tp = true, .without = missing, \
	  .case_type = "cpuinfo_x86", .case_field = "x86" }
#define INTERRUPTS \
	TP("rs_irq_on", "irq_handler_entry"), TP("rs_irq_off", "irq_handler_exit"), \
	TP("rs_softirq_on", "softirq_entry"), TP("rs_softirq_off", "softirq_exit"), \
	TP_X86("rs_timer_on", "local_timer_entry", "the local timer"), \
	TP_X86("rs_timer_off", "local_timer_exit", "the local timer"), \
	TP_X86("rs_resched_on", "reschedule_entry", "calls to reschedule"), \
	TP_X86("rs_resched_off", "reschedule_exit", "calls to reschedule"), \
	TP_X86("rs_call_on", "call_function_entry", "calls by other CPUs"), \
	TP_X86("rs_call_off", "call_function_exit", "calls by other CPUs"), \
	TP_X86("rs_call_one_on", "call_function_single_entry", "calls by one other CPU"), \
	TP_X86("rs_call_one_off", "call_function_single_exit", "calls by one other CPU"), \
	TP_X86("rs_irq_work_on", "irq_work_entry", "irq work"), \
	TP_X86("rs_irq_work_off", "irq_work_exit", "irq work")
#define SWITCH TP("rs_switch", "sched_switch")

/* What a flush is, its own row says; where the lock has no tracepoints, its functions tell. */
static const struct plan_hook irqs_lock[] = { INTERRUPTS, LOCK, { 0 } };
static const struct plan_hook irqs_irqsafe[] = { INTERRUPTS, CALLS_IRQSAFE, BODY, { 0 } };
static const struct plan_hook irqs_old[] = { INTERRUPTS, CALLS, BODY, { 0 } };
static const struct plan_hook off_cpu_lock[] = { SWITCH, LOCK, { 0 } };
static const struct plan_hook off_cpu_irqsafe[] = { SWITCH, CALLS_IRQSAFE, BODY, { 0 } };
static const struct plan_hook off_cpu_old[] = { SWITCH, CALLS, BODY, { 0 } };
static const struct plan_hook by_8_lock[] = { INTERRUPTS, SWITCH, LOCK, { 0 } };

/* --- the ways, best first --- */

const struct plan_way rstat_flush_ways[] = {
	{ BACKEND_FENTRY, calls_by_subsys, by_subsys, NULL },
	{ BACKEND_FENTRY, calls_irqsafe, by_cgroup, NULL },
	{ BACKEND_FENTRY, calls, by_cgroup, NULL },
	{ BACKEND_TP_BTF, lock_lower, NULL, NULL },
	{ 0 },
};

const struct plan_way rstat_wait_ways[] = {
	{ BACKEND_TP_BTF, lock, NULL, NULL },
	{ BACKEND_FENTRY, wait_irqsafe, by_cgroup, NULL },
	{ BACKEND_FENTRY, wait_old, by_cgroup, NULL },
	{ 0 },
};

const struct plan_way rstat_hold_ways[] = {
	{ BACKEND_TP_BTF, lock, NULL, NULL },
	{ BACKEND_FENTRY, hold_irqsafe, by_cgroup, NULL },
	{ BACKEND_FENTRY, hold_old, by_cgroup, NULL },
	{ 0 },
};

const struct plan_way rstat_work_ways[] = {
	{ BACKEND_FENTRY, calls_by_subsys_and_lock, by_subsys, NULL },
	{ BACKEND_FENTRY, calls_and_lock, by_cgroup, NULL },
	{ BACKEND_FENTRY, work_irqsafe, by_cgroup, NULL },
	{ BACKEND_FENTRY, work_old, by_cgroup, NULL },
	{ BACKEND_TP_BTF, lock_lower, NULL, NULL },
	{ 0 },
};

const struct plan_way rstat_cgroups_ways[] = {
	{ BACKEND_FENTRY, visits_by_subsys, by_subsys, NULL },
	{ BACKEND_FENTRY, visits_irqsafe, by_cgroup, NULL },
	{ BACKEND_FENTRY, visits, by_cgroup, NULL },
	{ 0 },
};

const struct plan_way rstat_blame_ways[] = {
	{ BACKEND_TP_BTF, lock, NULL, NULL },
	{ BACKEND_FENTRY, blame_irqsafe, by_cgroup, NULL },
	{ BACKEND_FENTRY, blame_old, by_cgroup, NULL },
	{ 0 },
};

const struct plan_way rstat_held_ways[] = { { BACKEND_TP_BTF, lock, NULL, NULL }, { 0 } };
const struct plan_way rstat_hold_by_8_ways[] = { { BACKEND_TP_BTF, lock, NULL, NULL }, { 0 } };
const struct plan_way rstat_flush_by_8_ways[] = { { BACKEND_TP_BTF, by_8_lock, NULL, NULL }, { 0 } };

const struct plan_way rstat_irqs_ways[] = {
	{ BACKEND_TP_BTF, irqs_lock, NULL, NULL },
	{ BACKEND_FENTRY, irqs_irqsafe, by_cgroup, NULL },
	{ BACKEND_FENTRY, irqs_old, by_cgroup, NULL },
	{ 0 },
};

const struct plan_way rstat_off_cpu_ways[] = {
	{ BACKEND_TP_BTF, off_cpu_lock, NULL, NULL },
	{ BACKEND_FENTRY, off_cpu_irqsafe, by_cgroup, NULL },
	{ BACKEND_FENTRY, off_cpu_old, by_cgroup, NULL },
	{ 0 },
};

/* --- pending, read as state --- */

static const char *const offsets[] = { "percpu:runqueues", "percpu:rcu_data", "percpu:this_cpu_off", NULL };
#define IF_WAITERS "waiters only where the locks tell who waits: that shows when they are read"

static const struct plan_hook pending_by_subsys[] = {
	{ .program = "rss_look", .target = "css_rstat_cpu.updated_next", .need = HOOK_REQUIRED, .note = IF_WAITERS }, { 0 },
};
static const struct plan_hook pending_by_cgroup[] = {
	{ .program = "rss_look", .target = "cgroup_rstat_cpu.updated_next", .need = HOOK_REQUIRED, .note = IF_WAITERS }, { 0 },
};

const struct plan_way rstat_pending_ways[] = {
	{ BACKEND_STATE, pending_by_subsys, by_subsys, offsets },
	{ BACKEND_STATE, pending_by_cgroup, by_cgroup, offsets },
	{ 0 },
};

/* clang-format on */
