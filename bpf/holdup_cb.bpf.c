/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * holdup_cb.bpf.c - why RCU callbacks waited for too long after they were handed over, or ran for long.
 *
 * Not every callback is followed: of each CPU's list one at a time step, an eighth of the limit, until
 * its turn. A list is emptied in order, so that none waits much longer than one that is followed, and
 * whatever holds up the list shows on it. What follows costs a comparison where nothing is due.
 *
 * While the oldest that is followed is over the limit, ticks take down what runs in place of those
 * that should be run; a callback that runs for long is seen by the tick in its middle.
 *
 * When its grace period was asked for, and had ended, comes from the segments' own numbers:
 * rcu_segcblist_accelerate() is told the number, and ends of grace periods are remembered.
 */
#include "witness.bpf.h"
#include "holdup_cb.h"

const volatile __u32 nr_cpus = 1;
const volatile __u32 offload; /* some CPU may be offloaded */
const volatile __u32 lazy_exists;
const volatile __u32 seq_is_pair; /* 7.3: accelerate() gets a pointer to numbers */
/* ns; 0: not armed */
const volatile __u64 limit_ns, run_limit_ns;
const volatile __u64 step_jiffies = 1; /* from one that is followed to the next */
const volatile __u64 tick_ns = 4000000;

#define WITNESS_EVERY_NS 10000000ULL
#define WITNESSES_MOST 16 /* of one wait */
/* Of one list: the next report is one of a wait that is half as long again, or comes after a second. */
#define ALIKE_NS 1000000000ULL

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct hc_cpu);
} cpus SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, __u64);   /* &rcu_data.cblist */
	__type(value, __u32); /* CPU */
} lists SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, __u64);   /* local list of a batch that runs away from its CPU */
	__type(value, __u32); /* CPU whose list it is */
} batches SEC(".maps");

/* Ends of grace periods, written by their kthread alone. */
struct hc_gp gps[HC_GPS];
__u64 nr_gps;

__u64 ring_full, alike;

static __always_inline struct hc_cpu *cpu_state(__u32 cpu)
{
	return bpf_map_lookup_elem(&cpus, &cpu);
}

static __always_inline void count(__u64 *what)
{
	__sync_fetch_and_add(what, 1);
}

/*
 * A pointer as a number: the verifier allows no arithmetic on typed pointers, and forgets the type
 * only in a map.
 */
static __always_inline __u64 as_number(__u64 *scratch, __u64 pointer)
{
	*(volatile __u64 *)scratch = pointer;
	return *(volatile __u64 *)scratch;
}

static __always_inline __u64 list_len(__u64 list)
{
	struct rcu_segcblist___atomic *a = (void *)list;

	return word_at((__u64)&a->len.counter);
}

/* --- the hand-over: in list order, interrupts off, on the list's own CPU --- */

static __always_inline void follow(struct hc_cpu *st, struct callback_head *rhp, bool lazy)
{
	__u64 tail = st->tail, now = bpf_jiffies64();
	struct hc_followed *f;

	if (!limit_ns || (__s64)(now - st->next) < 0)
		return;
	if (tail - *(volatile __u64 *)&st->front >= HC_FOLLOWED)
		return; /* the ones that are followed are older */
	st->next = now + step_jiffies;
	f = &st->followed[tail & (HC_FOLLOWED - 1)];
	f->head = (__u64)rhp;
	f->func = as_number(&st->scratch[HC_SCRATCH_BEGIN], (__u64)rhp->func);
	f->when = bpf_ktime_get_ns();
	f->ran = st->ran;
	f->asked = 0;
	f->seq = 0;
	f->lazy = lazy;
	barrier();
	*(volatile __u64 *)&st->tail = tail + 1;
}

static __always_inline bool is_lazy(struct hc_cpu *st, struct callback_head *rhp)
{
	return lazy_exists && st->hint_lazy && st->hint_head == (__u64)rhp;
}

