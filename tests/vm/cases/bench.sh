#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The loads htab-mem, map-update and map-dump, each briefly; and what is left of one that was killed.

SHORT="-d 300ms --warm-up 50ms"
CONTROL=/sys/fs/cgroup/cgroup.subtree_control
CALLS=$TRACING/events/syscalls/sys_enter_getpgid

# b NAME LOAD [OPTION...]
b() {
	name=$1
	shift
	kdefer bench "$@" --json >"$OUT/$name.json" 2>"$OUT/$name.err"
	echo $? >"$OUT/$name.status"
}

# The kernel's own count of the calls that a load makes.
counted() {
	echo 'hist:keys=common_pid:size=1024' >"$CALLS/trigger" || return
	b counted map-update --map hash -d 500ms --warm-up 0
	sed -n 's/.*Hits: *//p' "$CALLS/hist" >"$OUT/calls"
	echo '!hist:keys=common_pid:size=1024' >"$CALLS/trigger"
}

cgroups() {
	find /sys/fs/cgroup -name 'kdefer-bench-*' | wc -l
}

# Waits until $1 of them are there, or 10 s.
until_cgroups() {
	since=$(uptime_cs)
	while [ "$(cgroups)" != "$1" ] && [ $(($(uptime_cs) - since)) -lt 1000 ]; do sleep 0.05; done
	cgroups
}

# What there is of it before, during and after: its cgroup, its processes, what the kernel holds.
killed() {
	echo "<$(cat $CONTROL)>" >"$OUT/control"
	kdefer bench htab-mem -d 60s --look 0 >/dev/null 2>&1 &
	victim=$!
	echo "during $(until_cgroups 1)" >"$OUT/killed"
	echo "<$(cat $CONTROL)>" >>"$OUT/control"
	sleep 0.3
	kill -KILL $victim
	wait $victim
	echo "after $(until_cgroups 0)" >>"$OUT/killed"
	since=$(uptime_cs)
	while pidof kdefer kdefer-cleanup >/dev/null && [ $(($(uptime_cs) - since)) -lt 500 ]; do sleep 0.05; done
	echo "processes $(pidof kdefer kdefer-cleanup | wc -w)" >>"$OUT/killed"
	until_gone killed
	echo "<$(cat $CONTROL)>" >>"$OUT/control"
}

run() {
	# shellcheck disable=SC2086 # they are words
	{
		b all htab-mem --all --max-entries 2048 --look 0 $SHORT
		b run htab-mem --trigger test_run --use-case batch_add_batch_del --max-entries 2048 -d 600ms \
			--warm-up 50ms
		b full htab-mem --keys 2048 --max-entries 512 --look 0 $SHORT
		b v64 htab-mem --preallocated --full --max-entries 16384 --batch 0 --value-size 64 $SHORT
		b v512 htab-mem --preallocated --full --max-entries 16384 --batch 0 --value-size 512 $SHORT
		b update map-update --max-entries 1024 -d 200ms --warm-up 50ms
		b dump map-dump --elements 1,all --capacity 1k --cpu-time 10ms
	}
	counted
	killed
}
