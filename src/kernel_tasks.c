// SPDX-License-Identifier: GPL-2.0-only
/*
 * kernel_tasks.c - how old the Tasks RCU grace period is that is under way.
 *
 * Attaching or detaching a function hook waits for one inside the kernel, and cannot be interrupted
 * there: behind one that is held up for good it would never come back. So it is looked at first, by
 * a program that is run once and attached to nothing.
 *
 * No symbol is asked for, so this works without KALLSYMS_ALL and under any kptr_restrict: the running
 * task leads to its CPU's run queue, whose distance to the per-CPU data of Tasks RCU is in BTF.
 */
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <linux/bpf.h>

#include "bpf_util.h"
#include "clock.h"
#include "kernel.h"

#define POLL_NS 50000000ULL
#define INSNS_MAX 128
/* What the program returns when it cannot follow its way; else 0: no grace period, or 1 + its jiffies. */
#define LOST_WAY 0x80000000U

/* Where things are on this kernel; all offsets in bytes. */
struct way {
	int se, cfs_rq, rq, to_percpu, rtpp; /* from the running task to struct rcu_tasks */
	int name, seq, start;                /* in it */
};

static int find_way(const struct kernel *k, struct way *w)
{
	int tasks = kernel_percpu_at(k, "rcu_tasks__percpu"),
	    runqueues = kernel_percpu_at(k, "runqueues");

	*w = (struct way){
		.se = kernel_field_at(k, "task_struct", "se"),
		.cfs_rq = kernel_field_at(k, "sched_entity", "cfs_rq"),
		.rq = kernel_field_at(k, "cfs_rq", "rq"),
		.rtpp = kernel_field_at(k, "rcu_tasks_percpu", "rtpp"),
		.name = kernel_field_at(k, "rcu_tasks", "name"),
		.seq = kernel_field_at(k, "rcu_tasks", "tasks_gp_seq"),
		.start = kernel_field_at(k, "rcu_tasks", "gp_start"),
	};
	if (tasks < 0 || runqueues < 0 || w->se < 0 || w->cfs_rq < 0 || w->rq < 0 || w->rtpp < 0 ||
	    w->name < 0 || w->seq < 0 || w->start < 0)
		return -ENOENT;
	w->to_percpu = tasks - runqueues;
	return 0;
}

/* --- the program, put together from a few steps --- */

struct code {
	struct bpf_insn insn[INSNS_MAX];
	size_t n;
};

static void put(struct code *c, int code, int dst, int src, int off, int imm)
{
	if (c->n < INSNS_MAX)
		c->insn[c->n++] = (struct bpf_insn){ .code = (__u8)code,
						     .dst_reg = (__u8)dst & 15,
						     .src_reg = (__u8)src & 15,
						     .off = (__s16)off,
						     .imm = imm };
}

/* r0 = *(u64 *)(from + offset); ends the program where that cannot be read. */
static void put_read(struct code *c, int from, int offset)
{
	put(c, BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_3, from, 0, 0);
	put(c, BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_3, 0, 0, offset);
	put(c, BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_1, BPF_REG_10, 0, 0);
	put(c, BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_1, 0, 0, -8);
	put(c, BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_2, 0, 0, 8);
	put(c, BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_probe_read_kernel);
	put(c, BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 2, 0);
	put(c, BPF_ALU | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, (int)LOST_WAY);
	put(c, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	put(c, BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_0, BPF_REG_10, -8, 0);
}

static void put_return(struct code *c, int value)
{
	put(c, BPF_ALU | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, value);
	put(c, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

/* The wrong place would not begin with this name. */
static void put_check_name(struct code *c, const struct way *w)
{
	__u64 name;

	memcpy(&name, "RCU Task", sizeof(name));
	put_read(c, BPF_REG_6, w->name);
	put_read(c, BPF_REG_0, 0);
	put(c, BPF_LD | BPF_IMM | BPF_DW, BPF_REG_1, 0, 0, (int)(name & 0xffffffff));
	put(c, 0, 0, 0, 0, (int)(name >> 32));
	put(c, BPF_JMP | BPF_JEQ | BPF_X, BPF_REG_0, BPF_REG_1, 2, 0);
	put_return(c, (int)LOST_WAY);
}

static void write_program(struct code *c, const struct way *w)
{
	put(c, BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_get_current_task);
	put_read(c, BPF_REG_0, w->se + w->cfs_rq);
	put_read(c, BPF_REG_0, w->rq);
	put_read(c, BPF_REG_0, w->to_percpu + w->rtpp);
	put(c, BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_6, BPF_REG_0, 0, 0);
	put_check_name(c, w);
	/* The lowest two bits of the sequence say whether one is under way. */
	put_read(c, BPF_REG_6, w->seq);
	put(c, BPF_ALU64 | BPF_AND | BPF_K, BPF_REG_0, 0, 0, 3);
	put(c, BPF_JMP | BPF_JNE | BPF_K, BPF_REG_0, 0, 2, 0);
	put_return(c, 0);
	put_read(c, BPF_REG_6, w->start);
	put(c, BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_6, BPF_REG_0, 0, 0);
	put(c, BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_jiffies64);
	put(c, BPF_ALU64 | BPF_SUB | BPF_X, BPF_REG_0, BPF_REG_6, 0, 0);
	put(c, BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_0, 0, 0, 1);
	put(c, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

static int load_program(const struct kernel *k)
{
	struct code c = { .n = 0 };
	struct way w;
	int err = k->btf ? find_way(k, &w) : -ENOENT;

	if (err)
		return err;
	write_program(&c, &w);
	if (c.n >= INSNS_MAX)
		return -E2BIG;
	return bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "kd_tasks", "GPL", c.insn, c.n, NULL);
}

static int look(struct kernel *k, int prog_fd)
{
	uint64_t args[4] = { 0 };
	uint32_t answer = 0;
	int err = bpf_util_run(prog_fd, args, &answer);

	k->tasks_gp = UNKNOWN;
	if (err || answer >= LOST_WAY)
		return err ? err : -EFAULT;
	k->tasks_gp = answer ? YES : NO;
	k->tasks_gp_ns = answer && k->hz ? (answer - 1) * (1000000000ULL / k->hz) : 0;
	return 0;
}

int kernel_see_tasks(struct kernel *k, uint64_t limit_ns, int (*stopped)(void))
{
	struct timespec pause = clock_timespec(POLL_NS);
	int fd = load_program(k), err = fd < 0 ? fd : 0;
	uint64_t begin = clock_mono_ns(), before = 0;

	k->tasks_gp_overdue = false;
	while (!err) {
		err = look(k, fd);
		/* A younger one than at the last look is the next one: that before has ended. */
		if (err || k->tasks_gp != YES || k->tasks_gp_ns < before)
			break;
		k->tasks_gp_overdue =
			k->tasks_gp_ns >= limit_ns || clock_mono_ns() - begin >= limit_ns;
		if (k->tasks_gp_overdue || (stopped && stopped()))
			break;
		before = k->tasks_gp_ns;
		nanosleep(&pause, NULL);
	}
	if (fd >= 0)
		close(fd);
	return err;
}
