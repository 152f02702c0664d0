/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * gp_state.bpf.c - the grace period that each flavour of RCU is in now, and who holds it up. Read as
 * state: nothing is hooked, no lock is taken, nothing is written.
 *
 *  - RCU and expedited: the leaves of the tree of nodes have a bit for each CPU that still owes a
 *    quiescent state, and a list of readers that were preempted, from a marker on those in its way;
 *  - Tasks, and Tasks Trace up to 6.19: tasks that it waits for are marked. There is no list of them
 *    that could be walked, so all tasks are asked, by an iterator, which does not hold up anything;
 *  - Tasks Trace since 7.0: a reader notes on which of two sets of counters it began. Those that began on
 *    the set which is not in use now are in the way of the grace period; before it has exchanged the two
 *    there are others, not to be told from later ones. Counts are lower bounds;
 *  - SRCU: its readers leave no trace of who they are. Of its domains the one is shown whose grace
 *    period is the oldest;
 *  - Tasks Rude: a work item on every CPU; which are done does not show.
 *
 * All is read from afar, while it goes on.
 */
#include "jiffies.bpf.h"
#include "percpu.bpf.h"
#include "srcu_domains.bpf.h"
#include "gp_state.h"

#define RUN_NS 500000   /* a run is an RCU reader: no longer than about this */
#define BLOCKED_MAX 256 /* preempted readers followed at a leaf */

struct gs_gp gp;

/* --- who owes --- */

static __always_inline struct kd_rec_owed *reserve_owed(void)
{
	struct kd_rec_owed *r;

	if (gp.sent >= GS_OWED_MAX)
		return 0;
	r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);
	if (!r)
		return 0; /* it counts, but has no name */
	gp.sent++;
	__builtin_memset(r, 0, sizeof(*r));
	r->rec.kind = KD_REC_OWED;
	r->rec.len = sizeof(*r);
	r->flavour = gp.flavour;
	return r;
}

static __noinline int owed_cpu(__u32 cpu)
{
	struct kd_rec_owed *r = reserve_owed();

	gp.cpus++;
	if (!r)
		return 0;
	r->cpu = cpu;
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}

static __noinline int owed_task(__u64 task)
{
	struct kd_rec_owed *r = reserve_owed();
	struct task_struct *t = (void *)task;

	gp.tasks++;
	if (!r)
		return 0;
	r->is_task = 1;
	r->cpu = KD_CPU_NONE;
	if (bpf_core_field_exists(t->thread_info.cpu))
		r->cpu = BPF_CORE_READ(t, thread_info.cpu);
	r->pid = BPF_CORE_READ(t, pid);
	r->tgid = BPF_CORE_READ(t, tgid);
	bpf_probe_read_kernel_str(r->comm, sizeof(r->comm), &t->comm);
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}

/* --- RCU and expedited --- */

struct blocked {
	__u64 node, head, leaf;
};

/* The list changes under us: a task that is not blocked at this leaf (any more) leads astray. */
static long blocked_step(__u32 i, struct blocked *b)
{
	struct task_struct *t;
	__u64 next;

	if (b->node == b->head)
		return 1;
	t = (void *)(b->node - bpf_core_field_offset(struct task_struct, rcu_node_entry));
	next = word_at(b->node);
	if ((__u64)BPF_CORE_READ(t, rcu_blocked_node) != b->leaf || !next || next == b->node) {
		gp.flags |= KD_PENDING_TRUNCATED;
		b->node = b->head;
		return 1;
	}
	owed_task((__u64)t);
	b->node = next;
	return 0;
}

static __noinline int see_blocked(__u64 leaf)
{
	struct rcu_node *rnp = (void *)leaf;
	struct blocked b = { .leaf = leaf, .head = (__u64)&rnp->blkd_tasks };

	if (!bpf_core_field_exists(struct task_struct, rcu_node_entry))
		return 0; /* readers cannot be preempted here */
	b.node = gp.flavour == KD_FL_EXPEDITED ? (__u64)BPF_CORE_READ(rnp, exp_tasks)
					       : (__u64)BPF_CORE_READ(rnp, gp_tasks);
	if (!b.node)
		return 0;
	bpf_loop(BLOCKED_MAX, blocked_step, &b, 0);
	if (b.node != b.head)
		gp.flags |= KD_PENDING_TRUNCATED;
	return 0;
}

struct walk {
	__u64 deadline;
	__u32 first, stop;
};

