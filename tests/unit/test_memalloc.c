// SPDX-License-Identifier: GPL-2.0-only
/* test_memalloc.c - BPF memory without a kernel: what BTF says of its lists, entries, ages, the plan. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/btf.h>
#include <cmocka.h>

#include "kernel.h"
#include "memalloc_look.h"
#include "plan.h"

/* --- the lists of a kernel --- */

/* A cache as a patched kernel may have it: a list and a counter more, some things that are neither. */
static struct btf *patched_kernel(void)
{
	struct btf *btf = btf__new_empty();
	int u64 = btf__add_int(btf, "long", 8, 0),
	    i32 = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	int node = btf__add_ptr(btf, 0), head = btf__add_struct(btf, "llist_head", 8);
	int array, cache;

	btf__add_field(btf, "first", node, 0, 0);
	cache = btf__add_struct(btf, "bpf_mem_cache", 96);
	btf__add_field(btf, "free_llist", head, 0, 0);
	btf__add_field(btf, "active", u64, 64, 0);
	btf__add_field(btf, "unit_size", i32, 128, 0);
	btf__add_field(btf, "free_cnt", i32, 160, 0);
	btf__add_field(btf, "waiting_for_gp", head, 192, 0);
	btf__add_field(btf, "waiting_for_gp_tail", node, 256, 0);
	btf__add_field(btf, "reuse_ready", head, 320, 0);
	btf__add_field(btf, "reuse_ready_cnt", i32, 384, 0);
	btf__add_field(btf, "length_limit", i32, 416, 0);
	btf__add_field(btf, "free_by_rcu_ttrace", head, 448, 0);
	btf__add_field(btf, "call_rcu_ttrace_in_progress", i32, 512, 0);
	array = btf__add_array(btf, i32, cache, 11);
	btf__add_struct(btf, "bpf_mem_caches", 96 * 11);
	btf__add_field(btf, "cache", array, 0, 0);
	btf__add_enum(btf, "bpf_map_type", 4);
	btf__add_enum_value(btf, "BPF_MAP_TYPE_HASH", 1);
	btf__add_enum_value(btf, "BPF_MAP_TYPE_RHASH", 35);
	btf__add_enum_value(btf, "BPF_MAP_TYPE_OTHER_NAME", 1);
	return btf;
}

static void expect_list(const struct ml_layout *l, size_t i, const char *name, uint32_t list,
			enum ml_kind kind, uint32_t offset)
{
	assert_string_equal(l->name[i], name);
	assert_int_equal(l->list[i].list, list);
	assert_int_equal(l->list[i].kind, kind);
	assert_int_equal(l->list[i].offset, offset);
}

static void test_layout(void **state)
{
	struct btf *btf = patched_kernel();
	struct ml_layout l;

	(void)state;
	assert_int_equal(memalloc_layout(btf, &l), 0);
	assert_int_equal(l.n, 5);
	expect_list(&l, 0, "free_llist", KD_LIST_FREE_LLIST, ML_COUNTED, 0);
	expect_list(&l, 1, "waiting_for_gp", KD_LIST_WAITING_FOR_GP, ML_WAITING, 24);
	expect_list(&l, 2, "reuse_ready", KD_LIST_UNKNOWN + 2, ML_SHARED, 40);
	expect_list(&l, 3, "reuse_ready_cnt", KD_LIST_UNKNOWN + 3, ML_NUMBER, 48);
	expect_list(&l, 4, "free_by_rcu_ttrace", KD_LIST_FREE_BY_RCU_TTRACE, ML_SHARED, 56);
	assert_int_equal(l.list[4].queued, 64);
	assert_int_equal(l.list[1].queued, 0);
	assert_int_equal(l.sizes, 11);
	assert_int_equal(l.cache_size, 96);
	assert_int_equal(l.type_rhash, 35);
	assert_string_equal(l.type[1], "hash");
	assert_string_equal(l.type[2], "");
	btf__free(btf);
}

static void test_no_layout(void **state)
{
	struct btf *btf = btf__new_empty();
	struct ml_layout l;

	(void)state;
	assert_int_not_equal(memalloc_layout(NULL, &l), 0);
	assert_int_not_equal(memalloc_layout(btf, &l), 0);
	btf__free(btf);
}

