// SPDX-License-Identifier: GPL-2.0-only
/* What the stream lets through, what it drops and counts, and that no bytes whatever break it. */
#include <errno.h>
#include <stdlib.h>

#include "plan.h"
#include "records.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct seen {
	uint64_t n;
	uint16_t kind, len;
	uint32_t id;
	int answer;
};

static int see(void *ctx, const struct kd_rec *rec)
{
	struct seen *seen = ctx;

	assert_int_equal((uintptr_t)rec % 8, 0);
	seen->n++;
	seen->kind = rec->kind;
	seen->len = rec->len;
	seen->id = rec->id;
	return seen->answer;
}

static const struct {
	uint16_t kind, size;
} fixed[] = {
	{ KD_REC_TICK, 32 },    { KD_REC_SERIES, 288 },  { KD_REC_HIST, 80 },  { KD_REC_STAT, 32 },
	{ KD_REC_WORST, 32 },   { KD_REC_LOST, 24 },     { KD_REC_COUNT, 24 }, { KD_REC_SELF, 80 },
	{ KD_REC_HOLDUP, 512 }, { KD_REC_WITNESS, 392 },
};

/* All zero is a valid body for each of these. */
static void test_sizes(void **state)
{
	union record buf = { 0 };
	struct seen seen = { 0 };
	struct stream s;
	size_t i;

	(void)state;
	stream_init(&s, see, &seen);
	for (i = 0; i < COUNT(fixed); i++) {
		buf.rec = (struct kd_rec){ fixed[i].kind, fixed[i].size, 7 };
		assert_int_equal(stream_record(&s, &buf, sizeof(buf)), 0);
		assert_int_equal(seen.kind, fixed[i].kind);
		assert_int_equal(seen.id, 7);
		buf.rec.len = fixed[i].size + 8; /* of a newer kernel side */
		assert_int_equal(stream_record(&s, &buf, sizeof(buf)), 0);
		assert_int_equal(seen.len, fixed[i].size + 8);
		assert_int_equal(seen.n, 2 * (i + 1));
		assert_int_equal(s.bad, i);
		buf.rec.len = fixed[i].size - 8;
		assert_int_equal(stream_record(&s, &buf, sizeof(buf)), 0);
		assert_int_equal(s.bad, i + 1);
	}
	assert_int_equal(s.records, 2 * COUNT(fixed));
	assert_int_equal(seen.n, s.records);
	assert_int_equal(s.unknown, 0);
}

static void test_lengths(void **state)
{
	static const uint16_t wrong[] = { 0, 4, 7, 12, 33, 4095, 4104, 65528, 65535 };
	union record buf[2] = { 0 }; /* longer than any record */
	struct seen seen = { 0 };
	struct stream s;
	size_t i;

	(void)state;
	stream_init(&s, see, &seen);
	buf->rec.kind = KD_REC_TICK;
	for (i = 0; i < COUNT(wrong); i++) {
		buf->rec.len = wrong[i];
		assert_int_equal(stream_check(buf, sizeof(buf)), -EBADMSG);
		assert_int_equal(stream_record(&s, buf, sizeof(buf)), 0);
		assert_int_equal(s.bad, i + 1);
	}
	buf->rec.len = 32;
	for (i = 0; i < 32; i++)
		assert_int_equal(stream_check(buf, i), -EBADMSG);
	assert_int_equal(stream_check(buf, 32), 32);
	assert_int_equal(stream_check(buf, 33), 32);
	buf->rec.len = KD_REC_MAX;
	assert_int_equal(stream_check(buf, sizeof(buf)), KD_REC_MAX);
	assert_int_equal(seen.n, 0);
}

