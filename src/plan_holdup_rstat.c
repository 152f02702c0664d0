// SPDX-License-Identifier: GPL-2.0-only
/* plan_holdup_rstat.c - ways to tell why flushes of cgroup statistics took long. */
#include <stddef.h>

#include "plan_ways.h"

/* Tables: one hook a line, as far as that goes. */
/* clang-format off */

#define BOTH_ENDS(name, function) \
	{ .program = name "_in", .target = function, .need = HOOK_REQUIRED }, \
	{ .program = name "_out", .target = function, .need = HOOK_REQUIRED }
#define LOCK \
	{ .program = "hr_wait_in", .target = "cgroup_rstat_lock_contended", .need = HOOK_REQUIRED, .is_tp = true }, \
	{ .program = "hr_hold_in", .target = "cgroup_rstat_locked", .need = HOOK_REQUIRED, .is_tp = true }, \
	{ .program = "hr_hold_out", .target = "cgroup_rstat_unlock", .need = HOOK_REQUIRED, .is_tp = true }
#define VISIT(name, function, what) \
	{ .program = name, .target = function, .need = HOOK_OPTIONAL, .without = what }
#define CALLS BOTH_ENDS("hr_flush", "cgroup_rstat_flush"), BOTH_ENDS("hr_keep", "cgroup_rstat_flush_hold")
#define VISITS VISIT("hr_visit_base", "bpf_rstat_flush", "how many cgroups were visited")
#define NO_HOLDS .note = "holds of the lock are told of where it is never given up on the way"
#define NO_FLUSHES .note = "holds and waits alone: its functions are not hooked"

static const struct plan_hook by_subsys_hooks[] = {
	BOTH_ENDS("hr_css", "css_rstat_flush"), LOCK,
	VISIT("hr_visit_base", "bpf_rstat_flush", "cgroups visited for base statistics"),
	VISIT("hr_visit_memory", "mem_cgroup_css_rstat_flush", "cgroups visited for memory"),
	VISIT("hr_visit_io", "blkcg_rstat_flush", "cgroups visited for io"),
	{ 0 },
};
static const struct plan_hook by_cgroup_hooks[] = { CALLS, LOCK, VISITS, { 0 } };
static const struct plan_hook irqsafe_hooks[] = {
	BOTH_ENDS("hr_irqsafe", "cgroup_rstat_flush_irqsafe"), CALLS,
	{ .program = "hr_body_in", .target = "cgroup_rstat_flush_locked", .need = HOOK_REQUIRED, NO_HOLDS },
	{ .program = "hr_body_out", .target = "cgroup_rstat_flush_locked", .need = HOOK_REQUIRED },
	VISITS, { 0 },
};
static const struct plan_hook old_hooks[] = {
	CALLS,
	{ .program = "hr_body_in", .target = "cgroup_rstat_flush_locked", .need = HOOK_REQUIRED, NO_HOLDS },
	{ .program = "hr_body_out", .target = "cgroup_rstat_flush_locked", .need = HOOK_REQUIRED },
	VISITS, { 0 },
};
static const struct plan_hook lock_hooks[] = {
	{ .program = "hr_wait_in", .target = "cgroup_rstat_lock_contended", .need = HOOK_REQUIRED, NO_FLUSHES },
	{ .program = "hr_hold_in", .target = "cgroup_rstat_locked", .need = HOOK_REQUIRED },
	{ .program = "hr_hold_out", .target = "cgroup_rstat_unlock", .need = HOOK_REQUIRED },
	{ 0 },
};

static const struct plan_field by_subsys[] = { { "css_rstat_cpu", "updated_next" }, { 0 } };
static const struct plan_field by_cgroup[] = { { "cgroup_rstat_cpu", "updated_next" }, { 0 } };

const struct plan_way holdup_rstat_ways[] = {
	{ BACKEND_FENTRY, by_subsys_hooks, by_subsys, NULL },
	{ BACKEND_FENTRY, by_cgroup_hooks, by_cgroup, NULL },
	{ BACKEND_FENTRY, irqsafe_hooks, by_cgroup, NULL },
	{ BACKEND_FENTRY, old_hooks, by_cgroup, NULL },
	{ BACKEND_TP_BTF, lock_hooks, NULL, NULL },
	{ 0 },
};

/* clang-format on */