/* --- from what was found to records --- */

static const struct ml_layout layout = {
	.list = { { 0, KD_LIST_FREE_LLIST, ML_COUNTED, 0 },
		  { 8, KD_LIST_FREE_BY_RCU_TTRACE, ML_SHARED, 24 },
		  { 16, KD_LIST_UNKNOWN + 2, ML_NUMBER, 0 },
		  { 32, KD_LIST_WAITING_FOR_GP_TTRACE, ML_WAITING, 0 } },
	.n = 4,
};
static const struct ml_cpus cpus = { .n = 4, .npossible = 4 };

static struct ml_entry entry(uint64_t key, uint32_t cpu, uint32_t list, uint64_t length)
{
	return (struct ml_entry){
		.row = { .list = list, .unit_size = 64, .length = length, .head = 1000 + length },
		.cpu = cpu,
		.key = key,
		.exact = true,
	};
}

static struct ml_look look_of(struct ml_entry *e, size_t n, uint64_t now)
{
	return (struct ml_look){
		.layout = &layout, .cpus = &cpus, .entry = e, .n = n, .begun_ns = now
	};
}

static void test_records(void **state)
{
	struct ml_entry e[] = { entry(7, 0, 1, 10), entry(7, 0, 0, 3), entry(7, 0, 1, 5),
				entry(7, 1, 1, 4),  entry(8, 1, 1, 0), entry(9, 1, 2, 6) };
	struct ml_look l;
	struct kd_rec_pending r;

	(void)state;
	e[3].row.percpu_size = 16;
	e[3].exact = false;
	e[3].row.flags = ML_CUT;
	l = look_of(e, 6, 1000);
	assert_int_equal(memalloc_entries_finish(&l), 0);
	assert_int_equal(l.n, 4);
	memalloc_entries_record(&l, &l.entry[0], &r); /* two allocators of one size are one list */
	assert_int_equal(r.length, 15);
	assert_int_equal(r.bytes, 15 * 64);
	assert_int_equal(r.key, 7);
	assert_int_equal(r.flags, KD_PENDING_EXACT);
	assert_int_equal(r.list, KD_LIST_FREE_BY_RCU_TTRACE);
	assert_true(r.age_ns == KD_UNKNOWN);
	memalloc_entries_record(&l, &l.entry[2], &r); /* an object for each possible CPU */
	assert_int_equal(r.bytes, 4 * (64 * 4 + 16));
	assert_int_equal(r.flags, KD_PENDING_TRUNCATED);
	assert_int_equal(r.cpu, 1);
	memalloc_entries_record(&l, &l.entry[3], &r); /* a counter holds no memory */
	assert_int_equal(r.length, 6);
	assert_true(r.bytes == KD_UNKNOWN);
	free(l.seen);
}

/* One look more; the age that it gives to the list of that length, head and state. */
static uint64_t age_after(struct ml_look *l, uint64_t now, uint64_t length, uint64_t head,
			  uint64_t state)
{
	struct ml_entry e = entry(7, 0, 1, length);

	e.row.head = head;
	e.row.state = state;
	l->entry = &e;
	l->n = 1;
	l->begun_ns = now;
	assert_int_equal(memalloc_entries_finish(l), 0);
	assert_int_equal(l->n, 1);
	return e.age_ns;
}

static void test_ages(void **state)
{
	struct ml_look l = look_of(NULL, 0, 0);

	(void)state;
	assert_true(age_after(&l, 1000, 100, 1, 5) == KD_UNKNOWN);
	assert_int_equal(age_after(&l, 3000, 100, 1, 5), 2000);
	assert_int_equal(age_after(&l, 4000, 100, 1, 6), 3000); /* long: it stands on its own */
	assert_true(age_after(&l, 5000, 101, 2, 6) == KD_UNKNOWN);
	assert_true(age_after(&l, 6000, 101, 3, 6) == KD_UNKNOWN);
	assert_true(age_after(&l, 7000, 4, 1, 6) == KD_UNKNOWN);
	assert_int_equal(age_after(&l, 9000, 4, 1, 6), 2000);
	assert_true(age_after(&l, 9500, 4, 1, 7) == KD_UNKNOWN); /* short: it may be another */
	free(l.seen);
}

