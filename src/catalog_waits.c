// SPDX-License-Identifier: GPL-2.0-only
/* catalog_waits.c - names of what is told about waits that were too long. Printed once, never changed. */
#include <stddef.h>

#include "catalog.h"

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))
#define COVERS(table, count) _Static_assert(ROWS(table) == (count), #table " covers its enum")

static const struct fact_info facts[] = {
	[KD_F_LAST_CPU] = { "last_cpu", FACT_CPU, "CPU that reported last" },
	[KD_F_LAST_PID] = { "last_pid", FACT_PID, "task that reported last" },
	[KD_F_LAST_NS] = { "last_ns", FACT_NS, "last report" },
	[KD_F_SECOND_NS] = { "second_ns", FACT_NS, "last report but one" },
	[KD_F_HOW] = { "reported_by", FACT_HOW, "who made the last report" },
	[KD_F_TICKS] = { "ticks", FACT_COUNT, "ticks on that CPU" },
	[KD_F_TICKS_USER] = { "ticks_user", FACT_COUNT, "of these in user mode or idle" },
	[KD_F_TICKS_READER] = { "ticks_reader", FACT_COUNT, "of these in an RCU reader" },
	[KD_F_TICKS_BARE] = { "ticks_bare", FACT_COUNT, "of these in the kernel, outside readers" },
	[KD_F_TICKS_BARRED] = { "ticks_barred", FACT_COUNT,
				"of these with preemption or softirqs off" },
	[KD_F_GAP_NS] = { "gap_ns", FACT_NS, "longest time without a tick on that CPU" },
	[KD_F_GAP_END_NS] = { "gap_end_ns", FACT_NS, "when that ended" },
	[KD_F_ALL_GAP_NS] = { "all_gap_ns", FACT_NS,
			      "longest time in which no CPU ticked or reported" },
	[KD_F_SWITCHES] = { "switches", FACT_COUNT, "context switches on that CPU" },
	[KD_F_URGENT_NS] = { "urgent_ns", FACT_NS, "when RCU had asked that CPU urgently" },
	[KD_F_UNREPORTED_NS] = { "unreported_ns", FACT_NS,
				 "it could report a quiescent state, and did not, for" },
	[KD_F_KTHREAD_NS] = { "kthread_ns", FACT_NS,
			      "the kthread in charge wanted to run, and did not, for" },
	[KD_F_KTHREAD_PID] = { "kthread_pid", FACT_PID, "the kthread in charge" },
	[KD_F_SCANS] = { "scans", FACT_COUNT, "scans for quiescent states" },
	[KD_F_STEAL_NS] = { "steal_ns", FACT_NS, "time stolen by the hypervisor on that CPU" },
	[KD_F_BLOCKED_NS] = { "blocked_ns", FACT_NS,
			      "the last task was seen preempted or asleep for" },
	[KD_F_HOLDOUTS] = { "holdouts", FACT_COUNT, "most tasks waited for at one time" },
	[KD_F_READY_NS] = { "ready_ns", FACT_NS, "its grace period was over after" },
	[KD_F_BATCH_NS] = { "batch_ns", FACT_NS, "its batch began after" },
	[KD_F_QUEUE] = { "queue", FACT_COUNT, "callbacks on the list, at most, while it waited" },
	[KD_F_AHEAD] = { "ahead", FACT_COUNT, "callbacks that ran before it when it was ready" },
	[KD_F_SLOWEST_NS] = { "slowest_ns", FACT_NS, "the longest of these" },
	[KD_F_GPS] = { "grace_periods", FACT_COUNT, "grace periods that ended meanwhile" },
	[KD_F_OFFLOADED] = { "offloaded", FACT_FLAG, "callbacks of that CPU are run by a kthread" },
	[KD_F_LAZY_NS] = { "lazy_ns", FACT_NS, "kept lazily for" },
	[KD_F_CGROUPS] = { "cgroups", FACT_COUNT, "cgroups visited" },
	[KD_F_CPUS] = { "cpus", FACT_COUNT, "CPUs visited" },
	[KD_F_HOLDS] = { "holds", FACT_COUNT, "times the lock was held" },
	[KD_F_HELD_NS] = { "held_ns", FACT_NS, "the lock was held by this flush for" },
	[KD_F_LOCK_NS] = { "lock_ns", FACT_NS, "this flush waited for the lock for" },
	[KD_F_OWNER_PID] = { "owner_pid", FACT_PID, "who held the lock the longest meanwhile" },
	[KD_F_PASSES] = { "passes", FACT_COUNT,
			  "times its task had been in user mode between two ticks" },
	[KD_F_MARGIN_NS] = { "margin_ns", FACT_NS, "it may have been longer by up to" },
	[KD_F_STACK_OFFSETS] = { "stack_offsets", FACT_FLAG,
				 "system calls differ by the offset of their stack" },
};
COVERS(facts, KD_F_COUNT);

static const char *const waits[] = {
	[KD_WAIT_GP] = "grace period",
	[KD_WAIT_CALLBACK] = "callback",
	[KD_WAIT_RUN] = "callback run",
	[KD_WAIT_CALLER] = "caller",
	[KD_WAIT_FLUSH] = "flush",
	[KD_WAIT_HOLD] = "hold",
	[KD_WAIT_LOCK] = "wait for the lock",
};
COVERS(waits, KD_WAIT_COUNT);

static const struct {
	const char *name, *text;
} phases[] = {
	[KD_PH_REQUESTED] = { "requested", "asked for, not started" },
	[KD_PH_INIT] = { "init", "initialised" },
	[KD_PH_WAIT_CPUS] = { "wait_cpus", "waiting for CPUs" },
	[KD_PH_WAIT_TASKS] = { "wait_tasks", "waiting for blocked tasks" },
	[KD_PH_CLEANUP] = { "cleanup", "cleaned up" },
	[KD_PH_CB_WAIT] = { "cb_wait", "callbacks waiting for their turn" },
	[KD_PH_CB_RUN] = { "cb_run", "callbacks running" },
};
COVERS(phases, KD_PH_COUNT);

static const char *const roles[] = {
	[KD_ROLE_CPU] = "cpu",       [KD_ROLE_TASK] = "task",         [KD_ROLE_KTHREAD] = "kthread",
	[KD_ROLE_RIVAL] = "rival",   [KD_ROLE_CALLBACK] = "callback", [KD_ROLE_OWNER] = "owner",
	[KD_ROLE_WAITER] = "waiter", [KD_ROLE_QUEUE] = "queue",
};
COVERS(roles, KD_ROLE_COUNT);

static const char *const hows[] = {
	[KD_HOW_UNKNOWN] = "unknown",
	[KD_HOW_ITSELF] = "itself",
	[KD_HOW_FOR_IT] = "a scan, on its behalf",
	[KD_HOW_TASK] = "the task, as it left its reader",
};
COVERS(hows, KD_HOW_COUNT);

const struct fact_info *wait_fact(unsigned int fact)
{
	return fact < ROWS(facts) ? &facts[fact] : NULL;
}

const char *wait_name(unsigned int what)
{
	return what < ROWS(waits) ? waits[what] : "?";
}

const char *phase_name(unsigned int phase)
{
	return phase < ROWS(phases) ? phases[phase].name : "?";
}

const char *phase_text(unsigned int phase)
{
	return phase < ROWS(phases) ? phases[phase].text : "?";
}

const char *role_name(unsigned int role)
{
	return role < ROWS(roles) ? roles[role] : "?";
}

const char *how_name(unsigned int how)
{
	return how < ROWS(hows) ? hows[how] : "?";
}
