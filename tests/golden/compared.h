/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * compared.h - for make_capture.c: captures of several runs of a command, for `kdefer diff`. Each run has
 * its own share of noise, so that what a comparison says of them can be worked out.
 */
#ifndef KDEFER_GOLDEN_COMPARED_H
#define KDEFER_GOLDEN_COMPARED_H

#include "maker.h"

#define RUN_INTERVALS 2
#define GP_ID 10 /* the series of rcu_gp.duration; those before are functions of call_rcu */

static const struct runs_conf {
	const char *file, *kernel, *boot, *build, *cpus;
	uint32_t runs;
	bool ab;
	uint32_t slow;  /* per cent that grace periods take longer */
	uint32_t noise; /* per cent, at most, that a run is off by, either way */
	uint64_t seed;
	const char *func; /* of the callback */
	const char *event, *detail;
	uint32_t hole;  /* this run of --ab, counted from 1, ends before its first tick */
	uint32_t drift; /* per cent that each pair is slower than the one before */
	uint32_t lost;  /* in each run */
	uint32_t meaning;
	uint32_t lists; /* objects that wait, in each of two lists */
	uint32_t thin;  /* 1/this was followed in the last run, to stay within the budget */
} runs_confs[] = {
	{ .file = "run-base.kdefer", .boot = "aa", .runs = 8, .noise = 2, .seed = 1 },
	{ .file = "run-equal.kdefer", .boot = "aa", .runs = 8, .noise = 2, .seed = 2 },
	{ .file = "run-thin.kdefer", .boot = "aa", .runs = 8, .noise = 2, .seed = 2, .thin = 8 },
	{ .file = "run-slow.kdefer", .boot = "aa", .runs = 8, .noise = 2, .seed = 3, .slow = 60 },
	{ .file = "run-few.kdefer", .boot = "aa", .runs = 4, .noise = 2, .seed = 4, .slow = 60 },
	{ .file = "run-one.kdefer", .boot = "aa", .runs = 1, .noise = 2, .seed = 5 },
	{ .file = "run-noisy.kdefer", .boot = "aa", .runs = 8, .noise = 60, .seed = 8, .slow = 20 },
	{ .file = "run-boot.kdefer",
	  .boot = "bb",
	  .runs = 8,
	  .noise = 2,
	  .seed = 7,
	  .kernel = "6.12.49+deb13-amd64",
	  .build = "feedbeef",
	  .slow = 60 },
	{ .file = "run-boot-little.kdefer",
	  .boot = "bb",
	  .runs = 8,
	  .noise = 1,
	  .seed = 7,
	  .kernel = "6.12.49+deb13-amd64",
	  .build = "feedbeef",
	  .slow = 8 },
	{ .file = "run-cpus.kdefer", .boot = "cc", .runs = 8, .noise = 2, .seed = 9, .cpus = "2" },
	{ .file = "run-event.kdefer",
	  .boot = "aa",
	  .runs = 8,
	  .noise = 2,
	  .seed = 10,
	  .slow = 60,
	  .event = "rcu_stall" },
	{ .file = "run-renamed.kdefer",
	  .boot = "aa",
	  .runs = 8,
	  .noise = 2,
	  .seed = 11,
	  .func = "new_free_rcu" },
	{ .file = "run-lost.kdefer", .boot = "aa", .runs = 8, .noise = 2, .seed = 12, .lost = 3 },
	{ .file = "run-meaning.kdefer",
	  .boot = "aa",
	  .runs = 8,
	  .noise = 2,
	  .seed = 13,
	  .meaning = 2 },
	{ .file = "run-lists.kdefer",
	  .boot = "aa",
	  .runs = 5,
	  .noise = 2,
	  .seed = 17,
	  .lists = 1000 },
	{ .file = "run-lists-more.kdefer",
	  .boot = "aa",
	  .runs = 5,
	  .noise = 2,
	  .seed = 18,
	  .lists = 3000 },
	{ .file = "run-ab.kdefer",
	  .boot = "aa",
	  .runs = 8,
	  .noise = 2,
	  .seed = 14,
	  .slow = 25,
	  .ab = true },
	{ .file = "run-ab-hole.kdefer",
	  .boot = "aa",
	  .runs = 10,
	  .noise = 2,
	  .seed = 19,
	  .slow = 25,
	  .ab = true,
	  .hole = 4,
	  .drift = 30 },
	{ .file = "run-malformed.kdefer",
	  .boot = "aa",
	  .runs = 8,
	  .noise = 2,
	  .seed = 10,
	  .slow = 60,
	  .event = "metric_malformed",
	  .detail = "1 line" },
	{ .file = "run-long-base.kdefer", .boot = "aa", .runs = 20, .noise = 5, .seed = 15 },
	{ .file = "run-long-slow.kdefer",
	  .boot = "aa",
	  .runs = 20,
	  .noise = 5,
	  .seed = 16,
	  .slow = 60 },
};

