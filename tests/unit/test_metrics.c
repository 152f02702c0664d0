// SPDX-License-Identifier: GPL-2.0-only
/* Totals, breakdowns, filters and "other", against sums over the plain list of series. */
#include <errno.h>
#include <stdlib.h>

#include "catalog.h"
#include "model.h"
#include "plan.h"
#include "records.h"

#define BIT(key) KEY_BIT(key)
#define TEXT(x, key) ((x).keys.v[key].text)
#define NUMBER(x, key) ((x).keys.v[key].number)

static struct model m;
static struct stream s;
static struct metric *out;
static size_t n;

static int setup(void **state)
{
	(void)state;
	forget_log();
	model_init(&m);
	stream_init(&s, model_record, &m);
	put_tick(&s, 0, 1);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(out);
	out = NULL;
	n = 0;
	model_free(&m);
	return 0;
}

static void ask(struct query q)
{
	free(out);
	out = NULL;
	assert_int_equal(model_metrics(&m, &q, &out, &n), 0);
}

static void ask_filtered(unsigned int by, enum key_name k0, const char *g0, enum key_name k1,
			 const char *g1)
{
	struct filter filters[] = { { .key = k0, .glob = g0 }, { .key = k1, .glob = g1 } };

	ask((struct query){ .by = by, .filters = filters, .nfilters = g1 ? 2 : 1 });
}

/* One series with `count` samples of value 3. */
static void add(uint32_t id, uint8_t flavour, uint8_t dim, uint32_t flags, uint64_t key,
		const char *name, uint64_t count)
{
	put_series(&s, id, flavour, dim, flags, key, name);
	if (!count)
		return;
	put_bucket(&s, id, 3, count);
	put_stat(&s, id, 3 * count, 3, 3);
}

static void expect(size_t i, unsigned int has, uint8_t flavour, uint64_t count)
{
	assert_true(i < n);
	assert_int_equal(out[i].source, KD_SRC_CALL_RCU);
	assert_int_equal(out[i].measure, KD_M_CALL_RCU_LATENCY);
	assert_int_equal(out[i].keys.has, has);
	assert_int_equal(out[i].flavour, flavour);
	if (has & BIT(KEY_FLAVOUR))
		assert_string_equal(TEXT(out[i], KEY_FLAVOUR), flavour_name(flavour));
	assert_int_equal(hist_count(&out[i].hist), count);
	assert_int_equal(out[i].hist.sum, 3 * count);
}

static void expect_total(size_t i, uint8_t flavour, uint64_t count)
{
	expect(i, BIT(KEY_FLAVOUR), flavour, count);
}

static void expect_func(size_t i, uint8_t flavour, const char *func, const char *module,
			uint64_t count)
{
	expect(i, BIT(KEY_FLAVOUR) | BIT(KEY_FUNC) | (module ? BIT(KEY_MODULE) : 0), flavour,
	       count);
	assert_string_equal(TEXT(out[i], KEY_FUNC), func);
	if (module)
		assert_string_equal(TEXT(out[i], KEY_MODULE), module);
}

static void expect_cpu(size_t i, uint8_t flavour, uint32_t cpu, uint64_t count)
{
	expect(i, BIT(KEY_FLAVOUR) | BIT(KEY_CPU), flavour, count);
	assert_int_equal(NUMBER(out[i], KEY_CPU), cpu);
}

static void expect_lazy(size_t i, uint8_t flavour, bool lazy, uint64_t count)
{
	expect(i, BIT(KEY_FLAVOUR) | BIT(KEY_LAZY), flavour, count);
	assert_true(NUMBER(out[i], KEY_LAZY) == lazy);
}

/*
 * rcu:  free_a 30 (lazy 20, eager 10), free_b of mod 15 (eager), the rest 5 (eager)     = 50
 * srcu: free_a 7, no laziness                                                           = 7
 * CPUs: rcu 0: 26, 10: 24; srcu 2: 7
 */
static void make_example(void)
{
	add(1, KD_FL_RCU, KD_DIM_MAIN, KD_SERIES_LAZY, 0xa, "free_a", 20);
	add(2, KD_FL_RCU, KD_DIM_MAIN, KD_SERIES_EAGER, 0xa, "free_a", 10);
	add(3, KD_FL_RCU, KD_DIM_MAIN, KD_SERIES_EAGER, 0xb, "free_b [mod]", 15);
	add(4, KD_FL_RCU, KD_DIM_MAIN, KD_SERIES_EAGER | KD_SERIES_OTHER, 0, "", 5);
	add(5, KD_FL_SRCU, KD_DIM_MAIN, 0, 0xa, "free_a", 7);
	add(6, KD_FL_RCU, KD_DIM_CPU, 0, 0, "", 26);
	add(7, KD_FL_RCU, KD_DIM_CPU, 0, 10, "", 24);
	add(8, KD_FL_SRCU, KD_DIM_CPU, 0, 2, "", 7);
	add(9, KD_FL_RCU, KD_DIM_MAIN, KD_SERIES_EAGER, 0xc, "free_idle", 0);
	put_bucket(&s, 99, 3, 1000); /* of a series that nobody declared */
	put_tick(&s, 1, 1);
}

static void test_example(void **state)
{
	(void)state;
	make_example();
	ask((struct query){ 0 });
	assert_int_equal(n, 8);
	expect_total(0, KD_FL_RCU, 50);
	expect_total(1, KD_FL_SRCU, 7);
	expect_func(2, KD_FL_RCU, "free_a", NULL, 30);
	assert_int_equal(out[2].keys.address, 0xa);
	expect_func(3, KD_FL_RCU, "free_b", "mod", 15);
	expect_func(4, KD_FL_SRCU, "free_a", NULL, 7);
	expect(5, BIT(KEY_FLAVOUR) | BIT(KEY_OTHER), KD_FL_RCU, 5);
	assert_int_equal(out[5].keys.others, 0);
	expect_lazy(6, KD_FL_RCU, false, 30);
	expect_lazy(7, KD_FL_RCU, true, 20);
}

