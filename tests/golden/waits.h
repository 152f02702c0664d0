/* SPDX-License-Identifier: GPL-2.0-only */
/* waits.h - for make_capture.c: captures of waits that were too long. */
#ifndef KDEFER_GOLDEN_WAITS_H
#define KDEFER_GOLDEN_WAITS_H

#include "made_waits.h"
#include "maker.h"

static struct made_wait made;

/* The wait that stands in `made`, as the n-th of its source, so many ms after the first. */
static void put_made(struct maker *m, uint32_t n, uint64_t later_ms)
{
	for (size_t i = 0; i < made.n; i++) {
		made.witness[i].rec.id = n;
		made.witness[i].mono_ns += later_ms * MS;
		put(m, &made.witness[i].rec);
	}
	made.rec.rec.id = n;
	made.rec.begin_ns += later_ms * MS;
	made.rec.end_ns += later_ms * MS;
	put(m, &made.rec.rec);
}

static void put_made_plan(struct maker *m)
{
	static const char *const on[] = { "fentry",
					  "rcu_gp_init rcu_gp_cleanup rcu_sched_clock_irq", "",
					  "" };
	static const char *const off[] = { "none", "",
					   "function rcu_tasks_rude_wait_gp is not there",
					   "a kernel of 7.0 or newer" };
	static const char *const in_part[] = {
		"fentry", "process_srcu", "how long they took; who holds them up does not show", ""
	};
	static const struct {
		uint8_t source, measure, flavour;
	} rows[] = {
		{ KD_SRC_RCU_GP, KD_M_RCU_GP_HOLDUP, KD_FL_RCU },
		{ KD_SRC_RCU_GP, KD_M_RCU_GP_HOLDUP, KD_FL_TASKS },
		{ KD_SRC_RCU_GP, KD_M_RCU_GP_HOLDUP, KD_FL_TASKS_TRACE },
		{ KD_SRC_CALL_RCU, KD_M_CALL_RCU_HOLDUP, KD_FL_RCU },
		{ KD_SRC_RSTAT, KD_M_RSTAT_HOLDUP, KD_FL_SUB_MEMORY },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		m->source = rows[i].source;
		m->measure = rows[i].measure;
		m->flavour = rows[i].flavour;
		put_plan(m, PLAN_ON, on);
	}
	m->source = KD_SRC_RCU_GP;
	m->measure = KD_M_RCU_GP_HOLDUP;
	m->flavour = KD_FL_TASKS_RUDE;
	put_plan(m, PLAN_OFF, off);
	m->flavour = KD_FL_EXPEDITED;
	put_plan(m, PLAN_OFF, off);
	m->flavour = KD_FL_SRCU;
	put_plan(m, PLAN_ON, in_part);
}

static void put_made_host(struct maker *m, uint64_t hz, const char *preempt_rcu)
{
	static const char *const cgroup[] = { "/system.slice/load.service" };

	put_host(m);
	put_number(m, "hz", hz);
	put_fact(m, "preempt", "none");
	put_fact(m, "preempt_rcu", preempt_rcu);
	put_number(m, "to_sched_qs_jiffies", hz / 10);
	put_fact(m, "kdefer", "0.1.0");
	put_number(m, "over.rcu_gp.rcu", 50 * MS);
	put_number(m, "over.rstat.hold", 5 * MS);
	put_made_plan(m);
	put_text(m, KD_REC_NAME, KD_NAME_CGROUP, 4242, cgroup, 1);
	put_clock(m);
	put_tick(m, 0);
}

/* One report of each cause. */
static int make_causes(const char *dir)
{
	struct maker m;
	int err = begin(&m, dir, "causes.kdefer");

	if (err)
		return err;
	put_made_host(&m, 250, "yes");
	for (uint32_t i = 0; i < MADE_WAITS; i++) {
		made_waits[i].make(&made);
		put_made(&m, i + 1, i * 12000);
	}
	/* A caller that waited for the grace period of the long reader, number 2. */
	made_caller(&made);
	put_made(&m, MADE_WAITS + 1, 11998);
	put_total(&m, KD_REC_LOST, KD_LOST_RING_FULL, 3);
	put_self(&m, 1000, 1);
	put_tick(&m, 300 * S);
	return end(&m);
}

/* Grace periods of 150 ms under a benchmark that makes short system calls: story 1. */
static int make_story(const char *dir)
{
	struct maker m;
	int err = begin(&m, dir, "story.kdefer");

	if (err)
		return err;
	put_fact(&m, "command_line", "kdefer record -o story.kdefer --over 50ms -d 2s");
	put_made_host(&m, 1000, "no");
	for (uint32_t i = 0; i < 3; i++) {
		made_story(&made);
		put_made(&m, i + 1, i * 160);
		put_self(&m, 1000, 1);
		put_tick(&m, S);
	}
	return end(&m);
}

/* Strings that would like to be more than strings; facts that contradict each other. */
static int make_hostile_waits(const char *dir)
{
	static const char evil[] = "ev\033[31m\n\xff";
	struct maker m;
	int err = begin(&m, dir, "hostile-waits.kdefer");

	if (err)
		return err;
	put_made_host(&m, 250, "yes");
	made_preempted_reader(&made);
	for (size_t i = 0; i < made.n; i++) {
		snprintf(made.witness[i].comm, sizeof(made.witness[i].comm), "%s", evil);
		snprintf(made.witness[i].stack, sizeof(made.witness[i].stack),
			 "f\033]0;x\007 %s  0x0 z", evil);
	}
	snprintf(made.rec.name, sizeof(made.rec.name), "%s", evil);
	put_made(&m, 1, 0);
	made_kernel_loop(&made);
	made.rec.known = ~0ULL;
	for (size_t i = 0; i < KD_FACTS_MAX; i++)
		made.rec.fact[i] = UINT64_MAX - 1 - i;
	for (size_t i = 0; i < KD_PH_COUNT; i++)
		made.rec.phase[i] = UINT64_MAX - 1 - i;
	put_made(&m, 2, 0);
	made_long_reader(&made);
	made.rec.end_ns = made.rec.begin_ns; /* a wait of nothing */
	put_made(&m, 3, 0);
	put_self(&m, 1000, 1);
	put_tick(&m, S);
	return end(&m);
}

#endif
