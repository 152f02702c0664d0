/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * holdup_gp.bpf.c - why a grace period takes long: what is seen of it while it goes on.
 *
 *  - its kthread passes through functions that part its life into phases;
 *  - each report of a quiescent state is seen, so that the last one and the last but one are known;
 *  - the tick of each CPU counts what it interrupts as long as a grace period is under way (a flight
 *    recorder: what was before the limit is told too), and once the grace period is older than the
 *    limit it says what runs there, with its stack, if that CPU is still waited for;
 *  - whichever CPU ticks first looks at the grace-period kthread, and at readers that were preempted.
 *
 * While no grace period is under way a tick costs one test and the look at one word; while one is, but
 * young, some counters. Nothing is sent of one that ends in time.
 *
 * Reports come with a raw lock held and interrupts off, ticks in an interrupt. Nothing allocates.
 */
#include "jiffies.bpf.h"
#include "witness.bpf.h"
#include "holdup_gp.h"

const volatile __u64 over_ns = ~0ULL; /* limit */

__u64 since;        /* what began before it is not told; 0 = not recording */
__u64 reports_full; /* reports that the ring had no room for */

struct hg_wait waits[HG_KINDS];

/* By kind * CPUs + CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct hg_cpu);
} cpus SEC(".maps");

/* Where the kernel's own state is: found once. */
__u64 rcu_state;
__u32 leaf_level;

#define WITNESS_NS 10000000ULL /* at most one from a CPU in that time ... */
#define WITNESS_SHARE 16       /* ... and in this share of the wait's age */
#define WITNESS_MOST 512       /* of one wait */
#define BLOCKED_MOST 8         /* preempted readers told of at one leaf */

static __always_inline bool recording(void)
{
	return *(volatile __u64 *)&since;
}

static __always_inline struct hg_cpu *cpu_of(__u32 kind, __u32 cpu)
{
	__u32 at = kind * percpu.cpus + cpu;

	return bpf_map_lookup_elem(&cpus, &at);
}

static __always_inline __u64 switches_of(__u32 cpu)
{
	struct rq *rq = (void *)percpu_address(PERCPU_RUNQUEUES, cpu);

	return rq ? BPF_CORE_READ(rq, nr_switches) : 0;
}

static __always_inline __u64 steal_of(__u32 cpu)
{
	struct kernel_cpustat *s = (void *)percpu_address(PERCPU_CPUSTAT, cpu);
	__u64 ns = 0;

	if (s)
		bpf_probe_read_kernel(
			&ns, sizeof(ns),
			&s->cpustat[bpf_core_enum_value(enum cpu_usage_stat, CPUTIME_STEAL)]);
	return ns;
}

/* --- reports --- */

#define PACK_SHIFT 20
#define PACK_CPU(word) ((__u32)((word) >> 2 & 0x3ffff))
#define PACK_HOW(word) ((__u32)((word)&3))

/* Since the start: 52 days of us would not do, 4 hours of ns do. */
static __always_inline __u64 pack(struct hg_wait *w, __u64 now, __u32 cpu, __u32 how)
{
	return (now - w->start) << PACK_SHIFT | (__u64)(cpu & 0x3ffff) << 2 | how;
}

static __always_inline __u64 packed_ns(__u64 word)
{
	return word >> PACK_SHIFT;
}

static __always_inline void report(struct hg_wait *w, __u64 word)
{
	__u64 was = __sync_lock_test_and_set(&w->last, word);

	if (was)
		*(volatile __u64 *)&w->second = was;
}

static __always_inline void report_of_task(struct hg_wait *w, __u64 now)
{
	*(volatile __u64 *)&w->last_pid = (__u32)bpf_get_current_pid_tgid();
	report(w, pack(w, now, bpf_get_smp_processor_id(), KD_HOW_TASK));
}

