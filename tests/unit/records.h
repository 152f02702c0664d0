/* SPDX-License-Identifier: GPL-2.0-only */
/* records.h - builds records for the tests, hands them to a stream, and keeps what was logged. */
#ifndef KDEFER_TEST_RECORDS_H
#define KDEFER_TEST_RECORDS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "catalog.h"
#include "log.h"
#include "stream.h"

#define HEADER(type, k, i)                                  \
	{                                                   \
		.kind = (k), .len = sizeof(type), .id = (i) \
	}
#define UNUSED __attribute__((unused))

/* Any record, for those that are made byte by byte. */
union record {
	struct kd_rec rec;
	uint64_t word[KD_REC_MAX / 8];
	char byte[KD_REC_MAX];
};

UNUSED static int put_series(struct stream *s, uint32_t id, uint8_t flavour, uint8_t dim,
			     uint32_t flags, uint64_t key, const char *name)
{
	struct kd_rec_series r = {
		.rec = HEADER(r, KD_REC_SERIES, id),
		.source = KD_SRC_CALL_RCU,
		.measure = KD_M_CALL_RCU_LATENCY,
		.flavour = flavour,
		.dim = dim,
		.flags = flags,
		.key = { key },
	};

	snprintf(r.name, sizeof(r.name), "%s", name);
	return stream_record(s, &r, sizeof(r));
}

/* Any source. name: `len` bytes, perhaps several strings. */
UNUSED static int put_series_of(struct stream *s, uint32_t id, uint8_t measure, uint8_t flavour,
				uint8_t dim, uint32_t flags, const uint64_t *key, const char *name,
				size_t len)
{
	struct kd_rec_series r = {
		.rec = HEADER(r, KD_REC_SERIES, id),
		.source = (uint8_t)measure_info(measure)->source,
		.measure = measure,
		.flavour = flavour,
		.dim = dim,
		.flags = flags,
		.key = { key[0], key[1] },
	};

	memcpy(r.name, name, len);
	return stream_record(s, &r, sizeof(r));
}

#define STRINGS(text) text, sizeof(text) /* NULs in it included */

/* counts: the totals of all buckets of the series, of which this group is sent. */
UNUSED static int put_hist(struct stream *s, uint32_t id, uint32_t group, const uint64_t *counts)
{
	struct kd_rec_hist r = { .rec = HEADER(r, KD_REC_HIST, id), .group = group };

	memcpy(r.count, counts + group * KD_HIST_SUB, sizeof(r.count));
	return stream_record(s, &r, sizeof(r));
}

/* One bucket's total; the others of its group as zero, which the model takes for an older total. */
UNUSED static int put_bucket(struct stream *s, uint32_t id, unsigned int bucket, uint64_t total)
{
	struct kd_rec_hist r = { .rec = HEADER(r, KD_REC_HIST, id), .group = bucket / KD_HIST_SUB };

	r.count[bucket % KD_HIST_SUB] = total;
	return stream_record(s, &r, sizeof(r));
}

UNUSED static int put_stat(struct stream *s, uint32_t id, uint64_t sum, uint64_t min, uint64_t max)
{
	struct kd_rec_stat r = {
		.rec = HEADER(r, KD_REC_STAT, id),
		.sum = sum,
		.min = min,
		.max = max,
	};

	return stream_record(s, &r, sizeof(r));
}

UNUSED static int put_worst(struct stream *s, uint32_t id, uint64_t mono, uint64_t value,
			    uint32_t cpu)
{
	struct kd_rec_worst r = {
		.rec = HEADER(r, KD_REC_WORST, id),
		.mono_ns = mono,
		.value = value,
		.cpu = cpu,
	};

	return stream_record(s, &r, sizeof(r));
}

UNUSED static int put_tick(struct stream *s, uint32_t tick, uint32_t complete)
{
	struct kd_rec_tick r = {
		.rec = HEADER(r, KD_REC_TICK, 0),
		.mono_ns = 1000 + 100 * (uint64_t)tick,
		.tick = tick,
		.complete = complete,
	};

	return stream_record(s, &r, sizeof(r));
}

UNUSED static int put_total(struct stream *s, uint16_t kind, uint16_t what, uint64_t total)
{
	struct kd_rec_total r = {
		.rec = HEADER(r, kind, 0),
		.source = KD_SRC_CALL_RCU,
		.what = what,
		.total = total,
	};

	return stream_record(s, &r, sizeof(r));
}

UNUSED static int put_text(struct stream *s, uint16_t kind, uint64_t a, uint64_t b, const char *t0,
			   const char *t1)
{
	const char *texts[] = { t0, t1, "reason", "fix" };
	uint64_t buf[KD_REC_MAX / 8];
	const struct kd_rec *rec = stream_make_text(buf, kind, a, b, texts, 4);

	return stream_record(s, rec, rec->len);
}

UNUSED static int put_plan(struct stream *s, uint8_t flavour, uint8_t state)
{
	return put_text(s, KD_REC_PLAN,
			KD_SRC_CALL_RCU | KD_M_CALL_RCU_LATENCY << 8 | (uint64_t)flavour << 16 |
				(uint64_t)state << 24 | 1ull << 32,
			0, "tp_btf", "hook_a hook_b");
}

/* A list of the source memalloc; fields that are not given are 0. */
UNUSED static struct kd_rec_pending a_list(uint16_t list, uint32_t cpu, uint64_t key,
					   uint64_t length)
{
	return (struct kd_rec_pending){
		.rec = HEADER(struct kd_rec_pending, KD_REC_PENDING, 0),
		.source = KD_SRC_MEMALLOC,
		.list = list,
		.cpu = cpu,
		.key = key,
		.unit_size = 64,
		.flags = KD_PENDING_EXACT,
		.length = length,
		.bytes = 64 * length,
		.age_ns = KD_UNKNOWN,
	};
}

UNUSED static int put_list(struct stream *s, uint16_t list, uint32_t cpu, uint64_t key,
			   uint64_t length)
{
	const struct kd_rec_pending r = a_list(list, cpu, key, length);

	return stream_record(s, &r, sizeof(r));
}

/* Reproducible, and the same on every libc. */
UNUSED static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state * 0x2545f4914f6cdd1dull;
}

UNUSED static uint64_t below(uint64_t *state, uint64_t limit)
{
	return (next_random(state) >> 11) % limit;
}

/* All lines logged since the last call to forget_log(). */
UNUSED static char logged[8192];

UNUSED static void keep_line(void *ctx, enum log_level level, const char *line)
{
	size_t used = strlen(logged);

	(void)ctx;
	(void)level;
	snprintf(logged + used, sizeof(logged) - used, "%s\n", line);
}

UNUSED static void forget_log(void)
{
	logged[0] = '\0';
	log_set_sink(keep_line, NULL);
}

#define assert_logged(text)                                                       \
	do {                                                                      \
		if (!strstr(logged, text))                                        \
			fail_msg("\"%s\" was not logged, but: %s", text, logged); \
	} while (0)

#endif
