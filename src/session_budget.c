// SPDX-License-Identifier: GPL-2.0-only
/*
 * session_budget.c - of a session: looks twice a second what our programs take of each CPU, and has
 * sources follow fewer events where that is more than --budget allows (src/budget.c says how many).
 *
 * What a run costs was measured when recording began (src/session_cost.c); here runs are counted. Each
 * change, and a budget that cannot be kept, is an event of the stream.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalog.h"
#include "clock.h"
#include "events.h"
#include "format.h"
#include "host.h"
#include "log.h"
#include "model.h"
#include "session_state.h"

#define LOOK_NS 500000000ULL

struct cpu_looked {
	struct cpu_runs before, now;
};

int budget_open(struct session *s)
{
	struct budget_state *b = &s->budget;
	char text[32];
	size_t cpus = (size_t)s->kernel.possible_cpus;

	if (s->conf.budget <= 0 || !plan_any_on(&s->plan))
		return 0;
	b->b.share = s->conf.budget;
	b->acts = !s->conf.budget_warns && !s->conf.no_ipi && s->conf.sample == 1;
	b->looked = calloc(SOURCES_MAX * cpus, sizeof(*b->looked));
	b->cpu = calloc(cpus, sizeof(*b->cpu));
	if (!b->looked || !b->cpu)
		return log_err(-ENOMEM, "out of memory");
	if (!b->acts || !s->out)
		return 0;
	snprintf(text, sizeof(text), "%.4g%%", 100 * s->conf.budget);
	return host_fact(s->out, SAMPLING_BY_BUDGET, text);
}

void budget_close(struct session *s)
{
	free(s->budget.looked);
	free(s->budget.cpu);
	s->budget.looked = NULL;
	s->budget.cpu = NULL;
}

/* --- a look --- */

static int read_source(struct session *s, size_t i)
{
	int cpus = s->kernel.possible_cpus;
	struct cpu_looked *l = s->budget.looked + i * (size_t)cpus;
	struct cpu_runs *now = calloc((size_t)cpus, sizeof(*now));
	int err = now ? sources[i]->runs(s->state[i], now, cpus) : -ENOMEM;

	for (int cpu = 0; cpu < cpus && !err; cpu++) {
		l[cpu].before = l[cpu].now;
		l[cpu].now = now[cpu];
	}
	free(now);
	return err;
}

static bool can_thin(const struct session *s, size_t i)
{
	return s->budget.acts && sources[i]->thin;
}

/* What a source ran on each CPU since the look before, as shares of `ns`. */
static void add_source(struct session *s, size_t i, double ns)
{
	double run = s->cost.run_ns[sources[i]->id] / ns;
	double left_out = s->cost.left_out_ns[sources[i]->id] / ns;
	int cpus = s->kernel.possible_cpus;
	const struct cpu_looked *l = s->budget.looked + i * (size_t)cpus;

	for (int cpu = 0; cpu < cpus; cpu++) {
		double n = (double)(l[cpu].now.n - l[cpu].before.n);

		if (!can_thin(s, i)) {
			s->budget.cpu[cpu].fixed += n * run;
			continue;
		}
		s->budget.cpu[cpu].followed += n * run;
		s->budget.cpu[cpu].left_out += n * (left_out < run ? left_out : run);
	}
}

/* 1: the first look, with which nothing can be compared. */
static int look(struct session *s, uint64_t now)
{
	struct budget_state *b = &s->budget;
	double ns = (double)(now - b->last_ns);
	bool first = !b->last_ns;

	memset(b->cpu, 0, (size_t)s->kernel.possible_cpus * sizeof(*b->cpu));
	for (size_t i = 0; sources[i]; i++) {
		int err = s->state[i] && sources[i]->runs ? read_source(s, i) : 0;

		if (err)
			return log_err(err, "--budget: cannot read what our programs ran: %s",
				       strerror(-err));
		if (s->state[i] && sources[i]->runs && !first)
			add_source(s, i, ns);
	}
	b->last_ns = now;
	return first;
}

/* --- what follows from it --- */