/* The node's lock is held. A node that is no leaf: its last blocked reader is gone, and nothing else. */
SEC("fentry/rcu_report_qs_rnp")
int BPF_PROG(hg_report, unsigned long mask, struct rcu_node *rnp, unsigned long gps)
{
	struct hg_wait *w = &waits[HG_NORMAL];
	__u32 here = bpf_get_smp_processor_id(), cpu;
	__u64 now, word, lowest;
	struct hg_cpu *c;

	if (!w->from || !mask || !(rnp->qsmask & mask) || rnp->gp_seq != gps)
		return 0;
	now = bpf_ktime_get_ns();
	if (rnp->level != leaf_level) {
		report_of_task(w, now);
		return 0;
	}
	lowest = mask & -mask;
	for (cpu = rnp->grplo; lowest > 1 && cpu < (__u32)rnp->grplo + 64; cpu++)
		lowest >>= 1;
	word = pack(w, now, cpu,
		    cpu == here && !(mask & (mask - 1)) ? KD_HOW_ITSELF : KD_HOW_FOR_IT);
	*(volatile __u64 *)&w->last_cpu = word;
	report(w, word);
	c = cpu_of(HG_NORMAL, here);
	if (!c)
		return 0;
	c->reported = now; /* what this CPU wakes the kthread for, in a moment */
	if (cpu == here && c->start == w->start && now - w->start > over_ns / 2)
		c->end_switches = switches_of(here);
	return 0;
}

#define AT_ONCE_NS 200000

/*
 * The kthread is woken since all is reported: after a CPU's report, within the same section with
 * interrupts off, or by the last preempted reader as it ends.
 */
SEC("fentry/rcu_gp_kthread_wake")
int hg_wake(__u64 *ctx)
{
	struct hg_wait *w = &waits[HG_NORMAL];
	struct rcu_node *root = (void *)rcu_state;
	struct hg_cpu *c;
	__u64 now;

	if (!w->waiting || !root)
		return 0;
	if (BPF_CORE_READ(root, qsmask) || BPF_CORE_READ(root, gp_tasks))
		return 0;
	c = cpu_of(HG_NORMAL, bpf_get_smp_processor_id());
	now = bpf_ktime_get_ns();
	if (!c || now - c->reported < AT_ONCE_NS || PACK_HOW(w->last) == KD_HOW_TASK)
		return 0;
	report_of_task(w, now);
	return 0;
}

/* --- the kthread --- */

static __always_inline struct task_struct *gp_kthread(void)
{
	struct rcu_state *s = (void *)rcu_state;

	return s ? BPF_CORE_READ(s, gp_kthread) : 0;
}

/* It runs: this is it. */
static __always_inline void kthread_runs(struct hg_wait *w, __u64 now)
{
	__u64 since_ns = __sync_lock_test_and_set(&w->kthread_since, 0);

	if (since_ns && now > since_ns)
		__sync_fetch_and_add(&w->kthread_ns, now - since_ns);
}

/* When it was asked for: to the tick, and no more than a tick is none. */
static __always_inline __u64 asked(struct rcu_state *s, __u64 now)
{
	__u64 age = jiffies_age(BPF_CORE_READ(s, gp_req_activity));

	return age > NS_PER_S / hz && age < now ? now - age : now;
}

SEC("fentry/rcu_gp_init")
int hg_gp_in(__u64 *ctx)
{
	struct rcu_state *s = (void *)rcu_state;
	struct hg_wait *w = &waits[HG_NORMAL];
	__u64 now = bpf_ktime_get_ns();

	if (!recording() || !s || !BPF_CORE_READ(s, gp_flags))
		return 0; /* nobody wants one */
	kthread_runs(w, now);
	w->last = w->second = w->last_cpu = w->last_pid = 0;
	w->scans = w->waiting = 0;
	w->any_tick = now;
	w->any_gap = 0;
	w->seq = BPF_CORE_READ(s, gp_seq) + 1;
	w->start = now;
	barrier();
	*(volatile __u64 *)&w->from = asked(s, now);
	return 0;
}

SEC("fentry/rcu_gp_fqs_loop")
int hg_waiting(__u64 *ctx)
{
	struct hg_wait *w = &waits[HG_NORMAL];

	if (w->from)
		w->waiting = bpf_ktime_get_ns();
	return 0;
}

SEC("fentry/force_qs_rnp")
int hg_scan(__u64 *ctx)
{
	struct hg_wait *w = &waits[HG_NORMAL];

	if (!w->from)
		return 0;
	w->scans++;
	if (w->kthread_since)
		kthread_runs(w, bpf_ktime_get_ns());
	return 0;
}