/* The first number out of range of each field that indexes a table, and the last one within. */
static void test_ranges(void **state)
{
	static const struct {
		uint16_t kind, len, at, bytes;
		uint64_t limit;
	} field[] = {
		{ KD_REC_SERIES, 288, offsetof(struct kd_rec_series, source), 1, KD_SRC_COUNT },
		{ KD_REC_SERIES, 288, offsetof(struct kd_rec_series, measure), 1, KD_M_COUNT },
		{ KD_REC_SERIES, 288, offsetof(struct kd_rec_series, flavour), 1, KD_FL_COUNT },
		{ KD_REC_SERIES, 288, offsetof(struct kd_rec_series, dim), 1, KD_DIM_COUNT },
		{ KD_REC_HIST, 80, offsetof(struct kd_rec_hist, group), 4, KD_HIST_GROUPS },
		{ KD_REC_LOST, 24, offsetof(struct kd_rec_total, source), 2, KD_SRC_COUNT },
		{ KD_REC_LOST, 24, offsetof(struct kd_rec_total, what), 2, KD_LOST_COUNT },
		{ KD_REC_COUNT, 24, offsetof(struct kd_rec_total, source), 2, KD_SRC_COUNT },
		{ KD_REC_COUNT, 24, offsetof(struct kd_rec_total, what), 2, KD_CNT_COUNT },
		{ KD_REC_PLAN, 32, 8, 1, KD_SRC_COUNT },
		{ KD_REC_PLAN, 32, 9, 1, KD_M_COUNT },
		{ KD_REC_PLAN, 32, 10, 1, KD_FL_COUNT },
		{ KD_REC_PLAN, 32, 11, 1, PLAN_ON + 1 },
		{ KD_REC_PENDING, 56, offsetof(struct kd_rec_pending, source), 1, KD_SRC_COUNT },
		{ KD_REC_PENDING, 56, offsetof(struct kd_rec_pending, flavour), 1, KD_FL_COUNT },
		{ KD_REC_PENDING, 56, offsetof(struct kd_rec_pending, list), 2, KD_LIST_COUNT },
		{ KD_REC_PENDING, 56, offsetof(struct kd_rec_pending, list), 2, KD_LIST_MAX },
		{ KD_REC_GP, 48, offsetof(struct kd_rec_gp, flavour), 1, KD_FL_COUNT },
		{ KD_REC_GP, 48, offsetof(struct kd_rec_gp, state), 1, KD_GP_STATE_COUNT },
		{ KD_REC_OWED, 40, offsetof(struct kd_rec_owed, flavour), 1, KD_FL_COUNT },
		{ KD_REC_HOLDUP, 512, offsetof(struct kd_rec_holdup, source), 1, KD_SRC_COUNT },
		{ KD_REC_HOLDUP, 512, offsetof(struct kd_rec_holdup, flavour), 1, KD_FL_COUNT },
		{ KD_REC_HOLDUP, 512, offsetof(struct kd_rec_holdup, what), 1, KD_WAIT_COUNT },
		{ KD_REC_WITNESS, 392, offsetof(struct kd_rec_witness, source), 1, KD_SRC_COUNT },
		{ KD_REC_WITNESS, 392, offsetof(struct kd_rec_witness, role), 1, KD_ROLE_COUNT },
		{ KD_REC_NAME, 32, 8, 1, KD_NAME_COUNT },
		{ KD_REC_NAME, 32, 9, 1, KD_SRC_COUNT },
	};
	struct seen seen = { 0 };
	struct stream s;
	uint64_t value;
	size_t i;

	(void)state;
	stream_init(&s, see, &seen);
	for (i = 0; i < COUNT(field); i++) {
		union record buf = { 0 };

		buf.rec = (struct kd_rec){ field[i].kind, field[i].len, 1 };
		value = field[i].limit - 1;
		memcpy(buf.byte + field[i].at, &value, field[i].bytes); /* little endian */
		stream_record(&s, &buf, field[i].len);
		assert_int_equal(seen.n, i + 1);
		value++;
		memcpy(buf.byte + field[i].at, &value, field[i].bytes);
		stream_record(&s, &buf, field[i].len);
		assert_int_equal(seen.n, i + 1);
		assert_int_equal(s.bad, i + 1);
	}
}

