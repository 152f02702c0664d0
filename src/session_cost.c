// SPDX-License-Identifier: GPL-2.0-only
/*
 * session_cost.c - of a session: what our programs cost the host.
 *
 * Runs are counted by the programs themselves. What a run costs is measured by the kernel, for at
 * most a second when recording begins, or until --budget knows it: it costs a run some tens of nanoseconds more, of all BPF
 * programs of the host, so it is not left on. The kernel takes it back when we are gone.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "catalog.h"
#include "clock.h"
#include "host.h"
#include "own_cost.h"
#include "session_state.h"
#include "text.h"

#define WINDOW_NS 1000000000ULL
#define LOOK_NS 20000000ULL
#define RUNS_ENOUGH 2000 /* of a source: a mean to within a few per cent */
#define RUNS_AWAITED 500 /* of those that --budget goes by: a flood has warm caches */

static void read_runs(int prog_fd, struct cost_runs *r)
{
	struct bpf_prog_info info = { 0 };
	__u32 len = sizeof(info);

	*r = (struct cost_runs){ 0 };
	if (bpf_obj_get_info_by_fd(prog_fd, &info, &len))
		return;
	r->n = info.run_cnt;
	r->ns = info.run_time_ns;
}

/* What a program has run since the window began. */
struct cost_runs cost_hook_since(const struct session *s, size_t i)
{
	struct cost_runs now = { 0 };

	if (s->link[i] < 0)
		return now;
	read_runs(s->hook[i].prog_fd, &now);
	now.n -= s->cost.before[i].n;
	now.ns -= s->cost.before[i].ns;
	return now;
}

/* What those of each source have. */
static void runs_since(const struct session *s, struct cost_runs of[KD_SRC_COUNT])
{
	memset(of, 0, KD_SRC_COUNT * sizeof(of[0]));
	for (size_t i = 0; i < s->nhooks; i++) {
		struct cost_runs r = cost_hook_since(s, i);

		of[s->owner[i]].n += r.n;
		of[s->owner[i]].ns += r.ns;
	}
}

static bool is_hooked(const struct session *s, unsigned int source)
{
	for (size_t i = 0; i < s->nhooks; i++)
		if (s->owner[i] == source && s->link[i] >= 0)
			return true;
	return false;
}

void cost_init(struct session *s)
{
	s->cost.stats_fd = -1;
}

int cost_open(struct session *s)
{
	char text[128];

	if (!s->nhooks)
		return host_fact(s->out, OWN_COST_UNKNOWN, "nothing is hooked");
	s->cost.stats_fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	if (s->cost.stats_fd >= 0)
		return 0;
	snprintf(text, sizeof(text), "the kernel does not time its BPF programs for us: %s%s",
		 strerror(-s->cost.stats_fd),
		 s->cost.stats_fd == -EPERM ? " (it asks for CAP_SYS_ADMIN)" : "");
	s->cost.stats_fd = -1;
	return host_fact(s->out, OWN_COST_UNKNOWN, text);
}

void cost_close(struct session *s)
{
	if (s->cost.stats_fd >= 0)
		close(s->cost.stats_fd);
	s->cost.stats_fd = -1;
}

/* --budget goes by the cost of events that can be left out: on a quiet host that takes longer to learn. */
static bool is_awaited(const struct session *s, const struct cost_runs of[KD_SRC_COUNT])
{
	for (size_t i = 0; sources[i]; i++)
		if (s->budget.acts && s->state[i] && sources[i]->thin &&
		    of[sources[i]->id].n < RUNS_AWAITED)
			return true;
	return false;
}

static bool is_enough(const struct session *s, const struct cost_runs of[KD_SRC_COUNT])
{
	for (unsigned int src = 0; src < KD_SRC_COUNT; src++)
		if (of[src].n < RUNS_ENOUGH && is_hooked(s, src))
			return false;
	return !is_hooked(s, KD_SRC_RSTAT) || cost_rstat_is_enough(s);
}

static void gauge(struct session *s)
{
	for (size_t i = 0; sources[i]; i++)
		if (s->budget.acts && s->state[i] && sources[i]->left_out_ns)
			s->cost.left_out_ns[sources[i]->id] = sources[i]->left_out_ns(s->state[i]);
}

