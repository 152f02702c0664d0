#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What the cases share. The oracle is the kernel's own tracing: an event when a callback is handed
# over and one when it is taken off its list, each with a time stamp, read from the trace buffer.
# None of our programs has a part in it. No return events: those lose some in bursts.

TRACING=/sys/kernel/tracing
BUFFER_KB=8192 # a CPU; half a million events in all on two CPUs

uptime_cs() {
	read -r up _ </proc/uptime
	echo "${up%.*}${up#*.}"
}

# A line in the trace, so that the host knows what was before and what after.
mark() {
	echo "$1" >$TRACING/trace_marker
}

marked() {
	mark begin
	"$@"
	mark end
}

# Once for each guest. mono: the clock that kdefer's time stamps are of.
oracle_prepare() {
	echo mono >$TRACING/trace_clock
	echo $BUFFER_KB >$TRACING/buffer_size_kb
	echo 0 >/proc/sys/debug/kprobes-optimization
	if grep -q 'f\[:' $TRACING/README; then touch /tmp/has_fprobe; fi
}

# Where there are fprobe events: they lost nothing ever seen.
oracle_events() {
	if [ -e /tmp/has_fprobe ]; then
		# shellcheck disable=SC2016 # tracefs fills these in
		{
			echo 'f:cb/enq call_rcu head=$arg1:x64 func=$arg2:symbol'
			echo 'f:cb/enqh call_rcu_hurry head=$arg1:x64 func=$arg2:symbol'
			echo 'f:cb/deq rcu_cblist_dequeue head=+0($arg1):x64 func=+8(+0($arg1)):symbol'
		} | each_line dynamic_events
	else
		oracle_breakpoints
	fi
}

# Breakpoints just behind the functions' entries: after a call of 5 bytes, and endbr64 (4 bytes) on
# the newer kernels. An entry's own hook leaves interrupts on, and all dequeues of a softirq that
# comes just then are missed; a breakpoint does not, unless the kernel makes a jump of it.
oracle_breakpoints() {
	at=+5
	if [ -e /tmp/has_fprobe ]; then at=+9; fi
	{
		echo "p:cb/enq call_rcu$at head=%di:x64 func=%si:symbol"
		echo "p:cb/enqh call_rcu_hurry$at head=%di:x64 func=%si:symbol"
		echo "p:cb/deq rcu_cblist_dequeue$at head=+0(%di):x64 func=+8(+0(%di)):symbol"
	} | each_line kprobe_events
}

# Definitions one by one: a kernel may lack a function (call_rcu_hurry), which is no failure.
each_line() {
	while read -r line; do
		echo "$line" >>"$TRACING/$1" || echo "refused: $line"
	done
}

# $1: the function that defines its events. What was queued before is out of the way in the end.
oracle_on() {
	oracle_off
	"$1" 2>/dev/null >"$OUT/refused"
	echo >$TRACING/trace
	echo 1 >$TRACING/events/cb/enable
	unshare -n true
}

oracle_off() {
	if [ -d $TRACING/events/cb ]; then echo 0 >$TRACING/events/cb/enable; fi
	echo >$TRACING/dynamic_events
}

# $1: name. The trace, what it lost itself (overruns, misses of its probes), and off.
oracle_save() {
	echo 0 >$TRACING/events/cb/enable
	cat $TRACING/trace >"$OUT/$1.trace"
	cat $TRACING/per_cpu/cpu*/stats >"$OUT/$1.stats"
	cat $TRACING/kprobe_profile >"$OUT/$1.profile"
	oracle_off
}

# hist NAME [OPTION...] -- FUNCTION [ARG...]: kdefer watches a function of this case.
hist() {
	name=$1 options=
	shift
	while [ "$1" != -- ]; do
		options="$options $1"
		shift
	done
	shift
	case $options in
	*" -s "*) what= ;;
	*) what="-s call_rcu --filter flavour=rcu" ;; # what the oracle knows of
	esac
	# shellcheck disable=SC2086 # they are words
	kdefer hist $what --json --full --budget 0 $options -- sh "$CASES/guest.sh" --call "$CASE" marked "$@" \
		>"$OUT/$name.json" 2>"$OUT/$name.err"
	echo $? >"$OUT/$name.status"
}

# The same while the oracle looks on.
watch() {
	oracle_on oracle_events
	hist "$@"
	oracle_save "$1"
}

# Programs, maps and links in the kernel, without their numbers.
in_kernel() {
	progs | cut -d ' ' -f 1,3 | sort
}

# Waits until the kernel has no more of them than when the guest began: it takes them away behind
# our back. Says under $1 how long that took, and how many were still there at the end.
until_gone() {
	since=$(uptime_cs)
	while ! in_kernel | cmp -s - /tmp/in_kernel && [ $(($(uptime_cs) - since)) -lt 1500 ]; do
		sleep 0.1
	done
	in_kernel | diff /tmp/in_kernel - >"$OUT/left"
	echo "$1 $(($(uptime_cs) - since))0 $(grep -c '^[+-][a-z]' "$OUT/left")" >>"$OUT/gone"
}

# Makes the lazy ones run too (they may wait for 10 s else), and waits for the rest.
drain() {
	unshare -n true
	sleep 1.5
}
