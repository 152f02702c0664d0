// SPDX-License-Identifier: GPL-2.0-only
/* Names are a contract with scripts: each is written out here a second time. */
#include <errno.h>

#include "catalog.h"
#include "records.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const char *const flavours[] = { "rcu",         "srcu",   "tasks",     "tasks_rude",
					"tasks_trace", "kfree",  "expedited", "all",
					"base",        "memory", "io",        "other" };
static const char *const losses[] = {
	"ring_full",   "table_full",  "recursion", "unmatched_begin", "unmatched_end",
	"pre_start",   "sampled_out", "clock",     "lazy_unknown",    "extreme",
	"unknown_end", "lists",       "look",      "kdefer",          "vanished",
	"torn",        "reports",     "alike"
};
static const char *const sources[] = { "call_rcu", "rcu_gp", "memalloc", "rstat" };
static const char *const counts[] = { "begun",
				      "done",
				      "open",
				      "barrier",
				      "left",
				      "kdefer",
				      "runs",
				      "run_ns",
				      "in_flush_ns",
				      "in_hold_ns",
				      "lists_checked",
				      "lists_unchecked",
				      "runs_left_out",
				      "flow_looks",
				      "flow_in",
				      "flow_out",
				      "flow_in_bytes",
				      "flow_out_bytes",
				      "lists_read_bytes",
				      "lists_runs",
				      "lists_run_ns",
				      "lists_longest_run_ns",
				      "objects_from_slab",
				      "objects_recycled",
				      "objects_from_either",
				      "objects_drained" };
static const char *const lists[] = { "done",
				     "wait",
				     "next_ready",
				     "next",
				     "lazy",
				     "bypass",
				     "invoking",
				     "kfree",
				     "free_llist",
				     "free_llist_extra",
				     "free_by_rcu",
				     "waiting_for_gp",
				     "free_by_rcu_ttrace",
				     "waiting_for_gp_ttrace",
				     "updated",
				     "waiters",
				     "backlog",
				     "cpus_owed",
				     "tasks_owed" };
static const char *const stages[] = { "rcu", "tasks_trace" };
static const char *const classes[] = { "other", "memory.stat", "cpu.stat", "periodic", "reclaim",
				       "zswap", "removal",     "bpf",      "io.stat",  "kdefer" };
static const char *const gp_states[] = { "idle", "starting", "waiting", "cleanup" };
static const char *const measures[] = {
	"call_rcu.latency",
	"rcu_gp.duration",
	"rcu_gp.wait",
	"call_rcu.pending",
	"rcu_gp.pending",
	"memalloc.pending",
	"rstat.pending",
	"memalloc.latency",
	"memalloc.refill",
	"memalloc.drain",
	"memalloc.refill_failed",
	"rstat.flush",
	"rstat.wait",
	"rstat.hold",
	"rstat.work",
	"rstat.cgroups",
	"rstat.blame",
	"call_rcu.holdup",
	"rcu_gp.holdup",
	"rstat.holdup",
	"rstat.held",
	"rstat.irqs",
	"rstat.off_cpu",
	"rstat.hold_by_8",
	"rstat.flush_by_8",
};

static void test_sources(void **state)
{
	unsigned int i, found;

	(void)state;
	assert_int_equal(COUNT(sources), KD_SRC_COUNT);
	for (i = 0; i < KD_SRC_COUNT; i++) {
		assert_string_equal(source_name(i), sources[i]);
		assert_int_equal(source_by_name(sources[i], &found), 0);
		assert_int_equal(found, i);
	}
	assert_string_equal(source_name(KD_SRC_COUNT), "?");
	assert_string_equal(source_name(UINT32_MAX), "?");
	assert_int_equal(source_by_name("call_rc", &found), -ENOENT);
	assert_int_equal(source_by_name("", &found), -ENOENT);
}

static void test_flavours(void **state)
{
	unsigned int i, found;

	(void)state;
	assert_int_equal(COUNT(flavours) + 1, KD_FL_COUNT);
	assert_null(flavour_name(KD_FL_NONE));
	assert_null(flavour_name(KD_FL_COUNT));
	for (i = 1; i < KD_FL_COUNT; i++) {
		assert_string_equal(flavour_name(i), flavours[i - 1]);
		assert_int_equal(flavour_by_name(flavours[i - 1], &found), 0);
		assert_int_equal(found, i);
	}
	assert_int_equal(flavour_by_name("none", &found), -ENOENT);
}

/* What has no name would be printed as evidence of nothing. */
static void test_waits(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < KD_F_COUNT; i++) {
		assert_non_null(wait_fact(i)->name);
		assert_true(*wait_fact(i)->what);
	}
	assert_null(wait_fact(KD_F_COUNT));
	for (i = 0; i < KD_WAIT_COUNT; i++)
		assert_string_not_equal(wait_name(i), "?");
	for (i = 0; i < KD_PH_COUNT; i++)
		assert_string_not_equal(phase_text(i), "?");
	for (i = 0; i < KD_ROLE_COUNT; i++)
		assert_string_not_equal(role_name(i), "?");
	for (i = 0; i < KD_HOW_COUNT; i++)
		assert_string_not_equal(how_name(i), "?");
	assert_string_equal(holdup_measure(KD_SRC_RCU_GP)->name, "holdup");
	assert_string_equal(holdup_measure(KD_SRC_MEMALLOC)->name, "?");
	assert_true(holdup_measures() >> KD_M_RSTAT_HOLDUP & 1);
	assert_false(holdup_measures() >> KD_M_RSTAT_HOLD & 1);
}

