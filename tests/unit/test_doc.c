// SPDX-License-Identifier: GPL-2.0-only
/* The sections of the document: types that never change, null for what is absent, exact numbers. */
#include <math.h>
#include <stdlib.h>

#include "doc.h"
#include "own_cost.h"
#include "plan.h"
#include "records.h"

static struct model m;
static struct stream s;
static struct scope scope;
static char *text; /* of the last section */

static int setup(void **state)
{
	(void)state;
	forget_log();
	model_init(&m);
	stream_init(&s, model_record, &m);
	scope = (struct scope){ .measures = UINT64_MAX };
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	model_free(&m);
	free(text);
	text = NULL;
	return 0;
}

enum section { HOST, CLOCK, PLAN, METRICS, LOST, COUNTS, SELF, EVENTS };

static void put_metrics(struct json *j, const struct query *q)
{
	struct metric *metrics;
	size_t n;

	assert_int_equal(model_metrics(&m, q, &metrics, &n), 0);
	doc_metrics(j, &m, &scope, metrics, n);
	free(metrics);
}

static void put_section(struct json *j, enum section what, const struct kd_rec_self *before)
{
	const struct query q = { .interval = scope.interval, .top = 1 };

	switch (what) {
	case HOST:
		doc_host(j, &m);
		break;
	case CLOCK:
		doc_clock(j, &m, &scope);
		break;
	case PLAN:
		doc_plan(j, &m, &scope);
		break;
	case METRICS:
		put_metrics(j, &q);
		break;
	case LOST:
		doc_lost(j, &m, &scope);
		break;
	case COUNTS:
		doc_counts(j, &m, &scope);
		break;
	case SELF:
		doc_self(j, &m, &scope, before);
		break;
	case EVENTS:
		doc_events(j, &m, &scope);
		break;
	}
}

static const char *section_since(enum section what, const struct kd_rec_self *before)
{
	struct json j;
	size_t size;
	FILE *out;

	free(text);
	out = open_memstream(&text, &size);
	json_init(&j, out, false);
	json_open(&j, '{');
	put_section(&j, what, before);
	json_close(&j);
	assert_int_equal(json_end(&j), 0);
	fclose(out);
	text[size - 1] = '\0'; /* the newline */
	return text;
}

static const char *section(enum section what)
{
	return section_since(what, NULL);
}

#define assert_has(what)                                         \
	do {                                                     \
		if (!strstr(text, what))                         \
			fail_msg("%s is not in %s", what, text); \
	} while (0)
#define assert_has_not(what)                                 \
	do {                                                 \
		if (strstr(text, what))                      \
			fail_msg("%s is in %s", what, text); \
	} while (0)

static void fact(const char *name, const char *value)
{
	put_text(&s, KD_REC_HOST, 0, 0, name, value);
}

static void an_empty_model(void **state)
{
	(void)state;
	assert_string_equal(
		section(HOST),
		"{\"host\":{\"hostname\":null,\"boot_id\":null,\"kernel\":null,"
		"\"kernel_version\":null,\"build_id\":null,\"cmdline\":null,\"machine\":null,"
		"\"cpu_model\":null,"
		"\"cpus_online\":null,\"cpus_possible\":null,\"numa_nodes\":null,"
		"\"hypervisor\":null,\"hz\":null,\"first_fqs_jiffies\":null,"
		"\"preempt\":null,\"preempt_from\":null,\"taint\":null,"
		"\"config\":{}}}");
	assert_string_equal(section(CLOCK),
			    "{\"clock\":{\"start\":null,\"realtime_ns\":null,\"monotonic_ns\":null,"
			    "\"boottime_ns\":null},\"duration_ns\":0}");
	assert_string_equal(section(PLAN), "{\"plan\":[]}");
	assert_string_equal(section(METRICS), "{\"metrics\":[]}");
	assert_string_equal(section(LOST), "{\"lost\":{}}");
	assert_string_equal(section(COUNTS), "{\"counts\":{}}");
	assert_string_equal(
		section(SELF),
		"{\"self\":{\"events\":null,\"run_ns\":null,\"sampling\":\"1/1\",\"cpu_ns\":null,"
		"\"rss_bytes\":null,\"kernel_bytes\":null,\"attach_ns\":null,\"settle_ns\":null,\"detach_ns\":null,"
		"\"grace_periods\":null}}");
	assert_string_equal(section(EVENTS), "{\"events\":[]}");
}

