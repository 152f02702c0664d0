// SPDX-License-Identifier: GPL-2.0-only
/* What views ask of lists: rows that never overlap, folding, filters, what is held back. */
#include <errno.h>
#include <stdlib.h>

#include "backlog.h"
#include "records.h"

static struct model m;
static struct stream s;
static struct backlog_query q;
static struct backlog_row *rows;
static size_t n;

#define S 1000000000ULL

static int setup(void **state)
{
	(void)state;
	model_init(&m);
	stream_init(&s, model_record, &m);
	q = (struct backlog_query){ .scope = { .measures = UINT64_MAX } };
	rows = NULL;
	forget_log();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(rows);
	model_free(&m);
	return 0;
}

static void tick(uint32_t number)
{
	struct kd_rec_tick r = { .rec = HEADER(r, KD_REC_TICK, 0),
				 .mono_ns = S * (number + 1),
				 .tick = number,
				 .complete = 1 };

	assert_int_equal(stream_record(&s, &r, sizeof(r)), 0);
}

static void callbacks(uint8_t flavour, uint16_t list, uint32_t cpu, uint64_t domain,
		      uint64_t length)
{
	struct kd_rec_pending r = a_list(list, cpu, domain, length);

	r.source = KD_SRC_CALL_RCU;
	r.flavour = flavour;
	r.unit_size = 0;
	r.bytes = KD_UNKNOWN;
	stream_record(&s, &r, sizeof(r));
}

static void ask(void)
{
	free(rows);
	assert_int_equal(backlog_rows(&m, &q, &rows, &n), 0);
}

static void ask_totals(void)
{
	free(rows);
	assert_int_equal(backlog_totals(&m, &q, &rows, &n), 0);
}

static void fill(void)
{
	put_list(&s, KD_LIST_FREE_LLIST, 0, 7, 10);
	put_list(&s, KD_LIST_FREE_LLIST, 1, 7, 20);
	put_list(&s, KD_LIST_FREE_LLIST, 1, 8, 5);
	put_list(&s, KD_LIST_FREE_BY_RCU, 0, 9, 50);
	callbacks(KD_FL_RCU, KD_LIST_WAIT, 0, 0, 100);
	callbacks(KD_FL_RCU, KD_LIST_WAIT, 1, 0, 1);
	callbacks(KD_FL_RCU, KD_LIST_DONE, 0, 0, 0);
	callbacks(KD_FL_SRCU, KD_LIST_WAIT, 0, 0xabc, 4);
	tick(0);
}

static void test_rows(void **state)
{
	(void)state;
	fill();
	ask();
	assert_int_equal(n, 6);
	/* By source, what holds most first; an empty list without keys is known to be empty. */
	assert_int_equal(rows[0].source, KD_SRC_CALL_RCU);
	assert_int_equal(rows[0].length, 101);
	assert_int_equal(rows[0].unsized, 101);
	assert_int_equal(rows[0].cpu, KD_CPU_NONE);
	assert_int_equal(rows[1].length, 4);
	assert_int_equal(rows[2].length, 0);
	assert_int_equal(rows[2].list, KD_LIST_DONE);
	assert_int_equal(rows[3].key, 9);
	assert_int_equal(rows[3].bytes, 50 * 64);
	assert_int_equal(rows[4].key, 7);
	assert_int_equal(rows[4].length, 30);
	assert_int_equal(rows[5].key, 8);
	q.per_cpu = true;
	ask();
	assert_int_equal(n, 7); /* what is empty on a CPU is left out */
	assert_int_equal(rows[0].length, 100);
	assert_int_equal(rows[0].cpu, 0);
	q.scope.measures = 1ULL << KD_M_CALL_RCU_PENDING;
	ask();
	assert_int_equal(n, 3);
}

static uint64_t sum_of(unsigned int source)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += rows[i].source == source ? rows[i].length : 0;
	return sum;
}

static void test_top(void **state)
{
	(void)state;
	fill();
	q.top = 1;
	ask();
	assert_int_equal(sum_of(KD_SRC_CALL_RCU), 105);
	assert_int_equal(sum_of(KD_SRC_MEMALLOC), 85);
	assert_int_equal(n, 5); /* rcu wait, rcu done, the domain; map 9, other */
	assert_true(rows[4].other);
	assert_int_equal(rows[4].list, KD_LIST_FREE_LLIST);
	assert_int_equal(rows[4].folded, 2);
	assert_int_equal(rows[4].length, 35);
	assert_int_equal(rows[4].peak, KD_UNKNOWN);
	assert_true(rows[4].mean < 0);
}

