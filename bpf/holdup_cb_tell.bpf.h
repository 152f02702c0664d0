/* SPDX-License-Identifier: GPL-2.0-only */
/* holdup_cb_tell.bpf.h - what is told of callbacks that waited or ran for long. A part of holdup_cb.bpf.c. */
#ifndef KDEFER_HOLDUP_CB_TELL_BPF_H
#define KDEFER_HOLDUP_CB_TELL_BPF_H

/*
 * Of one list: the next report is one of a wait that is half as long again, or was ready for that much
 * longer, or for more of the time than not (or the other way round), or comes after a second.
 */
#define ALIKE_NS 1000000000ULL

static __always_inline __u32 witness_id(__u32 cpu, bool run, __u64 id)
{
	return cpu << 16 | (id & 0x7fff) | (run ? 1 << 15 : 0);
}

/* From `begin` to `end` at least, and by `margin` longer at most. */
static __always_inline struct kd_rec_holdup *reserve(__u32 cpu, __u8 what, __u64 id, __u64 func)
{
	struct kd_rec_holdup *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);
	int i;

	if (!r) {
		count(&ring_full);
		return 0;
	}
	__builtin_memset(r, 0, sizeof(*r));
	r->rec.kind = KD_REC_HOLDUP;
	r->rec.len = sizeof(*r);
	r->rec.id = witness_id(cpu, what == KD_WAIT_RUN, id);
	r->source = KD_SRC_CALL_RCU;
	r->flavour = KD_FL_RCU;
	r->flags = KD_HOLDUP_LOWER;
	r->what = what;
	r->cpu = cpu;
	r->threshold_ns = what == KD_WAIT_RUN ? run_limit_ns : limit_ns;
	if (func)
		bpf_snprintf(r->name, sizeof(r->name), "%ps", &func, sizeof(func));
	for (i = 0; i < KD_PH_COUNT; i++)
		r->phase[i] = KD_UNKNOWN;
	return r;
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

static __always_inline void tell_grace_period(struct kd_rec_holdup *r, struct hc_followed *f)
{
	struct ready ready = { .seq = f->seq, .from = f->when };

	bpf_loop(HC_GPS, ready_step, &ready, 0);
	/* A number that an expedited one makes good shows on the list alone. */
	if (f->ready && (!ready.at || f->ready < ready.at))
		ready.at = f->ready;
	if (f->asked) {
		r->phase[KD_PH_REQUESTED] = since_or_0(f->asked, f->when);
		if (f->lazy)
			KNOWN(r, KD_F_LAZY_NS, since_or_0(f->asked, f->when));
	}
	if (ready.at) {
		r->phase[KD_PH_CB_WAIT] = since_or_0(r->end_ns, ready.at);
		KNOWN(r, KD_F_READY_NS, since_or_0(ready.at, f->when));
	}
	KNOWN(r, KD_F_GPS, ready.ended);
}

#define QUEUE_LOOKS 3

/* Three of four at least. */
static __always_inline void tell_queue(struct hc_cpu *st, __u32 cpu)
{
	struct kd_rec_witness *r;
	__u64 func = st->queue_func;

	if (st->queue_looks < QUEUE_LOOKS || 2 * st->queue_votes < st->queue_looks)
		return;
	r = witness_reserve(witness_id(cpu, false, st->id), KD_SRC_CALL_RCU, KD_ROLE_QUEUE);
	if (!r)
		return;
	r->cpu = cpu;
	bpf_snprintf(r->stack, sizeof(r->stack), "%ps", &func, sizeof(func));
	witness_submit(r);
}

