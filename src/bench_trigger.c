// SPDX-License-Identifier: GPL-2.0-only
/*
 * bench_trigger.c - `bench trigger`: events per second with a program attached in every way that this
 * kernel has, on one CPU and on many, and what an event costs above the same loop with nothing attached.
 *
 * That loop is measured before everything else and after it, so that a clock which changes meanwhile
 * shows in its deviation.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../bpf/bench_trigger.h"
#include "bench.h"
#include "bench_crew.h"
#include "bench_loads.h"
#include "clock.h"
#include "log.h"
#include "trigger.h"
#include "trigger_sum.h"

#define MS 1000000ULL
#define STEPS 10      /* parts of a window, whose rates differ */
#define COUNTS_MAX 16 /* 1, 2, 4 ... threads */

struct trigger_options {
	uint64_t threads; /* 0: the CPUs */
	uint64_t warm_up_ns, duration_ns;
	uint32_t kinds; /* bits of enum trigger_kind */
};

enum counts { MADE, CPU_NS };

struct measuring {
	struct bench_run *run;
	const struct trigger_options *o;
	struct bench_cpus cpus;
	unsigned int count[COUNTS_MAX], ncounts; /* of threads */
	struct trigger_sum sum[TRIGGER_KINDS + TRIGGER_MAKERS][COUNTS_MAX];
	char reason[TRIGGER_KINDS][TRIGGER_REASON]; /* "": it is there */
	enum trigger_maker maker[TRIGGER_KINDS];
	/* the window that is on: */
	struct trigger *t;
	struct bench_crew crew;
	unsigned int threads;
	struct trigger_sum *into;
	uint64_t last_made, last_cpu, last_ns;
};

/* --- one window --- */

static int work(void *ctx, struct bench_seat *seat)
{
	struct measuring *m = ctx;
	uint64_t *made = &seat->slot->count[MADE], *cpu = &seat->slot->count[CPU_NS];

	bench_seat_wait(seat);
	while (!bench_seat_stopped(seat)) {
		int64_t n = trigger_fire(m->t);

		if (n < 0)
			return bench_seat_err(seat, (int)n, "cannot make events on CPU %d: %s",
					      seat->cpu, strerror((int)-n));
		__atomic_store_n(made, *made + (uint64_t)n, __ATOMIC_RELAXED);
		__atomic_store_n(cpu, clock_ns(CLOCK_THREAD_CPUTIME_ID), __ATOMIC_RELAXED);
	}
	return 0;
}

static int step(void *ctx, enum bench_when when, uint64_t now)
{
	struct measuring *m = ctx;
	uint64_t made = bench_crew_sum(&m->crew, MADE), cpu = bench_crew_sum(&m->crew, CPU_NS);

	if (when != BENCH_BEGIN)
		trigger_sum_step(m->into, made - m->last_made, now - m->last_ns, cpu - m->last_cpu);
	m->last_made = made;
	m->last_cpu = cpu;
	m->last_ns = now;
	return 0;
}

static int measure_threads(struct measuring *m, const char *what)
{
	struct bench_window w = {
		.what = what,
		.warm_up_ns = m->o->warm_up_ns,
		.duration_ns = m->o->duration_ns,
		.step_ns = m->o->duration_ns / STEPS,
		.step = step,
		.ctx = m,
	};
	struct trigger_missed before, after;
	uint64_t hits;
	int err = bench_crew_start(&m->crew, m->threads, m->cpus.cpu, work, m), ended;

	if (err)
		return err;
	hits = trigger_hits(m->t); /* now that all have their names, which is an event too */
	trigger_kernel_missed(m->t, &before);
	bench_crew_go(&m->crew);
	err = bench_window(m->run, &m->crew, &w);
	ended = bench_crew_finish(&m->crew);
	trigger_kernel_missed(m->t, &after);
	trigger_sum_events(m->into, bench_crew_sum(&m->crew, MADE), trigger_hits(m->t) - hits,
			   after.recursion - before.recursion, after.no_room - before.no_room);
	bench_crew_stop(&m->crew);
	return err ? err : ended;
}

static int measure_counts(struct measuring *m, struct trigger_sum *into, const char *what)
{
	int err = 0;

	for (unsigned int i = 0; i < m->ncounts && !err; i++) {
		m->threads = m->count[i];
		m->into = &into[i];
		err = measure_threads(m, what);
	}
	return err;
}

/* --- all of them --- */

static bool wanted(const struct measuring *m, unsigned int k)
{
	return m->o->kinds >> k & 1;
}

static bool uses(const struct measuring *m, enum trigger_maker maker)
{
	for (unsigned int k = 0; k < TRIGGER_KINDS; k++)
		if (wanted(m, k) && !*m->reason[k] && m->maker[k] == maker)
			return true;
	return false;
}

