/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * made_waits.h - one wait of each cause, with the facts and witnesses that the kernel side would send: for
 * the captures here and for tests/unit/test_verdict.c. Times are since the wait began.
 */
#ifndef KDEFER_GOLDEN_MADE_WAITS_H
#define KDEFER_GOLDEN_MADE_WAITS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../../bpf/defer.h"
#include "verdict.h"

#define MADE_MS 1000000ULL
#define MADE_BEGIN (86401000 * MADE_MS)
#define MADE_MAX 200

struct made_wait {
	struct kd_rec_holdup rec;
	struct kd_rec_witness witness[MADE_MAX];
	size_t n;
};

static void made_begin(struct made_wait *w, uint8_t source, uint8_t what, uint8_t flavour,
		       uint64_t length_ms)
{
	memset(w, 0, sizeof(*w));
	w->rec = (struct kd_rec_holdup){
		.rec = { .kind = KD_REC_HOLDUP, .len = sizeof(w->rec), .id = 1 },
		.source = source,
		.what = what,
		.flavour = flavour,
		.cpu = KD_CPU_NONE,
		.begin_ns = MADE_BEGIN,
		.end_ns = MADE_BEGIN + length_ms * MADE_MS,
		.threshold_ns = 50 * MADE_MS,
	};
	for (int i = 0; i < KD_PH_COUNT; i++)
		w->rec.phase[i] = KD_UNKNOWN;
}

static void made_fact(struct made_wait *w, enum kd_fact fact, uint64_t v)
{
	w->rec.known |= 1ULL << fact;
	w->rec.fact[fact] = v;
}

static void made_ms(struct made_wait *w, enum kd_fact fact, uint64_t ms)
{
	made_fact(w, fact, ms * MADE_MS);
}

static struct kd_rec_witness *made_seen(struct made_wait *w, uint8_t role, uint32_t cpu,
					uint32_t pid, const char *comm, uint16_t flags,
					uint64_t at_ms, const char *stack)
{
	struct kd_rec_witness *r = &w->witness[w->n < MADE_MAX ? w->n++ : MADE_MAX - 1];

	*r = (struct kd_rec_witness){
		.rec = { .kind = KD_REC_WITNESS, .len = sizeof(*r), .id = w->rec.rec.id },
		.mono_ns = w->rec.begin_ns + at_ms * MADE_MS,
		.source = w->rec.source,
		.role = role,
		.flags = flags,
		.cpu = cpu,
		.pid = pid,
		.tgid = pid,
		.cgroup = pid ? 4242 : 0,
		.prio = 120,
	};
	snprintf(r->comm, sizeof(r->comm), "%s", comm);
	snprintf(r->stack, sizeof(r->stack), "%s", stack);
	return r;
}

/* Samples of a CPU, every step from..to. */
static void made_ticks(struct made_wait *w, uint32_t cpu, uint32_t pid, const char *comm,
		       uint16_t flags, uint64_t from_ms, uint64_t to_ms, uint64_t step_ms,
		       const char *stack)
{
	for (uint64_t at = from_ms; at <= to_ms; at += step_ms)
		made_seen(w, KD_ROLE_CPU, cpu, pid, comm, flags, at, stack);
}

static void made_gp(struct made_wait *w, uint8_t flavour, uint64_t length_ms, uint64_t seq)
{
	made_begin(w, KD_SRC_RCU_GP, KD_WAIT_GP, flavour, length_ms);
	w->rec.seq = seq;
	w->rec.phase[KD_PH_REQUESTED] = 0;
	w->rec.phase[KD_PH_INIT] = 200000;
	w->rec.phase[KD_PH_WAIT_CPUS] = (length_ms - 2) * MADE_MS;
	w->rec.phase[KD_PH_WAIT_TASKS] = 0;
	w->rec.phase[KD_PH_CLEANUP] = 1800000;
}