static void test_cpu_key(void **state)
{
	struct seen seen = { 0 };
	struct stream s;

	(void)state;
	stream_init(&s, see, &seen);
	put_series(&s, 1, KD_FL_RCU, KD_DIM_CPU, 0, UINT32_MAX, "");
	put_series(&s, 1, KD_FL_RCU, KD_DIM_MAIN, 0, UINT64_MAX, "f");
	assert_int_equal(s.records, 2);
	put_series(&s, 1, KD_FL_RCU, KD_DIM_CPU, 0, 1ull << 32, "");
	assert_int_equal(s.records, 2);
	assert_int_equal(s.bad, 1);
}

static void test_strings(void **state)
{
	static const uint16_t kinds[] = { KD_REC_HOST, KD_REC_PLAN, KD_REC_EVENT };
	union {
		struct kd_rec_text text;
		struct kd_rec_series series;
		uint64_t align[64];
	} u;
	struct seen seen = { 0 };
	struct stream s;
	size_t i;

	(void)state;
	stream_init(&s, see, &seen);
	for (i = 0; i < COUNT(kinds); i++) {
		memset(&u, 0, sizeof(u));
		u.text.rec = (struct kd_rec){ kinds[i], 24, 0 };
		stream_record(&s, &u, 24); /* no text at all */
		u.text.rec.len = 32;
		memcpy(u.text.text, "12345678", 8); /* no end */
		stream_record(&s, &u, 32);
		assert_int_equal(s.bad, 2 * (i + 1));
		u.text.text[7] = '\0';
		stream_record(&s, &u, 32);
		assert_int_equal(s.records, i + 1);
	}
	u.text.rec.kind = KD_REC_HOST;
	u.text.text[0] = '\0'; /* a fact without a name */
	stream_record(&s, &u, 32);
	assert_int_equal(s.bad, 7);

	memset(&u, 0, sizeof(u));
	u.series.rec = (struct kd_rec){ KD_REC_SERIES, sizeof(u.series), 0 };
	memset(u.series.name, 'x', sizeof(u.series.name));
	stream_record(&s, &u, sizeof(u.series));
	assert_int_equal(s.bad, 8);
	u.series.name[KD_NAME_LEN - 1] = '\0';
	stream_record(&s, &u, sizeof(u.series));
	assert_int_equal(s.records, 4);
}

static void test_unknown_kinds(void **state)
{
	static const uint16_t kinds[] = { 0, KD_REC_WITNESS + 1, KD_REC_HOST - 1, KD_REC_VALUE + 1,
					  65535 };
	union record buf = { 0 };
	struct seen seen = { 0 };
	struct stream s;
	size_t i;

	(void)state;
	stream_init(&s, see, &seen);
	for (i = 0; i < COUNT(kinds); i++) {
		buf.rec = (struct kd_rec){ kinds[i], 8, 0 };
		assert_int_equal(stream_record(&s, &buf, 8), 0);
	}
	assert_int_equal(s.unknown, COUNT(kinds));
	assert_int_equal(s.bad + s.records + seen.n, 0);
}

static void fill_ticks(char *at, int n)
{
	int i;

	for (i = 0; i < n; i++, at += 32) {
		struct kd_rec_tick r = { .rec = HEADER(r, KD_REC_TICK, 0), .tick = (uint32_t)i };

		memcpy(at, &r, sizeof(r));
	}
}