static void host_facts_have_one_type(void **state)
{
	(void)state;
	fact("hz", "250");
	fact("taint", "18446744073709551615");
	fact("numa_nodes", "1.5");
	fact("cpus_online", "-1");
	fact("cpus_possible", "18446744073709551616");
	fact("kernel", "6.12");
	fact("hostname", "a\"\n\xff");
	fact("config.HZ", "250");
	fact("config.", "x");
	fact("unknown", "1");
	section(HOST);
	assert_has("\"hz\":250,");
	assert_has("\"taint\":18446744073709551615,");
	assert_has("\"numa_nodes\":null");
	assert_has("\"cpus_online\":null");
	assert_has("\"cpus_possible\":null");
	assert_has("\"kernel\":\"6.12\"");
	assert_has("\"hostname\":\"a\\\"\\u000a\\ufffd\"");
	assert_has("\"config\":{\"\":\"x\",\"HZ\":\"250\"}}");
	assert_has_not("unknown");
}

static void clock_is_where_the_window_begins(void **state)
{
	(void)state;
	fact("start", "2026-01-31T12:05:06.000000000Z");
	fact("realtime_ns", "1769861106000000000");
	fact("monotonic_ns", "900");
	fact("boottime_ns", "7900");
	section(CLOCK);
	assert_has("\"start\":\"2026-01-31T12:05:06.000000000Z\","
		   "\"realtime_ns\":1769861106000000000,\"monotonic_ns\":900,"
		   "\"boottime_ns\":7900}");
	put_tick(&s, 0, 1); /* at 1000 */
	put_tick(&s, 1, 1);
	put_tick(&s, 2, 1);
	section(CLOCK);
	assert_has("\"start\":\"2026-01-31T12:05:06.000000100Z\","
		   "\"realtime_ns\":1769861106000000100,\"monotonic_ns\":1000,"
		   "\"boottime_ns\":8000},\"duration_ns\":200}");
	scope.interval = true;
	section(CLOCK);
	assert_has("\"monotonic_ns\":1100,\"boottime_ns\":8100},\"duration_ns\":100}");
}

static void plan_rows(void **state)
{
	(void)state;
	put_plan(&s, KD_FL_RCU, PLAN_ON);
	put_plan(&s, KD_FL_NONE, PLAN_EXPECTED);
	put_text(&s, KD_REC_PLAN, KD_FL_SRCU << 16, 0, "", "");
	section(PLAN);
	assert_has("{\"source\":\"call_rcu\",\"measure\":\"latency\",\"flavour\":\"rcu\","
		   "\"backend\":\"tp_btf\",\"hooks\":[\"hook_a\",\"hook_b\"],\"state\":\"on\","
		   "\"reason\":\"reason\",\"fix\":\"fix\",\"meaning\":1}");
	assert_has("\"measure\":\"latency\",\"backend\":\"tp_btf\"");
	assert_has("\"state\":\"expected\"");
	assert_has("\"backend\":\"none\",\"hooks\":[],\"state\":\"off\"");
	scope.measures = 0;
	assert_string_equal(section(PLAN), "{\"plan\":[]}");
}

static void begin(void)
{
	put_plan(&s, KD_FL_RCU, PLAN_ON);
	put_tick(&s, 0, 1);
}

static void metrics_of_nothing(void **state)
{
	(void)state;
	begin();
	assert_string_equal(
		section(METRICS),
		"{\"metrics\":[{\"source\":\"call_rcu\",\"measure\":\"latency\",\"unit\":\"ns\","
		"\"key\":{\"flavour\":\"rcu\"},\"count\":0,\"sum\":0,\"min\":null,\"max\":null,"
		"\"p50\":null,\"p90\":null,\"p99\":null,\"p999\":null,\"exact\":true,"
		"\"buckets\":[]}]}");
}