static bool has_marks(const struct runs_conf *r)
{
	return strncmp(r->file, "run-long", 8);
}

static void put_runs_host(struct maker *m, const struct runs_conf *r)
{
	put_host(m);
	put_fact(m, "boot_id", r->boot);
	if (r->kernel)
		put_fact(m, "kernel", r->kernel);
	if (r->build)
		put_fact(m, "build_id", r->build);
	if (r->cpus)
		put_fact(m, "cpus_online", r->cpus);
}

static void put_runs_plan(struct maker *m, uint8_t source, uint8_t measure, uint32_t meaning)
{
	static const char *const on[] = { "fentry", "some_function", "", "" };

	m->source = source;
	m->measure = measure;
	put_text(m, KD_REC_PLAN,
		 m->source | (uint64_t)m->measure << 8 | (uint64_t)m->flavour << 16 |
			 (uint64_t)PLAN_ON << 24 | (uint64_t)meaning << 32,
		 0, on, 4);
}

static void put_runs_series(struct maker *m, const struct runs_conf *r)
{
	put_runs_plan(m, KD_SRC_RCU_GP, KD_M_RCU_GP_DURATION, r->meaning ? r->meaning : 1);
	put_series(m, m->main[GP_ID].id, KD_DIM_MAIN, 0, 0, "");
	if (r->lists)
		put_runs_plan(m, KD_SRC_MEMALLOC, KD_M_MEMALLOC_PENDING, 1);
	put_runs_plan(m, KD_SRC_CALL_RCU, KD_M_CALL_RCU_LATENCY, 1);
	put_series(m, m->main[0].id, KD_DIM_MAIN, 0, 0x1000, r->func ? r->func : "old_free_rcu");
	put_series(m, m->main[1].id, KD_DIM_MAIN, 0, 0x2000, "__d_free");
}

/* As many as said in one list, a tenth of that in the other, a little less in every second interval. */
static void put_lists(struct maker *m, uint64_t length)
{
	struct kd_rec_pending r = {
		.rec = { .kind = KD_REC_PENDING, .len = sizeof(r) },
		.source = KD_SRC_MEMALLOC,
		.list = KD_LIST_FREE_BY_RCU,
		.cpu = 0,
		.key = 7,
		.unit_size = 64,
		.flags = KD_PENDING_EXACT,
		.length = length,
		.bytes = 64 * length,
		.age_ns = KD_UNKNOWN,
	};

	put(m, &r.rec);
	r.list = KD_LIST_WAITING_FOR_GP;
	r.length = length / 10;
	r.bytes = 64 * r.length;
	put(m, &r.rec);
}

static void put_mark(struct maker *m, uint32_t index, uint8_t side, bool ended)
{
	static const char command[] = "./load --seconds 2";
	union {
		struct kd_rec_run r;
		char room[sizeof(struct kd_rec_run) + (sizeof(command) + 7) / 8 * 8];
	} u;

	memset(&u, 0, sizeof(u));
	u.r.rec = (struct kd_rec){ .kind = KD_REC_RUN, .len = sizeof(u) };
	u.r.mono_ns = m->now;
	u.r.real_ns = REAL_NS + (m->now - MONO_NS);
	u.r.index = index;
	u.r.side = side;
	u.r.ended = ended;
	memcpy(u.room + sizeof(u.r), command, sizeof(command));
	put(m, &u.r.rec);
}