static int measure_kind(struct measuring *m, enum trigger_kind k)
{
	int err = trigger_open(&m->t, k, m->maker[k], m->reason[k]);

	if (err == -ENODEV)
		return 0; /* it has its reason */
	if (!err)
		err = measure_counts(m, m->sum[k], trigger_name(k));
	trigger_close(m->t);
	m->t = NULL;
	return err;
}

static int measure_empty(struct measuring *m)
{
	char reason[TRIGGER_REASON] = "";
	int err = 0;

	for (unsigned int maker = 0; maker < TRIGGER_MAKERS && !err; maker++) {
		if (!uses(m, maker))
			continue;
		err = trigger_open(&m->t, TRIGGER_KINDS, maker, reason);
		if (!err)
			err = measure_counts(m, m->sum[TRIGGER_KINDS + maker], "nothing attached");
		else if (err == -ENODEV)
			log_err(err, "bench trigger: cannot make events: %s", reason);
		trigger_close(m->t);
		m->t = NULL;
	}
	return err;
}

static int measure_all(struct measuring *m)
{
	int err;

	for (unsigned int k = 0; k < TRIGGER_KINDS; k++)
		m->maker[k] = trigger_maker_of(k);
	err = measure_empty(m);
	for (unsigned int k = 0; k < TRIGGER_KINDS && !err; k++)
		if (wanted(m, k))
			err = measure_kind(m, k);
	return err ? err : measure_empty(m);
}

/* --- what is handed back --- */

static void put_events(struct bench_row *row, const struct trigger_sum *s)
{
	bench_value(row, "made", (double)s->made, "count", KD_BETTER_NONE);
	bench_value(row, "counted", (double)s->hits, "count", KD_BETTER_NONE);
	bench_value(row, "missed", (double)trigger_sum_missed(s), "count", KD_BETTER_LOWER);
	bench_value(row, "missed_recursion", (double)s->recursion, "count", KD_BETTER_LOWER);
	bench_value(row, "missed_no_room", (double)s->no_room, "count", KD_BETTER_LOWER);
	bench_value(row, "foreign", (double)trigger_sum_foreign(s), "count", KD_BETTER_NONE);
}

static struct bench_row *put_row(const struct measuring *m, const char *name,
				 enum trigger_maker maker, unsigned int i)
{
	struct bench_row *row = bench_row(m->run->result, name);

	bench_key_text(row, "made_by", trigger_maker_name(maker));
	bench_key(row, "threads", m->count[i]);
	bench_param_text(row, "target", trigger_target(maker));
	return row;
}

static void put_cpu(struct bench_row *row, const struct trigger_sum *s, enum kd_better better)
{
	struct trigger_rate cpu;

	if (trigger_sum_cpu(s, &cpu))
		bench_value_sd(row, "cpu", cpu.mean, cpu.sd, "ns", better);
}

static void put_kind(const struct measuring *m, unsigned int k, unsigned int i)
{
	const struct trigger_sum *s = &m->sum[k][i],
				 *empty = &m->sum[TRIGGER_KINDS + m->maker[k]][i];
	struct trigger_rate rate, cost;
	struct bench_row *row;

	if (!trigger_sum_rate(s, &rate))
		return; /* a signal came first */
	row = put_row(m, trigger_name(k), m->maker[k], i);
	bench_value_sd(row, "rate", rate.mean, rate.sd, "/s", KD_BETTER_HIGHER);
	put_cpu(row, s, KD_BETTER_LOWER);
	if (trigger_sum_cost(s, empty, &cost))
		bench_value_sd(row, "cost", cost.mean, cost.sd, "ns", KD_BETTER_LOWER);
	put_events(row, s);
}

static void put_empty(const struct measuring *m, unsigned int maker, unsigned int i)
{
	const struct trigger_sum *s = &m->sum[TRIGGER_KINDS + maker][i];
	struct trigger_rate rate;
	struct bench_row *row;

	if (!trigger_sum_rate(s, &rate))
		return;
	row = put_row(m, "nothing", maker, i);
	bench_value_sd(row, "rate", rate.mean, rate.sd, "/s", KD_BETTER_NONE);
	put_cpu(row, s, KD_BETTER_NONE);
	bench_value(row, "made", (double)s->made, "count", KD_BETTER_NONE);
}

static void put_absent(const struct measuring *m, unsigned int k)
{
	struct bench_row *row = bench_row(m->run->result, trigger_name(k));

	bench_key_text(row, "made_by", trigger_maker_name(m->maker[k]));
	bench_param_text(row, "target", trigger_target(m->maker[k]));
	bench_absent(row, "rate", "/s", KD_BETTER_HIGHER, "%s", m->reason[k]);
	bench_absent(row, "cost", "ns", KD_BETTER_LOWER, "%s", m->reason[k]);
}

