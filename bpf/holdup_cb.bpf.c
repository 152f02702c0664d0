/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * holdup_cb.bpf.c - why RCU callbacks waited for too long after they were handed over, or ran for long.
 *
 * Nothing is hooked that each callback passes. Ticks look at the CPU's list, and a batch says where it is
 * run from. That is enough, since a list is emptied in order: with what has run and what stands on it,
 * RCU counts all that were ever handed over, so that each callback has a number, and of a batch in
 * progress what is left is known. One at a time step, an eighth of the limit at first, is followed by its
 * number until its turn; none waits much longer than one that is followed.
 *
 * So a wait is known to a tick at each end. What is told is the least it can have been, and by how much
 * it may have been longer. The same of a callback that runs for long: several ticks find it running.
 *
 * When a grace period was asked for it shows by the segment that it is in, whose number says which;
 * ends of grace periods are remembered.
 */
#include "cblist.bpf.h"
#include "witness.bpf.h"
#include "holdup_cb.h"

const volatile __u32 nr_cpus = 1;
/* ns; 0: not armed */
const volatile __u64 limit_ns, run_limit_ns;
const volatile __u64 step_ns = 4000000; /* from one that is followed to the next */
const volatile __u64 tick_ns = 4000000;

__u32 offload; /* some CPU may be offloaded: user space finds out */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct hc_cpu);
} cpus SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, __u64);   /* kthread that runs callbacks of an offloaded CPU */
	__type(value, __u32); /* that CPU */
} kthreads SEC(".maps");

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

static __always_inline __u64 since_or_0(__u64 at, __u64 from)
{
	return (__s64)(at - from) > 0 ? at - from : 0;
}

/* A tick can interrupt the end of a batch; lists of offloaded CPUs are looked at from several. */
static __always_inline bool take(struct hc_cpu *st)
{
	return !__sync_lock_test_and_set(&st->busy, 1);
}

static __always_inline void give_back(struct hc_cpu *st)
{
	barrier();
	*(volatile __u64 *)&st->busy = 0;
}

#include "holdup_cb_list.bpf.h"
#include "holdup_cb_tell.bpf.h"
#include "holdup_cb_look.bpf.h"

/* --- grace periods --- */

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

/* --- batches --- */

static __always_inline void batch_begins(struct hc_cpu *st, __u64 rclp)
{
	st->batch_ns = bpf_ktime_get_ns();
	st->runner = bpf_get_current_task();
	barrier();
	*(volatile __u64 *)&st->rclp = rclp;
}

/* Not the list of the CPU that runs here: that of an offloaded one, or of SRCU or Tasks. */
static __noinline int batch_elsewhere(struct hc_cpu *here, __u64 *ctx)
{
	struct hc_cpu *st;
	__u64 list;

	if (!here || !offload)
		return 0;
	list = as_number(&here->scratch, ctx[0]); /* interrupts are off */
	st = cpu_state(BPF_CORE_READ(data_of(list), cpu));
	if (st && st->list == list)
		batch_begins(st, ctx[1]);
	return 0;
}

/* The only one here that runs for each batch, which softirqs make of ten callbacks. */
SEC("fentry/rcu_segcblist_extract_done_cbs")
int hc_batch(__u64 *ctx)
{
	struct hc_cpu *st = cpu_state(bpf_get_smp_processor_id());

	if (!st)
		return 0;
	if (ctx[0] != st->list)
		return batch_elsewhere(st, ctx);
	batch_begins(st, ctx[1]);
	return 0;
}

/* The callbacks of a CPU that goes offline join those of the one that runs here: numbers are void. */
SEC("fentry/rcutree_migrate_callbacks")
int BPF_PROG(hc_migrate, int cpu)
{
	forget(cpu_state(cpu));
	forget(cpu_state(bpf_get_smp_processor_id()));
	return 0;
}

/* --- ticks --- */

#define OTHERS 4 /* CPUs that a tick looks at, where their own may take none */

struct looks {
	void *ctx;
	__u32 here, whose; /* this CPU, and that of the offloaded list whose kthread runs here */
	__u64 at;
};

/* One place in the program, or older verifiers have too much to do. */
static long looks_step(__u32 i, struct looks *l)
{
	look(l->ctx, i == 0 ? l->here : i == 1 ? l->whose : (l->at + i) % nr_cpus, i > 1);
	return 0;
}

SEC("fentry/rcu_sched_clock_irq")
int BPF_PROG(hc_tick)
{
	__u32 here = bpf_get_smp_processor_id();
	struct looks l = { .ctx = ctx, .here = here, .whose = here };
	__u64 runs = bpf_get_current_task();
	__u32 *cpu;

	if (offload) {
		cpu = bpf_map_lookup_elem(&kthreads, &runs);
		if (cpu)
			l.whose = *cpu;
		l.at = bpf_jiffies64() * OTHERS;
	}
	bpf_loop(offload ? 2 + OTHERS : 1, looks_step, &l, 0);
	return 0;
}

/* --- what user space runs --- */

static __always_inline int start(__u32 cpu)
{
	struct hc_cpu *st = cpu_state(cpu);
	struct rcu_data *rdp = percpu_rcu_data(cpu);
	__u64 kthread = 0, list;

	if (!st || !rdp)
		return -1;
	list = (__u64)&rdp->cblist;
	if (bpf_core_field_exists(rdp->nocb_cb_kthread))
		kthread = (__u64)BPF_CORE_READ(rdp, nocb_cb_kthread);
	if (kthread)
		bpf_map_update_elem(&kthreads, &kthread, &cpu, BPF_ANY);
	st->offloadable = !!kthread;
	st->looked_ns = bpf_ktime_get_ns();
	st->newest = st->chosen =
		list_done(list) + cblist_len(list); /* those that wait already are not followed */
	*(volatile __u64 *)&st->list = list;
	return !!kthread;
}

static __always_inline int stop(__u32 cpu)
{
	struct hc_cpu *st = cpu_state(cpu);

	if (!st)
		return -1;
	*(volatile __u64 *)&st->list = 0;
	forget(st);
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