static void test_by(void **state)
{
	(void)state;
	make_example();
	ask((struct query){ .by = BIT(KEY_CPU) });
	assert_int_equal(n, 5);
	expect_total(0, KD_FL_RCU, 50);
	expect_cpu(2, KD_FL_RCU, 0, 26);
	expect_cpu(3, KD_FL_RCU, 10, 24);
	expect_cpu(4, KD_FL_SRCU, 2, 7);

	ask((struct query){ .by = BIT(KEY_CPU) | BIT(KEY_FUNC) }); /* one after the other */
	assert_int_equal(n, 9);
	expect_func(2, KD_FL_RCU, "free_a", NULL, 30);
	expect_cpu(6, KD_FL_RCU, 0, 26);

	ask((struct query){ .by = BIT(KEY_FUNC) | BIT(KEY_LAZY) });
	assert_int_equal(n, 8);
	ask((struct query){ .by = BIT(KEY_LAZY) });
	assert_int_equal(n, 4);
	expect_lazy(2, KD_FL_RCU, false, 30);

	ask((struct query){ .by = BIT(KEY_MODULE) });
	assert_int_equal(n, 6);
	expect(2, BIT(KEY_FLAVOUR) | BIT(KEY_MODULE), KD_FL_RCU, 30);
	assert_string_equal(TEXT(out[2], KEY_MODULE), "vmlinux");
	assert_string_equal(TEXT(out[3], KEY_MODULE), "mod");
	expect(5, BIT(KEY_FLAVOUR) | BIT(KEY_OTHER), KD_FL_RCU, 5);

	ask((struct query){ .by = BIT(KEY_FLAVOUR) }); /* that is what totals are */
	assert_int_equal(n, 2);
}

static void test_interval_and_run(void **state)
{
	(void)state;
	make_example();
	put_bucket(&s, 3, 3, 16);
	put_stat(&s, 3, 3 * 16, 3, 3);
	put_tick(&s, 2, 1);
	ask((struct query){ .interval = true });
	assert_int_equal(n, 4);
	expect_total(0, KD_FL_RCU, 1);
	expect_total(1, KD_FL_SRCU, 0);
	expect_func(2, KD_FL_RCU, "free_b", "mod", 1);
	expect_lazy(3, KD_FL_RCU, false, 1);
	ask((struct query){ .interval = false });
	expect_total(0, KD_FL_RCU, 51);
	expect_func(3, KD_FL_RCU, "free_b", "mod", 16);
}

static void test_plan_rows_without_samples(void **state)
{
	(void)state;
	ask((struct query){ 0 });
	assert_int_equal(n, 0);
	put_plan(&s, KD_FL_TASKS, PLAN_ON);
	put_plan(&s, KD_FL_RCU, PLAN_ON);
	put_plan(&s, KD_FL_SRCU, PLAN_OFF);
	put_plan(&s, KD_FL_KFREE, PLAN_EXPECTED);
	put_plan(&s, KD_FL_NONE, PLAN_ON);
	ask((struct query){ 0 });
	assert_int_equal(n, 3);
	expect(0, 0, KD_FL_NONE, 0); /* an empty key */
	assert_int_equal(out[0].by, KEY_NONE);
	expect_total(1, KD_FL_RCU, 0);
	expect_total(2, KD_FL_TASKS, 0);
	put_bucket(&s, 9, 3, 100); /* not declared: of no measure, with or without flavour */
	put_tick(&s, 1, 1);
	ask((struct query){ 0 });
	assert_int_equal(n, 3);
	expect(0, 0, KD_FL_NONE, 0);
	assert_true(out[1].hist.min == UINT64_MAX && out[1].hist.max == 0);
	assert_null(out[1].worst);
	add(1, KD_FL_RCU, KD_DIM_MAIN, 0, 1, "f", 2);
	put_tick(&s, 2, 1);
	ask((struct query){ 0 });
	assert_int_equal(n, 3); /* a row without a flavour speaks of all: some flavour is there */
	expect_total(0, KD_FL_RCU, 2);
	assert_non_null(out[0].worst);
	expect_total(1, KD_FL_TASKS, 0);
}

static void test_worst(void **state)
{
	(void)state;
	make_example();
	put_worst(&s, 1, 5, 3, 0);
	put_tick(&s, 2, 1);
	ask((struct query){ .interval = true });
	assert_int_equal(out[0].worst->n, 1);
	assert_int_equal(out[1].worst->n, 0);
	put_tick(&s, 3, 1);
	ask((struct query){ .interval = true });
	assert_int_equal(out[0].worst->n, 0);
	ask((struct query){ .interval = false });
	assert_int_equal(out[0].worst->n, 1);
	assert_null(out[2].worst);
	ask_filtered(0, KEY_FLAVOUR, "rcu", 0, NULL);
	assert_int_equal(out[0].worst->n, 1);
	ask_filtered(0, KEY_FUNC, "*", 0, NULL); /* they cannot be told apart by function */
	assert_null(out[0].worst);
}