/* However rows are folded, lists add up to the same. */
static void test_random_folds(void **state)
{
	uint64_t seed = 88172645463325252ull;

	(void)state;
	for (int i = 0; i < 400; i++)
		put_list(&s, (uint16_t)(KD_LIST_FREE_LLIST + below(&seed, 4)),
			 (uint32_t)below(&seed, 4), below(&seed, 9), below(&seed, 50));
	tick(0);
	ask_totals();
	assert_int_equal(n, 4);
	for (size_t t = 0; t < n; t++) {
		const struct backlog_row total = rows[t];

		for (int form = 0; form < 20; form++) {
			uint64_t length = 0, bytes = 0;
			struct backlog_row *folded;
			size_t nfolded;

			q.top = (size_t)form / 2;
			q.per_cpu = form % 2;
			assert_int_equal(backlog_rows(&m, &q, &folded, &nfolded), 0);
			for (size_t i = 0; i < nfolded; i++)
				if (folded[i].list == total.list) {
					length += folded[i].length;
					bytes += folded[i].bytes;
				}
			assert_int_equal(length, total.length);
			assert_int_equal(bytes, total.bytes);
			free(folded);
		}
	}
}

static size_t matching(enum backlog_key key, const char *glob)
{
	struct backlog_filter f = { .key = key, .glob = glob };

	q.filters = &f;
	q.nfilters = 1;
	ask();
	q.nfilters = 0;
	return n;
}

static void test_filters(void **state)
{
	const uint64_t map = KD_NAME_MAP | KD_SRC_MEMALLOC << 8,
		       domain = KD_NAME_DOMAIN | KD_SRC_CALL_RCU << 8;

	(void)state;
	fill();
	put_list(&s, KD_LIST_UNKNOWN + 3, 0, KD_KEY_GLOBAL, 1);
	put_text(&s, KD_REC_NAME, map, 7, "flows", "hash");
	put_text(&s, KD_REC_NAME, map, 8, "floors", "hash");
	put_text(&s, KD_REC_NAME, map, KD_KEY_GLOBAL, "bpf_global_ma", "");
	put_text(&s, KD_REC_NAME, domain, 0xabc, "some_srcu", "");
	put_text(&s, KD_REC_NAME, KD_NAME_LIST | KD_SRC_MEMALLOC << 8, KD_LIST_UNKNOWN + 3,
		 "new_list", "");
	tick(1);
	assert_int_equal(matching(BACKLOG_MAP, "flo*"), 2);
	assert_int_equal(matching(BACKLOG_MAP, "7"), 1);
	assert_int_equal(matching(BACKLOG_MAP_ID, "flows"), 0);
	assert_int_equal(matching(BACKLOG_MAP_NAME, "floors"), 1);
	assert_int_equal(matching(BACKLOG_ALLOCATOR, "*"), 1);
	assert_int_equal(matching(BACKLOG_DOMAIN, "some*"), 1);
	assert_int_equal(matching(BACKLOG_FLAVOUR, "rcu"), 2);
	assert_int_equal(matching(BACKLOG_FLAVOUR, "*"), 3);
	assert_int_equal(matching(BACKLOG_SUBSYSTEM, "*"), 0);
	assert_int_equal(matching(BACKLOG_LIST, "free_by_rcu"), 1);
	assert_int_equal(matching(BACKLOG_LIST, "new_list"), 1);
	assert_string_equal(backlog_list(&m, &rows[0]), "new_list");
	assert_int_equal(matching(BACKLOG_UNIT_SIZE, "64"), 4);
	assert_int_equal(matching(BACKLOG_CPU, "1"), 3); /* by CPU, then */
	assert_int_equal(rows[0].cpu, 1);
}

static void test_filtered_totals(void **state)
{
	const struct backlog_filter f = { .key = BACKLOG_CPU, .glob = "1" };

	(void)state;
	fill();
	q.filters = &f;
	q.nfilters = 1;
	ask_totals();
	assert_int_equal(n, 2);
	assert_int_equal(rows[0].length, 1);
	assert_int_equal(rows[1].list, KD_LIST_FREE_LLIST);
	assert_int_equal(rows[1].length, 25);
	assert_false(rows[1].other);
}

