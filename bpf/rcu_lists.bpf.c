/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rcu_lists.bpf.c - how many callbacks wait on each list of call_rcu and its kin. Read as state: nothing
 * is hooked, no lock is taken, nothing is written.
 *
 * A callback list has four segments, whose lengths are words of their own, and a length of the whole,
 * which counts also what is on no segment: the batch that is being invoked, until it has ended, and on
 * offloaded CPUs the bypass list. So
 *
 *	len = done + wait + next_ready + next + bypass (lazy ones among them) + invoking
 *
 * and each callback is in one list. RCU's own lists are changed only on their CPU, with interrupts off,
 * unless that CPU is offloaded: read there twice with the same result, they are what they were at one
 * moment. All else is read from afar, each word whole, but not all at one moment, and is marked so.
 */
#include "cblist.bpf.h"
#include "jiffies.bpf.h"
#include "percpu.bpf.h"
#include "srcu_domains.bpf.h"
#include "rcu_lists.h"

#define RUN_NS 500000 /* a run is an RCU reader: no longer than about this */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* user space: a CPU each */
	__type(key, __u32);
	__type(value, struct rl_seen);
} seen SEC(".maps");

/* --- one callback list --- */

/* The length first: what joins meanwhile then shows in a segment and not as being invoked. */
static __always_inline void see_list(struct rl_seen *l, __u64 list)
{
	struct rcu_segcblist *s = (void *)list;
	__u64 sum;

	l->length[KD_LIST_LAZY] = l->length[KD_LIST_BYPASS] = 0;
	l->age_ns[0] = l->age_ns[1] = KD_UNKNOWN;
	l->exact = 0;
	l->len = cblist_len(list);
	bpf_probe_read_kernel(l->length, 4 * sizeof(__u64), &s->seglen);
	sum = l->length[KD_LIST_DONE] + l->length[KD_LIST_WAIT] + l->length[KD_LIST_NEXT_READY] +
	      l->length[KD_LIST_NEXT];
	l->length[KD_LIST_INVOKING] = l->len > sum ? l->len - sum : 0;
}

/* Offloaded CPUs: callbacks first join a list of their own, lazy ones and others, when there are many. */
static __always_inline void see_bypass(struct rl_seen *l, struct rcu_data *rdp)
{
	__u64 bypass, lazy = 0, age;

	if (!bpf_core_field_exists(rdp->nocb_bypass))
		return;
	bypass = BPF_CORE_READ(rdp, nocb_bypass.len);
	if (!bypass)
		return;
	if (bpf_core_field_exists(rdp->lazy_len))
		lazy = BPF_CORE_READ(rdp, lazy_len);
	if (lazy > bypass)
		lazy = bypass;
	l->length[KD_LIST_LAZY] = lazy;
	l->length[KD_LIST_BYPASS] = bypass - lazy;
	l->length[KD_LIST_INVOKING] -=
		bypass < l->length[KD_LIST_INVOKING] ? bypass : l->length[KD_LIST_INVOKING];
	/* Of which kind the oldest is shows only where there is one kind. */
	age = jiffies_age(BPF_CORE_READ(rdp, nocb_bypass_first));
	if (lazy == bypass)
		l->age_ns[0] = age;
	else if (!lazy)
		l->age_ns[1] = age;
}

static __always_inline bool same(const struct rl_seen *a, const struct rl_seen *b)
{
	__u64 differ = a->len ^ b->len;
	int i;

	for (i = 0; i <= KD_LIST_INVOKING; i++)
		differ |= a->length[i] ^ b->length[i];
	return !differ;
}

/*
 * A function of its own, so that the compiler does not work out the place of a field before the loop
 * below and thus before it is known that the kernel (6.1: no lazy_len) has it.
 */
static __noinline int see_rcu(struct rl_seen *l, struct rcu_data *rdp)
{
	if (!l)
		return 0;
	see_list(l, (__u64)&rdp->cblist);
	see_bypass(l, rdp);
	l->invoked = BPF_CORE_READ(rdp, n_cbs_invoked);
	return 0;
}

#define TRIES 4

/*
 * Where another CPU interrupts this one to run us, nothing moves; run by a task of this CPU, we may be
 * interrupted ourselves, and then see it.
 */