static void made_last(struct made_wait *w, uint32_t cpu, uint64_t last_ms, uint64_t second_ms,
		      enum kd_how how)
{
	made_fact(w, KD_F_LAST_CPU, cpu);
	made_fact(w, KD_F_LAST_PID, 0);
	made_ms(w, KD_F_LAST_NS, last_ms);
	made_ms(w, KD_F_SECOND_NS, second_ms);
	made_fact(w, KD_F_HOW, how);
	made_fact(w, KD_F_SCANS, last_ms / 8);
}

#define MADE_LOOP_STACK \
	"memcg_slab_free_hook+0x1c __kmem_cache_free+0x90 bpf_mem_free+0x20 htab_map_update_elem+0x1f0 bpf_prog_d41d8cd98f00b204_overwrite+0x63 trace_call_bpf+0x8a __x64_sys_getpgid+0x5 do_syscall_64+0x5d"
#define IN_READER (KD_WIT_NEST_KNOWN | KD_WIT_READER | KD_WIT_RUNNING)

/* RCU that cannot be preempted: only user mode counts, which one tick in a hundred finds. */
static void __attribute__((unused)) made_story(struct made_wait *w)
{
	made_gp(w, KD_FL_RCU, 152, 31415);
	made_last(w, 3, 150, 7, KD_HOW_ITSELF);
	made_fact(w, KD_F_TICKS, 150);
	made_fact(w, KD_F_TICKS_USER, 2);
	made_fact(w, KD_F_SWITCHES, 0);
	made_ms(w, KD_F_GAP_NS, 1);
	made_fact(w, KD_F_URGENT_NS, 0);
	made_fact(w, KD_F_PASSES, 148);
	made_ticks(w, 3, 1204, "bench", KD_WIT_RUNNING, 51, 149, 2, MADE_LOOP_STACK);
	made_seen(w, KD_ROLE_CPU, 3, 1204, "bench", KD_WIT_USER | KD_WIT_RUNNING, 150, "");
}

/* Preemptible RCU: a tick outside of readers counts too; RCU's urgent wish ended it. */
static void made_kernel_loop(struct made_wait *w)
{
	made_gp(w, KD_FL_RCU, 116, 1000);
	made_last(w, 1, 112, 4, KD_HOW_ITSELF);
	made_fact(w, KD_F_TICKS, 28);
	made_fact(w, KD_F_TICKS_USER, 0);
	made_fact(w, KD_F_TICKS_READER, 26);
	made_fact(w, KD_F_TICKS_BARE, 1);
	made_fact(w, KD_F_TICKS_BARRED, 1);
	made_fact(w, KD_F_SWITCHES, 1);
	made_ms(w, KD_F_URGENT_NS, 108);
	made_fact(w, KD_F_PASSES, 27);
	made_ticks(w, 1, 700, "loop", IN_READER, 52, 108, 4, MADE_LOOP_STACK);
}

static void made_long_reader(struct made_wait *w)
{
	made_gp(w, KD_FL_RCU, 306, 1004);
	made_last(w, 0, 304, 8, KD_HOW_ITSELF);
	made_fact(w, KD_F_TICKS, 75);
	made_fact(w, KD_F_TICKS_USER, 0);
	made_fact(w, KD_F_TICKS_READER, 74);
	made_fact(w, KD_F_TICKS_BARE, 1);
	made_fact(w, KD_F_TICKS_BARRED, 0);
	made_fact(w, KD_F_SWITCHES, 1);
	made_ms(w, KD_F_URGENT_NS, 104);
	made_fact(w, KD_F_PASSES, 0);
	made_ticks(
		w, 0, 800, "reader", IN_READER, 52, 300, 4,
		"bpf_loop+0x4a bpf_prog_0f3b_hold+0x51 bpf_trace_run2+0x6e __x64_sys_getpgid+0x5");
}

