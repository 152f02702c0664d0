// SPDX-License-Identifier: GPL-2.0-only
/* Options that commands share: what they mean, alone and together, and what is said when wrong. */
#include <errno.h>

/* They belong to no library: this is all that the test needs of tools/. */
#include "../../tools/common.c"
#include "../../tools/common_values.c"
#include "../../tools/endings.c"
#include "../../tools/output.c"
#include "records.h"

#define SOURCE(id) (1u << (id))
#define LATENCY (1ull << KD_M_CALL_RCU_LATENCY)
#define DURATION (1ull << KD_M_RCU_GP_DURATION)
#define WAIT (1ull << KD_M_RCU_GP_WAIT)
#define REPORTS (1ULL << KD_M_RCU_GP_HOLDUP | 1ULL << KD_M_CALL_RCU_HOLDUP)
#define LISTS (1ull << KD_M_CALL_RCU_PENDING | 1ull << KD_M_RCU_GP_PENDING)
#define PENDING (1ull << KD_M_CALL_RCU_PENDING | 1ull << KD_M_RCU_GP_PENDING)

#define FLUSHER (1u << KD_DIM_FLUSHER) /* rstat is broken down by it unless told otherwise */

static struct common c;

static int setup(void **state)
{
	(void)state;
	forget_log();
	common_init(&c);
	return 0;
}

/* Returns -EINVAL and says just this. */
#define SPLIT                                                                             \
	(1ull << KD_M_RSTAT_HELD | 1ull << KD_M_RSTAT_IRQS | 1ull << KD_M_RSTAT_OFF_CPU | \
	 1ull << KD_M_RSTAT_HOLD_BY_8 | 1ull << KD_M_RSTAT_FLUSH_BY_8)

#define assert_refused(call, line)                      \
	do {                                            \
		forget_log();                           \
		assert_int_equal(call, -EINVAL);        \
		assert_string_equal(logged, line "\n"); \
	} while (0)

static void defaults_ask_for_all(void **state)
{
	struct session_conf conf;
	const struct scope all = common_scope(&c, true);

	(void)state;
	assert_true(all.interval);
	assert_true(scope_has_measure(&all, KD_M_CALL_RCU_LATENCY));
	common_conf(&c, &conf);
	assert_int_equal(conf.want.sources, UINT32_MAX);
	assert_int_equal(conf.want.measures, ~holdup_measures() & ~SPLIT);
	assert_int_equal(conf.want.backends, UINT32_MAX);
	assert_int_equal(conf.attach_timeout_ns, SESSION_ATTACH_TIMEOUT_NS);
	assert_int_equal(conf.max_memory, SESSION_MAX_MEMORY);
	assert_int_equal(conf.sample, 1);
	assert_int_equal(conf.dims, FLUSHER);
	assert_int_equal(common_check(&c, "x"), 0);
	assert_string_equal(logged, "");
}

static void sources(void **state)
{
	(void)state;
	assert_int_equal(parse_sources(&c.want, "call_rcu"), 0);
	assert_int_equal(c.want.sources, SOURCE(KD_SRC_CALL_RCU));
	assert_true(c.want.measures & LATENCY);
	assert_int_equal(parse_sources(&c.want, "call_rcu.latency,call_rcu"), 0);
	assert_int_equal(c.want.sources, SOURCE(KD_SRC_CALL_RCU));
	assert_true(c.want.measures & LATENCY);
	assert_int_equal(parse_sources(&c.want, "rcu_gp.duration"), 0);
	assert_int_equal(c.want.sources, SOURCE(KD_SRC_RCU_GP));
	assert_int_equal(c.want.measures, DURATION);
	assert_int_equal(c.want.named, DURATION);
	assert_int_equal(c.want.hidden[KD_M_RCU_GP_DURATION], 0);
	assert_refused(
		parse_sources(&c.want, "x"),
		"--sources: unknown source \"x\"; known: call_rcu, rcu_gp, memalloc, rstat, rcu_tasks_trace");
	assert_refused(parse_sources(&c.want, "call_rcu.x"),
		       "--sources: call_rcu has no measure \"x\"; known: latency, pending, holdup");
	assert_refused(
		parse_sources(&c.want, "call_rcu.latency.x"),
		"--sources: call_rcu has no measure \"latency.x\"; known: latency, pending, holdup");
	assert_refused(
		parse_sources(&c.want, "CALL_RCU"),
		"--sources: unknown source \"CALL_RCU\"; known: call_rcu, rcu_gp, memalloc, rstat, rcu_tasks_trace");
	assert_refused(parse_sources(&c.want, ",call_rcu"),
		       "--sources: there is an empty name in the list");
	assert_refused(parse_sources(&c.want, ""), "--sources: there is an empty name in the list");
	assert_refused(parse_sources(&c.want, "call_rcu,"),
		       "--sources: there is an empty name in the list");
}

