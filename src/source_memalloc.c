// SPDX-License-Identifier: GPL-2.0-only
/*
 * source_memalloc.c - user side of bpf/memalloc.bpf.c: sizes its tables, starts, ticks and stops it, and
 * tells it at each tick which allocators there are.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "../bpf/defer.h"
#include "../bpf/memalloc.h"
#include "../bpf/memalloc_maps.h"
#include "../bpf/sizes.h"
#include "memalloc.skel.h"
#include "bpf_util.h"
#include "log.h"
#include "memalloc_layout.h"
#include "memalloc_maps.h"
#include "source.h"

#define OPEN_BYTES HASH_ELEM_BYTES(sizeof(uint64_t), sizeof(struct ma_open))
#define OWNER_BYTES HASH_ELEM_BYTES(sizeof(uint64_t), sizeof(struct ma_owner))
#define NAME_BYTES HASH_ELEM_BYTES(sizeof(uint32_t), sizeof(struct ma_map))

/* An allocator whose map is known. */
struct named {
	uint32_t id, serial;
	uint64_t base;
	bool gone; /* by the last look: its name goes with the next */
};

struct memalloc {
	struct memalloc_bpf *skel;
	struct plan *plan;
	int maps_prog; /* an iterator */
	struct ml_layout layout;
	struct ml_cpus cpus;
	struct named *named; /* allocators whose map is known, by map id */
	size_t nnamed;
	uint32_t serial; /* last given to one that was there before our programs */
	/* Programs that see beginnings, and what the kernel had kept from them at the start. */
	struct beginnings begins;
};

/* Powers of two. Maps, sizes and stages; batches at a time; maps that are known. */
struct sizes {
	uint32_t slots, open, maps;
	uint32_t cpus; /* with a series each; 0: not asked for */
};

static const struct sizes most = { .slots = 512, .open = 16384, .maps = 4096 };
static const struct sizes least = { .slots = 32, .open = 256, .maps = 64 };

static uint64_t bytes_for(const struct sizes *s, int possible)
{
	uint64_t spare = (uint64_t)possible; /* elements of each table, for each CPU */

	return (s->slots + s->cpus * MA_KINDS) * SERIES_BYTES + (s->open + spare) * OPEN_BYTES +
	       (2 * s->maps + spare) * OWNER_BYTES + (2 * s->maps + spare) * NAME_BYTES +
	       2 * MA_LISTS * WORST_BYTES + 131072 + spare * 64; /* small maps, rounding */
}

static int choose_sizes(struct sizes *s, uint64_t max, int possible, uint32_t cpus)
{
	*s = most;
	s->cpus = cpus;
	while (bytes_for(s, possible) > max) {
		if (s->open > least.open)
			s->open /= 2;
		else if (s->slots > least.slots)
			s->slots /= 2;
		else if (s->maps > least.maps)
			s->maps /= 2;
		else
			return -E2BIG;
	}
	return 0;
}

static bool by_cpu(uint32_t dims)
{
	return dims >> KD_DIM_CPU & 1;
}

static uint64_t memalloc_least(const struct kernel *k, uint32_t dims)
{
	struct sizes s = least;

	s.cpus = by_cpu(dims) ? (uint32_t)k->possible_cpus : 0;
	return bytes_for(&s, k->possible_cpus);
}

static void size_maps(struct memalloc *m, const struct sizes *s)
{
	uint32_t series = s->slots + s->cpus * MA_KINDS;

	bpf_map__set_max_entries(m->skel->maps.open, s->open);
	bpf_map__set_max_entries(m->skel->maps.owners, 2 * s->maps);
	bpf_map__set_max_entries(m->skel->maps.names, 2 * s->maps);
	bpf_map__set_max_entries(m->skel->maps.distances, m->cpus.n);
	bpf_map__set_max_entries(m->skel->maps.slots, series);
	bpf_map__set_max_entries(m->skel->maps.shadows, series);
	bpf_map__set_max_entries(m->skel->maps.worst, 2 * MA_LISTS);
}

static uint32_t kinds_of(const struct plan *plan)
{
	static const uint32_t kinds[KD_M_COUNT] = {
		[KD_M_MEMALLOC_LATENCY] = 1u << MA_RCU | 1u << MA_TRACE,
		[KD_M_MEMALLOC_REFILL] = 1u << MA_REFILL,
		[KD_M_MEMALLOC_DRAIN] = 1u << MA_DRAIN,
		[KD_M_MEMALLOC_REFILL_FAILED] = 1u << MA_EMPTY,
	};
	uint32_t all = 0;

	for (size_t i = 0; i < plan->n; i++)
		if (plan->entry[i].state != PLAN_OFF)
			all |= kinds[plan->entry[i].measure->measure];
	return all;
}

static void set_constants(struct memalloc *m, const struct source_conf *conf, const struct sizes *s)
{
	struct memalloc_bpf__rodata *ro = m->skel->rodata;

	ro->nr_slots = s->slots;
	ro->slot_shift = 64 - (uint32_t)__builtin_ctz(s->slots);
	ro->more_slots = s->cpus * MA_KINDS;
	ro->by_cpu = s->cpus > 0;
	ro->kinds = kinds_of(m->plan);
	ro->sample = conf->sample;
	ro->cpus = m->cpus.n;
	ro->type_rhash = m->layout.type_rhash;
}

