// SPDX-License-Identifier: GPL-2.0-only
/* holdup_source.c - what the sources of reports have in common: loading, hooks, starting, ticks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf_util.h"
#include "catalog.h"
#include "holdup_source.h"
#include "log.h"
#include "percpu.h"

#define START 0
#define STOP 1

int holdup_source_new(void **state, const struct source_conf *conf, size_t size, unsigned int id,
		      int (*open)(void *state, const struct source_conf *conf),
		      void (*unload)(void *state))
{
	struct holdup_source *h = calloc(1, size);
	int err;

	if (!h)
		return -ENOMEM;
	h->plan = conf->plan;
	h->id = id;
	err = open(h, conf);
	if (!err) {
		*state = h;
		return 0;
	}
	holdup_refuse(conf->plan, id, "cannot be set up: %s", strerror(-err));
	unload(h);
	return err == -ENOMEM ? err : -ENODEV;
}

int holdup_source_fits(const struct holdup_source *h, const struct source_conf *conf,
		       uint64_t bytes)
{
	if (bytes <= conf->max_memory)
		return 0;
	holdup_refuse(h->plan, h->id, "its tables do not fit into the %llu bytes that are left",
		      (unsigned long long)conf->max_memory);
	return -E2BIG;
}

int holdup_source_not_opened(const struct holdup_source *h, int err)
{
	return log_err(err, "%s.holdup: cannot open its programs: %s", source_name(h->id),
		       strerror(-err));
}

static int program_fd(const struct bpf_object *obj, const char *name)
{
	return bpf_program__fd(bpf_object__find_program_by_name(obj, name));
}

int holdup_source_load(struct holdup_source *h, struct bpf_object_skeleton *skeleton, int ring_fd)
{
	int err;

	h->obj = *skeleton->obj;
	source_choose_programs(h->obj, h->plan, h->id);
	err = bpf_map__reuse_fd(bpf_object__find_map_by_name(h->obj, "ring"), ring_fd);
	if (!err)
		err = bpf_util_load_skeleton(skeleton);
	if (err) {
		holdup_refuse(h->plan, h->id, "the kernel does not load its programs: %s",
			      bpf_util_load_error(err));
		return err;
	}
	h->control_fd = program_fd(h->obj, "kd_control");
	h->tick_fd = program_fd(h->obj, "kd_tick");
	return 0;
}

int holdup_source_percpu(const struct holdup_source *h, int percpu_fd)
{
	int err = percpu_find(percpu_fd);

	if (err)
		holdup_refuse(h->plan, h->id, "RCU's per-CPU data cannot be found: %s",
			      strerror(-err));
	return err;
}

size_t holdup_source_hooks(void *state, struct source_hook *hooks, size_t max)
{
	struct holdup_source *h = state;

	return source_collect_hooks(h->obj, h->plan, h->id, hooks, max);
}

static int control(const struct holdup_source *h, uint64_t what)
{
	uint64_t args[4] = { what };

	return bpf_util_run(h->control_fd, args, NULL);
}

int holdup_source_start(void *state)
{
	const struct holdup_source *h = state;
	int err = control(h, START);

	return err ? log_err(err, "%s.holdup: cannot start recording: %s", source_name(h->id),
			     strerror(-err))
		   : 0;
}

void holdup_source_stop(void *state)
{
	control(state, STOP);
}

/* Reports come when what they are about ends: a tick adds what was lost of them. */
int64_t holdup_source_tick(void *state, uint32_t cursor, uint32_t interval)
{
	struct holdup_source *h = state;
	uint64_t args[4] = { cursor, interval };
	uint32_t next;
	int err = bpf_util_run(h->tick_fd, args, &next);

	return err ? err : (int64_t)next;
}

uint64_t holdup_source_bytes(void *state)
{
	struct holdup_source *h = state;

	return bpf_util_map_bytes(h->obj, "ring");
}
