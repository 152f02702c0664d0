/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rstat_who.bpf.h - which cgroup is flushed, by whom, and on whose behalf.
 *
 * Names are taken when a cgroup or flusher is first seen, since a cgroup may be gone when the tick
 * comes. The tables are bounded: what finds no room is counted under "other".
 */
#ifndef KDEFER_RSTAT_WHO_BPF_H
#define KDEFER_RSTAT_WHO_BPF_H

#include "series.bpf.h"
#include "rstat.h"

const volatile __u32 who_most = RS_WHO_MOST; /* of each kind; a power of two */
const volatile __u32 own_tgid;
const volatile __u32 shape; /* enum rs_shape */

__u64 who_key[2 * RS_WHO_MOST]; /* cgroups, then flushers; 0: free */
__u64 who_used[2];

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, struct rs_who);
} whos SEC(".maps");

#define WHO_CGROUP 0
#define WHO_FLUSHER 1
#define WHO_PROBES 16
#define WHO_STEP 11

static __always_inline __u64 mix(__u64 h, __u64 v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ULL;
	return h ^ h >> 29;
}

/* --- paths of cgroups --- */

#define PATH_DEPTH 16

static __always_inline __u64 node_parent(__u64 kn)
{
	struct kernfs_node___v6_1 *old = (void *)kn;

	if (bpf_core_field_exists(old->parent))
		return (__u64)BPF_CORE_READ(old, parent);
	return (__u64)BPF_CORE_READ((struct kernfs_node *)kn, __parent);
}

/* bpf_loop() bodies, so that the verifier looks at each once and not for every depth and length. */
struct path_walk {
	__u64 node[PATH_DEPTH]; /* leaf first, without the root */
	__u64 kn;
	__u32 n, fit; /* components, and how many of them have room */
	__u32 at;
	char *to;
};

static long path_climb(__u32 i, struct path_walk *w)
{
	__u64 up = node_parent(w->kn);

	if (!up)
		return 1;
	w->node[i & (PATH_DEPTH - 1)] = w->kn;
	w->kn = up;
	w->n++;
	return 0;
}

static __always_inline char *component(struct path_walk *w, __u32 i)
{
	struct kernfs_node *kn = (void *)w->node[i & (PATH_DEPTH - 1)];

	return BPF_CORE_READ(kn, name);
}

/* From the leaf: the buffer serves to find how long they are. */
static long path_measure(__u32 i, struct path_walk *w)
{
	long len = bpf_probe_read_kernel_str(w->to, RS_PATH, component(w, i));

	if (i >= w->n || len < 0 || w->at + len >= RS_PATH - 4)
		return 1;
	w->at += len;
	w->fit++;
	return 0;
}

static long path_write(__u32 i, struct path_walk *w)
{
	__u64 at = w->at;
	long len;

	if (i >= w->fit || at >= RS_PATH - 1)
		return 1;
	w->to[at] = '/';
	/* Longer than what is left, where names changed: that is why there is room for two. */
	len = bpf_probe_read_kernel_str(w->to + at + 1, RS_PATH, component(w, w->fit - 1 - i));
	w->at = at + (len > 0 ? len : 1);
	return 0;
}

/*
 * Writes "/a/b/c" of up to RS_PATH bytes; a path that is longer loses its beginning. Not static: the
 * verifier then looks at it once, and not once for each place it is called from.
 */
__noinline int rs_write_path(struct rs_path *path, __u64 cgrp)
{
	struct path_walk w = {};

	if (!path)
		return 0;
	w.to = path->text;
	w.kn = (__u64)BPF_CORE_READ((struct cgroup *)cgrp, kn);
	bpf_loop(PATH_DEPTH, path_climb, &w, 0);
	bpf_loop(PATH_DEPTH, path_measure, &w, 0);
	w.at = 0;
	if (!w.n)
		w.to[w.at++] = '/';
	w.to[w.at] = '\0';
	if (w.fit < w.n || w.n == PATH_DEPTH) {
		w.to[0] = w.to[1] = w.to[2] = '.';
		w.at = 3;
	}
	if (w.n && !w.fit)
		w.fit = 1; /* a leaf that is too long is cut */
	bpf_loop(PATH_DEPTH, path_write, &w, 0);
	return 0;
}

