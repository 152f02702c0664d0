// SPDX-License-Identifier: GPL-2.0-only
/* bench_watch.c - a session beside a load. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backlog.h"
#include "bench_watch.h"
#include "log.h"
#include "plan.h"
#include "session.h"
#include "watch.h"

/* That it cannot be watched is a part of the result here, and no failure. */
static void keep_error(void *ctx, enum log_level level, const char *line)
{
	struct bench_watch *w = ctx;

	if (level == LOG_ERROR)
		snprintf(w->reason, sizeof(w->reason), "%s", line);
}

static int open_session(struct bench_watch *w, unsigned int source, uint64_t measures)
{
	struct session_conf conf;
	int err;

	session_conf_init(&conf);
	conf.want.sources = 1u << source;
	conf.want.measures = measures;
	conf.writes_files = true;
	conf.stopped = watch_signalled;
	log_set_sink(keep_error, w);
	err = session_open(&w->session, &conf, &w->stream);
	log_set_sink(NULL, NULL);
	return err;
}

int bench_watch_start(struct bench_watch *w, unsigned int source, uint64_t measures)
{
	int err;

	memset(w, 0, sizeof(*w));
	model_init(&w->model);
	stream_init(&w->stream, model_record, &w->model);
	err = open_session(w, source, measures);
	if (err == -EINTR || err == -ENOMEM)
		return err;
	if (err) {
		w->session = NULL;
		return 0;
	}
	return session_start(w->session);
}

int bench_watch_tick(struct bench_watch *w)
{
	return w->session ? session_tick(w->session) : 0;
}

int bench_watch_rebase(struct bench_watch *w)
{
	int err = bench_watch_tick(w);

	if (!err && w->session)
		model_rebase(&w->model);
	return err;
}

void bench_watch_end(struct bench_watch *w)
{
	if (w->session)
		session_stop(w->session);
	session_close(w->session);
	model_free(&w->model);
	memset(w, 0, sizeof(*w));
}

uint64_t bench_watch_callbacks(const struct bench_watch *w)
{
	const struct backlog_query q = { .scope = { .measures = 1ULL << KD_M_CALL_RCU_PENDING } };
	struct backlog_row *rows = NULL;
	uint64_t sum = 0;
	size_t n = 0;

	if (backlog_totals(&w->model, &q, &rows, &n))
		return 0;
	for (size_t i = 0; i < n; i++)
		if (rows[i].flavour == KD_FL_RCU)
			sum += rows[i].length;
	free(rows);
	return sum;
}

static bool is_on(const struct bench_watch *w, unsigned int measure)
{
	for (size_t i = 0; w->session && i < w->model.nplan; i++)
		if (w->model.plan[i].measure == measure && w->model.plan[i].state == PLAN_ON)
			return true;
	return false;
}

bool bench_watch_total(const struct bench_watch *w, unsigned int measure, struct hist *h)
{
	const struct query q = { .top = 1 };
	struct metric *metrics = NULL;
	size_t n = 0;

	hist_init(h);
	if (!is_on(w, measure) || model_metrics(&w->model, &q, &metrics, &n))
		return false;
	for (size_t i = 0; i < n; i++)
		if (metrics[i].measure == measure && metrics[i].by == KEY_NONE)
			hist_merge(h, &metrics[i].hist);
	free(metrics);
	return true;
}

const char *bench_watch_why(const struct bench_watch *w, unsigned int measure)
{
	for (size_t i = 0; i < w->model.nplan; i++)
		if (w->model.plan[i].measure == measure && *w->model.plan[i].reason)
			return w->model.plan[i].reason;
	return *w->reason ? w->reason : "it is not measured";
}
