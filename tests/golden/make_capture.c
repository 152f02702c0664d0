// SPDX-License-Identifier: GPL-2.0-only
/*
 * make_capture.c - writes the captures of the golden tests into a directory, the same ones each
 * time, through the same stream and writer as a measurement. Usage: make_capture DIR
 */
#include "lists.h"
#include "maker.h"
#include "compared.h"
#include "waits.h"

static const struct callback {
	const char *name;
	uint32_t flags, per_interval;
	uint64_t least, spread; /* ns */
} callbacks[SERIES] = {
	[0] = { "", KD_SERIES_OTHER | KD_SERIES_EAGER, 9, 4 * MS, 8 * MS },
	[1] = { "file_free_rcu", KD_SERIES_LAZY, 900, 3 * MS, 20 * MS },
	[2] = { "i_callback", KD_SERIES_LAZY, 420, 4 * MS, 12 * MS },
	[3] = { "__d_free", KD_SERIES_EAGER, 380, 4 * MS, 12 * MS },
	[4] = { "nf_conntrack_free_rcu [nf_conntrack]", KD_SERIES_EAGER, 64, 6 * MS, 30 * MS },
	[5] = { "delayed_put_task_struct", KD_SERIES_EAGER, 33, 4 * MS, 16 * MS },
	[6] = { "__free_by_rcu", KD_SERIES_EAGER, 12, 120 * MS, 60 * MS },
	[7] = { "xfs_inode_free_callback [xfs]", KD_SERIES_LAZY, 7, 8 * MS, 8 * MS },
	[8] = { "wakeme_after_rcu", KD_SERIES_EAGER, 2, 5 * MS, 90 * MS },
	[9] = { "file_free_rcu", KD_SERIES_EAGER, 40, 3 * MS, 20 * MS },
};

static void busy_interval(struct maker *m, uint32_t times)
{
	uint32_t i, k;

	for (i = 0; i < SERIES; i++)
		for (k = 0; k < callbacks[i].per_interval * times; k++)
			add_event(m, i, (uint32_t)(next_random(m) >> 33) % CPUS,
				  callbacks[i].least + next_random(m) % callbacks[i].spread,
				  next_random(m) % S);
}

static void declare_busy(struct maker *m)
{
	uint32_t i;

	/* Number 9 is the function of number 1, handed over without being lazy. */
	for (i = 0; i < SERIES; i++)
		if (callbacks[i].name)
			put_series(m, m->main[i].id, KD_DIM_MAIN, callbacks[i].flags,
				   0xffffffff81000000ULL + i % 8 * 0x1240, callbacks[i].name);
	for (i = 0; i < CPUS; i++)
		put_series(m, m->cpu[i].id, KD_DIM_CPU, 0, i, "");
}

/* Three intervals: a usual one; one with losses and a callback that waited 1.7 s; a quiet one. */
static int make_busy(const char *dir)
{
	static const char *const event[] = { "cpu_offline", "CPU 3" };
	struct maker m;
	int err = begin(&m, dir, "busy.kdefer");

	if (err)
		return err;
	put_host(&m);
	put_plan(&m, PLAN_ON, plan_on);
	put_clock(&m);
	put_self(&m, 0, 1);
	put_tick(&m, 0);
	declare_busy(&m);
	busy_interval(&m, 2);
	put_total(&m, KD_REC_LOST, KD_LOST_PRE_START, 133);
	put_total(&m, KD_REC_COUNT, KD_CNT_BEGUN, 3790);
	put_total(&m, KD_REC_COUNT, KD_CNT_DONE, 3734);
	put_total(&m, KD_REC_COUNT, KD_CNT_OPEN, 56);
	put_total(&m, KD_REC_COUNT, KD_CNT_BARRIER, 4);
	put_self(&m, 7500, 1);
	put_tick(&m, S);
	busy_interval(&m, 1);
	add_event(&m, 6, 2, 1700 * MS, 400 * MS);
	put_text(&m, KD_REC_EVENT, REAL_NS + 1300 * MS, MONO_NS + 1300 * MS, event, 2);
	put_total(&m, KD_REC_LOST, KD_LOST_UNMATCHED_BEGIN, 2);
	put_total(&m, KD_REC_LOST, KD_LOST_TABLE_FULL, 1250);
	put_total(&m, KD_REC_COUNT, KD_CNT_BEGUN, 5700);
	put_total(&m, KD_REC_COUNT, KD_CNT_DONE, 5602);
	put_total(&m, KD_REC_COUNT, KD_CNT_OPEN, 96);
	put_self(&m, 11300, 1);
	put_tick(&m, S);
	add_event(&m, 3, 0, 5 * MS, 10 * MS);
	put_total(&m, KD_REC_COUNT, KD_CNT_BEGUN, 5701);
	put_total(&m, KD_REC_COUNT, KD_CNT_DONE, 5603);
	put_total(&m, KD_REC_COUNT, KD_CNT_OPEN, 0);
	put_self(&m, 11400, 1);
	put_tick(&m, 500 * MS);
	return end(&m);
}