/* --- the report --- */

static __always_inline void fact(struct kd_rec_holdup *r, enum kd_fact which, __u64 value)
{
	r->known |= 1ULL << which;
	r->fact[which] = value;
}

static __always_inline void fill_phases(struct kd_rec_holdup *r, struct hg_wait *w, __u64 end)
{
	__u64 last = w->last ? w->start + packed_ns(w->last) : 0, cpus_done = last;
	int i;

	for (i = 0; i < KD_PH_COUNT; i++)
		r->phase[i] = KD_UNKNOWN;
	if (!w->start) {
		r->phase[KD_PH_REQUESTED] = end - w->from;
		return;
	}
	r->phase[KD_PH_REQUESTED] = w->start - w->from;
	if (!w->waiting) {
		r->phase[KD_PH_INIT] = end - w->start;
		return;
	}
	r->phase[KD_PH_INIT] = w->waiting - w->start;
	if (r->flags & KD_HOLDUP_ONGOING || !last)
		last = end;
	if (PACK_HOW(w->last) == KD_HOW_TASK)
		cpus_done = w->last_cpu ? w->start + packed_ns(w->last_cpu) : w->waiting;
	else
		cpus_done = last;
	if (cpus_done < w->waiting)
		cpus_done = w->waiting;
	if (last < cpus_done)
		last = cpus_done;
	r->phase[KD_PH_WAIT_CPUS] = cpus_done - w->waiting;
	r->phase[KD_PH_WAIT_TASKS] = last - cpus_done;
	if (end >= last)
		r->phase[KD_PH_CLEANUP] = end - last;
}

/* What is known of the CPU that was the last. */
static __noinline int fill_cpu(struct kd_rec_holdup *r, struct hg_wait *w, __u32 kind, __u32 cpu,
			       __u64 until)
{
	struct hg_cpu *c = cpu_of(kind, cpu);
	__u64 gap, from = w->start;

	if (!r || !c)
		return 0;
	if (c->start != w->start) { /* not one tick */
		fact(r, KD_F_TICKS, 0);
		fact(r, KD_F_GAP_NS, until - from);
		fact(r, KD_F_GAP_END_NS, until - r->begin_ns);
		return 0;
	}
	fact(r, KD_F_TICKS, c->ticks);
	fact(r, KD_F_TICKS_USER, c->user);
	if (bpf_core_field_exists(struct task_struct, rcu_read_lock_nesting)) {
		fact(r, KD_F_TICKS_READER, c->reader);
		fact(r, KD_F_TICKS_BARE, c->bare);
	}
	fact(r, KD_F_TICKS_BARRED, c->barred);
	fact(r, KD_F_PASSES, c->passes);
	gap = until > c->last ? until - c->last : 0;
	if (gap > c->gap) {
		fact(r, KD_F_GAP_NS, gap);
		fact(r, KD_F_GAP_END_NS, until - r->begin_ns);
	} else {
		fact(r, KD_F_GAP_NS, c->gap);
		fact(r, KD_F_GAP_END_NS, c->gap_end - r->begin_ns);
	}
	if (c->switches)
		fact(r, KD_F_SWITCHES,
		     (c->end_switches ? c->end_switches : switches_of(cpu)) - c->switches);
	fact(r, KD_F_URGENT_NS, c->urgent ? c->urgent - r->begin_ns : 0);
	fact(r, KD_F_UNREPORTED_NS,
	     c->unreported_ns +
		     (c->unreported && until > c->unreported ? until - c->unreported : 0));
	if (c->steal)
		fact(r, KD_F_STEAL_NS, steal_of(cpu) - c->steal);
	return 0;
}