SEC("raw_tp")
int rl_see(struct kd_run_args *args)
{
	__u32 cpu = args->arg[0], i;
	struct rl_seen *l = bpf_map_lookup_elem(&seen, &cpu), again;
	struct rcu_data *rdp = percpu_rcu_data(cpu);

	if (!l)
		return -1;
	__builtin_memset(l, 0, sizeof(*l));
	if (!rdp)
		return -1;
	see_rcu(l, rdp);
	if (!args->arg[1] || bpf_get_smp_processor_id() != cpu ||
	    (bpf_core_field_exists(rdp->nocb_cb_kthread) && BPF_CORE_READ(rdp, nocb_cb_kthread)))
		return 0;
	for (i = 0; i < TRIES; i++) {
		see_rcu(&again, rdp);
		if (same(l, &again)) {
			l->exact = 1;
			break;
		}
		*l = again;
	}
	return 0;
}

/* --- what kfree_rcu() keeps to itself --- */

#define NODES 512 /* blocks and single objects followed in a run, per list */

struct chain {
	__u64 node, end;
	__u64 entries;
	__u32 blocks; /* of many objects each, else single ones */
};

static __always_inline __u64 block_next(__u64 node)
{
	if (bpf_core_field_exists(struct kvfree_rcu_bulk_data, list))
		return word_at(node);
	return (__u64)BPF_CORE_READ((struct kvfree_rcu_bulk_data___v6_1 *)node, next);
}

static __always_inline __u64 block_entries(__u64 node)
{
	if (bpf_core_field_exists(struct kvfree_rcu_bulk_data, list))
		node -= bpf_core_field_offset(struct kvfree_rcu_bulk_data, list);
	return BPF_CORE_READ((struct kvfree_rcu_bulk_data *)node, nr_records);
}

static long chain_step(__u32 i, struct chain *c)
{
	if (!c->node || c->node == c->end)
		return 1;
	c->entries += c->blocks ? block_entries(c->node) : 1;
	c->node = c->blocks ? block_next(c->node) : word_at(c->node);
	return 0;
}

/* Adds what hangs on it, unless somebody took it away meanwhile. 1: longer than was followed. */
static __noinline int chain_count(__u64 *total, __u64 head, __u32 blocks)
{
	struct chain c = { .blocks = blocks };
	__u64 first = word_at(head);

	if (!total || !first)
		return 0;
	c.node = first;
	c.end = blocks && bpf_core_field_exists(struct kvfree_rcu_bulk_data, list) ? head : 0;
	bpf_loop(NODES, chain_step, &c, 0);
	if (word_at(head) != first)
		return 0;
	*total += c.entries;
	return c.node && c.node != c.end;
}

static __always_inline int see_batch(__u64 *total, __u64 work)
{
	struct kfree_rcu_cpu_work *w = (void *)work;
	struct kfree_rcu_cpu_work___v6_1 *old = (void *)work;
	int cut = chain_count(total, (__u64)&w->head_free, 0);

	if (bpf_core_field_exists(w->bulk_head_free)) {
		cut |= chain_count(total, (__u64)&w->bulk_head_free[0], 1);
		cut |= chain_count(total, (__u64)&w->bulk_head_free[1], 1);
	} else if (bpf_core_field_exists(old->bkvhead_free)) {
		cut |= chain_count(total, (__u64)&old->bkvhead_free[0], 1);
		cut |= chain_count(total, (__u64)&old->bkvhead_free[1], 1);
	}
	return cut;
}

/* What is gathered, and the batches behind a grace period. 1: at least as many. */
static __always_inline int see_kfree(__u64 *total, __u64 krc)
{
	struct kfree_rcu_cpu___v6_1 *old = (void *)krc;
	struct kfree_rcu_cpu *k = (void *)krc;
	__u64 size = bpf_core_type_size(struct kfree_rcu_cpu_work);
	__u64 works = (__u64)&k->krw_arr;
	int cut;

	if (bpf_core_field_exists(k->head_count))
		*total = (__u32)BPF_CORE_READ(k, head_count.counter) +
			 (__u32)BPF_CORE_READ(k, bulk_count[0].counter) +
			 (__u32)BPF_CORE_READ(k, bulk_count[1].counter);
	else if (bpf_core_field_exists(old->count))
		*total = (__u32)BPF_CORE_READ(old, count);
	cut = see_batch(total, works);
	return cut | see_batch(total, works + size);
}

/* --- to records --- */

struct rl_out out;

