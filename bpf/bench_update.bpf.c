// SPDX-License-Identifier: GPL-2.0-only
/*
 * bench_update.bpf.c - the programs of the load map-update: rounds of update, lookup and delete of one
 * key of the process that has them run.
 */
#include "bench.bpf.h"

const volatile __u32 rounds = 10;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* user space makes this map itself */
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u64));
} map SEC(".maps");

struct round {
	struct bench_work *w;
	__u32 key;
};

static long one_round(__u32 i, struct round *r)
{
	__u64 value = i;
	long err = bpf_map_update_elem(&map, &r->key, &value, BPF_ANY);

	if (err)
		failed(r->w, err);
	else
		r->w->updates++;
	if (!bpf_map_lookup_elem(&map, &r->key)) {
		failed(r->w, -ENOENT);
		return 0;
	}
	r->w->lookups++;
	err = bpf_map_delete_elem(&map, &r->key);
	if (err)
		failed(r->w, err);
	else
		r->w->deletes++;
	return 0;
}

static __always_inline int work_once(__u32 arg)
{
	struct round r = { .w = work_of(arg), .key = BENCH_CALL_INDEX(arg) };

	if (!r.w)
		return 0;
	if (BENCH_CALL_OP(arg) == BENCH_ROUNDS)
		bpf_loop(rounds, one_round, &r, 0);
	return 1;
}

SEC("tp/syscalls/sys_enter_getpgid")
int kb_update_call(struct bench_syscall *ctx)
{
	return work_once(ctx->arg[0]);
}

SEC("raw_tp")
int kb_update_run(struct bench_run_args *ctx)
{
	return work_once(ctx->arg[0]);
}