static __noinline int fill_facts(struct kd_rec_holdup *r, struct hg_wait *w, __u32 kind)
{
	struct task_struct *k = gp_kthread();
	__u64 gap;

	if (!r || !w)
		return 0;
	if (k)
		fact(r, KD_F_KTHREAD_PID, BPF_CORE_READ(k, pid));
	fact(r, KD_F_KTHREAD_NS, w->kthread_ns);
	if (!w->start)
		return 0;
	fact(r, KD_F_SCANS, w->scans);
	gap = r->end_ns > w->any_tick ? r->end_ns - w->any_tick : 0;
	fact(r, KD_F_ALL_GAP_NS, gap > w->any_gap ? gap : w->any_gap);
	if (!w->last)
		return 0;
	fact(r, KD_F_LAST_NS, w->start + packed_ns(w->last) - r->begin_ns);
	if (w->second)
		fact(r, KD_F_SECOND_NS, w->start + packed_ns(w->second) - r->begin_ns);
	if (r->flags & KD_HOLDUP_ONGOING)
		return 0; /* somebody has not reported yet */
	fact(r, KD_F_HOW, PACK_HOW(w->last));
	fact(r, KD_F_LAST_CPU, PACK_CPU(w->last));
	fact(r, KD_F_LAST_PID, PACK_HOW(w->last) == KD_HOW_TASK ? w->last_pid : 0);
	return fill_cpu(r, w, kind, PACK_CPU(w->last), w->start + packed_ns(w->last));
}

static __always_inline void send_holdup(struct hg_wait *w, __u32 kind, __u64 end, __u32 flags)
{
	struct kd_rec_holdup *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);

	if (!r) {
		__sync_fetch_and_add(&reports_full, 1);
		return;
	}
	__builtin_memset(r, 0, sizeof(*r));
	r->rec.kind = KD_REC_HOLDUP;
	r->rec.len = sizeof(*r);
	r->rec.id = w->id;
	r->source = KD_SRC_RCU_GP;
	r->flavour = KD_FL_RCU;
	r->what = KD_WAIT_GP;
	r->flags = flags;
	r->cpu = KD_CPU_NONE;
	r->begin_ns = w->from;
	r->end_ns = end;
	r->threshold_ns = over_ns;
	r->seq = w->start ? w->seq : 0;
	fill_phases(r, w, end);
	fill_facts(r, w, kind);
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
}

SEC("fexit/rcu_gp_cleanup")
int hg_gp_out(__u64 *ctx)
{
	struct hg_wait *w = &waits[HG_NORMAL];
	__u64 now = bpf_ktime_get_ns(), from = w->from;

	if (!from)
		return 0;
	kthread_runs(w, now);
	if (now - from > over_ns && recording() && from >= since)
		send_holdup(w, HG_NORMAL, now, 0);
	*(volatile __u64 *)&w->from = 0;
	barrier();
	w->kthread_ns = w->told = w->tell = w->start = w->waiting = 0;
	w->id++;
	return 0;
}

/* --- witnesses --- */

static __always_inline bool due(__u64 *when, __u64 now, __u64 next)
{
	__u64 was = *(volatile __u64 *)when;

	return now >= was && __sync_val_compare_and_swap(when, was, next) == was;
}

static __always_inline __u64 next_witness(struct hg_wait *w, __u64 now)
{
	__u64 age = now - w->from, step = age / WITNESS_SHARE;

	return now + (step > WITNESS_NS ? step : WITNESS_NS);
}

static __always_inline struct kd_rec_witness *tell(struct hg_wait *w, __u8 role)
{
	if (__sync_fetch_and_add(&w->told, 1) >= WITNESS_MOST)
		return 0;
	return witness_reserve(w->id, KD_SRC_RCU_GP, role);
}

/* --- what the tick interrupts --- */

#define USER_REGS 21
#define HG_PREEMPT_BITS 0x00ff
#define HG_SOFTIRQ_BITS 0xff00

/* What is the state of a CPU in user mode where a program of ours looks: programs are readers themselves. */
__u32 base_nesting = 1, base_count;

struct hg_seen {
	__u64 task;
	__u64 gap;   /* since the tick before */
	__u16 flags; /* KD_WIT_* */
};

#define GAP_NS (3 * NS_PER_S / hz) /* without a tick: worth telling */

static __always_inline __u32 preempt_count_of(__u32 cpu)
{
	__u32 count = 0;
	__u64 at = percpu_address(PERCPU_PREEMPT_COUNT, cpu);

	if (!at && bpf_core_field_exists(struct pcpu_hot, preempt_count)) {
		at = percpu_address(PERCPU_HOT, cpu);
		if (at)
			at += bpf_core_field_offset(struct pcpu_hot, preempt_count);
	}
	if (at)
		bpf_probe_read_kernel(&count, sizeof(count), (void *)at);
	return count & (HG_PREEMPT_BITS | HG_SOFTIRQ_BITS);
}