SEC("fentry/rcu_segcblist_enqueue")
int BPF_PROG(hc_enqueue, struct rcu_segcblist *rsclp, struct callback_head *rhp)
{
	struct hc_cpu *st = cpu_state(bpf_get_smp_processor_id());

	if (st && (__u64)rsclp == st->list)
		follow(st, rhp, is_lazy(st, rhp));
	return 0;
}

SEC("fentry/rcu_cblist_enqueue")
int BPF_PROG(hc_bypass, struct rcu_cblist *rclp, struct callback_head *rhp)
{
	struct hc_cpu *st = cpu_state(bpf_get_smp_processor_id());

	if (st && st->list && (__u64)rclp == st->bypass)
		follow(st, rhp, is_lazy(st, rhp));
	return 0;
}

SEC("fentry/rcu_cblist_flush_enqueue")
int BPF_PROG(hc_bypass_flush, struct rcu_cblist *drclp, struct rcu_cblist *srclp,
	     struct callback_head *rhp)
{
	struct hc_cpu *st = cpu_state(bpf_get_smp_processor_id());

	if (rhp && st && st->list && (__u64)srclp == st->bypass)
		follow(st, rhp, is_lazy(st, rhp));
	return 0;
}

SEC("fentry/__call_rcu_common")
int BPF_PROG(hc_lazy_wish, struct callback_head *head)
{
	struct hc_cpu *st = cpu_state(bpf_get_smp_processor_id());

	if (!st)
		return 0;
	st->hint_lazy = ctx[2] & 0xff; /* bool lazy_in */
	st->hint_head = (__u64)head;
	return 0;
}

/* --- the grace period in between --- */

static __always_inline struct hc_cpu *owner_of(__u64 list)
{
	struct hc_cpu *st = cpu_state(bpf_get_smp_processor_id());
	__u32 *cpu;

	if (st && st->list == list)
		return st;
	if (!offload)
		return 0;
	cpu = bpf_map_lookup_elem(&lists, &list);
	return cpu ? cpu_state(*cpu) : 0;
}

struct give {
	struct hc_cpu *st;
	__u64 seq, now;
};

static long give_one(__u32 i, struct give *g)
{
	struct hc_followed *f = &g->st->followed[(g->st->given + i) & (HC_FOLLOWED - 1)];

	f->seq = g->seq;
	f->asked = g->now;
	return 0;
}

/* All that has no number yet gets this one. The kernel calls it again for what has one. */
SEC("fentry/rcu_segcblist_accelerate")
int BPF_PROG(hc_accelerate, struct rcu_segcblist *rsclp)
{
	struct hc_cpu *st = owner_of((__u64)rsclp);
	struct give g = { .st = st };
	__u64 n;

	if (!st || !st->list)
		return 0;
	/* Those that wait on the bypass list have not joined yet. */
	if (offload && st->bypass &&
	    word_at(st->bypass + bpf_core_field_offset(struct rcu_cblist, len)))
		return 0;
	n = *(volatile __u64 *)&st->tail - st->given;
	if (!n || n > HC_FOLLOWED)
		n = n ? HC_FOLLOWED : 0;
	if (!n)
		return 0;
	g.seq = seq_is_pair ? word_at(ctx[1]) : ctx[1];
	g.now = bpf_ktime_get_ns();
	bpf_loop(n, give_one, &g, 0);
	st->given += n;
	return 0;
}

SEC("fexit/rcu_gp_cleanup")
int BPF_PROG(hc_gp_out)
{
	struct rcu_state *s = (void *)percpu_rcu_state(bpf_get_smp_processor_id());
	struct hc_gp *gp = &gps[nr_gps & (HC_GPS - 1)];

	if (!s)
		return 0;
	gp->seq = BPF_CORE_READ(s, gp_seq);
	gp->end = bpf_ktime_get_ns();
	barrier();
	*(volatile __u64 *)&nr_gps = nr_gps + 1;
	return 0;
}

struct ready {
	__u64 seq, from, at, ended;
};