static long put_list(__u32 i, void *unused)
{
	struct rl_out *o = &out;
	struct kd_rec_pending *r;

	if (i < o->list || !o->l.length[i & (RL_LISTS - 1)])
		return 0;
	r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);
	if (!r) {
		o->stop = o->unit * RL_LISTS + i + 1;
		return 1;
	}
	*r = (struct kd_rec_pending){
		.rec = { .kind = KD_REC_PENDING, .len = sizeof(*r) },
		.source = KD_SRC_CALL_RCU,
		.flavour = o->flavour,
		.list = o->flavour == KD_FL_KFREE ? KD_LIST_KFREE : i,
		.cpu = o->cpu,
		.key = o->key,
		.flags = o->flags,
		.length = o->l.length[i & (RL_LISTS - 1)],
		.bytes = KD_UNKNOWN,
		.age_ns = i == KD_LIST_LAZY     ? o->l.age_ns[0]
			  : i == KD_LIST_BYPASS ? o->l.age_ns[1]
						: KD_UNKNOWN,
	};
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}

static __always_inline void see_domain(struct rl_out *o, __u32 domain)
{
	struct srcu_domain *d = bpf_map_lookup_elem(&domains, &domain);
	struct srcu_data *sdp = srcu_data_of(d, o->cpu);

	if (!sdp || !cblist_len((__u64)&sdp->srcu_cblist))
		return;
	o->key = srcu_domain_see(d, sdp);
	see_list(&o->l, (__u64)&sdp->srcu_cblist);
}

static __always_inline void see_tasks(struct rl_out *o, enum percpu_var var)
{
	struct rcu_tasks_percpu *rtpcp = (void *)percpu_address(var, o->cpu);

	if (rtpcp)
		see_list(&o->l, (__u64)&rtpcp->cblist);
}

static __always_inline void see_trace(struct rl_out *o)
{
	struct srcu_data *sdp = (void *)percpu_address(PERCPU_TASKS_TRACE_SRCU, o->cpu);

	if (sdp)
		see_list(&o->l, (__u64)&sdp->srcu_cblist);
	else
		see_tasks(o, PERCPU_TASKS_TRACE);
}

static __always_inline void see_krc(struct rl_out *o)
{
	__u64 krc = percpu_address(PERCPU_KRC, o->cpu);

	if (krc && see_kfree(&o->l.length[0], krc))
		o->flags |= KD_PENDING_TRUNCATED;
}

static __always_inline void see_unit(struct rl_out *o)
{
	struct rl_seen *l;

	o->key = o->flags = 0;
	o->cpu = o->unit % percpu.cpus;
	__builtin_memset(&o->l, 0, sizeof(o->l));
	switch (o->flavour) {
	case KD_FL_RCU:
		l = bpf_map_lookup_elem(&seen, &o->cpu);
		if (l)
			o->l = *l;
		if (o->l.exact)
			o->flags |= KD_PENDING_EXACT;
		break;
	case KD_FL_SRCU:
		see_domain(o, o->unit / percpu.cpus);
		break;
	case KD_FL_TASKS:
		see_tasks(o, PERCPU_TASKS);
		break;
	case KD_FL_TASKS_RUDE:
		see_tasks(o, PERCPU_TASKS_RUDE);
		break;
	case KD_FL_TASKS_TRACE:
		see_trace(o);
		break;
	case KD_FL_KFREE:
		see_krc(o);
		break;
	}
}

static long put_unit(__u32 i, void *unused)
{
	struct rl_out *o = &out;
	int nothing = 0;

	o->unit = o->first + i;
	o->list = i ? 0 : o->list;
	if (i && bpf_ktime_get_ns() > o->deadline) {
		o->stop = o->unit * RL_LISTS + o->list + 1;
		return 1;
	}
	see_unit(o);
	bpf_loop(KD_LIST_INVOKING + 1, put_list, &nothing, 0);
	return !!o->stop;
}

SEC("raw_tp")
int rl_emit(struct kd_run_args *args)
{
	struct rl_out *o = &out;
	int nothing = 0;
	__u32 at = args->arg[1] ? args->arg[1] - 1 : 0, units = percpu.cpus;

	o->flavour = args->arg[0];
	o->deadline = bpf_ktime_get_ns() + RUN_NS;
	o->stop = 0;
	if (o->flavour == KD_FL_SRCU)
		units *= args->arg[2];
	o->first = at / RL_LISTS;
	o->list = at % RL_LISTS;
	if (o->first < units)
		bpf_loop(units - o->first, put_unit, &nothing, 0);
	return o->stop;
}
