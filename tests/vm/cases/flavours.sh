#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Callbacks of SRCU, Tasks and Tasks Trace, beside the kernel's own tracing; among them some that a
# reader of Tasks Trace holds up for a known time.

HELD=1   # s; see flavours.py
FREED=3  # programs, while it is held
WATCHES=10
HOOKS=4

flavour_events() {
	if [ -e /tmp/has_fprobe ]; then
		# shellcheck disable=SC2016 # tracefs fills these in
		{
			echo 'f:cb/srcu srcu_gp_start_if_needed of=$arg1:x64 head=$arg2:x64 func=+8($arg2):symbol'
			echo 'f:cb/tasks call_rcu_tasks_generic of=$arg3:x64 head=$arg1:x64 func=$arg2:symbol'
			echo 'f:cb/deq rcu_cblist_dequeue head=+0($arg1):x64 func=+8(+0($arg1)):symbol'
			echo 'f:cb/begin_tasks rcu_tasks_wait_gp of=$arg1:x64'
			echo 'f:cb/begin_srcu srcu_gp_start of=$arg1:x64'
		} | each_line dynamic_events
	else
		# Just behind the entries, as oracle_breakpoints() says.
		{
			echo 'p:cb/srcu srcu_gp_start_if_needed+5 of=%di:x64 head=%si:x64 func=+8(%si):symbol'
			echo 'p:cb/tasks call_rcu_tasks_generic+5 of=%dx:x64 head=%di:x64 func=%si:symbol'
			echo 'p:cb/deq rcu_cblist_dequeue+5 head=+0(%di):x64 func=+8(+0(%di)):symbol'
			echo 'p:cb/begin_tasks rcu_tasks_wait_gp+5 of=%di:x64'
			echo 'p:cb/begin_srcu srcu_gp_start+5 of=%di:x64'
		} | each_line kprobe_events
	fi
	echo 'r64:cb/end_tasks rcu_tasks_wait_gp' | each_line kprobe_events
}

# A hook that was made for one tracer: taking it away hands a callback to Tasks, or waits for them.
hook_a_function() {
	mkdir "$TRACING"/instances/fl
	echo schedule >"$TRACING"/instances/fl/set_ftrace_filter
	echo function >"$TRACING"/instances/fl/current_tracer
	echo nop >"$TRACING"/instances/fl/current_tracer
	rmdir "$TRACING"/instances/fl
}

load() {
	tthold --free $FREED $HELD >"$OUT/reader"
	gpload inotify $WATCHES
	i=0
	while [ $((i += 1)) -le $HOOKS ]; do hook_a_function; done
	sleep 1.5
}

run() {
	grep -wE 'rcu_tasks|rcu_tasks_rude|rcu_tasks_trace|rcu_tasks_trace_srcu_struct' /proc/kallsyms \
		>"$OUT/symbols"
	oracle_on flavour_events
	hist flavours -s call_rcu,rcu_gp.duration -- load
	oracle_save flavours
}
