/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rstat_series.bpf.h - from a value to the series that it belongs to, and what a series is of. A part
 * of rstat.bpf.c.
 */
#ifndef KDEFER_RSTAT_SERIES_BPF_H
#define KDEFER_RSTAT_SERIES_BPF_H

/* --- series --- */

#define KIND_ROOM 32 /* RS_KINDS, rounded up so that a mask bounds the index */

/* A measure, and whether its value is a bound. RS_KINDS of them. */
enum rs_kind {
	RS_FLUSH,
	RS_FLUSH_LOWER,
	RS_WAIT,
	RS_HOLD,
	RS_HOLD_UPPER,
	RS_HOLD_LOWER,
	RS_WORK,
	RS_WORK_UPPER,
	RS_WORK_LOWER,
	RS_CGROUPS,
	RS_BLAME,
	RS_BLAME_UPPER,
	RS_HELD, /* RS_KINDS_ALWAYS: what is asked for apart begins here */
	RS_IRQS,
	RS_OFF_CPU,
	RS_HOLD_BY_8,
	RS_FLUSH_BY_8,
};

static const struct {
	__u8 measure, flags, worst; /* worst: which lists + 1; 0 none */
} kinds[KIND_ROOM] = {
	[RS_FLUSH] = { KD_M_RSTAT_FLUSH, 0, 1 },
	[RS_FLUSH_LOWER] = { KD_M_RSTAT_FLUSH, KD_SERIES_LOWER, 1 },
	[RS_WAIT] = { KD_M_RSTAT_WAIT, 0, 2 },
	[RS_HOLD] = { KD_M_RSTAT_HOLD, 0, 3 },
	[RS_HOLD_UPPER] = { KD_M_RSTAT_HOLD, KD_SERIES_UPPER, 3 },
	[RS_HOLD_LOWER] = { KD_M_RSTAT_HOLD, KD_SERIES_LOWER, 0 },
	[RS_WORK] = { KD_M_RSTAT_WORK, 0, 4 },
	[RS_WORK_UPPER] = { KD_M_RSTAT_WORK, KD_SERIES_UPPER, 4 },
	[RS_WORK_LOWER] = { KD_M_RSTAT_WORK, KD_SERIES_LOWER, 4 },
	[RS_CGROUPS] = { KD_M_RSTAT_CGROUPS, 0, 0 },
	[RS_BLAME] = { KD_M_RSTAT_BLAME, 0, 0 },
	[RS_BLAME_UPPER] = { KD_M_RSTAT_BLAME, KD_SERIES_UPPER, 0 },
	[RS_HELD] = { KD_M_RSTAT_HELD, 0, 0 },
	[RS_IRQS] = { KD_M_RSTAT_IRQS, 0, 0 },
	[RS_OFF_CPU] = { KD_M_RSTAT_OFF_CPU, 0, 0 },
	[RS_HOLD_BY_8] = { KD_M_RSTAT_HOLD_BY_8, 0, 0 },
	[RS_FLUSH_BY_8] = { KD_M_RSTAT_FLUSH_BY_8, 0, 0 },
};

/* The verifier of 6.1 forgets bounds of 32 bits: the mask stands right before the use. */
static __always_inline __u32 kind_at(__u32 kind)
{
	__u64 at = kind;

	barrier_var(at);
	return at & (KIND_ROOM - 1);
}

#define KIND(kind, member) (kinds[kind_at(kind)].member)

static __always_inline __u32 sub_index(__u32 sub)
{
	return sub > KD_FL_SUB_ALL && sub <= KD_FL_SUB_OTHER ? sub - KD_FL_SUB_ALL : 0;
}

static __always_inline __u32 sub_of_index(__u32 i)
{
	return i ? KD_FL_SUB_ALL + i : shape == RS_BY_SUBSYS ? KD_FL_NONE : KD_FL_SUB_ALL;
}

#define KEY_USED (1ULL << 63)

