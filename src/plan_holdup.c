// SPDX-License-Identifier: GPL-2.0-only
/*
 * plan_holdup.c - ways to tell why a grace period takes long: the functions that part its life into
 * phases, the reports of quiescent states, and the tick of each CPU.
 */
#include <stddef.h>

#include "plan_ways.h"

/* Tables: one hook a line, as far as that goes. */
/* clang-format off */

/* Those who wait for them. */
#define CALLER(name, function) \
	{ .program = name "_in", .target = function, .need = HOOK_OPTIONAL, .without = "callers of " function }, \
	{ .program = name "_out", .target = function, .need = HOOK_OPTIONAL, .without = "callers of " function }

static const struct plan_hook gp_normal[] = {
	{ .program = "hg_gp_in", .target = "rcu_gp_init", .need = HOOK_REQUIRED },
	{ .program = "hg_gp_out", .target = "rcu_gp_cleanup", .need = HOOK_REQUIRED },
	{ .program = "hg_waiting", .target = "rcu_gp_fqs_loop", .need = HOOK_OPTIONAL,
	  .without = "parting initialisation from waiting" },
	{ .program = "hg_scan", .target = "force_qs_rnp", .need = HOOK_OPTIONAL,
	  .without = "the number of scans" },
	{ .program = "hg_report", .target = "rcu_report_qs_rnp", .need = HOOK_REQUIRED },
	{ .program = "hg_wake", .target = "rcu_gp_kthread_wake", .need = HOOK_OPTIONAL,
	  .without = "tasks that report last",
	  .case_type = "task_struct", .case_field = "rcu_blocked_node" },
	{ .program = "hg_tick", .target = "rcu_sched_clock_irq", .need = HOOK_REQUIRED },
	CALLER("hg_sync", "synchronize_rcu"),
	CALLER("hg_barrier", "rcu_barrier"),
	{ 0 },
};

static const struct plan_hook gp_expedited[] = {
	{ .program = "hg_exp_in", .target = "sync_rcu_exp_select_cpus", .need = HOOK_REQUIRED },
	{ .program = "hg_exp_waiting", .target = "sync_rcu_exp_select_cpus", .need = HOOK_REQUIRED },
	{ .program = "hg_exp_out", .target = "synchronize_rcu_expedited_wait_once", .need = HOOK_REQUIRED },
	{ .program = "hg_exp_report", .target = "rcu_report_exp_cpu_mult", .need = HOOK_REQUIRED },
	{ .program = "hg_exp_task", .target = "__rcu_report_exp_rnp", .need = HOOK_OPTIONAL,
	  .without = "tasks that report last",
	  .case_type = "task_struct", .case_field = "rcu_blocked_node" },
	{ .program = "hg_tick", .target = "rcu_sched_clock_irq", .need = HOOK_REQUIRED },
	CALLER("hg_sync_exp", "synchronize_rcu_expedited"),
	{ 0 },
};

#define BOTH(name, function) \
	{ .program = name "_in", .target = function, .need = HOOK_REQUIRED }, \
	{ .program = name "_out", .target = function, .need = HOOK_REQUIRED }
#define WAITING(name, function) \
	{ .program = name, .target = function, .need = HOOK_OPTIONAL, .without = "parting initialisation from waiting" }
#define TICK \
	{ .program = "hg_tick", .target = "rcu_sched_clock_irq", .need = HOOK_REQUIRED }

static const struct plan_hook gp_tasks[] = {
	BOTH("hg_tasks", "rcu_tasks_wait_gp"), WAITING("hg_tasks_waiting", "rcu_tasks_postscan"),
	BOTH("hg_holdouts", "check_all_holdout_tasks"), TICK,
	CALLER("hg_tasks_sync", "synchronize_rcu_tasks"), CALLER("hg_tasks_bar", "rcu_barrier_tasks"), { 0 },
};

static const struct plan_hook gp_trace[] = {
	BOTH("hg_tasks", "rcu_tasks_wait_gp"), WAITING("hg_trace_waiting", "rcu_tasks_trace_postscan"),
	BOTH("hg_trace_holdouts", "check_all_holdout_tasks_trace"), TICK,
	CALLER("hg_trace_sync", "synchronize_rcu_tasks_trace"), CALLER("hg_trace_bar", "rcu_barrier_tasks_trace"),
	{ 0 },
};

#define SRCU_CALLERS \
	CALLER("hg_srcu_sync", "synchronize_srcu"), CALLER("hg_srcu_exp", "synchronize_srcu_expedited"), \
	CALLER("hg_srcu_bar", "srcu_barrier")