static __always_inline void see(struct hg_seen *seen, __u32 here, int user)
{
	struct task_struct *t = (void *)bpf_get_current_task();
	__u32 count = preempt_count_of(here), nesting = 0;

	seen->task = (__u64)t;
	seen->gap = 0;
	seen->flags = KD_WIT_RUNNING;
	if (bpf_core_field_exists(t->rcu_read_lock_nesting)) {
		nesting = BPF_CORE_READ(t, rcu_read_lock_nesting);
		seen->flags |= KD_WIT_NEST_KNOWN;
	}
	if (user) {
		seen->flags |= KD_WIT_USER;
		base_nesting = nesting;
		base_count = count;
		return;
	}
	if (!(__u32)bpf_get_current_pid_tgid() && !(count & HG_SOFTIRQ_BITS)) {
		seen->flags |= KD_WIT_USER | KD_WIT_IDLE;
		return;
	}
	if ((int)(nesting - base_nesting) > 0)
		seen->flags |= KD_WIT_READER;
	if (count != base_count)
		seen->flags |= KD_WIT_BARRED;
}

static __always_inline void begin_record(struct hg_cpu *c, __u64 start, __u32 here)
{
	__u64 reported = c->reported;

	__builtin_memset(c, 0, sizeof(*c));
	c->reported = reported;
	c->start = c->last = start;
	c->switches = switches_of(here);
	c->steal = steal_of(here);
}

static __always_inline __u64 record_gap(struct hg_cpu *c, __u64 now)
{
	__u64 gap = now > c->last ? now - c->last : 0;

	if (gap > c->gap) {
		c->gap = gap;
		c->gap_end = now;
	}
	c->last = now;
	return gap;
}

/* What RCU itself knows of this CPU. */
static __always_inline void record_rcu(struct hg_cpu *c, __u32 here, __u64 now)
{
	struct rcu_data *rdp = percpu_rcu_data(here);
	__u8 no_qs = 1;

	if (!rdp)
		return;
	if (!c->urgent && BPF_CORE_READ(rdp, rcu_urgent_qs))
		c->urgent = now;
	bpf_probe_read_kernel(&no_qs, 1, &rdp->cpu_no_qs);
	if (!no_qs && BPF_CORE_READ(rdp, core_needs_qs)) {
		if (!c->unreported)
			c->unreported = now;
	} else if (c->unreported) {
		c->unreported_ns += now - c->unreported;
		c->unreported = 0;
	}
}

/* A trace of user mode: registers as they were when the kernel was entered from there. */
static __always_inline void record_passes(struct hg_cpu *c, struct hg_seen *seen)
{
	__u64 regs[USER_REGS] = {}, sum = 0;
	struct task_struct *t;
	int i;

	if (seen->flags & KD_WIT_USER) {
		c->task = 0;
		return;
	}
	t = bpf_get_current_task_btf();
	if (bpf_probe_read_kernel(regs, sizeof(regs), (void *)bpf_task_pt_regs(t)))
		return;
	for (i = 0; i < USER_REGS; i++)
		sum = (sum ^ regs[i]) * 0x9e3779b97f4a7c15ULL;
	if (c->task == seen->task && c->regs != sum)
		c->passes++;
	c->task = seen->task;
	c->regs = sum;
}

static __always_inline void count_tick(struct hg_cpu *c, __u32 flags)
{
	c->ticks++;
	if (flags & KD_WIT_USER)
		c->user++;
	else if (flags & KD_WIT_READER)
		c->reader++;
	else if (!(flags & KD_WIT_BARRED))
		c->bare++;
	if (flags & KD_WIT_BARRED)
		c->barred++;
}

static __always_inline bool owes(__u32 cpu)
{
	struct rcu_data *rdp = percpu_rcu_data(cpu);
	struct rcu_node *rnp;

	if (!rdp)
		return false;
	rnp = BPF_CORE_READ(rdp, mynode);
	return BPF_CORE_READ(rnp, qsmask) & BPF_CORE_READ(rdp, grpmask);
}

/* --- looks: at the kthread, and at readers that were preempted --- */