static void test_changes(void **state)
{
	double rate;

	(void)state;
	fill();
	put_list(&s, KD_LIST_FREE_BY_RCU, 0, 9, 70);
	tick(1);
	put_list(&s, KD_LIST_FREE_BY_RCU, 0, 9, 40);
	tick(2);
	q.scope.measures = 1ULL << KD_M_MEMALLOC_PENDING;
	ask();
	assert_true(backlog_rate(&m, &q.scope, &rows[0], &rate));
	assert_true(rate == -5); /* 50 to 40 in two seconds */
	assert_int_equal(rows[0].peak, 70);
	assert_true(rows[0].mean == 55);
	q.scope.interval = true;
	ask();
	assert_true(backlog_rate(&m, &q.scope, &rows[0], &rate));
	assert_true(rate == -30);
	assert_true(backlog_rate(&m, &q.scope, &rows[1], &rate));
	assert_true(rate == 0); /* it did not change */
}

/* Two looks right after each other tell no rate. */
static void test_no_rate(void **state)
{
	struct backlog_debt d;
	double rate;

	(void)state;
	put_list(&s, KD_LIST_FREE_LLIST, 0, 7, 10);
	put_tick(&s, 0, 1);
	put_tick(&s, 1, 1); /* 100 ns */
	ask();
	assert_false(backlog_rate(&m, &q.scope, &rows[0], &rate));
	assert_int_equal(backlog_debt(&m, &q, &d), 0);
	assert_false(d.all.rated);
	assert_true(backlog_gone_ns(&d.all) == KD_UNKNOWN);
}

static void test_debt(void **state)
{
	struct backlog_debt d;

	(void)state;
	fill();
	put_list(&s, KD_LIST_FREE_BY_RCU, 0, 9, 25);
	tick(1);
	assert_int_equal(backlog_debt(&m, &q, &d), 0);
	assert_true(d.all.any && d.all.exact && d.all.rated);
	assert_int_equal(d.all.bytes, 60 * 64);
	assert_int_equal(d.all.unsized, 105);
	assert_int_equal(d.by[KD_SRC_CALL_RCU].bytes, 0);
	assert_int_equal(d.by[KD_SRC_MEMALLOC].length, 60);
	assert_true(d.all.net == -25 * 64);
	assert_int_equal(backlog_gone_ns(&d.all), 60 * S / 25);
	assert_false(d.by[KD_SRC_MEMALLOC].counted);
	assert_false(d.by[KD_SRC_RSTAT].any);
	assert_false(d.by[KD_SRC_RCU_GP].any);
}

/* What left is counted by the kernel: what came follows, and how long the rest takes. */
static void test_flow(void **state)
{
	struct backlog_debt d;

	(void)state;
	put_total(&s, KD_REC_COUNT, KD_CNT_LEFT, 1000);
	fill();
	callbacks(KD_FL_RCU, KD_LIST_WAIT, 0, 0, 60);
	callbacks(KD_FL_SRCU, KD_LIST_WAIT, 0, 0xabc, 4000); /* none of those that are counted */
	put_total(&s, KD_REC_COUNT, KD_CNT_LEFT, 1122);
	tick(1);
	assert_int_equal(backlog_debt(&m, &q, &d), 0);
	assert_true(d.by[KD_SRC_CALL_RCU].counted);
	assert_true(d.by[KD_SRC_CALL_RCU].out == 122);
	assert_true(d.by[KD_SRC_CALL_RCU].in == 82);
	assert_int_equal(d.by[KD_SRC_CALL_RCU].drain_ns, S / 2);
	tick(2); /* nothing leaves any more */
	q.scope.interval = true;
	assert_int_equal(backlog_debt(&m, &q, &d), 0);
	assert_true(d.by[KD_SRC_CALL_RCU].counted);
	assert_true(d.by[KD_SRC_CALL_RCU].out == 0);
	assert_int_equal(d.by[KD_SRC_CALL_RCU].drain_ns, KD_UNKNOWN);
}

static void count_memory(uint16_t what, uint64_t total)
{
	const struct kd_rec_total r = { .rec = { .kind = KD_REC_COUNT, .len = sizeof(r) },
					.source = KD_SRC_MEMALLOC,
					.what = what,
					.total = total };

	assert_int_equal(stream_record(&s, &r, sizeof(r)), 0);
}

