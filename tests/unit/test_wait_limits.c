// SPDX-License-Identifier: GPL-2.0-only
/* --over: which waits are armed, with which limits, and what is refused. */
#include <errno.h>

#include "records.h"
#include "wait_limits.h"
#include "model.h"

#define MS 1000000ULL

static struct limits l;
static struct plan_request all;
static struct session_conf conf;

static int setup(void **state)
{
	(void)state;
	forget_log();
	memset(&l, 0, sizeof(l));
	session_conf_init(&conf);
	all = conf.want;
	return 0;
}

static void choose(const struct plan_request *want, bool sources)
{
	assert_int_equal(limits_choose(&l, want, sources, "why"), 0);
	conf.want.measures = 0;
	conf.want.sources = 0;
	limits_apply(&l, &conf);
}

static void without_it_all_have_defaults(void **state)
{
	(void)state;
	choose(&all, false);
	assert_int_equal(conf.want.measures, holdup_measures());
	assert_int_equal(conf.over_gp_ns[KD_FL_RCU], 100 * MS);
	assert_int_equal(conf.over_gp_ns[KD_FL_TASKS], 2000 * MS);
	assert_int_equal(conf.over_ns[KD_M_RCU_GP_DURATION], 100 * MS); /* the least */
	assert_int_equal(conf.over_ns[KD_M_RCU_GP_HOLDUP], 100 * MS);
	assert_int_equal(conf.over_ns[KD_M_CALL_RCU_LATENCY], 500 * MS);
	assert_int_equal(conf.over_ns[KD_M_CALL_RCU_HOLDUP], 10 * MS); /* of a run */
	assert_int_equal(conf.over_ns[KD_M_RSTAT_HOLD], 10 * MS);
	assert_int_equal(conf.over_ns[KD_M_RSTAT_HOLDUP], 10 * MS);
	assert_non_null(strstr(limits_defaults(), "rcu_gp.rcu=100ms"));
	assert_non_null(strstr(limits_defaults(), "rstat.hold=10ms"));
}

static void one_time_for_all(void **state)
{
	(void)state;
	assert_int_equal(limits_parse(&l, "50ms"), 0);
	choose(&all, false);
	for (unsigned int f = KD_FL_RCU; f < KD_FL_RCU_END; f++)
		assert_int_equal(conf.over_gp_ns[f], f == KD_FL_KFREE ? 0 : 50 * MS);
	assert_int_equal(conf.over_ns[KD_M_RSTAT_WAIT], 50 * MS);
}

/* What is not named is not hooked. */
static void only_what_is_named(void **state)
{
	(void)state;
	assert_int_equal(limits_parse(&l, "rstat.hold=5ms,rcu_gp.expedited=1s"), 0);
	choose(&all, false);
	assert_int_equal(conf.want.measures,
			 1ULL << KD_M_RSTAT_HOLDUP | 1ULL << KD_M_RCU_GP_HOLDUP);
	assert_int_equal(conf.over_ns[KD_M_RSTAT_HOLD], 5 * MS);
	assert_int_equal(conf.over_ns[KD_M_RSTAT_FLUSH], 0);
	assert_int_equal(conf.over_gp_ns[KD_FL_RCU], 0);
	assert_int_equal(conf.over_gp_ns[KD_FL_EXPEDITED], 1000 * MS);
	assert_int_equal(conf.over_ns[KD_M_RCU_GP_WAIT], 0);
	assert_int_equal(~conf.want.hidden[KD_M_RCU_GP_HOLDUP], 1u << KD_FL_EXPEDITED);
}

static void a_name_may_stand_for_several(void **state)
{
	(void)state;
	assert_int_equal(limits_parse(&l, "rcu_gp.duration=70ms,rcu_tasks_trace=3s,call_rcu=1s"),
			 0);
	choose(&all, false);
	assert_int_equal(conf.over_gp_ns[KD_FL_RCU], 70 * MS);
	assert_int_equal(conf.over_gp_ns[KD_FL_TASKS_TRACE], 3000 * MS); /* the later one counts */
	assert_int_equal(conf.over_ns[KD_M_RCU_GP_WAIT], 0);
	assert_int_equal(conf.over_ns[KD_M_CALL_RCU_LATENCY], 1000 * MS);
	assert_int_equal(conf.over_ns[KD_M_CALL_RCU_HOLDUP], 1000 * MS);
}