static int finish(struct session *s, const struct cost_runs of[KD_SRC_COUNT])
{
	char text[256] = "";

	int err;

	cost_close(s);
	gauge(s);
	err = cost_rstat_timed(s);
	if (err)
		return err;
	for (unsigned int src = 0; src < KD_SRC_COUNT; src++) {
		if (of[src].n >= COST_RUNS_LEAST)
			s->cost.run_ns[src] = (double)of[src].ns / (double)of[src].n;
		else if (is_hooked(s, src))
			text_append(text, sizeof(text), "%s%s %llu", *text ? ", " : "",
				    source_name(src), (unsigned long long)of[src].n);
	}
	if (of[KD_SRC_RSTAT].n >= COST_RUNS_LEAST && isnan(s->cost.rstat.edge))
		text_append(text, sizeof(text), "%srstat at its lock %llu", *text ? ", " : "",
			    (unsigned long long)cost_rstat_runs(s));
	if (!*text)
		return 0;
	text_append(text, sizeof(text), ": too few runs while they were timed");
	return host_fact(s->out, OWN_COST_UNKNOWN, text);
}

/*
 * Once for each source, when it has run often enough: from here on it is timed anew, since the first runs
 * also make what the later ones find, and are not what a run costs. Where that takes more than half of the
 * window, all runs are in it. (Of rstat there are parts with beginnings of their own.)
 */
static void begin_anew(struct session *s, uint64_t now, struct cost_runs of[KD_SRC_COUNT])
{
	uint32_t due = 0;

	if (now + WINDOW_NS / 2 > s->cost.until_ns)
		return;
	for (unsigned int src = 0; src < KD_SRC_COUNT; src++) {
		if (src == KD_SRC_RSTAT || of[src].n < RUNS_ENOUGH || s->cost.anew >> src & 1)
			continue;
		due |= 1u << src;
		of[src] = (struct cost_runs){ 0 };
	}
	for (size_t i = 0; i < s->nhooks; i++)
		if (due >> s->owner[i] & 1)
			read_runs(s->hook[i].prog_fd, &s->cost.before[i]);
	s->cost.anew |= due;
}

uint64_t session_calibrate(struct session *s)
{
	struct cost_runs of[KD_SRC_COUNT];
	uint64_t now;

	if (s->cost.stats_fd < 0)
		return UINT64_MAX;
	now = clock_mono_ns();
	if (!s->cost.until_ns) {
		s->cost.until_ns = now + WINDOW_NS;
		for (size_t i = 0; i < s->nhooks; i++)
			read_runs(s->hook[i].prog_fd, &s->cost.before[i]);
		s->cost.err = cost_rstat_begins(s);
		s->cost.look_ns = now + LOOK_NS;
	}
	if (now < s->cost.look_ns)
		return s->cost.look_ns;
	s->cost.look_ns = now + LOOK_NS;
	runs_since(s, of);
	begin_anew(s, now, of);
	if (now < s->cost.until_ns ? !is_enough(s, of) : is_awaited(s, of))
		return s->cost.look_ns;
	s->cost.err = finish(s, of);
	return UINT64_MAX;
}

/* Recording ends within the window: with what there is. */
static int cut_short(struct session *s)
{
	struct cost_runs of[KD_SRC_COUNT];

	if (s->cost.stats_fd < 0 || !s->cost.until_ns)
		return 0;
	runs_since(s, of);
	return finish(s, of);
}

void cost_take(struct session *s, const void *record, size_t size)
{
	const struct kd_rec_total *r = record;

	if (size < sizeof(*r) || r->rec.kind != KD_REC_COUNT || r->source >= KD_SRC_COUNT)
		return;
	if (r->what == KD_CNT_RUNS)
		s->cost.runs[r->source] = r->total;
	else if (r->what == KD_CNT_LEFT_OUT)
		s->cost.left_out[r->source] = r->total;
}

int cost_put_total(struct session *s, unsigned int source, enum kd_count what, double ns)
{
	struct kd_rec_total r = { .rec = { .kind = KD_REC_COUNT, .len = sizeof(r) },
				  .source = (__u16)source,
				  .what = (__u16)what,
				  .total = (__u64)ns };

	return r.total ? stream_record(s->out, &r, sizeof(r)) : 0;
}

int cost_emit(struct session *s, bool last)
{
	int err = s->cost.err ? s->cost.err : last ? cut_short(s) : 0;
	double ns = 0, sum = 0;

	s->self.events = 0;
	for (unsigned int src = 0; src < KD_SRC_COUNT && !err; src++) {
		ns = (double)(s->cost.runs[src] - s->cost.left_out[src]) * s->cost.run_ns[src] +
		     (double)s->cost.left_out[src] * s->cost.left_out_ns[src];
		s->self.events += s->cost.runs[src];
		sum += ns;
		err = cost_put_total(s, src, KD_CNT_RUN_NS, ns);
	}
	s->self.run_ns = (__u64)sum;
	return err ? err : cost_rstat_emit(s);
}
