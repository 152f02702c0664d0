/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rstat_way.bpf.h - for whom a flush is done, known again by the way that led to it. A part of
 * rstat.bpf.c.
 *
 * The kernel takes some 4,000 instructions to find the functions on a stack. But our arguments lie on
 * that stack, and how far above them a function's return address is depends only on the functions below
 * it. So if the words at the same distances are the same return addresses as once before, innermost
 * first and none left out, up to the one that decides, it is the same way, and it says the same.
 *
 * A way is kept only where each of these addresses stood in a single place, so that none is taken for
 * what an earlier call left behind. Entries are written once, and never changed.
 */
#ifndef KDEFER_RSTAT_WAY_BPF_H
#define KDEFER_RSTAT_WAY_BPF_H

#include "rstat_who.bpf.h"

#define WAY_TRIES 256 /* to keep one: some cannot be */

struct rs_way ways[RS_WAYS];
__u64 ways_known, ways_busy, way_tries;

static __always_inline struct rs_way *way_at(__u32 no)
{
	__u64 at = no;

	barrier_var(at);
	return &ways[at & (RS_WAYS - 1)];
}

static __always_inline __u64 word_of(struct rs_task *t, __u32 no)
{
	__u64 at = no;

	barrier_var(at);
	return t->words[at & (RS_WORDS - 1)];
}

/* All frames of a way are there. Not static, as others that the verifier is to look at once. */
__noinline int rs_way_holds(struct rs_task *t, __u32 no)
{
	struct rs_way *w = way_at(no);
	__u32 i;

	if (!t)
		return 0;
	for (i = 0; i < RS_WAY_FRAMES; i++) {
		if (i >= w->n)
			break;
		if (word_of(t, w->at[i]) != w->ip[i])
			return 0;
	}
	return 1;
}

/* What the way in t->words says; 0: it is not known. */
__noinline __u32 rs_way_says(struct rs_task *t)
{
	__u32 i;

	if (!t)
		return 0;
	for (i = 0; i < RS_WAYS; i++) {
		struct rs_way *w = &ways[i];

		if (i >= *(volatile __u64 *)&ways_known)
			return 0;
		if (word_of(t, w->last_at) == w->last && w->from == t->from && rs_way_holds(t, i))
			return w->says;
	}
	return 0;
}

#define NOWHERE RS_WORDS
#define SEVERAL (RS_WORDS + 1)

/* Where an address is. Without branches, of which the verifier would look at all ways to go. */
static __always_inline __u32 way_place(struct rs_task *t, __u64 ip)
{
	__u64 found = 0, times = 0, i;

	for (i = 0; i < RS_WORDS; i++) {
		__u64 differs = t->words[i] ^ ip, minus = -differs;

		barrier_var(minus); /* or the compiler makes branches of it */
		differs |= minus;
		differs >>= 63;
		barrier_var(differs);
		found += (1 - differs) * i;
		times += 1 - differs;
	}
	return times > 1 ? SEVERAL : times ? found : NOWHERE;
}

/* A frame, innermost first. Those of our own programs are below our arguments, and not of the way. */
__noinline int rs_way_frame(struct rs_task *t, __u32 frame, __u32 no)
{
	struct rs_way *w = way_at(no);
	__u64 n = w->n, i = frame, ip;
	__u32 at;

	if (!t)
		return 1;
	barrier_var(n);
	if (n >= RS_WAY_FRAMES)
		return 1;
	barrier_var(i);
	ip = t->ip[i & (RS_FRAMES - 1)];
	at = way_place(t, ip);
	if (at == SEVERAL)
		return 1;
	if (at == NOWHERE)
		return n != 0; /* behind the first that is found there is none that is not */
	if (n && at <= w->last_at)
		return 1;
	w->ip[n] = w->last = ip;
	w->at[n] = w->last_at = at;
	w->n = n + 1;
	return 0;
}

static __always_inline bool way_write(struct rs_task *t, __u32 no, __u32 decides, __u32 says)
{
	struct rs_way *w = way_at(no);
	__u32 i;

	w->n = 0;
	w->from = t->from;
	w->says = says;
	for (i = 0; i < RS_FRAMES; i++) {
		if (i > decides)
			break;
		if (rs_way_frame(t, i, no))
			return false;
	}
	return w->n != 0;
}

/* t->words are the way of t->ip, which says this up to that frame. */
__noinline int rs_way_keep(struct rs_task *t, __u32 decides, __u32 says)
{
	__u32 no;

	if (!t || *(volatile __u64 *)&way_tries >= WAY_TRIES ||
	    __sync_lock_test_and_set(&ways_busy, 1))
		return 0;
	way_tries++;
	no = ways_known;
	if (no < RS_WAYS && way_write(t, no, decides, says))
		__sync_fetch_and_add(&ways_known, 1);
	__sync_lock_test_and_set(&ways_busy, 0);
	return 0;
}

/* Who it is for, and of what: as rs_frames_say(). The arguments of our program are on the stack. */
static __noinline __u32 way_said(void *ctx, struct rs_task *t)
{
	bool read = !bpf_probe_read_kernel(t->words, sizeof(t->words), ctx);
	__u32 said = read ? rs_way_says(t) : 0, decides;

	if (said)
		return said;
	bpf_get_stack(ctx, t->ip, sizeof(t->ip), 0);
	said = rs_frames_say(t);
	decides = said >> 16;
	said &= 0xffff;
	if (read && decides)
		rs_way_keep(t, decides, said);
	return said;
}

#endif
