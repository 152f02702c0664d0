// SPDX-License-Identifier: GPL-2.0-only
/* plan_holdup_cb.c - ways to tell why RCU callbacks waited or ran for long. */
#include <stddef.h>

#include "plan_ways.h"

/* Tables: one hook a line, as far as that goes. */
/* clang-format off */

#define OFFLOADED .case_type = "rcu_data", .case_field = "nocb_cb_kthread"

static const struct plan_hook callbacks[] = {
	{ .program = "hc_enqueue", .target = "rcu_segcblist_enqueue", .need = HOOK_REQUIRED },
	{ .program = "hc_dequeue", .target = "rcu_cblist_dequeue", .need = HOOK_REQUIRED },
	{ .program = "hc_batch", .target = "rcu_segcblist_extract_done_cbs", .need = HOOK_REQUIRED },
	{ .program = "hc_batch_out", .target = "rcu_do_batch", .need = HOOK_REQUIRED },
	{ .program = "hc_accelerate", .target = "rcu_segcblist_accelerate", .need = HOOK_OPTIONAL,
	  .without = "when a grace period was asked for" },
	{ .program = "hc_gp_out", .target = "rcu_gp_cleanup", .need = HOOK_OPTIONAL,
	  .without = "when a callback was ready to be run" },
	{ .program = "hc_tick", .target = "rcu_sched_clock_irq", .need = HOOK_OPTIONAL,
	  .without = "what ran in place of callbacks" },
	{ .program = "hc_bypass", .target = "rcu_cblist_enqueue", .need = HOOK_OPTIONAL,
	  .without = "callbacks of offloaded CPUs that join their bypass list", OFFLOADED },
	{ .program = "hc_bypass_flush", .target = "rcu_cblist_flush_enqueue", .need = HOOK_OPTIONAL,
	  .without = "some callbacks of offloaded CPUs", OFFLOADED },
	{ .program = "hc_lazy_wish", .target = "__call_rcu_common", .need = HOOK_OPTIONAL,
	  .without = "lazy callbacks as such", .case_type = "rcu_data", .case_field = "lazy_len" },
	{ 0 },
};

static const struct plan_field fields[] = {
	{ "rcu_data", "cblist" }, { "rcu_data", "mynode" }, { 0 },
};

static const char *const percpu[] = { "percpu:rcu_data", "percpu:runqueues", NULL };

const struct plan_way holdup_cb_ways[] = {
	{ BACKEND_FENTRY, callbacks, fields, percpu },
	{ 0 },
};

/* clang-format on */
