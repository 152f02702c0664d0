#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The story itself: on two CPUs of three a task that calls into the kernel again and again, where its
# whole share of a map whose elements are allocated one by one is updated; the grace periods that its
# own freed elements wait for take long. Beside the kernel's own tracing of grace periods.

SPAN=15 # seconds
LIMITS=rcu_gp=50ms # as in whystory.py

gp_events() {
	{
		echo "p:cb/begin_gp rcu_gp_fqs_loop"
		echo "r64:cb/end_gp rcu_gp_cleanup"
	} | each_line kprobe_events
}

# Which task is where, by the kernel's word.
loops() {
	sleep 8
	for each in /proc/[0-9]*; do
		case $(cat "$each/comm") in
		kdefer-load) echo "loop cpu=$(cut -d ' ' -f 39 "$each/stat") pid=${each#/proc/}" ;;
		kdefer) echo "maker pid=${each#/proc/}" ;;
		esac
	done >"$OUT/loops" 2>/dev/null
}

# The load begins when all is attached: to load programs takes seconds beside it.
run() {
	oracle_on gp_events
	loops &
	mark begin
	kdefer record -s rcu_gp --over "$LIMITS" -o /tmp/story.kdefer --force -- \
		kdefer bench htab-mem --use-case overwrite --full --affinity 0,1 --producers 2 --batch 0 \
		--look 0 --warm-up 1s -d "${SPAN}s" >"$OUT/bench" 2>"$OUT/record.err"
	echo $? >"$OUT/record.status"
	mark end
	oracle_save gp
	wait
	kdefer why --input /tmp/story.kdefer --json >"$OUT/why.json" 2>"$OUT/why.err"
	echo $? >"$OUT/why.status"
	kdefer why --input /tmp/story.kdefer >"$OUT/why.txt" 2>&1
}