static int thin_all(struct session *s)
{
	s->budget.again = false;
	for (size_t i = 0; sources[i]; i++) {
		int err = s->state[i] && can_thin(s, i)
				  ? sources[i]->thin(s->state[i], s->budget.b.shift)
				  : 0;

		if (err && err != -EAGAIN)
			return log_err(err, "%s: cannot change its sampling: %s",
				       source_name(sources[i]->id), strerror(-err));
		s->budget.again |= err == -EAGAIN;
	}
	return 0;
}

static void note_sample(struct session *s, unsigned int shift)
{
	if (1ULL << shift > s->self.sample)
		s->self.sample = 1ULL << shift;
}

/* The share by which what ends now was chosen: that of before, until all of these have ended. */
static unsigned int shift_of_ends(struct session *s)
{
	struct budget_state *b = &s->budget;
	bool thin = false;

	for (size_t i = 0; sources[i]; i++)
		thin |= s->state[i] && can_thin(s, i) && sources[i]->is_thin(s->state[i]);
	if (!thin || b->b.shift > b->ends_shift)
		b->ends_shift = b->b.shift;
	return b->ends_shift;
}

/* What was left out still ends: the interval that begins is not whole either. */
void budget_ticked(struct session *s)
{
	if (!s->budget.acts || !s->budget.looked)
		return;
	s->self.sample = 1;
	if (s->recording)
		note_sample(s, shift_of_ends(s));
}

static int say_change(struct session *s, double share, size_t cpu)
{
	unsigned int shift = s->budget.b.shift;
	char text[160];

	if (shift)
		snprintf(text, sizeof(text),
			 "1/%u of the callbacks followed from here on: all would take our programs "
			 "%.2g%% of CPU %zu, the budget is %.2g%%",
			 1u << shift, 100 * share, cpu, 100 * s->budget.b.share);
	else
		snprintf(text, sizeof(text),
			 "all callbacks followed again: this takes our programs %.2g%% of CPU %zu, "
			 "the budget is %.2g%%",
			 100 * share, cpu, 100 * s->budget.b.share);
	return events_say(s->out, "sampling", text);
}

static const char *why_not_kept(const struct session *s, const struct budget_cpu *c)
{
	if (s->conf.budget_warns)
		return "sampling stays as it is, for what is compared later (--sample 1/N)";
	if (s->conf.sample > 1)
		return "sampling stays as --sample says";
	if (s->conf.no_ipi)
		return "with --no-ipi sampling stays as it is";
	if (c->fixed > s->budget.b.share)
		return "what takes it has no sampling that changes; fewer sources (-s) take less";
	return "sampling has done what it can; what is left is that our programs are called";
}

/* Once for each time that it is passed; a person is told of the first. */
static int say_over(struct session *s)
{
	struct budget_state *b = &s->budget;
	size_t cpu;
	double share = budget_share(b->cpu, (size_t)s->kernel.possible_cpus, b->b.shift, &cpu);
	bool over = share > b->b.share, was = b->over;
	char text[224];

	b->over = over;
	if (!over || was)
		return 0;
	snprintf(text, sizeof(text),
		 "our programs take %.2g%% of CPU %zu, the budget is %.2g%%: %s", 100 * share, cpu,
		 100 * b->b.share, why_not_kept(s, &b->cpu[cpu]));
	if (!b->warned)
		log_warn("%s", text);
	b->warned = true;
	return events_say(s->out, "budget", text);
}

static int decide(struct session *s)
{
	struct budget_state *b = &s->budget;
	size_t n = (size_t)s->kernel.possible_cpus, cpu;
	unsigned int was = b->b.shift;
	int err = 0;

	if (b->acts && budget_next(&b->b, b->cpu, n) != was) {
		double all = budget_share(b->cpu, n, 0, &cpu);

		err = say_change(s, all, cpu);
		b->again = true;
	}
	if (!err && b->again)
		err = thin_all(s);
	note_sample(s, b->acts ? shift_of_ends(s) : 0);
	return err ? err : say_over(s);
}

int session_budget(struct session *s, uint64_t *next_ns)
{
	struct budget_state *b = &s->budget;
	uint64_t now = clock_mono_ns();
	int err;

	*next_ns = UINT64_MAX;
	if (!b->looked || !s->recording)
		return 0;
	if (now < b->look_ns) {
		*next_ns = b->look_ns;
		return 0;
	}
	*next_ns = b->look_ns = now + LOOK_NS;
	err = look(s, now);
	return err < 0 ? err : err ? 0 : decide(s);
}