static void test_buffer(void **state)
{
	uint64_t buf[5 * 4 + 1] = { 0 };
	char *bytes = (char *)buf;
	struct seen seen = { 0 };
	struct stream s;
	size_t cut;

	(void)state;
	stream_init(&s, see, &seen);
	fill_ticks(bytes, 5);
	assert_int_equal(stream_buffer(&s, buf, 160), 0);
	assert_int_equal(seen.n, 5);
	assert_int_equal(stream_buffer(&s, buf, 0), 0);

	/* cut anywhere: whole records come through, the rest is one bad */
	for (cut = 1; cut < 160; cut++) {
		stream_init(&s, see, &seen);
		assert_int_equal(stream_buffer(&s, buf, cut), cut % 32 ? -EBADMSG : 0);
		assert_int_equal(s.records, cut / 32);
		assert_int_equal(s.bad, !!(cut % 32));
	}
	/* a bad kind-specific part is skipped, a bad length is the end */
	stream_init(&s, see, &seen);
	((struct kd_rec *)(bytes + 32))->kind = KD_REC_SERIES;
	assert_int_equal(stream_buffer(&s, buf, 160), 0);
	assert_int_equal(s.records, 4);
	assert_int_equal(s.bad, 1);
	((struct kd_rec *)(bytes + 64))->len = 36;
	stream_init(&s, see, &seen);
	assert_int_equal(stream_buffer(&s, buf, 160), -EBADMSG);
	assert_int_equal(s.records, 1);
	assert_int_equal(s.bad, 2);
}

static void test_sink_error_stops(void **state)
{
	struct seen seen = { .answer = -ECANCELED };
	uint64_t buf[20];
	struct stream s;

	(void)state;
	fill_ticks((char *)buf, 5);
	stream_init(&s, see, &seen);
	assert_int_equal(stream_buffer(&s, buf, sizeof(buf)), -ECANCELED);
	assert_int_equal(seen.n, 1);
	assert_int_equal(stream_record(&s, buf, 32), -ECANCELED);
}

static void test_unaligned(void **state)
{
	char bytes[3 * 32 + 8] __attribute__((aligned(8)));
	struct seen seen = { 0 };
	struct stream s;
	int shift;

	(void)state;
	for (shift = 0; shift < 8; shift++) {
		fill_ticks(bytes + shift, 3);
		stream_init(&s, see, &seen); /* see() checks the alignment */
		assert_int_equal(stream_buffer(&s, bytes + shift, 96), 0);
		assert_int_equal(s.records, 3);
	}
}

static void test_text(void **state)
{
	const char *texts[] = { "name", "", NULL, "last" };
	uint64_t buf[KD_REC_MAX / 8];
	const struct kd_rec_text *r;

	(void)state;
	r = (const void *)stream_make_text(buf, KD_REC_EVENT, 11, 12, texts, 4);
	assert_int_equal(r->rec.kind, KD_REC_EVENT);
	assert_int_equal(r->rec.len, 24 + 16); /* 5 + 1 + 1 + 5 = 12, padded */
	assert_int_equal(r->a, 11);
	assert_int_equal(r->b, 12);
	assert_string_equal(stream_text(r, 0), "name");
	assert_string_equal(stream_text(r, 1), "");
	assert_string_equal(stream_text(r, 2), "");
	assert_string_equal(stream_text(r, 3), "last");
	assert_string_equal(stream_text(r, 4), "");
	assert_string_equal(stream_text(r, 1000000), "");
	assert_string_equal(stream_text(r, -1), "");
}

/* Whatever goes in, a valid record comes out, and each string starts where it is looked for. */
static void check_made(const char *const *texts, int n)
{
	uint64_t buf[KD_REC_MAX / 8];
	const struct kd_rec *rec = stream_make_text(buf, KD_REC_EVENT, 0, 0, texts, n);
	struct seen seen = { 0 };
	struct stream s;
	const char *text;
	int i;

	assert_int_equal(stream_check(rec, KD_REC_MAX), rec->len);
	stream_init(&s, see, &seen);
	stream_record(&s, rec, rec->len);
	assert_int_equal(s.records, 1);
	for (i = 0; i < n; i++) {
		text = stream_text((const void *)rec, i);
		assert_int_equal(strncmp(text, texts[i], strlen(text)), 0);
	}
}

