// SPDX-License-Identifier: GPL-2.0-only
/* Reading lists for a session, with readers made here: what is loaded, parts of a look, what is cut short. */
#include <errno.h>
#include <stdlib.h>

#include "clock.h"
#include "listers.h"
#include "records.h"

#define S 1000000000ULL

/* A reader that holds `n` lists of one entry each, and writes `each` of them in a part. */
struct reader {
	int load_err;
	uint32_t n, each;
	int64_t fails; /* what a look says instead */
	uint64_t bytes;
	uint64_t slow_ns;
	int loaded, looked, named, unloaded;
};

static struct reader readers[2];
static struct listers l;
static struct stream out;
static struct kd_rec_pending got[64], ring[64];
static size_t ngot, nring;
static struct kd_rec_total lost;

static int load(struct reader *r, void **state)
{
	r->loaded++;
	if (!r->load_err)
		*state = r;
	return r->load_err;
}

static int load_a(void **state, const struct lists_conf *conf)
{
	(void)conf;
	return load(&readers[0], state);
}

static int load_b(void **state, const struct lists_conf *conf)
{
	(void)conf;
	return load(&readers[1], state);
}

static int64_t look(void *state, uint32_t cursor)
{
	struct reader *r = state;
	uint64_t begin = clock_mono_ns();
	uint32_t i;

	r->looked++;
	while (clock_mono_ns() - begin < r->slow_ns)
		;
	if (r->fails)
		return r->fails;
	for (i = cursor; i < r->n && i < cursor + r->each; i++) {
		ring[nring] = a_list(KD_LIST_WAIT, i, 0, 1);
		ring[nring++].source = r == &readers[0] ? KD_SRC_CALL_RCU : KD_SRC_MEMALLOC;
	}
	return i < r->n ? i : 0;
}

static int names(void *state, struct stream *to)
{
	(void)to;
	((struct reader *)state)->named++;
	return 0;
}

static void unload(void *state)
{
	((struct reader *)state)->unloaded++;
}

static uint64_t kernel_bytes(void *state)
{
	return ((struct reader *)state)->bytes;
}

static const struct lists list_a = { .source = KD_SRC_CALL_RCU,
				     .also = 1u << KD_SRC_RCU_GP,
				     .load = load_a,
				     .look = look,
				     .names = names,
				     .unload = unload,
				     .kernel_bytes = kernel_bytes };
static const struct lists list_b = { .source = KD_SRC_MEMALLOC,
				     .load = load_b,
				     .look = look,
				     .names = names,
				     .unload = unload,
				     .kernel_bytes = kernel_bytes };

/* In place of those in src/lists.c. */
const struct lists *const lists_sources[] = { &list_a, &list_b, NULL };

static const struct plan_measure measures[] = {
	{ KD_SRC_CALL_RCU, KD_M_CALL_RCU_PENDING, KD_FL_RCU, NULL },
	{ KD_SRC_RCU_GP, KD_M_RCU_GP_PENDING, KD_FL_RCU, NULL },
	{ KD_SRC_MEMALLOC, KD_M_MEMALLOC_PENDING, KD_FL_NONE, NULL },
	{ KD_SRC_CALL_RCU, KD_M_CALL_RCU_LATENCY, KD_FL_RCU, NULL },
};
static struct plan_entry entries[4];
static struct plan plan = { .entry = entries, .n = 4 };
static const struct lists_conf conf = { .plan = &plan };

static int take(void *ctx, const struct kd_rec *rec)
{
	(void)ctx;
	if (rec->kind == KD_REC_PENDING)
		memcpy(&got[ngot++], rec, sizeof(got[0]));
	if (rec->kind == KD_REC_LOST)
		memcpy(&lost, rec, sizeof(lost));
	return 0;
}

static int drain(void *ctx)
{
	size_t i, n = nring;
	int err = 0;

	(void)ctx;
	nring = 0;
	for (i = 0; i < n && !err; i++)
		err = listers_take(&l, &ring[i], sizeof(ring[i]));
	return err;
}

static int setup(void **state)
{
	size_t i;

	(void)state;
	memset(readers, 0, sizeof(readers));
	memset(entries, 0, sizeof(entries));
	memset(&lost, 0, sizeof(lost));
	for (i = 0; i < 4; i++) {
		entries[i].measure = &measures[i];
		entries[i].state = PLAN_EXPECTED;
	}
	readers[0].each = readers[1].each = 10;
	ngot = nring = 0;
	stream_init(&out, take, NULL);
	listers_init(&l, &out);
	forget_log();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	listers_unload(&l);
	return 0;
}

static void look_once(int want)
{
	ngot = 0;
	assert_int_equal(listers_look(&l, S, drain, NULL), want);
}