static void metrics_are_exact(void **state)
{
	(void)state;
	begin();
	put_series(&s, 1, KD_FL_RCU, KD_DIM_MAIN, 0, 0xffffffff81000000, "a\"b [m]");
	put_bucket(&s, 1, 3, 9007199254740993); /* 2^53 + 1: a double cannot hold it */
	put_bucket(&s, 1, KD_HIST_BUCKETS - 1, 1);
	put_stat(&s, 1, UINT64_MAX, 3, UINT64_MAX);
	put_worst(&s, 1, 1050, UINT64_MAX, 7);
	put_tick(&s, 1, 1);
	section(METRICS);
	assert_has("\"key\":{\"flavour\":\"rcu\"},\"count\":9007199254740994,"
		   "\"sum\":18446744073709551615,\"min\":3,"
		   "\"max\":18446744073709551615,\"p50\":3,");
	assert_has("\"buckets\":[[3,4,9007199254740993],"
		   "[17293822569102704640,18446744073709551615,1]]");
	assert_has("\"worst\":[{\"time\":null,\"monotonic_ns\":1050,"
		   "\"value\":18446744073709551615,\"cpu\":7,"
		   "\"func\":\"a\\\"b\",\"module\":\"m\"}]");
	assert_has("\"key\":{\"flavour\":\"rcu\",\"func\":\"a\\\"b\",\"module\":\"m\"}");
	assert_has_not("ffffffff81");
	scope.raw_addresses = true;
	section(METRICS);
	assert_has("\"module\":\"m\",\"address\":\"0xffffffff81000000\"}");
	scope.measures = 0;
	assert_string_equal(section(METRICS), "{\"metrics\":[]}");
}

static void quantiles_need_samples(void **state)
{
	(void)state;
	begin();
	put_series(&s, 1, KD_FL_RCU, KD_DIM_MAIN, 0, 1, "f");
	put_bucket(&s, 1, 5, 19);
	put_stat(&s, 1, 95, 5, 5);
	put_tick(&s, 1, 1);
	section(METRICS);
	assert_has("\"p50\":null,\"p90\":null,\"p99\":null,\"p999\":null");
	put_bucket(&s, 1, 5, 999);
	put_tick(&s, 2, 1);
	section(METRICS);
	assert_has("\"p50\":5,\"p90\":5,\"p99\":null,\"p999\":null");
	put_bucket(&s, 1, 5, 10000);
	put_tick(&s, 3, 1);
	section(METRICS);
	assert_has("\"p50\":5,\"p90\":5,\"p99\":5,\"p999\":5");
}

static void what_is_not_exact_says_so(void **state)
{
	struct kd_rec_self self = { .rec = HEADER(self, KD_REC_SELF, 0), .sample = 16 };

	(void)state;
	begin();
	section(METRICS);
	assert_has("\"exact\":true");
	put_total(&s, KD_REC_LOST, KD_LOST_EXTREME, 1);
	put_tick(&s, 1, 1);
	section(METRICS);
	assert_has("\"exact\":false");
	put_tick(&s, 2, 1);
	scope.interval = true; /* of which the extremes are whole */
	section(METRICS);
	assert_has("\"exact\":true");
	stream_record(&s, &self, sizeof(self));
	section(METRICS);
	assert_has("\"exact\":false");
	section(SELF);
	assert_has("\"sampling\":\"1/16\"");
}

static void put_fact(const char *name, const char *value)
{
	const char *const texts[] = { name, value };
	union {
		struct kd_rec_text text;
		char room[KD_REC_MAX];
	} buf = { .text.rec.kind = KD_REC_HOST };

	stream_put_strings(&buf, offsetof(struct kd_rec_text, text), texts, 2);
	stream_record(&s, &buf, buf.text.rec.len);
}

static void put_sample(uint64_t n)
{
	struct kd_rec_self self = { .rec = HEADER(self, KD_REC_SELF, 0), .sample = n };

	stream_record(&s, &self, sizeof(self));
}

/* Sampling that changes: the run says the thinnest share, each interval its own. */
static void sampling_that_changes(void **state)
{
	(void)state;
	put_fact(SAMPLING_BY_BUDGET, "1%");
	put_sample(1);
	begin();
	put_sample(16);
	put_series(&s, 1, KD_FL_RCU, KD_DIM_MAIN, 0, 1, "f");
	put_bucket(&s, 1, 5, 160);
	put_tick(&s, 1, 1);
	scope.interval = true;
	section(SELF);
	assert_has("\"sampling\":\"1/16\",\"sampling_by_budget\":\"1%\"");
	section(METRICS);
	assert_has("\"exact\":false");
	put_sample(1);
	put_tick(&s, 2, 1);
	section(SELF);
	assert_has("\"sampling\":\"1/1\"");
	section(METRICS);
	assert_has("\"exact\":true");
	scope.interval = false;
	section(SELF);
	assert_has("\"sampling\":\"1/16\"");
	section(METRICS);
	assert_has("\"exact\":false");
	assert_has("\"count\":160");
	assert_has("\"p90\":null"); /* it may be ten samples */
}

