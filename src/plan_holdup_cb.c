// SPDX-License-Identifier: GPL-2.0-only
/* plan_holdup_cb.c - ways to tell why RCU callbacks waited or ran for long. */
#include <stddef.h>

#include "plan_ways.h"

/* Tables: one hook a line, as far as that goes. */
/* clang-format off */

static const struct plan_hook callbacks[] = {
	{ .program = "hc_batch", .target = "rcu_segcblist_extract_done_cbs", .need = HOOK_REQUIRED },
	{ .program = "hc_tick", .target = "rcu_sched_clock_irq", .need = HOOK_REQUIRED },
	{ .program = "hc_gp_out", .target = "rcu_gp_cleanup", .need = HOOK_OPTIONAL,
	  .without = "when exactly a callback was ready to be run" },
	{ .program = "hc_migrate", .target = "rcutree_migrate_callbacks", .need = HOOK_OPTIONAL,
	  .without = "right numbers of callbacks behind a CPU that went offline" },
	{ 0 },
};

static const struct plan_field fields[] = {
	{ "rcu_data", "cblist" }, { "rcu_data", "mynode" }, { "rcu_data", "n_cbs_invoked" },
	{ "rcu_segcblist", "seglen" }, { "rcu_segcblist", "tails" }, { 0 },
};

static const char *const percpu[] = { "percpu:rcu_data", "percpu:runqueues", NULL };

const struct plan_way holdup_cb_ways[] = {
	{ BACKEND_FENTRY, callbacks, fields, percpu },
	{ 0 },
};

/* clang-format on */