static int load_object(struct memalloc *m, struct source_conf *conf)
{
	struct sizes s;
	int err = choose_sizes(&s, conf->max_memory, conf->kernel->possible_cpus,
			       by_cpu(conf->dims) ? m->cpus.n : 0);

	if (err) {
		source_refuse(m->plan, KD_SRC_MEMALLOC,
			      "its tables do not fit into the %llu bytes that are left",
			      (unsigned long long)conf->max_memory);
		return err;
	}
	m->skel = memalloc_bpf__open_opts(bpf_util_open_opts());
	if (!m->skel)
		return log_err(-errno, "memalloc: cannot open its programs: %s", strerror(errno));
	size_maps(m, &s);
	set_constants(m, conf, &s);
	source_choose_programs(m->skel->obj, m->plan, KD_SRC_MEMALLOC);
	err = bpf_map__reuse_fd(m->skel->maps.ring, conf->ring_fd);
	if (!err)
		err = bpf_util_load(m->skel->obj);
	if (err)
		source_refuse(m->plan, KD_SRC_MEMALLOC, "the kernel does not load its programs: %s",
			      bpf_util_load_error(err));
	return err;
}

/* --- which allocators there are --- */

/* The number of the allocator at `base`, a new one if it was there before our programs. 0: no room. */
static int serial_of(struct memalloc *m, uint64_t base, uint32_t global, uint32_t *serial)
{
	int fd = bpf_map__fd(m->skel->maps.owners);
	struct ma_owner o = { .serial = m->serial + 1, .global = global };

	*serial = 0;
	if (!bpf_map_update_elem(fd, &base, &o, BPF_NOEXIST))
		m->serial++;
	else if (errno == E2BIG)
		return 0;
	else if (errno != EEXIST)
		return -errno;
	else if (bpf_map_lookup_elem(fd, &base, &o))
		return errno == ENOENT ? 0 : -errno; /* gone this moment */
	*serial = o.serial;
	return 0;
}

static int add_globals(struct memalloc *m)
{
	struct ml_globals g;
	uint32_t serial;
	int err = memalloc_globals(bpf_program__fd(m->skel->progs.kd_globals),
				   bpf_map__fd(m->skel->maps.globals), &g);

	for (uint32_t i = 0; i < ML_GLOBALS && !err; i++) {
		if (g.of[i].one)
			err = serial_of(m, g.of[i].one, i + 1, &serial);
		for (uint32_t n = 0; g.of[i].sizes && n < m->layout.sizes && !err; n++)
			err = serial_of(m, g.of[i].sizes + n * m->layout.cache_size, i + 1,
					&serial);
	}
	return err;
}

static int by_id(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->base < y->base ? -1 : x->base > y->base;
}

static struct named *find(const struct memalloc *m, uint32_t id, uint64_t base)
{
	const struct named key = { .id = id, .base = base };

	return m->nnamed ? bsearch(&key, m->named, m->nnamed, sizeof(key), by_id) : NULL;
}

static bool has(const struct ml_maps *maps, uint32_t id, uint64_t base)
{
	const struct ml_map *map = memalloc_maps_find(maps, id);

	return map && (map->found.cache[0] == base || map->found.cache[1] == base);
}

/* Names stay for a tick longer, for what is still to be said of maps that have just gone. */
static void drop_gone(struct memalloc *m, const struct ml_maps *now)
{
	size_t n = 0;

	for (size_t i = 0; i < m->nnamed; i++) {
		struct named *x = &m->named[i];

		if (x->gone) {
			bpf_map_delete_elem(bpf_map__fd(m->skel->maps.names), &x->serial);
			continue;
		}
		x->gone = !has(now, x->id, x->base);
		m->named[n++] = *x;
	}
	m->nnamed = n;
}

/* What is new; its number is believed once the map was seen to be there before and after. */
static int find_new(struct memalloc *m, const struct ml_maps *now, struct named *new, size_t *n)
{
	int err = 0;

	*n = 0;
	for (size_t i = 0; i < now->n; i++)
		for (int c = 0; c < 2 && !err; c++) {
			const struct ml_found *f = &now->map[i].found;
			struct named x = { .id = f->id, .base = f->cache[c] };

			if (!x.base || find(m, x.id, x.base))
				continue;
			err = serial_of(m, x.base, 0, &x.serial);
			if (x.serial)
				new[(*n)++] = x;
		}
	return err;
}

static int say_name(struct memalloc *m, const struct named *x, const struct ml_maps *maps)
{
	const struct ml_map *map = memalloc_maps_find(maps, x->id);
	struct ma_map name = { .id = x->id };

	memcpy(name.name, map->found.name, sizeof(map->found.name));
	if (bpf_map_update_elem(bpf_map__fd(m->skel->maps.names), &x->serial, &name, BPF_ANY))
		return errno == E2BIG ? 0 : -errno; /* no room: "other" */
	m->named[m->nnamed++] = *x;
	return 0;
}

