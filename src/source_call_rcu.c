// SPDX-License-Identifier: GPL-2.0-only
/* source_call_rcu.c - user side of bpf/call_rcu.bpf.c: sizes its tables, starts, ticks and stops it. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "../bpf/defer.h"
#include "../bpf/call_rcu.h"
#include "../bpf/sizes.h"
#include "percpu.h"
#include "call_rcu.skel.h"
#include "bpf_util.h"
#include "cpus.h"
#include "log.h"
#include "source.h"

#define SPILL_BYTES HASH_ELEM_BYTES(sizeof(uint64_t), sizeof(struct cr_away))
#define BY_ADDRESS_BYTES HASH_ELEM_BYTES(sizeof(uint64_t), sizeof(uint32_t))

struct call_rcu {
	struct call_rcu_bpf *skel;
	struct plan *plan;
	int cpus;    /* possible */
	int *online; /* the CPUs that are online, at load */
	int nonline;
	int cpus_fd, slots_fd; /* of sections that are larger than the object says */
	bool offload;          /* some CPU may be offloaded */
	uint32_t flavours;     /* bits of enum kd_flavour: rows that are not off */
	uint64_t
		kfree_missed; /* hand-overs to kfree_rcu() that the kernel had kept from us at the start */
};

/* What is sized to the memory allowed. All powers of two. */
struct sizes {
	uint32_t slots, spill, depth;
	uint32_t kfree;     /* objects given to kfree_rcu(); 1: not asked for */
	uint32_t cpu_slots; /* series of each CPU: one a flavour, or none */
};

static const struct sizes most = {
	.slots = CR_SLOTS, .spill = 65536, .depth = CR_DEPTH, .kfree = 32768
};
static const struct sizes least = { .slots = 16, .spill = 64, .depth = 64, .kfree = 64 };

static uint64_t cpu_bytes(const struct sizes *s)
{
	return CR_CPU_BYTES(s->depth);
}

static uint64_t bytes_for(const struct sizes *s, int cpus)
{
	uint64_t per_cpu =
		cpu_bytes(s) + 2 * WORST_BYTES + 3 * BY_ADDRESS_BYTES + s->cpu_slots * SERIES_BYTES;

	return (uint64_t)cpus * per_cpu + cpu_bytes(s) + s->slots * SERIES_BYTES +
	       s->spill * SPILL_BYTES + s->kfree * SPILL_BYTES + 65536; /* small maps, rounding */
}

/* Halves whatever is largest until it fits. */
static int choose_sizes(struct sizes *s, uint64_t max, int cpus, uint32_t cpu_slots, bool kfree)
{
	*s = most;
	s->cpu_slots = cpu_slots;
	if (!kfree)
		s->kfree = 1;
	while (bytes_for(s, cpus) > max) {
		uint64_t fifo = (uint64_t)cpus * s->depth * sizeof(struct cr_entry);
		uint64_t spill = s->spill * SPILL_BYTES, slots = s->slots * SERIES_BYTES;

		if (s->depth > least.depth && fifo >= spill && fifo >= slots)
			s->depth /= 2;
		else if (s->kfree > least.kfree && s->kfree * SPILL_BYTES >= slots)
			s->kfree /= 2;
		else if (s->spill > least.spill && spill >= slots)
			s->spill /= 2;
		else if (s->slots > least.slots)
			s->slots /= 2;
		else if (s->depth > least.depth)
			s->depth /= 2;
		else if (s->spill > least.spill)
			s->spill /= 2;
		else if (s->kfree > least.kfree)
			s->kfree /= 2;
		else
			return -E2BIG;
	}
	return 0;
}

static uint64_t call_rcu_least(const struct kernel *k, uint32_t dims)
{
	struct sizes s = least;

	s.cpu_slots = dims >> KD_DIM_CPU & 1 ? CR_FLAVOURS : 0;
	return bytes_for(&s, k->possible_cpus);
}

static unsigned int log2_of(uint32_t n)
{
	return 31 - (unsigned int)__builtin_clz(n);
}

static void size_maps(struct call_rcu *c, const struct sizes *s)
{
	uint32_t cpus = (uint32_t)c->cpus;

	bpf_map__set_max_entries(c->skel->maps.spill, s->spill);
	bpf_map__set_max_entries(c->skel->maps.kfreed, s->kfree);
	bpf_map__set_max_entries(c->skel->maps.loads, cpus);
	bpf_map__set_max_entries(c->skel->maps.lists, cpus);
	bpf_map__set_max_entries(c->skel->maps.barriers, cpus);
	bpf_map__set_max_entries(c->skel->maps.batches, cpus < 16 ? 16 : cpus);
	bpf_map__set_max_entries(c->skel->maps.slots, s->cpu_slots ? s->cpu_slots * cpus : 1);
	bpf_map__set_max_entries(c->skel->maps.shadows, s->slots + s->cpu_slots * cpus);
	bpf_map__set_max_entries(c->skel->maps.worst, (cpus + CR_KFREE_BINS) * 2);
}