/* A run of a command begins (status < 0), or has ended. */
static void put_run(struct maker *m, uint32_t index, enum kd_side side, int status,
		    const char *command)
{
	union {
		struct kd_rec_run run;
		char room[KD_REC_MAX];
	} buf = { .run = {
			  .rec = { .kind = KD_REC_RUN },
			  .mono_ns = m->now,
			  .real_ns = REAL_NS + (m->now - MONO_NS),
			  .index = index,
			  .side = (uint8_t)side,
			  .ended = status >= 0,
			  .status = (uint16_t)(status < 0 ? 0 : status),
		  } };

	stream_put_strings(&buf, sizeof(buf.run), &command, 1);
	put(m, &buf.run.rec);
}

static void put_value(struct maker *m, const char *name, const char *text, double value,
		      const char *unit, enum kd_better better)
{
	const char *const texts[] = { name, unit, text };
	union {
		struct kd_rec_value value;
		char room[KD_REC_MAX];
	} buf = { .value = {
			  .rec = { .kind = KD_REC_VALUE },
			  .value = value,
			  .better = (uint8_t)better,
		  } };

	stream_put_strings(&buf, sizeof(buf.value), texts, 3);
	put(m, &buf.value.rec);
}

/* Two commands in turn, A B B A; the last was cut off by a signal. Nothing came in between but 7 events. */
static int make_runs(const char *dir)
{
	static const enum kd_side sides[] = { KD_SIDE_A, KD_SIDE_B, KD_SIDE_B, KD_SIDE_A };
	static const char *const event[] = { "high_steal", "12% of CPU time" };
	struct maker m;
	uint32_t i;
	int err = begin(&m, dir, "runs.kdefer");

	if (err)
		return err;
	put_host(&m);
	put_fact(&m, "label.branch", "fix/\033[31mred");
	put_fact(&m, "label.ci", "yes");
	put_fact(&m, "kdefer", "0.1.0");
	put_fact(&m, "command_line",
		 "kdefer record -o runs.kdefer --repeat 2 --ab ./bench 'echo 1 > on; ./bench'");
	put_plan(&m, PLAN_ON, plan_on);
	put_clock(&m);
	put_self(&m, 0, 1);
	put_tick(&m, 0);
	declare_busy(&m);
	for (i = 0; i < 4; i++) {
		const char *command = sides[i] == KD_SIDE_A ? "./bench" : "echo 1 > on; ./bench";

		if (i) {
			add_to(&m.main[0], MS, 7);
			put_tick(&m, 100 * MS);
		}
		put_run(&m, i, sides[i], -1, command);
		busy_interval(&m, sides[i] == KD_SIDE_A ? 1 : 2);
		put_self(&m, 5000 * (i + 1), 1);
		put_tick(&m, S);
		if (i == 3)
			break;
		if (i == 1)
			put_text(&m, KD_REC_EVENT, REAL_NS + (m.now - MONO_NS) - MS, m.now - MS,
				 event, 2);
		put_value(&m, "ops", "1234.50", 1234.5, "1/s", KD_BETTER_HIGHER);
		put_value(&m, "evil\033[2J\"name", "0.001", 0.001, "s", KD_BETTER_LOWER);
		busy_interval(&m, 1);
		put_tick(&m, 200 * MS);
		put_run(&m, i, sides[i], i == 2 ? 137 : 0, command);
	}
	return end(&m);
}