/* From the newest back: the oldest end at which the number had come. */
static long ready_step(__u32 i, struct ready *r)
{
	struct hc_gp *gp = &gps[(nr_gps - 1 - i) & (HC_GPS - 1)];

	if (i >= nr_gps || gp->end < r->from)
		return 1;
	r->ended++;
	if (r->seq && (__s64)(gp->seq - r->seq) >= 0)
		r->at = gp->end;
	return 0;
}

/* --- what is told --- */

static __always_inline struct kd_rec_holdup *reserve(__u32 cpu, __u8 what, __u64 id, __u64 func)
{
	struct kd_rec_holdup *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);

	if (!r) {
		count(&ring_full);
		return 0;
	}
	__builtin_memset(r, 0, sizeof(*r));
	r->rec.kind = KD_REC_HOLDUP;
	r->rec.len = sizeof(*r);
	r->rec.id = cpu << 16 | (id & 0x7fff) | (what == KD_WAIT_RUN) << 15;
	r->source = KD_SRC_CALL_RCU;
	r->flavour = KD_FL_RCU;
	r->what = what;
	r->cpu = cpu;
	r->threshold_ns = what == KD_WAIT_RUN ? run_limit_ns : limit_ns;
	bpf_snprintf(r->name, sizeof(r->name), "%ps", &func, sizeof(func));
	return r;
}

static __always_inline __u32 witness_id(__u32 cpu, bool run, __u64 id)
{
	return cpu << 16 | (id & 0x7fff) | (run ? 1 << 15 : 0);
}

static __always_inline void no_phases(struct kd_rec_holdup *r)
{
	int i;

	for (i = 0; i < KD_PH_COUNT; i++)
		r->phase[i] = KD_UNKNOWN;
}

static __always_inline __u64 since_or_0(__u64 at, __u64 from)
{
	return (__s64)(at - from) > 0 ? at - from : 0;
}

static __noinline int tell_wait(struct hc_cpu *st, struct hc_followed *f, __u32 cpu, __u64 now)
{
	struct kd_rec_holdup *r;
	struct ready ready = {};

	if (!st || !f)
		return 0;
	r = reserve(cpu, KD_WAIT_CALLBACK, st->id, f->func);
	if (!r)
		return 0;
	ready.seq = f->seq;
	ready.from = f->when;
	bpf_loop(HC_GPS, ready_step, &ready, 0);
	r->begin_ns = f->when;
	r->end_ns = now;
	no_phases(r);
	if (f->asked) {
		r->phase[KD_PH_REQUESTED] = since_or_0(f->asked, f->when);
		if (f->lazy)
			KNOWN(r, KD_F_LAZY_NS, since_or_0(f->asked, f->when));
	}
	if (ready.at) {
		r->phase[KD_PH_CB_WAIT] = since_or_0(now, ready.at);
		KNOWN(r, KD_F_READY_NS, since_or_0(ready.at, f->when));
	}
	KNOWN(r, KD_F_GPS, ready.ended);
	if (st->batch_ns) {
		KNOWN(r, KD_F_BATCH_NS, since_or_0(st->batch_ns, f->when));
		KNOWN(r, KD_F_QUEUE, st->queue);
	}
	KNOWN(r, KD_F_AHEAD, st->ran - f->ran);
	if (st->slow_from && st->slow_from >= f->when)
		KNOWN(r, KD_F_SLOWEST_NS, st->slow_ns);
	KNOWN(r, KD_F_OFFLOADED, !!st->offloadable);
	if (st->kthread_pid) {
		KNOWN(r, KD_F_KTHREAD_PID, st->kthread_pid);
		KNOWN(r, KD_F_KTHREAD_NS, st->kthread_ns);
	}
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}