static void test_filters(void **state)
{
	(void)state;
	make_example();
	ask_filtered(0, KEY_FLAVOUR, "s*", 0, NULL);
	assert_int_equal(n, 2);
	expect_total(0, KD_FL_SRCU, 7);
	expect_func(1, KD_FL_SRCU, "free_a", NULL, 7);

	ask_filtered(BIT(KEY_FUNC), KEY_FUNC, "*", 0, NULL); /* the rest has no function */
	assert_int_equal(n, 5);
	expect_total(0, KD_FL_RCU, 45);

	ask_filtered(0, KEY_FUNC, "free_[bc]", 0, NULL);
	assert_int_equal(n, 4);
	expect_total(0, KD_FL_RCU, 15);
	expect_total(1, KD_FL_SRCU, 0);
	expect_func(2, KD_FL_RCU, "free_b", "mod", 15);
	expect_lazy(3, KD_FL_RCU, false, 15);

	ask_filtered(0, KEY_FUNC, "free_a", KEY_LAZY, "true");
	assert_int_equal(n, 4);
	expect_total(0, KD_FL_RCU, 20);
	expect_total(1, KD_FL_SRCU, 0);
	expect_func(2, KD_FL_RCU, "free_a", NULL, 20);
	expect_lazy(3, KD_FL_RCU, true, 20);

	ask_filtered(BIT(KEY_FUNC), KEY_LAZY, "false", 0, NULL); /* of the rest it is known */
	assert_int_equal(n, 5);
	expect_total(0, KD_FL_RCU, 30);
	expect(4, BIT(KEY_FLAVOUR) | BIT(KEY_OTHER), KD_FL_RCU, 5);

	ask_filtered(BIT(KEY_FUNC), KEY_MODULE, "mod", KEY_FLAVOUR, "rcu");
	assert_int_equal(n, 2);
	expect_total(0, KD_FL_RCU, 15);
	ask_filtered(BIT(KEY_FUNC), KEY_MODULE, "vmlinux", KEY_FLAVOUR, "rcu");
	expect_total(0, KD_FL_RCU, 30);
	ask_filtered(0, KEY_FUNC, "nothing", KEY_FLAVOUR, "rcu");
	assert_int_equal(n, 1);
	expect_total(0, KD_FL_RCU, 0);
	ask_filtered(0, KEY_FLAVOUR, "nothing", 0, NULL);
	assert_int_equal(n, 0);
}

static void test_cpu_filters(void **state)
{
	(void)state;
	make_example();
	ask_filtered(BIT(KEY_CPU) | BIT(KEY_FUNC) | BIT(KEY_LAZY), KEY_CPU, "1?", 0, NULL);
	assert_int_equal(n, 3); /* functions cannot be cut by CPU */
	expect_total(0, KD_FL_RCU, 24);
	expect_total(1, KD_FL_SRCU, 0);
	expect_cpu(2, KD_FL_RCU, 10, 24);

	ask_filtered(BIT(KEY_CPU), KEY_CPU, "[0-2]", KEY_FLAVOUR, "srcu");
	assert_int_equal(n, 2);
	expect_total(0, KD_FL_SRCU, 7);
	expect_cpu(1, KD_FL_SRCU, 2, 7);

	ask_filtered(BIT(KEY_CPU), KEY_FUNC, "free_a", 0, NULL); /* nor CPUs by function */
	assert_int_equal(n, 2);
	expect_total(0, KD_FL_RCU, 30);

	ask_filtered(BIT(KEY_CPU) | BIT(KEY_FUNC), KEY_CPU, "*", KEY_FUNC, "*");
	assert_int_equal(n, 0);
	ask_filtered(0, KEY_CPU, "*", KEY_LAZY, "*");
	assert_int_equal(n, 0);
}

static void test_top(void **state)
{
	(void)state;
	make_example();
	ask((struct query){ .by = BIT(KEY_FUNC), .top = 1 });
	assert_int_equal(n, 4);
	expect_func(2, KD_FL_RCU, "free_a", NULL, 30);
	expect(3, BIT(KEY_OTHER), KD_FL_NONE, 15 + 7 + 5); /* of two flavours */
	assert_false(key_has(&out[3].keys, KEY_FLAVOUR));
	assert_int_equal(out[3].keys.others, 2);
	ask((struct query){ .by = BIT(KEY_FUNC), .top = 2 });
	expect(4, BIT(KEY_OTHER), KD_FL_NONE, 7 + 5);
	assert_int_equal(out[4].keys.others, 1);
	ask((struct query){ .by = BIT(KEY_FUNC), .top = 3 });
	assert_int_equal(n, 6);
	assert_int_equal(out[5].keys.others, 0);
	ask((struct query){ .by = BIT(KEY_CPU), .top = 1 });
	assert_int_equal(n, 4);
	expect(3, BIT(KEY_OTHER), KD_FL_NONE, 24 + 7);
	ask((struct query){ .by = BIT(KEY_CPU), .top = 3 });
	assert_int_equal(n, 5); /* all are there: nothing is left for "other" */
	expect_cpu(4, KD_FL_SRCU, 2, 7);

	add(20, KD_FL_TASKS, KD_DIM_CPU, 0, 10, "", 7); /* ties by number, then by flavour */
	add(21, KD_FL_TASKS, KD_DIM_CPU, 0, 2, "", 7);
	put_tick(&s, 2, 1);
	ask((struct query){ .by = BIT(KEY_CPU) });
	assert_int_equal(n, 8);
	expect_cpu(5, KD_FL_SRCU, 2, 7);
	expect_cpu(6, KD_FL_TASKS, 2, 7);
	expect_cpu(7, KD_FL_TASKS, 10, 7);
}

static void test_names(void **state)
{
	(void)state;
	add(1, KD_FL_RCU, KD_DIM_MAIN, 0, 0x10, "same", 4);
	add(2, KD_FL_RCU, KD_DIM_MAIN, 0, 0x20, "same", 4); /* two static functions of one name */
	add(3, KD_FL_RCU, KD_DIM_MAIN, 0, 0x30, "same [mod]", 8);
	add(4, KD_FL_RCU, KD_DIM_MAIN, 0, 0x40, "", 8);
	add(5, KD_FL_SRCU, KD_DIM_MAIN, 0, 0x10, "same", 8);
	add(6, KD_FL_RCU, KD_DIM_MAIN, 0, 0x50, "other_one", 9);
	add(7, KD_FL_RCU, KD_DIM_MAIN, 0, 0x60, "a", 8);
	put_tick(&s, 1, 1);
	ask((struct query){ .by = BIT(KEY_FUNC) });
	assert_int_equal(n, 8);
	expect_func(2, KD_FL_RCU, "other_one", NULL, 9);
	expect_func(3, KD_FL_RCU, "?", NULL, 8); /* ties by name */
	assert_int_equal(out[3].keys.address, 0x40);
	expect_func(4, KD_FL_RCU, "a", NULL, 8);
	expect_func(5, KD_FL_RCU, "same", NULL, 8);
	assert_int_equal(out[5].keys.address, 0); /* no one address */
	expect_func(6, KD_FL_SRCU, "same", NULL, 8);
	assert_int_equal(out[6].keys.address, 0x10);
	expect_func(7, KD_FL_RCU, "same", "mod", 8);
}