/* Measured, and nothing happened. */
static int make_empty(const char *dir)
{
	struct maker m;
	int err = begin(&m, dir, "empty.kdefer");

	if (err)
		return err;
	put_host(&m);
	put_plan(&m, PLAN_ON, plan_on);
	put_clock(&m);
	put_tick(&m, 0);
	put_total(&m, KD_REC_COUNT, KD_CNT_OPEN, 0);
	put_self(&m, 0, 1);
	put_tick(&m, 5 * S);
	return end(&m);
}

/* The kernel refused everything: what a measurement leaves that ends with exit code 5. */
static int make_off(const char *dir)
{
	static const char *const off[] = {
		"none",
		"",
		"the kernel refuses fentry programs (Operation not permitted) although CAP_BPF "
		"and CAP_PERFMON are held: a security module or policy says no",
		"allow fentry programs in that policy",
	};
	struct maker m;
	int err = begin(&m, dir, "off.kdefer");

	if (err)
		return err;
	put_host(&m);
	put_plan(&m, PLAN_OFF, off);
	return end(&m);
}

/* A sixteenth of the events, without a series by CPU, on a kernel where lazy is not told apart. */
static int make_sampled(const char *dir)
{
	static const char *const on[] = {
		"fentry",
		"rcu_segcblist_enqueue rcu_cblist_dequeue",
		"without telling lazy callbacks apart (__call_rcu_common: not there)",
		"",
	};
	struct maker m;
	int err = begin(&m, dir, "sampled.kdefer");
	uint64_t k;

	if (err)
		return err;
	put_host(&m);
	put_plan(&m, PLAN_ON, on);
	put_clock(&m);
	put_self(&m, 0, 16);
	put_tick(&m, 0);
	put_series(&m, 1, KD_DIM_MAIN, 0, 0xffffffff81000000ULL, "file_free_rcu");
	for (k = 0; k < 60; k++)
		add_to(&m.main[1], 4 * MS + k * 300 * US, 1);
	put_total(&m, KD_REC_LOST, KD_LOST_SAMPLED_OUT, 911);
	put_total(&m, KD_REC_LOST, KD_LOST_EXTREME, 1);
	put_self(&m, 971, 16);
	put_tick(&m, 2 * S);
	return end(&m);
}

/* What a hostile writer may put in: terminal commands, no UTF-8, huge numbers, no clock. */
static int make_hostile(const char *dir)
{
	static const char *const on[] = {
		"fentry\033[2J",
		"a\tb \xff\xfe c",
		"rea\nson\r",
		"f\x9bix",
	};
	static const char *const names[] = {
		"\033]0;owned\007evil",
		"no\xff"
		"utf8\xc3",
		"quote\"back\\slash",
		"[only_brackets]",
		"wide\xe6\xbc\xa2\xe5\xad\x97wide",
		"rtl\xe2\x80\xae"
		"cba",
		"new\nline [mod\033[31mule]",
		"%s%n%d",
		"",
	};
	char longest[KD_NAME_LEN];
	struct maker m;
	uint32_t i;
	int err = begin(&m, dir, "hostile.kdefer");

	if (err)
		return err;
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	put_fact(&m, "hostname", "evil\033[31m\"host\"\xff");
	put_fact(&m, "hz", "1e9");
	put_fact(&m, "taint", "18446744073709551615");
	put_fact(&m, "config.A\"B", "\\");
	put_plan(&m, PLAN_ON, on);
	put_tick(&m, 0);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		put_series(&m, i, KD_DIM_MAIN, 0, i, names[i]);
		add_to(&m.main[i], 1ULL << (6 * i), 1000ULL << (5 * i));
	}
	put_series(&m, 14, KD_DIM_MAIN, 0, 14, longest);
	add_to(&m.main[14], UINT64_MAX, 3);
	put_series(&m, 15, KD_DIM_MAIN, 0, 15, "the_most");
	add_to(&m.main[15], 0, 1ULL << 63);
	add_worst(&m, 0, UINT32_MAX, UINT64_MAX, UINT64_MAX);
	add_worst(&m, 7777, 0, 1, 0); /* of a series that nobody declared */
	put_total(&m, KD_REC_LOST, KD_LOST_RING_FULL, UINT64_MAX);
	put_total(&m, KD_REC_COUNT, KD_CNT_OPEN, UINT64_MAX);
	put_tick(&m, 3 * US);
	return end(&m);
}

