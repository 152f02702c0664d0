#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Reports of long grace periods beside the kernel's own tracing of what a grace period passes through:
# when it began, was initialised and ended, and who reported a quiescent state when.

STAY_MS=200 # a reader; its grace period begins when a third of it is over, and the limit is 80 ms

holdup_events() {
	if [ -e /tmp/has_fprobe ]; then
		# shellcheck disable=SC2016 # tracefs fills these in
		{
			echo 'f:cb/init rcu_gp_init'
			echo 'f:cb/waiting rcu_gp_fqs_loop'
			echo 'f:cb/report rcu_report_qs_rnp mask=$arg1:x64'
			echo 'f:cb/over rcu_gp_cleanup%return'
		} | each_line dynamic_events
	else
		{
			echo 'p:cb/init rcu_gp_init'
			echo 'p:cb/waiting rcu_gp_fqs_loop'
			echo 'p:cb/report rcu_report_qs_rnp mask=%di:x64'
			echo 'r64:cb/over rcu_gp_cleanup'
		} | each_line kprobe_events
	fi
}

# kdefer may be long in attaching.
until_told() {
	while [ ! -e "$OUT/why.status" ]; do sleep 0.1; done
}

run() {
	# Off the reader's CPU, or it cannot begin the grace period that the reader is to hold up.
	for each in $(pidof rcu_preempt rcu_sched); do taskset -p 1 "$each"; done
	oracle_on holdup_events
	reader --files 1 --each "$STAY_MS" --rest 250 sh "$CASES/guest.sh" --call holdup until_told >"$OUT/reader" &
	kdefer doctor -s rcu_gp.holdup --json >"$OUT/doctor.json"
	kdefer why --over rcu_gp=1m,rcu_gp.rcu=80ms -d 4 --json >"$OUT/why.json" 2>"$OUT/why.err"
	echo $? >"$OUT/why.status"
	wait
	oracle_save holdup
}
