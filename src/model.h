/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * model.h - what the stream has said so far: the one state behind every view, live or replayed.
 *
 * Totals in the stream are running; the model subtracts. The first tick is the baseline. At each
 * later complete tick it knows the interval since the tick before (extremes and worst samples too)
 * and the run since the baseline. Where a command was measured several times the stream has marks;
 * of each such run the model keeps what it was, and the counts of the last one (`one_run`).
 */
#ifndef KDEFER_MODEL_H
#define KDEFER_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "histogram.h"
#include "holdups.h"
#include "keys.h"
#include "pending.h"
#include "stream.h"

#define MODEL_WORST 10

/* What a series counted. Apart from it, because many that are declared never count anything. */
struct series_hists {
	struct hist total;    /* as in the stream */
	struct hist interval; /* the last ended interval */
	struct hist run;      /* since the baseline */
	struct hist next;     /* since the end of the last interval, extremes too */
	struct hist
		one_run; /* of the run of the command numbered one_run_of; see model_run_hist() */
	uint32_t one_run_of;
	uint64_t next_groups, interval_groups; /* bit g: group g of buckets is not all zero there */
};

#define SERIES_NAMES 3

struct series {
	uint32_t id;
	uint8_t source, measure, flavour, dim;
	bool declared;  /* false: totals came, but not (yet) what they are of; in no metric */
	bool changed;   /* since the end of the last interval */
	uint32_t flags; /* KD_SERIES_* */
	uint64_t key[2];
	/*
	 * NULL where there is none. Of a function: its name, its module. Of a flusher: comm of the
	 * process, of the thread, path of its cgroup. Else the name as it came.
	 */
	char *name[SERIES_NAMES];
	struct series_hists *hists;         /* NULL until the first total comes */
	uint32_t next_changed, next_active; /* the model's lists: index + 1, 0 ends */
};

struct worst {
	uint64_t mono_ns;
	uint64_t value;
	uint32_t cpu;
	uint32_t series; /* id */
	/* Who did it, where the source knows: pid 0 unknown. Texts as the kernel has them. */
	uint32_t pid, tgid;
	uint64_t cgroup_id; /* in the v2 hierarchy */
	char comm[16];
	char stack[256]; /* functions, innermost first, separated by spaces */
};

struct worst_list {
	struct worst w[MODEL_WORST]; /* greatest first */
	int n;
};

/* One per measure, flavour and bound that has declared series. */
struct group {
	uint8_t source, measure, flavour;
	uint8_t bound; /* series_bound() */
	struct worst_list next, interval, run;
	struct worst_list one_run; /* of the run of the command numbered one_run_of */
	uint32_t one_run_of;
};

/* What the measured command said of itself in a run. */
struct value {
	char *name, *unit;
	char *text; /* as the command wrote the number */
	double value;
	uint8_t better; /* enum kd_better */
};

/* A run of the measured command. */
struct run {
	uint32_t index;
	uint8_t side;    /* enum kd_side */
	bool ended;      /* false: still going on, or the stream was cut */
	bool blurred;    /* a tick at its border was cut short: some of its counts are elsewhere */
	uint16_t status; /* as a shell says it, or KD_STATUS_UNKNOWN */
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC: of the command; end_ns 0: not ended */
	uint64_t real_ns;          /* when it began */
	uint64_t from_ns, to_ns;   /* of its intervals: a little wider */
	uint64_t ticks;            /* intervals */
	char *command;
	struct value *values;
	size_t nvalues;
	uint64_t lost[KD_SRC_COUNT][KD_LOST_COUNT];
	uint64_t count[KD_SRC_COUNT][KD_CNT_COUNT]; /* a level (KD_CNT_OPEN): at its end */
	uint64_t sample;                  /* 1/N of the events were followed, at the least */
	struct kd_rec_self before, after; /* what the tool had cost */
};

struct plan_row {
	uint8_t source, measure, flavour;
	uint8_t state; /* enum plan_state */
	uint32_t meaning;
	/* "" where there is none; hooks separated by spaces */
	char *backend, *hooks, *reason, *fix;
};

struct fact {
	char *name, *value;
};

struct event {
	uint64_t realtime_ns, mono_ns;
	char *what, *detail;
};

struct model {
	struct series *series;
	size_t nseries, nhists;
	struct group *groups;
	size_t ngroups;
	struct plan_row *plan;
	size_t nplan;
	struct fact *facts; /* host, clock, settings: names as in the JSON of cli; sorted by name */
	size_t nfacts;
	struct event *events;
	size_t nevents;
	struct run *runs; /* empty where no command was run, or only shown as a whole */
	size_t nruns, nvalues;
	bool running; /* the last of runs is going on */
	struct {
		uint64_t total[KD_LOST_COUNT], base[KD_LOST_COUNT];
		uint64_t prev[KD_LOST_COUNT], interval[KD_LOST_COUNT];
		uint64_t ctotal[KD_CNT_COUNT], cbase[KD_CNT_COUNT];
		uint64_t cprev[KD_CNT_COUNT], cinterval[KD_CNT_COUNT];
		bool seen; /* the stream said something of this source */
	} source[KD_SRC_COUNT];
	struct pending pending; /* lists, grace periods: asked by backlog.h */
	struct holdups holdups; /* waits that were too long */
	struct kd_rec_self self;
	uint64_t sample;                   /* the greatest of self.sample since the baseline */
	uint64_t start_ns, from_ns, to_ns; /* CLOCK_MONOTONIC: baseline, interval */
	uint64_t ticks;                    /* complete ones after the baseline */
	uint64_t incomplete;               /* ticks that were cut short */
	uint64_t refused;                  /* records left out because a bound below was reached */
	bool started;                      /* the baseline was seen */