/* --- the tables --- */

/* The number of a key, or of the free place where it is now claimed (*fresh), or RS_WHO_NONE. */
static __noinline __u32 who_search(__u64 key, __u32 kind, bool claim, __u32 *fresh)
{
	__u32 i;

	if (!fresh)
		return RS_WHO_NONE;
	for (i = 0; i < WHO_PROBES; i++) {
		__u32 at = ((key >> 32) + i * WHO_STEP) & (who_most - 1) & (RS_WHO_MOST - 1);
		__u32 no = (kind ? RS_WHO_MOST : 0) + at;
		__u64 seen = *(volatile __u64 *)&who_key[no & (2 * RS_WHO_MOST - 1)];

		if (seen == key)
			return no;
		if (seen)
			continue;
		if (!claim)
			return RS_WHO_NONE;
		seen = __sync_val_compare_and_swap(&who_key[no & (2 * RS_WHO_MOST - 1)], 0, key);
		if (seen && seen != key)
			continue;
		*fresh = !seen;
		if (!seen)
			__sync_fetch_and_add(&who_used[kind & 1], 1);
		return no;
	}
	return RS_WHO_NONE;
}

static __always_inline __u32 who_find(__u64 key, __u32 kind, bool claim, __u32 *fresh)
{
	__u64 at = (kind ? RS_WHO_MOST : 0) + (key >> 32 & (who_most - 1) & (RS_WHO_MOST - 1));

	barrier_var(at);
	if (*(volatile __u64 *)&who_key[at & (2 * RS_WHO_MOST - 1)] == key)
		return at;
	return who_search(key, kind, claim, fresh);
}

/* The value of a number: flushers stand behind as many cgroups as there is room for. */
static __always_inline struct rs_who *who_at(__u32 no)
{
	__u32 at = no < RS_WHO_MOST ? no : no - RS_WHO_MOST + who_most;

	return bpf_map_lookup_elem(&whos, &at);
}

#define CSS_ONLINE (1u << 1)

/*
 * Cgroups that go are flushed once more when they do. Where many come and go they get names only as
 * long as half of the table is free, so that those that stay find room.
 */
__noinline __u32 rs_cgroup_number(__u64 cgrp, __u64 id, __u32 hierarchy, __u32 flags)
{
	bool stays = flags & CSS_ONLINE;
	struct rs_who *w;
	__u32 fresh = 0, no;
	__u64 key;

	key = mix(mix(0x9e3779b97f4a7c15ULL, id), hierarchy) | 1;
	no = who_find(key, WHO_CGROUP, stays || who_used[WHO_CGROUP] < who_most / 2, &fresh);
	if (!fresh)
		return no;
	w = who_at(no);
	if (!w)
		return RS_WHO_NONE;
	w->key[0] = id;
	w->key[1] = hierarchy;
	rs_write_path(&w->path, cgrp);
	barrier();
	*(volatile __u32 *)&w->ready = 1;
	return no;
}

struct flusher {
	char process[16] __attribute__((aligned(8))), thread[16];
	__u64 cgrp, cgroup_id;
	__u32 tgid, class;
};

/* Two words: the last byte is 0 but in the middle of a change. */
static __always_inline void comm_of(char *to, struct task_struct *task)
{
	const __u64 *word = (const void *)&task->comm[0];

	((__u64 *)to)[0] = word[0];
	((__u64 *)to)[1] = word[1] & ~0ULL >> 8;
}

static __always_inline void flusher_fill(struct flusher *f, __u32 class)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct cgroup *own = task->cgroups->dfl_cgrp;

	f->tgid = bpf_get_current_pid_tgid() >> 32;
	f->class = own_tgid && f->tgid == own_tgid ? KD_FC_SELF : class;
	comm_of(f->thread, task);
	comm_of(f->process, task->group_leader);
	f->cgroup_id = own->kn->id;
	f->cgrp = (__u64)own;
}