/* `seen` are those of the first look; the second confirms them. */
static int confirm_new(struct memalloc *m, struct ml_maps *seen, const struct named *new, size_t n)
{
	struct named *more;
	int err;

	if (!n)
		return 0;
	err = memalloc_maps_read(seen, m->maps_prog);
	if (err)
		return err;
	more = reallocarray(m->named, m->nnamed + n, sizeof(*more));
	if (!more)
		return -ENOMEM;
	m->named = more;
	for (size_t i = 0; i < n && !err; i++)
		if (has(seen, new[i].id, new[i].base))
			err = say_name(m, &new[i], seen);
	qsort(m->named, m->nnamed, sizeof(*m->named), by_id);
	return err;
}

static int update_maps(struct memalloc *m)
{
	struct ml_maps now = { 0 };
	struct named *new = NULL;
	size_t n;
	int err = memalloc_maps_read(&now, m->maps_prog);

	if (err)
		return err;
	drop_gone(m, &now);
	new = calloc(2 * now.n + 1, sizeof(*new));
	err = new ? find_new(m, &now, new, &n) : -ENOMEM;
	if (!err)
		err = confirm_new(m, &now, new, n);
	free(new);
	memalloc_maps_free(&now);
	return err;
}

/* --- a source --- */

static void memalloc_unload(void *state)
{
	struct memalloc *m = state;

	if (!m)
		return;
	memalloc_bpf__destroy(m->skel);
	free(m->cpus.possible);
	free(m->named);
	free(m);
}

static int find_allocators(struct memalloc *m)
{
	int err = memalloc_distances(&m->cpus, bpf_program__fd(m->skel->progs.kd_distance),
				     bpf_map__fd(m->skel->maps.distances), NULL);

	if (err)
		return err;
	m->maps_prog = bpf_program__fd(m->skel->progs.kd_maps);
	err = add_globals(m);
	return err ? err : update_maps(m);
}

static int load(struct memalloc *m, struct source_conf *conf)
{
	int err = memalloc_layout(conf->kernel->btf, &m->layout);

	if (!err)
		err = memalloc_cpus_read(&m->cpus);
	if (!err)
		err = load_object(m, conf);
	return err ? err : find_allocators(m);
}

static int memalloc_load(void **state, struct source_conf *conf)
{
	struct memalloc *m = calloc(1, sizeof(*m));
	int err;

	if (!m)
		return -ENOMEM;
	m->plan = conf->plan;
	err = load(m, conf);
	if (err) {
		source_refuse(conf->plan, KD_SRC_MEMALLOC, "cannot be set up: %s", strerror(-err));
		memalloc_unload(m);
		return err == -ENOMEM ? err : -ENODEV;
	}
	*state = m;
	return 0;
}

static size_t memalloc_hooks(void *state, struct source_hook *hooks, size_t max)
{
	struct memalloc *m = state;
	size_t n = source_collect_hooks(m->skel->obj, m->plan, KD_SRC_MEMALLOC, hooks, max);

	beginnings_collect(&m->begins, hooks, n);
	return n;
}

static int control(struct memalloc *m, enum ma_run what)
{
	uint64_t args[4] = { what };

	return bpf_util_run(bpf_program__fd(m->skel->progs.kd_control), args, NULL);
}

static int memalloc_start(void *state)
{
	struct memalloc *m = state;
	int err = update_maps(m);

	beginnings_start(&m->begins);
	if (!err)
		err = control(m, MA_START);
	return err ? log_err(err, "memalloc: cannot start recording: %s", strerror(-err)) : 0;
}

static void memalloc_stop(void *state)
{
	control(state, MA_STOP);
}

static int memalloc_runs(void *state, struct cpu_runs *by_cpu, int cpus)
{
	struct memalloc *own = state;

	return source_cell_runs(own->skel->obj, by_cpu, cpus);
}

static int64_t memalloc_tick(void *state, uint32_t cursor, uint32_t interval)
{
	struct memalloc *m = state;
	uint64_t args[4] = { cursor, interval };
	uint32_t next;
	int err = cursor ? 0 : update_maps(m);

	args[2] = beginnings_missed(&m->begins);
	if (!err)
		err = bpf_util_run(bpf_program__fd(m->skel->progs.kd_tick), args, &next);
	return err ? err : (int64_t)next;
}

static uint64_t memalloc_bytes(void *state)
{
	struct memalloc *m = state;

	return bpf_util_map_bytes(m->skel->obj, "ring");
}

const struct source source_memalloc = {
	.id = KD_SRC_MEMALLOC,
	.load = memalloc_load,
	.hooks = memalloc_hooks,
	.start = memalloc_start,
	.tick = memalloc_tick,
	.runs = memalloc_runs,
	.stop = memalloc_stop,
	.unload = memalloc_unload,
	.kernel_bytes = memalloc_bytes,
	.least_bytes = memalloc_least,
};