/* --- the plan --- */

/* One look more at a list that stands still. Whether it is said to be stranded, and of what age. */
static bool is_stranded(struct ml_look *l, uint64_t now, uint32_t list, uint32_t flags,
			uint64_t *age)
{
	struct ml_entry e = entry(7, 0, list, 100);
	struct kd_rec_pending r;

	e.row.flags = flags;
	l->entry = &e;
	l->n = 1;
	l->begun_ns = now;
	assert_int_equal(memalloc_entries_finish(l), 0);
	memalloc_entries_record(l, &e, &r);
	*age = r.age_ns;
	return r.flags & KD_PENDING_STRANDED;
}

#define S 1000000000ULL

static void test_stranded(void **state)
{
	struct ml_look l = look_of(NULL, 0, 0);
	uint64_t age;

	(void)state;
	/* As long as a callback is queued somebody comes for them, however old they are. */
	assert_false(is_stranded(&l, 1 * S, 1, ML_QUEUED, &age));
	assert_false(is_stranded(&l, 5 * S, 1, ML_QUEUED, &age));
	assert_int_equal(age, 4 * S);
	/* From then on their time counts, and not from before. */
	assert_false(is_stranded(&l, 6 * S, 1, 0, &age));
	assert_true(age == KD_UNKNOWN);
	assert_false(is_stranded(&l, 6 * S + S / 2, 1, 0, &age));
	assert_true(is_stranded(&l, 7 * S, 1, 0, &age));
	assert_int_equal(age, 1 * S);
	assert_true(is_stranded(&l, 9 * S, 1, 0, &age));
	assert_int_equal(age, 3 * S);
	assert_false(is_stranded(&l, 10 * S, 1, ML_QUEUED, &age));
	/* A list whose callback is queued as long as it is not empty. */
	assert_false(is_stranded(&l, 11 * S, 3, 0, &age));
	assert_false(is_stranded(&l, 15 * S, 3, 0, &age));
	free(l.seen);
}

/* --- what comes and leaves --- */

#define GATHERS 1 /* list of `layout` */
#define LAST 3

static struct ml_seen seen(uint64_t key, uint32_t cpu, uint32_t list, uint64_t tail,
			   uint64_t length)
{
	return (struct ml_seen){ .key = key,
				 .unit_size = 64,
				 .cpu = cpu,
				 .list = list,
				 .tail = tail,
				 .length = length,
				 .bytes = length * 64,
				 .exact = true };
}

static void expect_flow(const struct ml_seen *then, size_t nthen, const struct ml_seen *now,
			size_t nnow, uint64_t in, uint64_t out)
{
	struct ml_flow f = { 0 };

	memalloc_flow_add(&f, LAST, then, nthen, now, nnow);
	assert_int_equal(f.looks, 1);
	assert_int_equal(f.in, in);
	assert_int_equal(f.out, out);
	assert_int_equal(f.in_bytes, in * 64);
	assert_int_equal(f.out_bytes, out * 64);
}

static void test_flow(void **state)
{
	const struct ml_seen empty = { 0 };
	const struct ml_seen batch[] = { seen(7, 0, GATHERS, 1, 10), seen(7, 0, LAST, 5, 100) };
	const struct ml_seen next[] = { seen(7, 0, GATHERS, 2, 20), seen(7, 0, LAST, 6, 80) };
	const struct ml_seen eaten[] = { seen(7, 0, GATHERS, 1, 10), seen(7, 0, LAST, 5, 60) };
	const struct ml_seen moved[] = { seen(7, 1, GATHERS, 1, 10), seen(7, 1, LAST, 5, 100) };
	const struct ml_seen others[] = { seen(6, 0, LAST, 1, 3), seen(7, 0, GATHERS, 1, 10),
					  seen(7, 0, LAST, 5, 100), seen(8, 0, LAST, 9, 4) };

	(void)state;
	expect_flow(&empty, 0, batch, 2, 110, 0);
	expect_flow(batch, 2, batch, 2, 0, 0);
	expect_flow(batch, 2, next, 2, 90, 100); /* another batch: all of the one before has left */
	expect_flow(batch, 2, eaten, 2, 0, 40);  /* the same one, used from its beginning */
	expect_flow(batch, 2, &empty, 0, 0, 110); /* the map has gone, or nobody frees any more */
	expect_flow(batch, 2, batch, 1, 0, 100);
	expect_flow(batch, 2, moved, 2, 100, 100); /* by no list of the same CPU */
	expect_flow(batch, 2, others, 4, 7, 0);
	expect_flow(others, 4, batch, 2, 0, 7);
}

