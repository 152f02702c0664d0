// SPDX-License-Identifier: GPL-2.0-only
/* memalloc_maps.c - the maps that have an allocator of their own, as the kernel's iterator lists them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf_util.h"
#include "memalloc_maps.h"

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
