// SPDX-License-Identifier: GPL-2.0-only
/*
 * make_top.c - captures for the tests of `kdefer top`. Usage: make_top DIR
 *   top.kdefer        40 intervals of a second: a list of CPU 3 that grows, a function whose
 *                     callbacks get late, a grace period that CPU 3 holds
 *   busy-8.kdefer, busy-512.kdefer
 *                     so many CPUs, 210 intervals in which everything changes
 */
#include <stdlib.h>

#include "../golden/maker.h"

#define LEVELS (KD_PENDING_EXACT)
#define FUNCTIONS 512

static void put_length(struct maker *m, unsigned int source, unsigned int flavour,
		       unsigned int list, uint32_t cpu, uint64_t key, uint32_t size,
		       uint64_t length)
{
	const struct kd_rec_pending r = {
		.rec = { .kind = KD_REC_PENDING, .len = sizeof(r) },
		.source = (uint8_t)source,
		.flavour = (uint8_t)flavour,
		.list = (uint16_t)list,
		.cpu = cpu,
		.key = key,
		.unit_size = size,
		.flags = LEVELS,
		.length = length,
		.bytes = size ? length * size : KD_UNKNOWN,
		.age_ns = KD_UNKNOWN,
	};

	put(m, &r.rec);
}

static void put_owing(struct maker *m, uint32_t cpu, uint64_t age)
{
	const struct kd_rec_owed owed = {
		.rec = { .kind = KD_REC_OWED, .len = sizeof(owed) },
		.flavour = KD_FL_RCU,
		.cpu = cpu,
	};
	const struct kd_rec_gp gp = {
		.rec = { .kind = KD_REC_GP, .len = sizeof(gp) },
		.flavour = KD_FL_RCU,
		.state = age ? KD_GP_WAITING : KD_GP_IDLE,
		.cpus_owed = age ? 1 : 0,
		.flags = KD_PENDING_EXACT,
		.seq = 418000 + m->tick,
		.age_ns = age,
	};

	if (age)
		put(m, &owed.rec);
	put(m, &gp.rec);
}

static void plan_of(struct maker *m, unsigned int source, unsigned int measure,
		    unsigned int flavour)
{
	m->source = (uint8_t)source;
	m->measure = (uint8_t)measure;
	m->flavour = (uint8_t)flavour;
	put_plan(m, PLAN_ON, plan_on);
}

static void begin_top(struct maker *m, unsigned int cpus)
{
	put_host(m);
	put_number(m, "cpus_possible", cpus);
	put_number(m, "cpus_online", cpus);
	plan_of(m, KD_SRC_RCU_GP, KD_M_RCU_GP_PENDING, KD_FL_RCU);
	plan_of(m, KD_SRC_MEMALLOC, KD_M_MEMALLOC_PENDING, KD_FL_NONE);
	plan_of(m, KD_SRC_CALL_RCU, KD_M_CALL_RCU_PENDING, KD_FL_RCU);
	plan_of(m, KD_SRC_CALL_RCU, KD_M_CALL_RCU_LATENCY, KD_FL_RCU);
	put_clock(m);
	put_self(m, 0, 1);
}

/* --- a story --- */

static void declare(struct maker *m)
{
	static const char *const names[] = { "file_free_rcu", "__d_free",
					     "late_callback [lateness]", "i_callback" };
	static const char *const flows[] = { "flows", "hash", "812 flowd" };
	uint64_t buf[KD_REC_MAX / sizeof(uint64_t)];

	for (uint32_t i = 0; i < 4; i++)
		put_series(m, m->main[i].id, KD_DIM_MAIN, 0, 0xffffffff81000000ULL + i * 64,
			   names[i]);
	for (uint32_t i = 0; i < CPUS; i++)
		put_series(m, m->cpu[i].id, KD_DIM_CPU, 0, i, "");
	put(m,
	    stream_make_text(buf, KD_REC_NAME, KD_NAME_MAP | KD_SRC_MEMALLOC << 8, 12, flows, 3));
}