/* What is not known to the last object makes the bounds lower, never higher. */
static void test_doubtful_flow(void **state)
{
	struct ml_seen then[] = { seen(7, 0, GATHERS, 1, 10), seen(7, 0, LAST, 5, 100) };
	struct ml_seen now[] = { seen(7, 0, GATHERS, 1, 50), seen(7, 0, LAST, 6, 100) };

	(void)state;
	then[1].exact = false;
	expect_flow(then, 2, now, 2, 40, 0);
	then[1].exact = true;
	now[0].cut = true; /* at least 50 */
	expect_flow(then, 2, now, 2, 140, 100);
	now[1] = seen(7, 0, LAST, 6, 10);
	now[0].length = 1;
	now[0].bytes = 64;
	expect_flow(then, 2, now, 2, 1, 100); /* 100 left, of 110; 11 or more are there */
	now[1].tail = 5;
	expect_flow(then, 2, now, 2, 0, 90);
	then[0].cut = true;
	now[0] = seen(7, 0, GATHERS, 1, 5000);
	expect_flow(then, 2, now, 2, 0, 90);
}

static void add_struct(struct btf *btf, int type, const char *name, const char *const *fields)
{
	uint32_t at = 0;

	btf__add_struct(btf, name, 256);
	for (; *fields; fields++, at += 64)
		btf__add_field(btf, *fields, type, at, 0);
}

/* `copied`: the compiler left a function of this name that is no more than a copy; NULL: none. */
static struct kernel kernel_with(const char *const *functions, bool two_stages, const char *copied)
{
	static const char *const one[] = {
		"unit_size",   "free_cnt", "low_watermark", "high_watermark",
		"refill_work", "rcu",      "free_llist",    "call_rcu_in_progress",
		NULL
	};
	static const char *const two[] = { "unit_size",      "free_cnt",    "low_watermark",
					   "high_watermark", "refill_work", "rcu",
					   "rcu_ttrace",     "free_llist",  NULL };
	static const char *const ma[] = { "cache", NULL };
	static const char *const htab[] = { "ma", NULL };
	static const char *const iter[] = { "map", NULL };
	struct kernel k = { .root = true,
			    .caps = ~0ULL,
			    .fentry = YES,
			    .read_kernel = YES,
			    .ftrace_enabled = YES,
			    .possible_cpus = 2,
			    .online_cpus = 2 };
	int u64, proto;

	k.btf = btf__new_empty();
	u64 = btf__add_int(k.btf, "long", 8, 0);
	proto = btf__add_func_proto(k.btf, 0);
	add_struct(k.btf, u64, "bpf_mem_cache", two_stages ? two : one);
	add_struct(k.btf, u64, "bpf_mem_alloc", ma);
	add_struct(k.btf, u64, "bpf_htab", htab);
	add_struct(k.btf, u64, "bpf_iter__bpf_map", iter);
	k.text = name_set_new();
	k.global = name_set_new();
	k.data = name_set_new();
	for (; *functions; functions++) {
		btf__add_func(k.btf, *functions, BTF_FUNC_GLOBAL, proto);
		name_set_add(k.text, *functions);
		if (!copied || strcmp(*functions, copied))
			name_set_add(k.global, *functions);
	}
	name_set_seal(k.text);
	name_set_seal(k.global);
	name_set_seal(k.data);
	return k;
}

