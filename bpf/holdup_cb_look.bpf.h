/* SPDX-License-Identifier: GPL-2.0-only */
/* holdup_cb_look.bpf.h - what a tick does with a CPU's callback list. A part of holdup_cb.bpf.c. */
#ifndef KDEFER_HOLDUP_CB_LOOK_BPF_H
#define KDEFER_HOLDUP_CB_LOOK_BPF_H

#define WITNESS_EVERY_NS 10000000ULL
#define WITNESSES_MOST 16 /* of one wait */
#define RUN_WITNESSES_MOST 4

/* What is known of a list no longer holds. */
__noinline int forget(struct hc_cpu *st)
{
	if (!st || !take(st))
		return 0;
	st->front = st->ready = st->tail;
	st->run = 0;
	give_back(st);
	return 0;
}

/* --- those that are followed --- */

struct found {
	struct hc_cpu *st;
	struct hc_list *l;
	__u64 now;
};

/* In the order of the list: once one has no grace period yet, none behind it has. */
static long find_step(__u32 i, struct found *g)
{
	struct hc_cpu *st = g->st;
	__u64 at = st->ready + i;
	struct hc_followed *f = &st->followed[at & (HC_FOLLOWED - 1)];
	enum hc_segment segment;

	if (at >= st->tail)
		return 1;
	segment = segment_of(g->l, f->number);
	if (segment == SEG_NEXT)
		return 1;
	if (!f->asked)
		f->asked = g->now;
	if (segment == SEG_DONE)
		f->ready = f->ready ? f->ready : g->now;
	else if (!f->seq)
		f->seq = g->l->seq[segment & 3];
	return 0;
}

/* Those in front that are ready need not be looked for again. */
static long skip_step(__u32 i, struct hc_cpu **st)
{
	struct hc_cpu *s = *st;

	if (s->ready == s->tail || !s->followed[s->ready & (HC_FOLLOWED - 1)].ready)
		return 1;
	s->ready++;
	return 0;
}

__noinline int find_followed(struct hc_cpu *st, struct hc_list *l, __u64 now)
{
	struct found g = { .st = st, .l = l, .now = now };

	if (!st || !l)
		return 0;
	bpf_loop(HC_FOLLOWED, find_step, &g, 0);
	bpf_loop(HC_FOLLOWED, skip_step, &st, 0);
	return 0;
}

/*
 * From one that is followed to the next. The more there are the longer, so that there is room for the newest
 * of a queue that grows for long: the gap is about an eighth of the time in which it grew.
 */
static __always_inline __u64 step_now(struct hc_cpu *st)
{
	return step_ns << (((st->tail - st->front) * HC_STEPS / HC_FOLLOWED) & (HC_STEPS - 1));
}

/* The newest, as of the look that found it first. */
__noinline int follow(struct hc_cpu *st, struct hc_list *l, __u64 now)
{
	struct hc_followed *f;

	if (!st || !l || st->tail - st->front >= HC_FOLLOWED)
		return 0; /* the ones that are followed are older */
	f = &st->followed[st->tail & (HC_FOLLOWED - 1)];
	f->number = l->newest;
	f->func = word_at(l->last + bpf_core_field_offset(struct callback_head, func));
	f->when = st->newest_ns;
	f->margin = st->newest_margin;
	f->done = st->newest_done;
	f->asked = f->ready = f->seq = 0;
	f->lazy = l->bypass && l->lazy == l->bypass;
	st->tail++;
	st->chosen = l->newest;
	st->chosen_ns = now;
	return 0;
}

/* --- who is seen --- */

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

/*
 * The oldest that is followed is over the limit: who should run it, and what runs there instead. The kthread
 * of an offloaded list is late with this one only once it is ready; where softirqs do the work they are what
 * finds that out, and are late with it as well.
 */
