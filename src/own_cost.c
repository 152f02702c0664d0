// SPDX-License-Identifier: GPL-2.0-only
/* own_cost.c - what our programs took of the host. */
#include <math.h>
#include <string.h>

#include "format.h"
#include "own_cost.h"
#include "text.h"

/* What our programs took between the two ends of a measure; KD_CNT_COUNT: none runs there. */
static enum kd_count inner_cost(unsigned int measure)
{
	return measure == KD_M_RSTAT_FLUSH  ? KD_CNT_IN_FLUSH_NS
	       : measure == KD_M_RSTAT_HOLD ? KD_CNT_IN_HOLD_NS
					    : KD_CNT_COUNT;
}

static const struct hist *hist_of(const struct model *m, const struct scope *sc,
				  const struct series *s)
{
	if (sc->one_run)
		return model_run_hist(m, s);
	if (!s->hists)
		return NULL;
	return sc->interval ? &s->hists->interval : &s->hists->run;
}

static uint64_t time_of(const struct model *m, const struct scope *sc, unsigned int measure)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < m->nseries; i++) {
		const struct series *s = &m->series[i];
		const struct hist *h;

		if (s->measure != measure || s->dim != KD_DIM_MAIN)
			continue;
		if (measure == KD_M_RSTAT_HOLD && s->flags & KD_SERIES_LOWER)
			continue; /* of the same holds as the upper bounds */
		h = hist_of(m, sc, s);
		sum += h ? h->sum : 0;
	}
	return sum;
}

/* Ours is known from some tick on, and then for all the time before: not for the interval that ends there. */
static bool just_known(const struct model *m, const struct scope *sc, enum kd_count what,
		       unsigned int measure)
{
	struct scope whole = *sc;

	whole.interval = false;
	return sc->interval &&
	       scope_count(m, sc, KD_SRC_RSTAT, what) ==
		       scope_count(m, &whole, KD_SRC_RSTAT, what) &&
	       time_of(m, sc, measure) < time_of(m, &whole, measure);
}

double own_cost_share(const struct model *m, const struct scope *sc, unsigned int measure)
{
	enum kd_count what = inner_cost(measure);
	uint64_t ours, all;

	if (what == KD_CNT_COUNT)
		return NAN;
	ours = scope_count(m, sc, KD_SRC_RSTAT, what);
	all = time_of(m, sc, measure);
	if (!ours || !all || just_known(m, sc, what, measure))
		return NAN;
	return (double)ours / (double)all;
}

bool own_cost_is_possible(double share)
{
	return share < 1;
}

static uint64_t count_all(const struct model *m, const struct scope *sc, unsigned int what)
{
	uint64_t sum = 0;

	for (unsigned int src = 0; src < KD_SRC_COUNT; src++)
		sum += scope_count(m, sc, src, what);
	return sum;
}

char *own_cost_text(char *buf, size_t size, const struct model *m, const struct scope *sc)
{
	uint64_t runs = count_all(m, sc, KD_CNT_RUNS), ns = count_all(m, sc, KD_CNT_RUN_NS);
	uint64_t length = scope_length_ns(m, sc);
	const char *unknown = model_fact(m, OWN_COST_UNKNOWN);
	char n[FMT_LEN], text[256];

	*buf = '\0';
	if (!runs)
		return buf;
	text_append(buf, size, "%s events", fmt_count(n, sizeof(n), runs));
	if (ns && length)
		text_append(buf, size, ", about %s in our programs (%.2g%% of one CPU)",
			    fmt_ns(n, sizeof(n), ns), 100.0 * (double)ns / (double)length);
	if (unknown)
		text_append(buf, size, "%s %s", ns ? "; not in it:" : "; their cost is not known:",
			    fmt_safe(text, sizeof(text), unknown));
	return buf;
}