static void story_interval(struct maker *m, uint32_t n)
{
	static const uint32_t times[] = { 900, 400, 100, 30 };
	uint64_t late = n < 20 ? 0 : 300 * MS;

	for (uint32_t i = 0; i < 4; i++)
		for (uint32_t k = 0; k < times[i]; k++)
			add_event(m, i, (uint32_t)(next_random(m) >> 33) % CPUS,
				  4 * MS + next_random(m) % (20 * MS) + (i == 2 ? late : 0),
				  next_random(m) % S);
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		put_length(m, KD_SRC_CALL_RCU, KD_FL_RCU, KD_LIST_WAIT, cpu, 0, 0,
			   100 + next_random(m) % 50);
		put_length(m, KD_SRC_CALL_RCU, KD_FL_RCU, KD_LIST_NEXT, cpu, 0, 0,
			   cpu == 3 && n >= 20 ? (n - 19) * 4000 : next_random(m) % 80);
		put_length(m, KD_SRC_MEMALLOC, 0, KD_LIST_FREE_LLIST, cpu, 12, 64,
			   60 + next_random(m) % 9);
	}
	put_owing(m, 3, n >= 20 ? (n - 19) * S : 0);
}

static int make_story(const char *dir)
{
	static const char *const events[][2] = { { "cpu_offline", "CPU 2" },
						 { "rcu_stall",
						   "CPU 3: \033]0;owned\007 no quiescent "
						   "state for 21 s" } };
	struct maker m;
	int err = begin(&m, dir, "top.kdefer");

	if (err)
		return err;
	begin_top(&m, CPUS);
	put_tick(&m, 0);
	declare(&m);
	for (uint32_t n = 0; n < 40; n++) {
		story_interval(&m, n);
		if (n == 10 || n == 39)
			put_text(&m, KD_REC_EVENT, REAL_NS + n * S, MONO_NS + n * S,
				 events[n == 39], 2);
		put_total(&m, KD_REC_COUNT, KD_CNT_BEGUN, 1500 * (n + 1));
		put_total(&m, KD_REC_COUNT, KD_CNT_DONE, 1430 * (n + 1));
		if (n >= 30)
			put_total(&m, KD_REC_LOST, KD_LOST_TABLE_FULL, n - 29);
		put_self(&m, 3000 * (n + 1), 1);
		put_tick(&m, S);
	}
	return end(&m);
}

/* --- busy machines --- */

static void busy_series(struct maker *m, uint64_t *count, uint32_t i)
{
	struct kd_rec_stat stat = {
		.rec = { .kind = KD_REC_STAT, .len = sizeof(stat), .id = i },
		.min = 4 * MS,
		.max = 40 * MS,
	};

	for (uint32_t g = 20; g < 23; g++) {
		struct kd_rec_hist r = {
			.rec = { .kind = KD_REC_HIST, .len = sizeof(r), .id = i },
			.group = g,
		};

		for (uint32_t k = 0; k < KD_HIST_SUB; k++) {
			count[i] += next_random(m) % 9;
			r.count[k] = count[i] * (k + 1);
		}
		put(m, &r.rec);
	}
	stat.sum = count[i] * 100 * MS;
	put(m, &stat.rec);
}

static int make_busy(const char *dir, const char *name, uint32_t cpus)
{
	uint64_t *count = calloc(FUNCTIONS, sizeof(*count));
	struct maker m;
	int err = begin(&m, dir, name);

	if (err || !count)
		return err ? err : -ENOMEM;
	begin_top(&m, cpus);
	put_tick(&m, 0);
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		char text[64];

		snprintf(text, sizeof(text), "function_with_a_name_%u [module_%u]", i, i % 20);
		put_series(&m, i, KD_DIM_MAIN, 0, 0xffffffff81000000ULL + i * 64, text);
	}
	for (uint32_t n = 0; n < 210; n++) {
		for (uint32_t i = 0; i < FUNCTIONS; i++)
			busy_series(&m, count, i);
		for (uint32_t cpu = 0; cpu < cpus; cpu++) {
			for (unsigned int list = KD_LIST_DONE; list <= KD_LIST_NEXT; list++)
				put_length(&m, KD_SRC_CALL_RCU, KD_FL_RCU, list, cpu, 0, 0,
					   next_random(&m) % 9000);
			for (uint64_t map = 1; map <= 4; map++)
				put_length(&m, KD_SRC_MEMALLOC, 0, KD_LIST_FREE_LLIST, cpu, map, 64,
					   next_random(&m) % 90);
		}
		put_owing(&m, n % cpus, n % 3 * 10 * MS);
		put_total(&m, KD_REC_COUNT, KD_CNT_BEGUN, 900000 * (n + 1));
		put_self(&m, 2000000 * (n + 1), 1);
		put_tick(&m, S);
	}
	free(count);
	return end(&m);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: %s DIR\n", argv[0]);
		return 2;
	}
	return make_story(argv[1]) || make_busy(argv[1], "busy-8.kdefer", 8) ||
	       make_busy(argv[1], "busy-512.kdefer", 512);
}
