/* SPDX-License-Identifier: GPL-2.0-only */
/* plan_ways.h - ways that are declared in files of their own; plan_table.c has the rows. */
#ifndef KDEFER_PLAN_WAYS_H
#define KDEFER_PLAN_WAYS_H

#include "plan.h"

extern const struct plan_way rstat_flush_ways[], rstat_wait_ways[], rstat_hold_ways[],
	rstat_work_ways[], rstat_cgroups_ways[], rstat_blame_ways[], rstat_pending_ways[],
	rstat_held_ways[], rstat_irqs_ways[], rstat_off_cpu_ways[], rstat_hold_by_8_ways[],
	rstat_flush_by_8_ways[];
extern const struct plan_way holdup_gp_rcu_ways[], holdup_gp_exp_ways[], holdup_gp_tasks_ways[],
	holdup_gp_trace_ways[], holdup_gp_srcu_ways[], holdup_gp_rude_ways[], holdup_cb_ways[];
extern const struct plan_way holdup_rstat_ways[];

#endif