static void put_cost(unsigned int source, unsigned int what, uint64_t total)
{
	struct kd_rec_total r = { .rec = HEADER(r, KD_REC_COUNT, 0),
				  .source = (uint16_t)source,
				  .what = (uint16_t)what,
				  .total = total };

	stream_record(&s, &r, sizeof(r));
}

static void own_cost_is_told(void **state)
{
	struct kd_rec_self self = {
		.rec = HEADER(self, KD_REC_SELF, 0), .sample = 1, .events = 3000, .run_ns = 900000
	};
	struct kd_rec_series hold = { .rec = HEADER(hold, KD_REC_SERIES, KD_SRC_RSTAT << 24 | 1),
				      .source = KD_SRC_RSTAT,
				      .measure = KD_M_RSTAT_HOLD,
				      .flavour = KD_FL_SUB_BASE };
	struct kd_rec_stat stat = { .rec = HEADER(stat, KD_REC_STAT, KD_SRC_RSTAT << 24 | 1),
				    .sum = 400000 };
	char line[256];

	(void)state;
	begin();
	assert_string_equal(own_cost_text(line, sizeof(line), &m, &scope), "");
	stream_record(&s, &hold, sizeof(hold));
	stream_record(&s, &stat, sizeof(stat));
	put_cost(KD_SRC_CALL_RCU, KD_CNT_RUNS, 2000);
	put_cost(KD_SRC_RSTAT, KD_CNT_RUNS, 1000);
	put_fact(OWN_COST_UNKNOWN, "call_rcu 7");
	put_tick(&s, 1, 1);
	/* Runs are known before their cost, and what is not known is not zero. */
	assert_string_equal(own_cost_text(line, sizeof(line), &m, &scope),
			    "3,000 events; their cost is not known: call_rcu 7");
	section(SELF);
	assert_has("\"run_ns\":null,\"run_ns_lacks\":\"call_rcu 7\",\"sampling\"");
	put_cost(KD_SRC_RSTAT, KD_CNT_RUN_NS, 900000);
	put_cost(KD_SRC_RSTAT, KD_CNT_IN_HOLD_NS, 100000);
	put_cost(KD_SRC_RSTAT, KD_CNT_IN_FLUSH_NS, 100000); /* of no flush that was measured */
	stream_record(&s, &self, sizeof(self));
	put_tick(&s, 2, 1);
	section(SELF);
	assert_has("\"events\":3000,\"run_ns\":900000,\"run_ns_lacks\":\"call_rcu 7\","
		   "\"share_of_measure\":{\"rstat.hold\":0.25},");
	assert_true(isnan(own_cost_share(&m, &scope, KD_M_RSTAT_FLUSH)));
	assert_true(isnan(own_cost_share(&m, &scope, KD_M_CALL_RCU_LATENCY)));
	assert_true(own_cost_is_possible(own_cost_share(&m, &scope, KD_M_RSTAT_HOLD)));
	own_cost_text(line, sizeof(line), &m, &scope);
	assert_non_null(strstr(line, "3,000 events, about 900 us in our programs ("));
	assert_non_null(strstr(line, "; not in it: call_rcu 7"));
	/* More than all that was measured cannot be a part of it, and is not made one. */
	put_cost(KD_SRC_RSTAT, KD_CNT_IN_HOLD_NS, 500000);
	put_tick(&s, 3, 1);
	section(SELF);
	assert_has("\"share_of_measure\":{\"rstat.hold\":null},");
	assert_false(own_cost_is_possible(own_cost_share(&m, &scope, KD_M_RSTAT_HOLD)));
	/* Counts are for what was measured. */
	section(COUNTS);
	assert_null(strstr(text, "run"));
}