static const struct gp_series {
	uint8_t measure, flavour;
	uint32_t flags, times;
	uint64_t key, least;
	const char *name, *hooks;
} gp_series[] = {
	{ KD_M_RCU_GP_DURATION, KD_FL_RCU, 0, 120, 0, 9 * MS, "", "rcu_gp_init rcu_gp_cleanup" },
	{ KD_M_RCU_GP_DURATION, KD_FL_TASKS_TRACE, 0, 2, 0, 80 * MS, "", "rcu_tasks_wait_gp" },
	{ KD_M_RCU_GP_DURATION, KD_FL_SRCU, 0, 0, 0, 0, "", "srcu_gp_start process_srcu" },
	{ KD_M_RCU_GP_WAIT, KD_FL_RCU, 0, 30, 0xffffffff81001111, 12 * MS, "cleanup_net",
	  "synchronize_rcu rcu_barrier" },
	{ KD_M_RCU_GP_WAIT, KD_FL_RCU, 0, 7, 0xffffffffc0002222, 30 * MS,
	  "xt_table_free [x_tables]", NULL },
	{ KD_M_RCU_GP_WAIT, KD_FL_RCU, 0, 4, 0xffffffff81003333, 9 * MS, "cleanup_net", NULL },
	{ KD_M_RCU_GP_WAIT, KD_FL_RCU, 0, 1, 0, 11 * MS, "", NULL },
	{ KD_M_RCU_GP_WAIT, KD_FL_EXPEDITED, 0, 25, 0xffffffff81004444, 300 * US,
	  "dev_deactivate_many", "synchronize_rcu_expedited" },
	{ KD_M_RCU_GP_WAIT, KD_FL_EXPEDITED, KD_SERIES_OTHER, 2, 0, 500 * US, "", NULL },
};

#define GP_SERIES (sizeof(gp_series) / sizeof(gp_series[0]))

static void gp_of(struct maker *m, const struct gp_series *g)
{
	m->source = KD_SRC_RCU_GP;
	m->measure = g->measure;
	m->flavour = g->flavour;
}

/* Another source beside callbacks: grace periods, which have no key, and waits by caller. */
static int make_gp(const char *dir)
{
	static const char *const off[] = { "none", "", "this kernel has no function rcu_x", "" };
	struct maker m;
	uint32_t i, k;
	int err = begin(&m, dir, "gp.kdefer");

	if (err)
		return err;
	put_host(&m);
	put_plan(&m, PLAN_ON, plan_on);
	for (i = 0; i < GP_SERIES; i++) {
		const char *const on[] = { "fentry", gp_series[i].hooks, "", "" };

		gp_of(&m, &gp_series[i]);
		if (gp_series[i].hooks)
			put_plan(&m, PLAN_ON, on);
	}
	m.flavour = KD_FL_TASKS_RUDE;
	put_plan(&m, PLAN_OFF, off);
	put_clock(&m);
	put_tick(&m, 0);
	for (i = 0; i < GP_SERIES; i++) {
		gp_of(&m, &gp_series[i]);
		put_series(&m, m.main[i].id, KD_DIM_MAIN, gp_series[i].flags, gp_series[i].key,
			   gp_series[i].name);
		for (k = 0; k < gp_series[i].times; k++)
			add_event(&m, i, k % CPUS, gp_series[i].least + k * 100 * US, k * 10 * MS);
	}
	put_total(&m, KD_REC_LOST, KD_LOST_PRE_START, 2);
	put_total(&m, KD_REC_COUNT, KD_CNT_BEGUN, 192);
	put_total(&m, KD_REC_COUNT, KD_CNT_DONE, 191);
	put_total(&m, KD_REC_COUNT, KD_CNT_OPEN, 1);
	m.source = KD_SRC_CALL_RCU;
	m.measure = KD_M_CALL_RCU_LATENCY;
	m.flavour = KD_FL_RCU;
	put_series(&m, m.main[GP_SERIES].id, KD_DIM_MAIN, 0, 0xffffffff81005555, "file_free_rcu");
	for (k = 0; k < 40; k++)
		add_event(&m, GP_SERIES, k % CPUS, 5 * MS + k * 100 * US, k * 10 * MS);
	put_self(&m, 500, 1);
	put_tick(&m, 2 * S);
	return end(&m);
}

