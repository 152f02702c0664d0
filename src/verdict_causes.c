// SPDX-License-Identifier: GPL-2.0-only
/* verdict_causes.c - names of causes, what they mean, what is known to help. */
#include "verdict.h"

static const struct {
	const char *name, *text, *remedy;
} causes[] = {
	[CAUSE_LAZY] = {
		"lazy",
		"callbacks that ask for no hurry are kept until there are many, or 10 s have passed",
		"none needed: this saves power; call_rcu_hurry() where somebody waits, or "
		"rcutree.enable_rcu_lazy=0",
	},
	[CAUSE_GP_KTHREAD_STARVED] = {
		"gp_kthread_starved",
		"the kthread that drives grace periods was ready to run, and did not get a CPU",
		"give it priority (rcutree.kthread_prio=, chrt -f), keep real-time tasks off its CPU, "
		"or bind it elsewhere (taskset)",
	},
	[CAUSE_PREEMPTED_READER] = {
		"preempted_reader",
		"a task was switched out inside of an RCU read-side critical section",
		"RCU priority boosting (CONFIG_RCU_BOOST, rcutree.kthread_prio=), a larger CPU quota, "
		"or fewer real-time tasks on that CPU",
	},
	[CAUSE_VCPU_PREEMPTED] = {
		"vcpu_preempted",
		"the machine below did not run this CPU, or all of them",
		"look at the host: overcommitted CPUs, a stopped or migrated guest, a debugger; "
		"nothing in this kernel is at fault",
	},
	[CAUSE_IRQS_OFF] = {
		"irqs_off",
		"a CPU took no interrupt for a long time, not even its tick",
		"break up the section that keeps interrupts off; the irqsoff tracer names its ends",
	},
	[CAUSE_CALLBACKS_STARVED] = {
		"callbacks_starved",
		"the softirq or kthread that does RCU's work on that CPU did not get to run",
		"priority for ksoftirqd, rcuc or rcuo kthreads (rcutree.kthread_prio=), rcu_nocbs= with "
		"CPUs for these, or fewer real-time tasks",
	},
	[CAUSE_SLEEPING_READER] = {
		"sleeping_reader",
		"a task slept inside of a read-side critical section in which sleeping is allowed",
		"find what it waits for (page fault, lock, I/O); keep such sections short, as sleepable "
		"BPF programs that copy from user memory are not",
	},
	[CAUSE_TASK_NOT_SWITCHING] = {
		"task_not_switching",
		"a task did not give up its CPU by itself, nor returned to user mode",
		"cond_resched_tasks_rcu_qs() or rcu_softirq_qs() in its loop",
	},
	[CAUSE_LONG_READER] = {
		"long_reader",
		"a CPU was inside of one RCU read-side critical section whenever it was looked at",
		"leave the section now and then: smaller batches, bounded walks, rcu_read_unlock() "
		"between parts",
	},
	[CAUSE_KERNEL_LOOP] = {
		"kernel_loop",
		"a CPU stayed in the kernel without a context switch",
		"cond_resched() or rcu_softirq_qs() in the loop, or now and then a reschedule; "
		"nohz_full= where the task is to run undisturbed",
	},
	[CAUSE_SLOW_CALLBACK] = {
		"slow_callback",
		"one callback ran for long, and those behind it waited",
		"hand its work to a workqueue (queue_rcu_work()) instead of doing it in the callback",
	},
	[CAUSE_CALLBACK_FLOOD] = {
		"callback_flood",
		"more callbacks were queued than a batch runs",
		"hand over less at once: kfree_rcu(), one callback for many objects, rcu_barrier() or "
		"synchronize_rcu() to slow the producer; rcutree.blimit=",
	},
	[CAUSE_LOCK_CONTENTION] = {
		"lock_contention",
		"the lock was held by others",
		"fewer readers of memory.stat and cpu.stat at one time, or less often",
	},
	[CAUSE_MANY_CGROUPS] = {
		"many_cgroups",
		"many cgroups had changed statistics on many CPUs, and all were folded at one go",
		"remove dead cgroups, flush smaller subtrees, read statistics often enough that little "
		"gathers; possible CPUs that are not there cost too (possible_cpus=)",
	},
	[CAUSE_UNKNOWN] = {
		"unknown",
		"there is no evidence for any of the known causes",
		"",
	},
};
_Static_assert(sizeof(causes) / sizeof(causes[0]) == CAUSE_COUNT, "causes covers its enum");

const char *cause_name(enum cause c)
{
	return c < CAUSE_COUNT ? causes[c].name : "?";
}

const char *cause_text(enum cause c)
{
	return c < CAUSE_COUNT ? causes[c].text : "?";
}

const char *cause_remedy(enum cause c)
{
	return c < CAUSE_COUNT ? causes[c].remedy : "";
}