/* A name for one flavour of several measures; what is asked for whole stays whole. */
static void short_sources(void **state)
{
	const uint32_t rest = ~(1u << KD_FL_TASKS_TRACE);

	(void)state;
	assert_int_equal(parse_sources(&c.want, "rcu_tasks_trace"), 0);
	assert_int_equal(c.want.sources, SOURCE(KD_SRC_CALL_RCU) | SOURCE(KD_SRC_RCU_GP));
	assert_int_equal(c.want.measures, LATENCY | DURATION | WAIT | LISTS | REPORTS);
	assert_int_equal(c.want.hidden[KD_M_CALL_RCU_LATENCY], rest);
	assert_int_equal(c.want.hidden[KD_M_RCU_GP_DURATION], rest);
	assert_int_equal(c.want.hidden[KD_M_RCU_GP_WAIT], rest);
	assert_int_equal(parse_sources(&c.want, "rcu_tasks_trace,call_rcu"), 0);
	assert_int_equal(c.want.hidden[KD_M_CALL_RCU_LATENCY], 0);
	assert_int_equal(c.want.hidden[KD_M_RCU_GP_WAIT], rest);
}

/* Longer than any buffer for a name: cut, and still another name. */
static void long_names(void **state)
{
	char name[1000];

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	memcpy(name, "call_rcu", 8);
	assert_int_equal(parse_sources(&c.want, name), -EINVAL);
	assert_int_equal(parse_backends(&c.want, name), -EINVAL);
	assert_int_equal(parse_by(&c.by, name), -EINVAL);
	name[500] = '=';
	assert_int_equal(parse_filter(&c.filters, name), -EINVAL);
}

static void backends(void **state)
{
	(void)state;
	assert_int_equal(parse_backends(&c.want, "state,tp_btf"), 0);
	assert_int_equal(c.want.backends, 1u << BACKEND_STATE | 1u << BACKEND_TP_BTF);
	assert_int_equal(parse_backends(&c.want, "fentry"), 0);
	assert_int_equal(c.want.backends, 1u << BACKEND_FENTRY);
	assert_refused(parse_backends(&c.want, "fentry,x"),
		       "--backends: unknown backend \"x\"; known: tp_btf, fentry, kprobe, state");
	assert_refused(parse_backends(&c.want, "none"), "--backends: unknown backend \"none\"; "
							"known: tp_btf, fentry, kprobe, state");
	assert_refused(parse_backends(&c.want, "fentry,,state"),
		       "--backends: there is an empty name in the list");
}

#define KEYS                                                                                              \
	"known: flavour, subsystem, func, caller, module, stage, map_id, map_name, unit_size, "           \
	"cgroup_id, cgroup, hierarchy, flusher, flusher_class, tgid, flusher_thread, flusher_cgroup_id, " \
	"flusher_cgroup, cpu, lazy"

static void breakdowns(void **state)
{
	struct session_conf conf;

	(void)state;
	assert_int_equal(parse_by(&c.by, "cpu,func"), 0);
	assert_int_equal(c.by, 1u << KEY_CPU | 1u << KEY_FUNC);
	common_conf(&c, &conf);
	assert_int_equal(conf.dims, 1u << KD_DIM_CPU | FLUSHER);
	assert_int_equal(parse_by(&c.by, "lazy"), 0);
	assert_int_equal(common_query(&c, false, 5).by, 1u << KEY_LAZY);
	common_conf(&c, &conf);
	assert_int_equal(conf.dims, FLUSHER);
	assert_refused(parse_by(&c.by, "x"), "--by: unknown key \"x\"; " KEYS);
	assert_refused(parse_by(&c.by, "other"), "--by: unknown key \"other\"; " KEYS);
	assert_refused(parse_by(&c.by, ""), "--by: there is an empty name in the list");
}