static void put_result(const struct measuring *m)
{
	for (unsigned int i = 0; i < m->ncounts; i++) {
		for (unsigned int maker = 0; maker < TRIGGER_MAKERS; maker++)
			if (uses(m, maker))
				put_empty(m, maker, i);
		for (unsigned int k = 0; k < TRIGGER_KINDS; k++)
			if (wanted(m, k) && !*m->reason[k])
				put_kind(m, k, i);
	}
	for (unsigned int k = 0; k < TRIGGER_KINDS; k++)
		if (wanted(m, k) && *m->reason[k])
			put_absent(m, k);
	if (uses(m, TRIGGER_RENAMES))
		bench_note(
			m->run->result,
			"Events made by \"rename\" take a system call each, since this kernel lacks "
			"the tracepoint of its own tests: their cost is theirs all the same, above "
			"the same calls with nothing attached, but less exact.");
}

/* --- the load --- */

static int prepare(struct measuring *m)
{
	int err = bench_choose_cpus(&(struct bench_cpus){ 0 }, m->o->threads, &m->cpus);

	if (err)
		return err;
	for (unsigned int i = 0; i < m->cpus.n; i++)
		if (m->cpus.cpu[i] >= TRIGGER_SLOTS)
			return log_err(-ENODEV,
				       "bench trigger: CPU %d: only those below %d can be used",
				       m->cpus.cpu[i], TRIGGER_SLOTS);
	m->ncounts = trigger_counts(m->cpus.n, m->count, COUNTS_MAX);
	return 0;
}

static void release(struct measuring *m)
{
	free(m->cpus.cpu);
	free(m);
}

static int run_trigger(struct bench_run *run, const void *options)
{
	struct measuring *m = calloc(1, sizeof(*m));
	int err;

	if (!m)
		return log_err(-ENOMEM, "out of memory");
	m->run = run;
	m->o = options;
	err = prepare(m);
	if (!err) {
		err = measure_all(m);
		put_result(m);
	}
	release(m);
	return err;
}

static void set_defaults(void *options)
{
	struct trigger_options *o = options;

	o->duration_ns = 1000 * MS;
	o->warm_up_ns = 200 * MS;
	o->kinds = (1u << TRIGGER_KINDS) - 1;
}

static const char *kind_names(void)
{
	static char text[256];

	snprintf(text, sizeof(text), "(%s)", trigger_names());
	return text;
}

static int parse_kinds(void *into, const char *value)
{
	return trigger_parse(value, into);
}

#define FIELD(member) .offset = offsetof(struct trigger_options, member)

static const struct opt options[] = {
	{ .name = "attach",
	  .type = OPT_CALL,
	  .value = "LIST",
	  .help = "ways of attaching, all by default",
	  .help_list = kind_names,
	  FIELD(kinds),
	  .call = parse_kinds },
	{ .name = "threads",
	  .letter = 'p',
	  .type = OPT_U64,
	  .value = "N",
	  .help = "on 1, 2, 4 ... N CPUs at a time, all by default",
	  FIELD(threads),
	  .min = 1,
	  .max = TRIGGER_SLOTS },
	{ .name = "duration",
	  .letter = 'd',
	  .type = OPT_TIME,
	  .value = "TIME",
	  .help = "of each measurement (default 1s)",
	  FIELD(duration_ns),
	  .min = 100 * MS,
	  .max = 600000 * MS },
	{ .name = "warm-up",
	  .type = OPT_TIME,
	  .value = "TIME",
	  .help = "before each measurement (default 200ms)",
	  FIELD(warm_up_ns),
	  .max = 600000 * MS },
	{ 0 },
};

static const struct bench_column columns[] = {
	{ .title = "ATTACHED" },
	{ .title = "MADE BY", .of = "made_by", .rank = 2 },
	{ .title = "THREADS", .of = "threads" },
	{ .title = "M/S", .of = "rate", .scale = 1e6, .decimals = 3, .sd = true },
	{ .title = "NS/EVENT", .of = "cost", .decimals = 1, .sd = true },
	{ .title = "MISSED", .of = "missed", .rank = 1 },
	{ 0 },
};

const struct bench_load bench_trigger = {
	.name = "trigger",
	.summary = "What an event costs that a program is attached to, by the way of attaching.",
	.usage = "[--attach LIST] [--threads N] [--duration TIME] [--warm-up TIME]",
	.does = "Attaches a program that only counts to " TRIGGER_FUNCTION
		", a helper of BPF programs, or to a tracepoint of the kernel's own tests (where there is "
		"none, to " TRIGGER_RENAME_TP
		", passed when a thread is renamed), in one way after another, and makes events as fast "
		"as it can: the CPUs used are busy in the kernel, a millisecond or so at a time. Other "
		"BPF programs on this machine that call the helper are slowed down meanwhile.",
	.options = options,
	.size = sizeof(struct trigger_options),
	.defaults = set_defaults,
	.columns = columns,
	.run = run_trigger,
};