/* What the command says of itself, better the more. */
static void put_runs_value(struct maker *m, uint64_t per_s)
{
	static const char texts[] = "requests\0per_s\0-";
	union {
		struct kd_rec_value v;
		char room[sizeof(struct kd_rec_value) + (sizeof(texts) + 7) / 8 * 8];
	} u;

	memset(&u, 0, sizeof(u));
	u.v.rec = (struct kd_rec){ .kind = KD_REC_VALUE, .len = sizeof(u) };
	u.v.value = (double)per_s;
	u.v.better = KD_BETTER_HIGHER;
	memcpy(u.room + sizeof(u.v), texts, sizeof(texts));
	put(m, &u.v.rec);
}

/* 100 a little more or less. */
static uint64_t noisy_percent(struct maker *m, uint32_t noise)
{
	return 100 - noise + next_random(m) % (2 * noise + 1);
}

static void run_interval(struct maker *m, uint64_t percent)
{
	uint32_t i, cpu;

	for (i = 0; i < 600; i++) {
		cpu = (uint32_t)(next_random(m) >> 33) % CPUS;
		add_event(m, i % 4 ? 0 : 1, cpu,
			  (4 * MS + next_random(m) % (20 * MS)) * percent / 100,
			  next_random(m) % S);
		if (i < 60)
			add_to(&m->main[GP_ID],
			       (10 * MS + next_random(m) % (12 * MS)) * percent / 100, 1);
	}
}

static int make_compared(const char *dir, const struct runs_conf *r)
{
	const char *const event[] = { r->event, r->detail ? r->detail : "CPU 1" };
	uint32_t run, i, n = r->ab ? 2 * r->runs : r->runs;
	uint64_t percent;
	struct maker m;
	uint8_t side;
	int err = begin(&m, dir, r->file);

	if (err)
		return err;
	m.random ^= r->seed * 0x9e3779b97f4a7c15ULL;
	put_runs_host(&m, r);
	if (r->thin)
		put_fact(&m, "sampling_by_budget", "1%");
	put_runs_series(&m, r);
	put_clock(&m);
	put_self(&m, 0, 1);
	put_tick(&m, 0);
	for (run = 0; run < n; run++) {
		side = r->ab ? (run % 4 == 0 || run % 4 == 3 ? KD_SIDE_A : KD_SIDE_B)
			     : KD_SIDE_NONE;
		percent = noisy_percent(&m, r->noise);
		if (side != KD_SIDE_A)
			percent = percent * (100 + r->slow) / 100;
		percent = percent * (100 + run / 2 * r->drift) / 100;
		if (has_marks(r))
			put_mark(&m, run, side, false);
		for (i = 0; i < RUN_INTERVALS && run + 1 != r->hole; i++) {
			run_interval(&m, percent);
			if (r->lists)
				put_lists(&m, r->lists * percent / (100 + 10 * i));
			put_self(&m, 1000 * (run * RUN_INTERVALS + i + 1),
				 r->thin && run + 1 == n ? r->thin : 1);
			put_total(&m, KD_REC_LOST, KD_LOST_TABLE_FULL, (run + 1) * r->lost);
			put_tick(&m, S);
		}
		if (r->event && run == 2)
			put_text(&m, KD_REC_EVENT, REAL_NS, m.now - MS, event, 2);
		if (has_marks(r)) {
			if (!r->detail || run != 2)
				put_runs_value(&m, 500000 / percent);
			put_mark(&m, run, side, true);
		}
		put_tick(&m, 100 * MS);
	}
	return end(&m);
}

static int make_all_compared(const char *dir)
{
	size_t i;
	int err = 0;

	for (i = 0; !err && i < sizeof(runs_confs) / sizeof(runs_confs[0]); i++)
		err = make_compared(dir, &runs_confs[i]);
	return err;
}

#endif