/*
 * Sections that the object has only the name of get a map of one value, as large as is needed, until
 * the programs are loaded, which then keep it. libbpf goes by the size of the map when it gives the
 * memory of the section back, so the section has to have a small one again by then.
 */
static int give_space(struct bpf_map *section, int fd)
{
	return fd < 0 ? fd : bpf_map__reuse_fd(section, fd);
}

static int new_space(const char *name, uint64_t bytes)
{
	if (bytes > INT_MAX)
		return -E2BIG;
	return bpf_map_create(BPF_MAP_TYPE_ARRAY, name, sizeof(uint32_t), (uint32_t)bytes, 1, NULL);
}

static int give_spaces(struct call_rcu *c, const struct sizes *s)
{
	int err;

	c->cpus_fd = new_space("kd_cpus", ((uint64_t)c->cpus + 1) * cpu_bytes(s));
	c->slots_fd = new_space("kd_slots", s->slots * (uint64_t)SERIES_SLOT_BYTES);
	err = give_space(c->skel->maps.data_cpus, c->cpus_fd);
	return err ? err : give_space(c->skel->maps.data_slots, c->slots_fd);
}

/* Without memory for eight bytes the object is not given back. */
static int take_spaces_back(struct call_rcu *c)
{
	int fd = new_space("kd_none", sizeof(uint64_t)), err;

	err = give_space(c->skel->maps.data_cpus, fd);
	if (!err)
		err = give_space(c->skel->maps.data_slots, fd);
	if (fd >= 0)
		close(fd);
	return err;
}

static void close_spaces(struct call_rcu *c)
{
	if (c->cpus_fd >= 0)
		close(c->cpus_fd);
	if (c->slots_fd >= 0)
		close(c->slots_fd);
	c->cpus_fd = c->slots_fd = -1;
}

/*
 * The kernel has lazy callbacks only with CONFIG_RCU_LAZY, which shows as a field; without offloading
 * nothing is ever lazy, which the program finds out per CPU.
 */
static void set_constants(struct call_rcu *c, const struct source_conf *conf, const struct sizes *s,
			  bool offload)
{
	struct call_rcu_bpf__rodata *ro = c->skel->rodata;

	ro->nr_slots = s->slots;
	ro->slot_shift = 64 - log2_of(s->slots);
	ro->fifo_mask = s->depth - 1;
	ro->cpu_bytes = (uint32_t)cpu_bytes(s);
	ro->nr_cpus = (uint32_t)c->cpus;
	ro->offload = offload;
	ro->lazy_exists = offload && kernel_has_field(conf->kernel, "rcu_data", "lazy_len") &&
			  kernel_has_func(conf->kernel, "__call_rcu_common");
	ro->flavours = c->flavours;
	ro->nr_flavours = 0;
	for (uint8_t f = KD_FL_RCU; f < KD_FL_RCU_END; f++) {
		ro->flavour_rank[f] = (uint8_t)ro->nr_flavours;
		if (c->flavours >> f & 1)
			ro->flavour_ranked[ro->nr_flavours++] = f;
	}
	ro->more_slots = s->cpu_slots * (uint32_t)c->cpus;
	if (!s->cpu_slots && !offload && conf->sample <= 1 && s->depth == CR_DEPTH &&
	    s->slots == CR_SLOTS)
		ro->plain_cpus = ro->nr_cpus;
	else
		ro->plain_cpus = 0;
	ro->thinnable = conf->thinnable;
	ro->sample_below = conf->sample > 1 ? (uint32_t)((1ULL << 32) / conf->sample) : 0;
}

/*
 * Whether some CPU can be offloaded is known only once a program has looked: the hooks that serve
 * such CPUs are loaded always, and attached only where there are any.
 */
static const char *const offload_hooks[] = { "kd_batch", "kd_bypass", "kd_bypass_flush",
					     "kd_lazy_wish" };

static int find_percpu(struct call_rcu *c)
{
	int err = percpu_find(bpf_program__fd(c->skel->progs.kd_percpu));

	if (err)
		source_refuse(c->plan, KD_SRC_CALL_RCU, "RCU's per-CPU data cannot be found: %s",
			      strerror(-err));
	return err;
}