static void made_preempted_reader(struct made_wait *w)
{
	made_gp(w, KD_FL_RCU, 420, 1008);
	w->rec.phase[KD_PH_WAIT_CPUS] = 10 * MADE_MS;
	w->rec.phase[KD_PH_WAIT_TASKS] = 408 * MADE_MS;
	made_last(w, 1, 418, 10, KD_HOW_TASK);
	made_fact(w, KD_F_LAST_PID, 900);
	made_ms(w, KD_F_BLOCKED_NS, 400);
	for (uint64_t at = 52; at < 410; at += 20) {
		made_seen(w, KD_ROLE_TASK, 1, 900, "victim",
			  KD_WIT_RUNNABLE | KD_WIT_READER | KD_WIT_NEST_KNOWN, at,
			  "__schedule+0x3b4 preempt_schedule_irq+0x3c bpf_prog_77aa_read+0x20");
		made_seen(w, KD_ROLE_RIVAL, 1, 901, "hog", KD_WIT_RUNNING | KD_WIT_USER, at, "")
			->of_pid = 900;
	}
}

static void made_kthread(struct made_wait *w)
{
	made_gp(w, KD_FL_RCU, 260, 1012);
	made_last(w, 2, 12, 9, KD_HOW_ITSELF);
	w->rec.phase[KD_PH_WAIT_CPUS] = 12 * MADE_MS;
	w->rec.phase[KD_PH_CLEANUP] = 247 * MADE_MS;
	made_ms(w, KD_F_KTHREAD_NS, 240);
	made_fact(w, KD_F_KTHREAD_PID, 17);
	for (uint64_t at = 60; at < 250; at += 20) {
		made_seen(w, KD_ROLE_KTHREAD, 0, 17, "rcu_preempt", KD_WIT_RUNNABLE, at, "");
		made_seen(w, KD_ROLE_RIVAL, 0, 950, "hog", KD_WIT_RUNNING | KD_WIT_USER, at, "")
			->of_pid = 17;
	}
}

static void made_vcpu(struct made_wait *w)
{
	made_gp(w, KD_FL_RCU, 2010, 1016);
	made_last(w, 1, 2006, 2004, KD_HOW_ITSELF);
	made_ms(w, KD_F_GAP_NS, 2000);
	made_ms(w, KD_F_ALL_GAP_NS, 2000);
	made_fact(w, KD_F_STEAL_NS, 0);
	made_fact(w, KD_F_TICKS, 3);
	for (uint32_t cpu = 0; cpu < 2; cpu++)
		made_seen(w, KD_ROLE_CPU, cpu, 40 + cpu, "worker",
			  KD_WIT_RUNNING | KD_WIT_GAP | (cpu ? 0 : KD_WIT_USER), 2003, "")
			->gap_ns = 2000 * MADE_MS;
}

static void made_irqs_off(struct made_wait *w)
{
	made_gp(w, KD_FL_RCU, 130, 1020);
	made_last(w, 2, 126, 6, KD_HOW_ITSELF);
	made_ms(w, KD_F_GAP_NS, 118);
	made_ms(w, KD_F_GAP_END_NS, 122);
	made_ms(w, KD_F_ALL_GAP_NS, 4);
	made_fact(w, KD_F_STEAL_NS, 0);
	made_fact(w, KD_F_TICKS, 2);
	made_fact(w, KD_F_TICKS_USER, 0);
	made_seen(w, KD_ROLE_CPU, 2, 600, "stat", KD_WIT_RUNNING | KD_WIT_GAP, 122,
		  "_raw_spin_unlock_irqrestore+0x1d cgroup_rstat_flush_locked+0x2fb "
		  "cgroup_rstat_flush+0x2e memory_stat_show+0x4c")
		->gap_ns = 118 * MADE_MS;
}

