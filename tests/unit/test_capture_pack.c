// SPDX-License-Identifier: GPL-2.0-only
/* Packed records: whatever goes in comes out, and what was never packed does no harm. */
#include <errno.h>
#include <stdlib.h>

#include "capture_pack.h"
#include "records.h"

#define ROOM (1 << 16)

static unsigned char records[ROOM], packed[PACK_WORST(ROOM)], restored[ROOM];
static uint64_t seed;

/* Of every kind and length, packed ones and others, with words that change little, much, or not. */
static size_t make_records(size_t room)
{
	static const uint16_t kinds[] = { KD_REC_TICK,  KD_REC_SERIES, KD_REC_HIST,  KD_REC_STAT,
					  KD_REC_WORST, KD_REC_LOST,   KD_REC_COUNT, KD_REC_PENDING,
					  KD_REC_GP,    KD_REC_OWED,   KD_REC_HOST,  KD_REC_SELF,
					  999 };
	static const uint16_t lengths[] = { 8, 16, 24, 32, 40, 48, 56, 72, 80, 88, 288, 512, 320 };
	size_t used = 0, i;

	for (;;) {
		struct kd_rec rec = {
			.kind = kinds[below(&seed, 13)],
			.len = lengths[below(&seed, 13)],
			.id = (uint32_t)(below(&seed, 4) ? below(&seed, 20) : next_random(&seed)),
		};
		uint64_t word;

		if (used + rec.len > room)
			return used;
		memcpy(records + used, &rec, sizeof(rec));
		for (i = sizeof(rec); i < rec.len; i += 8) {
			word = below(&seed, 3) ? below(&seed, 1000) : next_random(&seed);
			word = below(&seed, 4) ? word : 0;
			word = below(&seed, 20) ? word : UINT64_MAX;
			memcpy(records + used + i, &word, 8);
		}
		used += rec.len;
	}
}

static void test_round_trip(void **state)
{
	struct pack *in = pack_new(), *out = pack_new();
	size_t size, n;
	int block;

	(void)state;
	seed = 11;
	for (block = 0; block < 300; block++) {
		size = make_records(below(&seed, ROOM));
		n = pack_records(in, records, size, packed);
		assert_true(n <= PACK_WORST(size));
		assert_int_equal(pack_restore(out, packed, n, restored, ROOM), size);
		assert_memory_equal(restored, records, size);
	}
	pack_free(in);
	pack_free(out);
}

/* The worst there is: every word of every record far from the one before. */
static void test_worst_size(void **state)
{
	static const uint16_t lengths[][2] = {
		{ KD_REC_HIST, 80 }, { KD_REC_SELF, 80 }, { KD_REC_LOST, 24 },
		{ 999, 8 },          { KD_REC_STAT, 32 },
	};
	struct pack *in = pack_new();
	size_t k, size, i;

	(void)state;
	for (k = 0; k < 5; k++) {
		for (size = 0; size + 80 < ROOM; size += lengths[k][1]) {
			struct kd_rec rec = { lengths[k][0], lengths[k][1],
					      (uint32_t)(size & 8 ? 0x40000000 : 0xc0000000) };

			memcpy(records + size, &rec, 8);
			for (i = 8; i < rec.len; i += 8) {
				uint64_t word = 1ull << 63 ^ next_random(&seed) << 32;

				memcpy(records + size + i, &word, 8);
			}
		}
		assert_true(pack_records(in, records, size, packed) <= PACK_WORST(size));
	}
	pack_free(in);
}

/* A tick of a busy host is some eighty series: most of each is as it was, or nearly. */
static void test_is_small(void **state)
{
	struct pack *in = pack_new();
	uint64_t counts[8] = { 0 };
	size_t size = 0, i, tick, n = 0;

	(void)state;
	for (tick = 0; tick < 2; tick++) {
		for (size = 0, i = 0; i < 80; i++, size += 80) {
			struct kd_rec_hist r = { .rec = HEADER(r, KD_REC_HIST, (uint32_t)i),
						 .group = 20 };

			counts[i % 8] += 3;
			memcpy(r.count, counts, sizeof(counts));
			memcpy(records + size, &r, sizeof(r));
		}
		n = pack_records(in, records, size, packed);
	}
	assert_true(n < size / 5);
	pack_free(in);
}

static void test_every_truncation(void **state)
{
	size_t size, n, len;
	long got;

	(void)state;
	seed = 12;
	size = make_records(3000);
	for (len = 0; len < PACK_WORST(size); len++) {
		struct pack *in = pack_new(), *out = pack_new();
		unsigned char *exact;

		n = pack_records(in, records, size, packed);
		if (len >= n) {
			pack_free(in);
			pack_free(out);
			break;
		}
		exact = malloc(len + 1); /* so that a sanitizer sees a step out */
		memcpy(exact, packed, len);
		got = pack_restore(out, exact, len, restored, ROOM);
		assert_true(got == -EBADMSG || (got >= 0 && (size_t)got < size));
		if (got > 0)
			assert_memory_equal(restored, records, (size_t)got);
		free(exact);
		pack_free(in);
		pack_free(out);
	}
}

/* No more than there is room for, however much it claims to be. */
static void test_hostile(void **state)
{
	struct pack *p = pack_new();
	unsigned char many[4000];
	size_t i;
	int round;

	(void)state;
	memset(many, 0, sizeof(many));
	for (i = 0; i + 3 <= sizeof(many); i += 3)
		many[i] = 2 + 7; /* SELF: a code, an id, no word that differs */
	assert_int_equal(pack_restore(p, many, 3999, restored, 4096), -EBADMSG);
	assert_int_equal(
		pack_restore(p, (const unsigned char *)"\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\1",
			     11, restored, ROOM),
		-EBADMSG);
	assert_int_equal(pack_restore(p, (const unsigned char *)"\0\7aaaaaaa", 9, restored, ROOM),
			 -EBADMSG);
	assert_int_equal(pack_restore(p, (const unsigned char *)"\x7f\0\0", 3, restored, ROOM),
			 -EBADMSG);
	assert_int_equal(pack_restore(p, (const unsigned char *)"\1\0\x08", 3, restored, ROOM),
			 -EBADMSG); /* a word that it has not */
	for (round = 0; round < 20000; round++) {
		size_t size = below(&seed, 200);
		unsigned char *exact = malloc(size + 1);
		long got;

		for (i = 0; i < size; i++)
			exact[i] = (unsigned char)(below(&seed, 3) ? below(&seed, 12)
								   : below(&seed, 256));
		got = pack_restore(p, exact, size, restored, 1024);
		assert_true(got == -EBADMSG || (got >= 0 && got <= 1024));
		free(exact);
	}
	pack_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip), cmocka_unit_test(test_worst_size),
		cmocka_unit_test(test_is_small),   cmocka_unit_test(test_every_truncation),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests_name("capture pack", tests, NULL, NULL);
}