/* A callback that was followed has its turn. */
static __noinline int had_turn(struct hc_cpu *st, __u32 cpu, __u64 now)
{
	struct hc_followed *f;
	__u64 took;

	if (!st)
		return 0;
	f = &st->followed[st->front & (HC_FOLLOWED - 1)];
	took = now - f->when;
	if (took >= limit_ns && f->when) {
		if (now - st->reported_ns < ALIKE_NS &&
		    took < st->reported_took + st->reported_took / 2) {
			count(&alike);
		} else {
			tell_wait(st, f, cpu, now);
			st->reported_ns = now;
			st->reported_took = took;
			st->id++;
			st->witnesses = 0;
		}
	}
	if (took < limit_ns) {
		st->kthread_ns = st->kthread_pid = 0;
		st->witnesses = 0;
	}
	*(volatile __u64 *)&st->front = st->front + 1;
	return 0;
}

/* The callback that ran has come to its end. */
static __noinline int run_over(struct hc_cpu *st, __u32 cpu, __u64 now)
{
	struct kd_rec_holdup *r;
	__u64 took;

	if (!st)
		return 0;
	took = now - st->run_ns;
	if (st->front == *(volatile __u64 *)&st->tail || took > st->slow_ns ||
	    now - st->slow_from > ALIKE_NS) {
		st->slow_ns = took;
		st->slow_func = st->run_func;
		st->slow_from = now;
	}
	if (!run_limit_ns || took < run_limit_ns)
		return 0;
	r = reserve(cpu, KD_WAIT_RUN, st->run_id, st->run_func);
	st->run_id++;
	st->run_witnesses = 0;
	if (!r)
		return 0;
	r->begin_ns = st->run_ns;
	r->end_ns = now;
	no_phases(r);
	r->phase[KD_PH_CB_RUN] = took;
	KNOWN(r, KD_F_QUEUE, st->queue);
	KNOWN(r, KD_F_OFFLOADED, !!st->offloadable);
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}

/* --- the batch --- */

static __always_inline void batch_begins(struct hc_cpu *st, __u64 list)
{
	st->batch_ns = bpf_ktime_get_ns();
	st->queue = list_len(list);
	st->run_ns = 0;
}

SEC("fentry/rcu_segcblist_extract_done_cbs")
int BPF_PROG(hc_batch, struct rcu_segcblist *rsclp, struct rcu_cblist *rclp)
{
	struct hc_cpu *owner, *st = cpu_state(bpf_get_smp_processor_id());
	__u64 local = (__u64)rclp, list = (__u64)rsclp;
	__u32 *cpu;

	if (!st)
		return 0;
	if (list == st->list) {
		st->rclp = local;
		batch_begins(st, list);
		if (!st->offloadable)
			return 0;
	} else if (st->rclp == local)
		st->rclp = 0; /* another list's batch at the same place on the stack */
	if (!offload)
		return 0;
	cpu = bpf_map_lookup_elem(&lists, &list);
	owner = cpu ? cpu_state(*cpu) : 0;
	if (owner && owner->list) {
		bpf_map_update_elem(&batches, &local, cpu, BPF_ANY);
		if (owner != st)
			batch_begins(owner, list);
	} else {
		bpf_map_delete_elem(&batches, &local);
	}
	return 0;
}

static __always_inline void next_callback(struct hc_cpu *st, __u32 cpu, __u64 head, __u64 func)
{
	__u64 now = bpf_ktime_get_ns(), front = st->front;

	if (st->run_ns)
		run_over(st, cpu, now);
	st->run_ns = head ? now : 0;
	if (!head)
		return; /* the end of the batch */
	st->run_func = func;
	if (front != *(volatile __u64 *)&st->tail &&
	    st->followed[front & (HC_FOLLOWED - 1)].head == head)
		had_turn(st, cpu, now);
	st->ran++;
}

