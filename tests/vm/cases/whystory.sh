#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# On each CPU a task that calls into the kernel again and again, where it updates a map whose elements
# are allocated one by one: the grace periods that its own freed elements wait for take long. Beside the
# kernel's own tracing of grace periods.

SPAN=15 # seconds
LIMITS=rcu_gp=50ms # as in whystory.py

gp_events() {
	{
		echo "p:cb/begin_gp rcu_gp_fqs_loop"
		echo "r64:cb/end_gp rcu_gp_cleanup"
	} | each_line kprobe_events
}

# The load begins when all is attached: to load programs takes seconds beside it.
run() {
	oracle_on gp_events
	mark begin
	kdefer record -s rcu_gp --over "$LIMITS" -o /tmp/story.kdefer --force -- \
		inject loops --ms $((SPAN * 1000)) >"$OUT/injected" 2>"$OUT/record.err"
	echo $? >"$OUT/record.status"
	mark end
	oracle_save gp
	kdefer why --input /tmp/story.kdefer --json >"$OUT/why.json" 2>"$OUT/why.err"
	echo $? >"$OUT/why.status"
	kdefer why --input /tmp/story.kdefer >"$OUT/why.txt" 2>&1
}