static __always_inline __u64 mix_comm(__u64 h, const char *comm)
{
	__u64 word[2];

	__builtin_memcpy(word, comm, sizeof(word));
	return mix(mix(h, word[0]), word[1]);
}

static __always_inline void flusher_name(struct rs_who *w, struct flusher *f, bool single)
{
	__u64 cgrp;

	/* By way of a map it is a number to the verifier, as an argument must be. */
	*(volatile __u64 *)&w->key[0] = f->cgrp;
	cgrp = *(volatile __u64 *)&w->key[0];
	w->key[0] = (single ? f->tgid : 0) | (__u64)f->class << 32;
	w->key[1] = f->cgroup_id;
	__builtin_memcpy(w->process, f->process, sizeof(w->process));
	if (single)
		__builtin_memcpy(w->thread, f->thread, sizeof(w->thread));
	rs_write_path(&w->path, cgrp);
	barrier();
	*(volatile __u32 *)&w->ready = 1;
}

/*
 * While most of the table is free each thread name of each process has a number of its own. After
 * that, processes of one name, class and cgroup share one: a script that starts `cat` again and
 * again is one flusher, and a server with hundreds of named threads is too.
 */
__noinline __u32 rs_flusher_number(__u32 class)
{
	struct flusher f = {};
	__u64 h, single;
	struct rs_who *w;
	__u32 fresh = 0, no;

	flusher_fill(&f, class);
	h = mix_comm(mix(mix(0x9e3779b97f4a7c15ULL, f.class), f.cgroup_id), f.process);
	single = mix_comm(mix(h, f.tgid), f.thread) | 1;
	no = who_find(single, WHO_FLUSHER, who_used[WHO_FLUSHER] < who_most / 4, &fresh);
	if (no != RS_WHO_NONE) {
		w = fresh ? who_at(no) : NULL;
		if (w)
			flusher_name(w, &f, true);
		return no;
	}
	no = who_find(h | 1, WHO_FLUSHER, true, &fresh);
	w = fresh && no != RS_WHO_NONE ? who_at(no) : NULL;
	if (w)
		flusher_name(w, &f, false);
	return no;
}

/* --- on whose behalf: by the functions on the stack --- */

/* Functions that say for whom a flush is done, or of what, by address: see src/rstat_callers.c. */
const volatile struct rs_range ranges[RS_RANGES] = {};

/* What the function at an address says: class | subsystem << 8; 0: nothing. By halving; not static, see
 * rs_write_path(). */
__noinline __u32 rs_frame_says(__u64 ip)
{
	__u32 at = 0, half;

#pragma unroll
	for (half = RS_RANGES / 2; half; half /= 2)
		if (ranges[(at + half) & (RS_RANGES - 1)].from <= ip)
			at += half;
	at &= RS_RANGES - 1;
	return ip >= ranges[at].from && ip < ranges[at].to ? ranges[at].says : 0;
}

/*
 * class | sub << 8 of the stack in t->ip, innermost first. The first frame that names somebody
 * decides; what is flushed is said further in. Above them the frame that decides, where nothing further
 * out could say more; 0: none.
 */
__noinline __u32 rs_frames_say(struct rs_task *t)
{
	__u32 i, class = KD_FC_OTHER, sub = KD_FL_NONE, decides = 0, what;

	if (!t)
		return 0;
	for (i = 0; i < RS_FRAMES && t->ip[i]; i++) {
		what = rs_frame_says(t->ip[i]);
		if (sub == KD_FL_NONE)
			sub = what >> 8;
		if (class == KD_FC_OTHER)
			class = what & 0xff;
		if (!decides && class != KD_FC_OTHER &&
		    (sub != KD_FL_NONE || shape != RS_BY_SUBSYS))
			decides = i;
	}
	return class | sub << 8 | decides << 16;
}

#endif