/* Of BPF memory looks tell at least how much comes and leaves, and when all that waits is through. */
static void test_bounds(void **state)
{
	const struct backlog_filter only = { .key = BACKLOG_MAP_ID, .glob = "9" };
	struct backlog_debt d;

	(void)state;
	put_list(&s, KD_LIST_FREE_BY_RCU_TTRACE, 0, 9, 50);
	put_list(&s, KD_LIST_FREE_LLIST, 0, 9, 96);
	tick(0);
	assert_int_equal(backlog_debt(&m, &q, &d), 0);
	assert_false(d.all.bound);
	assert_non_null(strstr(backlog_no_flow(&q, &d), "two looks"));
	put_list(&s, KD_LIST_FREE_BY_RCU_TTRACE, 0, 9, 60);
	tick(1);
	assert_int_equal(backlog_debt(&m, &q, &d), 0);
	assert_false(d.by[KD_SRC_MEMALLOC].bound); /* a capture of a version that did not look */
	assert_non_null(strstr(backlog_no_flow(&q, &d), "no look"));
	count_memory(KD_CNT_FLOW_LOOKS, 2);
	count_memory(KD_CNT_FLOW_IN, 50);
	count_memory(KD_CNT_FLOW_OUT, 40);
	count_memory(KD_CNT_FLOW_IN_BYTES, 50 * 64);
	count_memory(KD_CNT_FLOW_OUT_BYTES, 40 * 64);
	tick(2);
	assert_int_equal(backlog_debt(&m, &q, &d), 0);
	assert_true(d.all.bound && d.by[KD_SRC_MEMALLOC].bound && !backlog_no_flow(&q, &d));
	assert_true(d.by[KD_SRC_MEMALLOC].in == 25 && d.by[KD_SRC_MEMALLOC].out == 20);
	assert_true(d.all.in_bytes == 25 * 64 && d.all.out_bytes == 20 * 64);
	assert_int_equal(d.all.drain_ns,
			 3 * S); /* 60 at 20 a second; what is idle waits for nothing */
	q.filters = &only;
	q.nfilters = 1;
	assert_int_equal(backlog_debt(&m, &q, &d), 0);
	assert_false(d.all.bound);
	assert_non_null(strstr(backlog_no_flow(&q, &d), "of a part"));
}

static void test_doubtful_debt(void **state)
{
	struct kd_rec_pending r = a_list(KD_LIST_FREE_LLIST, 0, 7, 10);
	struct backlog_debt d;

	(void)state;
	r.flags = 0;
	stream_record(&s, &r, sizeof(r));
	tick(0);
	assert_int_equal(backlog_debt(&m, &q, &d), 0);
	assert_false(d.all.exact);
	assert_false(d.all.truncated);
	r.flags = KD_PENDING_TRUNCATED | KD_PENDING_EXACT;
	stream_record(&s, &r, sizeof(r));
	tick(1);
	assert_int_equal(backlog_debt(&m, &q, &d), 0);
	assert_true(d.all.exact && d.all.truncated);
}

static void bpf(struct backlog_bpf *b)
{
	assert_int_equal(backlog_bpf(&m, &q, b), 0);
}

static void test_bpf_memory(void **state)
{
	struct backlog_bpf b;

	(void)state;
	bpf(&b);
	assert_false(b.known);
	put_list(&s, KD_LIST_FREE_LLIST, 0, 7, 1);
	put_list(&s, KD_LIST_FREE_LLIST_EXTRA, 0, 7, 2);
	put_list(&s, KD_LIST_FREE_BY_RCU, 0, 7, 4);
	put_list(&s, KD_LIST_WAITING_FOR_GP, 0, 7, 8);
	put_list(&s, KD_LIST_UNKNOWN, 0, 7, 64);
	tick(0);
	bpf(&b); /* no list of Tasks Trace: these two are its */
	assert_true(b.known && b.exact);
	assert_int_equal(b.objects[BACKLOG_IDLE], 3);
	assert_int_equal(b.objects[BACKLOG_RCU], 0);
	assert_int_equal(b.objects[BACKLOG_TASKS_TRACE], 12);
	assert_int_equal(b.objects[BACKLOG_UNKNOWN], 64);
	put_list(&s, KD_LIST_FREE_BY_RCU_TTRACE, 0, 7, 16);
	put_list(&s, KD_LIST_WAITING_FOR_GP_TTRACE, 0, 7, 32);
	tick(1);
	bpf(&b);
	assert_int_equal(b.objects[BACKLOG_RCU], 12);
	assert_int_equal(b.objects[BACKLOG_TASKS_TRACE], 48);
	assert_int_equal(b.bytes[BACKLOG_TASKS_TRACE], 48 * 64);
}

