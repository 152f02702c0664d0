// SPDX-License-Identifier: GPL-2.0-only
/*
 * rstat_state.bpf.c - how many cgroups have statistics that wait for a flush, by CPU. Read as state:
 * nothing is hooked, no lock is taken, nothing is written.
 *
 * On each CPU those that were updated hang in a tree: a cgroup (since 6.16 its part of one subsystem)
 * points to the first of its children that were, these to each other, and the last back to their
 * parent; with a child its ancestors are there too. Since 6.17 an update only joins a list without a
 * lock, the backlog, which the next flush sorts into the tree.
 *
 * Both are changed on their CPU, but emptied by whoever flushes, on any. Walked there, twice with the
 * same result, a number is taken for exact.
 */
#include "percpu.bpf.h"
#include "rstat.h"
#include "rstat_state.h"

const volatile __u32 shape; /* enum rs_shape */

/* Nodes of a list that are followed: a run is an RCU reader, and holds up its CPU. */
#define STEPS 1024
#define RUN_NS 300000 /* no further list is begun after this */
#define LEVELS 64

/* Of a per-CPU pointer that is no static variable. */
static __always_inline __u64 percpu_of(__u64 pointer, __u32 cpu)
{
	__u64 offset = percpu_address(PERCPU_THIS_CPU_OFF, cpu);

	return pointer && offset ? pointer + word_at(offset) : 0;
}

/* --- nodes of the trees: cgroups, or parts of them --- */

static __always_inline __u64 node_on(__u64 node, __u32 cpu)
{
	if (shape == RS_BY_SUBSYS)
		return percpu_of(
			(__u64)BPF_CORE_READ((struct cgroup_subsys_state *)node, rstat_cpu), cpu);
	return percpu_of((__u64)BPF_CORE_READ((struct cgroup *)node, rstat_cpu), cpu);
}

static __always_inline __u64 node_child(__u64 node, __u32 cpu)
{
	__u64 on = node_on(node, cpu);

	if (!on)
		return 0;
	if (shape == RS_BY_SUBSYS)
		return (__u64)BPF_CORE_READ((struct css_rstat_cpu *)on, updated_children);
	return (__u64)BPF_CORE_READ((struct cgroup_rstat_cpu *)on, updated_children);
}

static __always_inline __u64 node_next(__u64 node, __u32 cpu)
{
	__u64 on = node_on(node, cpu);

	if (!on)
		return 0;
	if (shape == RS_BY_SUBSYS)
		return (__u64)BPF_CORE_READ((struct css_rstat_cpu *)on, updated_next);
	return (__u64)BPF_CORE_READ((struct cgroup_rstat_cpu *)on, updated_next);
}

static __always_inline __u64 node_parent(__u64 node)
{
	struct cgroup_subsys_state *up;

	if (shape == RS_BY_SUBSYS)
		return (__u64)BPF_CORE_READ((struct cgroup_subsys_state *)node, parent);
	up = BPF_CORE_READ((struct cgroup *)node, self.parent);
	return up ? (__u64)BPF_CORE_READ(up, cgroup) : 0;
}

/* --- walking --- */

struct rss_walk walk;

static long tree_step(__u32 i, void *unused)
{
	struct rss_walk *w = &walk;
	__u64 next;

	if (!w->up) {
		next = node_child(w->node, w->cpu);
		if (next && next != w->node) {
			w->node = next;
			w->n++;
			return 0;
		}
		w->up = 1;
		w->torn |= !next;
	}
	if (w->node == w->root || w->torn) {
		w->done = 1;
		return 1;
	}
	next = node_next(w->node, w->cpu);
	if (!next) {
		w->torn = w->done = 1;
		return 1;
	}
	w->up = next == node_parent(w->node);
	w->node = next;
	w->n += !w->up;
	return 0;
}

static long backlog_step(__u32 i, void *unused)
{
	struct rss_walk *w = &walk;

	if (!w->node) {
		w->done = 1;
		return 1;
	}
	w->n++;
	w->node = word_at(w->node);
	return 0;
}

static __always_inline void walk_from(__u64 node)
{
	walk.root = walk.node = node;
	walk.n = walk.up = walk.torn = walk.done = 0;
}

/* The length, and KD_PENDING_... of it above bit 32. */
static __noinline __u64 tree_length(__u64 root)
{
	int nothing = 0;

	walk_from(root);
	bpf_loop(STEPS, tree_step, &nothing, 0);
	return walk.n | (__u64)(walk.torn   ? 0
				: walk.done ? KD_PENDING_EXACT
					    : KD_PENDING_TRUNCATED)
				<< 32;
}

static __noinline __u64 backlog_length(__u64 head)
{
	int nothing = 0;

	walk_from(word_at(head));
	bpf_loop(STEPS, backlog_step, &nothing, 0);
	return walk.n | (__u64)(walk.done ? KD_PENDING_EXACT : KD_PENDING_TRUNCATED) << 32;
}

/* --- where they begin --- */

static long css_climb(__u32 i, void *unused)
{
	struct cgroup_subsys_state *css = (void *)walk.css;
	__u64 up = (__u64)BPF_CORE_READ(css, parent);

	if (!up)
		return 1;
	walk.css = up;
	return 0;
}