static int load_object(struct call_rcu *c, struct source_conf *conf, const struct sizes *s,
		       bool offload)
{
	int err;

	c->skel = call_rcu_bpf__open_opts(bpf_util_open_opts());
	if (!c->skel)
		return log_err(-errno, "call_rcu: cannot open its programs: %s", strerror(errno));
	percpu_fill(&c->skel->rodata->percpu,
		    conf->kernel); /* the plan has asked for what is needed */
	percpu_size(c->skel->maps.percpu_bases, &c->skel->rodata->percpu);
	size_maps(c, s);
	set_constants(c, conf, s, offload);
	source_choose_programs(c->skel->obj, c->plan, KD_SRC_CALL_RCU);
	err = bpf_map__reuse_fd(c->skel->maps.ring, conf->ring_fd);
	if (!err)
		err = give_spaces(c, s);
	if (!err)
		err = bpf_util_load(c->skel->obj);
	if (take_spaces_back(c)) {
		c->skel = NULL; /* left, since libbpf would give back what is not its own */
		return -ENOMEM;
	}
	if (err)
		source_refuse(c->plan, KD_SRC_CALL_RCU, "the kernel does not load its programs: %s",
			      bpf_util_load_error(err));
	else
		err = find_percpu(c);
	if (err) {
		call_rcu_bpf__destroy(c->skel);
		c->skel = NULL;
		close_spaces(c);
	}
	return err;
}

static bool is_online(const struct call_rcu *c, int cpu)
{
	for (int i = 0; i < c->nonline; i++)
		if (c->online[i] == cpu)
			return true;
	return false;
}

/* Runs kd_control for a CPU: on that CPU where it is online, so that its list stands still meanwhile. */
static int control(struct call_rcu *c, enum cr_run what, int cpu, uint32_t *ret)
{
	uint64_t args[4] = { what, (uint64_t)cpu };
	int fd = bpf_program__fd(c->skel->progs.kd_control);

	if (is_online(c, cpu) && !bpf_util_run_on(fd, args, cpu, ret))
		return 0;
	return bpf_util_run(fd, args, ret); /* offline, or went offline: from afar */
}

static int control_all(struct call_rcu *c, enum cr_run what)
{
	uint32_t answer = 0;
	int err = 0;

	for (int cpu = 0; cpu < c->cpus && !err; cpu++) {
		err = control(c, what, cpu, &answer);
		if (!err && (int32_t)answer < 0)
			err = -ENODATA; /* no such CPU in the tables, or in the kernel's */
		c->offload |= answer == 1;
	}
	return err;
}

/* Started once with nothing attached, the program tells which CPUs have a callback kthread. */
static int see_offload(struct call_rcu *c)
{
	int err = control_all(c, CR_START);

	return err ? err : control_all(c, CR_STOP);
}

static void call_rcu_unload(void *state)
{
	struct call_rcu *c = state;

	if (!c)
		return;
	call_rcu_bpf__destroy(c->skel);
	close_spaces(c);
	free(c->online);
	free(c);
}

static int load_sized(struct call_rcu *c, struct source_conf *conf)
{
	struct sizes s;
	int err;

	for (size_t i = 0; i < conf->plan->n; i++)
		if (conf->plan->entry[i].measure->measure == KD_M_CALL_RCU_LATENCY &&
		    conf->plan->entry[i].state != PLAN_OFF)
			c->flavours |= 1u << conf->plan->entry[i].measure->flavour;
	err = choose_sizes(&s, conf->max_memory, c->cpus,
			   conf->dims >> KD_DIM_CPU & 1 ? (uint32_t)__builtin_popcount(c->flavours)
							: 0,
			   c->flavours >> KD_FL_KFREE & 1);
	if (err) {
		source_refuse(conf->plan, KD_SRC_CALL_RCU,
			      "its tables do not fit into the %llu bytes that are left",
			      (unsigned long long)conf->max_memory);
		return err;
	}
	err = load_object(c, conf, &s, false);
	if (!err)
		err = see_offload(c);
	if (!err && c->offload) {
		/* The constants change the programs: load them anew. */
		call_rcu_bpf__destroy(c->skel);
		close_spaces(c);
		err = load_object(c, conf, &s, true);
	}
	return err;
}

static int call_rcu_load(void **state, struct source_conf *conf)
{
	struct call_rcu *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return -ENOMEM;
	c->plan = conf->plan;
	c->cpus_fd = c->slots_fd = -1;
	c->cpus = conf->kernel->possible_cpus;
	err = cpus_read("online", &c->online, &c->nonline);
	if (!err)
		err = load_sized(c, conf);
	if (err) {
		source_refuse(conf->plan, KD_SRC_CALL_RCU, "cannot be set up: %s", strerror(-err));
		call_rcu_unload(c);
		return err == -ENOMEM ? err : -ENODEV;
	}
	*state = c;
	return 0;
}