/* --- sources whose series have keys of other kinds --- */

#define STRINGS(text) text, sizeof(text) /* NULs in it included */
#define SIZE(size, stage) ((uint64_t)KD_STAGE_##stage << 32 | (size))
#define WHO(class, tgid) ((uint64_t)KD_FC_##class << 32 | (tgid))

static const struct keyed {
	uint8_t measure, flavour, dim;
	uint32_t flags, times;
	uint64_t least, step;
	uint64_t key[2];
	const char *name;
	size_t len;
} mem_series[] = {
	{ KD_M_MEMALLOC_LATENCY, 0, KD_DIM_MAIN, 0, 300, 9 * MS, 90 * US, { 12, SIZE(64, RCU) }, STRINGS("flows") },
	{ KD_M_MEMALLOC_LATENCY, 0, KD_DIM_MAIN, 0, 40, 90 * MS, MS, { 12, SIZE(64, TASKS_TRACE) }, STRINGS("flows") },
	{ KD_M_MEMALLOC_LATENCY, 0, KD_DIM_MAIN, 0, 25, 9 * MS, MS, { 40, SIZE(512, RCU) }, STRINGS("flows") },
	{ KD_M_MEMALLOC_LATENCY, 0, KD_DIM_MAIN, 0, 12, 8 * MS, MS, { 0, SIZE(96, RCU) }, STRINGS("bpf_global_ma") },
	{ KD_M_MEMALLOC_LATENCY, 0, KD_DIM_MAIN, KD_SERIES_OTHER, 3, 8 * MS, MS, { 0, 0 }, STRINGS("") },
	{ KD_M_MEMALLOC_REFILL, 0, KD_DIM_MAIN, 0, 50, 3 * US, 100, { 12, 64 }, STRINGS("flows") },
	{ KD_M_MEMALLOC_REFILL_FAILED, 0, KD_DIM_MAIN, 0, 7, 0, 0, { 12, 64 }, STRINGS("flows") },
	{ KD_M_MEMALLOC_REFILL_FAILED, 0, KD_DIM_MAIN, 0, 2, 0, 0, { 40, 512 }, STRINGS("flows") },
	{ KD_M_MEMALLOC_LATENCY, 0, KD_DIM_CPU, 0, 380, 9 * MS, 90 * US, { 1, 0 }, STRINGS("") },
}, cgroup_series[] = {
	{ KD_M_RSTAT_FLUSH, KD_FL_SUB_MEMORY, KD_DIM_MAIN, 0, 120, 50 * US, 3 * US, { 18446744073709551615ULL, 0 }, STRINGS("/system.slice/web.service") },
	{ KD_M_RSTAT_FLUSH, KD_FL_SUB_MEMORY, KD_DIM_MAIN, 0, 20, 400 * US, 9 * US, { 77, 0 }, STRINGS("/\033]0;owned\007evil\n\xff/x [mod]") },
	{ KD_M_RSTAT_FLUSH, KD_FL_SUB_MEMORY, KD_DIM_MAIN, 0, 9, 20 * US, US, { 77, 5 }, STRINGS("/legacy") },
	{ KD_M_RSTAT_FLUSH, KD_FL_SUB_MEMORY, KD_DIM_MAIN, 0, 4, 20 * US, US, { 5150, 0 }, STRINGS("") },
	{ KD_M_RSTAT_FLUSH, KD_FL_SUB_BASE, KD_DIM_MAIN, 0, 30, 5 * US, US, { 1, 0 }, STRINGS("/") },
	{ KD_M_RSTAT_FLUSH, KD_FL_SUB_MEMORY, KD_DIM_FLUSHER, 0, 120, 50 * US, 3 * US, { WHO(MEMORY_STAT, 812), 30 }, STRINGS("cadvisor\0worker-3\0/system.slice/cadvisor.service") },
	{ KD_M_RSTAT_FLUSH, KD_FL_SUB_MEMORY, KD_DIM_FLUSHER, 0, 20, 400 * US, 9 * US, { WHO(RECLAIM, 4000), 77 }, STRINGS("ev\033[31mil\0ev\033[31mil\0/\xe2\x80\xaenb") },
	{ KD_M_RSTAT_FLUSH, KD_FL_SUB_MEMORY, KD_DIM_FLUSHER, 0, 13, 20 * US, US, { WHO(PERIODIC, 0), 1 }, STRINGS("kworker/u8:2\0kworker/u8:2\0/") },
	{ KD_M_RSTAT_FLUSH, KD_FL_SUB_BASE, KD_DIM_FLUSHER, 0, 30, 5 * US, US, { WHO(CPU_STAT, 812), 30 }, STRINGS("cadvisor\0cadvisor\0/system.slice/cadvisor.service") },
	{ KD_M_RSTAT_HOLD, KD_FL_SUB_MEMORY, KD_DIM_MAIN, 0, 40, 9 * US, US, { 77, 0 }, STRINGS("/a") },
	{ KD_M_RSTAT_HOLD, KD_FL_SUB_MEMORY, KD_DIM_MAIN, KD_SERIES_UPPER, 25, 30 * US, US, { 77, 0 }, STRINGS("/a") },
	{ KD_M_RSTAT_HOLD, KD_FL_SUB_BASE, KD_DIM_MAIN, KD_SERIES_LOWER, 21, 3 * US, US, { 1, 0 }, STRINGS("/") },
	{ KD_M_RSTAT_HOLD, KD_FL_SUB_MEMORY, KD_DIM_FLUSHER, 0, 40, 9 * US, US, { WHO(MEMORY_STAT, 812), 30 }, STRINGS("cadvisor\0worker-3\0/system.slice/cadvisor.service") },
	{ KD_M_RSTAT_WAIT, KD_FL_SUB_MEMORY, KD_DIM_MAIN, 0, 200, 0, 2 * US, { 77, 0 }, STRINGS("/a") },
	{ KD_M_RSTAT_BLAME, KD_FL_SUB_MEMORY, KD_DIM_MAIN, 0, 30, 500 * US, 7 * US, { 77, 0 }, STRINGS("/\033]0;owned\007evil\n\xff/x [mod]") },
	{ KD_M_RSTAT_BLAME, KD_FL_SUB_MEMORY, KD_DIM_FLUSHER, 0, 28, 500 * US, 7 * US, { WHO(MEMORY_STAT, 812), 30 }, STRINGS("cadvisor\0worker-3\0/system.slice/cadvisor.service") },
	{ KD_M_RSTAT_BLAME, KD_FL_SUB_MEMORY, KD_DIM_FLUSHER, 0, 2, 400 * US, 9 * US, { WHO(RECLAIM, 4000), 77 }, STRINGS("ev\033[31mil\0ev\033[31mil\0/\xe2\x80\xaenb") },
	{ KD_M_RSTAT_CGROUPS, KD_FL_SUB_MEMORY, KD_DIM_MAIN, 0, 153, 1, 11, { 77, 0 }, STRINGS("/a") },
}, split_series[] = {
	/* 1,000 flushes over 24 CPUs; of base statistics fewer, of which some entries were not seen. */
	{ KD_M_RSTAT_FLUSH, KD_FL_SUB_MEMORY, KD_DIM_MAIN, 0, 1000, 400 * US, US, { 77, 0 }, STRINGS("/web") },
	{ KD_M_RSTAT_WORK, KD_FL_SUB_MEMORY, KD_DIM_MAIN, 0, 1000, 300 * US, 800, { 77, 0 }, STRINGS("/web") },
	{ KD_M_RSTAT_WAIT, KD_FL_SUB_MEMORY, KD_DIM_MAIN, 0, 1000, 100 * US, 200, { 77, 0 }, STRINGS("/web") },
	{ KD_M_RSTAT_HOLD, KD_FL_SUB_MEMORY, KD_DIM_MAIN, 0, 24000, 5 * US, 0, { 77, 0 }, STRINGS("/web") },
	{ KD_M_RSTAT_BLAME, KD_FL_SUB_MEMORY, KD_DIM_MAIN, 0, 500, 90 * US, 200, { 77, 0 }, STRINGS("/web") },
	{ KD_M_RSTAT_HELD, KD_FL_SUB_MEMORY, KD_DIM_MAIN, 0, 1000, 120 * US, 0, { 77, 0 }, STRINGS("/web") },
	{ KD_M_RSTAT_IRQS, KD_FL_SUB_MEMORY, KD_DIM_MAIN, 0, 1000, 0, 100, { 77, 0 }, STRINGS("/web") },
	{ KD_M_RSTAT_OFF_CPU, KD_FL_SUB_MEMORY, KD_DIM_MAIN, 0, 1000, 0, 300, { 77, 0 }, STRINGS("/web") },
	{ KD_M_RSTAT_HOLD_BY_8, KD_FL_SUB_MEMORY, KD_DIM_MAIN, 0, 3000, 40 * US, 0, { 77, 0 }, STRINGS("/web") },
	{ KD_M_RSTAT_FLUSH_BY_8, KD_FL_SUB_MEMORY, KD_DIM_MAIN, 0, 1000, 360 * US, 900, { 77, 0 }, STRINGS("/web") },
	{ KD_M_RSTAT_FLUSH, KD_FL_SUB_MEMORY, KD_DIM_FLUSHER, 0, 1000, 400 * US, US, { WHO(MEMORY_STAT, 812), 30 }, STRINGS("cadvisor\0worker-3\0/system.slice/cadvisor.service") },
	{ KD_M_RSTAT_HOLD, KD_FL_SUB_MEMORY, KD_DIM_FLUSHER, 0, 24000, 5 * US, 0, { WHO(MEMORY_STAT, 812), 30 }, STRINGS("cadvisor\0worker-3\0/system.slice/cadvisor.service") },
	{ KD_M_RSTAT_BLAME, KD_FL_SUB_MEMORY, KD_DIM_FLUSHER, 0, 500, 90 * US, 200, { WHO(MEMORY_STAT, 812), 30 }, STRINGS("cadvisor\0worker-3\0/system.slice/cadvisor.service") },
	{ KD_M_RSTAT_FLUSH, KD_FL_SUB_BASE, KD_DIM_MAIN, KD_SERIES_LOWER, 40, 20 * US, US, { 1, 0 }, STRINGS("/") },
	{ KD_M_RSTAT_WORK, KD_FL_SUB_BASE, KD_DIM_MAIN, KD_SERIES_LOWER, 40, 19 * US, US, { 1, 0 }, STRINGS("/") },
	{ KD_M_RSTAT_HELD, KD_FL_SUB_BASE, KD_DIM_MAIN, 0, 40, 19 * US, US, { 1, 0 }, STRINGS("/") },
	{ KD_M_RSTAT_IRQS, KD_FL_SUB_BASE, KD_DIM_MAIN, 0, 40, 0, 0, { 1, 0 }, STRINGS("/") },
	{ KD_M_RSTAT_OFF_CPU, KD_FL_SUB_BASE, KD_DIM_MAIN, 0, 40, 0, 0, { 1, 0 }, STRINGS("/") },
};

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