static void test_text_cut(void **state)
{
	static char big[2 * KD_REC_MAX], wide[2 * KD_REC_MAX];
	const char *texts[] = { "first", big, "third", wide }, *many[5000];
	uint64_t buf[KD_REC_MAX / 8];
	const struct kd_rec_text *r;
	size_t i, len;

	(void)state;
	memset(big, 'b', sizeof(big) - 1);
	for (i = 0; i + 3 < sizeof(wide); i += 3)
		memcpy(wide + i, "\xe2\x82\xac", 3);
	for (i = 0; i < COUNT(many); i++)
		many[i] = "m";
	check_made(texts, 4);
	check_made(texts, 1);
	check_made(many, COUNT(many));
	check_made(NULL, 0);

	r = (const void *)stream_make_text(buf, KD_REC_EVENT, 0, 0, texts, 4);
	assert_int_equal(r->rec.len, KD_REC_MAX);
	assert_int_equal(strlen(stream_text(r, 1)), KD_REC_MAX - 24 - 6 - 3);
	assert_string_equal(stream_text(r, 2), "");

	for (i = 0; i < 3; i++) { /* wherever the end falls, no character is split */
		texts[0] = &"aa"[i];
		texts[1] = wide;
		r = (const void *)stream_make_text(buf, KD_REC_EVENT, 0, 0, texts, 2);
		len = strlen(stream_text(r, 1));
		assert_int_equal(len % 3, 0);
		assert_true(len > KD_REC_MAX - 24 - 8);
	}
	memset(wide, 0x80, sizeof(wide) - 1); /* nothing but continuation bytes */
	check_made(texts, 2);
}