static __noinline int tell_task(struct hg_wait *w, __u64 task, __u32 role, __u32 flags)
{
	struct kd_rec_witness *r = tell(w, role);
	struct hg_cpu *c;

	if (!r)
		return 0;
	witness_task(r, (struct task_struct *)task);
	r->flags |= flags;
	if (r->flags & KD_WIT_RUNNABLE) {
		c = cpu_of(HG_NORMAL, r->cpu);
		if (c)
			c->rival_of = r->pid;
	}
	witness_submit(r);
	return 0;
}

static __always_inline void look_at_kthread(struct hg_wait *w, __u64 now, bool tell)
{
	struct task_struct *k = gp_kthread();

	if (!k)
		return;
	if (witness_state(k) != KD_WIT_RUNNABLE) {
		kthread_runs(w, now);
		return;
	}
	if (!w->kthread_since)
		w->kthread_since = now;
	else if (tell)
		tell_task(w, (__u64)k, KD_ROLE_KTHREAD, 0);
}

struct hg_blocked {
	struct hg_wait *w;
	__u64 node, head, leaf;
};

/* The list changes under us: a task that is not blocked at this leaf (any more) leads astray. */
static long blocked_step(__u32 i, struct hg_blocked *b)
{
	struct task_struct *t;

	if (!b->node || b->node == b->head)
		return 1;
	t = (void *)(b->node - bpf_core_field_offset(struct task_struct, rcu_node_entry));
	if ((__u64)BPF_CORE_READ(t, rcu_blocked_node) != b->leaf)
		return 1;
	tell_task(b->w, (__u64)t, KD_ROLE_TASK, KD_WIT_READER | KD_WIT_NEST_KNOWN);
	b->node = word_at(b->node);
	return 0;
}

struct hg_leaves {
	struct hg_wait *w;
	__u32 cpu;
};

static long leaf_step(__u32 i, struct hg_leaves *l)
{
	struct rcu_data *rdp = percpu_rcu_data(l->cpu);
	struct hg_blocked b = { .w = l->w };
	struct rcu_node *rnp;

	if (l->cpu >= percpu.cpus)
		return 1;
	if (!rdp) {
		l->cpu++;
		return 0;
	}
	rnp = BPF_CORE_READ(rdp, mynode);
	l->cpu = BPF_CORE_READ(rnp, grphi) + 1;
	b.node = (__u64)BPF_CORE_READ(rnp, gp_tasks);
	if (!b.node)
		return 0;
	b.leaf = (__u64)rnp;
	b.head = (__u64)&rnp->blkd_tasks;
	bpf_loop(BLOCKED_MOST, blocked_step, &b, 0);
	return 0;
}

static __noinline int look_at_readers(struct hg_wait *w)
{
	struct hg_leaves l = { .w = w };

	if (bpf_core_field_exists(struct task_struct, rcu_node_entry))
		bpf_loop(percpu.cpus, leaf_step, &l, 0);
	return 0;
}

/* --- the tick --- */

/* Nothing is under way. Is something asked for, and nobody starts it? */
static __always_inline void see_request(struct hg_wait *w)
{
	struct rcu_state *s = (void *)rcu_state;
	__u64 now, age;

	if (!s || !(BPF_CORE_READ(s, gp_flags) & 1))
		return;
	now = bpf_ktime_get_ns();
	if (!due(&w->look, now, now + NS_PER_S / 2 / hz))
		return;
	age = jiffies_age(BPF_CORE_READ(s, gp_req_activity));
	look_at_kthread(w, now, age > over_ns && due(&w->tell, now, now + WITNESS_NS));
}

static __noinline int tell_cpu(void *ctx, struct hg_cpu *c, struct hg_seen *seen, __u8 role)
{
	struct kd_rec_witness *r;

	if (!c || !seen)
		return 0;
	r = tell(&waits[HG_NORMAL], role);
	if (!r)
		return 0;
	witness_task(r, (struct task_struct *)seen->task);
	r->cpu = bpf_get_smp_processor_id();
	r->flags |= seen->flags;
	if (seen->gap > GAP_NS) {
		r->flags |= KD_WIT_GAP;
		r->gap_ns = seen->gap;
	}
	if (role == KD_ROLE_RIVAL)
		r->of_pid = c->rival_of;
	if (!(seen->flags & KD_WIT_USER))
		witness_stack_here(ctx, r);
	witness_submit(r);
	return 0;
}