/* Slot of a name's series; without a name, or room, that of the rest. */
static __always_inline __u32 slot_of(__u32 kind, __u32 sub, __u32 who, __u32 flusher)
{
	__u32 s = sub_index(sub), slot = 0;

	if (who != RS_WHO_NONE)
		slot = slot_find(KEY_USED | who | s << 16 | (__u64)kind << 24);
	return slot ? slot : nr_slots + ((kind * RS_SUBS + s) << 1 | flusher);
}

/*
 * The stack, where the way was known and nobody looked at it. What the kernel shows of the current task
 * begins with its own way to look.
 */
static __always_inline void worst_stack(struct rs_task *t)
{
	if (!t->ip[0] && !(t->how & RS_CUT))
		bpf_get_task_stack(bpf_get_current_task_btf(), t->ip, sizeof(t->ip), 0);
}

static __always_inline bool is_ours(struct rs_task *t, __u32 i)
{
	return t->ip[i] - text_from >= text_bytes;
}

/*
 * The frames at the top: behind those of our own programs, which are not in the kernel's text, and what
 * the kernel was called by them for.
 */
static __always_inline void worst_fill(struct worst_who *who, struct rs_task *t)
{
	__u64 id = bpf_get_current_pid_tgid();
	__u32 first = 0, i;

	who->pid = id;
	who->tgid = id >> 32;
	who->cgroup = bpf_get_current_cgroup_id();
	bpf_get_current_comm(who->comm, sizeof(who->comm));
	worst_stack(t);
	for (i = 0; i < RS_FRAMES - WORST_FRAMES; i++) {
		if (!t->ip[i])
			break;
		if (is_ours(t, i))
			first = i + 1;
		else if (first)
			break;
	}
	for (i = 0; i < WORST_FRAMES; i++) {
		__u64 at = first + i;

		barrier_var(at);
		who->ip[i] = t->ip[at & (RS_FRAMES - 1)];
	}
}

/* The lists of a measure and subsystem. */
static __always_inline __u32 worst_lists(struct rs_task *t, __u32 kind)
{
	__u32 sub = sub_index(t->sub) & (RS_WORST_SUBS - 1);

	return ((KIND(kind, worst) - 1) * RS_WORST_SUBS + sub) * RS_BINS;
}

__noinline int rs_add_worst(struct rs_task *t, __u32 kind, __u32 slot, __u64 took)
{
	__u32 cpu = bpf_get_smp_processor_id(), list, i;

	if (!t || kind >= RS_KINDS || !KIND(kind, worst))
		return 0;
	list = worst_lists(t, kind);
	for (i = 0; i < RS_BINS; i++) {
		__u64 at = list + ((cpu + i) & (RS_BINS - 1));

		barrier_var(at); /* as above */
		at &= RS_LISTS - 1;
		if (!worst_shared(&bins[at], at, took, (__u64)slot << 32 | cpu, t))
			return 0;
	}
	count(&extremes_lost);
	return 0;
}

static __always_inline bool is_bad(struct rs_task *t, __u32 kind, __u64 took)
{
	__u32 cpu = bpf_get_smp_processor_id();
	__u64 at, floor;

	if (!KIND(kind, worst) || t->how & RS_SWEPT)
		return false;
	at = worst_lists(t, kind) + (cpu & (RS_BINS - 1));
	barrier_var(at); /* as above */
	floor = *(volatile __u64 *)&bins[at & (RS_LISTS - 1)].floor;
	return (__s64)(tagged(epoch, took) - floor) > 0;
}

static __always_inline void slot_add(__u32 slot, __u64 bucket, __u64 now, __u64 value)
{
	struct series_slot *s = bpf_map_lookup_elem(&slots, &slot);

	if (!s)
		return;
	barrier_var(bucket);
	__sync_fetch_and_add(&s->bucket[bucket & (SERIES_ROOM - 1)], 1);
	__sync_fetch_and_add(&s->sum, value);
	series_extremes(s, now, value);
}