static __noinline int see_wait(void *ctx, struct hc_cpu *st, __u32 cpu, bool ready, __u64 now)
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
	if (state == KD_WIT_RUNNABLE && (ready || !st->offloadable)) {
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

/* Which function has the next to run. What has most votes in the end is what most are, if any is. */
static __noinline int see_queue(struct hc_cpu *st, struct hc_list *l)
{
	__u64 head, func;

	if (!st || !l || l->running >= l->batch)
		return 0;
	head = word_at(st->rclp + bpf_core_field_offset(struct rcu_cblist, head));
	func = head ? word_at(head + bpf_core_field_offset(struct callback_head, func)) : 0;
	if (!func)
		return 0;
	st->queue_looks++;
	if (!st->queue_votes)
		st->queue_func = func;
	if (st->queue_func == func)
		st->queue_votes++;
	else
		st->queue_votes--;
	return 0;
}

/* The function that is called for a callback stands above this one on the stack. */
static const char caller[] = "rcu_do_batch";

struct called {
	__u64 func; /* of the frame before */
	__u32 found;
};

static long called_step(__u32 i, struct called *c)
{
	char name[sizeof(caller) + 3] = {};
	__u32 zero = 0;
	struct witness_stack *s = bpf_map_lookup_elem(&witness_stacks, &zero);
	__u64 ip;

	if (!s)
		return 1;
	ip = s->ip[i & (WITNESS_FRAMES - 1)];
	if (!ip)
		return 1;
	bpf_snprintf(name, sizeof(name), "%ps", &ip, sizeof(ip));
	if (!bpf_strncmp(name, sizeof(caller), caller)) {
		c->found = 1;
		return 1;
	}
	c->func = ip - 1; /* within the call, which may end its function */
	return 0;
}

/* Of the callback that runs here, by the stack that was just taken; 0: not seen. */
__noinline __u64 called_here(void)
{
	struct called c = {};

	bpf_loop(WITNESS_FRAMES, called_step, &c, 0);
	return c.found ? c.func : 0;
}

static __noinline int see_run(void *ctx, struct hc_cpu *st, __u32 cpu)
{
	struct kd_rec_witness *r;

	if (!st || st->run_witnesses >= RUN_WITNESSES_MOST)
		return 0;
	st->run_witnesses++;
	r = witness_reserve(witness_id(cpu, true, st->run_id), KD_SRC_CALL_RCU, KD_ROLE_CALLBACK);
	if (!r)
		return 0;
	witness_task(r, (void *)bpf_get_current_task());
	witness_stack_here(ctx, r);
	witness_submit(r);
	if (!st->run_func)
		st->run_func = called_here();
	return 0;
}

/* That callback has begun since the last look, and since its batch did. */
static __always_inline void run_begins(struct hc_cpu *st, struct hc_list *l, __u64 now)
{
	__u64 from = st->looked_ns > st->batch_ns ? st->looked_ns : st->batch_ns;

	st->run = l->done;
	st->run_ns = now;
	st->run_margin = since_or_0(now, from);
	st->run_func = 0;
	st->run_witnesses = 0;
}

static __noinline int look_at_run(void *ctx, struct hc_cpu *st, __u32 cpu, struct hc_list *l,
				  __u64 now)
{
	if (!st || !l)
		return 0;
	if (st->run && (st->run != l->done || !l->running))
		run_over(st, cpu, now);
	if (!l->running)
		return 0;
	if (!st->run)
		run_begins(st, l, now);
	st->run_seen = now;
	if (run_limit_ns && now - st->run_ns >= run_limit_ns &&
	    st->runner == bpf_get_current_task())
		see_run(ctx, st, cpu);
	return 0;
}

/* --- a look --- */

/* What was seen was in the way of others, which had their turn. */
static __always_inline void others(struct hc_cpu *st)
{
	st->kthread_ns = st->kthread_pid = 0;
	st->queue_looks = st->queue_votes = 0;
}

static __always_inline void look_at_waits(void *ctx, struct hc_cpu *st, __u32 cpu,
					  struct hc_list *l, __u64 now)
{
	struct hc_followed *f;
	__u64 front;

	if (st->front != st->tail) {
		turns(st, cpu, l, now);
		find_followed(st, l, now);
	}
	if (l->newest != st->newest) {
		st->newest = l->newest;
		st->newest_ns = now;
		st->newest_margin = now - st->looked_ns;
		st->newest_done = l->done;
	}
	if (l->newest != st->chosen && l->last && now - st->chosen_ns >= step_now(st))
		follow(st, l, now);
	front = st->front;
	f = &st->followed[front & (HC_FOLLOWED - 1)];
	if (front != st->tail && now - f->when > limit_ns) {
		see_wait(ctx, st, cpu, f->ready, now);
		see_queue(st, l);
	} else {
		others(st);
	}
}

/* One from before the wait of the first that is followed is not told. */
static __always_inline void see_most(struct hc_cpu *st, __u64 now)
{
	__u64 front = st->front;

	if (st->queue < st->most && front != st->tail &&
	    st->most_ns >= st->followed[front & (HC_FOLLOWED - 1)].when)
		return;
	st->most = st->queue;
	st->most_ns = now;
}

/* `afar`: from another CPU, where its own ticks do not. */
static __noinline int look(void *ctx, __u32 cpu, bool afar)
{
	struct hc_cpu *st = cpu_state(cpu);
	__u64 now = bpf_ktime_get_ns();
	struct hc_list l = {};

	if (!st || !st->list || (afar && (!st->offloadable || now - st->looked_ns < 2 * tick_ns)))
		return 0;
	if (!take(st))
		return 0;
	if (list_read(st, &l)) {
		st->queue = l.newest - (l.done - l.running);
		see_most(st, now);
		look_at_run(ctx, st, cpu, &l, now);
		if (limit_ns)
			look_at_waits(ctx, st, cpu, &l, now);
		st->done = l.done;
		st->looked_ns = now;
	}
	give_back(st);
	return 0;
}

#endif