static void filters(void **state)
{
	struct session_conf conf;
	struct query q;
	int i;

	(void)state;
	assert_int_equal(parse_filter(&c.filters, "func=a=b*"), 0);
	assert_int_equal(parse_filter(&c.filters, "lazy=true"), 0);
	q = common_query(&c, true, 5);
	assert_true(q.interval);
	assert_int_equal(q.nfilters, 2);
	assert_int_equal(q.filters[0].key, KEY_FUNC);
	assert_string_equal(q.filters[0].glob, "a=b*");
	assert_int_equal(q.filters[1].key, KEY_LAZY);
	assert_int_equal(q.by, 0);
	common_conf(&c, &conf);
	assert_int_equal(conf.dims, FLUSHER);
	assert_refused(parse_filter(&c.filters, "x=1"),
		       "--filter: unknown key \"x\"; " KEYS ", pid, comm, map");
	assert_int_equal(parse_filter(&c.filters, "map=12"), 0);
	assert_int_equal(c.filters.f[2].key, KEY_MAP_NAME);
	assert_int_equal(c.filters.f[2].also, KEY_BIT(KEY_MAP_ID));
	c.filters.n = 2;
	assert_refused(parse_filter(&c.filters, "func"),
		       "--filter: \"func\" is no KEY=GLOB; use e.g. func=nf_*");
	assert_refused(parse_filter(&c.filters, "func="),
		       "--filter: \"func=\" is no KEY=GLOB; use e.g. func=nf_*");
	assert_refused(parse_filter(&c.filters, "="),
		       "--filter: \"=\" is no KEY=GLOB; use e.g. func=nf_*");
	for (i = 2; i < FILTERS_MAX; i++)
		assert_int_equal(parse_filter(&c.filters, "func=x"), 0);
	assert_refused(parse_filter(&c.filters, "func=x"), "--filter: more than 32 of them");
}

static void filter_by_cpu_breaks_down_by_cpu(void **state)
{
	struct session_conf conf;

	(void)state;
	assert_int_equal(parse_filter(&c.filters, "cpu=3"), 0);
	assert_int_equal(common_query(&c, false, 0).by, 1u << KEY_CPU);
	common_conf(&c, &conf);
	assert_int_equal(conf.dims, 1u << KD_DIM_CPU | FLUSHER);
	assert_int_equal(common_check(&c, "x"), 0);
}

#define WHY " cannot be combined: events are counted by one or the other"

static void cpu_goes_with_nothing_else(void **state)
{
	(void)state;
	parse_filter(&c.filters, "cpu=3");
	parse_by(&c.by, "func");
	assert_refused(common_check(&c, "x"), "x: --filter cpu and --by func" WHY);
	parse_by(&c.by, "cpu,flavour");
	parse_filter(&c.filters, "flavour=rcu");
	assert_int_equal(common_check(&c, "x"), 0);
	parse_filter(&c.filters, "module=m");
	assert_refused(common_check(&c, "x"), "x: --filter cpu and --filter module" WHY);
	common_init(&c);
	parse_filter(&c.filters, "lazy=true");
	parse_by(&c.by, "cpu");
	assert_refused(common_check(&c, "x"), "x: --by cpu and --filter lazy" WHY);
	common_init(&c);
	parse_by(&c.by, "cpu,func,module,lazy,flavour");
	assert_int_equal(common_check(&c, "x"), 0);
}

static void how_many_keys(void **state)
{
	(void)state;
	assert_int_equal(common_query(&c, false, 10).top, 10);
	c.top = 3;
	assert_int_equal(common_query(&c, false, 10).top, 3);
	c.full = true;
	assert_refused(common_check(&c, "x"), "x: --top and --full exclude each other");
	c.top = 0;
	assert_int_equal(common_check(&c, "x"), 0);
	assert_int_equal(common_query(&c, false, 10).top, 0);
}