static __always_inline void see_rival(void *ctx, struct hg_cpu *c, struct hg_seen *seen)
{
	if (c->rival_of && (__u32)bpf_get_current_pid_tgid() != c->rival_of &&
	    !(seen->flags & KD_WIT_IDLE))
		tell_cpu(ctx, c, seen, KD_ROLE_RIVAL);
	c->rival_of = 0;
}

/* The flight recorder. */
static __always_inline void record(struct hg_wait *w, struct hg_cpu *c, struct hg_seen *seen,
				   __u64 start, __u64 now)
{
	__u32 here = bpf_get_smp_processor_id();
	__u64 any = w->any_tick;

	if (c->start != start)
		begin_record(c, start, here);
	seen->gap = record_gap(c, now);
	record_rcu(c, here, now);
	record_passes(c, seen);
	count_tick(c, seen->flags);
	if (now > any && any >= start && now - any > w->any_gap)
		w->any_gap = now - any;
	w->any_tick = now;
}

static __always_inline void look(struct hg_wait *w, __u64 now, bool old)
{
	bool say;

	if (!due(&w->look, now, now + NS_PER_S / 2 / hz))
		return;
	say = old && due(&w->tell, now, next_witness(w, now));
	look_at_kthread(w, now, say);
	if (say)
		look_at_readers(w);
}

SEC("fentry/rcu_sched_clock_irq")
int BPF_PROG(hg_tick, int user)
{
	struct hg_wait *w = &waits[HG_NORMAL];
	__u32 here = bpf_get_smp_processor_id();
	__u64 now, from = *(volatile __u64 *)&w->from, start = *(volatile __u64 *)&w->start;
	struct hg_seen seen;
	struct hg_cpu *c;
	bool old;

	if (!recording())
		return 0;
	if (!from)
		see_request(w);
	c = cpu_of(HG_NORMAL, here);
	if (!c || !(c->rival_of | (from && start)))
		return 0;
	see(&seen, here, user);
	now = bpf_ktime_get_ns();
	if (from && start)
		record(w, c, &seen, start, now);
	see_rival(ctx, c, &seen);
	if (!from || !start)
		return 0;
	old = now - from > over_ns && from >= since;
	look(w, now, old);
	if (old && (now >= c->next || seen.gap > GAP_NS) && owes(here)) {
		c->next = next_witness(w, now);
		tell_cpu(ctx, c, &seen, KD_ROLE_CPU);
	}
	return 0;
}

/* --- run by user space --- */

#define START_AHEAD_NS 1000000

static __always_inline void find_rcu(void)
{
	__u32 here = bpf_get_smp_processor_id();
	struct rcu_data *rdp = percpu_rcu_data(here);
	struct rcu_node *rnp;

	rcu_state = percpu_rcu_state(here);
	rnp = rdp ? BPF_CORE_READ(rdp, mynode) : 0;
	leaf_level = rnp ? BPF_CORE_READ(rnp, level) : 0;
}

/* What is not over, and too long already. */
static __always_inline void tell_ongoing(void)
{
	struct hg_wait *w = &waits[HG_NORMAL];
	__u64 now = bpf_ktime_get_ns();

	if (w->from && w->from >= since && now - w->from > over_ns)
		send_holdup(w, HG_NORMAL, now, KD_HOLDUP_ONGOING | KD_HOLDUP_LOWER);
}

SEC("raw_tp")
int kd_control(struct kd_run_args *args)
{
	if (args->arg[0] == HG_START) {
		find_rcu();
		*(volatile __u64 *)&since = bpf_ktime_get_ns() + START_AHEAD_NS;
		return 0;
	}
	tell_ongoing();
	*(volatile __u64 *)&since = 0;
	return 0;
}

SEC("raw_tp")
int kd_tick(struct kd_run_args *args)
{
	__u64 full = reports_full + witness_full;

	return full ? send_total(KD_SRC_RCU_GP, KD_REC_LOST, KD_LOST_REPORTS, full) < 0 : 0;
}
