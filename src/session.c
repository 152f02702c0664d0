// SPDX-License-Identifier: GPL-2.0-only
/* session.c - a measurement of the running kernel, from plan to detach. */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "attach.h"
#include "bpf_util.h"
#include "catalog.h"
#include "clock.h"
#include "host.h"
#include "log.h"
#include "model.h"
#include "session_state.h"
#include "text.h"

#define RING_BYTES (256u << 10)
#define RING_LEAST 4096u
#define SLOW_DETACH_NS 1000000000ULL
/* For one hook: some thirty times what kernels of the matrix take. The process that detaches needs no help. */
#define DETACH_WAIT_NS 10000000000ULL

void session_conf_init(struct session_conf *c)
{
	*c = (struct session_conf){
		.want = { .sources = ~0u,
			  .measures = ~holdup_measures(),
			  .flavours = ~0u,
			  .backends = ~0u },
		.attach_timeout_ns = SESSION_ATTACH_TIMEOUT_NS,
		.max_memory = SESSION_MAX_MEMORY,
		.sample = 1,
	};
}

static int on_record(void *ctx, void *data, size_t size)
{
	struct session *s = ctx;
	union own_callers_buf buf;
	int err = cgroup_names_take(&s->cgroups, data, size, s->out);

	if (err && !s->sink_err)
		s->sink_err = err;
	if (!s->looking) {
		events_take(&s->events, data);
		cost_take(s, data, size);
	}
	err = s->looking ? listers_take(&s->listers, data, size)
			 : stream_record(s->out, own_callers_name(&s->callers, data, size, &buf),
					 size);

	if (err && !s->sink_err)
		s->sink_err = err;
	return err;
}

/* A small allowance of memory gets a small ring, which costs rounds, not records. */
static uint32_t ring_bytes(const struct session *s)
{
	uint32_t size = RING_BYTES;

	while (size > RING_LEAST && size > s->conf.max_memory / 64)
		size /= 2;
	return size;
}

static int open_ring(struct session *s)
{
	s->ring_fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "kd_ring", 0, 0, ring_bytes(s), NULL);
	if (s->ring_fd < 0)
		return log_err(s->ring_fd, "cannot make the ring buffer: %s",
			       strerror(-s->ring_fd));
	s->ring = ring_buffer__new(s->ring_fd, on_record, s, NULL);
	if (!s->ring)
		return log_err(-errno, "cannot map the ring buffer: %s", strerror(errno));
	return 0;
}