/* Each breakdown can have a rest, and no two metrics may have the same key. */
static void the_rest_says_of_what(void **state)
{
	(void)state;
	begin();
	put_series(&s, 1, KD_FL_RCU, KD_DIM_MAIN, KD_SERIES_LAZY, 1, "a");
	put_series(&s, 2, KD_FL_RCU, KD_DIM_MAIN, KD_SERIES_EAGER, 2, "b");
	put_series(&s, 3, KD_FL_RCU, KD_DIM_MAIN, KD_SERIES_OTHER | KD_SERIES_EAGER, 0, "");
	put_bucket(&s, 1, 5, 3);
	put_bucket(&s, 2, 5, 2);
	put_bucket(&s, 3, 5, 1);
	put_tick(&s, 1, 1);
	section(METRICS);
	assert_has("\"key\":{\"flavour\":\"rcu\",\"other\":true,\"of\":\"func\"},"
		   "\"folded\":1,\"count\":3,");
}

static void nothing_but_the_rest(void **state)
{
	(void)state;
	begin();
	put_series(&s, 3, KD_FL_RCU, KD_DIM_MAIN, KD_SERIES_OTHER, 0, "");
	put_bucket(&s, 3, 5, 1);
	put_worst(&s, 3, 1, 5, 0);
	put_tick(&s, 1, 1);
	section(METRICS);
	assert_has("{\"flavour\":\"rcu\",\"other\":true,\"of\":\"func\"},\"count\":1,");
	assert_has("\"value\":5,\"cpu\":0,\"func\":null}");
}

static void intervals_do_not_hold_the_run(void **state)
{
	(void)state;
	begin();
	put_series(&s, 1, KD_FL_RCU, KD_DIM_MAIN, 0, 1, "f");
	put_bucket(&s, 1, 5, 1);
	put_stat(&s, 1, 5, 5, 5);
	put_worst(&s, 1, 1050, 5, 0);
	put_total(&s, KD_REC_LOST, KD_LOST_CLOCK, 2);
	put_total(&s, KD_REC_COUNT, KD_CNT_BEGUN, 10);
	put_total(&s, KD_REC_COUNT, KD_CNT_OPEN, 4);
	put_tick(&s, 1, 1);
	put_total(&s, KD_REC_COUNT, KD_CNT_BEGUN, 11);
	put_total(&s, KD_REC_COUNT, KD_CNT_OPEN, 5);
	put_tick(&s, 2, 1);
	section(LOST);
	assert_has("\"clock\":2");
	section(COUNTS);
	assert_has("{\"begun\":11,\"done\":0,\"open\":5,\"barrier\":0,\"kdefer\":0}");
	scope.interval = true;
	section(LOST);
	assert_has("{\"lost\":{\"call_rcu\":{\"ring_full\":0,\"table_full\":0,");
	assert_has("\"clock\":0");
	section(COUNTS);
	assert_has("{\"begun\":1,\"done\":0,\"open\":5,\"barrier\":0,\"kdefer\":0}");
	section(METRICS);
	assert_has("\"count\":0,\"sum\":0,\"min\":null");
	assert_has("\"worst\":[]");
	scope.measures = 0;
	assert_string_equal(section(LOST), "{\"lost\":{}}");
	assert_string_equal(section(COUNTS), "{\"counts\":{}}");
}

static void what_the_tool_costs(void **state)
{
	struct kd_rec_self self = {
		.rec = HEADER(self, KD_REC_SELF, 0),
		.events = 100,
		.run_ns = 3000,
		.cpu_ns = 50,
		.rss_bytes = 7,
		.kernel_bytes = 8,
		.attach_ns = 9,
		.grace_periods = 2,
		.sample = 1,
	};
	const struct kd_rec_self before = { .events = 60, .run_ns = 1000, .cpu_ns = 60 };

	(void)state;
	stream_record(&s, &self, sizeof(self));
	assert_string_equal(
		section(SELF),
		"{\"self\":{\"events\":100,\"run_ns\":3000,\"sampling\":\"1/1\",\"cpu_ns\":50,"
		"\"rss_bytes\":7,\"kernel_bytes\":8,\"attach_ns\":9,\"settle_ns\":null,\"detach_ns\":null,"
		"\"grace_periods\":2}}");
	section_since(SELF, &before);
	assert_has("\"events\":40,\"run_ns\":2000,\"sampling\":\"1/1\",\"cpu_ns\":0,");
}

