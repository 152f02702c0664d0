#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Grace periods of all kinds and those who wait for them, beside the kernel's own tracing of the same
# functions: a reader of 200 ms, callers of synchronize_rcu() of known number, expedited, Tasks, SRCU.

# Entries, with the caller from the top of the stack; returns only where nobody looks for a caller,
# for such an event puts an address of its own there.
gp_events() {
	for each in synchronize_rcu synchronize_rcu_expedited rcu_barrier synchronize_srcu \
		synchronize_srcu_expedited srcu_barrier synchronize_rcu_tasks rcu_barrier_tasks \
		synchronize_rcu_tasks_rude synchronize_rcu_tasks_trace rcu_barrier_tasks_trace; do
		# shellcheck disable=SC2016 # tracefs fills these in
		echo "p:cb/wait_$each $each"' caller=+0($stack):symbol arg=%di:x64'
	done | each_line kprobe_events
	# rcu_gp_fqs_loop() comes as soon as rcu_gp_init() says that a grace period began.
	{
		echo "p:cb/begin_rcu rcu_gp_fqs_loop arg=%di:x64"
		echo "r64:cb/end_rcu rcu_gp_cleanup"
		echo "p:cb/begin_expedited sync_rcu_exp_select_cpus arg=%di:x64"
		echo "r64:cb/end_expedited rcu_exp_wait_wake"
		echo "p:cb/begin_tasks rcu_tasks_wait_gp arg=%di:x64"
		echo "r64:cb/end_tasks rcu_tasks_wait_gp"
		echo "p:cb/begin_tasks_rude rcu_tasks_rude_wait_gp arg=%di:x64"
		echo "r64:cb/end_tasks_rude rcu_tasks_rude_wait_gp"
		echo "p:cb/begin_srcu srcu_gp_start arg=%di:x64"
	} | each_line kprobe_events
	echo 1 >"$TRACING"/events/syscalls/sys_exit_membarrier/enable
}

# Its hook was made for it, so that taking it away waits for Tasks.
trace_a_function() {
	mkdir "$TRACING"/instances/gp
	echo schedule >"$TRACING"/instances/gp/set_ftrace_filter
	echo function >"$TRACING"/instances/gp/current_tracer
	echo nop >"$TRACING"/instances/gp/current_tracer
	rmdir "$TRACING"/instances/gp
}

# Off the reader's CPU, or it cannot begin the grace period that the reader is to hold up.
move_kthread() {
	for each in $(pidof rcu_preempt rcu_sched); do taskset -p 1 "$each"; done
}

load() {
	reader --files 1 --stay 200 >"$OUT/reader"
	gpload sync 20
	echo 1 >/sys/kernel/rcu_expedited
	gpload sync 20
	unshare -n true
	echo 0 >/sys/kernel/rcu_expedited
	gpload inotify 10
	for _ in 1 2 3 4 5; do trace_a_function; done
	empty &
	sleep 0.4
	kill $!
	wait $! 2>/dev/null
	sleep 1.5
}

run() {
	grep -wE 'rcu_tasks|rcu_tasks_trace|rcu_tasks_trace_srcu_struct' /proc/kallsyms >"$OUT/symbols"
	cat /sys/kernel/rcu_normal >"$OUT/rcu_normal"
	move_kthread
	oracle_on gp_events
	hist gp -s rcu_gp -- load
	echo 0 >"$TRACING"/events/syscalls/sys_exit_membarrier/enable
	oracle_save gp
}