static size_t call_rcu_hooks(void *state, struct source_hook *hooks, size_t max)
{
	struct call_rcu *c = state;

	for (size_t i = 0; i < sizeof(offload_hooks) / sizeof(offload_hooks[0]); i++)
		if (!c->offload)
			plan_drop_hook(c->plan, KD_SRC_CALL_RCU, offload_hooks[i]);
	if (!c->skel->rodata->lazy_exists)
		plan_drop_hook(c->plan, KD_SRC_CALL_RCU, "kd_lazy_wish");
	return source_collect_hooks(c->skel->obj, c->plan, KD_SRC_CALL_RCU, hooks, max);
}

/* Of programs that are not loaded: none. */
static uint64_t kfree_missed(const struct call_rcu *c)
{
	return bpf_util_missed(bpf_program__fd(c->skel->progs.kd_kfree)) +
	       bpf_util_missed(bpf_program__fd(c->skel->progs.kd_kfree_nolock));
}

static int call_rcu_start(void *state)
{
	struct call_rcu *c = state;
	int err = control_all(c, CR_START);

	c->kfree_missed = kfree_missed(c);

	return err ? log_err(err, "call_rcu: cannot start recording: %s", strerror(-err)) : 0;
}

/* --- how often its programs ran, and how many events they follow --- */

static int read_load(const struct call_rcu *c, int cpu, struct cr_load *l)
{
	return bpf_map_lookup_elem(bpf_map__fd(c->skel->maps.loads), &cpu, l);
}

static int call_rcu_runs(void *state, struct cpu_runs *by_cpu, int cpus)
{
	struct call_rcu *c = state;
	uint64_t args[4] = { 0 };
	struct cr_load l;
	int err = bpf_util_run(bpf_program__fd(c->skel->progs.kd_load), args, NULL);

	for (int cpu = 0; cpu < cpus && cpu < c->cpus && !err; cpu++) {
		err = read_load(c, cpu, &l);
		if (err)
			break;
		by_cpu[cpu].n += l.runs;
		by_cpu[cpu].left_out += l.left_out;
	}
	return err ? err : source_cell_runs(c->skel->obj, by_cpu, cpus);
}

/* As of the last look. */
static bool call_rcu_is_thin(void *state)
{
	struct call_rcu *c = state;
	struct cr_load l;

	for (int cpu = 0; cpu < c->cpus; cpu++)
		if (!read_load(c, cpu, &l) && l.thin)
			return true;
	return false;
}

/* On the CPU itself, so that no callback joins its list meanwhile; from afar only if it is offline. */
static int thin_cpu(struct call_rcu *c, int cpu, unsigned int shift, uint32_t *later)
{
	uint64_t args[4] = { CR_THIN, (uint64_t)cpu, shift };
	int fd = bpf_program__fd(c->skel->progs.kd_control);
	int err = bpf_util_run_on(fd, args, cpu, later);

	return err == -ENXIO ? bpf_util_run(fd, args, later) : err;
}

static int call_rcu_thin(void *state, unsigned int shift)
{
	struct call_rcu *c = state;
	uint32_t later = 0;
	bool again = false;
	int err = 0;

	for (int cpu = 0; cpu < c->cpus && !err; cpu++) {
		err = thin_cpu(c, cpu, shift, &later);
		again |= later;
	}
	return err ? err : again ? -EAGAIN : 0;
}

static double call_rcu_left_out_ns(void *state)
{
	struct call_rcu *c = state;
	uint64_t args[4] = { CR_GAUGE };
	uint32_t ns = 0;

	if (bpf_util_run(bpf_program__fd(c->skel->progs.kd_control), args, &ns))
		return 0;
	return (double)ns / (2 * CR_GAUGED);
}

static void call_rcu_stop(void *state)
{
	control_all(state, CR_STOP);
}

static int64_t call_rcu_tick(void *state, uint32_t cursor, uint32_t interval)
{
	struct call_rcu *c = state;
	uint64_t args[4] = { cursor, interval, kfree_missed(c) - c->kfree_missed };
	uint32_t next;
	int err = bpf_util_run(bpf_program__fd(c->skel->progs.kd_tick), args, &next);

	return err ? err : (int64_t)next;
}

static uint64_t call_rcu_bytes(void *state)
{
	struct call_rcu *c = state;

	return bpf_util_map_bytes(c->skel->obj, "ring") + bpf_util_fd_bytes(c->cpus_fd) +
	       bpf_util_fd_bytes(c->slots_fd);
}

const struct source source_call_rcu = {
	.id = KD_SRC_CALL_RCU,
	.load = call_rcu_load,
	.hooks = call_rcu_hooks,
	.start = call_rcu_start,
	.tick = call_rcu_tick,
	.runs = call_rcu_runs,
	.thin = call_rcu_thin,
	.is_thin = call_rcu_is_thin,
	.left_out_ns = call_rcu_left_out_ns,
	.stop = call_rcu_stop,
	.unload = call_rcu_unload,
	.kernel_bytes = call_rcu_bytes,
	.least_bytes = call_rcu_least,
};