static void events_of_the_window(void **state)
{
	(void)state;
	put_text(&s, KD_REC_EVENT, 0, 500, "early", "");
	begin();
	put_text(&s, KD_REC_EVENT, 1769861106000000000, 1050, "stall", "CPU \x1b");
	put_tick(&s, 1, 1);
	scope.interval = true;
	section(EVENTS);
	assert_has("{\"time\":null,\"what\":\"early\",\"detail\":null},"
		   "{\"time\":\"2026-01-31T12:05:06.000000000Z\",\"what\":\"stall\","
		   "\"detail\":\"CPU \\u001b\"}");
	put_text(&s, KD_REC_EVENT, 0, 1150, "late", "");
	put_tick(&s, 2, 1);
	section(EVENTS);
	assert_has("[{\"time\":null,\"what\":\"late\",\"detail\":null}]");
	scope.interval = false;
	section(EVENTS);
	assert_has("early");
	assert_has("stall");
	assert_has("late");
}

static void opens_with_what_it_is(void **state)
{
	struct json j;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	json_init(&j, out, false);
	doc_open(&j, "hist");
	doc_error(&j, "no\nroot");
	json_close(&j);
	assert_int_equal(json_end(&j), 0);
	fclose(out);
	assert_has("{\"schema\":\"kdefer/1\",\"command\":\"hist\",\"kdefer\":\"");
	assert_has("\"error\":\"no\\u000aroot\"}");
}

/* --- other sources --- */

static void put_keyed(uint32_t id, uint8_t measure, uint8_t flavour, uint8_t dim, uint32_t flags,
		      uint64_t key0, uint64_t key1, const char *name, size_t len)
{
	const uint64_t key[] = { key0, key1 };

	put_series_of(&s, id, measure, flavour, dim, flags, key, name, len);
	put_bucket(&s, id, 4, 1);
	put_stat(&s, id, 4, 4, 4);
}

static void memory_has_no_flavour(void **state)
{
	(void)state;
	begin();
	put_keyed(1, KD_M_MEMALLOC_LATENCY, 0, 0, 0, 7, (uint64_t)KD_STAGE_RCU << 32 | 64,
		  STRINGS("m\x1b"));
	put_worst(&s, 1, 1050, 4, 0);
	put_tick(&s, 1, 1);
	section(METRICS);
	assert_has("{\"source\":\"memalloc\",\"measure\":\"latency\",\"unit\":\"ns\","
		   "\"key\":{},\"count\":1,");
	assert_has("\"key\":{\"stage\":\"rcu\"},");
	assert_has("\"key\":{\"map_id\":7,\"map_name\":\"m\\u001b\"},");
	assert_has("\"cpu\":0,\"stage\":\"rcu\",\"map_id\":7,\"map_name\":\"m\\u001b\"}");
}

static void what_is_only_counted_has_no_values(void **state)
{
	(void)state;
	begin();
	put_keyed(1, KD_M_MEMALLOC_REFILL_FAILED, 0, 0, 0, 7, 64, STRINGS("m"));
	put_tick(&s, 1, 1);
	section(METRICS);
	assert_has("\"unit\":\"count\",\"key\":{},\"count\":1,\"sum\":null,\"min\":null,"
		   "\"max\":null,\"p50\":null,\"p90\":null,\"p99\":null,\"p999\":null,"
		   "\"exact\":true,\"buckets\":[],");
	assert_has_not("[4,5,1]");
}

static void cgroups_are_numbers_and_paths(void **state)
{
	(void)state;
	begin();
	put_keyed(1, KD_M_RSTAT_FLUSH, KD_FL_SUB_MEMORY, 0, 0, UINT64_MAX, 0,
		  STRINGS("/a\n\xff\x1b[31m [x]"));
	put_keyed(2, KD_M_RSTAT_FLUSH, KD_FL_SUB_MEMORY, KD_DIM_FLUSHER, 0,
		  (uint64_t)KD_FC_RECLAIM << 32 | UINT32_MAX, UINT64_MAX - 1,
		  STRINGS("p\n\0t\xff\0/\x1b"));
	put_tick(&s, 1, 1);
	section(METRICS);
	assert_has("\"key\":{\"subsystem\":\"memory\"},\"count\":1,");
	assert_has("\"key\":{\"subsystem\":\"memory\",\"cgroup_id\":18446744073709551615,"
		   "\"cgroup\":\"/a\\u000a\\ufffd\\u001b[31m [x]\"},");
	assert_has("\"key\":{\"subsystem\":\"memory\",\"flusher\":\"p\\u000a\","
		   "\"flusher_class\":\"reclaim\",\"tgid\":4294967295,"
		   "\"flusher_thread\":\"t\\ufffd\",\"flusher_cgroup_id\":18446744073709551614,"
		   "\"flusher_cgroup\":\"/\\u001b\"},");
	put_keyed(3, KD_M_RSTAT_FLUSH, KD_FL_SUB_IO, 0, 0, 9, 3, STRINGS(""));
	put_tick(&s, 2, 1);
	scope.interval = true;
	section(METRICS); /* without a name there is a number still, and no name is made up */
	assert_has(
		"\"key\":{\"subsystem\":\"io\",\"cgroup_id\":9,\"cgroup\":null,\"hierarchy\":3},");
}