static long see_cpu(__u32 i, struct walk *w)
{
	__u32 cpu = w->first + i;
	struct rcu_data *rdp = percpu_rcu_data(cpu);
	struct rcu_node *rnp;
	__u64 mask;

	if (!rdp)
		return 0;
	if (i && bpf_ktime_get_ns() > w->deadline) {
		w->stop = cpu;
		return 1;
	}
	rnp = BPF_CORE_READ(rdp, mynode);
	if (gp.leaf != (__u64)rnp) {
		gp.leaf = (__u64)rnp;
		gp.leaves++;
		see_blocked((__u64)rnp);
	}
	mask = gp.flavour == KD_FL_EXPEDITED ? BPF_CORE_READ(rnp, expmask)
					     : BPF_CORE_READ(rnp, qsmask);
	if (mask & BPF_CORE_READ(rdp, grpmask))
		owed_cpu(cpu);
	return 0;
}

/* rcu_state.gp_state: the same numbers in all kernels so far. */
enum { GP_ONOFF = 3, GP_INIT = 4, GP_CLEANUP = 7 };

#define GP_WANTED 1 /* rcu_state.gp_flags */

static __always_inline void begin_rcu(__u32 here)
{
	struct rcu_state *s = (void *)percpu_rcu_state(here);
	int state;

	gp.root = (__u64)s;
	gp.seq = BPF_CORE_READ(s, gp_seq);
	state = (short)BPF_CORE_READ(s, gp_state);
	if (gp.seq & 3) {
		gp.state = state == GP_ONOFF || state == GP_INIT ? KD_GP_STARTING
			   : state >= GP_CLEANUP                 ? KD_GP_CLEANUP
								 : KD_GP_WAITING;
		gp.age_ns = jiffies_age(BPF_CORE_READ(s, gp_start));
	} else if (BPF_CORE_READ(s, gp_flags) & GP_WANTED) {
		gp.state = KD_GP_STARTING;
	}
}

static __always_inline void begin_expedited(__u32 here)
{
	struct rcu_state *s = (void *)percpu_rcu_state(here);

	gp.root = (__u64)s;
	gp.seq = BPF_CORE_READ(s, expedited_sequence);
	gp.state = gp.seq & 3 ? KD_GP_WAITING : KD_GP_IDLE;
}

/* --- SRCU --- */

static __always_inline __u64 srcu_seq(__u64 ssp)
{
	if (bpf_core_type_exists(struct srcu_usage))
		return BPF_CORE_READ((struct srcu_struct *)ssp, srcu_sup, srcu_gp_seq);
	return BPF_CORE_READ((struct srcu_struct___v6_1 *)ssp, srcu_gp_seq);
}

static __always_inline __u64 srcu_start(__u64 ssp)
{
	if (bpf_core_type_exists(struct srcu_usage))
		return BPF_CORE_READ((struct srcu_struct *)ssp, srcu_sup, srcu_gp_start);
	return BPF_CORE_READ((struct srcu_struct___v6_1 *)ssp, srcu_gp_start);
}

/* Keeps the domain whose grace period is the oldest. */
static long see_domain(__u32 i, __u32 *here)
{
	struct srcu_domain *d = bpf_map_lookup_elem(&domains, &i);
	struct srcu_data *sdp = srcu_data_of(d, *here);
	__u64 ssp, seq, age;

	ssp = sdp ? srcu_domain_see(d, sdp) : 0;
	seq = ssp ? srcu_seq(ssp) : 0;
	if (!(seq & 3))
		return 0;
	age = jiffies_age(srcu_start(ssp));
	if (gp.state == KD_GP_IDLE || age > gp.age_ns) {
		gp.root = ssp;
		gp.seq = seq;
		gp.age_ns = age;
		gp.state = KD_GP_WAITING;
	}
	return 0;
}

static __always_inline void begin_srcu(__u32 here, __u32 nr_domains)
{
	bpf_loop(nr_domains, see_domain, &here, 0);
	if (gp.state != KD_GP_IDLE)
		gp.flags = KD_PENDING_TRUNCATED; /* who owes is not known */
}

/* --- Tasks --- */

static __always_inline void begin_tasks(enum percpu_var var, __u32 here)
{
	struct rcu_tasks *rtp = (void *)percpu_rcu_tasks(var, here);

	gp.root = (__u64)rtp;
	gp.seq = BPF_CORE_READ(rtp, tasks_gp_seq);
	if (!(gp.seq & 3))
		return;
	gp.state = KD_GP_WAITING;
	gp.age_ns = jiffies_age(BPF_CORE_READ(rtp, gp_start));
	if (gp.flavour == KD_FL_TASKS_RUDE)
		gp.flags = KD_PENDING_TRUNCATED; /* who owes is not known */
}

