/* SPDX-License-Identifier: GPL-2.0-only */
/* maker.h - for make_capture.c: keeps series as the kernel side does, writes them as records. */
#ifndef KDEFER_GOLDEN_MAKER_H
#define KDEFER_GOLDEN_MAKER_H

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "capture.h"
#include "catalog.h"
#include "histogram.h"
#include "log.h"
#include "plan.h"
#include "stream.h"

#define US 1000ULL
#define MS (1000 * US)
#define S (1000 * MS)

#define REAL_NS 1769861106123456789ULL /* 2026-01-31T12:05:06.123456789Z */
#define MONO_NS (86400 * S)
#define CPUS 4
#define SERIES 24
#define CPU_ID 100 /* ids of the series by CPU */
#define WORST 10

/* One series as the kernel side keeps it: running counts, extremes of the interval. */
struct slot {
	uint32_t id;
	struct hist total;
	uint64_t min, max;
	bool changed;
};

struct maker {
	struct capture_writer *w;
	struct stream s;
	struct slot main[SERIES], cpu[CPUS];
	struct kd_rec_worst worst[WORST];
	size_t nworst;
	uint8_t source, measure, flavour; /* what plan rows, series and totals are of */
	uint64_t now, random;
	uint32_t tick;
	int err;
};

/* --- records --- */

static int to_capture(void *ctx, const struct kd_rec *rec)
{
	return capture_write(((struct maker *)ctx)->w, rec);
}

static void put(struct maker *m, const struct kd_rec *rec)
{
	uint64_t before = m->s.records;

	if (!m->err)
		m->err = stream_record(&m->s, rec, rec->len);
	if (!m->err && m->s.records == before)
		m->err = log_err(-EINVAL, "record of kind %u is refused", rec->kind);
}

static void put_text(struct maker *m, uint16_t kind, uint64_t a, uint64_t b,
		     const char *const *texts, int n)
{
	uint64_t buf[KD_REC_MAX / sizeof(uint64_t)];

	put(m, stream_make_text(buf, kind, a, b, texts, n));
}

static void put_fact(struct maker *m, const char *name, const char *value)
{
	const char *const texts[] = { name, value };

	put_text(m, KD_REC_HOST, 0, 0, texts, 2);
}

static void put_number(struct maker *m, const char *name, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	put_fact(m, name, text);
}

static void put_plan(struct maker *m, enum plan_state state, const char *const *texts)
{
	put_text(m, KD_REC_PLAN,
		 m->source | (uint64_t)m->measure << 8 | (uint64_t)m->flavour << 16 |
			 (uint64_t)state << 24 | 1ULL << 32,
		 0, texts, 4);
}

/* name: `len` bytes, perhaps several strings. */
static void put_series_of(struct maker *m, uint32_t id, enum kd_dim dim, uint32_t flags,
			  const uint64_t *key, const char *name, size_t len)
{
	struct kd_rec_series r = {
		.rec = { .kind = KD_REC_SERIES, .len = sizeof(r), .id = id },
		.source = m->source,
		.measure = m->measure,
		.flavour = m->flavour,
		.dim = (uint8_t)dim,
		.flags = flags,
		.key = { key[0], key[1] },
	};

	memcpy(r.name, name, len < sizeof(r.name) ? len : sizeof(r.name) - 1);
	put(m, &r.rec);
}

static void put_series(struct maker *m, uint32_t id, enum kd_dim dim, uint32_t flags, uint64_t key,
		       const char *name)
{
	const uint64_t keys[2] = { key };

	put_series_of(m, id, dim, flags, keys, name, strlen(name));
}

static void put_total(struct maker *m, uint16_t kind, unsigned int what, uint64_t total)
{
	struct kd_rec_total r = {
		.rec = { .kind = kind, .len = sizeof(r) },
		.source = m->source,
		.what = (uint16_t)what,
		.total = total,
	};

	put(m, &r.rec);
}

static void put_slot(struct maker *m, struct slot *slot)
{
	struct kd_rec_stat stat = {
		.rec = { .kind = KD_REC_STAT, .len = sizeof(stat), .id = slot->id },
		.sum = slot->total.sum,
		.min = slot->min,
		.max = slot->max,
	};
	uint32_t group;

	for (group = 0; group < KD_HIST_GROUPS; group++) {
		struct kd_rec_hist r = {
			.rec = { .kind = KD_REC_HIST, .len = sizeof(r), .id = slot->id },
			.group = group,
		};
		uint64_t any = 0;
		int i;

		for (i = 0; i < KD_HIST_SUB; i++)
			any |= r.count[i] = slot->total.bucket[group * KD_HIST_SUB + (uint32_t)i];
		if (any)
			put(m, &r.rec);
	}
	put(m, &stat.rec);
	slot->min = UINT64_MAX;
	slot->max = 0;
	slot->changed = false;
}