static void made_softirq_starved(struct made_wait *w)
{
	made_gp(w, KD_FL_RCU, 200, 1024);
	made_last(w, 1, 196, 9, KD_HOW_ITSELF);
	made_fact(w, KD_F_TICKS, 48);
	made_fact(w, KD_F_TICKS_USER, 47);
	made_ms(w, KD_F_UNREPORTED_NS, 186);
	made_fact(w, KD_F_SWITCHES, 0);
	for (uint64_t at = 52; at < 190; at += 20)
		made_seen(w, KD_ROLE_RIVAL, 1, 960, "fifo", KD_WIT_RUNNING | KD_WIT_USER, at, "");
}

static void made_two(struct made_wait *w)
{
	made_gp(w, KD_FL_RCU, 306, 1028);
	made_last(w, 0, 304, 204, KD_HOW_ITSELF);
	made_fact(w, KD_F_TICKS, 75);
	made_fact(w, KD_F_TICKS_USER, 0);
	made_fact(w, KD_F_TICKS_READER, 75);
	made_fact(w, KD_F_TICKS_BARE, 0);
	made_fact(w, KD_F_TICKS_BARRED, 0);
	made_fact(w, KD_F_SWITCHES, 0);
	made_ms(w, KD_F_URGENT_NS, 104);
	made_fact(w, KD_F_PASSES, 0);
	for (uint64_t at = 52; at < 304; at += 8) {
		made_seen(w, KD_ROLE_CPU, 0, 800, "reader", IN_READER, at,
			  "bpf_loop+0x4a bpf_prog_0f3b_hold+0x51");
		if (at < 204)
			made_seen(w, KD_ROLE_CPU, 1, 810, "spinner",
				  at % 16 == 4 ? KD_WIT_NEST_KNOWN | KD_WIT_RUNNING | KD_WIT_BARRED
					       : IN_READER,
				  at, MADE_LOOP_STACK);
	}
}

static void made_unknown(struct made_wait *w)
{
	made_gp(w, KD_FL_RCU, 60, 1032);
	made_last(w, 1, 58, 7, KD_HOW_ITSELF);
}

static void made_not_switching(struct made_wait *w)
{
	made_gp(w, KD_FL_TASKS, 3000, 77);
	made_fact(w, KD_F_LAST_PID, 1100);
	made_ms(w, KD_F_LAST_NS, 2980);
	made_fact(w, KD_F_HOLDOUTS, 2);
	made_fact(w, KD_F_SCANS, 8);
	for (uint64_t at = 2100; at < 2950; at += 100)
		made_seen(w, KD_ROLE_TASK, 1, 1100, "spinner", KD_WIT_RUNNING, at,
			  "ksys_read+0x6f do_syscall_64+0x5d");
}

static void made_sleeping_reader(struct made_wait *w)
{
	made_gp(w, KD_FL_TASKS_TRACE, 1500, 78);
	made_fact(w, KD_F_LAST_PID, 1200);
	made_ms(w, KD_F_LAST_NS, 1480);
	made_fact(w, KD_F_HOLDOUTS, 1);
	for (uint64_t at = 1000; at < 1450; at += 100)
		made_seen(w, KD_ROLE_TASK, 0, 1200, "uffd", KD_WIT_SLEEPING | KD_WIT_READER, at,
			  "__schedule+0x3b4 handle_userfault+0x4a1 bpf_probe_read_user+0x18");
}

/* A flavour that keeps no list of its readers: who they might be. */
static void made_candidates(struct made_wait *w)
{
	made_gp(w, KD_FL_SRCU, 1300, 79);
	snprintf(w->rec.name, sizeof(w->rec.name), "fsnotify_mark_srcu");
	for (uint64_t at = 1000; at < 1250; at += 100) {
		made_seen(w, KD_ROLE_TASK, 0, 1200, "uffd",
			  KD_WIT_SLEEPING | KD_WIT_CANDIDATE | KD_WIT_READER, at,
			  "__schedule+0x3b4");
		made_seen(w, KD_ROLE_TASK, 1, 1201, "other",
			  KD_WIT_SLEEPING | KD_WIT_CANDIDATE | KD_WIT_READER, at, "");
	}
}