__noinline int tell_wait(struct hc_cpu *st, struct hc_followed *f, __u32 cpu, __u64 turn,
			 __u64 margin)
{
	struct kd_rec_holdup *r;

	if (!st || !f)
		return 0;
	tell_queue(st, cpu);
	r = reserve(cpu, KD_WAIT_CALLBACK, st->id, f->func);
	if (!r)
		return 0;
	r->begin_ns = f->when;
	r->end_ns = turn;
	tell_grace_period(r, f);
	KNOWN(r, KD_F_MARGIN_NS, margin);
	/* That it was run in, unless more have begun since. */
	if (st->batch_ns && st->batch_ns <= turn)
		KNOWN(r, KD_F_BATCH_NS, since_or_0(st->batch_ns, f->when));
	if (st->most_ns >= f->when)
		KNOWN(r, KD_F_QUEUE, st->most);
	KNOWN(r, KD_F_AHEAD, f->number - 1 - f->done);
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

/* --- turns --- */

struct turn {
	struct hc_cpu *st;
	__u64 done;
	__u64 least, now; /* when it was, at least and at most */
	__u32 cpu;
};

static __always_inline bool is_alike(struct hc_cpu *st, __u64 now, __u64 took, __u64 late)
{
	/* Whether it waited rather for grace periods, or rather for its turn. */
	bool same = (late > took / 2) == (st->reported_late > st->reported_took / 2);

	return same && now - st->reported_ns < ALIKE_NS &&
	       took < st->reported_took + st->reported_took / 2 &&
	       (late < limit_ns / 2 || late < st->reported_late + st->reported_late / 2);
}

static __always_inline void had_turn(struct turn *t, struct hc_followed *f)
{
	struct hc_cpu *st = t->st;
	__u64 turn = t->least > f->when ? t->least : f->when, took = turn - f->when, late;

	if (took < limit_ns) {
		st->kthread_ns = st->kthread_pid = 0;
		st->witnesses = 0;
		return;
	}
	late = f->ready ? since_or_0(turn, f->ready) : 0;
	if (is_alike(st, t->now, took, late)) {
		count(&alike);
		return;
	}
	tell_wait(st, f, t->cpu, turn, f->margin + t->now - turn);
	st->reported_ns = t->now;
	st->reported_took = took;
	st->reported_late = late;
	st->id++;
	st->witnesses = 0;
}

static long turn_step(__u32 i, struct turn *t)
{
	struct hc_cpu *st = t->st;
	__u64 front = st->front;
	struct hc_followed *f = &st->followed[front & (HC_FOLLOWED - 1)];

	if (front == st->tail || f->number > t->done)
		return 1;
	had_turn(t, f);
	st->front = front + 1;
	if (st->ready < front + 1)
		st->ready = front + 1;
	return 0;
}

/* In the batch that runs if none was taken off in any other since the last look. */
static __always_inline __u64 turn_least(struct hc_cpu *st, struct hc_list *l)
{
	if (l->batch && l->done - l->running == st->done && st->batch_ns > st->looked_ns)
		return st->batch_ns;
	return st->looked_ns;
}

/* Those whose numbers have come had their turn since the last look, or in the batch that runs. */
__noinline int turns(struct hc_cpu *st, __u32 cpu, struct hc_list *l, __u64 now)
{
	struct turn t = { .st = st, .now = now, .cpu = cpu };

	if (!st || !l)
		return 0;
	t.done = l->done;
	t.least = turn_least(st, l);
	bpf_loop(HC_FOLLOWED, turn_step, &t, 0);
	return 0;
}

/* --- runs --- */

static __always_inline void tell_run(struct hc_cpu *st, __u32 cpu, __u64 margin)
{
	struct kd_rec_holdup *r = reserve(cpu, KD_WAIT_RUN, st->run_id, st->run_func);

	st->run_id++;
	st->run_witnesses = 0;
	if (!r)
		return;
	r->begin_ns = st->run_ns;
	r->end_ns = st->run_seen;
	r->phase[KD_PH_CB_RUN] = st->run_seen - st->run_ns;
	KNOWN(r, KD_F_MARGIN_NS, margin);
	KNOWN(r, KD_F_QUEUE, st->queue);
	KNOWN(r, KD_F_OFFLOADED, !!st->offloadable);
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
}

/* The callback that ran at the last look runs no longer. */
__noinline int run_over(struct hc_cpu *st, __u32 cpu, __u64 now)
{
	__u64 took;

	if (!st)
		return 0;
	took = st->run_seen - st->run_ns;
	if (took > st->slow_ns || now - st->slow_from > ALIKE_NS) {
		st->slow_ns = took;
		st->slow_from = now;
	}
	if (run_limit_ns && took >= run_limit_ns)
		tell_run(st, cpu, st->run_margin + since_or_0(now, st->run_seen));
	st->run = 0;
	return 0;
}

#endif