/* Rows are on that a reader serves, others of its source as well as those of `also`; no times. */
static void test_load(void **state)
{
	(void)state;
	readers[0].bytes = 100;
	readers[1].bytes = 20;
	assert_false(listers_any(&l));
	assert_int_equal(listers_load(&l, &conf), 0);
	assert_true(listers_any(&l));
	assert_int_equal(entries[0].state, PLAN_ON);
	assert_int_equal(entries[1].state, PLAN_ON);
	assert_int_equal(entries[2].state, PLAN_ON);
	assert_int_equal(entries[3].state, PLAN_EXPECTED);
	assert_int_equal(listers_bytes(&l, KD_SRC_MEMALLOC), 20);
	assert_int_equal(listers_bytes(&l, KD_SRC_COUNT), 120);
	listers_unload(&l);
	assert_int_equal(readers[0].unloaded, 1);
	assert_int_equal(readers[1].unloaded, 1);
	assert_false(listers_any(&l));
}

static void test_not_wanted(void **state)
{
	(void)state;
	entries[2].state = PLAN_OFF;
	assert_int_equal(listers_load(&l, &conf), 0);
	assert_int_equal(readers[0].loaded, 1);
	assert_int_equal(readers[1].loaded, 0);
}

/* One that cannot be had leaves the other; what is no refusal ends it all. */
static void test_refused(void **state)
{
	(void)state;
	readers[0].load_err = -ENODEV;
	assert_int_equal(listers_load(&l, &conf), 0);
	assert_int_equal(entries[0].state, PLAN_EXPECTED); /* the reader says why in it */
	assert_int_equal(entries[2].state, PLAN_ON);
	look_once(0);
	assert_int_equal(readers[0].looked, 0);
	assert_int_equal(readers[1].looked, 1);
	listers_unload(&l);
	assert_int_equal(readers[0].unloaded, 0);
	listers_init(&l, &out);
	readers[0].load_err = -ENOMEM;
	assert_int_equal(listers_load(&l, &conf), -ENOMEM);
}

static void test_parts(void **state)
{
	(void)state;
	readers[0].n = 35;
	readers[1].n = 5;
	assert_int_equal(listers_load(&l, &conf), 0);
	look_once(0);
	assert_int_equal(readers[0].looked, 4);
	assert_int_equal(readers[0].named, 1);
	assert_int_equal(ngot, 40);
	look_once(0);
	assert_int_equal(ngot, 0); /* nothing changed */
	readers[0].n = 33;
	look_once(0);
	assert_int_equal(ngot,
			 2); /* and the lists of the other are none of the first's that are gone */
	assert_int_equal(got[0].length, 0);
	assert_int_equal(got[0].cpu, 33);
	assert_int_equal(got[0].source, KD_SRC_CALL_RCU);
	assert_int_equal(lost.total, 0);
}

/* What a look had no time for stands as before, and is counted. */
static void test_cut_short(void **state)
{
	(void)state;
	readers[0].n = 12;
	assert_int_equal(listers_load(&l, &conf), 0);
	look_once(0);
	assert_int_equal(ngot, 12);
	readers[0].each = 4;
	readers[0].slow_ns = 1000000;
	ngot = 0;
	assert_int_equal(listers_look(&l, 1, drain, NULL), 1);
	assert_int_equal(ngot, 0);
	assert_int_equal(lost.source, KD_SRC_CALL_RCU);
	assert_int_equal(lost.what, KD_LOST_LOOK);
	assert_int_equal(lost.total, 1);
	assert_int_equal(readers[1].looked, 2); /* each has a first part */
	look_once(0);
	assert_int_equal(ngot, 0);
}

static void test_failure(void **state)
{
	(void)state;
	readers[0].n = 3;
	assert_int_equal(listers_load(&l, &conf), 0);
	readers[0].fails = -EIO;
	look_once(-EIO);
	assert_int_equal(readers[1].looked, 0);
}

/* What comes from the ring is checked like all that comes, and counted where the session looks. */
static void test_malformed(void **state)
{
	struct kd_rec_pending r = a_list(KD_LIST_WAIT, 0, 0, 1);

	(void)state;
	r.source = KD_SRC_COUNT;
	assert_int_equal(listers_take(&l, &r, sizeof(r)), 0);
	assert_int_equal(out.bad, 1);
	assert_int_equal(ngot, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_load, setup, teardown),
		cmocka_unit_test_setup_teardown(test_not_wanted, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_parts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cut_short, setup, teardown),
		cmocka_unit_test_setup_teardown(test_failure, setup, teardown),
		cmocka_unit_test_setup_teardown(test_malformed, setup, teardown),
	};

	return cmocka_run_group_tests_name("listers", tests, NULL, NULL);
}