static void test_key_texts(void **state)
{
	enum key_name key;
	unsigned int i;

	(void)state;
	for (i = 0; i < KEY_COUNT; i++) {
		assert_int_equal(key_by_name(key_text((enum key_name)i), &key), 0);
		assert_int_equal(key, i);
	}
	assert_string_equal(key_text(KEY_FUNC), "func");
	assert_string_equal(key_text(KEY_CPU), "cpu");
	assert_string_equal(key_text(KEY_FLAVOUR), "flavour");
	assert_string_equal(key_text(KEY_LAZY), "lazy");
	assert_string_equal(key_text(KEY_MODULE), "module");
	assert_int_equal(key_by_name("pid", &key), -ENOENT);
}

/* --- random models against sums over a plain list --- */

#define SERIES 300

struct plain {
	uint8_t flavour, dim;
	uint32_t flags, cpu;
	char func[8], module[8];
	struct hist hist;
};

static struct plain plain[SERIES];

static void make_random(uint64_t *seed)
{
	static const uint32_t laziness[] = { 0, KD_SERIES_LAZY, KD_SERIES_EAGER };
	char name[32];
	uint32_t i;
	int k;

	for (i = 0; i < SERIES; i++) {
		struct plain *p = &plain[i];
		uint32_t g;

		memset(p, 0, sizeof(*p));
		hist_init(&p->hist);
		p->flavour = (uint8_t)(1 + below(seed, 3));
		p->dim = (uint8_t)below(seed, KD_DIM_COUNT);
		p->flags = laziness[below(seed, 3)] | (below(seed, 10) ? 0 : KD_SERIES_OTHER);
		p->cpu = (uint32_t)below(seed, 20);
		snprintf(p->func, sizeof(p->func), "f%d", (int)below(seed, 30));
		if (!below(seed, 3))
			snprintf(p->module, sizeof(p->module), "m%d", (int)below(seed, 3));
		for (k = (int)below(seed, 5) ? (int)below(seed, 60) : 0; k; k--)
			hist_add(&p->hist, next_random(seed) >> below(seed, 64) >> 8);
		snprintf(name, sizeof(name), p->module[0] ? "%s [%s]" : "%s", p->func, p->module);
		put_series(&s, i, p->flavour, p->dim, p->flags, p->cpu, name);
		for (g = 0; g < KD_HIST_GROUPS; g++)
			put_hist(&s, i, g, p->hist.bucket);
		put_stat(&s, i, p->hist.sum, p->hist.min, p->hist.max);
	}
	put_tick(&s, 1, 1);
}

static bool is_total(const struct metric *x)
{
	return !(x->keys.has & ~BIT(KEY_FLAVOUR));
}

/* Whether this series belongs to the metric, which is none of "other". */
static bool belongs(const struct plain *p, const struct metric *x)
{
	unsigned int has = x->keys.has;

	if (p->flavour != x->flavour || p->dim != (has & BIT(KEY_CPU) ? KD_DIM_CPU : KD_DIM_MAIN))
		return false;
	if ((p->flags & KD_SERIES_OTHER) && has & (BIT(KEY_CPU) | BIT(KEY_FUNC)))
		return false;
	if (has & BIT(KEY_CPU))
		return p->cpu == NUMBER(*x, KEY_CPU);
	if (has & BIT(KEY_LAZY))
		return p->flags & (NUMBER(*x, KEY_LAZY) ? KD_SERIES_LAZY : KD_SERIES_EAGER);
	if (has & BIT(KEY_FUNC))
		return !strcmp(p->func, TEXT(*x, KEY_FUNC)) &&
		       !strcmp(p->module, has & BIT(KEY_MODULE) ? TEXT(*x, KEY_MODULE) : "");
	return true;
}

static void assert_hist(const struct hist *a, const struct hist *b)
{
	assert_memory_equal(a->bucket, b->bucket, sizeof(a->bucket));
	assert_int_equal(a->sum, b->sum);
	assert_true(a->min == b->min && a->max == b->max);
}

static void check_sum(const struct metric *x)
{
	struct hist sum;
	int i;

	hist_init(&sum);
	for (i = 0; i < SERIES; i++)
		if (belongs(&plain[i], x))
			hist_merge(&sum, &plain[i].hist);
	assert_hist(&sum, &x->hist);
	assert_true(is_total(x) || hist_count(&x->hist));
}

static bool same_keys(const struct metric *a, const struct metric *b)
{
	if (a->keys.has != b->keys.has || a->flavour != b->flavour)
		return false;
	if ((a->keys.has & BIT(KEY_FUNC)) && strcmp(TEXT(*a, KEY_FUNC), TEXT(*b, KEY_FUNC)))
		return false;
	if ((a->keys.has & BIT(KEY_MODULE)) && strcmp(TEXT(*a, KEY_MODULE), TEXT(*b, KEY_MODULE)))
		return false;
	return NUMBER(*a, KEY_CPU) == NUMBER(*b, KEY_CPU) &&
	       NUMBER(*a, KEY_LAZY) == NUMBER(*b, KEY_LAZY);
}

/* What holds for one breakdown: sums, order, no key twice, at most `top` keys and one rest. */
static void check_breakdown(enum key_name by, size_t top)
{
	struct hist all, rows;
	size_t i, k, keyed = 0, others = 0;

	ask((struct query){ .by = BIT(by), .top = top });
	hist_init(&all);
	hist_init(&rows);
	for (i = 0; i < n; i++) {
		if (!(out[i].keys.has & BIT(KEY_OTHER)))
			check_sum(&out[i]);
		for (k = 0; k < i; k++)
			assert_false(same_keys(&out[i], &out[k]));
		if (is_total(&out[i])) {
			assert_int_equal(keyed + others, 0);
			continue;
		}
		hist_merge(&rows, &out[i].hist);
		if (out[i].keys.has & BIT(KEY_OTHER)) {
			assert_int_equal(i, n - 1);
			others++;
			continue;
		}
		if (keyed++)
			assert_true(hist_count(&out[i - 1].hist) >= hist_count(&out[i].hist));
	}
	assert_true(!top || by == KEY_LAZY ||
		    keyed <= top); /* two rows of laziness are never folded */
	for (i = 0; i < SERIES; i++)
		if (plain[i].dim == (by == KEY_CPU ? KD_DIM_CPU : KD_DIM_MAIN) &&
		    (by != KEY_LAZY || plain[i].flags & (KD_SERIES_LAZY | KD_SERIES_EAGER)))
			hist_merge(&all, &plain[i].hist);
	assert_hist(&all, &rows);
}

