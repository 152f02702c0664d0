// SPDX-License-Identifier: GPL-2.0-only
/* session_tick.c - of a session: recording on and off, and what each tick learns. */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "bpf_util.h"
#include "catalog.h"
#include "clock.h"
#include "host.h"
#include "log.h"
#include "rights.h"
#include "session_state.h"

/* A tick that the ring cuts short goes on after draining; more rounds than this and it is left incomplete. */
#define TICK_ROUNDS 4096
/* One look at all pending lists, and the last one when a signal came: what there is has to be shown then. */
#define LOOK_MOST_NS 5000000000ULL
#define LAST_LOOK_MOST_NS 200000000ULL

static int drain(struct session *s)
{
	int n = ring_buffer__consume(s->ring);

	return s->sink_err ? s->sink_err : n < 0 ? n : 0;
}

static int drain_lists(void *session)
{
	return drain(session);
}

/* What waits at this moment. 1: left incomplete, which is counted. */
static int look_at_lists(struct session *s)
{
	bool last = !s->recording && s->conf.stopped && s->conf.stopped();
	int err;

	if (!listers_any(&s->listers))
		return 0;
	s->looking = true;
	err = listers_look(&s->listers, last ? LAST_LOOK_MOST_NS : LOOK_MOST_NS, drain_lists, s);
	s->looking = false;
	return err;
}

/* One source's part of the tick. 1: left incomplete. */
static int tick_source(struct session *s, size_t i)
{
	uint32_t cursor = 0;

	for (int round = 0; round < TICK_ROUNDS; round++) {
		int64_t next = sources[i]->tick(s->state[i], cursor, s->interval);
		int err = drain(s);

		if (err)
			return err;
		if (next < 0)
			return log_err((int)next, "%s: cannot read its tables: %s",
				       source_name(sources[i]->id), strerror((int)-next));
		if (!next)
			return 0;
		cursor = (uint32_t)next;
	}
	return 1;
}

/* Events that the kernel kept from our programs, per source. */
static int emit_missed(struct session *s)
{
	uint64_t missed[KD_SRC_COUNT] = { 0 };
	int err = 0;

	for (size_t i = 0; i < s->nhooks; i++)
		if (s->link[i] >= 0)
			missed[s->owner[i]] += bpf_util_missed(s->hook[i].prog_fd) - s->missed[i];
	for (unsigned int src = 0; src < KD_SRC_COUNT && !err; src++) {
		struct kd_rec_total r = { .rec = { .kind = KD_REC_LOST, .len = sizeof(r) },
					  .source = (__u16)src,
					  .what = KD_LOST_RECURSION,
					  .total = missed[src] };

		if (missed[src])
			err = stream_record(s->out, &r, sizeof(r));
	}
	return err;
}

/* From a file that stays open: opening one at each tick would hand over a callback of our own. */
static uint64_t resident_bytes(const struct session *s)
{
	unsigned long long total, resident;
	char text[128];
	ssize_t n = pread(s->statm_fd, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return 0;
	text[n] = '\0';
	if (sscanf(text, "%llu %llu", &total, &resident) != 2)
		return 0;
	return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static int emit_self(struct session *s)
{
	struct kd_rec_self *r = &s->self;
	struct rusage u;
	int err;

	getrusage(RUSAGE_SELF, &u);
	r->rss_bytes = resident_bytes(s);
	r->rec = (struct kd_rec){ .kind = KD_REC_SELF, .len = sizeof(*r) };
	r->cpu_ns = (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000ULL +
		    (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000ULL;
	err = stream_record(s->out, r, sizeof(*r));
	budget_ticked(s);
	return err;
}

static int emit_tick(struct session *s, uint32_t tick, bool complete)
{
	struct kd_rec_tick r = { .rec = { .kind = KD_REC_TICK, .len = sizeof(r) },
				 .mono_ns = clock_mono_ns(),
				 .tick = tick,
				 .complete = complete,
				 .skipped = s->skipped };

	return stream_record(s->out, &r, sizeof(r));
}

/* Kernel memory of all maps: read once, it does not change and reading it opens files. */
static void measure_memory(struct session *s)
{
	s->self.kernel_bytes = bpf_util_fd_bytes(s->ring_fd);
	s->self.kernel_bytes += listers_bytes(&s->listers, KD_SRC_COUNT);
	for (size_t i = 0; sources[i]; i++)
		if (s->state[i])
			s->self.kernel_bytes += sources[i]->kernel_bytes(s->state[i]);
}

int session_start(struct session *s)
{
	int err;

	measure_memory(s);
	/* Names of what waits: with all the rights there are, while they last. */
	err = look_at_lists(s);
	if (err >= 0)
		err = cost_open(s);
	rights_drop(s->conf.writes_files);
	if (err < 0)
		return err;
	for (size_t i = 0; i < s->nhooks; i++)
		s->missed[i] = bpf_util_missed(s->hook[i].prog_fd);
	err = host_emit_clock(s->out);
	if (!err)
		err = events_look(&s->events);
	if (!err)
		err = emit_self(s);
	if (!err)
		err = emit_tick(s, 0, true);
	s->recording = true;
	for (size_t i = 0; sources[i] && !err; i++)
		if (s->state[i])
			err = sources[i]->start(s->state[i]);
	return err;
}

int session_tick(struct session *s)
{
	bool complete = true;
	int err = 0;

	for (size_t i = 0; sources[i] && err >= 0; i++) {
		if (!s->state[i])
			continue;
		err = tick_source(s, i);
		complete &= !err;
	}
	if (err >= 0)
		err = look_at_lists(
			s); /* what it could not see stands as it was: the tick is one */
	if (err > 0)
		err = 0;
	s->interval++;
	if (!err)
		err = emit_missed(s);
	if (!err)
		err = events_look(&s->events);
	if (!err)
		err = cost_emit(s, !s->recording);
	if (!err)
		err = emit_self(s);
	if (!err)
		err = emit_tick(s, s->interval, complete);
	s->skipped += !complete;
	return err;
}

int session_stop(struct session *s)
{
	for (size_t i = 0; sources[i]; i++)
		if (s->state[i])
			sources[i]->stop(s->state[i]);
	s->recording = false;
	return session_tick(s);
}
