// SPDX-License-Identifier: GPL-2.0-only
/* memalloc_maps.c - the maps that have an allocator of their own, as the kernel's iterator lists them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "bpf_util.h"
#include "cpus.h"
#include "memalloc_maps.h"

int memalloc_cpus_read(struct ml_cpus *c)
{
	int *cpu, n, err = cpus_read("possible", &cpu, &n);

	memset(c, 0, sizeof(*c));
	if (err)
		return err;
	c->npossible = (uint32_t)n;
	for (int i = 0; i < n; i++)
		if ((uint32_t)cpu[i] >= c->n)
			c->n = (uint32_t)cpu[i] + 1;
	c->possible = calloc(c->n, sizeof(*c->possible));
	for (int i = 0; c->possible && i < n; i++)
		c->possible[cpu[i]] = true;
	free(cpu);
	return c->possible ? 0 : -ENOMEM;
}

static int find_distance(uint32_t cpu, int prog_fd, int map_fd, uint64_t *distance)
{
	uint64_t args[4] = { cpu };
	uint32_t failed = 0;
	int err = bpf_util_run(prog_fd, args, &failed);

	if (err || failed)
		return err ? err : -ENXIO;
	return bpf_map_lookup_elem(map_fd, &cpu, distance) ? -errno : 0;
}

int memalloc_distances(const struct ml_cpus *c, int prog_fd, int map_fd, uint64_t **distance)
{
	uint64_t *all = calloc(c->n, sizeof(*all));
	int err = all ? 0 : -ENOMEM;

	for (uint32_t cpu = 0; cpu < c->n && !err; cpu++)
		if (c->possible[cpu])
			err = find_distance(cpu, prog_fd, map_fd, &all[cpu]);
	if (err || !distance)
		free(all);
	else
		*distance = all;
	return err;
}

int memalloc_globals(int prog_fd, int map_fd, struct ml_globals *g)
{
	uint64_t args[4] = { 0 };
	uint32_t zero = 0;
	int err = bpf_util_run(prog_fd, args, NULL);

	if (err)
		return err;
	return bpf_map_lookup_elem(map_fd, &zero, g) ? -errno : 0;
}

const char *memalloc_global_name(unsigned int i)
{
	static const char *const names[ML_GLOBALS] = { "bpf_global_ma", "bpf_global_percpu_ma",
						       "bpf_cpumask_ma" };

	return i < ML_GLOBALS ? names[i] : "?";
}

bool memalloc_any_global(const struct ml_globals *g)
{
	for (int i = 0; i < ML_GLOBALS; i++)
		if (g->of[i].sizes || g->of[i].one)
			return true;
	return false;
}

static void keep_said(struct ml_maps *now, const struct ml_maps *before)
{
	size_t b = 0;

	for (size_t i = 0; i < now->n; i++) {
		while (b < before->n && before->map[b].found.id < now->map[i].found.id)
			b++;
		if (b < before->n && before->map[b].found.id == now->map[i].found.id)
			now->map[i].said = before->map[b].said;
	}
}

int memalloc_maps_read(struct ml_maps *m, int prog_fd)
{
	struct ml_maps now = { 0 };
	struct ml_found *found;
	size_t n;
	int err = bpf_util_iterate(prog_fd, sizeof(*found), (void **)&found, &n);

	if (err)
		return err;
	now.map = calloc(n ? n : 1, sizeof(*now.map));
	if (!now.map) {
		free(found);
		return -ENOMEM;
	}
	for (now.n = 0; now.n < n; now.n++)
		now.map[now.n].found = found[now.n];
	free(found);
	keep_said(&now, m);
	memalloc_maps_free(m);
	*m = now;
	return 0;
}

static int by_id(const void *key, const void *map)
{
	uint32_t id = *(const uint32_t *)key, other = ((const struct ml_map *)map)->found.id;

	return id < other ? -1 : id > other;
}

struct ml_map *memalloc_maps_find(const struct ml_maps *m, uint32_t id)
{
	return m->n ? bsearch(&id, m->map, m->n, sizeof(*m->map), by_id) : NULL;
}

void memalloc_maps_free(struct ml_maps *m)
{
	free(m->map);
	m->map = NULL;
	m->n = 0;
}