/* The part of the root cgroup of a subsystem that whatever runs here is in; 0: no such subsystem. */
static __noinline __u64 root_css(__u32 subsys)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct css_set *set = BPF_CORE_READ(task, cgroups);
	int nothing = 0;

	if (!set)
		return 0;
	walk.css = word_at((__u64)&set->subsys + 8 * (__u64)subsys);
	if (walk.css)
		bpf_loop(LEVELS, css_climb, &nothing, 0);
	return walk.css;
}

static __always_inline struct cgroup *root_v2(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct cgroup_root *root = BPF_CORE_READ(task, cgroups, dfl_cgrp, root);

	return root ? (struct cgroup *)&root->cgrp : NULL;
}

static __always_inline __u64 memory_root(void)
{
	if (!bpf_core_enum_value_exists(enum cgroup_subsys_id, memory_cgrp_id))
		return 0;
	return root_css(bpf_core_enum_value(enum cgroup_subsys_id, memory_cgrp_id));
}

static __always_inline __u64 io_root(void)
{
	if (!bpf_core_enum_value_exists(enum cgroup_subsys_id, io_cgrp_id))
		return 0;
	return root_css(bpf_core_enum_value(enum cgroup_subsys_id, io_cgrp_id));
}

#include "rstat_waiters.bpf.h"

struct list {
	__u64 at;  /* root, or head on that CPU; 0: this kernel has none */
	__u64 key; /* hierarchy, where the tree is not that of version 2 */
	__u32 sub;
};

/* One lock, and a tree for each hierarchy: that of version 2, and memory's where it is another. */
static __always_inline void find_global(struct list *l, __u32 unit)
{
	struct cgroup_subsys_state *css;
	struct cgroup *v2 = root_v2(), *c;

	l->sub = KD_FL_SUB_ALL;
	if (unit == RSS_BASE)
		l->at = (__u64)v2;
	if (unit != RSS_MEMORY)
		return;
	css = (void *)memory_root();
	c = css ? BPF_CORE_READ(css, cgroup) : NULL;
	if (!c || c == v2)
		return;
	l->at = (__u64)c;
	l->key = BPF_CORE_READ(c, root, hierarchy_id);
}

static __always_inline __u64 backlog_of(__u64 css, __u32 cpu)
{
	struct cgroup_subsys *ss =
		css ? BPF_CORE_READ((struct cgroup_subsys_state *)css, ss) : NULL;

	if (!ss || !bpf_core_field_exists(ss->lhead))
		return 0;
	return percpu_of((__u64)BPF_CORE_READ(ss, lhead), cpu);
}

static __always_inline void find_by_subsys(struct list *l, __u32 unit, __u32 cpu)
{
	__u64 css = 0;

	if (unit <= RSS_BASE_BACKLOG) {
		struct cgroup *v2 = root_v2();

		l->sub = KD_FL_SUB_BASE;
		l->at = unit == RSS_BASE ? (__u64)&v2->self
					 : percpu_address(PERCPU_RSTAT_BACKLOG, cpu);
		return;
	}
	css = unit <= RSS_MEMORY_BACKLOG ? memory_root() : io_root();
	l->sub = unit <= RSS_MEMORY_BACKLOG ? KD_FL_SUB_MEMORY : KD_FL_SUB_IO;
	l->at = unit == RSS_MEMORY || unit == RSS_IO ? css : backlog_of(css, cpu);
}

/* 1: the ring is full. */
static __noinline int see(__u32 unit, __u32 cpu, __u32 there)
{
	bool backlog = unit & 1;
	struct kd_rec_pending *r;
	struct list l = {};
	__u64 n, again;

	if (shape == RS_BY_SUBSYS)
		find_by_subsys(&l, unit, cpu);
	else
		find_global(&l, unit);
	if (!l.at)
		return 0;
	n = backlog ? backlog_length(l.at) : tree_length(l.at);
	again = n;
	if (!(n >> 32 & KD_PENDING_TRUNCATED)) /* a cut one is not exact anyway */
		again = backlog ? backlog_length(l.at) : tree_length(l.at);
	if (n != again || !there)
		again &= ~((__u64)KD_PENDING_EXACT << 32);
	r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);
	if (!r)
		return 1;
	*r = (struct kd_rec_pending){
		.rec = { .kind = KD_REC_PENDING, .len = sizeof(*r) },
		.source = KD_SRC_RSTAT,
		.flavour = l.sub,
		.list = backlog ? KD_LIST_BACKLOG : KD_LIST_UPDATED,
		.cpu = cpu,
		.key = l.key,
		.flags = again >> 32,
		.length = (__u32)again,
		.bytes = KD_UNKNOWN,
		.age_ns = KD_UNKNOWN,
	};
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}

static long look_unit(__u32 i, void *unused)
{
	__u32 unit = walk.first + i;

	if (unit >= RSS_UNITS)
		return 1;
	if ((i && bpf_ktime_get_ns() > walk.deadline) || see(unit, walk.cpu, walk.there)) {
		walk.stop = unit;
		return 1;
	}
	return 0;
}

SEC("raw_tp")
int rss_look(struct kd_run_args *args)
{
	int nothing = 0;

	walk.cpu = args->arg[0];
	walk.there = args->arg[1] && bpf_get_smp_processor_id() == args->arg[0];
	walk.first = args->arg[2];
	walk.deadline = bpf_ktime_get_ns() + RUN_NS;
	walk.stop = RSS_UNITS;
	bpf_loop(RSS_UNITS, look_unit, &nothing, 0);
	return walk.stop;
}