static __always_inline void begin_trace(__u32 here)
{
	__u64 ssp = percpu_trace_domain(here);

	if (percpu.at[PERCPU_TASKS_TRACE_SRCU] == PERCPU_ABSENT) {
		begin_tasks(PERCPU_TASKS_TRACE, here);
		return;
	}
	gp.root = ssp;
	gp.seq = ssp ? srcu_seq(ssp) : 0;
	if (!(gp.seq & 3))
		return;
	gp.state = KD_GP_WAITING;
	gp.age_ns = jiffies_age(srcu_start(ssp));
	gp.flags = KD_PENDING_TRUNCATED; /* those of which nothing shows */
	if (bpf_core_field_exists(struct srcu_struct, srcu_ctrp))
		gp.counters = (__u64)BPF_CORE_READ((struct srcu_struct *)ssp, srcu_ctrp);
}

/* A kernel that never preempts has no such thing: RCU is its RCU Tasks. */
static __always_inline bool is_tasks_holdout(const struct task_struct *t)
{
	return bpf_core_field_exists(t->rcu_tasks_holdout) && BPF_CORE_READ(t, rcu_tasks_holdout);
}

static __always_inline bool is_trace_holdout(struct task_struct *t)
{
	__u64 list = (__u64)t, next;

	if (bpf_core_field_exists(t->trc_reader_scp)) {
		__u64 began_on = (__u64)BPF_CORE_READ(t, trc_reader_scp);

		return BPF_CORE_READ(t, trc_reader_nesting) > 0 && began_on &&
		       began_on != gp.counters;
	}
	if (!bpf_core_field_exists(t->trc_holdout_list))
		return false;
	list += bpf_core_field_offset(struct task_struct, trc_holdout_list);
	next = word_at(list);
	return next && next != list;
}

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
} __attribute__((preserve_access_index));

SEC("iter/task")
int gs_task(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	__u64 address;

	if (!t)
		return 0;
	if (gp.flavour == KD_FL_TASKS ? !is_tasks_holdout(t) : !is_trace_holdout(t))
		return 0;
	bpf_probe_read_kernel(&address, sizeof(address), &ctx->task);
	owed_task(address);
	return 0;
}

/* --- run by user space --- */

static __always_inline void begin(__u32 flavour, __u32 nr_domains)
{
	__u32 here = bpf_get_smp_processor_id();

	__builtin_memset(&gp, 0, sizeof(gp));
	gp.flavour = flavour;
	gp.age_ns = KD_UNKNOWN;
	gp.state = KD_GP_IDLE;
	switch (flavour) {
	case KD_FL_RCU:
		begin_rcu(here);
		break;
	case KD_FL_EXPEDITED:
		begin_expedited(here);
		break;
	case KD_FL_SRCU:
		begin_srcu(here, nr_domains);
		break;
	case KD_FL_TASKS:
		begin_tasks(PERCPU_TASKS, here);
		break;
	case KD_FL_TASKS_RUDE:
		begin_tasks(PERCPU_TASKS_RUDE, here);
		break;
	case KD_FL_TASKS_TRACE:
		begin_trace(here);
		break;
	}
	if (gp.state == KD_GP_IDLE)
		gp.flags = KD_PENDING_EXACT; /* nobody owes */
}

/* The same grace period, seen whole, and at one leaf: one word says who owes. */
static __always_inline void judge(void)
{
	struct rcu_state *s = (void *)gp.root;

	if ((gp.flavour == KD_FL_RCU && BPF_CORE_READ(s, gp_seq) != gp.seq) ||
	    (gp.flavour == KD_FL_EXPEDITED && BPF_CORE_READ(s, expedited_sequence) != gp.seq)) {
		/* It ended meanwhile: of the next nothing was counted. */
		gp.flags |= KD_PENDING_TRUNCATED;
	} else if (gp.leaves == 1 && !gp.tasks && !gp.flags) {
		gp.flags = KD_PENDING_EXACT;
	}
}

static __always_inline int end(void)
{
	struct kd_rec_gp *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);

	if (!r)
		return 1;
	judge();
	*r = (struct kd_rec_gp){
		.rec = { .kind = KD_REC_GP, .len = sizeof(*r) },
		.flavour = gp.flavour,
		.state = gp.state,
		.cpus_owed = gp.cpus,
		.tasks_owed = gp.tasks,
		.flags = gp.flags,
		.seq = gp.seq,
		.age_ns = gp.age_ns,
		.key = gp.flavour == KD_FL_SRCU ? gp.root : 0,
	};
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("raw_tp")
int gs_look(struct kd_run_args *args)
{
	struct walk w = { .first = args->arg[2], .deadline = bpf_ktime_get_ns() + RUN_NS };

	switch (args->arg[1]) {
	case GS_BEGIN:
		begin(args->arg[0], args->arg[3]);
		return gp.state == KD_GP_WAITING;
	case GS_WALK:
		if (w.first < percpu.cpus)
			bpf_loop(percpu.cpus - w.first, see_cpu, &w, 0);
		return w.stop;
	case GS_END:
		return end();
	}
	return -1;
}