SEC("fentry/rcu_cblist_dequeue")
int BPF_PROG(hc_dequeue, struct rcu_cblist *rclp)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct hc_cpu *st = cpu_state(cpu);
	__u64 local = (__u64)rclp, head, func = 0;
	__u32 *owner;

	if (!st || !st->list)
		return 0;
	if (local != st->rclp) {
		if (!offload)
			return 0; /* of SRCU or Tasks */
		owner = bpf_map_lookup_elem(&batches, &local);
		st = owner ? cpu_state(*owner) : 0;
		if (!st || !st->list || !owner)
			return 0;
		cpu = *owner;
	}
	head = (__u64)rclp->head;
	if (head)
		func = as_number(&st->scratch[HC_SCRATCH_END], (__u64)rclp->head->func);
	next_callback(st, cpu, head, func);
	return 0;
}

/* A batch may be left off before its list is empty, and then goes on in another. */
SEC("fexit/rcu_do_batch")
int BPF_PROG(hc_batch_out, struct rcu_data *rdp)
{
	__u32 cpu = rdp->cpu;
	struct hc_cpu *st = cpu_state(cpu);

	if (!st || !st->list)
		return 0;
	if (st->run_ns)
		run_over(st, cpu, bpf_ktime_get_ns());
	st->run_ns = 0;
	st->rclp = 0;
	if (list_len(st->list))
		return 0;
	/* All that was followed has had its turn, whether we saw it or not. */
	if (!st->bypass || !word_at(st->bypass + bpf_core_field_offset(struct rcu_cblist, len)))
		*(volatile __u64 *)&st->front = *(volatile __u64 *)&st->tail;
	return 0;
}

/* --- ticks --- */

static __always_inline struct task_struct *kthread_of(struct rcu_data *rdp, struct hc_cpu *st,
						      __u32 cpu)
{
	struct task_struct *t = 0;

	if (st->offloadable && bpf_core_field_exists(rdp->nocb_cb_kthread))
		return BPF_CORE_READ(rdp, nocb_cb_kthread);
	if (bpf_core_field_exists(rdp->rcu_cpu_kthread_task))
		t = BPF_CORE_READ(rdp, rcu_cpu_kthread_task);
	if (t)
		return t;
	return (void *)word_at(percpu_address(PERCPU_KSOFTIRQD, cpu));
}

static __always_inline void see_task(void *ctx, __u32 id, __u8 role, struct task_struct *t,
				     struct task_struct *instead_of, bool here)
{
	struct kd_rec_witness *r = witness_reserve(id, KD_SRC_CALL_RCU, role);

	if (!r)
		return;
	witness_task(r, t);
	if (instead_of)
		r->of_pid = BPF_CORE_READ(instead_of, pid);
	if (here)
		witness_stack_here(ctx, r);
	witness_submit(r);
}

/* The oldest that is followed is over the limit: who should run it, and what runs there instead. */
static __noinline int look(void *ctx, struct hc_cpu *st, __u32 cpu, __u64 now)
{
	struct rcu_data *rdp = percpu_rcu_data(cpu);
	__u32 here = bpf_get_smp_processor_id(), where = cpu;
	struct task_struct *t, *rival;
	__u64 passed;
	__u16 state;

	if (!st || !rdp)
		return 0;
	passed = st->seen_ns && now - st->seen_ns < 16 * tick_ns ? now - st->seen_ns : 0;
	st->seen_ns = now;
	t = kthread_of(rdp, st, cpu);
	if (!t)
		return 0;
	state = witness_state(t);
	if (state == KD_WIT_RUNNABLE) {
		st->kthread_pid = BPF_CORE_READ(t, pid);
		st->kthread_ns += passed;
		if (bpf_core_field_exists(t->thread_info.cpu))
			where = BPF_CORE_READ(t, thread_info.cpu);
	}
	/* Batches come and go: they have their turn, and many are in line. */
	if (state != KD_WIT_RUNNABLE && now - st->batch_ns < limit_ns / 2)
		return 0;
	if (now - st->witness_ns < WITNESS_EVERY_NS || st->witnesses >= WITNESSES_MOST)
		return 0;
	st->witness_ns = now;
	st->witnesses++;
	see_task(ctx, witness_id(cpu, false, st->id), KD_ROLE_KTHREAD, t, 0, false);
	rival = where == here
			? (void *)bpf_get_current_task()
			: BPF_CORE_READ((struct rq *)percpu_address(PERCPU_RUNQUEUES, where), curr);
	if (rival && rival != t)
		see_task(ctx, witness_id(cpu, false, st->id), KD_ROLE_RIVAL, rival, t,
			 where == here);
	return 0;
}

