// SPDX-License-Identifier: GPL-2.0-only
/*
 * bench_htab.bpf.c - the programs of the load htab-mem: each run does a batch of operations on a hash
 * map, of the keys of the process that has it run and of no other.
 */
#include "bench.bpf.h"

const volatile __u32 keys = 1; /* of each process */
const volatile __u32 step = 1; /* from one key of a process to its next: how many processes share */
const volatile __u32 batch = 1; /* operations in one run, at most `keys` */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* user space makes this map itself */
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u64));
} htab SEC(".maps");

char value[BENCH_VALUE_MAX];

struct batch {
	struct bench_work *w;
	__u32 first, from; /* the key 0 of this process; where in its share this batch begins */
	__u64 flags;
};

static __always_inline __u32 key_of(const struct batch *b, __u32 i)
{
	__u32 at = b->from + i;

	if (at >= keys)
		at -= keys;
	return b->first + at * step;
}

static long nothing(__u32 i, struct batch *b)
{
	return 0;
}

static long update(__u32 i, struct batch *b)
{
	__u32 key = key_of(b, i);
	long err = bpf_map_update_elem(&htab, &key, value, b->flags);

	if (err)
		failed(b->w, err);
	else
		b->w->updates++;
	return 0;
}

static long delete (__u32 i, struct batch *b)
{
	__u32 key = key_of(b, i);
	long err = bpf_map_delete_elem(&htab, &key);

	if (err)
		failed(b->w, err);
	else
		b->w->deletes++;
	return 0;
}

static __always_inline void advance(struct bench_work *w, __u32 from)
{
	w->cursor = from + batch >= keys ? from + batch - keys : from + batch;
}

static __always_inline int work_once(__u32 arg)
{
	struct bench_work *w = work_of(arg);
	struct batch b = { .w = w, .first = BENCH_CALL_INDEX(arg) };

	if (!w)
		return 0;
	b.from = w->cursor < keys ? w->cursor : 0;
	switch (BENCH_CALL_OP(arg)) {
	case BENCH_NO_OP:
		bpf_loop(batch, nothing, &b, 0);
		break;
	case BENCH_OVERWRITE:
		bpf_loop(batch, update, &b, 0);
		break;
	case BENCH_ADD_DELETE:
		bpf_loop(batch, update, &b, 0);
		bpf_loop(batch, delete, &b, 0);
		break;
	case BENCH_ADD: /* of a pair, both by the keys of its first */
		b.first /= 2;
		b.flags = BPF_NOEXIST;
		bpf_loop(batch, update, &b, 0);
		break;
	case BENCH_DELETE:
		b.first /= 2;
		bpf_loop(batch, delete, &b, 0);
		break;
	default:
		return 1;
	}
	advance(w, b.from);
	return 1;
}

SEC("tp/syscalls/sys_enter_getpgid")
int kb_htab_call(struct bench_syscall *ctx)
{
	return work_once(ctx->arg[0]);
}

SEC("raw_tp")
int kb_htab_run(struct bench_run_args *ctx)
{
	return work_once(ctx->arg[0]);
}
