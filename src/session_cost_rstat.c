// SPDX-License-Identifier: GPL-2.0-only
/*
 * session_cost_rstat.c - of a session: what our programs took between the two ends of a flush and of a
 * hold, which is in the time measured.
 *
 * They count that themselves, by the clock that they look at anyway; what they cannot see is as long as
 * the kernel says that a run takes, less what it saw. See struct rs_own in bpf/rstat.h.
 */
#include <math.h>
#include <string.h>

#include "session_state.h"

#define EDGES_ENOUGH 500 /* of programs at the lock: a mean to within some per cent */

/* By how their names begin; got: sees the lock got, and its looks at the clock are in got_ns. */
static const char *const got[] = { "rs_hold_in", "rs_body_in", NULL };
static const char *const visit[] = { "rs_visit", NULL };
static const char *const tick[] = { "rs_tick", NULL };
static const char *const split[] = { "rs_irq_on",   "rs_irq_off", "rs_softirq",
				     "rs_timer",    "rs_resched", "rs_call_",
				     "rs_irq_work", "rs_switch",  NULL };

static bool begins_like(const char *name, const char *const *with)
{
	for (; *with; with++)
		if (!strncmp(name, *with, strlen(*with)))
			return true;
	return false;
}

static struct cost_runs runs_of(const struct session *s, const char *const *programs)
{
	struct cost_runs sum = { 0 };

	for (size_t i = 0; i < s->nhooks; i++) {
		struct cost_runs r;

		if (s->owner[i] != KD_SRC_RSTAT || !begins_like(s->hook[i].program, programs))
			continue;
		r = cost_hook_since(s, i);
		sum.n += r.n;
		sum.ns += r.ns;
	}
	return sum;
}

uint64_t cost_rstat_runs(const struct session *s)
{
	return runs_of(s, got).n;
}

bool cost_rstat_is_enough(const struct session *s)
{
	return cost_rstat_runs(s) >= EDGES_ENOUGH;
}

static double mean(const struct session *s, const char *const *programs)
{
	struct cost_runs r = runs_of(s, programs);

	return r.n ? (double)r.ns / (double)r.n : NAN;
}

static int read_own(struct session *s, struct rs_own *own)
{
	memset(own, 0, sizeof(*own));
	for (size_t i = 0; sources[i]; i++)
		if (s->state[i] && sources[i]->own)
			return sources[i]->own(s->state[i], own);
	return 0;
}

int cost_rstat_begins(struct session *s)
{
	return read_own(s, &s->cost.rstat.before);
}

int cost_rstat_timed(struct session *s)
{
	struct cost_rstat *c = &s->cost.rstat;
	struct cost_runs r = runs_of(s, got);
	double seen;
	struct rs_own now;
	int err = read_own(s, &now);

	if (err)
		return err;
	seen = (double)(now.got_ns - c->before.got_ns);
	c->edge = r.n >= COST_RUNS_LEAST ? fmax((double)r.ns - seen, 0) / (double)r.n : NAN;
	c->visit = mean(s, visit);
	c->tick = mean(s, tick);
	c->split = mean(s, split);
	return 0;
}

/* So many runs of a kind. One that did not run while it was timed costs what programs of rstat do. */
static double times(const struct session *s, uint64_t n, double ns)
{
	return (double)n * (isnan(ns) ? s->cost.run_ns[KD_SRC_RSTAT] : ns);
}

static int put(struct session *s, enum kd_count what, double ns)
{
	return isnan(ns) ? 0 : cost_put_total(s, KD_SRC_RSTAT, what, ns);
}

int cost_rstat_emit(struct session *s)
{
	struct cost_rstat *c = &s->cost.rstat;
	struct rs_own own;
	double within;
	int err;

	if (!c->edge || isnan(c->edge)) /* nothing was timed yet, or too little */
		return 0;
	err = read_own(s, &own);
	if (err)
		return err;
	within = times(s, own.visits, c->visit) + times(s, own.ticks, c->tick);
	err = put(s, KD_CNT_IN_FLUSH_NS,
		  (double)own.flush_ns + times(s, own.flush_runs, c->edge) +
			  times(s, own.splits, c->split) + within);
	return err ? err
		   : put(s, KD_CNT_IN_HOLD_NS,
			 (double)own.hold_ns + times(s, own.hold_runs, c->edge) + within);
}