/* The kernel says which it is, although its lists are empty. */
static void test_bpf_variant(void **state)
{
	struct backlog_bpf b;

	(void)state;
	put_list(&s, KD_LIST_WAITING_FOR_GP, 0, 7, 8);
	tick(0);
	put_text(&s, KD_REC_HOST, 0, 0, "memalloc_variant", "B");
	bpf(&b);
	assert_int_equal(b.objects[BACKLOG_RCU], 8);
	put_text(&s, KD_REC_HOST, 0, 0, "memalloc_variant", "A");
	bpf(&b);
	assert_int_equal(b.objects[BACKLOG_TASKS_TRACE], 8);
}

static void test_grace_period(void **state)
{
	struct kd_rec_gp r = { .rec = HEADER(r, KD_REC_GP, 0), .flavour = KD_FL_RCU };
	const struct backlog_filter f = { .key = BACKLOG_FLAVOUR, .glob = "tasks*" };

	(void)state;
	stream_record(&s, &r, sizeof(r));
	tick(0);
	assert_non_null(backlog_gp(&m, &q, KD_FL_RCU));
	assert_null(backlog_gp(&m, &q, KD_FL_TASKS));
	q.filters = &f;
	q.nfilters = 1;
	assert_null(backlog_gp(&m, &q, KD_FL_RCU));
	q.nfilters = 0;
	q.scope.measures = 1ULL << KD_M_CALL_RCU_PENDING;
	assert_null(backlog_gp(&m, &q, KD_FL_RCU));
}

static void test_keys(void **state)
{
	enum backlog_key key;

	(void)state;
	for (unsigned int i = 0; i < BACKLOG_KEYS; i++) {
		assert_int_equal(backlog_key_by_name(backlog_key_text(i), &key), 0);
		assert_int_equal(key, i);
		assert_non_null(strstr(backlog_key_list(), backlog_key_text(i)));
	}
	assert_int_equal(backlog_key_by_name("colour", &key), -ENOENT);
}

/* A list that is there and empty is no list that is not there; for a CPU alone it says nothing. */
static void test_declared_empty(void **state)
{
	(void)state;
	callbacks(KD_FL_RCU, KD_LIST_WAIT, KD_CPU_NONE, 0, 0);
	callbacks(KD_FL_RCU, KD_LIST_NEXT, KD_CPU_NONE, 0, 0);
	callbacks(KD_FL_RCU, KD_LIST_NEXT, 1, 0, 7);
	callbacks(KD_FL_SRCU, KD_LIST_WAIT, KD_CPU_NONE, 0, 0);
	callbacks(KD_FL_SRCU, KD_LIST_WAIT, 0, 99, 3); /* of a domain */
	tick(0);
	ask();
	assert_int_equal(n, 3);
	assert_int_equal(rows[0].length, 7);
	assert_int_equal(rows[1].key, 99); /* and no row that looks like the sum of domains */
	assert_int_equal(rows[2].list, KD_LIST_WAIT);
	assert_int_equal(rows[2].flavour, KD_FL_RCU);
	assert_int_equal(rows[2].length, 0);
	q.per_cpu = true;
	ask();
	assert_int_equal(n, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_declared_empty, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rows, setup, teardown),
		cmocka_unit_test_setup_teardown(test_top, setup, teardown),
		cmocka_unit_test_setup_teardown(test_random_folds, setup, teardown),
		cmocka_unit_test_setup_teardown(test_filters, setup, teardown),
		cmocka_unit_test_setup_teardown(test_filtered_totals, setup, teardown),
		cmocka_unit_test_setup_teardown(test_changes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_rate, setup, teardown),
		cmocka_unit_test_setup_teardown(test_debt, setup, teardown),
		cmocka_unit_test_setup_teardown(test_flow, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bounds, setup, teardown),
		cmocka_unit_test_setup_teardown(test_doubtful_debt, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bpf_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bpf_variant, setup, teardown),
		cmocka_unit_test_setup_teardown(test_grace_period, setup, teardown),
		cmocka_unit_test_setup_teardown(test_keys, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
