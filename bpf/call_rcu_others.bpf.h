/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * call_rcu_others.bpf.h - the hand-over of the flavours other than RCU. A part of call_rcu.bpf.c.
 *
 * They are few, and their lists are many: one per domain and CPU, or one that CPUs share. No FIFO
 * then, but the table by head. The top bits of the function are changed in the key, so that all
 * flavours share the slots. The other end is that of all flavours.
 */
#ifndef KDEFER_CALL_RCU_OTHERS_BPF_H
#define KDEFER_CALL_RCU_OTHERS_BPF_H

static __always_inline void push_other(struct cr_cpu *st, __u32 word, __u64 head, __u64 func,
				       __u32 flavour)
{
	__u64 key = as_number(&st->scratch[word], func) ^ (__u64)(flavour - KD_FL_RCU)
								  << KEY_FLAVOUR_SHIFT;
	__u64 slot;

	/* Attaching and detaching hands over such. */
	if (flavour != KD_FL_SRCU && by_kdefer())
		__sync_fetch_and_add(&nr_kdefers, 1);
	if (sample_below && sampled_out(as_number(&st->scratch[word], head))) {
		count_lost(st, KD_LOST_SAMPLED_OUT, 1);
		return;
	}
	slot = slot_find(key);
	if (!slot)
		slot = flavour - KD_FL_RCU;
	spill_push(st, head, slot << TAG_SHIFT | (bpf_ktime_get_ns() & VALUE_MASK),
		   bpf_get_smp_processor_id(), flavour);
}

/* synchronize_srcu() comes here too, which call_srcu() does not see. No head: only polling. */
SEC("fentry/srcu_gp_start_if_needed")
int BPF_PROG(kd_srcu, struct srcu_struct *ssp, struct callback_head *rhp)
{
	struct cr_cpu *st = cpu_state(bpf_get_smp_processor_id());
	__u32 flavour = srcu_flavour((__u64)ssp);

	count_run();
	if (!st || !st->list || !rhp)
		return 0;
	if (flavours >> flavour & 1)
		push_other(st, SCRATCH_SRCU, (__u64)rhp, (__u64)rhp->func, flavour);
	return 0;
}

/* The function is an argument here, and is put into the head only later. */
SEC("fentry/call_rcu_tasks_generic")
int BPF_PROG(kd_tasks, struct callback_head *rhp)
{
	struct cr_cpu *st = cpu_state(bpf_get_smp_processor_id());
	__u64 func = 0, rtp = 0;
	__u32 flavour;

	count_run();
	if (!st || !st->list)
		return 0;
	bpf_get_func_arg(ctx, 1, &func);
	bpf_get_func_arg(ctx, 2, &rtp);
	flavour = tasks_flavour((struct rcu_tasks *)rtp);
	if (flavours >> flavour & 1)
		push_other(st, SCRATCH_TASKS, (__u64)rhp, func, flavour);
	return 0;
}

#endif
