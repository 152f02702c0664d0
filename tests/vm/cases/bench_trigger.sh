#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Loads of kdefer bench: events by every way of attaching, callbacks of known number, readers of
# cgroup statistics and processes without memory, each beside what the kernel itself counts.

KILLED="Memory cgroup out of memory: Killed process"

# bench NAME LOAD [OPTION...]
bench() {
	name=$1
	shift
	kdefer bench "$@" --json >"$OUT/$name.json" 2>"$OUT/$name.err"
	echo $? >"$OUT/$name.status"
}

# How often the function was called, by an event of the kernel's that counts and writes nothing down.
beside_the_kernel() {
	echo 0 >"$TRACING/tracing_on"
	echo 'p:cb/call bpf_get_numa_node_id' >"$TRACING/dynamic_events"
	echo 1 >"$TRACING/events/cb/call/enable"
	bench beside trigger --attach fentry -p 1 -d 100ms --warm-up 0
	cat "$TRACING/kprobe_profile" >"$OUT/beside.profile"
	oracle_off
	echo 1 >"$TRACING/tracing_on"
}

creds() {
	bench creds_made callbacks --way creds --rate 2000 --burst 50 -d 500ms
	drain
}

kills() {
	dmesg | grep -c "$KILLED"
}

run() {
	bench all trigger -p 2 -d 100ms --warm-up 20ms
	beside_the_kernel
	watch creds -- creds
	bench hold hold --hold 150ms --rest 50ms -d 1s
	before=$(kills)
	bench rstat rstat --readers 2 --hogs 2 --limit 4M --cgroups 20 -d 800ms --warm-up 100ms
	echo $(($(kills) - before)) >"$OUT/kills"
	ls -d /sys/fs/cgroup/kdefer* /tmp/kdefer* /dev/shm/kdefer* >"$OUT/left_behind" 2>/dev/null
	ps >"$OUT/processes"
	until_gone bench
}