static __noinline int see_run(void *ctx, struct hc_cpu *st, __u32 cpu)
{
	struct kd_rec_witness *r;

	if (!st || st->run_witnesses >= 4)
		return 0;
	st->run_witnesses++;
	r = witness_reserve(witness_id(cpu, true, st->run_id), KD_SRC_CALL_RCU, KD_ROLE_CALLBACK);
	if (!r)
		return 0;
	witness_task(r, (void *)bpf_get_current_task());
	witness_stack_here(ctx, r);
	witness_submit(r);
	return 0;
}

static __always_inline void look_if_late(void *ctx, __u32 cpu, __u64 now)
{
	struct hc_cpu *st = cpu_state(cpu);
	struct hc_followed *f;
	__u64 front;

	if (!limit_ns || !st || !st->list)
		return;
	front = *(volatile __u64 *)&st->front;
	if (front == *(volatile __u64 *)&st->tail)
		return;
	f = &st->followed[front & (HC_FOLLOWED - 1)];
	if ((__s64)(now - f->when) > (__s64)limit_ns)
		look(ctx, st, cpu, now);
}

SEC("fentry/rcu_sched_clock_irq")
int BPF_PROG(hc_tick)
{
	__u32 here = bpf_get_smp_processor_id(), other;
	struct hc_cpu *st = cpu_state(here);
	__u64 now;

	if (!st || !st->list)
		return 0;
	now = bpf_ktime_get_ns();
	if (run_limit_ns && st->run_ns && !st->offloadable && now - st->run_ns > run_limit_ns)
		see_run(ctx, st, here);
	look_if_late(ctx, here, now);
	if (!offload)
		return 0;
	/* Their own CPU may be idle, and take no tick: each other CPU's turn comes. */
	other = bpf_jiffies64() % nr_cpus;
	if (other != here)
		look_if_late(ctx, other, now);
	return 0;
}

/* --- what user space runs --- */

static __always_inline int start(__u32 cpu)
{
	struct hc_cpu *st = cpu_state(cpu);
	struct rcu_data *rdp = percpu_rcu_data(cpu);
	__u64 list;

	if (!st || !rdp)
		return -1;
	list = (__u64)&rdp->cblist;
	bpf_map_update_elem(&lists, &list, &cpu, BPF_ANY);
	if (bpf_core_field_exists(rdp->nocb_bypass)) {
		st->bypass = (__u64)&rdp->nocb_bypass;
		st->offloadable = !!BPF_CORE_READ(rdp, nocb_cb_kthread);
	}
	*(volatile __u64 *)&st->list = list;
	return !!st->offloadable;
}

static __always_inline int stop(__u32 cpu)
{
	struct hc_cpu *st = cpu_state(cpu);

	if (!st)
		return -1;
	*(volatile __u64 *)&st->list = 0;
	st->rclp = 0;
	st->front = st->tail;
	st->given = st->tail;
	return 0;
}

SEC("raw_tp")
int kd_control(struct kd_run_args *args)
{
	__u32 cpu = args->arg[1];

	return args->arg[0] == HC_START ? start(cpu) : stop(cpu);
}

SEC("raw_tp")
int kd_tick(struct kd_run_args *args)
{
	int full =
		send_total(KD_SRC_CALL_RCU, KD_REC_LOST, KD_LOST_REPORTS, ring_full + witness_full);

	full |= send_total(KD_SRC_CALL_RCU, KD_REC_LOST, KD_LOST_ALIKE, alike);
	return full ? 1 : 0;
}