static void names_and_the_rest(void **state)
{
	(void)state;
	assert_int_equal(limits_parse(&l, "30ms,rstat=2ms"), 0);
	choose(&all, false);
	assert_int_equal(conf.over_gp_ns[KD_FL_SRCU], 30 * MS);
	assert_int_equal(conf.over_ns[KD_M_RSTAT_WAIT], 2 * MS);
}

static void sources_choose(void **state)
{
	struct plan_request want = all;

	(void)state;
	want.measures = 1ULL << KD_M_RSTAT_HOLD;
	choose(&want, true);
	assert_int_equal(conf.want.measures, 1ULL << KD_M_RSTAT_HOLDUP);
	assert_int_equal(conf.over_ns[KD_M_RSTAT_HOLD], 10 * MS);
	assert_int_equal(conf.over_ns[KD_M_RSTAT_FLUSH], 0);
	/* Of what was asked for by -s, what is not named keeps its default. */
	assert_int_equal(limits_parse(&l, "rstat.hold=1ms"), 0);
	want.measures = 1ULL << KD_M_RSTAT_HOLD | 1ULL << KD_M_RSTAT_WAIT;
	choose(&want, true);
	assert_int_equal(conf.over_ns[KD_M_RSTAT_HOLD], MS);
	assert_int_equal(conf.over_ns[KD_M_RSTAT_WAIT], 50 * MS);
	/* A limit of what was not asked for is a mistake. */
	assert_int_equal(limits_parse(&l, "rcu_gp=1ms"), 0);
	assert_int_equal(limits_choose(&l, &want, true, "why"), -EINVAL);
	assert_logged("--sources does not ask for it");
}

static void nothing_to_explain(void **state)
{
	struct plan_request want = all;

	(void)state;
	want.measures = 1ULL << KD_M_MEMALLOC_LATENCY | 1ULL << KD_M_RCU_GP_PENDING;
	assert_false(limits_any(&want));
	assert_int_equal(limits_choose(&l, &want, true, "why"), -EINVAL);
	assert_logged("no wait of these can be explained");
	assert_true(limits_any(&all));
}

static void wrong_ones(void **state)
{
	static const char *const wrong[] = {
		"",        "x",    "50",   "=5ms", "rcu_gp",     "rcu_gp=",         "rcu_gp=0",
		"rcu=5ms", "5ms,", ",5ms", "0",    "rstat.=5ms", "rstat.holdup=1ms"
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		if (!strcmp(wrong[i], "50")) /* seconds, as everywhere */
			continue;
		forget_log();
		if (limits_parse(&l, wrong[i]) != -EINVAL)
			fail_msg("\"%s\" is taken", wrong[i]);
		assert_logged("--over: ");
	}
}

static void limits_stand_in_the_stream(void **state)
{
	const char *name;
	struct model m;
	struct stream s;
	uint64_t ns;

	(void)state;
	model_init(&m);
	stream_init(&s, model_record, &m);
	assert_int_equal(limits_parse(&l, "rstat.hold=5ms,rcu_gp.rcu=1s"), 0);
	choose(&all, false);
	assert_int_equal(limits_emit(&l, &s), 0);
	assert_true(limits_told(&m, 0, &name, &ns));
	assert_string_equal(name, "rcu_gp.rcu");
	assert_int_equal(ns, 1000 * MS);
	assert_true(limits_told(&m, 1, &name, &ns));
	assert_string_equal(name, "rstat.hold");
	assert_false(limits_told(&m, 2, &name, &ns));
	model_free(&m);
}

#define TEST(f) cmocka_unit_test_setup(f, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(without_it_all_have_defaults), TEST(one_time_for_all),
		TEST(only_what_is_named),           TEST(a_name_may_stand_for_several),
		TEST(names_and_the_rest),           TEST(sources_choose),
		TEST(nothing_to_explain),           TEST(wrong_ones),
		TEST(limits_stand_in_the_stream),
	};

	return cmocka_run_group_tests_name("wait_limits", tests, NULL, NULL);
}
