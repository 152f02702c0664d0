#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Lists of callbacks and grace periods, read as state, while a reader holds them up: beside the
# kernel's own tracing of what joins and leaves the lists.

FILES=500  # callbacks of as many, behind a reader of RCU
FREED=5    # programs, behind a reader of Tasks Trace
JOINED=300 # given to kfree_rcu(): two objects each, at least

# look NAME: what waits, and for which grace periods.
look() {
	kdefer lists -s call_rcu,rcu_gp --json --full --per-cpu >"$OUT/$1.json" 2>"$OUT/$1.err"
	echo $? >"$OUT/$1.status"
}

marked_look() {
	mark "$1.begin"
	look "$1"
	mark "$1.end"
}

# Twice, so that ages and numbers can be compared. $1: look or marked_look
two_looks() {
	"$1" "$2.1"
	sleep 0.3
	"$1" "$2.2"
}

in_reader() {
	sleep 0.2 # the CPU that queued has passed a quiescent state
	two_looks marked_look rcu
}

behind_rcu() {
	drain
	mark begin
	marked_look idle
	reader --files $FILES sh "$CASES/guest.sh" --call lists in_reader >"$OUT/reader"
	drain
	marked_look after
	mark end
}

in_trace_reader() {
	echo "$PPID" >"$OUT/tthold.pid"
	sleep 0.4 # up to 6.19 it may be left waiting for a quarter of a second
	two_looks look trace
}

# A task that Tasks waits for, and somebody who waits for Tasks, with a lock of tracefs held.
behind_tasks() {
	hog &
	hog=$!
	echo $hog >"$OUT/hog.pid"
	hook_a_function &
	sleep 0.7
	two_looks look tasks
	kill $hog
	wait
}

hook_a_function() {
	mkdir "$TRACING/instances/lists"
	echo schedule >"$TRACING/instances/lists/set_ftrace_filter"
	echo function >"$TRACING/instances/lists/current_tracer"
	echo nop >"$TRACING/instances/lists/current_tracer"
	rmdir "$TRACING/instances/lists"
}

kfree_events() {
	# shellcheck disable=SC2016 # tracefs fills these in
	if [ -e /tmp/has_fprobe ]; then
		echo 'f:cb/give kvfree_call_rcu'
	else
		echo 'p:cb/give kvfree_call_rcu+5'
	fi | each_line dynamic_events
}

give_and_look() {
	gpload multicast $JOINED
	look kfree
}

srcu_events() {
	# shellcheck disable=SC2016 # tracefs fills these in
	if [ -e /tmp/has_fprobe ]; then
		echo 'f:cb/srcu srcu_gp_start_if_needed of=$arg1:x64 head=$arg2:x64'
		echo 'f:cb/deq rcu_cblist_dequeue head=+0($arg1):x64'
	else
		echo 'p:cb/srcu srcu_gp_start_if_needed+5 of=%di:x64 head=%si:x64'
		echo 'p:cb/deq rcu_cblist_dequeue+5 head=+0(%di):x64'
	fi | each_line dynamic_events
}

watch_srcu() {
	mark begin
	kdefer lists -s call_rcu,rcu_gp.pending --ndjson -i 20ms >"$OUT/srcu.ndjson" 2>"$OUT/srcu.err" &
	looking=$!
	while [ ! -s "$OUT/srcu.ndjson" ]; do sleep 0.1; done
	# Several, for a grace period that nobody asked for just before is a short one.
	for _ in 1 2 3 4; do gpload inotify 100000 & done
	# Callbacks wait for an eighth of the time, and the emulator lets a CPU stand still for 100 ms, so
	# that looks in that time see the same: some 100 of them see none with a chance of 0.87^100.
	for _ in $(seq 80); do
		sleep 0.5
		grep -qE '"key":[{]"flavour":"srcu"[^}]*[}],"length":[1-9]' "$OUT/srcu.ndjson" && break
	done
	kill -INT $looking
	killall gpload
	wait
	mark end
}

run() {
	grep -E 'srcu' /proc/kallsyms >"$OUT/symbols"
	oracle_on oracle_events
	behind_rcu
	oracle_save rcu
	tthold --free $FREED --stay 0.5 sh "$CASES/guest.sh" --call lists in_trace_reader >"$OUT/tthold"
	behind_tasks
	drain
	oracle_on kfree_events
	mark begin
	look kfree.before # they may lie there for five seconds
	reader sh "$CASES/guest.sh" --call lists give_and_look >"$OUT/kfree.reader"
	mark end
	oracle_save kfree
	oracle_on srcu_events
	watch_srcu
	oracle_save srcu
}