static void put_keyed(struct maker *m, uint32_t id, const struct keyed *k)
{
	uint64_t at;
	uint32_t i;

	m->measure = k->measure;
	m->flavour = k->flavour;
	put_series_of(m, m->main[id].id, k->dim, k->flags, k->key, k->name, k->len);
	for (i = 0; i < k->times; i++) {
		at = k->least + i * k->step;
		add_to(&m->main[id], at, 1);
		if (k->dim == KD_DIM_MAIN && at)
			add_worst(m, m->main[id].id, i % CPUS, at, m->now + i * MS);
	}
}

static int make_keyed(const char *dir, const char *name, uint8_t source, const struct keyed *k,
		      size_t n)
{
	static const char *const on[] = { "fentry", "some_function other_function", "", "" };
	struct maker m;
	uint32_t i;
	int err = begin(&m, dir, name);

	if (err)
		return err;
	m.source = source;
	put_host(&m);
	for (i = 0; i < n; i++) {
		m.measure = k[i].measure;
		m.flavour = k[i].flavour;
		put_plan(&m, PLAN_ON, on);
	}
	put_clock(&m);
	put_tick(&m, 0);
	for (i = 0; i < n; i++)
		put_keyed(&m, i, &k[i]);
	put_total(&m, KD_REC_COUNT, KD_CNT_OPEN, 3);
	put_self(&m, 1000, 1);
	put_tick(&m, 2 * S);
	return end(&m);
}