/* Some row that it serves; lists are read by somebody else. */
static bool source_wanted(const struct session *s, const struct source *src)
{
	for (size_t i = 0; i < s->plan.n; i++)
		if (s->plan.entry[i].state != PLAN_OFF && source_serves(src, &s->plan.entry[i]))
			return true;
	return false;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t least_of_later(const struct session *s, size_t i, uint64_t most)
{
	uint64_t sum = 0;

	for (i++; sources[i]; i++)
		if (source_wanted(s, sources[i]))
			sum += sources[i]->least_bytes(&s->kernel, s->conf.dims);
	return smaller(sum, most);
}

/* Takes down the rows of a source whose smallest tables do not fit, and says what would. */
static bool fits(struct session *s, const struct source *src)
{
	/* The ring is at most a 64th of what is allowed, or the least; a 32nd is kept back. */
	uint64_t least = src->least_bytes(&s->kernel, s->conf.dims);
	uint64_t need = least + least / 8 + RING_LEAST;

	if (need <= s->conf.max_memory)
		return true;
	for (size_t i = 0; i < s->plan.n; i++) {
		char fix[PLAN_TEXT];

		if (s->plan.entry[i].state == PLAN_OFF || !source_serves(src, &s->plan.entry[i]))
			continue;
		snprintf(fix, sizeof(fix), "--max-memory %lluk",
			 (unsigned long long)(need + 1023) / 1024);
		plan_refuse(&s->plan.entry[i], fix,
			    "its tables need %llu bytes here, %llu are allowed",
			    (unsigned long long)need, (unsigned long long)s->conf.max_memory);
	}
	return false;
}

static void take_hooks(struct session *s, size_t i)
{
	size_t n = sources[i]->hooks(s->state[i], s->hook + s->nhooks, HOOKS_MAX - s->nhooks);

	for (size_t h = s->nhooks; h < s->nhooks + n; h++) {
		s->owner[h] = sources[i]->id;
		own_callers_add_program(&s->callers, s->hook[h].prog_fd, s->hook[h].target);
	}
	s->nhooks += n;
}

static int load_lists(struct session *s)
{
	const struct lists_conf conf = {
		.kernel = &s->kernel,
		.plan = &s->plan,
		.ring_fd = s->ring_fd,
		.no_ipi = s->conf.no_ipi,
	};

	return listers_load(&s->listers, &conf);
}

/* A source that cannot be loaded has said so in its plan rows; the others go on. */
static int load_sources(struct session *s)
{
	struct source_conf conf = {
		.kernel = &s->kernel,
		.plan = &s->plan,
		.ring_fd = s->ring_fd,
		.sample = s->conf.sample,
		.thinnable = s->budget.acts,
		.dims = s->conf.dims,
		.over_ns = s->conf.over_ns,
		.over_gp_ns = s->conf.over_gp_ns,
	};
	/* Estimates are of what tables hold; a little is kept back for how the kernel rounds them. */
	uint64_t left = s->conf.max_memory - ring_bytes(s) - s->conf.max_memory / 32;
	int err = load_lists(s);

	left -= smaller(left, listers_bytes(&s->listers, KD_SRC_COUNT));
	if (err)
		return err;
	for (size_t i = 0; sources[i]; i++) {
		if (!source_wanted(s, sources[i]) || !fits(s, sources[i]))
			continue;
		/* As much as is left, less the least that the sources after it need. */
		conf.max_memory = left - least_of_later(s, i, left);
		err = sources[i]->load(&s->state[i], &conf);
		if (err && err != -ENODEV)
			return err;
		if (!err)
			left -= smaller(left, sources[i]->kernel_bytes(s->state[i]));
		if (!err)
			take_hooks(s, i);
	}
	return 0;
}

/* Links of programs that no row uses any more, since it fell with another hook. */
static void close_needless_links(struct session *s)
{
	for (size_t i = 0; i < s->nhooks; i++) {
		bool used = false;

		for (unsigned int src = 0; src < KD_SRC_COUNT; src++)
			used |= plan_uses(&s->plan, src, s->hook[i].program);
		if (!used && s->link[i] >= 0) {
			close(s->link[i]);
			s->link[i] = -1;
			attach_drop(s->attach, i);
		}
	}
}

/* A job that was not done: what became of it, and why, goes into the rows of its program. */
static void note_attached(struct session *s, size_t i, int err)
{
	char reason[PLAN_TEXT], fix[PLAN_TEXT], event[2 * PLAN_TEXT];

	if (err == -ETIME && !kernel_recall_types(&s->kernel))
		kernel_see_tasks(&s->kernel, 0, NULL);
	plan_attach_reason(&s->kernel, s->hook[i].target, err, reason, fix);
	plan_attached(&s->plan, s->hook[i].program, err, reason, fix);
	if (err && err != -EINTR && s->out) {
		snprintf(event, sizeof(event), "%s: %s", s->hook[i].target, reason);
		events_say(s->out, "attach_failed", event);
	}
}

static int attach(struct session *s)
{
	struct attach_job jobs[HOOKS_MAX];
	uint64_t begin = clock_mono_ns();
	int err;

	for (size_t i = 0; i < s->nhooks; i++)
		jobs[i] = (struct attach_job){ .prog_fd = s->hook[i].prog_fd,
					       .attach_type = s->hook[i].attach_type };
	if (s->conf.before_attach)
		s->conf.before_attach();
	err = attach_all(&s->attach, jobs, s->nhooks, s->conf.attach_timeout_ns, s->conf.stopped);
	if (err)
		return log_err(err, "cannot start the process that attaches: %s", strerror(-err));
	for (size_t i = 0; i < s->nhooks; i++) {
		s->link[i] = jobs[i].link_fd;
		note_attached(s, i, jobs[i].err);
	}
	close_needless_links(s);
	s->self.attach_ns = clock_mono_ns() - begin;
	if (s->conf.stopped && s->conf.stopped())
		return log_err(-EINTR, "stopped by a signal before recording began");
	return 0;
}

static int say_settled(struct session *s, const struct settle_result *r)
{
	char left[128] = "", took[32];
	int err;

	for (unsigned int f = 0; f < KD_FL_RCU_END; f++)
		if (r->unsettled >> f & 1)
			text_append(left, sizeof(left), "%s%s", *left ? ", " : "", flavour_name(f));
	if (*left) {
		log_warn(
			"callbacks or grace periods of %s that attaching caused may be among what is "
			"measured: they were not past in time (--attach-timeout)",
			left);
		err = events_say(s->out, "not_settled", left);
		if (err)
			return err;
	}
	snprintf(took, sizeof(took), "%llu", (unsigned long long)r->took_ns);
	return host_fact(s->out, SESSION_SETTLE_NS, took);
}

/* Attaching hands over callbacks of its own and asks for grace periods: they are not to be measured. */
static int settle_down(struct session *s)
{
	const struct settle_conf conf = { .flavours = settle_flavours(&s->plan),
					  .most_ns = s->conf.attach_timeout_ns,
					  .stopped = s->conf.stopped };
	struct settle_result r;

	settle(s->settle, &conf, &r);
	s->settle = NULL;
	s->self.grace_periods = r.grace_periods;
	return say_settled(s, &r);
}

static int load_settle(struct session *s)
{
	char lacks[128], text[256];

	if (!s->nhooks || !settle_flavours(&s->plan))
		return 0;
	s->settle = settle_load(&s->kernel, s->ring_fd, lacks, sizeof(lacks));
	if (s->settle)
		return 0;
	snprintf(text, sizeof(text), "Tasks grace periods cannot be waited for: %s", lacks);
	return events_say(s->out, "not_settled", text);
}

static int nothing_left(struct session *s)
{
	for (size_t i = 0; i < s->plan.n; i++) {
		const struct plan_entry *e = &s->plan.entry[i];
		const struct measure_info *m = measure_info(e->measure->measure);

		if (e->state == PLAN_OFF)
			return log_err(-ENODEV, "%s.%s cannot be measured here: %s%s%s",
				       source_name(e->measure->source), m ? m->name : "?",
				       e->reason, *e->fix ? "; what would help: " : "", e->fix);
	}
	return log_err(-ENODEV, "nothing that was asked for can be measured here");
}

static int probe(struct session *s)
{
	if (plan_only_state(&s->conf.want))
		return plan_probe_state(&s->kernel);
	return plan_probe(&s->kernel, false, s->conf.attach_timeout_ns, s->conf.stopped);
}

/* Reports of waits are hooked for only where there is a limit from which on a wait is too long. */
static void leave_out_unarmed(struct session *s)
{
	const uint64_t *over = s->conf.over_ns;
	struct plan_request *want = &s->conf.want;

	if (!over[KD_M_CALL_RCU_LATENCY] && !over[KD_M_CALL_RCU_HOLDUP])
		want->measures &= ~(1ULL << KD_M_CALL_RCU_HOLDUP);
	if (!over[KD_M_RSTAT_HOLDUP])
		want->measures &= ~(1ULL << KD_M_RSTAT_HOLDUP);
	if (!over[KD_M_RCU_GP_HOLDUP])
		want->measures &= ~(1ULL << KD_M_RCU_GP_HOLDUP);
	for (unsigned int f = 0; f < KD_FL_RCU_END; f++)
		if (!s->conf.over_gp_ns[f] && !over[KD_M_RCU_GP_WAIT])
			want->hidden[KD_M_RCU_GP_HOLDUP] |= 1u << f;
}

static int open_all(struct session *s)
{
	int err;

	leave_out_unarmed(s);
	err = probe(s);

	if (!err)
		err = host_emit(&s->kernel, s->out);
	if (!err)
		err = events_open(&s->events, s->out);
	if (!err)
		err = plan_resolve(&s->plan, &s->kernel, &s->conf.want);
	if (!err && plan_any_on(&s->plan))
		err = open_ring(s);
	if (!err)
		err = budget_open(s);
	if (!err && plan_any_on(&s->plan))
		err = load_sources(s);
	if (!err)
		err = load_settle(s);
	kernel_forget_types(&s->kernel);
	malloc_trim(
		0); /* loading took several times what measuring, and the process of attach.c, need */
	if (!err && s->nhooks)
		err = attach(s);
	if (err)
		return err;
	if (s->nhooks)
		err = settle_down(s);
	if (!err)
		err = plan_emit(&s->plan, s->out);
	if (!err && !plan_any_on(&s->plan))
		err = nothing_left(s);
	return err;
}

static void session_init(struct session *s, const struct session_conf *conf, struct stream *stream)
{
	s->conf = *conf;
	s->out = stream;
	s->ring_fd = s->statm_fd = -1;
	s->events.online_fd = s->events.stat_fd = s->events.log_fd = -1;
	for (size_t i = 0; i < HOOKS_MAX; i++)
		s->link[i] = -1;
	s->self.sample = conf->sample;
	cost_init(s);
	listers_init(&s->listers, stream);
	bpf_util_quiet();
}

int session_open(struct session **out, const struct session_conf *conf, struct stream *stream)
{
	struct session *s = calloc(1, sizeof(*s));
	int err;

	*out = NULL;
	if (!s)
		return log_err(-ENOMEM, "out of memory");
	session_init(s, conf, stream);
	s->statm_fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	err = open_all(s);
	if (err) {
		session_close(s);
		return err;
	}
	*out = s;
	return 0;
}

static void free_session(struct session *s)
{
	for (size_t i = 0; sources[i]; i++)
		if (s->state[i])
			sources[i]->unload(s->state[i]);
	listers_unload(&s->listers);
	settle_unload(s->settle);
	ring_buffer__free(s->ring);
	if (s->ring_fd >= 0)
		close(s->ring_fd);
	if (s->statm_fd >= 0)
		close(s->statm_fd);
	cost_close(s);
	budget_close(s);
	events_close(&s->events);
	plan_free(&s->plan);
	kernel_free(&s->kernel);
	free(s);
}

static void say_slow(size_t left)
{
	log_info("the kernel takes its time to detach; %zu hooks are left", left);
}

/* What we close of the links are copies: the process that attached them closes the last. */
static void detach(struct session *s)
{
	uint64_t begin = clock_mono_ns(), took;
	int err;

	if (!s->attach)
		return;
	for (size_t i = 0; i < s->nhooks; i++)
		if (s->link[i] >= 0)
			close(s->link[i]);
	err = attach_end(s->attach, DETACH_WAIT_NS, say_slow);
	s->attach = NULL;
	if (err)
		log_warn(
			"the kernel has not detached all yet: a grace period is held up; the process "
			"kdefer-hooks ends when it has");
	took = clock_mono_ns() - begin;
	if (took > SLOW_DETACH_NS)
		log_info("detaching took %llu.%llu s", (unsigned long long)(took / 1000000000),
			 (unsigned long long)(took / 100000000 % 10));
	if (!err)
		s->self.detach_ns = took;
}

int session_detach(struct session *s)
{
	detach(s);
	return s->self.detach_ns ? stream_record(s->out, &s->self, sizeof(s->self)) : 0;
}

void session_close(struct session *s)
{
	if (!s)
		return;
	detach(s);
	free_session(s);
}

/* --- trying --- */

static bool hook_used(const struct session *s, size_t i)
{
	return plan_uses(&s->plan, s->owner[i], s->hook[i].program);
}

/* One hook: on and off again. -ETIME when the kernel does not come back from detaching. */
static int try_hook(struct session *s, size_t i)
{
	struct attach_job job = { .prog_fd = s->hook[i].prog_fd,
				  .attach_type = s->hook[i].attach_type };
	struct attach *a;
	int err = attach_all(&a, &job, 1, s->conf.attach_timeout_ns, s->conf.stopped);

	if (job.link_fd >= 0)
		close(job.link_fd);
	note_attached(s, i, err ? err : job.err);
	/* One that is stuck has had its time, and ends when the kernel lets it. */
	return attach_end(a, job.err == -ETIME ? 0 : s->conf.attach_timeout_ns, NULL);
}

/* Behind one that the kernel does not come back from, no other is tried: for the same reason. */
static void try_hooks(struct session *s)
{
	int err = 0;

	for (size_t i = 0; i < s->nhooks; i++) {
		if (!hook_used(s, i))
			continue;
		if (err)
			note_attached(s, i, err);
		else
			err = try_hook(s, i);
	}
}

/* Kernel memory that each source took. */
static void note_memory(struct session *s, uint64_t bytes[KD_SRC_COUNT])
{
	for (size_t i = 0; sources[i]; i++)
		if (s->state[i])
			bytes[sources[i]->id] += sources[i]->kernel_bytes(s->state[i]);
	for (unsigned int src = 0; src < KD_SRC_COUNT; src++)
		bytes[src] += listers_bytes(&s->listers, src);
}

int session_try(const struct session_conf *conf, struct kernel *k, struct plan *p,
		uint64_t bytes[KD_SRC_COUNT])
{
	struct session *s = calloc(1, sizeof(*s));
	int err = 0;

	if (!s)
		return log_err(-ENOMEM, "out of memory");
	session_init(s, conf, NULL);
	s->kernel = *k;
	s->plan = *p;
	if (plan_any_on(p))
		err = open_ring(s);
	if (!err && plan_any_on(p))
		err = load_sources(s);
	if (!err) {
		note_memory(s, bytes);
		try_hooks(s);
	}
	*k = s->kernel;
	*p = s->plan;
	memset(&s->kernel, 0, sizeof(s->kernel));
	memset(&s->plan, 0, sizeof(s->plan));
	free_session(s);
	return err;
}