static void made_callback(struct made_wait *w, uint64_t length_ms, uint64_t ready_ms,
			  const char *name)
{
	made_begin(w, KD_SRC_CALL_RCU, KD_WAIT_CALLBACK, KD_FL_RCU, length_ms);
	w->rec.cpu = 1;
	snprintf(w->rec.name, sizeof(w->rec.name), "%s", name);
	made_ms(w, KD_F_READY_NS, ready_ms);
	made_fact(w, KD_F_GPS, 1);
	w->rec.phase[KD_PH_CB_WAIT] = (length_ms - ready_ms) * MADE_MS;
}

static void made_starved(struct made_wait *w)
{
	made_callback(w, 700, 20, "__d_free");
	made_ms(w, KD_F_BATCH_NS, 690);
	made_fact(w, KD_F_QUEUE, 400);
	made_fact(w, KD_F_AHEAD, 12);
	made_fact(w, KD_F_OFFLOADED, 1);
	made_ms(w, KD_F_KTHREAD_NS, 660);
	made_fact(w, KD_F_KTHREAD_PID, 23);
	made_seen(w, KD_ROLE_KTHREAD, 1, 23, "rcuop/1", KD_WIT_RUNNABLE, 600, "");
	made_seen(w, KD_ROLE_RIVAL, 1, 970, "hog", KD_WIT_RUNNING | KD_WIT_USER, 600, "")->of_pid =
		23;
}

static void made_flood(struct made_wait *w)
{
	made_callback(w, 900, 30, "kfree_rcu_monitor");
	made_ms(w, KD_F_BATCH_NS, 880);
	made_fact(w, KD_F_QUEUE, 300000);
	made_fact(w, KD_F_AHEAD, 287000);
	made_fact(w, KD_F_SLOWEST_NS, 90000);
	made_fact(w, KD_F_OFFLOADED, 0);
}

static void made_behind_slow(struct made_wait *w)
{
	made_callback(w, 600, 20, "i_callback");
	made_ms(w, KD_F_BATCH_NS, 25);
	made_fact(w, KD_F_QUEUE, 60);
	made_fact(w, KD_F_AHEAD, 30);
	made_ms(w, KD_F_SLOWEST_NS, 560);
	made_seen(w, KD_ROLE_CALLBACK, 1, 0, "slow_free_rcu", KD_WIT_RUNNING, 500,
		  "slow_free_rcu+0x40 rcu_do_batch+0x1b2");
}

static void made_run(struct made_wait *w)
{
	made_begin(w, KD_SRC_CALL_RCU, KD_WAIT_RUN, KD_FL_RCU, 80);
	w->rec.cpu = 1;
	w->rec.phase[KD_PH_CB_RUN] = 80 * MADE_MS;
	snprintf(w->rec.name, sizeof(w->rec.name), "slow_free_rcu");
	made_seen(w, KD_ROLE_CALLBACK, 1, 15, "ksoftirqd/1", KD_WIT_RUNNING, 60,
		  "slow_free_rcu+0x40 rcu_do_batch+0x1b2");
}

static void made_lazy(struct made_wait *w)
{
	made_callback(w, 10020, 10015, "file_free_rcu");
	made_ms(w, KD_F_LAZY_NS, 10000);
}

static void __attribute__((unused)) made_caller(struct made_wait *w)
{
	made_begin(w, KD_SRC_RCU_GP, KD_WAIT_CALLER, KD_FL_RCU, 310);
	w->rec.cpu = 3;
	w->rec.pid = w->rec.tgid = 333;
	snprintf(w->rec.comm, sizeof(w->rec.comm), "ip");
	snprintf(w->rec.name, sizeof(w->rec.name), "dev_deactivate_many");
	made_fact(w, KD_F_GPS, 1);
}

