// SPDX-License-Identifier: GPL-2.0-only
/* What a model knows of the worst samples is the same behind the sieve, which lets far fewer through. */
#include <errno.h>
#include <stdlib.h>

#include "model.h"
#include "records.h"
#include "sieve.h"

#define CPUS 8

static struct model whole, sieved;
static struct stream to_sieved;
static struct sieve sieve;
static uint64_t seed, passed;

static int pass(void *ctx, const struct kd_rec *rec)
{
	const struct kd_rec_worst_who *who = (const void *)rec;

	(void)ctx;
	passed += rec->kind == KD_REC_WORST;
	if (rec->kind == KD_REC_WORST && rec->len == sizeof(*who))
		assert_int_equal(who->stack[sizeof(who->stack) - 2], 0);
	return stream_record(&to_sieved, rec, rec->len);
}

static int to_both(void *ctx, const struct kd_rec *rec)
{
	int err = model_record(&whole, rec);

	(void)ctx;
	return err ? err : sieve_record(&sieve, rec);
}

static int setup(void **state)
{
	(void)state;
	model_init(&whole);
	model_init(&sieved);
	stream_init(&to_sieved, model_record, &sieved);
	sieve_init(&sieve, pass, NULL);
	seed = 5;
	passed = 0;
	forget_log();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	sieve_free(&sieve);
	model_free(&whole);
	model_free(&sieved);
	return 0;
}

static void assert_same_lists(const struct worst_list *a, const struct worst_list *b)
{
	assert_int_equal(a->n, b->n);
	assert_memory_equal(a->w, b->w, (size_t)a->n * sizeof(a->w[0]));
}

static void assert_same(void)
{
	size_t i;

	assert_int_equal(whole.ngroups, sieved.ngroups);
	for (i = 0; i < whole.ngroups; i++) {
		assert_same_lists(&whole.groups[i].interval, &sieved.groups[i].interval);
		assert_same_lists(&whole.groups[i].run, &sieved.groups[i].run);
	}
}

/* Few values, so that many are equal; two flavours, a bound; with and without who it was. */
static void put_samples(struct stream *s, uint64_t n)
{
	for (; n; n--) {
		struct kd_rec_worst_who r = {
			.worst = { .rec = { .kind = KD_REC_WORST,
					    .len = below(&seed, 2) ? sizeof(r.worst) : sizeof(r),
					    .id = (uint32_t)below(&seed, 6) },
				   .mono_ns = below(&seed, 50),
				   .value = below(&seed, 30),
				   .cpu = (uint32_t)below(&seed, CPUS) },
			.pid = 4,
			.comm = "reader",
			.stack = "vfs_read",
		};

		r.stack[sizeof(r.stack) - 2] = 'x'; /* left over from what was there before */

		stream_record(s, &r, r.worst.rec.len);
	}
}

static void declare(struct stream *s)
{
	uint32_t i;

	for (i = 0; i < 6; i++)
		put_series(s, i, i < 3 ? KD_FL_RCU : KD_FL_SRCU, KD_DIM_MAIN,
			   i == 5 ? KD_SERIES_UPPER : 0, i, "some_function");
}

static void test_same_model(void **state)
{
	struct stream s;
	uint32_t tick;

	(void)state;
	stream_init(&s, to_both, NULL);
	declare(&s);
	put_tick(&s, 0, 1);
	for (tick = 1; tick < 200; tick++) {
		put_samples(&s, below(&seed, 3) ? CPUS * MODEL_WORST : below(&seed, 5));
		put_tick(&s, tick, below(&seed, 5) > 0); /* now and then one that is cut short */
		assert_same();
	}
	assert_in_range(passed, 199 * MODEL_WORST, 199 * 3 * MODEL_WORST);
}

/* One whose series is not known yet goes through, since nobody can tell what it competes with. */
static void test_not_declared(void **state)
{
	struct stream s;

	(void)state;
	stream_init(&s, to_both, NULL);
	put_tick(&s, 0, 1);
	put_samples(&s, 30);
	assert_int_equal(passed, 30);
	declare(&s);
	put_tick(&s, 1, 1);
	assert_same();
}

static int refuse(void *ctx, const struct kd_rec *rec)
{
	(void)ctx;
	return rec->kind == KD_REC_WORST ? -EFBIG : 0;
}

static void test_errors_come_through(void **state)
{
	struct kd_rec_tick tick = { .rec = HEADER(tick, KD_REC_TICK, 0), .complete = 1 };
	struct kd_rec_worst w = { .rec = HEADER(w, KD_REC_WORST, 1), .value = 1 };
	struct stream s;

	(void)state;
	sieve_free(&sieve);
	sieve_init(&sieve, refuse, NULL);
	stream_init(&s, sieve_record, &sieve);
	declare(&s);
	assert_int_equal(sieve_record(&sieve, &w.rec), 0);
	assert_int_equal(sieve_record(&sieve, &tick.rec), -EFBIG);
	assert_int_equal(sieve_record(&sieve, &tick.rec), 0); /* it is not kept for the next */
}

/* Series beyond what the table begins with. */
static void test_many_series(void **state)
{
	struct stream s;
	uint32_t i;

	(void)state;
	stream_init(&s, to_both, NULL);
	for (i = 0; i < 3000; i++)
		put_series(&s, i * 8191, KD_FL_RCU, KD_DIM_MAIN, 0, i, "some_function");
	put_tick(&s, 0, 1);
	for (i = 0; i < 3000; i++)
		put_worst(&s, i * 8191, i, i, 0);
	put_tick(&s, 1, 1);
	assert_int_equal(passed, MODEL_WORST);
	assert_same();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_same_model, setup, teardown),
		cmocka_unit_test_setup_teardown(test_not_declared, setup, teardown),
		cmocka_unit_test_setup_teardown(test_errors_come_through, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many_series, setup, teardown),
	};

	return cmocka_run_group_tests_name("sieve", tests, NULL, NULL);
}
