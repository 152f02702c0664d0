/* SPDX-License-Identifier: GPL-2.0-only */
/* bench.h - what programs of loads share with src/bench_*.c. */
#ifndef KDEFER_BPF_BENCH_H
#define KDEFER_BPF_BENCH_H

#include <linux/types.h>

/*
 * A system call getpgid(BENCH_CALL(op, index)) is one for our programs: no process has such a number.
 * Whose call it is they tell by the slot of that index.
 */
#define BENCH_CALL(op, index) (0x40000000u | (op) << 20 | (index))
#define BENCH_CALL_MARK(arg) ((arg) >> 30)
#define BENCH_CALL_OP(arg) ((arg) >> 20 & 0x3ff)
#define BENCH_CALL_INDEX(arg) ((arg)&0xfffff)

enum bench_op {
	BENCH_PROBE, /* counts as a run, and does nothing else */
	BENCH_NO_OP,
	BENCH_OVERWRITE,
	BENCH_ADD_DELETE,
	BENCH_ADD,
	BENCH_DELETE,
	BENCH_ROUNDS, /* update, lookup and delete, several times */
};

/* Why an operation on a map failed. */
enum bench_failure {
	BENCH_FAILED_NOMEM,
	BENCH_FAILED_FULL,   /* E2BIG */
	BENCH_FAILED_BUSY,   /* another one on the same bucket, from an interrupt */
	BENCH_FAILED_EXISTS, /* to be added, and there already */
	BENCH_FAILED_ABSENT, /* to be deleted or found, and not there */
	BENCH_FAILED_OTHER,
	BENCH_FAILURES,
};

/* Of one process of the load; only it writes there, and it reads along. */
struct bench_work {
	__u32 pid;
	__u32 pad;
	__u64 cursor; /* the next key of its share */
	__u64 runs;
	__u64 updates, deletes, lookups; /* that did what they should */
	__u64 failed[BENCH_FAILURES];
	__u64 spare[4];
} __attribute__((aligned(64)));

#define BENCH_VALUE_MAX 4096

#endif