static void histograms_have_no_lists(void **state)
{
	(void)state;
	assert_int_equal(common_choose(&c, "x", false), 0);
	assert_int_equal(c.want.measures & PENDING, 0);
	assert_true(c.want.measures & LATENCY);
	c.want.named = LATENCY | 1ull << KD_M_RCU_GP_PENDING;
	assert_refused(common_choose(&c, "x", false),
		       "x: rcu_gp.pending is a list, and no time; kdefer lists -s rcu_gp shows it");
	c.want.named = LATENCY;
	assert_refused(common_choose(&c, "x", true),
		       "x: call_rcu.latency is no list; kdefer hist -s call_rcu shows it");
}

/* What costs more comes if it is asked for: by its option, or by name. A capture has it or not. */
static void measures_asked_for(void **state)
{
	struct session_conf conf;

	(void)state;
	c.split = true;
	common_conf(&c, &conf);
	assert_int_equal(conf.want.measures, ~holdup_measures());
	c.split = false;
	assert_int_equal(parse_sources(&c.want, "rstat,rstat.irqs"), 0);
	common_conf(&c, &conf);
	assert_int_equal(conf.want.measures & SPLIT, 1ull << KD_M_RSTAT_IRQS);
	assert_true(common_scope(&c, false).measures & 1ull << KD_M_RSTAT_HELD);
	c.split = true;
	assert_int_equal(common_check(&c, "x"), 0);
	assert_int_equal(parse_sources(&c.want, "rstat.flush"), 0);
	assert_refused(common_check(&c, "x"),
		       "x: --split is about rstat as a whole: use -s rstat, or no -s");
	c.split = false;
}

/* What a filter cannot cut is neither shown nor hooked. */
static void filters_choose_measures(void **state)
{
	struct session_conf conf;

	(void)state;
	c.want.measures = LATENCY | DURATION | WAIT;
	parse_filter(&c.filters, "caller=x");
	assert_int_equal(common_choose(&c, "x", false), 0);
	assert_int_equal(c.want.measures, LATENCY | DURATION | WAIT);
	common_conf(&c, &conf);
	assert_int_equal(conf.want.measures, WAIT);
	parse_filter(&c.filters, "subsystem=memory");
	assert_refused(common_choose(&c, "x", false),
		       "x: --filter: nothing that was asked for goes by caller, subsystem");
}

static void flushers_go_with_nothing_else(void **state)
{
	struct session_conf conf;

	(void)state;
	parse_filter(&c.filters, "flusher_class=reclaim");
	parse_by(&c.by, "flusher,tgid,subsystem");
	assert_int_equal(common_check(&c, "x"), 0);
	parse_by(&c.by, "cgroup");
	assert_refused(common_check(&c, "x"), "x: --filter flusher_class and --by cgroup" WHY);
	parse_by(&c.by, "cpu");
	assert_int_equal(common_check(&c, "x"), -EINVAL);
	common_init(&c);
	c.want.measures = LATENCY | WAIT;
	common_conf(&c, &conf);
	assert_int_equal(conf.dims, 0); /* of what has no flushers they are not asked for */
	parse_filter(&c.filters, "tgid=1");
	assert_int_equal(common_query(&c, false, 0).by, 1u << KEY_TGID);
}

static void one_kind_of_output(void **state)
{
	(void)state;
	c.json = true;
	assert_int_equal(common_check(&c, "x"), 0);
	c.ndjson = true;
	assert_refused(common_check(&c, "x"), "x: --json and --ndjson exclude each other");
}

static void samples(void **state)
{
	static const char *const wrong[] = {
		"",       "1",    "1/",        "/2",   "2/3",  "1/0",
		"1/-1",   "1/2x", "1/1048577", " 1/2", "1/ 2", "1/18446744073709551617",
		"1/0x10", "01/2",
	};
	size_t i;

	(void)state;
	assert_int_equal(parse_sample(&c.sample, "1/1"), 0);
	assert_int_equal(c.sample, 1);
	assert_int_equal(parse_sample(&c.sample, "1/1048576"), 0);
	assert_int_equal(c.sample, 1048576);
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(parse_sample(&c.sample, wrong[i]), -EINVAL);
	assert_int_equal(c.sample, 1048576);
	assert_refused(parse_sample(&c.sample, "half"),
		       "--sample: \"half\" is no share; use 1/N, N from 1 to 1048576");
}