/* All, then an eighth, for each of which eight are counted, then all again: --budget. */
static int make_thin(const char *dir)
{
	static const char *const on[] = { "fentry", "rcu_segcblist_enqueue rcu_cblist_dequeue", "",
					  "" };
	static const char *const less[] = {
		"sampling",
		"1/8 of the callbacks followed from here on: all would take our programs "
		"4.1% of CPU 2, the budget is 1%"
	};
	static const char *const all[] = { "sampling",
					   "all callbacks followed again: this takes our programs "
					   "0.11% of CPU 1, the budget is 1%" };
	struct maker m;
	int err = begin(&m, dir, "thin.kdefer");
	uint64_t interval, k;

	if (err)
		return err;
	put_host(&m);
	put_fact(&m, "sampling_by_budget", "1%");
	put_plan(&m, PLAN_ON, on);
	put_clock(&m);
	put_self(&m, 0, 1);
	put_tick(&m, 0);
	put_series(&m, 1, KD_DIM_MAIN, 0, 0xffffffff81000000ULL, "file_free_rcu");
	for (interval = 0; interval < 3; interval++) {
		for (k = 0; k < 150; k++)
			add_to(&m.main[1], 4 * MS + k * 100 * US, interval == 1 ? 8 : 1);
		if (interval == 1)
			put_text(&m, KD_REC_EVENT, REAL_NS + S, m.now, less, 2);
		if (interval == 2)
			put_text(&m, KD_REC_EVENT, REAL_NS + 2 * S, m.now, all, 2);
		put_total(&m, KD_REC_LOST, KD_LOST_SAMPLED_OUT, interval ? 1050 : 0);
		put_self(&m, 300 * (interval + 1), interval == 1 ? 8 : 1);
		put_tick(&m, S);
	}
	return end(&m);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: make_capture DIR\n");
		return 2;
	}
	return make_busy(argv[1]) || make_empty(argv[1]) || make_off(argv[1]) ||
	       make_sampled(argv[1]) || make_thin(argv[1]) || make_hostile(argv[1]) ||
	       make_gp(argv[1]) || make_runs(argv[1]) || make_lists(argv[1]) ||
	       make_once(argv[1]) || make_hostile_lists(argv[1]) ||
	       make_keyed(argv[1], "mem.kdefer", KD_SRC_MEMALLOC, mem_series, ROWS(mem_series)) ||
	       make_keyed(argv[1], "cgroup.kdefer", KD_SRC_RSTAT, cgroup_series,
			  ROWS(cgroup_series)) ||
	       make_keyed(argv[1], "split.kdefer", KD_SRC_RSTAT, split_series,
			  ROWS(split_series)) ||
	       make_causes(argv[1]) || make_story(argv[1]) || make_hostile_waits(argv[1]) ||
	       make_all_compared(argv[1]);
}
