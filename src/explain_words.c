// SPDX-License-Identifier: GPL-2.0-only
/* explain_words.c - what hooks mean, and what is read or reported means that no event tells: words. */
#include <string.h>

#include "../bpf/defer.h"
#include "explain_words.h"

static const struct {
	const char *function, *meaning;
} meanings[] = {
	{ "rcu_segcblist_enqueue", "a callback joins its CPU's list: its wait begins" },
	{ "rcu_cblist_dequeue", "a callback is taken off its list to be run: its wait ends" },
	{ "rcu_segcblist_extract_done_cbs", "a batch leaves a CPU's list: whose batch it is" },
	{ "rcu_cblist_enqueue", "a callback of an offloaded CPU goes to the bypass list" },
	{ "rcu_cblist_flush_enqueue", "the bypass list is emptied into the CPU's list" },
	{ "__call_rcu_common", "whether the callback may wait for company (lazy)" },
	{ "rcutree_migrate_callbacks", "a CPU goes offline: its callbacks move" },
	{ "srcu_gp_start_if_needed", "an SRCU callback is handed over, synchronize_srcu()'s too" },
	{ "call_rcu_tasks_generic", "a Tasks callback of any kind is handed over" },
	{ "kvfree_call_rcu", "memory is handed over to be freed after a grace period" },
	{ "kfree_call_rcu_nolock", "the same, of those who may take no lock" },
	{ "kvfree_rcu_bulk", "a page of such memory's addresses is freed" },
	{ "kvfree_rcu_list", "such memory for which there was no page is freed" },
	{ "kfree_rcu_work", "such memory whose grace period is over is freed" },
	{ "rcu_free_sheaf", "such memory of one slab cache is freed together" },
	{ "rcu_free_sheaf_nobarn", "the same, where the cache keeps no sheaves" },
	{ "rcu_gp_init", "a normal grace period begins" },
	{ "rcu_gp_fqs_loop", "it is initialised, and waits for quiescent states" },
	{ "force_qs_rnp", "a scan for CPUs that are idle, which are reported then" },
	{ "rcu_report_qs_rnp", "a quiescent state is reported: whose, and by whom" },
	{ "rcu_gp_kthread_wake", "all is reported: by whom, where it was a preempted reader" },
	{ "rcu_gp_cleanup", "a normal grace period ends" },
	{ "sync_rcu_exp_select_cpus", "an expedited grace period begins" },
	{ "rcu_exp_wait_wake", "an expedited grace period is waited for, and ends" },
	{ "synchronize_rcu_expedited_wait_once",
	  "an expedited grace period is waited for: its end" },
	{ "rcu_report_exp_cpu_mult", "quiescent states for the expedited one: whose, by whom" },
	{ "__rcu_report_exp_rnp", "a preempted reader was the last that it waited for" },
	{ "rcu_tasks_wait_gp", "a Tasks (or Tasks Trace) grace period, begin and end" },
	{ "rcu_tasks_postscan", "all tasks that a Tasks grace period waits for are found" },
	{ "rcu_tasks_trace_postscan", "all readers that Tasks Trace waits for are found" },
	{ "check_all_holdout_tasks", "the scan of tasks that are still waited for" },
	{ "check_all_holdout_tasks_trace", "the scan of readers that are still waited for" },
	{ "rcu_tasks_rude_wait_gp", "a Tasks Rude grace period, begin and end" },
	{ "srcu_gp_start", "an SRCU grace period begins" },
	{ "process_srcu", "the work that carries an SRCU grace period on, to its end" },
	{ "cleanup_srcu_struct", "an SRCU domain goes" },
	{ "call_rcu_hurry", "a callback is handed over to RCU, not to wait for company" },
	{ "call_rcu", "a callback is handed over to RCU" },
	{ "call_rcu_tasks_trace", "a callback is handed over to RCU Tasks Trace" },
	{ "call_srcu", "a callback is handed over to SRCU, which Tasks Trace is since 7.0" },
	{ "__free_by_rcu", "freed BPF memory has waited for RCU" },
	{ "__free_rcu_tasks_trace", "freed BPF memory has waited for Tasks Trace" },
	{ "__free_rcu", "freed BPF memory has waited for the last of its grace periods" },
	{ "bpf_mem_refill",
	  "a CPU's list of free BPF objects is filled or drained, entry and return" },
	{ "bpf_mem_alloc_init",
	  "an allocator is made: whose it is shows when the map has its number" },
	{ "bpf_mem_alloc_destroy", "an allocator goes: its memory may be another's soon" },
	{ "bpf_mem_cache", "the lists of an allocator on each CPU: read there, nothing is hooked" },
	{ "rcu_data.cblist", "a CPU's callback list: four segments, bypass, batch being invoked" },
	{ "srcu_data.srcu_cblist", "the callback list of a CPU and SRCU domain" },
	{ "rcu_tasks__percpu.cblist", "the callback lists of RCU Tasks" },
	{ "rcu_tasks_rude__percpu.cblist", "the callback lists of RCU Tasks Rude" },
	{ "rcu_tasks_trace__percpu.cblist", "the callback lists of RCU Tasks Trace" },
	{ "rcu_tasks_trace_srcu_struct.srcu_cblist", "the callback lists of Tasks Trace's domain" },
	{ "krc", "objects of kfree_rcu() that are gathered, and batches behind a grace period" },
	{ "rcu_state.gp_seq",
	  "the normal grace period; CPUs and preempted readers that owe, by node" },
	{ "rcu_state.expedited_sequence", "the expedited one, and who owes it" },
	{ "srcu_struct.srcu_gp_seq", "the grace period of each SRCU domain" },
	{ "rcu_tasks.tasks_gp_seq", "the Tasks grace period; tasks that are marked as held for" },
	{ "rcu_tasks_rude.tasks_gp_seq", "the Tasks Rude grace period" },
	{ "rcu_tasks_trace.tasks_gp_seq",
	  "the Tasks Trace grace period; readers that it waits for" },
	{ "rcu_tasks_trace_srcu_struct.srcu_gp_seq",
	  "the grace period of Tasks Trace's domain; tasks that read on its old counters" },
	{ "css_rstat_flush", "a flush of one subsystem's statistics, entry and return" },
	{ "cgroup_rstat_flush", "a flush of all statistics, entry and return" },
	{ "cgroup_rstat_flush_irqsafe", "a flush with interrupts off from entry to return" },
	{ "cgroup_rstat_flush_hold", "a flush that keeps the lock for its caller" },
	{ "cgroup_rstat_flush_locked", "entered with the lock held: the wait for it is over" },
	{ "cgroup_rstat_lock_contended", "the lock is taken: the wait for it begins" },
	{ "cgroup_rstat_locked", "the lock is got: the wait ends, the hold begins" },
	{ "cgroup_rstat_unlock", "the lock is about to be given up: the hold ends" },
	{ "rcu_sched_clock_irq",
	  "a tick: interrupts were on, or the tick was late; what it interrupts" },
	{ "bpf_rstat_flush", "a flush visits a cgroup (base statistics)" },
	{ "mem_cgroup_css_rstat_flush", "a flush visits a memory cgroup" },
	{ "blkcg_rstat_flush", "a flush visits a cgroup of io" },
	{ "irq_handler_entry", "a device's interrupt handler begins" },
	{ "irq_handler_exit", "a device's interrupt handler ends" },
	{ "softirq_entry", "a softirq begins" },
	{ "softirq_exit", "a softirq ends" },
	{ "local_timer_entry", "the interrupt of the CPU's own timer begins" },
	{ "local_timer_exit", "the interrupt of the CPU's own timer ends" },
	{ "reschedule_entry", "an interrupt that asks for another task begins" },
	{ "reschedule_exit", "an interrupt that asks for another task ends" },
	{ "call_function_entry", "a function that another CPU asks of several begins" },
	{ "call_function_exit", "a function that another CPU asks of several ends" },
	{ "call_function_single_entry", "a function that another CPU asks for begins" },
	{ "call_function_single_exit", "a function that another CPU asks for ends" },
	{ "irq_work_entry", "work that was put off to an interrupt begins" },
	{ "irq_work_exit", "work that was put off to an interrupt ends" },
	{ "sched_switch", "a task leaves its CPU to another" },
	{ "rcu_barrier",
	  "a call that waits for all callbacks handed over to RCU before it: entry and return" },
	{ "rcu_barrier_tasks",
	  "a call that waits for all Tasks callbacks before it: entry and return" },
	{ "rcu_barrier_tasks_rude",
	  "a call that waits for all Tasks Rude callbacks before it: entry and return" },
	{ "rcu_barrier_tasks_trace",
	  "a call that waits for all Tasks Trace callbacks before it: entry and return" },
	{ "srcu_barrier",
	  "a call that waits for all callbacks of an SRCU domain before it: entry and return" },
	{ "synchronize_rcu", "a call that waits for a normal grace period: entry and return" },
	{ "synchronize_rcu_expedited",
	  "a call that waits for an expedited grace period: entry and return" },
	{ "synchronize_rcu_tasks", "a call that waits for a Tasks grace period: entry and return" },
	{ "synchronize_rcu_tasks_rude",
	  "a call that waits for a Tasks Rude grace period: entry and return" },
	{ "synchronize_rcu_tasks_trace",
	  "a call that waits for a Tasks Trace grace period: entry and return" },
	{ "synchronize_srcu",
	  "a call that waits for a grace period of an SRCU domain: entry and return" },
	{ "synchronize_srcu_expedited",
	  "a call that waits for one of an SRCU domain, in a hurry: entry and return" },
	{ "css_rstat_cpu.updated_next",
	  "parts of cgroups whose statistics of a CPU were updated, in trees: read there, nothing is hooked" },
	{ "cgroup_rstat_cpu.updated_next",
	  "cgroups whose statistics of a CPU were updated, in trees: read there, nothing is hooked" },
};

