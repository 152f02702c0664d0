// SPDX-License-Identifier: GPL-2.0-only
/*
 * plan_table.c - for each measure the ways to get it, best first. Declarative: what a way needs,
 * nothing about how it is done. Which function is where: docs of each source in bpf/.
 */
#include <stddef.h>

#include "../bpf/defer.h"
#include "plan.h"
#include "plan_ways.h"

/* Tables: one hook a line, as far as that goes. */
/* clang-format off */

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

static const char *const call_rcu_percpu[] = { "percpu:rcu_data", NULL };

static const struct plan_way call_rcu_ways[] = {
	{ BACKEND_FENTRY, call_rcu_fentry, call_rcu_fields, call_rcu_percpu },
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

static const char *const tasks_percpu[] = { "percpu:rcu_data", "percpu:rcu_tasks__percpu", NULL };
static const char *const tasks_rude_percpu[] = { "percpu:rcu_data", "percpu:rcu_tasks_rude__percpu", NULL };
static const char *const tasks_trace_percpu[] = { "percpu:rcu_data", "percpu:rcu_tasks_trace__percpu", NULL };
static const char *const tasks_trace_srcu_percpu[] = { "percpu:rcu_data", "percpu:rcu_tasks_trace_srcu_struct_srcu_data", NULL };

static const struct plan_way call_srcu_ways[] = {
	{ BACKEND_FENTRY, call_srcu_fentry, call_rcu_fields, call_rcu_percpu },
	{ 0 },
};

static const struct plan_way call_tasks_ways[] = {
	{ BACKEND_FENTRY, call_tasks_fentry, call_tasks_fields, tasks_percpu },
	{ 0 },
};

static const struct plan_way call_tasks_rude_ways[] = {
	{ BACKEND_FENTRY, call_tasks_fentry, call_tasks_fields, tasks_rude_percpu },
	{ 0 },
};

/* Its own kthread up to 6.19, an SRCU domain since 7.0: the variable tells. */
static const struct plan_way call_tasks_trace_ways[] = {
	{ BACKEND_FENTRY, call_tasks_fentry, call_tasks_fields, tasks_trace_percpu },
	{ BACKEND_FENTRY, call_srcu_fentry, call_rcu_fields, tasks_trace_srcu_percpu },
	{ 0 },
};

/* Objects are known by their address, whatever the kernel collects them in: pages, a list, sheaves. */
static const struct plan_hook call_kfree_fentry[] = {
	{ .program = "kd_kfree", .target = "kvfree_call_rcu", .need = HOOK_REQUIRED },
	{ .program = "kd_kfree_nolock", .target = "kfree_call_rcu_nolock", .need = HOOK_OPTIONAL,
	  .without = "objects that BPF gives away",
	  .case_type = "kvfree_rcu_head", .case_field = "next" },
	{ .program = "kd_kfree_bulk", .target = "kvfree_rcu_bulk", .need = HOOK_REQUIRED },
	{ .program = "kd_kfree_sheaf", .target = "rcu_free_sheaf", .need = HOOK_REQUIRED,
	  .case_type = "slab_sheaf", .case_field = "objects" },
	{ .program = "kd_kfree_nobarn", .target = "rcu_free_sheaf_nobarn", .need = HOOK_REQUIRED,
	  .case_type = "slab_sheaf", .case_field = "objects" },
	{ .program = "kd_kfree_list", .target = "kvfree_rcu_list", .need = HOOK_OPTIONAL,
	  .without = "objects for which there was no page" },
	{ 0 },
};

static const struct plan_field call_kfree_fields[] = {
	{ "kvfree_rcu_bulk_data", "records" },
	{ "kvfree_rcu_bulk_data", "nr_records" },
	{ 0 },
};

/* Before 6.4 one function frees all. */
static const struct plan_hook call_kfree_work_fentry[] = {
	{ .program = "kd_kfree", .target = "kvfree_call_rcu", .need = HOOK_REQUIRED },
	{ .program = "kd_kfree_work", .target = "kfree_rcu_work", .need = HOOK_REQUIRED },
	{ 0 },
};

static const struct plan_field call_kfree_work_fields[] = {
	{ "kfree_rcu_cpu_work", "bkvhead_free" },
	{ "kvfree_rcu_bulk_data", "next" },
	{ 0 },
};

static const struct plan_way call_kfree_ways[] = {
	{ BACKEND_FENTRY, call_kfree_fentry, call_kfree_fields, call_rcu_percpu },
	{ BACKEND_FENTRY, call_kfree_work_fentry, call_kfree_work_fields, call_rcu_percpu },
	{ 0 },
};

/* Lists, read as state: the program that does, and what it reads. */
#define STATE(name, of, ...) \
	static const struct plan_hook name##_state[] = { \
		{ .program = "rl_emit", .target = of, .need = HOOK_REQUIRED, ## __VA_ARGS__ }, { 0 }, \
	}
#define STATE_WAY(name, symbols) { BACKEND_STATE, name##_state, call_rcu_lists_fields, symbols }

STATE(pending_rcu, "rcu_data.cblist");
STATE(pending_srcu, "srcu_data.srcu_cblist",
      .note = "domains that have a symbol; not those of single devices, virtual machines and the like");
STATE(pending_tasks, "rcu_tasks__percpu.cblist");
STATE(pending_tasks_rude, "rcu_tasks_rude__percpu.cblist");
STATE(pending_tasks_trace, "rcu_tasks_trace__percpu.cblist");
STATE(pending_tasks_trace_srcu, "rcu_tasks_trace_srcu_struct.srcu_cblist");
static const struct plan_hook pending_kfree_state[] = {
	{ .program = "rl_emit", .target = "krc", .need = HOOK_REQUIRED },
	/* Since 6.18 slab itself gathers what kfree_rcu() of some caches is given, of all since 7.0. */
	{ .program = "rl_emit", .target = "krc", .need = HOOK_REQUIRED,
	  .note = "not what slab keeps in sheaves of its own",
	  .case_type = "slub_percpu_sheaves", .case_field = "rcu_free" },
	{ 0 },
};

static const struct plan_field call_rcu_lists_fields[] = {
	{ "rcu_segcblist", "len" },
	{ "rcu_segcblist", "seglen" },
	{ 0 },
};
static const struct plan_field srcu_lists_fields[] = {
	{ "srcu_data", "srcu_cblist" }, { "rcu_segcblist", "seglen" }, { 0 },
};
static const char *const krc_symbols[] = { "percpu:rcu_data", "percpu:krc", NULL };

static const struct plan_way pending_rcu_ways[] = { STATE_WAY(pending_rcu, call_rcu_percpu), { 0 } };
static const struct plan_way pending_srcu_ways[] = {
	{ BACKEND_STATE, pending_srcu_state, srcu_lists_fields, call_rcu_percpu }, { 0 },
};
static const struct plan_way pending_tasks_ways[] = { STATE_WAY(pending_tasks, tasks_percpu), { 0 } };
static const struct plan_way pending_tasks_rude_ways[] = {
	STATE_WAY(pending_tasks_rude, tasks_rude_percpu), { 0 },
};
static const struct plan_way pending_tasks_trace_ways[] = {
	STATE_WAY(pending_tasks_trace, tasks_trace_percpu),
	STATE_WAY(pending_tasks_trace_srcu, tasks_trace_srcu_percpu), { 0 },
};
static const struct plan_way pending_kfree_ways[] = {
	{ BACKEND_STATE, pending_kfree_state, NULL, krc_symbols }, { 0 },
};

/*
 * Grace periods and the calls that wait for them. Both ends of a call are REQUIRED, or both OPTIONAL
 * where a flavour has several calls.
 */
#define BOTH_ENDS(name, function) \
	{ .program = name "_in", .target = function, .need = HOOK_REQUIRED }, \
	{ .program = name "_out", .target = function, .need = HOOK_REQUIRED }
#define BOTH_ENDS_OF(name, function) \
	{ .program = name "_in", .target = function, .need = HOOK_OPTIONAL, .without = "callers of " function }, \
	{ .program = name "_out", .target = function, .need = HOOK_OPTIONAL, .without = "callers of " function }
#define WAYS(name, fields, symbols) \
	static const struct plan_way name##_ways[] = { \
		{ BACKEND_FENTRY, name##_fentry, fields, symbols }, \
		{ 0 }, \
	}

static const struct plan_hook gp_rcu_fentry[] = {
	{ .program = "rg_gp_in", .target = "rcu_gp_init", .need = HOOK_REQUIRED },
	{ .program = "rg_gp_out", .target = "rcu_gp_cleanup", .need = HOOK_REQUIRED },
	{ 0 },
};
WAYS(gp_rcu, NULL, NULL);

static const struct plan_hook gp_exp_fentry[] = {
	{ .program = "rg_exp_in", .target = "sync_rcu_exp_select_cpus", .need = HOOK_REQUIRED },
	{ .program = "rg_exp_out", .target = "rcu_exp_wait_wake", .need = HOOK_REQUIRED },
	{ 0 },
};
WAYS(gp_exp, NULL, NULL);

static const struct plan_hook gp_tasks_fentry[] = { BOTH_ENDS("rg_tasks_gp", "rcu_tasks_wait_gp"), { 0 } };
/* The function is that of Tasks Trace too, where a kernel without preemption has no RCU Tasks. */
static const struct plan_field gp_tasks_fields[] = {
	{ "rcu_tasks", "name" }, { "task_struct", "rcu_tasks_holdout" }, { 0 },
};
WAYS(gp_tasks, gp_tasks_fields, NULL);

static const struct plan_hook gp_rude_fentry[] = { BOTH_ENDS("rg_rude_gp", "rcu_tasks_rude_wait_gp"), { 0 } };
WAYS(gp_rude, NULL, NULL);

static const struct plan_hook gp_srcu_fentry[] = {
	{ .program = "rg_srcu_gp_in", .target = "srcu_gp_start", .need = HOOK_REQUIRED },
	{ .program = "rg_srcu_gp_out", .target = "process_srcu", .need = HOOK_REQUIRED },
	{ .program = "rg_srcu_gone", .target = "cleanup_srcu_struct", .need = HOOK_OPTIONAL,
	  .without = "seeing SRCU domains go" },
	{ 0 },
};
static const struct plan_field gp_srcu_fields[] = {
	{ "srcu_usage", "srcu_gp_seq" }, { "srcu_usage", "srcu_last_gp_end" }, { "srcu_usage", "srcu_ssp" },
	{ "srcu_usage", "work" }, { 0 },
};
/* Before 6.4 there was no srcu_usage. */
static const struct plan_field gp_srcu_fields_old[] = {
	{ "srcu_struct", "srcu_gp_seq" }, { "srcu_struct", "srcu_last_gp_end" }, { "srcu_struct", "work" }, { 0 },
};
static const struct plan_way gp_srcu_ways[] = {
	{ BACKEND_FENTRY, gp_srcu_fentry, gp_srcu_fields, NULL },
	{ BACKEND_FENTRY, gp_srcu_fentry, gp_srcu_fields_old, NULL },
	{ 0 },
};

/* Its own readers' lists up to 6.19, an SRCU domain since 7.0: the field tells. */
static const struct plan_field old_trace_fields[] = {
	{ "task_struct", "trc_holdout_list" }, { "rcu_tasks", "name" }, { 0 },
};
static const char *const srcu_trace_symbols[] = { "percpu:rcu_tasks_trace_srcu_struct_srcu_data", NULL };
static const struct plan_way gp_trace_ways[] = {
	{ BACKEND_FENTRY, gp_tasks_fentry, old_trace_fields, NULL },
	{ BACKEND_FENTRY, gp_srcu_fentry, gp_srcu_fields, srcu_trace_symbols },
	{ 0 },
};

static const struct plan_hook wait_rcu_fentry[] = {
	BOTH_ENDS("rg_sync", "synchronize_rcu"), BOTH_ENDS_OF("rg_barrier", "rcu_barrier"), { 0 },
};
WAYS(wait_rcu, NULL, NULL);

static const struct plan_hook wait_exp_fentry[] = {
	BOTH_ENDS("rg_sync_exp", "synchronize_rcu_expedited"), { 0 },
};
WAYS(wait_exp, NULL, NULL);

static const struct plan_hook wait_srcu_fentry[] = {
	BOTH_ENDS("rg_srcu_sync", "synchronize_srcu"),
	BOTH_ENDS_OF("rg_srcu_exp", "synchronize_srcu_expedited"),
	BOTH_ENDS_OF("rg_srcu_bar", "srcu_barrier"), { 0 },
};
WAYS(wait_srcu, NULL, NULL);

static const struct plan_hook wait_tasks_fentry[] = {
	BOTH_ENDS("rg_tasks_sync", "synchronize_rcu_tasks"), BOTH_ENDS_OF("rg_tasks_bar", "rcu_barrier_tasks"), { 0 },
};
WAYS(wait_tasks, NULL, NULL);

/* The barrier went after 6.1, and nothing with it: no reason to speak of it on newer kernels. */
static const struct plan_hook wait_rude_barrier_fentry[] = {
	BOTH_ENDS("rg_rude_sync", "synchronize_rcu_tasks_rude"),
	BOTH_ENDS("rg_rude_bar", "rcu_barrier_tasks_rude"), { 0 },
};
static const struct plan_hook wait_rude_fentry[] = {
	BOTH_ENDS("rg_rude_sync", "synchronize_rcu_tasks_rude"), { 0 },
};
static const struct plan_way wait_rude_ways[] = {
	{ BACKEND_FENTRY, wait_rude_barrier_fentry, NULL, NULL },
	{ BACKEND_FENTRY, wait_rude_fentry, NULL, NULL },
	{ 0 },
};

static const struct plan_hook wait_trace_fentry[] = {
	BOTH_ENDS("rg_trace_sync", "synchronize_rcu_tasks_trace"),
	BOTH_ENDS_OF("rg_trace_bar", "rcu_barrier_tasks_trace"), { 0 },
};
static const struct plan_way wait_trace_ways[] = {
	{ BACKEND_FENTRY, wait_trace_fentry, old_trace_fields, NULL },
	{ BACKEND_FENTRY, wait_srcu_fentry, gp_srcu_fields, srcu_trace_symbols },
	{ 0 },
};

/* Freed BPF memory. Which lists there are is found at run time: src/memalloc_layout.c. */
static const struct plan_hook memalloc_state[] = {
	{ .program = "kd_sweep", .target = "bpf_mem_cache", .need = HOOK_REQUIRED }, { 0 },
};
static const struct plan_field memalloc_state_fields[] = {
	{ "bpf_mem_cache", "free_llist" }, { "bpf_mem_cache", "free_cnt" },
	{ "bpf_mem_cache", "unit_size" }, { "bpf_htab", "ma" }, { "bpf_iter__bpf_map", "map" }, { 0 },
};
static const struct plan_way memalloc_pending_ways[] = {
	{ BACKEND_STATE, memalloc_state, memalloc_state_fields, NULL },
	{ 0 },
};

/*
 * Freed BPF memory at work. What is handed over, and where its wait ends, differs: one stage or two
 * (by the fields), Tasks Trace of its own or an SRCU domain (call_rcu_tasks_trace or call_srcu), whose
 * callback has one name or another, and with lazy callbacks a call_rcu_hurry.
 */
#define MEM_RCU(program_, target_, ...) \
	{ .program = program_, .target = target_, .need = HOOK_REQUIRED, ## __VA_ARGS__ }, \
	{ .program = "ma_by_rcu_out", .target = "__free_by_rcu", .need = HOOK_REQUIRED }
#define MEM_TRACE(program_, target_, end_, callback_) \
	{ .program = program_, .target = target_, .need = HOOK_REQUIRED }, \
	{ .program = end_, .target = callback_, .need = HOOK_REQUIRED }
#define MEM_GONE \
	{ .program = "ma_new", .target = "bpf_mem_alloc_init", .need = HOOK_OPTIONAL, \
	  .without = "telling apart maps that are made meanwhile" }, \
	{ .program = "ma_gone", .target = "bpf_mem_alloc_destroy", .need = HOOK_REQUIRED }, { 0 }
#define MEM_HURRY MEM_RCU("ma_hurry_in", "call_rcu_hurry", .global = true)
#define MEM_PLAIN MEM_RCU("ma_rcu_in", "call_rcu")
#define MEM_TASKS MEM_TRACE("ma_trace_in", "call_rcu_tasks_trace", "ma_trace_out", "__free_rcu_tasks_trace")
#define MEM_SRCU_OLD MEM_TRACE("ma_srcu_in", "call_srcu", "ma_trace_out", "__free_rcu_tasks_trace")
#define MEM_SRCU MEM_TRACE("ma_srcu_in", "call_srcu", "ma_free_out", "__free_rcu")

static const struct plan_hook mem_tasks_hurry[] = { MEM_HURRY, MEM_TASKS, MEM_GONE };
static const struct plan_hook mem_tasks_plain[] = { MEM_PLAIN, MEM_TASKS, MEM_GONE };
static const struct plan_hook mem_srcu_old_hurry[] = { MEM_HURRY, MEM_SRCU_OLD, MEM_GONE };
static const struct plan_hook mem_srcu_old_plain[] = { MEM_PLAIN, MEM_SRCU_OLD, MEM_GONE };
static const struct plan_hook mem_srcu_hurry[] = { MEM_HURRY, MEM_SRCU, MEM_GONE };
static const struct plan_hook mem_srcu_plain[] = { MEM_PLAIN, MEM_SRCU, MEM_GONE };
static const struct plan_hook mem_one_stage[] = {
	MEM_TASKS,
	{ .program = "ma_then_in", .target = "__free_rcu_tasks_trace", .need = HOOK_OPTIONAL,
	  .without = "the wait for RCU after that for Tasks Trace" },
	{ .program = "ma_free_out", .target = "__free_rcu", .need = HOOK_OPTIONAL,
	  .without = "the wait for RCU after that for Tasks Trace" },
	MEM_GONE,
};
static const struct plan_field mem_two_fields[] = {
	{ "bpf_mem_cache", "rcu" }, { "bpf_mem_cache", "rcu_ttrace" }, { "bpf_mem_cache", "unit_size" },
	{ "bpf_mem_alloc", "cache" }, { "bpf_iter__bpf_map", "map" }, { 0 },
};
static const struct plan_field mem_one_fields[] = {
	{ "bpf_mem_cache", "rcu" }, { "bpf_mem_cache", "call_rcu_in_progress" },
	{ "bpf_mem_cache", "unit_size" }, { "bpf_mem_alloc", "cache" }, { "bpf_iter__bpf_map", "map" }, { 0 },
};
static const struct plan_way memalloc_latency_ways[] = {
	{ BACKEND_FENTRY, mem_tasks_hurry, mem_two_fields, NULL },
	{ BACKEND_FENTRY, mem_tasks_plain, mem_two_fields, NULL },
	{ BACKEND_FENTRY, mem_srcu_hurry, mem_two_fields, NULL },
	{ BACKEND_FENTRY, mem_srcu_plain, mem_two_fields, NULL },
	{ BACKEND_FENTRY, mem_srcu_old_hurry, mem_two_fields, NULL },
	{ BACKEND_FENTRY, mem_srcu_old_plain, mem_two_fields, NULL },
	{ BACKEND_FENTRY, mem_one_stage, mem_one_fields, NULL },
	{ 0 },
};

static const struct plan_field mem_work_fields[] = {
	{ "bpf_mem_cache", "refill_work" }, { "bpf_mem_cache", "free_cnt" },
	{ "bpf_mem_cache", "low_watermark" }, { "bpf_mem_cache", "high_watermark" },
	{ "bpf_mem_alloc", "cache" }, { "bpf_iter__bpf_map", "map" }, { 0 },
};
static const struct plan_hook mem_work_fentry[] = {
	BOTH_ENDS("ma_refill", "bpf_mem_refill"), MEM_GONE,
};
WAYS(mem_work, mem_work_fields, NULL);
/* Grace periods, read as state. */
#define GP_STATE(name, of, ...) \
	static const struct plan_hook name##_state[] = { \
		{ .program = "gs_look", .target = of, .need = HOOK_REQUIRED, ## __VA_ARGS__ }, { 0 }, \
	}

GP_STATE(gp_now_rcu, "rcu_state.gp_seq");
GP_STATE(gp_now_exp, "rcu_state.expedited_sequence");
GP_STATE(gp_now_srcu, "srcu_struct.srcu_gp_seq",
	 .note = "the oldest of the domains that have a symbol; who holds it up does not show");
GP_STATE(gp_now_tasks, "rcu_tasks.tasks_gp_seq");
GP_STATE(gp_now_rude, "rcu_tasks_rude.tasks_gp_seq", .note = "who holds it up does not show");
GP_STATE(gp_now_trace, "rcu_tasks_trace.tasks_gp_seq");
GP_STATE(gp_now_trace_srcu, "rcu_tasks_trace_srcu_struct.srcu_gp_seq",
	 .note = "readers that are known to hold it up; there may be more");

static const struct plan_field gp_now_rcu_fields[] = {
	{ "rcu_state", "gp_seq" }, { "rcu_node", "qsmask" }, { 0 },
};
static const struct plan_field gp_now_tasks_fields[] = {
	{ "rcu_tasks", "tasks_gp_seq" }, { "task_struct", "rcu_tasks_holdout" }, { 0 },
};
static const struct plan_field gp_now_rude_fields[] = { { "rcu_tasks", "tasks_gp_seq" }, { 0 } };
static const struct plan_field gp_now_trace_fields[] = {
	{ "rcu_tasks", "tasks_gp_seq" }, { "task_struct", "trc_holdout_list" }, { 0 },
};

static const struct plan_field gp_now_srcu_fields[] = { { "srcu_data", "ssp" }, { 0 } };

#define GP_NOW_WAYS(name, fields, symbols) \
	static const struct plan_way name##_ways[] = { \
		{ BACKEND_STATE, name##_state, fields, symbols }, { 0 }, \
	}

GP_NOW_WAYS(gp_now_rcu, gp_now_rcu_fields, call_rcu_percpu);
GP_NOW_WAYS(gp_now_exp, gp_now_rcu_fields, call_rcu_percpu);
GP_NOW_WAYS(gp_now_srcu, gp_now_srcu_fields, call_rcu_percpu);
GP_NOW_WAYS(gp_now_tasks, gp_now_tasks_fields, tasks_percpu);
GP_NOW_WAYS(gp_now_rude, gp_now_rude_fields, tasks_rude_percpu);

static const struct plan_way gp_now_trace_ways[] = {
	{ BACKEND_STATE, gp_now_trace_state, gp_now_trace_fields, tasks_trace_percpu },
	{ BACKEND_STATE, gp_now_trace_srcu_state, NULL, tasks_trace_srcu_percpu }, { 0 },
};

const struct plan_measure plan_table[] = {
	{ KD_SRC_CALL_RCU, KD_M_CALL_RCU_LATENCY, KD_FL_RCU, call_rcu_ways },
	{ KD_SRC_CALL_RCU, KD_M_CALL_RCU_LATENCY, KD_FL_SRCU, call_srcu_ways },
	{ KD_SRC_CALL_RCU, KD_M_CALL_RCU_LATENCY, KD_FL_TASKS, call_tasks_ways },
	{ KD_SRC_CALL_RCU, KD_M_CALL_RCU_LATENCY, KD_FL_TASKS_RUDE, call_tasks_rude_ways },
	{ KD_SRC_CALL_RCU, KD_M_CALL_RCU_LATENCY, KD_FL_TASKS_TRACE, call_tasks_trace_ways },
	{ KD_SRC_CALL_RCU, KD_M_CALL_RCU_LATENCY, KD_FL_KFREE, call_kfree_ways },
	{ KD_SRC_CALL_RCU, KD_M_CALL_RCU_PENDING, KD_FL_RCU, pending_rcu_ways },
	{ KD_SRC_CALL_RCU, KD_M_CALL_RCU_PENDING, KD_FL_SRCU, pending_srcu_ways },
	{ KD_SRC_CALL_RCU, KD_M_CALL_RCU_PENDING, KD_FL_TASKS, pending_tasks_ways },
	{ KD_SRC_CALL_RCU, KD_M_CALL_RCU_PENDING, KD_FL_TASKS_RUDE, pending_tasks_rude_ways },
	{ KD_SRC_CALL_RCU, KD_M_CALL_RCU_PENDING, KD_FL_TASKS_TRACE, pending_tasks_trace_ways },
	{ KD_SRC_CALL_RCU, KD_M_CALL_RCU_PENDING, KD_FL_KFREE, pending_kfree_ways },
	{ KD_SRC_RCU_GP, KD_M_RCU_GP_PENDING, KD_FL_RCU, gp_now_rcu_ways },
	{ KD_SRC_RCU_GP, KD_M_RCU_GP_PENDING, KD_FL_EXPEDITED, gp_now_exp_ways },
	{ KD_SRC_RCU_GP, KD_M_RCU_GP_PENDING, KD_FL_SRCU, gp_now_srcu_ways },
	{ KD_SRC_RCU_GP, KD_M_RCU_GP_PENDING, KD_FL_TASKS, gp_now_tasks_ways },
	{ KD_SRC_RCU_GP, KD_M_RCU_GP_PENDING, KD_FL_TASKS_RUDE, gp_now_rude_ways },
	{ KD_SRC_RCU_GP, KD_M_RCU_GP_PENDING, KD_FL_TASKS_TRACE, gp_now_trace_ways },
	{ KD_SRC_RCU_GP, KD_M_RCU_GP_DURATION, KD_FL_RCU, gp_rcu_ways },
	{ KD_SRC_RCU_GP, KD_M_RCU_GP_DURATION, KD_FL_EXPEDITED, gp_exp_ways },
	{ KD_SRC_RCU_GP, KD_M_RCU_GP_DURATION, KD_FL_SRCU, gp_srcu_ways },
	{ KD_SRC_RCU_GP, KD_M_RCU_GP_DURATION, KD_FL_TASKS, gp_tasks_ways },
	{ KD_SRC_RCU_GP, KD_M_RCU_GP_DURATION, KD_FL_TASKS_RUDE, gp_rude_ways },
	{ KD_SRC_RCU_GP, KD_M_RCU_GP_DURATION, KD_FL_TASKS_TRACE, gp_trace_ways },
	{ KD_SRC_RCU_GP, KD_M_RCU_GP_WAIT, KD_FL_RCU, wait_rcu_ways },
	{ KD_SRC_RCU_GP, KD_M_RCU_GP_WAIT, KD_FL_EXPEDITED, wait_exp_ways },
	{ KD_SRC_RCU_GP, KD_M_RCU_GP_WAIT, KD_FL_SRCU, wait_srcu_ways },
	{ KD_SRC_RCU_GP, KD_M_RCU_GP_WAIT, KD_FL_TASKS, wait_tasks_ways },
	{ KD_SRC_RCU_GP, KD_M_RCU_GP_WAIT, KD_FL_TASKS_RUDE, wait_rude_ways },
	{ KD_SRC_RCU_GP, KD_M_RCU_GP_WAIT, KD_FL_TASKS_TRACE, wait_trace_ways },
	{ KD_SRC_RCU_GP, KD_M_RCU_GP_HOLDUP, KD_FL_RCU, holdup_gp_rcu_ways },
	{ KD_SRC_RCU_GP, KD_M_RCU_GP_HOLDUP, KD_FL_EXPEDITED, holdup_gp_exp_ways },
	{ KD_SRC_RCU_GP, KD_M_RCU_GP_HOLDUP, KD_FL_SRCU, holdup_gp_srcu_ways },
	{ KD_SRC_RCU_GP, KD_M_RCU_GP_HOLDUP, KD_FL_TASKS, holdup_gp_tasks_ways },
	{ KD_SRC_RCU_GP, KD_M_RCU_GP_HOLDUP, KD_FL_TASKS_RUDE, holdup_gp_rude_ways },
	{ KD_SRC_RCU_GP, KD_M_RCU_GP_HOLDUP, KD_FL_TASKS_TRACE, holdup_gp_trace_ways },
	{ KD_SRC_CALL_RCU, KD_M_CALL_RCU_HOLDUP, KD_FL_RCU, holdup_cb_ways },
	{ KD_SRC_RSTAT, KD_M_RSTAT_HOLDUP, KD_FL_NONE, holdup_rstat_ways },
	{ KD_SRC_MEMALLOC, KD_M_MEMALLOC_LATENCY, KD_FL_NONE, memalloc_latency_ways },
	{ KD_SRC_MEMALLOC, KD_M_MEMALLOC_REFILL, KD_FL_NONE, mem_work_ways },
	{ KD_SRC_MEMALLOC, KD_M_MEMALLOC_DRAIN, KD_FL_NONE, mem_work_ways },
	{ KD_SRC_MEMALLOC, KD_M_MEMALLOC_REFILL_FAILED, KD_FL_NONE, mem_work_ways },
	{ KD_SRC_MEMALLOC, KD_M_MEMALLOC_PENDING, KD_FL_NONE, memalloc_pending_ways },
	{ KD_SRC_RSTAT, KD_M_RSTAT_FLUSH, KD_FL_NONE, rstat_flush_ways },
	{ KD_SRC_RSTAT, KD_M_RSTAT_WAIT, KD_FL_NONE, rstat_wait_ways },
	{ KD_SRC_RSTAT, KD_M_RSTAT_HOLD, KD_FL_NONE, rstat_hold_ways },
	{ KD_SRC_RSTAT, KD_M_RSTAT_WORK, KD_FL_NONE, rstat_work_ways },
	{ KD_SRC_RSTAT, KD_M_RSTAT_CGROUPS, KD_FL_NONE, rstat_cgroups_ways },
	{ KD_SRC_RSTAT, KD_M_RSTAT_BLAME, KD_FL_NONE, rstat_blame_ways },
	{ KD_SRC_RSTAT, KD_M_RSTAT_HELD, KD_FL_NONE, rstat_held_ways },
	{ KD_SRC_RSTAT, KD_M_RSTAT_IRQS, KD_FL_NONE, rstat_irqs_ways },
	{ KD_SRC_RSTAT, KD_M_RSTAT_OFF_CPU, KD_FL_NONE, rstat_off_cpu_ways },
	{ KD_SRC_RSTAT, KD_M_RSTAT_HOLD_BY_8, KD_FL_NONE, rstat_hold_by_8_ways },
	{ KD_SRC_RSTAT, KD_M_RSTAT_FLUSH_BY_8, KD_FL_NONE, rstat_flush_by_8_ways },
	{ KD_SRC_RSTAT, KD_M_RSTAT_PENDING, KD_FL_NONE, rstat_pending_ways },
};

/* clang-format on */

const size_t plan_table_len = sizeof(plan_table) / sizeof(plan_table[0]);

/*
 * Seen to hang: on 6.1 a program on these runs through a trampoline that itself enters a reader,
 * and the guest never came back.
 */
static const struct {
	const char *function, *why;
} forbidden[] = {
	{ "__rcu_read_lock",
	  "the trampoline itself is an RCU reader: attaching there stalls the kernel" },
	{ "__rcu_read_unlock",
	  "the trampoline itself is an RCU reader: attaching there stalls the kernel" },
};

const char *plan_forbidden(const char *function)
{
	for (size_t i = 0; i < sizeof(forbidden) / sizeof(forbidden[0]); i++)
		if (!__builtin_strcmp(function, forbidden[i].function))
			return forbidden[i].why;
	return 0;
}
