// SPDX-License-Identifier: GPL-2.0-only
/* lists_memalloc.c - pending lists of BPF memory: finds the allocators, has them looked at, names them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "../bpf/memalloc_lists.h"
#include "memalloc_lists.skel.h"
#include "bpf_util.h"
#include "clock.h"
#include "cpus.h"
#include "lists.h"
#include "log.h"
#include "memalloc_look.h"
#include "stream.h"

#define PART_NS 10000000ULL /* of a look at a time, then the ring is drained */
/* All open files of the host are looked at for holders: for a map that is new, and now and then. */
#define HOLDERS_LEAST_NS 1000000000ULL
#define HOLDERS_OFTEN_NS 10000000000ULL
#define HOLDERS_SHOWN 24

struct memalloc {
	struct memalloc_lists_bpf *skel;
	struct ml_layout layout;
	struct ml_look look;
	struct ml_cpus cpus;
	struct ml_globals globals;
	struct ml_maps maps;
	int maps_prog, files_prog; /* iterators; files_prog < 0: holders cannot be had */
	bool named_lists;          /* those without a name of ours, and global allocators */
	uint64_t holders_ns;
	uint64_t vanished, torn, checked, unchecked; /* as last said */
	struct ml_flow flow;                         /* the same */
	uint64_t read_bytes, runs, run_ns, longest_ns;
};

/* --- loading --- */

static void set_constants(struct memalloc *m)
{
	struct memalloc_lists_bpf__rodata *ro = m->skel->rodata;

	memcpy((void *)ro->lists, m->layout.list, sizeof(m->layout.list));
	ro->nr_lists = (uint32_t)m->layout.n;
	ro->type_rhash = m->layout.type_rhash;
}

static int load_object(struct memalloc *m, const struct lists_conf *conf)
{
	int err;

	m->skel = memalloc_lists_bpf__open_opts(bpf_util_open_opts());
	if (!m->skel)
		return log_err(-errno, "memalloc: cannot open its programs: %s", strerror(errno));
	set_constants(m);
	bpf_map__set_max_entries(m->skel->maps.distances, m->cpus.n);
	err = bpf_map__reuse_fd(m->skel->maps.ring, conf->ring_fd);
	if (!err)
		err = bpf_util_load(m->skel->obj);
	if (err)
		lists_refuse(conf->plan, KD_SRC_MEMALLOC,
			     "the kernel does not load its programs: %s", bpf_util_load_error(err));
	return err;
}

static int map_shared(struct memalloc *m)
{
	void *at = mmap(NULL, sizeof(struct ml_shared), PROT_READ | PROT_WRITE, MAP_SHARED,
			bpf_map__fd(m->skel->maps.shared), 0);

	if (at == MAP_FAILED)
		return -errno;
	m->look.shared = at;
	return 0;
}

/* What the files of maps look like, for which any map does. */
static int find_fops(struct memalloc *m)
{
	uint64_t args[4] = { (uint64_t)bpf_map__fd(m->skel->maps.shared) };

	return bpf_util_run(bpf_program__fd(m->skel->progs.kd_fops), args, NULL);
}

static int find_memory(struct memalloc *m)
{
	const struct memalloc_lists_bpf *s = m->skel;
	int err = memalloc_distances(&m->cpus, bpf_program__fd(s->progs.kd_distance),
				     bpf_map__fd(s->maps.distances), &m->look.distance);

	return err ? err
		   : memalloc_globals(bpf_program__fd(s->progs.kd_globals),
				      bpf_map__fd(s->maps.globals), &m->globals);
}