static void made_flush(struct made_wait *w, uint8_t what, uint64_t length_ms)
{
	made_begin(w, KD_SRC_RSTAT, what, KD_FL_SUB_MEMORY, length_ms);
	w->rec.cpu = 2;
	w->rec.pid = 610;
	w->rec.tgid = 600;
	w->rec.cgroup = 4242;
	snprintf(w->rec.comm, sizeof(w->rec.comm), "cadvisor");
}

static void made_many_cgroups(struct made_wait *w)
{
	made_flush(w, KD_WAIT_HOLD, 45);
	made_fact(w, KD_F_CGROUPS, 12000);
	made_fact(w, KD_F_CPUS, 400);
	made_seen(w, KD_ROLE_WAITER, 2, 610, "cadvisor", KD_WIT_RUNNING, 44,
		  "cgroup_rstat_flush_locked+0x2fb cgroup_rstat_flush+0x2e memory_stat_show+0x4c");
}

static void made_contention(struct made_wait *w)
{
	made_flush(w, KD_WAIT_FLUSH, 240);
	made_ms(w, KD_F_LOCK_NS, 220);
	made_ms(w, KD_F_HELD_NS, 18);
	made_fact(w, KD_F_HOLDS, 4);
	made_fact(w, KD_F_CGROUPS, 900);
	made_fact(w, KD_F_OWNER_PID, 640);
	made_seen(w, KD_ROLE_OWNER, 0, 640, "systemd-oomd", KD_WIT_RUNNING, 100,
		  "cgroup_rstat_flush_locked+0x2fb");
}

static const struct made {
	const char *name;
	void (*make)(struct made_wait *w);
	enum cause cause;
	bool certain;
	uint32_t cpu, pid; /* KD_CPU_NONE, 0: not named */
} made_waits[] = {
	{ "kernel_loop", made_kernel_loop, CAUSE_KERNEL_LOOP, true, 1, 700 },
	{ "long_reader", made_long_reader, CAUSE_LONG_READER, true, 0, 800 },
	{ "preempted_reader", made_preempted_reader, CAUSE_PREEMPTED_READER, true, 1, 900 },
	{ "gp_kthread_starved", made_kthread, CAUSE_GP_KTHREAD_STARVED, true, 0, 950 },
	{ "vcpu_preempted", made_vcpu, CAUSE_VCPU_PREEMPTED, true, KD_CPU_NONE, 0 },
	{ "irqs_off", made_irqs_off, CAUSE_IRQS_OFF, true, 2, 600 },
	{ "softirq starved", made_softirq_starved, CAUSE_CALLBACKS_STARVED, true, 1, 960 },
	{ "two causes", made_two, CAUSE_LONG_READER, true, 0, 800 },
	{ "unknown", made_unknown, CAUSE_UNKNOWN, false, KD_CPU_NONE, 0 },
	{ "task_not_switching", made_not_switching, CAUSE_TASK_NOT_SWITCHING, true, 1, 1100 },
	{ "sleeping_reader", made_sleeping_reader, CAUSE_SLEEPING_READER, true, 0, 1200 },
	{ "candidates", made_candidates, CAUSE_SLEEPING_READER, false, 1, 1201 },
	{ "callbacks_starved", made_starved, CAUSE_CALLBACKS_STARVED, true, 1, 970 },
	{ "callback_flood", made_flood, CAUSE_CALLBACK_FLOOD, true, 1, 0 },
	{ "behind a slow_callback", made_behind_slow, CAUSE_SLOW_CALLBACK, true, 1, 0 },
	{ "slow_callback", made_run, CAUSE_SLOW_CALLBACK, true, 1, 15 },
	{ "lazy", made_lazy, CAUSE_LAZY, true, 1, 0 },
	{ "many_cgroups", made_many_cgroups, CAUSE_MANY_CGROUPS, true, 2, 610 },
	{ "lock_contention", made_contention, CAUSE_LOCK_CONTENTION, true, 0, 640 },
};
#define MADE_WAITS (sizeof(made_waits) / sizeof(made_waits[0]))

#endif