/* The promises of stream.h, said a second time. */
static int check_promises(void *ctx, const struct kd_rec *rec)
{
	const struct kd_rec_series *series = (const void *)rec;
	const struct kd_rec_total *total = (const void *)rec;
	const struct kd_rec_pending *pending = (const void *)rec;
	const struct kd_rec_gp *gp = (const void *)rec;
	const struct kd_rec_owed *owed = (const void *)rec;
	const struct kd_rec_holdup *holdup = (const void *)rec;
	const struct kd_rec_witness *witness = (const void *)rec;
	uint64_t a = ((const struct kd_rec_text *)rec)->a;
	const struct kd_rec_run *run = (const void *)rec;
	const struct kd_rec_value *value = (const void *)rec;
	uint64_t *n = ctx;

	(*n)++;
	switch (rec->kind) {
	case KD_REC_SERIES:
		assert_true(rec->len >= sizeof(*series) && strnlen(series->name, 256) < 256);
		assert_true(series->source < KD_SRC_COUNT && series->measure < KD_M_COUNT);
		assert_true(series->flavour < KD_FL_COUNT && series->dim < KD_DIM_COUNT);
		return 0;
	case KD_REC_HIST:
		assert_true(((const struct kd_rec_hist *)rec)->group < KD_HIST_GROUPS);
		return 0;
	case KD_REC_LOST:
	case KD_REC_COUNT:
		assert_true(total->source < KD_SRC_COUNT && rec->len >= sizeof(*total));
		assert_true(total->what <
			    (rec->kind == KD_REC_LOST ? (int)KD_LOST_COUNT : (int)KD_CNT_COUNT));
		return 0;
	case KD_REC_PENDING:
		assert_true(rec->len >= sizeof(*pending) && pending->source < KD_SRC_COUNT);
		assert_true(pending->flavour < KD_FL_COUNT && pending->list < KD_LIST_MAX);
		assert_false(pending->list >= KD_LIST_COUNT && pending->list < KD_LIST_UNKNOWN);
		return 0;
	case KD_REC_GP:
		assert_true(rec->len >= sizeof(*gp) && gp->flavour < KD_FL_COUNT);
		assert_true(gp->state < KD_GP_STATE_COUNT);
		return 0;
	case KD_REC_HOLDUP:
		assert_true(rec->len >= sizeof(*holdup) && holdup->source < KD_SRC_COUNT);
		assert_true(holdup->flavour < KD_FL_COUNT && holdup->what < KD_WAIT_COUNT);
		assert_true(holdup->end_ns >= holdup->begin_ns);
		assert_true(strnlen(holdup->comm, 16) < 16 && strnlen(holdup->name, 48) < 48);
		return 0;
	case KD_REC_WITNESS:
		assert_true(rec->len >= sizeof(*witness) && witness->source < KD_SRC_COUNT);
		assert_true(witness->role < KD_ROLE_COUNT && strnlen(witness->comm, 16) < 16);
		assert_true(strnlen(witness->stack, 320) < 320);
		return 0;
	case KD_REC_OWED:
		assert_true(rec->len >= sizeof(*owed) && owed->flavour < KD_FL_COUNT);
		assert_true(strnlen(owed->comm, sizeof(owed->comm)) < sizeof(owed->comm));
		return 0;
	case KD_REC_RUN:
		assert_true(run->side < KD_SIDE_COUNT && rec->len > sizeof(*run));
		assert_non_null(stream_string(rec, sizeof(*run), 0));
		return 0;
	case KD_REC_VALUE:
		assert_true(value->better < KD_BETTER_COUNT && rec->len > sizeof(*value));
		assert_true(value->value - value->value == 0 && *stream_string(rec, 24, 0));
		return 0;
	case KD_REC_NAME:
		assert_true((a & 0xff) < KD_NAME_COUNT && (a >> 8 & 0xff) < KD_SRC_COUNT);
		/* fallthrough */
	case KD_REC_HOST:
	case KD_REC_PLAN:
	case KD_REC_EVENT:
		assert_true(rec->len > 24 && ((const char *)rec)[rec->len - 1] == '\0');
		assert_non_null(stream_text((const void *)rec, 3));
		return 0;
	default:
		assert_true(rec->kind == KD_REC_TICK || rec->kind == KD_REC_STAT ||
			    rec->kind == KD_REC_WORST || rec->kind == KD_REC_SELF);
		return 0;
	}
}

/* Random buffers, exactly as big as they say, so that a sanitizer sees each step out. */
static void test_random_bytes(void **state)
{
	uint64_t seed = 42, n = 0, records = 0;
	struct stream s;
	size_t size, i;
	char *bytes;
	int round;

	(void)state;
	for (round = 0; round < 20000; round++) {
		size = below(&seed, 700);
		bytes = malloc(size + 1);
		for (i = 0; i < size; i++)
			bytes[i] = below(&seed, 3) ? 0 : (char)below(&seed, 256);
		if (size >= 4) { /* often enough a header that can be believed */
			bytes[0] =
				(char)(below(&seed, 2) ? below(&seed, 14) : 60 + below(&seed, 11));
			bytes[1] = 0;
			bytes[2] = (char)(below(&seed, 32) * 8);
			bytes[3] = (char)below(&seed, 3);
		}
		stream_init(&s, check_promises, &n);
		stream_buffer(&s, bytes, size);
		stream_record(&s, bytes, size);
		records += s.records;
		free(bytes);
	}
	assert_int_equal(n, records);
	assert_true(n > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),     cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_ranges),    cmocka_unit_test(test_cpu_key),
		cmocka_unit_test(test_strings),   cmocka_unit_test(test_unknown_kinds),
		cmocka_unit_test(test_buffer),    cmocka_unit_test(test_sink_error_stops),
		cmocka_unit_test(test_unaligned), cmocka_unit_test(test_text),
		cmocka_unit_test(test_text_cut),  cmocka_unit_test(test_random_bytes),
	};

	return cmocka_run_group_tests_name("stream", tests, NULL, NULL);
}
