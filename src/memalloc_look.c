// SPDX-License-Identifier: GPL-2.0-only
/*
 * memalloc_look.c - one look at the lists of all BPF allocators, in small parts.
 *
 * First each CPU reads its own lists of all caches (ML_SWEEP). Lists too long for one run are then
 * followed one by one (ML_WALK): most of the way from this CPU, which interrupts nobody, and the last
 * run on the CPU that owns the list.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf_util.h"
#include "clock.h"
#include "log.h"
#include "memalloc_look.h"

/* Following long lists may take a tenth of the time between looks, within these. */
#define WALK_LEAST_NS 20000000ULL
#define WALK_MOST_NS 500000000ULL
#define WALK_SHARE 10
#define RESTARTS_MOST 8 /* of a list that is always another one */
#define CLOSING_MOST 16 /* runs on its CPU for a list that does not stand still */
#define STALLED_MOST 100
#define RUNS_LEAST 2 /* of each list, however long others took: enough for one of 1,024 objects */

static enum ml_kind kind_of(const struct ml_look *l, const struct ml_entry *e)
{
	return l->layout->list[e->row.list].kind;
}

/* --- all lists of all CPUs --- */

static uint64_t walking_time(const struct ml_look *l, uint64_t now)
{
	uint64_t share = l->begun_ns ? (now - l->begun_ns) / WALK_SHARE : WALK_MOST_NS;

	return share < WALK_LEAST_NS ? WALK_LEAST_NS : share > WALK_MOST_NS ? WALK_MOST_NS : share;
}

/* As many caches as programs can know; those of one map stay together. */
static void next_window(struct ml_look *l)
{
	size_t left = l->ncaches - l->window;

	l->window_n = left < ML_WINDOW ? left : ML_WINDOW;
	while (l->window_n < left && l->window_n > 1 &&
	       l->cache[l->window + l->window_n].key == l->cache[l->window + l->window_n - 1].key)
		l->window_n--;
	for (size_t i = 0; i < l->window_n; i++)
		l->shared->cache[i] = l->cache[l->window + i].cache;
	l->cpu = 0;
	l->next = 0;
}

void memalloc_look_begin(struct ml_look *l)
{
	uint64_t now = clock_mono_ns();

	l->walk_until_ns = walking_time(l, now);
	l->begun_ns = now;
	l->shared->look++;
	l->phase = ML_SWEEP;
	l->n = 0;
	l->window = 0;
	l->stalled = 0;
	next_window(l);
}

static enum ml_place place_of(const struct ml_look *l, uint32_t cpu)
{
	return l->online[cpu] && !l->no_ipi ? ML_ON_CPU : ML_AFAR;
}

/* On that CPU if it is to be and can be; it may go offline meanwhile. */
static int run_at(struct ml_look *l, int fd, uint64_t args[4], int place_arg, uint32_t *ret)
{
	if (args[place_arg] == ML_ON_CPU) {
		int err = bpf_util_run_on(fd, args, (int)l->cpu, ret);

		if (err != -ENXIO)
			return err;
		l->online[l->cpu] = false;
		args[place_arg] = ML_AFAR;
	}
	return bpf_util_run(fd, args, ret);
}

static int add_rows(struct ml_look *l, enum ml_place place)
{
	uint32_t n = l->shared->rows;

	if (l->n + n > l->room) {
		size_t room = 2 * (l->n + n);
		struct ml_entry *more = reallocarray(l->entry, room, sizeof(*more));

		if (!more)
			return log_err(-ENOMEM, "out of memory while reading lists");
		l->entry = more;
		l->room = room;
	}
	for (uint32_t i = 0; i < n; i++) {
		struct ml_entry *e = &l->entry[l->n++];

		*e = (struct ml_entry){ .row = l->shared->row[i], .cpu = l->cpu, .place = place };
		e->cache = (uint32_t)l->window + e->row.cache;
		e->key = l->cache[e->cache].key;
		e->exact = place == ML_ON_CPU && !(e->row.flags & ML_MORE);
	}
	l->vanished += l->shared->vanished;
	l->torn += l->shared->torn;
	l->checked += l->shared->checked;
	l->unchecked += l->shared->unchecked;
	return 0;
}

/* What the last run read: caches, and the first word of each object on its way. */
static void count_run(struct ml_look *l, uint64_t caches, uint64_t nodes)
{
	l->read_bytes += caches * l->layout->cache_size + nodes * sizeof(uint64_t);
	l->runs_done++;
	l->run_ns += l->shared->took_ns;
	if (l->longest_ns < l->shared->took_ns)
		l->longest_ns = l->shared->took_ns;
}

static int sweep(struct ml_look *l)
{
	uint64_t args[4] = { l->next, l->window_n, l->distance[l->cpu], place_of(l, l->cpu) };
	uint32_t next;
	int err = run_at(l, l->sweep_fd, args, 3, &next);

	if (err)
		return log_err(err, "memalloc: cannot read the lists of CPU %u: %s", l->cpu,
			       strerror(-err));
	if (next == l->next && ++l->stalled > STALLED_MOST)
		return log_err(-EIO, "memalloc: reading the lists of CPU %u does not get on",
			       l->cpu);
	count_run(l, next - l->next, l->shared->nodes);
	l->next = next;
	return add_rows(l, (enum ml_place)args[3]);
}