#define ALWAYS \
	"bpf_mem_refill", "bpf_mem_alloc_init", "bpf_mem_alloc_destroy", "call_rcu", "call_srcu"

/* The functions of a kernel; which of them latency then hooks. */
static const struct {
	const char *version, *functions[12];
	bool two_stages;
	const char *hooks, *copied;
} kernels[] = {
	{ "6.1",
	  { ALWAYS, "call_rcu_tasks_trace", "__free_rcu_tasks_trace", "__free_rcu" },
	  false,
	  "call_rcu_tasks_trace __free_rcu_tasks_trace __free_rcu bpf_mem_alloc_init "
	  "bpf_mem_alloc_destroy",
	  NULL },
	{ "6.12",
	  { ALWAYS, "call_rcu_hurry", "call_rcu_tasks_trace", "__free_rcu_tasks_trace",
	    "__free_rcu", "__free_by_rcu" },
	  true,
	  "call_rcu_hurry __free_by_rcu call_rcu_tasks_trace __free_rcu_tasks_trace "
	  "bpf_mem_alloc_init bpf_mem_alloc_destroy",
	  NULL },
	{ "6.12 without lazy callbacks",
	  { ALWAYS, "call_rcu_tasks_trace", "__free_rcu_tasks_trace", "__free_by_rcu" },
	  true,
	  "call_rcu __free_by_rcu call_rcu_tasks_trace __free_rcu_tasks_trace bpf_mem_alloc_init "
	  "bpf_mem_alloc_destroy",
	  NULL },
	{ "6.12 built with PREEMPT_NONE",
	  { ALWAYS, "call_rcu_hurry", "call_rcu_tasks_trace", "__free_rcu_tasks_trace",
	    "__free_by_rcu" },
	  true,
	  "call_rcu __free_by_rcu call_rcu_tasks_trace __free_rcu_tasks_trace bpf_mem_alloc_init "
	  "bpf_mem_alloc_destroy",
	  "call_rcu_hurry" },
	{ "7.0",
	  { ALWAYS, "call_rcu_hurry", "__free_rcu_tasks_trace", "__free_by_rcu" },
	  true,
	  "call_rcu_hurry __free_by_rcu call_srcu __free_rcu_tasks_trace bpf_mem_alloc_init "
	  "bpf_mem_alloc_destroy",
	  NULL },
	{ "7.3",
	  { ALWAYS, "call_rcu_hurry", "__free_rcu", "__free_by_rcu" },
	  true,
	  "call_rcu_hurry __free_by_rcu call_srcu __free_rcu bpf_mem_alloc_init "
	  "bpf_mem_alloc_destroy",
	  NULL },
};

static void expect_row(const struct plan_entry *e, const char *hooks)
{
	char text[512];

	assert_int_equal(e->state, PLAN_EXPECTED);
	plan_hooks(e, text, sizeof(text));
	assert_string_equal(text, hooks);
}

static void test_plan(void **state)
{
	const struct plan_request want = { .sources = 1u << KD_SRC_MEMALLOC,
					   .measures = ~0ULL,
					   .flavours = ~0u,
					   .backends = ~0u };

	(void)state;
	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
		struct kernel k =
			kernel_with(kernels[i].functions, kernels[i].two_stages, kernels[i].copied);
		struct plan p;

		assert_int_equal(plan_resolve(&p, &k, &want), 0);
		assert_int_equal(p.n, 5);
		expect_row(&p.entry[0], kernels[i].hooks);
		for (int row = 1; row < 4; row++)
			expect_row(&p.entry[row],
				   "bpf_mem_refill bpf_mem_alloc_init bpf_mem_alloc_destroy");
		expect_row(&p.entry[4], "bpf_mem_cache");
		plan_free(&p);
		kernel_free(&k);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layout),   cmocka_unit_test(test_no_layout),
		cmocka_unit_test(test_records),  cmocka_unit_test(test_ages),
		cmocka_unit_test(test_stranded), cmocka_unit_test(test_plan),
		cmocka_unit_test(test_flow),     cmocka_unit_test(test_doubtful_flow),
	};

	return cmocka_run_group_tests_name("memalloc", tests, NULL, NULL);
}