static bool json_wanted(const char *a, const char *b, const char *d)
{
	char *argv[] = { (char *)"hist", (char *)a, (char *)b, (char *)d, NULL };

	return wants_json(4, argv);
}

static void json_is_wanted_even_in_wrong_usage(void **state)
{
	(void)state;
	assert_true(json_wanted("--frobnicate", "--json", "-d"));
	assert_true(json_wanted("a", "b", "--ndjson"));
	assert_true(json_wanted("--js", "b", "c")); /* as opts_parse() would take it */
	assert_true(json_wanted("--nd", "b", "c"));
	assert_false(json_wanted("--", "--json", "c")); /* of the command that follows */
	assert_false(json_wanted("--jsonx", "json", "-json"));
	assert_false(json_wanted("-", "", "x"));
}

/* The names of keys stand in a help text too. */
static void help_names_every_key(void **state)
{
	const struct opt *o = show_options;
	int k;

	(void)state;
	assert_string_equal(o->name, "by");
	for (k = 0; k < KEY_COUNT; k++)
		if (k != KEY_OTHER)
			assert_non_null(strstr(o->help_list(), key_text((enum key_name)k)));
	for (o = measure_options; strcmp(o->name, "backends"); o++)
		;
	for (k = BACKEND_NONE + 1; k < BACKEND_COUNT; k++)
		assert_non_null(strstr(o->help, backend_name((enum backend)k)));
}

static void budgets(void **state)
{
	struct session_conf conf;

	(void)state;
	common_conf(&c, &conf);
	assert_true(conf.budget == 0 && conf.budget_warns); /* what a command does not ask for */
	assert_true(common_budget(&c, 0.01) == 0.01);
	assert_int_equal(parse_budget(&c.budget, "2.5"), 0);
	assert_float_equal(c.budget, 0.025, 1e-9);
	assert_int_equal(parse_budget(&c.budget, "100%"), 0);
	assert_float_equal(c.budget, 1, 1e-9);
	assert_int_equal(parse_budget(&c.budget, "0"), 0);
	assert_true(common_budget(&c, 0.01) == 0);
	for (const char *const *bad = (const char *const[]){ "", "x", "-1", "101", "1%%", "1 %",
							     "nan", "inf", "0x", ".5", NULL };
	     *bad; bad++)
		assert_int_equal(parse_budget(&c.budget, *bad), -EINVAL);
	assert_refused(
		parse_budget(&c.budget, "1/8"),
		"--budget: \"1/8\" is no share of a CPU; use per cent, from 0 (none) to 100");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(defaults_ask_for_all, setup),
		cmocka_unit_test_setup(sources, setup),
		cmocka_unit_test_setup(short_sources, setup),
		cmocka_unit_test_setup(long_names, setup),
		cmocka_unit_test_setup(backends, setup),
		cmocka_unit_test_setup(breakdowns, setup),
		cmocka_unit_test_setup(filters, setup),
		cmocka_unit_test_setup(filter_by_cpu_breaks_down_by_cpu, setup),
		cmocka_unit_test_setup(cpu_goes_with_nothing_else, setup),
		cmocka_unit_test_setup(how_many_keys, setup),
		cmocka_unit_test_setup(histograms_have_no_lists, setup),
		cmocka_unit_test_setup(measures_asked_for, setup),
		cmocka_unit_test_setup(filters_choose_measures, setup),
		cmocka_unit_test_setup(flushers_go_with_nothing_else, setup),
		cmocka_unit_test_setup(one_kind_of_output, setup),
		cmocka_unit_test_setup(samples, setup),
		cmocka_unit_test_setup(budgets, setup),
		cmocka_unit_test_setup(json_is_wanted_even_in_wrong_usage, setup),
		cmocka_unit_test_setup(help_names_every_key, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
