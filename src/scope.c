// SPDX-License-Identifier: GPL-2.0-only
/* scope.c - the window and the choice of measures that a view shows of the model. */
#include "catalog.h"
#include "plan.h"
#include "scope.h"

bool scope_has_measure(const struct scope *sc, unsigned int measure)
{
	return measure < 64 && sc->measures >> measure & 1;
}

bool scope_has(const struct scope *sc, unsigned int measure, unsigned int flavour)
{
	bool hidden = sc->hidden && measure < KD_M_COUNT && flavour < 32 &&
		      (sc->hidden[measure] >> flavour & 1);

	return scope_has_measure(sc, measure) && !hidden;
}

bool scope_has_source(const struct scope *sc, unsigned int source)
{
	const struct measure_info *info;
	unsigned int i;

	for (i = 0; (info = measure_info(i)); i++)
		if (info->source == source && scope_has_measure(sc, i))
			return true;
	return false;
}

static const struct run *one_run(const struct model *m, const struct scope *sc)
{
	return sc->one_run && m->nruns ? &m->runs[m->nruns - 1] : NULL;
}

uint64_t scope_begin_ns(const struct model *m, const struct scope *sc)
{
	const struct run *run = one_run(m, sc);

	if (run)
		return run->from_ns;
	return sc->interval ? m->from_ns : m->start_ns;
}

uint64_t scope_length_ns(const struct model *m, const struct scope *sc)
{
	const struct run *run = one_run(m, sc);

	return (run ? run->to_ns : m->to_ns) - scope_begin_ns(m, sc);
}

uint64_t scope_lost(const struct model *m, const struct scope *sc, unsigned int source,
		    unsigned int what)
{
	const struct run *run = one_run(m, sc);

	if (run)
		return run->lost[source][what];
	if (sc->interval)
		return m->source[source].interval[what];
	return m->source[source].total[what] - m->source[source].base[what];
}

static bool may_lose(const struct measure_info *info, unsigned int what)
{
	bool of_lists = what == KD_LOST_LISTS || what == KD_LOST_LOOK || what == KD_LOST_VANISHED ||
			what == KD_LOST_TORN;
	bool of_holdups = what == KD_LOST_REPORTS || what == KD_LOST_ALIKE;

	if (info->holdup)
		return of_holdups || what == KD_LOST_RECURSION;
	return !of_holdups && info->pending == of_lists;
}

bool scope_may_lose(const struct scope *sc, unsigned int source, unsigned int what)
{
	const struct measure_info *info;

	for (unsigned int i = 0; (info = measure_info(i)); i++)
		if (info->source == source && scope_has_measure(sc, i) && may_lose(info, what))
			return true;
	return false;
}

uint64_t scope_count(const struct model *m, const struct scope *sc, unsigned int source,
		     unsigned int what)
{
	const struct run *run = one_run(m, sc);

	if (run)
		return run->count[source][what];
	if (sc->interval)
		return m->source[source].cinterval[what];
	return m->source[source].ctotal[what] - m->source[source].cbase[what];
}

bool scope_has_event(const struct model *m, const struct scope *sc, const struct event *e)
{
	const struct run *run = one_run(m, sc);

	if (run)
		return e->mono_ns >= run->from_ns && (m->running || e->mono_ns <= run->to_ns);
	if (!sc->interval)
		return true;
	return e->mono_ns <= m->to_ns && (m->ticks <= 1 || e->mono_ns > m->from_ns);
}

bool scope_has_holdup(const struct model *m, const struct scope *sc, const struct holdup *h)
{
	const struct run *run = one_run(m, sc);

	if (!scope_has(sc, holdup_measure(h->rec.source)->id, h->rec.flavour) ||
	    !report_matches(m, h, sc->reports, sc->nreports))
		return false;
	if (run)
		return h->rec.end_ns >= run->from_ns && (m->running || h->rec.end_ns <= run->to_ns);
	return !sc->interval || h->tick == m->ticks;
}

bool scope_arms(const struct model *m, const struct scope *sc)
{
	for (size_t i = 0; i < m->nplan; i++) {
		const struct measure_info *info = measure_info(m->plan[i].measure);

		if (info && info->holdup && m->plan[i].state == PLAN_ON &&
		    scope_has(sc, m->plan[i].measure, m->plan[i].flavour))
			return true;
	}
	return m->holdups.n;
}

uint64_t scope_sampling(const struct model *m, const struct scope *sc)
{
	return model_sampling(m, sc->interval, sc->one_run);
}

bool scope_is_sampled(const struct model *m, const struct scope *sc, unsigned int measure,
		      unsigned int flavour)
{
	if (scope_sampling(m, sc) == 1)
		return false;
	return !model_fact(m, SAMPLING_BY_BUDGET) || model_scales(m, measure, flavour);
}

bool scope_measured(const struct model *m, const struct scope *sc)
{
	size_t i;

	for (i = 0; i < m->nplan; i++)
		if (m->plan[i].state == PLAN_ON &&
		    scope_has(sc, m->plan[i].measure, m->plan[i].flavour))
			return true;
	for (i = 0; i < m->ngroups; i++)
		if (scope_has(sc, m->groups[i].measure, m->groups[i].flavour))
			return true;
	return false;
}
