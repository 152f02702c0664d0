/* SPDX-License-Identifier: GPL-2.0-only */
/* holdup_cb_list.bpf.h - a CPU's callback list, read where it stands. A part of holdup_cb.bpf.c. */
#ifndef KDEFER_HOLDUP_CB_LIST_BPF_H
#define KDEFER_HOLDUP_CB_LIST_BPF_H

#define BATCH_NEW_NS 100000

enum hc_segment { SEG_DONE, SEG_WAIT, SEG_NEXT_READY, SEG_NEXT };

/* What is read of a list at one look. */
struct hc_list {
	__u64 done;    /* callbacks taken off it to be run, ever */
	__u64 batch;   /* what a batch had when it began that is being run; 0: there is none */
	__u64 running; /* which of these */
	__u64 newest;  /* number of the last on it */
	__u64 last;    /* that one; 0: none waits */
	__u64 bypass, lazy;
	__u64 seg[4];
	__u64 seq[4]; /* grace periods that those of a segment wait for */
};

static __always_inline struct rcu_data *data_of(__u64 list)
{
	return (void *)(list - bpf_core_field_offset(struct rcu_data, cblist));
}

static __always_inline __u64 list_segment(__u64 list, enum hc_segment segment)
{
	return word_at(list + bpf_core_field_offset(struct rcu_segcblist, seglen) + 8 * segment);
}

/* Grows at the end of a batch. */
static __always_inline __u64 list_done(__u64 list)
{
	return BPF_CORE_READ(data_of(list), n_cbs_invoked);
}

static __always_inline __u64 list_seq(__u64 list, enum hc_segment segment)
{
	struct rcu_segcblist___pair *pair = 0;

	if (bpf_core_field_exists(pair->gp_seq))
		return word_at(list + bpf_core_field_offset(struct rcu_segcblist___pair, gp_seq) +
			       sizeof(struct rcu_gp_seq) * segment);
	return word_at(list + bpf_core_field_offset(struct rcu_segcblist, gp_seq) + 8 * segment);
}

/* The last callback of a list whose tail points to its link, or to the list's own head. */
static __always_inline __u64 last_at(__u64 tail, __u64 list)
{
	return tail == list ? 0 : tail;
}

static __always_inline __u64 list_bypass(struct rcu_data *rdp, struct hc_list *l)
{
	struct rcu_cblist *bypass = &rdp->nocb_bypass;

	if (!bpf_core_field_exists(rdp->nocb_bypass))
		return 0;
	l->bypass = BPF_CORE_READ(bypass, len);
	if (!l->bypass)
		return 0;
	if (bpf_core_field_exists(rdp->lazy_len))
		l->lazy = BPF_CORE_READ(rdp, lazy_len);
	return last_at((__u64)BPF_CORE_READ(bypass, tail), (__u64)&bypass->head);
}

/* How many of the batch in progress, which has `size`, were taken off it. */
static __always_inline __u64 batch_taken(__u64 rclp, __u64 size)
{
	__u64 left = word_at(rclp + bpf_core_field_offset(struct rcu_cblist, len));

	return left < size ? size - left : 0;
}

/* False: it moved meanwhile, as those of offloaded CPUs may. */
__noinline int list_read(struct hc_cpu *st, struct hc_list *l)
{
	__u64 list, rclp, done, len, i;

	if (!st || !l)
		return false;
	list = st->list;
	rclp = *(volatile __u64 *)&st->rclp;
	/* As a batch begins the length of its list is not set yet, which shows to other CPUs only. */
	if (st->offloadable && bpf_ktime_get_ns() - st->batch_ns < BATCH_NEW_NS)
		return false;
	done = list_done(list);
	len = cblist_len(list);
	l->newest = done + len;
	for (i = SEG_DONE; i <= SEG_NEXT; i++) {
		l->seg[i] = list_segment(list, i);
		len -= l->seg[i];
	}
	l->seq[SEG_WAIT] = list_seq(list, SEG_WAIT);
	l->seq[SEG_NEXT_READY] = list_seq(list, SEG_NEXT_READY);
	if (st->offloadable)
		l->last = list_bypass(data_of(list), l);
	if (!l->bypass)
		l->last =
			last_at(word_at(list + bpf_core_field_offset(struct rcu_segcblist, tails) +
					8 * SEG_NEXT),
				list);
	/* What the list counts and does not have is the batch that runs. */
	len -= l->bypass;
	l->batch = rclp && (__s64)len > 0 ? len : 0;
	l->done = done + (l->batch ? batch_taken(rclp, len) : 0);
	l->running = l->done - done;
	return done == list_done(list) && rclp == *(volatile __u64 *)&st->rclp;
}

/* Where the callback of this number is. */
static __always_inline enum hc_segment segment_of(struct hc_list *l, __u64 number)
{
	__u64 behind = l->newest - number, n = l->bypass + l->seg[SEG_NEXT];

	if (behind < n)
		return SEG_NEXT;
	n += l->seg[SEG_NEXT_READY];
	if (behind < n)
		return SEG_NEXT_READY;
	return behind < n + l->seg[SEG_WAIT] ? SEG_WAIT : SEG_DONE;
}

#endif
