/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * witness.bpf.h - who was seen while something waited for too long: a task, where it runs or wants to,
 * and what the kernel was doing. For programs that run rarely: only once a wait is too long.
 */
#ifndef KDEFER_WITNESS_BPF_H
#define KDEFER_WITNESS_BPF_H

#include "percpu.bpf.h"

/* A fact of a struct kd_rec_holdup. */
#define KNOWN(r, what, value)                 \
	do {                                  \
		(r)->fact[what] = (value);    \
		(r)->known |= 1ULL << (what); \
	} while (0)

#define WITNESS_FRAMES 32 /* frames of the tick itself are among them: some fifteen */
#define WITNESS_BYTES (WITNESS_FRAMES * sizeof(__u64))
#define WITNESS_SHOWN 12 /* as many as bpf_snprintf() takes */
#define WITNESS_FORMAT "%pS %pS %pS %pS %pS %pS %pS %pS %pS %pS %pS %pS"

/* Scratch for a stack, and zeros behind it. Ticks of one CPU do not interrupt each other. */
struct witness_stack {
	__u64 ip[WITNESS_FRAMES + WITNESS_SHOWN];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct witness_stack);
} witness_stacks SEC(".maps");

__u64 witness_full; /* witnesses that the ring had no room for */

/* NULL: the ring is full, which is counted. */
static __always_inline struct kd_rec_witness *witness_reserve(__u32 id, __u8 source, __u8 role)
{
	struct kd_rec_witness *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);

	if (!r) {
		__sync_fetch_and_add(&witness_full, 1);
		return 0;
	}
	__builtin_memset(r, 0, sizeof(*r));
	r->rec.kind = KD_REC_WITNESS;
	r->rec.len = sizeof(*r);
	r->rec.id = id;
	r->mono_ns = bpf_ktime_get_ns();
	r->source = source;
	r->role = role;
	return r;
}

static __always_inline void witness_submit(struct kd_rec_witness *r)
{
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
}

#define TASK_ASLEEP 3 /* interruptible or not */

/* It runs, wants to, or sleeps. On one CPU alone the kernel does not note who is on it. */
static __always_inline __u16 witness_state(struct task_struct *t)
{
	if (bpf_core_field_exists(t->on_cpu) && BPF_CORE_READ(t, on_cpu))
		return KD_WIT_RUNNING;
	return BPF_CORE_READ(t, __state) & TASK_ASLEEP ? KD_WIT_SLEEPING : KD_WIT_RUNNABLE;
}

static __always_inline void witness_task(struct kd_rec_witness *r, struct task_struct *t)
{
	r->pid = BPF_CORE_READ(t, pid);
	r->tgid = BPF_CORE_READ(t, tgid);
	r->prio = BPF_CORE_READ(t, prio);
	r->cpu = KD_CPU_NONE;
	if (bpf_core_field_exists(t->thread_info.cpu))
		r->cpu = BPF_CORE_READ(t, thread_info.cpu);
	if (bpf_core_field_exists(t->cgroups))
		r->cgroup = BPF_CORE_READ(t, cgroups, dfl_cgrp, kn, id);
	r->flags |= witness_state(t);
	if (!r->pid)
		r->flags |= KD_WIT_IDLE;
	bpf_probe_read_kernel_str(r->comm, sizeof(r->comm), &t->comm);
}

/* --- stacks --- */

struct witness_find {
	__u64 ip; /* what the interrupt interrupted */
	__u32 at;
};

static long witness_step(__u32 i, struct witness_find *f)
{
	__u32 zero = 0;
	struct witness_stack *s = bpf_map_lookup_elem(&witness_stacks, &zero);

	if (!s || s->ip[i & (WITNESS_FRAMES - 1)] != f->ip)
		return 0;
	f->at = i;
	return 1;
}

/* Where the tick interrupted what runs here; 0: unknown. */
static __always_inline __u64 witness_interrupted(void)
{
	__u64 regs = word_at(percpu_address(PERCPU_IRQ_REGS, bpf_get_smp_processor_id()));

	return regs ? BPF_CORE_READ((struct pt_regs *)regs, ip) : 0;
}

/* Where in the stack that is; 0: not found, all of it is shown. */
static __always_inline __u32 witness_find_at(__u64 ip)
{
	struct witness_find f = { .ip = ip };

	if (ip)
		bpf_loop(WITNESS_FRAMES, witness_step, &f, 0);
	return f.at;
}

/*
 * Frames from a place in the stack on. Without branches: a verifier that follows both sides of each takes
 * up to a million steps for them.
 */
static __always_inline void witness_frames(__u64 *ip, __u32 at)
{
	__u32 zero = 0, i;
	struct witness_stack *s = bpf_map_lookup_elem(&witness_stacks, &zero);
	__u64 *from;

	if (!s)
		return;
	from = &s->ip[at & (WITNESS_FRAMES - 1)];
	ip[0] = from[0];
	for (i = 1; i < WITNESS_SHOWN;
	     i++) /* within the call, which may end its function; 0 stays 0 */
		ip[i] = from[i] - (from[i] >> 63);
}

/* A frame that is not there prints as 0x0: the reader stops at it. */
static __noinline int witness_names(struct kd_rec_witness *r, __u32 at)
{
	__u64 ip[WITNESS_SHOWN] = {};

	if (!r)
		return 0;
	witness_frames(ip, at);
	bpf_snprintf(r->stack, sizeof(r->stack), WITNESS_FORMAT, ip, sizeof(ip));
	return 0;
}

static __always_inline struct witness_stack *witness_scratch(void)
{
	__u32 zero = 0, i;
	struct witness_stack *s = bpf_map_lookup_elem(&witness_stacks, &zero);

	for (i = 0; s && i < WITNESS_FRAMES; i++)
		s->ip[i] = 0;
	return s;
}

/* The kernel's stack of what runs here, from where the tick interrupted it; none in user mode. */
#define witness_stack_here(ctx, r)                                             \
	({                                                                     \
		struct witness_stack *__s = witness_scratch();                 \
		__u64 __ip = witness_interrupted();                            \
                                                                               \
		if (__ip && (__s64)__ip >= 0)                                  \
			(r)->flags |= KD_WIT_USER;                             \
		else if (__s && bpf_get_stack(ctx, __s, WITNESS_BYTES, 0) > 0) \
			witness_names(r, witness_find_at(__ip));               \
	})

#endif