/* To the next CPU, and after the last to the next caches. */
static int sweep_on(struct ml_look *l)
{
	while (l->cpu < l->cpus->n && (l->next >= l->window_n || !l->cpus->possible[l->cpu])) {
		l->cpu++;
		l->next = 0;
		l->stalled = 0;
	}
	if (l->cpu < l->cpus->n)
		return sweep(l);
	l->window += l->window_n;
	if (l->window < l->ncaches) {
		next_window(l);
		return 0;
	}
	l->phase = ML_WALK;
	l->at = 0;
	l->runs = 0;
	l->walk_until_ns += clock_mono_ns();
	return 0;
}

/* --- one long list --- */

static bool is_done(const struct ml_look *l, const struct ml_entry *e)
{
	if (e->row.flags & ML_MORE)
		return false;
	/* What others may take from is seen whole only by one look on its own CPU, the last one. */
	return kind_of(l, e) == ML_WAITING || e->place != ML_ON_CPU || (e->row.flags & ML_LOCAL);
}

static void settle(struct ml_look *l, struct ml_entry *e)
{
	bool same = l->shared->job.state == e->row.state;

	if (l->shared->job.gone) {
		e->row.length = 0;
		e->exact = true;
		l->vanished++;
		return;
	}
	e->exact = is_done(l, e) && e->place == ML_ON_CPU && (kind_of(l, e) != ML_SHARED || same);
	if (e->row.cursor) {
		e->row.flags |= ML_CUT;
		e->row.length += !e->row.length;
	}
}

/* One run more of the list at l->at. */
static int walk(struct ml_look *l, struct ml_entry *e)
{
	struct ml_job *job = &l->shared->job;
	bool closing = kind_of(l, e) != ML_WAITING && !e->row.cursor;
	enum ml_place wanted = closing ? e->place : ML_AFAR;
	uint64_t args[4] = { l->distance[e->cpu], wanted };
	int err;

	if (!l->runs++)
		job->restarts = 0;
	job->row = e->row;
	job->cache = l->cache[e->cache].cache;
	l->cpu = e->cpu;
	err = run_at(l, l->walk_fd, args, 1, NULL);
	if (err)
		return log_err(err, "memalloc: cannot read a list of CPU %u: %s", e->cpu,
			       strerror(-err));
	count_run(l, 1, l->shared->walked);
	e->row = job->row;
	if (args[1] != wanted)
		e->place = ML_AFAR; /* gone offline */
	l->stalled += closing;
	return 0;
}

static bool goes_on(const struct ml_look *l, const struct ml_entry *e)
{
	return !is_done(l, e) && !l->shared->job.gone && l->shared->job.restarts <= RESTARTS_MOST &&
	       l->stalled <= CLOSING_MOST;
}

static int walk_on(struct ml_look *l)
{
	struct ml_entry *e;
	int err;

	while (!l->runs && l->at < l->n && !(l->entry[l->at].row.flags & ML_MORE))
		l->at++;
	if (l->at == l->n) {
		l->phase = ML_FINISH;
		return 0;
	}
	e = &l->entry[l->at];
	if (!l->runs)
		l->stalled = 0;
	if (l->runs < RUNS_LEAST || clock_mono_ns() < l->walk_until_ns) {
		err = walk(l, e);
		if (err || goes_on(l, e))
			return err;
	}
	settle(l, e);
	e->row.flags &= ~ML_MORE;
	l->at++;
	l->runs = 0;
	return 0;
}

/* --- to the ring --- */

static int send(struct ml_look *l)
{
	uint64_t args[4] = { 0 };
	uint32_t sent;
	int err;

	while (args[0] < ML_SEND && l->at + args[0] < l->n) {
		memalloc_entries_record(l, &l->entry[l->at + args[0]], &l->shared->send[args[0]]);
		args[0]++;
	}
	if (!args[0]) {
		l->phase = ML_DONE;
		return 0;
	}
	err = bpf_util_run(l->send_fd, args, &sent);
	if (err)
		return log_err(err, "memalloc: cannot write records: %s", strerror(-err));
	l->at += sent;
	return sent < args[0];
}

int memalloc_look_step(struct ml_look *l)
{
	int err;

	switch (l->phase) {
	case ML_SWEEP:
		return sweep_on(l);
	case ML_WALK:
		return walk_on(l);
	case ML_FINISH:
		err = memalloc_entries_finish(l);
		l->phase = ML_SENDING;
		l->at = 0;
		return err;
	case ML_SENDING:
		return send(l);
	case ML_DONE:
		break;
	}
	return 0;
}

void memalloc_look_free(struct ml_look *l)
{
	free(l->distance);
	free(l->online);
	free(l->cache);
	free(l->entry);
	free(l->seen);
}
