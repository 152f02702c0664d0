/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * holdup_others.bpf.h - grace periods of which nobody notes for whom they wait: SRCU, Tasks Rude. How
 * long they took is all that is told. A part of holdup_gp.bpf.c.
 */
#ifndef KDEFER_HOLDUP_OTHERS_BPF_H
#define KDEFER_HOLDUP_OTHERS_BPF_H

#include "holdup_tasks.bpf.h"

const volatile __u64 over_srcu = ~0ULL, over_rude = ~0ULL; /* limits; ~0: not armed */

#define LANE_OTHERS (HG_KINDS + 1)

__u64 others_told, rude_start;

/* SRCU domains whose grace period is under way, since when. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, __u64); /* struct srcu_struct */
	__type(value, __u64);
} srcu_starts SEC(".maps");

static __noinline int send_other(__u8 flavour, __u64 begin, __u64 end, __u64 domain, __u64 seq)
{
	struct kd_rec_holdup *r;
	int i;

	if (!recording() || begin < since || end < begin)
		return 0;
	r = holdup_reserve(KD_WAIT_GP, flavour);
	if (!r)
		return 0;
	r->rec.id = wait_id(__sync_fetch_and_add(&others_told, 1), LANE_OTHERS);
	r->begin_ns = begin;
	r->end_ns = end;
	r->threshold_ns = flavour == KD_FL_SRCU ? over_srcu : over_rude;
	r->seq = seq;
	for (i = 0; i < KD_PH_COUNT; i++)
		r->phase[i] = KD_UNKNOWN;
	if (flavour == KD_FL_SRCU)
		r->phase[KD_PH_WAIT_TASKS] = end - begin;
	else
		r->phase[KD_PH_WAIT_CPUS] = end - begin;
	if (domain) {
		bpf_snprintf(r->name, sizeof(r->name), "%ps", &domain, sizeof(domain));
		if (r->name[0] == '0' && r->name[1] == 'x')
			r->name[0] =
				'\0'; /* one of a device or the like, or names of data are not listed */
	}
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}

static __noinline int srcu_end(__u64 ssp, __u64 begin)
{
	__u64 end = srcu_last_gp_end(ssp);

	if (begin && end > begin && end - begin > over_srcu)
		send_other(KD_FL_SRCU, begin, end, ssp, srcu_gp_seq(ssp));
	return 0;
}

/* The domain's lock is held: one at a time for each. */
SEC("fentry/srcu_gp_start")
int hg_domain_in(__u64 *ctx)
{
	__u64 ssp = argument(ctx), now = bpf_ktime_get_ns(), *begin;

	if (!recording() || is_ours(ssp))
		return 0;
	begin = bpf_map_lookup_elem(&srcu_starts, &ssp);
	if (begin)
		srcu_end(ssp, *begin); /* it ended in the process_srcu() that we are in */
	if (bpf_map_update_elem(&srcu_starts, &ssp, &now, BPF_ANY))
		__sync_fetch_and_add(&calls_lost, 1);
	return 0;
}

SEC("fexit/process_srcu")
int hg_domain_out(__u64 *ctx)
{
	__u64 ssp = srcu_of_work(argument(ctx)), *begin;

	begin = bpf_map_lookup_elem(&srcu_starts, &ssp);
	if (!begin || srcu_gp_seq(ssp) & 3)
		return 0; /* none, or under way */
	srcu_end(ssp, *begin);
	bpf_map_delete_elem(&srcu_starts, &ssp);
	return 0;
}

/* The domain goes: its address may be another's soon. */
SEC("fentry/cleanup_srcu_struct")
int hg_domain_gone(__u64 *ctx)
{
	__u64 ssp = argument(ctx);

	bpf_map_delete_elem(&srcu_starts, &ssp);
	return 0;
}

SEC("fentry/rcu_tasks_rude_wait_gp")
int hg_rude_in(__u64 *ctx)
{
	rude_start = recording() ? bpf_ktime_get_ns() : 0;
	return 0;
}

SEC("fexit/rcu_tasks_rude_wait_gp")
int hg_rude_out(__u64 *ctx)
{
	__u64 now = bpf_ktime_get_ns(), begin = rude_start;

	if (begin && now - begin > over_rude)
		send_other(KD_FL_TASKS_RUDE, begin, now, 0, 0);
	rude_start = 0;
	return 0;
}

#endif
