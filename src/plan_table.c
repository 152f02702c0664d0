// SPDX-License-Identifier: GPL-2.0-only
/*
 * plan_table.c - for each measure the ways to get it, best first. Declarative: what a way needs,
 * nothing about how it is done. Which function is where: docs of each source in bpf/.
 */
#include "../bpf/defer.h"
#include "plan.h"

static const struct plan_hook call_rcu_fentry[] = {
	{ .program = "kd_enqueue", .target = "rcu_segcblist_enqueue", .need = HOOK_REQUIRED },
	{ .program = "kd_dequeue", .target = "rcu_cblist_dequeue", .need = HOOK_REQUIRED },
	{ .program = "kd_batch", .target = "rcu_segcblist_extract_done_cbs", .need = HOOK_OPTIONAL,
	  .without = "callbacks of offloaded CPUs" },
	{ .program = "kd_bypass", .target = "rcu_cblist_enqueue", .need = HOOK_OPTIONAL,
	  .without = "bypassed callbacks of offloaded CPUs" },
	{ .program = "kd_bypass_flush", .target = "rcu_cblist_flush_enqueue", .need = HOOK_OPTIONAL,
	  .without = "bypassed callbacks of offloaded CPUs" },
	{ .program = "kd_lazy_wish", .target = "__call_rcu_common", .need = HOOK_OPTIONAL,
	  .without = "telling lazy callbacks apart",
	  .case_type = "rcu_data", .case_field = "lazy_len" },
	{ .program = "kd_migrate", .target = "rcutree_migrate_callbacks", .need = HOOK_OPTIONAL,
	  .without = "following callbacks of a CPU that goes offline" },
	{ 0 },
};

static const struct plan_field call_rcu_fields[] = {
	{ "rcu_data", "cblist" },
	{ "rcu_data", "barrier_head" },
	{ "rcu_segcblist", "len" },
	{ "rcu_cblist", "head" },
	{ "rcu_data", "n_cbs_invoked" },
	{ "callback_head", "func" },
	{ 0 },
};

static const char *const call_rcu_symbols[] = { "rcu_data", NULL };

static const struct plan_way call_rcu_ways[] = {
	{ BACKEND_FENTRY, call_rcu_fentry, call_rcu_fields, call_rcu_symbols },
	{ 0 },
};

/* The other flavours: paired by head, whose list it is on does not matter. */
static const struct plan_hook call_srcu_fentry[] = {
	{ .program = "kd_srcu", .target = "srcu_gp_start_if_needed", .need = HOOK_REQUIRED },
	{ .program = "kd_dequeue", .target = "rcu_cblist_dequeue", .need = HOOK_REQUIRED },
	{ 0 },
};

static const struct plan_hook call_tasks_fentry[] = {
	{ .program = "kd_tasks", .target = "call_rcu_tasks_generic", .need = HOOK_REQUIRED },
	{ .program = "kd_dequeue", .target = "rcu_cblist_dequeue", .need = HOOK_REQUIRED },
	{ 0 },
};

static const struct plan_field call_tasks_fields[] = {
	{ "rcu_tasks", "name" },
	{ "rcu_cblist", "head" },
	{ 0 },
};

static const char *const tasks_symbols[] = { "rcu_data", "rcu_tasks", NULL };
static const char *const tasks_rude_symbols[] = { "rcu_data", "rcu_tasks_rude", NULL };
static const char *const tasks_trace_symbols[] = { "rcu_data", "rcu_tasks_trace", NULL };
static const char *const tasks_trace_srcu_symbols[] = { "rcu_data", "rcu_tasks_trace_srcu_struct", NULL };

static const struct plan_way call_srcu_ways[] = {
	{ BACKEND_FENTRY, call_srcu_fentry, call_rcu_fields, call_rcu_symbols },
	{ 0 },
};

static const struct plan_way call_tasks_ways[] = {
	{ BACKEND_FENTRY, call_tasks_fentry, call_tasks_fields, tasks_symbols },
	{ 0 },
};

static const struct plan_way call_tasks_rude_ways[] = {
	{ BACKEND_FENTRY, call_tasks_fentry, call_tasks_fields, tasks_rude_symbols },
	{ 0 },
};

/* Its own kthread up to 6.19, an SRCU domain since 7.0: the symbol tells. */
static const struct plan_way call_tasks_trace_ways[] = {
	{ BACKEND_FENTRY, call_tasks_fentry, call_tasks_fields, tasks_trace_symbols },
	{ BACKEND_FENTRY, call_srcu_fentry, call_rcu_fields, tasks_trace_srcu_symbols },
	{ 0 },
};

const struct plan_measure plan_table[] = {
	{ KD_SRC_CALL_RCU, KD_M_CALL_RCU_LATENCY, KD_FL_RCU, call_rcu_ways },
	{ KD_SRC_CALL_RCU, KD_M_CALL_RCU_LATENCY, KD_FL_SRCU, call_srcu_ways },
	{ KD_SRC_CALL_RCU, KD_M_CALL_RCU_LATENCY, KD_FL_TASKS, call_tasks_ways },
	{ KD_SRC_CALL_RCU, KD_M_CALL_RCU_LATENCY, KD_FL_TASKS_RUDE, call_tasks_rude_ways },
	{ KD_SRC_CALL_RCU, KD_M_CALL_RCU_LATENCY, KD_FL_TASKS_TRACE, call_tasks_trace_ways },
};

const size_t plan_table_len = sizeof(plan_table) / sizeof(plan_table[0]);

/*
 * Seen to hang: on 6.1 a program on these runs through a trampoline that itself enters a reader,
 * and the guest never came back.
 */
static const struct {
	const char *function, *why;
} forbidden[] = {
	{ "__rcu_read_lock", "the trampoline itself is an RCU reader: attaching there stalls the kernel" },
	{ "__rcu_read_unlock", "the trampoline itself is an RCU reader: attaching there stalls the kernel" },
};

const char *plan_forbidden(const char *function)
{
	for (size_t i = 0; i < sizeof(forbidden) / sizeof(forbidden[0]); i++)
		if (!__builtin_strcmp(function, forbidden[i].function))
			return forbidden[i].why;
	return 0;
}