/* All that changed, then the end of the interval. */
static void put_tick(struct maker *m, uint64_t length)
{
	struct kd_rec_tick r = {
		.rec = { .kind = KD_REC_TICK, .len = sizeof(r) },
		.tick = m->tick++,
		.complete = 1,
	};
	size_t i;

	for (i = 0; i < SERIES; i++)
		if (m->main[i].changed)
			put_slot(m, &m->main[i]);
	for (i = 0; i < CPUS; i++)
		if (m->cpu[i].changed)
			put_slot(m, &m->cpu[i]);
	for (i = 0; i < m->nworst; i++)
		put(m, &m->worst[i].rec);
	m->nworst = 0;
	m->now += length;
	r.mono_ns = m->now;
	put(m, &r.rec);
}

/* --- events --- */

static void add_to(struct slot *slot, uint64_t value, uint64_t times)
{
	slot->total.bucket[hist_bucket(value)] += times;
	slot->total.sum += value * times;
	slot->min = value < slot->min ? value : slot->min;
	slot->max = value > slot->max ? value : slot->max;
	slot->changed = true;
}

static void add_worst(struct maker *m, uint32_t id, uint32_t cpu, uint64_t value, uint64_t at)
{
	size_t i = m->nworst;

	if (i == WORST && value <= m->worst[WORST - 1].value)
		return;
	if (i < WORST)
		m->nworst++;
	else
		i--;
	for (; i && m->worst[i - 1].value < value; i--)
		m->worst[i] = m->worst[i - 1];
	m->worst[i] = (struct kd_rec_worst){
		.rec = { .kind = KD_REC_WORST, .len = sizeof(m->worst[0]), .id = id },
		.mono_ns = at,
		.value = value,
		.cpu = cpu,
	};
}

static void add_event(struct maker *m, size_t i, uint32_t cpu, uint64_t value, uint64_t after)
{
	add_to(&m->main[i], value, 1);
	add_to(&m->cpu[cpu], value, 1);
	add_worst(m, m->main[i].id, cpu, value, m->now + after);
}

static uint64_t next_random(struct maker *m)
{
	m->random ^= m->random << 13;
	m->random ^= m->random >> 7;
	m->random ^= m->random << 17;
	return m->random;
}

/* --- beginning and end of a capture --- */

static int begin(struct maker *m, const char *dir, const char *name)
{
	char path[4096];
	uint32_t i;

	memset(m, 0, sizeof(*m));
	m->source = KD_SRC_CALL_RCU;
	m->measure = KD_M_CALL_RCU_LATENCY;
	m->flavour = KD_FL_RCU;
	m->now = MONO_NS;
	m->random = 88172645463325252ULL;
	for (i = 0; i < SERIES + CPUS; i++) {
		struct slot *slot = i < SERIES ? &m->main[i] : &m->cpu[i - SERIES];

		slot->id = i < SERIES ? i : CPU_ID + i - SERIES;
		slot->min = UINT64_MAX;
		hist_init(&slot->total);
	}
	stream_init(&m->s, to_capture, m);
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return capture_create(&m->w, path, true);
}

static int end(struct maker *m)
{
	int err = capture_close(m->w);

	return m->err ? m->err : err;
}

static void put_clock(struct maker *m)
{
	put_fact(m, "start", "2026-01-31T12:05:06.123456789Z");
	put_number(m, "realtime_ns", REAL_NS);
	put_number(m, "monotonic_ns", MONO_NS);
	put_number(m, "boottime_ns", MONO_NS + 7 * S);
}

static void put_host(struct maker *m)
{
	put_fact(m, "hostname", "golden");
	put_fact(m, "boot_id", "7b0c5f0e-0d5e-4c1c-9d2e-5a1f0c3b2a19");
	put_fact(m, "kernel", "6.12.48+deb13-amd64");
	put_fact(m, "kernel_version", "#1 SMP PREEMPT_DYNAMIC Debian 6.12.48-1 (2025-09-20)");
	put_fact(m, "build_id", "c0ffee0123456789abcdef0123456789abcdef01");
	put_fact(m, "cmdline", "root=/dev/vda1 ro quiet");
	put_fact(m, "machine", "x86_64");
	put_fact(m, "cpu_model", "QEMU Virtual CPU version 2.5+");
	put_number(m, "cpus_online", CPUS);
	put_number(m, "cpus_possible", CPUS);
	put_number(m, "numa_nodes", 1);
	put_number(m, "hz", 250);
	put_number(m, "first_fqs_jiffies", 1);
	put_fact(m, "preempt", "voluntary");
	put_number(m, "taint", 0);
	put_fact(m, "config.HZ", "250");
	put_fact(m, "config.RCU_LAZY", "y");
}

static const char *const plan_on[] = {
	"fentry",
	"rcu_segcblist_enqueue rcu_cblist_dequeue rcu_segcblist_extract_done_cbs",
	"",
	"",
};

static void put_self(struct maker *m, uint64_t events, uint64_t sample)
{
	struct kd_rec_self r = {
		.rec = { .kind = KD_REC_SELF, .len = sizeof(r) },
		.events = events,
		.run_ns = events * 120,
		.cpu_ns = 12 * MS,
		.rss_bytes = 5 << 20,
		.kernel_bytes = 9 << 20,
		.attach_ns = 180 * MS,
		.grace_periods = 1,
		.sample = sample,
	};

	put(m, &r.rec);
}

#endif