/* A name that fills its room has no end of its own, and what would follow is not there. */
static void names_that_fill_their_room(void **state)
{
	char name[KD_NAME_LEN];

	(void)state;
	begin();
	memset(name, 'n', sizeof(name));
	name[1] = '\0';
	put_keyed(1, KD_M_RSTAT_FLUSH, KD_FL_SUB_IO, KD_DIM_FLUSHER, 0, 1, 0, name, sizeof(name));
	put_tick(&s, 1, 1);
	section(METRICS);
	assert_has(
		"\"flusher\":\"n\",\"flusher_class\":\"other\",\"tgid\":1,\"flusher_thread\":\"nnn");
	assert_has("nnn\"},");
	assert_has_not("flusher_cgroup");
}

static void bounds_say_so(void **state)
{
	(void)state;
	begin();
	put_keyed(1, KD_M_RSTAT_HOLD, KD_FL_SUB_ALL, 0, KD_SERIES_UPPER, 1, 0, STRINGS("/"));
	put_tick(&s, 1, 1);
	section(METRICS);
	assert_has("\"exact\":false,\"bound\":\"upper\",\"buckets\":");
	assert_has_not("\"exact\":true,\"buckets\":[[");
	put_keyed(2, KD_M_RSTAT_HOLD, KD_FL_SUB_ALL, 0, KD_SERIES_LOWER, 1, 0, STRINGS("/"));
	put_keyed(3, KD_M_RSTAT_HOLD, KD_FL_SUB_ALL, 0, 0, 1, 0, STRINGS("/"));
	put_tick(&s, 2, 1);
	section(METRICS);
	assert_has("\"exact\":false,\"bound\":\"lower\",\"buckets\":");
	assert_has("\"exact\":true,\"buckets\":[[");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_empty_model, setup, teardown),
		cmocka_unit_test_setup_teardown(host_facts_have_one_type, setup, teardown),
		cmocka_unit_test_setup_teardown(clock_is_where_the_window_begins, setup, teardown),
		cmocka_unit_test_setup_teardown(plan_rows, setup, teardown),
		cmocka_unit_test_setup_teardown(metrics_of_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(metrics_are_exact, setup, teardown),
		cmocka_unit_test_setup_teardown(quantiles_need_samples, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_not_exact_says_so, setup, teardown),
		cmocka_unit_test_setup_teardown(sampling_that_changes, setup, teardown),
		cmocka_unit_test_setup_teardown(own_cost_is_told, setup, teardown),
		cmocka_unit_test_setup_teardown(the_rest_says_of_what, setup, teardown),
		cmocka_unit_test_setup_teardown(nothing_but_the_rest, setup, teardown),
		cmocka_unit_test_setup_teardown(intervals_do_not_hold_the_run, setup, teardown),
		cmocka_unit_test_setup_teardown(what_the_tool_costs, setup, teardown),
		cmocka_unit_test_setup_teardown(events_of_the_window, setup, teardown),
		cmocka_unit_test_setup_teardown(memory_has_no_flavour, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_only_counted_has_no_values, setup,
						teardown),
		cmocka_unit_test_setup_teardown(cgroups_are_numbers_and_paths, setup, teardown),
		cmocka_unit_test_setup_teardown(names_that_fill_their_room, setup, teardown),
		cmocka_unit_test_setup_teardown(bounds_say_so, setup, teardown),
		cmocka_unit_test_setup_teardown(opens_with_what_it_is, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