static int try_iterator(int prog_fd)
{
	int fd = bpf_util_iterator(prog_fd);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

static int try_iterators(struct memalloc *m)
{
	m->maps_prog = bpf_program__fd(m->skel->progs.kd_maps);
	m->files_prog = bpf_program__fd(m->skel->progs.kd_files);
	if (try_iterator(m->files_prog))
		m->files_prog = -1; /* without holders it goes as well */
	return try_iterator(m->maps_prog);
}

static int prepare(struct memalloc *m)
{
	int err = map_shared(m);

	if (!err)
		err = try_iterators(m);
	if (!err)
		err = find_memory(m);
	return err ? err : find_fops(m);
}

/* What is there but out of sight is said beside the row. */
static void say_missing(const struct memalloc *m, const struct lists_conf *conf)
{
	if (memalloc_any_global(&m->globals) ||
	    !kernel_has_func(conf->kernel, "bpf_global_ma_init"))
		return;
	for (size_t i = 0; i < conf->plan->n; i++) {
		struct plan_entry *e = &conf->plan->entry[i];

		if (e->measure->measure == KD_M_MEMALLOC_PENDING && e->state != PLAN_OFF)
			snprintf(e->reason, sizeof(e->reason),
				 "without allocators that belong to no map (bpf_global_ma: its "
				 "address is not in kallsyms)");
	}
}

static void ml_unload(void *state)
{
	struct memalloc *m = state;

	if (!m)
		return;
	if (m->look.shared)
		munmap(m->look.shared, sizeof(struct ml_shared));
	memalloc_lists_bpf__destroy(m->skel);
	memalloc_maps_free(&m->maps);
	memalloc_look_free(&m->look);
	free(m->cpus.possible);
	free(m);
}

static int find_cpus(struct memalloc *m)
{
	int err = memalloc_cpus_read(&m->cpus);

	if (err)
		return err;
	m->look.cpus = &m->cpus;
	m->look.online = calloc(m->cpus.n, sizeof(*m->look.online));
	return m->look.online ? 0 : -ENOMEM;
}

static int load(struct memalloc *m, const struct lists_conf *conf)
{
	int err = memalloc_layout(conf->kernel->btf, &m->layout);

	if (err) {
		lists_refuse(conf->plan, KD_SRC_MEMALLOC,
			     "this kernel's BTF has no struct bpf_mem_cache with lists");
		return err;
	}
	err = find_cpus(m);
	if (!err)
		err = load_object(m, conf);
	if (!err)
		err = prepare(m);
	if (err)
		lists_refuse(conf->plan, KD_SRC_MEMALLOC, "cannot be set up: %s", strerror(-err));
	return err;
}

static int ml_load(void **state, const struct lists_conf *conf)
{
	struct memalloc *m = calloc(1, sizeof(*m));
	int err = m ? load(m, conf) : -ENOMEM;

	if (err) {
		ml_unload(m);
		return err == -ENOMEM ? log_err(err, "out of memory") : -ENODEV;
	}
	m->look.layout = &m->layout;
	m->look.no_ipi = conf->no_ipi;
	m->look.sweep_fd = bpf_program__fd(m->skel->progs.kd_sweep);
	m->look.walk_fd = bpf_program__fd(m->skel->progs.kd_walk);
	m->look.send_fd = bpf_program__fd(m->skel->progs.kd_send);
	say_missing(m, conf);
	*state = m;
	return 0;
}

/* --- looking --- */

static void add_cache(struct ml_look *l, uint64_t key, uint64_t map, uint64_t cache, uint32_t id)
{
	if (cache)
		l->cache[l->ncaches++] = (struct ml_place_of){
			.cache = { .map = map, .cache = cache, .id = id },
			.key = key,
		};
}

static int list_caches(struct memalloc *m)
{
	struct ml_look *l = &m->look;
	size_t most = 2 * m->maps.n + ML_GLOBALS * (m->layout.sizes + 1);

	free(l->cache);
	l->ncaches = 0;
	l->cache = calloc(most, sizeof(*l->cache));
	if (!l->cache)
		return -ENOMEM;
	for (uint32_t i = 0; i < ML_GLOBALS; i++) {
		uint64_t sizes = m->globals.of[i].sizes;

		for (uint32_t n = 0; sizes && n < m->layout.sizes; n++)
			add_cache(l, KD_KEY_GLOBAL + i, 0, sizes + n * m->layout.cache_size, 0);
		add_cache(l, KD_KEY_GLOBAL + i, 0, m->globals.of[i].one, 0);
	}
	for (size_t i = 0; i < m->maps.n; i++) {
		const struct ml_found *f = &m->maps.map[i].found;

		add_cache(l, f->id, f->map, f->cache[0], f->id);
		add_cache(l, f->id, f->map, f->cache[1], f->id);
	}
	return 0;
}

static int read_online(struct ml_look *l)
{
	int *cpu, n, err = cpus_read("online", &cpu, &n);

	if (err)
		return err;
	memset(l->online, 0, l->cpus->n * sizeof(*l->online));
	for (int i = 0; i < n; i++)
		if ((uint32_t)cpu[i] < l->cpus->n)
			l->online[cpu[i]] = true;
	free(cpu);
	return 0;
}

static int begin(struct memalloc *m)
{
	int err = memalloc_maps_read(&m->maps, m->maps_prog);

	if (!err)
		err = list_caches(m);
	if (!err)
		err = read_online(&m->look);
	if (err)
		return log_err(err, "memalloc: cannot list the maps: %s", strerror(-err));
	memalloc_look_begin(&m->look);
	return 0;
}

static int64_t ml_look(void *state, uint32_t cursor)
{
	struct memalloc *m = state;
	uint64_t until = clock_mono_ns() + PART_NS;
	int err = cursor ? 0 : begin(m);

	while (!err && m->look.phase != ML_DONE) {
		if (clock_mono_ns() > until)
			return 1;
		err = memalloc_look_step(&m->look);
	}
	return err; /* > 0: the ring is full */
}

/* --- names --- */

static int say_name(struct stream *out, enum kd_name_of of, uint64_t number,
		    const char *const *texts, int n)
{
	uint64_t buf[KD_REC_MAX / sizeof(uint64_t)];
	const struct kd_rec *rec = stream_make_text(
		buf, KD_REC_NAME, of | (uint64_t)KD_SRC_MEMALLOC << 8, number, texts, n);

	return stream_record(out, rec, rec->len);
}

static int name_fixed(struct memalloc *m, struct stream *out)
{
	int err = 0;

	for (size_t i = 0; i < m->layout.n && !err; i++) {
		const char *const text[] = { m->layout.name[i] };

		if (m->layout.list[i].list >= KD_LIST_UNKNOWN)
			err = say_name(out, KD_NAME_LIST, m->layout.list[i].list, text, 1);
	}
	for (int i = 0; i < ML_GLOBALS && !err; i++) {
		const char *const text[] = { memalloc_global_name((unsigned int)i), "global" };

		if (m->globals.of[i].sizes || m->globals.of[i].one)
			err = say_name(out, KD_NAME_MAP, KD_KEY_GLOBAL + (uint64_t)i, text, 2);
	}
	return err;
}

static uint64_t hash_texts(const char *const *text, int n)
{
	uint64_t h = 0xcbf29ce484222325ULL;

	for (int i = 0; i < n; i++)
		for (const char *c = text[i];; c++) {
			h = (h ^ (unsigned char)*c) * 0x100000001b3ULL;
			if (!*c)
				break;
		}
	return h | 1;
}

/* h NULL: who holds it is not known yet. */
static int name_map(struct memalloc *m, struct ml_map *map, const struct ml_holders *h,
		    struct stream *out)
{
	char name[sizeof(map->found.name) + 1], buf[3072];
	const char *text[2 + HOLDERS_SHOWN] = { name, "unknown" };
	uint64_t hash;
	int n = 2;

	snprintf(name, sizeof(name), "%.*s", (int)sizeof(map->found.name), map->found.name);
	if (map->found.type < ML_TYPES && *m->layout.type[map->found.type])
		text[1] = m->layout.type[map->found.type];
	if (h)
		n += memalloc_holders_texts(h, map->found.id, text + 2, HOLDERS_SHOWN, buf,
					    sizeof(buf));
	hash = hash_texts(text, n);
	if (hash == map->said)
		return 0;
	map->said = hash;
	return say_name(out, KD_NAME_MAP, map->found.id, text, n);
}

static bool any_new(const struct memalloc *m)
{
	for (size_t i = 0; i < m->maps.n; i++)
		if (!m->maps.map[i].said)
			return true;
	return false;
}

static int name_maps(struct memalloc *m, struct stream *out)
{
	uint64_t since = clock_mono_ns() - m->holders_ns;
	struct ml_holders *h = NULL;
	bool news = any_new(m);
	int err = 0;

	if (m->files_prog >= 0 && since > (news ? HOLDERS_LEAST_NS : HOLDERS_OFTEN_NS) &&
	    !memalloc_holders_read(&h, m->files_prog))
		m->holders_ns = clock_mono_ns();
	for (size_t i = 0; (h || news) && i < m->maps.n && !err; i++)
		if (h || !m->maps.map[i].said)
			err = name_map(m, &m->maps.map[i], h, out);
	memalloc_holders_free(h);
	return err;
}

static int say_total(struct stream *out, unsigned int kind, unsigned int what, uint64_t total,
		     uint64_t *said)
{
	struct kd_rec_total r = { .rec = { .kind = (uint16_t)kind, .len = sizeof(r) },
				  .source = KD_SRC_MEMALLOC,
				  .what = (uint16_t)what,
				  .total = total };

	if (total == *said)
		return 0;
	*said = total;
	return stream_record(out, &r, sizeof(r));
}

static int say_flow(struct memalloc *m, struct stream *out)
{
	const struct ml_flow *now = &m->look.flow;
	struct ml_flow *said = &m->flow;
	int err = say_total(out, KD_REC_COUNT, KD_CNT_FLOW_LOOKS, now->looks, &said->looks);

	if (!err)
		err = say_total(out, KD_REC_COUNT, KD_CNT_FLOW_IN, now->in, &said->in);
	if (!err)
		err = say_total(out, KD_REC_COUNT, KD_CNT_FLOW_OUT, now->out, &said->out);
	if (!err)
		err = say_total(out, KD_REC_COUNT, KD_CNT_FLOW_IN_BYTES, now->in_bytes,
				&said->in_bytes);
	return err ? err
		   : say_total(out, KD_REC_COUNT, KD_CNT_FLOW_OUT_BYTES, now->out_bytes,
			       &said->out_bytes);
}

/* What looking costs. */
static int say_cost(struct memalloc *m, struct stream *out)
{
	const struct ml_look *l = &m->look;
	int err = say_total(out, KD_REC_COUNT, KD_CNT_READ_BYTES, l->read_bytes, &m->read_bytes);

	if (!err)
		err = say_total(out, KD_REC_COUNT, KD_CNT_READ_RUNS, l->runs_done, &m->runs);
	if (!err)
		err = say_total(out, KD_REC_COUNT, KD_CNT_READ_NS, l->run_ns, &m->run_ns);
	return err ? err
		   : say_total(out, KD_REC_COUNT, KD_CNT_LONGEST_NS, l->longest_ns, &m->longest_ns);
}

static int ml_names(void *state, struct stream *out)
{
	struct memalloc *m = state;
	int err = m->named_lists ? 0 : name_fixed(m, out);

	m->named_lists = true;
	if (!err)
		err = name_maps(m, out);
	if (!err)
		err = say_flow(m, out);
	if (!err)
		err = say_cost(m, out);
	if (!err)
		err = say_total(out, KD_REC_LOST, KD_LOST_VANISHED, m->look.vanished, &m->vanished);
	if (!err)
		err = say_total(out, KD_REC_LOST, KD_LOST_TORN, m->look.torn, &m->torn);
	if (!err)
		err = say_total(out, KD_REC_COUNT, KD_CNT_CHECKED, m->look.checked, &m->checked);
	return err ? err
		   : say_total(out, KD_REC_COUNT, KD_CNT_UNCHECKED, m->look.unchecked,
			       &m->unchecked);
}

static uint64_t ml_bytes(void *state)
{
	struct memalloc *m = state;

	return bpf_util_map_bytes(m->skel->obj, "ring");
}

const struct lists lists_memalloc = {
	.source = KD_SRC_MEMALLOC,
	.load = ml_load,
	.look = ml_look,
	.names = ml_names,
	.unload = ml_unload,
	.kernel_bytes = ml_bytes,
};