static size_t count_keys(enum key_name by)
{
	size_t i, keys = 0;

	ask((struct query){ .by = BIT(by) });
	for (i = 0; i < n; i++)
		keys += !is_total(&out[i]) && !(out[i].keys.has & BIT(KEY_OTHER));
	return keys;
}

static void test_random_models(void **state)
{
	static const enum key_name by[] = { KEY_FUNC, KEY_CPU, KEY_LAZY };
	uint64_t seed = 9;
	size_t top, keys;
	int round, b;

	for (round = 0; round < 5; round++) {
		make_random(&seed);
		for (b = 0; b < 3; b++) {
			keys = count_keys(by[b]);
			assert_true(keys > 5 || by[b] == KEY_LAZY);
			for (top = 0; top <= keys + 1; top += 1 + top / 4) {
				check_breakdown(by[b], top);
				if (top && top < keys && by[b] != KEY_LAZY)
					assert_int_equal(out[n - 1].keys.others, keys - top);
			}
		}
		teardown(state);
		setup(state);
	}
}

/* A capture may hold as many series as the model takes: the answer must come, sorted. */
static void test_many_series(void **state)
{
	char name[32];
	uint32_t i;

	(void)state;
	for (i = 0; i < MODEL_SERIES_MAX; i++) {
		snprintf(name, sizeof(name), "f%u [m%u]", i * 2654435761u, i % 7);
		put_series(&s, i, KD_FL_RCU, KD_DIM_MAIN, 0, i, name);
		if (i < MODEL_HISTS_MAX)
			put_bucket(&s, i, 3, 1 + i % 1000);
	}
	put_tick(&s, 1, 1);
	ask((struct query){ .top = 100 });
	assert_int_equal(n, 102);
	for (i = 2; i < 101; i++)
		assert_true(hist_count(&out[i].hist) <= hist_count(&out[i - 1].hist));
	assert_int_equal(out[101].keys.others, MODEL_HISTS_MAX - 100);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

/* --- another source: duration has no key, wait goes by caller --- */

static void add_gp(uint32_t id, uint8_t measure, uint8_t flavour, uint32_t flags, const char *name,
		   uint64_t count)
{
	struct kd_rec_series r = {
		.rec = HEADER(r, KD_REC_SERIES, id),
		.source = KD_SRC_RCU_GP,
		.measure = measure,
		.flavour = flavour,
		.flags = flags,
		.key = { id },
	};

	snprintf(r.name, sizeof(r.name), "%s", name);
	stream_record(&s, &r, sizeof(r));
	put_bucket(&s, id, 3, count);
	put_stat(&s, id, 3 * count, 3, 3);
}

static void make_gp_example(void)
{
	add(1, KD_FL_RCU, KD_DIM_MAIN, 0, 0xa, "free_a", 20);
	add(2, KD_FL_RCU, KD_DIM_CPU, 0, 1, "", 20);
	add_gp(11, KD_M_RCU_GP_DURATION, KD_FL_RCU, 0, "", 9);
	add_gp(12, KD_M_RCU_GP_DURATION, KD_FL_EXPEDITED, 0, "", 4);
	add_gp(13, KD_M_RCU_GP_WAIT, KD_FL_RCU, 0, "work_a", 5);
	add_gp(14, KD_M_RCU_GP_WAIT, KD_FL_RCU, 0, "work_b [mod]", 3);
	add_gp(15, KD_M_RCU_GP_WAIT, KD_FL_RCU, KD_SERIES_OTHER, "", 1);
	put_tick(&s, 1, 1);
}

static void expect_gp(size_t i, uint8_t measure, unsigned int has, uint64_t count)
{
	assert_true(i < n);
	assert_int_equal(out[i].source, KD_SRC_RCU_GP);
	assert_int_equal(out[i].measure, measure);
	assert_int_equal(out[i].keys.has, has);
	assert_int_equal(hist_count(&out[i].hist), count);
}

static void expect_caller(size_t i, const char *caller, const char *module, uint64_t count)
{
	expect_gp(i, KD_M_RCU_GP_WAIT,
		  BIT(KEY_FLAVOUR) | BIT(KEY_CALLER) | (module ? BIT(KEY_MODULE) : 0), count);
	assert_string_equal(TEXT(out[i], KEY_CALLER), caller);
	assert_null(TEXT(out[i], KEY_FUNC));
	if (module)
		assert_string_equal(TEXT(out[i], KEY_MODULE), module);
}

static void test_main_keys(void **state)
{
	(void)state;
	make_gp_example();
	ask((struct query){ 0 });
	assert_int_equal(n, 8);
	expect_total(0, KD_FL_RCU, 20);
	expect_gp(1, KD_M_RCU_GP_DURATION, BIT(KEY_FLAVOUR), 9);
	expect_gp(2, KD_M_RCU_GP_DURATION, BIT(KEY_FLAVOUR), 4);
	expect_gp(3, KD_M_RCU_GP_WAIT, BIT(KEY_FLAVOUR), 9);
	expect_func(4, KD_FL_RCU, "free_a", NULL, 20);
	expect_caller(5, "work_a", NULL, 5);
	expect_caller(6, "work_b", "mod", 3);
	expect_gp(7, KD_M_RCU_GP_WAIT, BIT(KEY_FLAVOUR) | BIT(KEY_OTHER), 1);

	ask((struct query){ .by = BIT(KEY_FUNC) | BIT(KEY_CALLER) | BIT(KEY_CPU) });
	assert_int_equal(n,
			 9); /* all of it, and the CPU of callbacks: durations have none of these */
	ask((struct query){ .by = BIT(KEY_MODULE) });
	assert_int_equal(n, 4 + 1 + 3);
}

/* A total of what a filter cannot cut is left out: none is not the same as zero. */
static void test_filters_of_other_keys(void **state)
{
	(void)state;
	make_gp_example();
	ask_filtered(0, KEY_CALLER, "*_b", 0, NULL);
	assert_int_equal(n, 2);
	expect_gp(0, KD_M_RCU_GP_WAIT, BIT(KEY_FLAVOUR), 3);
	expect_caller(1, "work_b", "mod", 3);
	ask_filtered(0, KEY_FUNC, "*", 0, NULL);
	assert_int_equal(n, 2);
	expect_total(0, KD_FL_RCU, 20);
	ask_filtered(BIT(KEY_CPU), KEY_CPU, "1", 0, NULL);
	assert_int_equal(n, 2);
	expect_total(0, KD_FL_RCU, 20);
	ask_filtered(0, KEY_MODULE, "mod", 0, NULL);
	assert_int_equal(n, 3); /* totals of both that have modules */
}

static void test_hidden_flavours(void **state)
{
	const uint32_t hidden[KD_M_COUNT] = { [KD_M_CALL_RCU_LATENCY] = ~0u,
					      [KD_M_RCU_GP_DURATION] = ~BIT(KD_FL_EXPEDITED),
					      [KD_M_RCU_GP_WAIT] = ~0u };

	(void)state;
	make_gp_example();
	ask((struct query){ .hidden = hidden });
	assert_int_equal(n, 1);
	expect_gp(0, KD_M_RCU_GP_DURATION, BIT(KEY_FLAVOUR), 4);
	assert_int_equal(out[0].flavour, KD_FL_EXPEDITED);
}

/* --- memalloc: no group, broken down by stage and by map --- */

static void put(uint32_t id, uint8_t measure, uint8_t flavour, uint8_t dim, uint32_t flags,
		uint64_t key0, uint64_t key1, const char *name, size_t len, uint64_t count)
{
	const uint64_t key[] = { key0, key1 };

	put_series_of(&s, id, measure, flavour, dim, flags, key, name, len);
	put_bucket(&s, id, 3, count);
	put_stat(&s, id, 3 * count, 3, 3);
}

#define STAGE(stage, size) ((uint64_t)(stage) << 32 | (size))

static void expect_of(size_t i, uint8_t measure, enum key_name by, unsigned int has, uint64_t count)
{
	assert_true(i < n);
	assert_int_equal(out[i].measure, measure);
	assert_int_equal(out[i].by, by);
	assert_int_equal(out[i].keys.has, has);
	assert_int_equal(hist_count(&out[i].hist), count);
}

static void make_memalloc_example(void)
{
	const uint8_t latency = KD_M_MEMALLOC_LATENCY;

	put(1, latency, 0, 0, 0, 7, STAGE(KD_STAGE_RCU, 64), STRINGS("seven"), 10);
	put(2, latency, 0, 0, 0, 7, STAGE(KD_STAGE_TASKS_TRACE, 64), STRINGS("seven"), 6);
	put(3, latency, 0, 0, 0, 9, STAGE(KD_STAGE_RCU, 96), STRINGS("seven"), 5);
	put(4, latency, 0, 0, 0, 0, STAGE(KD_STAGE_RCU, 96), STRINGS("ma"), 4);
	put(5, latency, 0, 0, KD_SERIES_OTHER, 0, STAGE(KD_STAGE_RCU, 0), STRINGS(""), 3);
	put(6, latency, 0, 0, KD_SERIES_OTHER, 0, STAGE(KD_STAGE_COUNT, 0), STRINGS(""), 1);
	put(7, latency, 0, KD_DIM_CPU, 0, 3, 0, STRINGS(""), 29);
	put(8, KD_M_MEMALLOC_REFILL_FAILED, 0, 0, 0, 7, 64, STRINGS("seven"), 2);
	put_tick(&s, 1, 1);
}

static void test_memalloc(void **state)
{
	const unsigned int map = BIT(KEY_MAP_ID) | BIT(KEY_MAP_NAME);
	const uint8_t latency = KD_M_MEMALLOC_LATENCY;

	(void)state;
	make_memalloc_example();
	ask((struct query){ 0 });
	assert_int_equal(n, 10);
	expect_of(0, latency, KEY_NONE, 0, 29); /* nothing tells totals apart */
	expect_of(1, KD_M_MEMALLOC_REFILL_FAILED, KEY_NONE, 0, 2);
	expect_of(2, latency, KEY_STAGE, BIT(KEY_STAGE), 22); /* of the rest the stage is known */
	assert_string_equal(TEXT(out[2], KEY_STAGE), "rcu");
	expect_of(3, latency, KEY_STAGE, BIT(KEY_STAGE), 6);
	assert_string_equal(TEXT(out[3], KEY_STAGE), "tasks_trace");
	expect_of(4, latency, KEY_STAGE, BIT(KEY_OTHER), 1); /* no stage that we know */
	expect_of(5, latency, KEY_MAP_ID, map, 16);
	assert_int_equal(NUMBER(out[5], KEY_MAP_ID), 7);
	assert_string_equal(TEXT(out[5], KEY_MAP_NAME), "seven");
	expect_of(6, latency, KEY_MAP_ID, map, 5); /* another map of this name */
	assert_int_equal(NUMBER(out[6], KEY_MAP_ID), 9);
	expect_of(7, latency, KEY_MAP_ID, map, 4);
	assert_int_equal(NUMBER(out[7], KEY_MAP_ID), 0);
	expect_of(8, latency, KEY_MAP_ID, BIT(KEY_OTHER), 4);
	expect_of(9, KD_M_MEMALLOC_REFILL_FAILED, KEY_MAP_ID, map, 2);

	ask((struct query){ .by = BIT(KEY_UNIT_SIZE) });
	assert_int_equal(n, 2 + 3 + 1);
	expect_of(2, latency, KEY_UNIT_SIZE, BIT(KEY_UNIT_SIZE), 16);
	assert_int_equal(NUMBER(out[2], KEY_UNIT_SIZE), 64);
	expect_of(3, latency, KEY_UNIT_SIZE, BIT(KEY_UNIT_SIZE), 9);
	expect_of(4, latency, KEY_UNIT_SIZE, BIT(KEY_OTHER), 4);
	ask((struct query){ .by = BIT(KEY_MAP_NAME) });
	expect_of(2, latency, KEY_MAP_NAME, BIT(KEY_MAP_NAME), 21); /* maps of one name together */
	ask((struct query){ .by = BIT(KEY_CPU) });
	expect_of(2, latency, KEY_CPU, BIT(KEY_CPU), 29);
}

static void test_memalloc_filters(void **state)
{
	(void)state;
	make_memalloc_example();
	ask_filtered(0, KEY_STAGE, "tasks*", 0, NULL); /* not of measures without stages */
	assert_int_equal(n, 3);
	expect_of(0, KD_M_MEMALLOC_LATENCY, KEY_NONE, 0, 6);
	ask_filtered(BIT(KEY_UNIT_SIZE), KEY_MAP_ID, "7", 0, NULL);
	assert_int_equal(n, 4);
	expect_of(0, KD_M_MEMALLOC_LATENCY, KEY_NONE, 0, 16);
	expect_of(1, KD_M_MEMALLOC_REFILL_FAILED, KEY_NONE, 0, 2);
	ask_filtered(0, KEY_FLAVOUR, "*", 0, NULL); /* it has none */
	assert_int_equal(n, 0);
}

/* --- rstat: by subsystem; cgroups, and flushers as another kind of series --- */

#define CLASS(class, tgid) ((uint64_t)(class) << 32 | (tgid))
#define BIG_ID 0xfffffffffffffffbull /* no double holds it */

static void make_rstat_example(void)
{
	const uint8_t f = KD_M_RSTAT_FLUSH;

	put(1, f, KD_FL_SUB_MEMORY, 0, 0, BIG_ID, 0, STRINGS("/a"), 9);
	put(2, f, KD_FL_SUB_MEMORY, 0, 0, BIG_ID, 4, STRINGS("/a"), 3); /* of version 1 */
	put(3, f, KD_FL_SUB_BASE, 0, 0, 1, 0, STRINGS("/ [x]"), 5);
	put(4, f, KD_FL_SUB_MEMORY, 0, KD_SERIES_OTHER, 0, 0, STRINGS(""), 1);
	put(11, f, KD_FL_SUB_MEMORY, KD_DIM_FLUSHER, 0, CLASS(KD_FC_MEMORY_STAT, 70), BIG_ID,
	    STRINGS("reader\0worker\0/r"), 6);
	put(12, f, KD_FL_SUB_MEMORY, KD_DIM_FLUSHER, 0, CLASS(KD_FC_RECLAIM, 70), BIG_ID,
	    STRINGS("reader\0worker\0/r"), 4);
	put(13, f, KD_FL_SUB_MEMORY, KD_DIM_FLUSHER, 0, CLASS(KD_FC_PERIODIC, 0), 0,
	    STRINGS("kworker\0kworker\0"), 2);
	put(14, f, KD_FL_SUB_MEMORY, KD_DIM_FLUSHER, KD_SERIES_OTHER, 0, 0, STRINGS(""), 1);
	put(15, f, KD_FL_SUB_BASE, KD_DIM_FLUSHER, 0, CLASS(KD_FC_COUNT, 71), 0, STRINGS(""), 5);
	put_tick(&s, 1, 1);
}

static void test_rstat(void **state)
{
	const unsigned int sub = BIT(KEY_SUBSYSTEM);
	const unsigned int cgroup = sub | BIT(KEY_CGROUP) | BIT(KEY_CGROUP_ID);
	const unsigned int kthread =
		sub | BIT(KEY_FLUSHER) | BIT(KEY_FLUSHER_THREAD) | BIT(KEY_FLUSHER_CLASS);
	const unsigned int flusher =
		kthread | BIT(KEY_TGID) | BIT(KEY_FLUSHER_CGROUP) | BIT(KEY_FLUSHER_CGROUP_ID);
	const uint8_t f = KD_M_RSTAT_FLUSH;

	(void)state;
	make_rstat_example();
	ask((struct query){ 0 });
	assert_int_equal(n, 2 + 4 + 5);
	expect_of(0, f, KEY_NONE, sub, 5);
	assert_string_equal(TEXT(out[0], KEY_SUBSYSTEM), "base");
	expect_of(1, f, KEY_NONE, sub, 13);
	assert_string_equal(TEXT(out[1], KEY_SUBSYSTEM), "memory");
	expect_of(2, f, KEY_CGROUP, cgroup, 9);
	assert_string_equal(TEXT(out[2], KEY_CGROUP), "/a");
	assert_true(NUMBER(out[2], KEY_CGROUP_ID) == BIG_ID);
	expect_of(3, f, KEY_CGROUP, cgroup, 5);
	assert_string_equal(TEXT(out[3], KEY_CGROUP), "/ [x]"); /* no module */
	expect_of(4, f, KEY_CGROUP, cgroup | BIT(KEY_HIERARCHY), 3);
	expect_of(5, f, KEY_CGROUP, sub | BIT(KEY_OTHER), 1);
	expect_of(6, f, KEY_FLUSHER, flusher, 6);
	assert_string_equal(TEXT(out[6], KEY_FLUSHER), "reader");
	assert_string_equal(TEXT(out[6], KEY_FLUSHER_THREAD), "worker");
	assert_string_equal(TEXT(out[6], KEY_FLUSHER_CGROUP), "/r");
	assert_string_equal(TEXT(out[6], KEY_FLUSHER_CLASS), "memory.stat");
	assert_true(NUMBER(out[6], KEY_FLUSHER_CGROUP_ID) == BIG_ID);
	assert_int_equal(NUMBER(out[6], KEY_TGID), 70);
	expect_of(7, f, KEY_FLUSHER, sub | BIT(KEY_FLUSHER) | BIT(KEY_TGID), 5);
	assert_string_equal(TEXT(out[7], KEY_FLUSHER), "?");
	expect_of(8, f, KEY_FLUSHER, flusher, 4);
	expect_of(9, f, KEY_FLUSHER, kthread, 2);
	expect_of(10, f, KEY_FLUSHER, sub | BIT(KEY_OTHER), 1);

	ask((struct query){ .by = BIT(KEY_FLUSHER_CLASS) });
	assert_int_equal(n, 2 + 3 + 1);
	expect_of(2, f, KEY_FLUSHER_CLASS, sub | BIT(KEY_FLUSHER_CLASS), 6);
	expect_of(5, f, KEY_FLUSHER_CLASS, BIT(KEY_OTHER), 1 + 5); /* no such class; the rest */
	ask((struct query){ .by = BIT(KEY_TGID) });
	expect_of(2, f, KEY_TGID, sub | BIT(KEY_TGID), 10);
	assert_int_equal(NUMBER(out[2], KEY_TGID), 70);
}

static void test_rstat_filters(void **state)
{
	const uint8_t f = KD_M_RSTAT_FLUSH;

	(void)state;
	make_rstat_example();
	ask_filtered(0, KEY_SUBSYSTEM, "b*", 0, NULL);
	assert_int_equal(n, 3);
	expect_of(0, f, KEY_NONE, BIT(KEY_SUBSYSTEM), 5);
	ask_filtered(0, KEY_FLUSHER, "reader", 0, NULL); /* cgroups cannot be cut by flusher */
	assert_int_equal(n, 2 + 2);
	expect_of(1, f, KEY_NONE, BIT(KEY_SUBSYSTEM), 10);
	assert_int_equal(out[2].by, KEY_FLUSHER);
	put(30, KD_M_RSTAT_HOLD, KD_FL_SUB_BASE, 0, 0, 1, 0, STRINGS("/"), 4);
	put_tick(&s, 2, 1);
	ask_filtered(0, KEY_FLUSHER, "reader", 0, NULL);
	assert_int_equal(n, 2 + 2); /* holds are not counted by flusher: that is not "none" */
	ask_filtered(0, KEY_CGROUP, "/", 0, NULL);
	assert_int_equal(n, 3 + 1);
	ask_filtered(0, KEY_CGROUP_ID, "18446744073709551611", KEY_SUBSYSTEM, "memory");
	assert_int_equal(n, 1 + 2);
	expect_of(0, f, KEY_NONE, BIT(KEY_SUBSYSTEM), 12);
	ask_filtered(0, KEY_CGROUP, "*", KEY_TGID, "*");
	assert_int_equal(n, 0);
}

/* What is a bound is never added to what is not. */
static void test_bounds(void **state)
{
	const uint8_t h = KD_M_RSTAT_HOLD;
	const uint8_t expected[] = { 0, KD_SERIES_UPPER, KD_SERIES_LOWER };
	size_t i;

	(void)state;
	put_text(&s, KD_REC_PLAN,
		 KD_SRC_RSTAT | (uint64_t)h << 8 | (uint64_t)KD_FL_SUB_ALL << 16 |
			 (uint64_t)PLAN_ON << 24,
		 0, "fentry", "f");
	put(1, h, KD_FL_SUB_ALL, 0, KD_SERIES_UPPER, 1, 0, STRINGS("/a"), 5);
	put_tick(&s, 1, 1);
	ask((struct query){ .by = BIT(KEY_CGROUP) });
	assert_int_equal(n, 2); /* no exact total that saw nothing: there is no such thing here */
	assert_int_equal(out[0].bound, KD_SERIES_UPPER);
	put(2, h, KD_FL_SUB_ALL, 0, 0, 1, 0, STRINGS("/a"), 7);
	put(3, h, KD_FL_SUB_ALL, 0, KD_SERIES_LOWER, 1, 0, STRINGS("/a"), 2);
	put(4, h, KD_FL_SUB_ALL, 0, KD_SERIES_LOWER | KD_SERIES_OTHER, 1, 0, STRINGS(""), 1);
	put_worst(&s, 1, 5, 3, 0);
	put_tick(&s, 2, 1);
	ask((struct query){ .by = BIT(KEY_CGROUP) });
	assert_int_equal(n, 3 + 4);
	for (i = 0; i < 3; i++) {
		assert_int_equal(out[i].bound, expected[i]);
		assert_int_equal(out[3 + i].bound, expected[i]);
	}
	assert_int_equal(hist_count(&out[0].hist), 7);
	assert_int_equal(hist_count(&out[1].hist), 5);
	assert_int_equal(hist_count(&out[2].hist), 3);
	assert_int_equal(out[0].worst->n, 0);
	assert_int_equal(out[1].worst->n, 1);
	expect_of(4, h, KEY_CGROUP, out[3].keys.has, 5);
	expect_of(6, h, KEY_CGROUP, BIT(KEY_SUBSYSTEM) | BIT(KEY_OTHER), 1);
	put(9, h, KD_FL_SUB_ALL, 0, KD_SERIES_UPPER | KD_SERIES_LOWER, 1, 0, STRINGS("/a"), 1);
	assert_int_equal(s.bad, 1); /* both at once mean nothing */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_example),
		TEST(test_by),
		TEST(test_interval_and_run),
		TEST(test_plan_rows_without_samples),
		TEST(test_worst),
		TEST(test_filters),
		TEST(test_cpu_filters),
		TEST(test_top),
		TEST(test_names),
		TEST(test_key_texts),
		TEST(test_random_models),
		TEST(test_many_series),
		TEST(test_main_keys),
		TEST(test_filters_of_other_keys),
		TEST(test_hidden_flavours),
		TEST(test_memalloc),
		TEST(test_memalloc_filters),
		TEST(test_rstat),
		TEST(test_rstat_filters),
		TEST(test_bounds),
	};

	return cmocka_run_group_tests_name("metrics", tests, NULL, NULL);
}