	/* Called at the end of every interval, when interval and run are up to date. May be NULL. */
	int (*on_interval)(void *ctx, const struct model *m);
	/*
	 * Called when a run has ended, the last of m->runs; until another begins, queries and scopes with
	 * one_run are about it. A run that the stream does not end is never handed over. May be NULL.
	 */
	int (*on_run)(void *ctx, const struct model *m, const struct run *r);
	/* A wait that was too long, as it is told: also one that is not kept. May be NULL. */
	int (*on_holdup)(void *ctx, const struct model *m, const struct holdup *h);
	void *ctx;

	/* The model's own. */
	uint32_t *slots; /* hash of ids: index + 1 in series, 0 = free */
	size_t nslots;
	uint64_t seed;
	uint32_t changed, active;    /* lists: changed since, and not empty in, the last interval */
	struct worst_list orphans;   /* worst samples of series not declared yet */
	struct event *event_buf;     /* events is a window of it */
	int64_t last_tick, last_end; /* numbers of the newest and the newest complete tick */
};

void model_init(struct model *m);
void model_free(struct model *m);

/* The newest tick becomes the baseline; intervals, and runs of a command, are as before. */
void model_rebase(struct model *m);

/* A stream_sink; ctx is the model. -ENOMEM (logged), or what on_interval said. */
int model_record(void *ctx, const struct kd_rec *rec);

/* Bounds against hostile captures. What goes beyond is left out, counted and said once. */
#define MODEL_SERIES_MAX (1u << 17)
#define MODEL_HISTS_MAX (1u << 14) /* series that counted something: 20 KB each */
#define MODEL_RUNS_MAX 4096
#define MODEL_VALUES_MAX (1u << 16)
#define MODEL_ROWS_MAX 4096 /* plan rows, facts, events kept (oldest events go first) */

const char *model_fact(const struct model *m, const char *name); /* NULL when absent */
uint64_t model_fact_u64(const struct model *m, const char *name, uint64_t absent);

/* Realtime of a CLOCK_MONOTONIC time of this stream (facts realtime_ns, monotonic_ns); 0 unknown. */
uint64_t model_realtime(const struct model *m, uint64_t mono_ns);

/* KD_SERIES_UPPER or KD_SERIES_LOWER where values of a series are bounds, else 0. */
static inline uint8_t series_bound(const struct series *s)
{
	return (uint8_t)(s->flags & (KD_SERIES_UPPER | KD_SERIES_LOWER));
}

/* The name of the fact that sampling changes as --budget asks; its value is the budget. */
#define SAMPLING_BY_BUDGET "sampling_by_budget"
/* ... and of the one that says how long recording waited for what attaching caused. */
#define SESSION_SETTLE_NS "settle_ns"

/* 1/N of the events were followed: N, at least 1; where it changed, the greatest of the window. */
uint64_t model_sampling(const struct model *m, bool interval, bool one_run);
/*
 * Whether each event followed is counted for as many as there were: counts are estimates of all then.
 * With a fixed --sample they are of those that were followed.
 */
bool model_scales(const struct model *m, unsigned int measure, unsigned int flavour);

/* NULL for an id that is unknown or was not declared. */
const struct series *model_series(const struct model *m, uint32_t id);

/* What a series counted in the last of m->runs; NULL: nothing. */
const struct hist *model_run_hist(const struct model *m, const struct series *s);

/* --- questions that views ask --- */

struct metric {
	uint8_t source, measure;
	uint8_t flavour; /* or subsystem */
	uint8_t bound; /* KD_SERIES_UPPER, KD_SERIES_LOWER: values are bounds; 0: of the thing itself */
	enum key_name by; /* the breakdown that it belongs to; KEY_NONE: a total */
	struct keys keys;
	struct hist hist;
	const struct worst_list *worst; /* of totals, else NULL */
};

struct filter {
	enum key_name key;
	const char *glob;  /* fnmatch(3) pattern */
	unsigned int also; /* bits of enum key_name: it is enough if one of these matches */
	const char *name;  /* what it was asked by; NULL: as `key` */
};

struct query {
	bool interval; /* the last interval, else the run */
	bool one_run;  /* the last of m->runs instead */
	unsigned int
		by; /* bits of enum key_name: breakdowns besides the totals; 0 = each measure's own */
	size_t top; /* keys per measure and breakdown, rest folded to "other"; 0 = all */
	const struct filter *filters;
	size_t nfilters;
	const uint32_t *hidden; /* by measure: bits of flavours to leave out; NULL: none */
};

/*
 * Totals first (one per measure, flavour and bound that the plan has on or that has series), then
 * each breakdown, greatest count first, "other" last. Bounds are never added to what is none. With filters, only what matches enters, totals
 * included; a total that a filter cannot cut (key of another dimension) is left out. The caller
 * frees *out with free(). Returns 0 or -ENOMEM.
 */
int model_metrics(const struct model *m, const struct query *q, struct metric **out, size_t *n);

#endif