static void test_measures(void **state)
{
	const struct measure_info *info;
	unsigned int i, found;

	(void)state;
	assert_int_equal(COUNT(measures), KD_M_COUNT);
	for (i = 0; i < KD_M_COUNT; i++) {
		char name[64];

		info = measure_info(i);
		assert_non_null(info);
		snprintf(name, sizeof(name), "%s.%s", source_name(info->source), info->name);
		assert_string_equal(name, measures[i]);
		assert_int_equal(info->id, i);
		assert_true(info->source < KD_SRC_COUNT && info->meaning > 0);
		assert_true(info->name && info->what && info->begins && info->ends &&
			    info->group_key);
		assert_int_equal(measure_by_name(info->source, info->name, &found), 0);
		assert_int_equal(found, i);
	}
	assert_null(measure_info(KD_M_COUNT));
	assert_null(measure_info(UINT32_MAX));

	info = measure_info(KD_M_CALL_RCU_LATENCY);
	assert_int_equal(info->source, KD_SRC_CALL_RCU);
	assert_string_equal(info->name, "latency");
	assert_string_equal(unit_name(info->unit), "ns");
	assert_int_equal(info->meaning, 1);
	assert_int_equal(info->by, KEY_BIT(KEY_FUNC) | KEY_BIT(KEY_LAZY));
	assert_int_equal(measure_by_name(KD_SRC_RSTAT, "latency", &found), -ENOENT);
	assert_int_equal(measure_by_name(KD_SRC_CALL_RCU, "flush", &found), -ENOENT);
}

static void test_losses_and_counts(void **state)
{
	unsigned int i, k;

	(void)state;
	assert_int_equal(COUNT(losses), KD_LOST_COUNT);
	assert_int_equal(COUNT(counts), KD_CNT_COUNT);
	for (i = 0; i < KD_LOST_COUNT; i++) {
		assert_string_equal(lost_name(i), losses[i]);
		assert_true(strlen(lost_help(i)) > 10);
		for (k = 0; k < i; k++)
			assert_string_not_equal(lost_help(i), lost_help(k));
	}
	for (i = 0; i < KD_CNT_COUNT; i++)
		assert_string_equal(count_name(i), counts[i]);
	assert_string_equal(lost_name(KD_LOST_COUNT), "?");
	assert_string_equal(lost_help(KD_LOST_COUNT), "?");
	assert_string_equal(count_name(KD_CNT_COUNT), "?");
}

static void test_states(void **state)
{
	unsigned int i;

	(void)state;
	assert_int_equal(COUNT(lists), KD_LIST_COUNT);
	for (i = 0; i < KD_LIST_COUNT; i++)
		assert_string_equal(list_name(i), lists[i]);
	assert_string_equal(list_name(KD_LIST_COUNT), "?");
	assert_string_equal(list_name(KD_LIST_UNKNOWN), "?");
	assert_int_equal(COUNT(stages) + 1, KD_STAGE_COUNT);
	assert_null(stage_name(KD_STAGE_NONE));
	assert_null(stage_name(KD_STAGE_COUNT));
	for (i = 1; i < KD_STAGE_COUNT; i++)
		assert_string_equal(stage_name(i), stages[i - 1]);
	assert_int_equal(COUNT(classes), KD_FC_COUNT);
	for (i = 0; i < KD_FC_COUNT; i++)
		assert_string_equal(flusher_class_name(i), classes[i]);
	assert_string_equal(flusher_class_name(KD_FC_COUNT), "?");
	assert_int_equal(COUNT(gp_states), KD_GP_STATE_COUNT);
	for (i = 0; i < KD_GP_STATE_COUNT; i++)
		assert_string_equal(gp_state_name(i), gp_states[i]);
	assert_string_equal(gp_state_name(KD_GP_STATE_COUNT), "?");
}

static void test_units_and_dims(void **state)
{
	(void)state;
	assert_string_equal(unit_name(UNIT_NS), "ns");
	assert_string_equal(unit_name(UNIT_COUNT), "count");
	assert_string_equal(dim_name(KD_DIM_CPU), "cpu");
	assert_string_equal(dim_name(KD_DIM_FLUSHER), "flusher");
	assert_string_equal(dim_name(KD_DIM_COUNT), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sources),
		cmocka_unit_test(test_flavours),
		cmocka_unit_test(test_measures),
		cmocka_unit_test(test_waits),
		cmocka_unit_test(test_losses_and_counts),
		cmocka_unit_test(test_units_and_dims),
		cmocka_unit_test(test_states),
	};

	return cmocka_run_group_tests_name("catalog", tests, NULL, NULL);
}