const char *explain_meaning(const char *target)
{
	for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++)
		if (!strcmp(meanings[i].function, target))
			return meanings[i].meaning;
	return NULL;
}

/* No event tells it: what the words mean, and what else of the kernel's says the same. */
static const struct {
	unsigned int measure; /* enum kd_measure_id */
	const char *text;
} states[] = {
	{ KD_M_CALL_RCU_PENDING,
	  "A callback is in one list at a time, and the lists of a flavour add up to what waits. done: "
	  "its grace period is over, and it waits for its turn; wait: for the grace period under way, "
	  "as far as its CPU knows; next_ready: for the one after it; next: not assigned yet; lazy and "
	  "bypass: of offloaded CPUs, before they join the list; invoking: the batch being run now, "
	  "with what of it has run already, until all of it has." },
	{ KD_M_CALL_RCU_PENDING,
	  "A CPU's own list is read on that CPU, all lengths at one moment. Lists that others may change "
	  "meanwhile (of offloaded CPUs, of the other flavours) are read from afar, one length after "
	  "another, and marked as not exact. No event of tracefs tells lengths of lists; RCU stall "
	  "warnings print the sum of RCU's as q=." },
	{ KD_M_RCU_GP_HOLDUP,
	  "Nothing is sent of a grace period that ends in time. Of one that is longer than the limit: its "
	  "phases, whose report was the last, what the ticks of that CPU interrupted from the beginning "
	  "on, and from the limit on what runs on CPUs that are still waited for, with its stack. How long "
	  "it was can be checked as rcu_gp.duration, plus what it waited to be started." },
	{ KD_M_RCU_GP_PENDING,
	  "The number is the kernel's own: RCU stall warnings print it as g=. Its lowest two bits are 0 "
	  "when no grace period is under way. The age is in ticks of the kernel's clock." },
	{ KD_M_RCU_GP_PENDING,
	  "The CPU that looks may owe a quiescent state just because it looks: while our program runs, "
	  "for less than a millisecond." },
	{ KD_M_CALL_RCU_HOLDUP,
	  "Nothing is sent of a callback that is run in time. Of one that waited for longer than the limit: "
	  "when its grace period was asked for, began and ended, when its turn came, and what its CPU was "
	  "seen to do meanwhile; of one that ran for too long, the stacks that ticks found. Such a wait is "
	  "known from the tick before it to the tick after it: what is told is the least it can have been." },
	{ KD_M_CALL_RCU_HOLDUP,
	  "How long it was can be checked as call_rcu.latency, whose longest waits have it, by function." },
	{ KD_M_RSTAT_HOLDUP,
	  "Nothing is sent of a flush that ends in time. Of one that took longer than the limit, or held or "
	  "waited for the lock for longer: who did, for which cgroup, how many cgroups it visited, and for "
	  "a wait who held the lock the longest meanwhile. How long it was can be checked as rstat.flush, "
	  "rstat.hold and rstat.wait." },
	{ KD_M_MEMALLOC_PENDING,
	  "An object is in one list of its allocator on one CPU. free_llist: to be used at once; the "
	  "lists with rcu in their names: behind a grace period, of Tasks Trace where ttrace is in it too; "
	  "waiting_for_gp: handed over to it. Each is walked on its CPU, and free_llist must come out as "
	  "long as the kernel's own count of it." },
	{ KD_M_MEMALLOC_PENDING,
	  "No event of tracefs tells lengths of these lists. The memory of a map, all lists and what is in "
	  "use together, is in its memlock line: bpftool map show." },
	{ KD_M_RSTAT_PENDING,
	  "A cgroup counts once on each CPU that updated its statistics since the last flush, and its "
	  "ancestors with it. A walk on its CPU that comes out the same twice is exact. No event tells how "
	  "many there are; a flush visits each, which rstat.cgroups counts." },
};

const char *explain_state(unsigned int measure, size_t n)
{
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if (states[i].measure == measure && !n--)
			return states[i].text;
	return NULL;
}
