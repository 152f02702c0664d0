#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# On each CPU a task that calls into the kernel again and again, where it updates a map whose elements
# are allocated one by one: the grace periods that its own freed elements wait for take long. Beside the
# kernel's own tracing of grace periods.

SPAN=20
LIMITS=rcu_gp=50ms # as in whystory.py

gp_events() {
	{
		echo "p:cb/begin_gp rcu_gp_fqs_loop"
		echo "r64:cb/end_gp rcu_gp_cleanup"
	} | each_line kprobe_events
}

load() {
	inject loops --ms $((SPAN * 1000)) >"$OUT/injected"
}

run() {
	load &
	sleep 1
	oracle_on gp_events
	mark begin
	kdefer why -s rcu_gp --over "$LIMITS" -d $((SPAN / 2)) --json >"$OUT/why.json" 2>"$OUT/why.err"
	echo $? >"$OUT/why.status"
	mark end
	wait
	oracle_save gp
	load &
	kdefer why -s rcu_gp --over "$LIMITS" -n 3 >"$OUT/why.txt" 2>&1
	wait
}