/*
 * A value, by cgroup and by flusher. This and what else is called from everywhere is not static: the
 * verifier then looks at it once.
 */
__noinline int rs_add(struct rs_task *t, __u32 kind, __u64 value)
{
	__u64 bucket, now = epoch;
	__u32 slot;

	if (!t || kind >= RS_KINDS || !(wanted >> KIND(kind, measure) & 1))
		return 0;
	if (value > VALUE_MASK) {
		count(&lost[KD_LOST_CLOCK]);
		return 0;
	}
	bucket = hist_index(value);
	slot_add(slot_of(kind, t->sub, t->flusher_no, 1), bucket, now, value);
	slot = slot_of(kind, t->sub, t->cgroup_no, 0);
	slot_add(slot, bucket, now, value);
	if (is_bad(t, kind, value))
		rs_add_worst(t, kind, slot, value);
	return 0;
}

static __always_inline void add_zeros(struct series_slot *s, __u32 n)
{
	__sync_fetch_and_add(&s->bucket[0], n);
	extreme(&s->extreme[epoch & 1].min, tagged(epoch, VALUE_MASK));
}

/* Most acquisitions do not wait: those are added at once when the flush is over. */
__noinline int rs_add_at_once(struct rs_task *t)
{
	struct series_slot *s;
	__u32 slot;

	if (!t || !t->at_once || !(wanted >> KD_M_RSTAT_WAIT & 1))
		return 0;
	slot = slot_of(RS_WAIT, t->sub, t->flusher_no, 1);
	s = bpf_map_lookup_elem(&slots, &slot);
	if (s)
		add_zeros(s, t->at_once);
	slot = slot_of(RS_WAIT, t->sub, t->cgroup_no, 0);
	s = bpf_map_lookup_elem(&slots, &slot);
	if (s)
		add_zeros(s, t->at_once);
	t->at_once = 0;
	return 0;
}

/* --- what a series is of --- */

/* A flusher's process and thread, each with its NUL, come before its path. */
static __always_inline void put_name(struct kd_rec_series *r, struct rs_who *w, __u32 flusher)
{
	__u32 at = 0, i;

	for (i = 0; i < 2 && flusher; i++) {
		long len = bpf_probe_read_kernel_str(r->name + at, 16, i ? w->thread : w->process);

		at += len > 0 ? len : 1;
		barrier_var(at);
		at &= 63;
	}
	if (at <= sizeof(r->name) - RS_PATH)
		bpf_probe_read_kernel_str(r->name + at, RS_PATH, w->path.text);
}

/* Another task may have taken its number just now, and be about to name it. */
static __always_inline bool is_named(__u32 idx)
{
	struct rs_who *w;

	if (idx >= nr_slots)
		return true;
	w = who_at(slot_key[idx & (SLOTS_MOST - 1)] & 0xffff);
	return w && *(volatile __u32 *)&w->ready;
}

static __always_inline void series_describe(struct kd_rec_series *r, __u32 idx, __u64 key)
{
	__u32 kind, sub, dim, no = key & 0xffff;
	struct rs_who *w = NULL;

	if (idx >= nr_slots) {
		__u32 rest = idx - nr_slots;

		dim = rest & 1;
		sub = (rest >> 1) % RS_SUBS;
		kind = (rest >> 1) / RS_SUBS;
		r->flags = KD_SERIES_OTHER;
	} else {
		dim = no >= RS_WHO_MOST;
		sub = key >> 16 & 0xff;
		kind = key >> 24 & 0xff;
		w = who_at(no);
	}
	r->source = KD_SRC_RSTAT;
	r->measure = KIND(kind, measure);
	r->flavour = sub_of_index(sub);
	r->dim = dim ? KD_DIM_FLUSHER : KD_DIM_MAIN;
	r->flags |= KIND(kind, flags);
	if (!w)
		return;
	r->key[0] = w->key[0];
	r->key[1] = w->key[1];
	put_name(r, w, dim);
}

#endif
