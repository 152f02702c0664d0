// SPDX-License-Identifier: GPL-2.0-only
/* The text of hist: what it says, and that it fits, whatever the width and whatever the names. */
#include <stdlib.h>
#include <time.h>

#include "bars.h"
#include "format.h"
#include "plan.h"
#include "records.h"
#include "text.h"
#include "view_hist.h"

#define ALL UINT64_MAX
#define HAN "\xe6\xbc\xa2\xe5\xad\x97" /* two characters of two columns each */

static struct model m;
static struct stream s;
static char *text; /* of the last show() */

static int setup(void **state)
{
	(void)state;
	forget_log();
	model_init(&m);
	stream_init(&s, model_record, &m);
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

static struct scope scope = { .measures = ALL };

static const char *show_as(size_t width, const struct query *q, bool brief)
{
	struct view_hist v = { .model = &m,
			       .scope = &scope,
			       .width = width,
			       .brief = brief,
			       .filters = q->filters,
			       .nfilters = q->nfilters };
	struct metric *metrics;
	size_t size;
	FILE *out;

	free(text);
	out = open_memstream(&text, &size);
	assert_int_equal(model_metrics(&m, q, &metrics, &v.n), 0);
	v.metrics = metrics;
	scope.interval = q->interval;
	assert_int_equal(view_hist(out, &v), 0);
	free(metrics);
	fclose(out);
	return text;
}

static const char *show(size_t width)
{
	const struct query q = { .top = 10 };

	return show_as(width, &q, false);
}

#define assert_says(what)                                              \
	do {                                                           \
		if (!strstr(text, what))                               \
			fail_msg("\"%s\" is not in:\n%s", what, text); \
	} while (0)
#define assert_says_not(what)                                      \
	do {                                                       \
		if (strstr(text, what))                            \
			fail_msg("\"%s\" is in:\n%s", what, text); \
	} while (0)

/* No line is wider, ends in a space, or holds what a terminal obeys. */
static void assert_fits(size_t width)
{
	char line[4096];
	const char *at = text, *end;

	for (; *at; at = end + 1) {
		end = strchr(at, '\n');
		assert_non_null(end);
		snprintf(line, sizeof(line), "%.*s", (int)(end - at), at);
		if (fmt_width(line) > width)
			fail_msg("wider than %zu: \"%s\"", width, line);
		if (end > at && end[-1] == ' ')
			fail_msg("ends in a space: \"%s\"", line);
		for (; at < end; at++)
			if ((unsigned char)*at < 0x20 || *at == 0x7f)
				fail_msg("control character in \"%s\"", line);
	}
}

static void fits_all_widths(void)
{
	static const size_t widths[] = { 40, 41, 59, 60, 61, 79, 80, 100, 200, 300 };
	size_t i;

	for (i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		show(widths[i]);
		assert_fits(widths[i]);
	}
}

/* `times` samples of one value, as series `id` has them in all. */
static void add(uint32_t id, uint64_t value, uint64_t times)
{
	put_bucket(&s, id, hist_bucket(value), times);
	put_stat(&s, id, value * times, value, value);
}

static void declare(uint32_t id, const char *name)
{
	put_series(&s, id, KD_FL_RCU, KD_DIM_MAIN, 0, id, name);
}

static void begin(void)
{
	put_plan(&s, KD_FL_RCU, PLAN_ON);
	put_tick(&s, 0, 1);
}

static void fact(const char *name, const char *value)
{
	put_text(&s, KD_REC_HOST, 0, 0, name, value);
}

static void nothing_measured(void **state)
{
	(void)state;
	show(80);
	assert_string_equal(text, "");
	begin();
	show(80);
	assert_says("call_rcu.latency: nothing in 0 ns\n");
	put_tick(&s, 1, 1);
	show(80);
	assert_says("call_rcu.latency: nothing in 100 ns\n");
	assert_says("lost:      nothing lost\n");
	assert_says("tp_btf on hook_a hook_b\n");
	assert_says("note:      reason\n");
	assert_says_not("p50");
	assert_says_not("count");
	assert_says_not("waiting");
	fits_all_widths();
}

static void one_sample(void **state)
{
	(void)state;
	begin();
	declare(1, "file_free_rcu");
	add(1, 5000000, 1);
	put_worst(&s, 1, 1050, 5000000, 3);
	put_tick(&s, 1, 1);
	show(80);
	assert_says("call_rcu.latency: 1 in 100 ns, 10M/s\n");
	assert_says("  p50 -, p90 -, p99 -, max 5 ms (p50 needs 20 samples)\n");
	assert_says("  worst:     file_free_rcu ");
	assert_says(" on CPU 3\n");
	assert_says("[4.19 ms, 8.39 ms)     1 |@");
	assert_says("file_free_rcu      1     10M    -    -  5 ms  100.0%\n");
	fits_all_widths();
}

static void says_when_the_worst_was(void **state)
{
	(void)state;
	setenv("TZ", "Asia/Kathmandu", 1);
	tzset();
	fact("realtime_ns", "1769861106123456789");
	fact("monotonic_ns", "1000");
	begin();
	declare(1, "f");
	add(1, 9, 1);
	put_worst(&s, 1, 1000 + 2000000000ull, 9, 0);
	put_tick(&s, 1, 1);
	show(80);
	assert_says("worst:     2026-01-31 17:50:08.123 +0545, f ");
	setenv("TZ", "UTC", 1);
	tzset();
}

/* Nine was longest, and what came to it was driven out of its list by worse ones of other rows. */
static void says_when_the_worst_was_not_kept(void **state)
{
	(void)state;
	begin();
	declare(1, "f");
	add(1, 9, 1);
	put_worst(&s, 1, 1000, 7, 0);
	put_tick(&s, 1, 1);
	show(120);
	assert_says("worst:     not kept: worse ones drove it out; the next was 7 ns, f ");
	fits_all_widths();
}

static void floor_needs_both_facts(void **state)
{
	(void)state;
	begin();
	declare(1, "f");
	add(1, 9, 1);
	put_tick(&s, 1, 1);
	show(80);
	assert_says_not("floor");
	fact("hz", "250");
	show(80);
	assert_says_not("floor");
	fact("first_fqs_jiffies", "1");
	show(80);
	assert_says("about 4 to 16 ms here (RCU polls: 1 to 4 waits of 1 jiffy, HZ=250)\n");
	fact("hz", "1000");
	fact("first_fqs_jiffies", "300");
	show(80);
	assert_says("about 300 ms to 1.2 s here (RCU polls: 1 to 4 waits of 300 jiffies,");
	fact("hz", "0");
	show(80);
	assert_says_not("floor");
}

static void says_what_is_missing(void **state)
{
	(void)state;
	begin();
	put_total(&s, KD_REC_LOST, KD_LOST_PRE_START, 7);
	put_total(&s, KD_REC_COUNT, KD_CNT_OPEN, 1234);
	put_tick(&s, 1, 1);
	show(120);
	assert_says("waiting:   1,234 ");
	assert_says("lost:      nothing lost\n"); /* what came too early is no loss */
	assert_says("left out:  7 pre_start (");
	put_total(&s, KD_REC_LOST, KD_LOST_TABLE_FULL, UINT64_MAX);
	put_total(&s, KD_REC_LOST, KD_LOST_RECURSION, 5);
	put_tick(&s, 2, 1);
	show(120);
	assert_says("lost:      18,446,744,073,709,551,615 table_full (");
	assert_says("lost:      5 recursion (");
	assert_says_not("nothing lost");
	fits_all_widths();
}

static void sampling_is_said(void **state)
{
	(void)state;
	begin();
	put_tick(&s, 1, 1);
	show(80);
	assert_says_not("sampled");
	fact("sample", "16");
	show(80);
	assert_says("sampled:   1 of 16 followed");
}

static void off_rows_say_why(void **state)
{
	(void)state;
	put_plan(&s, KD_FL_RCU, PLAN_OFF);
	show(80);
	assert_string_equal(text, "call_rcu.latency: off: reason (fix)\n");
	/* Where there are several flavours each says which it is; what is on comes first. */
	put_plan(&s, KD_FL_TASKS, PLAN_ON);
	show(80);
	assert_says("call_rcu.latency (tasks): nothing in 0 ns\n");
	assert_says("\n\ncall_rcu.latency (rcu): off: reason (fix)\n");
	scope.measures = 0;
	show(80);
	assert_string_equal(text, "");
	scope.measures = ALL;
}

static void hostile_names_are_harmless(void **state)
{
	static const char *const names[] = {
		"\033[31mred\033[0m",
		"bell\a [mo\x9b"
		"d]",
		"\xff\xfe\xc3",
		"\xe2\x80\xae"
		"rtl",
		"new\nline\r\t",
		"%s%s%n",
		"back\\slash",
	};
	char longest[KD_NAME_LEN];
	uint32_t i;

	(void)state;
	begin();
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		declare(i, names[i]);
		add(i, 1000 * (i + 1), 50 + i);
	}
	memset(longest, 0xff, sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	declare(20, longest);
	add(20, 1, 5);
	declare(21, HAN HAN HAN HAN HAN " [" HAN "]");
	add(21, 1, 7);
	put_worst(&s, 0, 1, 1000, 0);
	put_tick(&s, 1, 1);
	fits_all_widths();
	show(200);
	assert_says("\\x1b[31mred\\x1b[0m");
	assert_says("back\\\\slash");
	assert_says("%s%s%n");
}

static void huge_numbers_fit(void **state)
{
	(void)state;
	begin();
	declare(1, "one");
	declare(2, "two");
	put_bucket(&s, 1, KD_HIST_BUCKETS - 1, UINT64_MAX / 2);
	put_stat(&s, 1, UINT64_MAX, UINT64_MAX, UINT64_MAX);
	put_bucket(&s, 2, 0, UINT64_MAX / 2);
	put_stat(&s, 2, 0, 0, 0);
	put_worst(&s, 1, UINT64_MAX, UINT64_MAX, UINT32_MAX);
	put_total(&s, KD_REC_COUNT, KD_CNT_OPEN, UINT64_MAX);
	put_tick(&s, 1, 1);
	fits_all_widths();
	show(80);
	assert_says("call_rcu.latency: 18,446,744,073,709,551,614 in 100 ns");
	assert_says("[  292 y,     ...) 9,223,372,036,854,775,807 |@");
	assert_says("[   0 ns,    2 ns) 9,223,372,036,854,775,807 |@");
	assert_says("\n        ...\n");
}

static void narrow_tables_keep_what_matters(void **state)
{
	(void)state;
	begin();
	declare(1, "nf_conntrack_free_rcu_and_more [nf_conntrack]");
	add(1, 5000000, 20000);
	put_tick(&s, 1, 1);
	show(40);
	assert_says("FUNC");
	assert_says("COUNT");
	assert_says("P99");
	assert_says("20,000");
	assert_says("nf_conntrack_free_..  20,000  5 ms");
	assert_says_not("RATE/S");
	show(200);
	assert_says("nf_conntrack_free_rcu_and_more [nf_conntrack]  20,000");
	assert_says("RATE/S");
}

static void other_comes_last(void **state)
{
	const struct query q = { .top = 2 };
	const char *other;
	char name[8];
	uint32_t i;

	(void)state;
	begin();
	for (i = 1; i <= 5; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		declare(i, name);
		add(i, 100, 10 * i);
	}
	put_series(&s, 0, KD_FL_RCU, KD_DIM_MAIN, KD_SERIES_OTHER, 0, "");
	add(0, 100, 1000);
	put_tick(&s, 1, 1);
	show_as(80, &q, false);
	other = strstr(text, "\nother (3 more)  1,060 ");
	assert_non_null(other);
	assert_string_equal(strchr(other + 1, '\n'), "\n"); /* the last line */
	assert_true(strstr(text, "\nf5 ") < strstr(text, "\nf4 "));
	assert_says_not("\nf3 ");
	show(80);
	assert_says("\nf1 ");
	assert_says("\nother  1,000 ");
}

static void breakdowns_are_tables(void **state)
{
	const struct query q = { .by = 1u << KEY_CPU | 1u << KEY_LAZY | 1u << KEY_MODULE };

	(void)state;
	begin();
	put_series(&s, 1, KD_FL_RCU, KD_DIM_MAIN, KD_SERIES_LAZY, 1, "a [m]");
	put_series(&s, 2, KD_FL_RCU, KD_DIM_MAIN, KD_SERIES_EAGER, 2, "b");
	put_series(&s, 9, KD_FL_RCU, KD_DIM_CPU, 0, 63, "");
	add(1, 100, 60);
	add(2, 100, 40);
	add(9, 100, 100);
	put_tick(&s, 1, 1);
	show_as(80, &q, false);
	assert_says("\n\nMODULE   COUNT");
	assert_says("\nvmlinux     40 ");
	assert_says("\n\nCPU  COUNT");
	assert_says("\n63     100 ");
	assert_says("\n\nLAZY      COUNT");
	assert_says("\nlazy         60 ");
	assert_says("\nnot lazy     40 ");
	assert_says_not("FUNC");
}

static void filters_are_said(void **state)
{
	const struct filter f[] = { { .key = KEY_FUNC, .glob = "a\033*" },
				    { .key = KEY_LAZY, .glob = "true" } };
	const struct query q = { .filters = f, .nfilters = 2 };

	(void)state;
	begin();
	put_tick(&s, 1, 1);
	show_as(80, &q, false);
	assert_says("only:      func=a\\x1b*, lazy=true\n");
}

static void many_intervals(void **state)
{
	const struct query q = { .interval = true };
	char line[80];
	uint32_t i;

	(void)state;
	fact("hz", "250");
	fact("first_fqs_jiffies", "1");
	begin();
	declare(1, "f");
	for (i = 1; i <= 1000; i++) {
		add(1, 1000, i);
		if (i == 700)
			put_total(&s, KD_REC_LOST, KD_LOST_CLOCK, 3);
		put_tick(&s, i, 1);
		show_as(80, &q, i > 1);
		snprintf(line, sizeof(line), "interval %u\ncall_rcu.latency: 1 in 100 ns", i);
		assert_says(line);
		/* What stays the same is said once; a loss, when it happens. */
		assert_int_equal(!!strstr(text, "measured:"), i == 1);
		assert_int_equal(!!strstr(text, "floor:"), i == 1);
		assert_int_equal(!!strstr(text, "lost:      3 clock ("), i == 700);
	}
	show(80);
	assert_says("call_rcu.latency: 1,000 in 100 us");
}

static char *bars(const struct hist *h, enum unit unit, size_t width)
{
	size_t size;
	FILE *out;

	free(text);
	out = open_memstream(&text, &size);
	bars_print(out, h, unit, "title", width);
	fclose(out);
	return text;
}

static void empty_rows_fold(void **state)
{
	struct hist h;

	(void)state;
	hist_init(&h);
	assert_string_equal(bars(&h, UNIT_COUNT, 80), "");
	hist_add(&h, 1);
	hist_add(&h, 4);  /* one empty row between: shown */
	hist_add(&h, 32); /* two: folded */
	hist_add(&h, 2000);
	assert_string_equal(bars(&h, UNIT_COUNT, 40), "             title count\n"
						      "[      0,       2)     1 |@@@@@@@@@@@@@|\n"
						      "[      2,       4)     0 |             |\n"
						      "[      4,       8)     1 |@@@@@@@@@@@@@|\n"
						      "        ...\n"
						      "[     32,      64)     1 |@@@@@@@@@@@@@|\n"
						      "        ...\n"
						      "[     1K,      2K)     1 |@@@@@@@@@@@@@|\n");
	hist_init(&h);
	hist_add(&h, UINT64_MAX);
	bars(&h, UNIT_COUNT, 40);
	assert_says("[     8E,     ...)     1 |@");
}

static const char *wrapped(const char *what, size_t at, size_t indent, size_t width)
{
	size_t size;
	FILE *out;

	free(text);
	out = open_memstream(&text, &size);
	text_wrap(out, what, at, indent, width);
	fclose(out);
	return text;
}

static void wraps(void **state)
{
	(void)state;
	assert_string_equal(wrapped("", 0, 2, 10), "\n");
	assert_string_equal(wrapped("one two three", 0, 2, 10), "one two\n  three\n");
	assert_string_equal(wrapped("  one   two ", 0, 2, 10), "one two\n");
	assert_string_equal(wrapped("exactly010", 0, 2, 10), "exactly010\n");
	assert_string_equal(wrapped("abcdefghijklmnopqrs", 0, 2, 10),
			    "abcdefgh\n  ijklmnop\n  qrs\n");
	assert_string_equal(wrapped("a bcdefghijklm", 0, 2, 10), "a\n  bcdefghi\n  jklm\n");
	assert_string_equal(wrapped("word", 9, 2, 10), "\n  word\n");
}

static void cuts(void **state)
{
	char buf[64];

	(void)state;
	assert_string_equal(text_cut(buf, sizeof(buf), "abcdef", 6), "abcdef");
	assert_string_equal(text_cut(buf, sizeof(buf), "abcdefg", 6), "abcd..");
	assert_string_equal(text_cut(buf, sizeof(buf), "abc", 2), "ab");
	assert_string_equal(text_cut(buf, sizeof(buf), "abc", 0), "");
	assert_string_equal(text_cut(buf, sizeof(buf), HAN "x", 4), "\xe6\xbc\xa2..");
	assert_string_equal(text_cut(buf, sizeof(buf), HAN "x", 3), "..");
}

/* --- other sources --- */

static void put_keyed(uint32_t id, uint8_t measure, uint8_t flavour, uint8_t dim, uint32_t flags,
		      uint64_t key0, uint64_t key1, const char *name, size_t len)
{
	const uint64_t key[] = { key0, key1 };

	put_series_of(&s, id, measure, flavour, dim, flags, key, name, len);
}

static void counts_are_no_times(void **state)
{
	(void)state;
	begin();
	put_keyed(1, KD_M_RSTAT_CGROUPS, KD_FL_SUB_ALL, 0, 0, 1, 0, STRINGS("/"));
	add(1, 3000, 40);
	put_keyed(2, KD_M_MEMALLOC_REFILL_FAILED, 0, 0, 0, 7, 64, STRINGS("m"));
	add(2, 0, 5);
	put_tick(&s, 1, 1);
	show(80);
	assert_says("rstat.cgroups: 40 in 100 ns,");
	assert_says("p50 3,000, p90 -, p99 -, max 3,000 (");
	assert_says("\n[     2K,      4K)    40 |");
	assert_says("memalloc.refill_failed: 5 in 100 ns, 50M/s\n");
	assert_says("\nMAP_ID  COUNT  RATE/S   SHARE\n7 (m)       5     50M  100.0%\n");
	assert_says_not("refill_failed count"); /* no histogram of what has no values */
	assert_says_not(" ns, p90");
	fits_all_widths();
}

static void holds_say_whether_interrupts_are_off(void **state)
{
	static const struct {
		const char *model, *says;
	} cases[] = {
		{ "full", "from got to given up, with interrupts off\n" },
		{ "rt", "from got to given up (PREEMPT_RT: interrupts stay on)\n" },
		{ "", "from got to given up\n" }, /* not known */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		teardown(state);
		setup(state);
		fact("preempt", cases[i].model);
		begin();
		put_keyed(1, KD_M_RSTAT_HOLD, KD_FL_SUB_ALL, 0, 0, 1, 0, STRINGS("/"));
		put_keyed(2, KD_M_RSTAT_HOLD, KD_FL_SUB_ALL, 0, KD_SERIES_UPPER, 1, 0,
			  STRINGS("/"));
		add(1, 500, 30);
		add(2, 900, 10);
		put_tick(&s, 1, 1);
		show(120);
		assert_says(cases[i].says);
		assert_says("from got to given up\n"); /* of bounds it is not said */
	}
}

static void bounds_stand_apart(void **state)
{
	(void)state;
	begin();
	put_keyed(1, KD_M_RSTAT_HOLD, KD_FL_SUB_ALL, 0, KD_SERIES_UPPER, 1, 0, STRINGS("/"));
	put_keyed(2, KD_M_RSTAT_HOLD, KD_FL_SUB_ALL, 0, KD_SERIES_LOWER, 1, 0, STRINGS("/"));
	put_keyed(3, KD_M_RSTAT_HOLD, KD_FL_SUB_ALL, 0, 0, 1, 0, STRINGS("/"));
	add(1, 1000, 10);
	add(2, 100, 20);
	add(3, 500, 30);
	put_tick(&s, 1, 1);
	show(80);
	assert_says("rstat.hold: 30 in ");
	assert_says("rstat.hold (upper bound): 10 in ");
	assert_says("rstat.hold (lower bound): 20 in ");
	assert_says("\n\nCGROUP  COUNT ");
	assert_says("\n\nCGROUP (upper bound)  COUNT ");
	assert_says("\n/                        10 ");
	assert_says("100.0%");
	assert_says_not("33.3%"); /* a share of those of its kind */
	fits_all_widths();
}

static void cgroups_and_flushers(void **state)
{
	(void)state;
	begin();
	put_keyed(1, KD_M_RSTAT_FLUSH, KD_FL_SUB_MEMORY, 0, 0, 5, 0,
		  STRINGS("/a\n\x1b[31m\xff [x]"));
	put_keyed(2, KD_M_RSTAT_FLUSH, KD_FL_SUB_BASE, 0, 0, 6, 0, STRINGS(""));
	put_keyed(3, KD_M_RSTAT_FLUSH, KD_FL_SUB_BASE, KD_DIM_FLUSHER, 0,
		  (uint64_t)KD_FC_CPU_STAT << 32 | 70, 5, STRINGS("p\r\0t\0/"));
	put_keyed(4, KD_M_RSTAT_FLUSH, KD_FL_SUB_BASE, KD_DIM_FLUSHER, 0,
		  (uint64_t)KD_FC_PERIODIC << 32, 0, STRINGS("kw\0kw\0"));
	add(1, 500, 30);
	add(2, 500, 10);
	add(3, 500, 9);
	add(4, 500, 1);
	put_worst(&s, 1, 1050, 500, 2);
	put_worst(&s, 2, 1060, 500, 3);
	put_tick(&s, 1, 1);
	show(120);
	assert_says("rstat.flush (memory): 30 in ");
	assert_says("worst:     entered for /a\\x0a\\x1b[31m\\xff [x] on CPU 2\n");
	assert_says("worst:     entered for ? (cgroup_id 6) on CPU 3\n");
	assert_says("\nCGROUP                  SUBSYSTEM  COUNT ");
	assert_says("\n/a\\x0a\\x1b[31m\\xff [x]  memory        30 ");
	assert_says("\n? (cgroup_id 6)         base          10 ");
	assert_says("\np\\x0d (cpu.stat, tgid 70, t, /)  base           9 ");
	assert_says("\nkw (periodic)");
	fits_all_widths();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nothing_measured, setup, teardown),
		cmocka_unit_test_setup_teardown(one_sample, setup, teardown),
		cmocka_unit_test_setup_teardown(says_when_the_worst_was, setup, teardown),
		cmocka_unit_test_setup_teardown(floor_needs_both_facts, setup, teardown),
		cmocka_unit_test_setup_teardown(says_what_is_missing, setup, teardown),
		cmocka_unit_test_setup_teardown(sampling_is_said, setup, teardown),
		cmocka_unit_test_setup_teardown(off_rows_say_why, setup, teardown),
		cmocka_unit_test_setup_teardown(hostile_names_are_harmless, setup, teardown),
		cmocka_unit_test_setup_teardown(huge_numbers_fit, setup, teardown),
		cmocka_unit_test_setup_teardown(narrow_tables_keep_what_matters, setup, teardown),
		cmocka_unit_test_setup_teardown(other_comes_last, setup, teardown),
		cmocka_unit_test_setup_teardown(breakdowns_are_tables, setup, teardown),
		cmocka_unit_test_setup_teardown(filters_are_said, setup, teardown),
		cmocka_unit_test_setup_teardown(many_intervals, setup, teardown),
		cmocka_unit_test_setup_teardown(empty_rows_fold, setup, teardown),
		cmocka_unit_test_setup_teardown(counts_are_no_times, setup, teardown),
		cmocka_unit_test_setup_teardown(bounds_stand_apart, setup, teardown),
		cmocka_unit_test_setup_teardown(holds_say_whether_interrupts_are_off, setup,
						teardown),
		cmocka_unit_test_setup_teardown(says_when_the_worst_was_not_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(cgroups_and_flushers, setup, teardown),
		cmocka_unit_test_setup_teardown(wraps, setup, teardown),
		cmocka_unit_test_setup_teardown(cuts, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