/* Since 7.0: an SRCU domain, whose callers are those of synchronize_srcu(). */
#define CANDIDATES "readers that are known to hold it up; there may be more"
static const struct plan_hook gp_trace_srcu[] = {
	{ .program = "hg_srcu_in", .target = "srcu_gp_start", .need = HOOK_REQUIRED, .note = CANDIDATES },
	{ .program = "hg_srcu_out", .target = "process_srcu", .need = HOOK_REQUIRED }, TICK,
	SRCU_CALLERS,
	{ 0 },
};

#define NOBODY "how long they took; who holds them up does not show"
static const struct plan_hook gp_srcu[] = {
	{ .program = "hg_domain_in", .target = "srcu_gp_start", .need = HOOK_REQUIRED, .note = NOBODY },
	{ .program = "hg_domain_out", .target = "process_srcu", .need = HOOK_REQUIRED },
	{ .program = "hg_domain_gone", .target = "cleanup_srcu_struct", .need = HOOK_OPTIONAL,
	  .without = "seeing SRCU domains go" },
	SRCU_CALLERS,
	{ 0 },
};

#define RUDE \
	{ .program = "hg_rude_in", .target = "rcu_tasks_rude_wait_gp", .need = HOOK_REQUIRED, .note = NOBODY }, \
	{ .program = "hg_rude_out", .target = "rcu_tasks_rude_wait_gp", .need = HOOK_REQUIRED }, \
	CALLER("hg_rude_sync", "synchronize_rcu_tasks_rude")
static const struct plan_hook gp_rude[] = { RUDE, { 0 } };
/* The barrier went after 6.1. */
static const struct plan_hook gp_rude_barrier[] = { RUDE, BOTH("hg_rude_bar", "rcu_barrier_tasks_rude"), { 0 } };

static const struct plan_field tasks_fields[] = {
	{ "rcu_tasks", "name" }, { "task_struct", "rcu_tasks_holdout_list" }, { 0 },
};
static const struct plan_field trace_fields[] = {
	{ "rcu_tasks", "name" }, { "task_struct", "trc_holdout_list" }, { 0 },
};
static const struct plan_field trace_srcu_fields[] = {
	{ "srcu_usage", "srcu_gp_seq" }, { "srcu_struct", "srcu_ctrp" }, { "task_struct", "trc_reader_scp" }, { 0 },
};
static const struct plan_field srcu_fields[] = {
	{ "srcu_usage", "srcu_gp_seq" }, { "srcu_usage", "srcu_last_gp_end" }, { "srcu_usage", "srcu_ssp" }, { 0 },
};
/* Before 6.4 there was no srcu_usage. */
static const struct plan_field srcu_fields_old[] = {
	{ "srcu_struct", "srcu_gp_seq" }, { "srcu_struct", "srcu_last_gp_end" }, { 0 },
};
static const char *const trace_srcu_percpu[] = {
	"percpu:rcu_data", "percpu:runqueues", "percpu:rcu_tasks_trace_srcu_struct_srcu_data", NULL,
};

static const struct plan_field gp_fields[] = {
	{ "rcu_state", "gp_req_activity" }, { "rcu_state", "gp_kthread" }, { "rcu_node", "qsmask" },
	{ "rcu_node", "level" }, { "rcu_data", "rcu_urgent_qs" }, { 0 },
};

static const char *const gp_percpu[] = { "percpu:rcu_data", "percpu:runqueues", NULL };

/* --- the ways, best first --- */

const struct plan_way holdup_gp_rcu_ways[] = {
	{ BACKEND_FENTRY, gp_normal, gp_fields, gp_percpu },
	{ 0 },
};

const struct plan_way holdup_gp_exp_ways[] = {
	{ BACKEND_FENTRY, gp_expedited, gp_fields, gp_percpu },
	{ 0 },
};

const struct plan_way holdup_gp_tasks_ways[] = {
	{ BACKEND_FENTRY, gp_tasks, tasks_fields, gp_percpu },
	{ 0 },
};

const struct plan_way holdup_gp_trace_ways[] = {
	{ BACKEND_FENTRY, gp_trace, trace_fields, gp_percpu },
	{ BACKEND_FENTRY, gp_trace_srcu, trace_srcu_fields, trace_srcu_percpu },
	{ 0 },
};

const struct plan_way holdup_gp_srcu_ways[] = {
	{ BACKEND_FENTRY, gp_srcu, srcu_fields, gp_percpu },
	{ BACKEND_FENTRY, gp_srcu, srcu_fields_old, gp_percpu },
	{ 0 },
};

const struct plan_way holdup_gp_rude_ways[] = {
	{ BACKEND_FENTRY, gp_rude_barrier, NULL, gp_percpu },
	{ BACKEND_FENTRY, gp_rude, NULL, gp_percpu },
	{ 0 },
};

/* clang-format on */
