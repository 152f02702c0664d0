// SPDX-License-Identifier: GPL-2.0-only
/*
 * plan_holdup.c - ways to tell why a grace period takes long: the functions that part its life into
 * phases, the reports of quiescent states, and the tick of each CPU.
 */
#include <stddef.h>

#include "plan_ways.h"

/* Tables: one hook a line, as far as that goes. */
/* clang-format off */

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
	{ 0 },
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

/* clang-format on */
