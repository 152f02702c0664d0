#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# BPF memory at work, beside the kernel's own tracing of the same functions: batches handed over and
# called back, by stage, some of them behind a reader that stays for a known time; refills.

N=3000

memalloc_events() {
	if [ -e /tmp/has_fprobe ]; then
		# shellcheck disable=SC2016 # tracefs fills these in
		{
			echo 'f:cb/trace_in call_rcu_tasks_trace head=$arg1:x64 func=$arg2:symbol'
			echo 'f:cb/trace_in2 call_srcu head=$arg2:x64 func=$arg3:symbol'
			echo 'f:cb/rcu_in call_rcu_hurry head=$arg1:x64 func=$arg2:symbol'
			echo 'f:cb/end_by_rcu __free_by_rcu head=$arg1:x64'
			echo 'f:cb/end_trace __free_rcu_tasks_trace head=$arg1:x64'
			echo 'f:cb/end_free __free_rcu head=$arg1:x64'
			echo 'f:cb/refill bpf_mem_refill head=$arg1:x64'
		} | each_line dynamic_events
	else
		{
			echo 'p:cb/trace_in call_rcu_tasks_trace+5 head=%di:x64 func=%si:symbol'
			echo 'p:cb/rcu_in call_rcu+5 head=%di:x64 func=%si:symbol'
			echo 'p:cb/end_trace __free_rcu_tasks_trace+5 head=%di:x64'
			echo 'p:cb/end_free __free_rcu+5 head=%di:x64'
			echo 'p:cb/refill bpf_mem_refill+5 head=%di:x64'
		} | each_line kprobe_events
	fi
}

# $1: what memload has done. All of a map's batches are over before the map goes.
pause() {
	sleep 0.7
}

load() {
	memload delete $N 0 sh "$CASES/guest.sh" --call memalloc pause >"$OUT/free"
	reader --stay 200 memload delete $N 0 true >"$OUT/reader"
	memload kinds sleep 2 >"$OUT/kinds"
}

# Elements that are added, deleted, added and deleted while no grace period of Tasks Trace ends.
again() {
	tthold --stay 0.1 memload again $N 0 >"$OUT/again"
}

run() {
	hist refills -s memalloc.refill,memalloc.drain -- again
	oracle_on memalloc_events
	hist memalloc -s memalloc -i 500ms -- load
	oracle_save memalloc
}
