#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Everything that can forbid measuring, one after another.

BPF=39 PERFMON=38

# $1: name, the rest: how to run kdefer.
only() {
	name=$1
	shift
	for way in '' --try; do
		"$@" doctor -s call_rcu $way --json >"$OUT/$name-doctor$way.json" 2>"$OUT/$name-doctor$way.err"
		echo $? >"$OUT/$name-doctor$way.status"
	done
	"$@" hist -s call_rcu -d 0.1 --json >"$OUT/$name.json" 2>"$OUT/$name.err"
	echo $? >"$OUT/$name.status"
}

# The same; processes that end hand over a callback each.
names() {
	name=$1
	shift
	"$@" hist -s call_rcu.latency --full --json -- \
		sh -c 'for i in 1 2 3 4 5; do (true); done; sleep 0.5' \
		>"$OUT/$name-names.json" 2>"$OUT/$name-names.err"
	echo $? >"$OUT/$name-names.status"
}

# As many programs on one function as a kernel takes.
crowd() {
	for _ in $(seq 38); do
		empty &
		crowd="$crowd $!"
	done 2>/dev/null
	until [ "$(progs | grep -c '^link')" -ge 76 ]; do sleep 0.5; done
	only crowded kdefer
	# shellcheck disable=SC2086 # they are words
	kill $crowd
}

run() {
	chmod 755 / /bin /tests
	for n in 1 2; do
		sysctl -w kernel.kptr_restrict=$n
		only kptr_$n kdefer
		only kptr_${n}_caps withcaps 1000 $BPF,$PERFMON kdefer
		names kptr_${n}_caps withcaps 1000 $BPF,$PERFMON kdefer
	done
	sysctl -w kernel.kptr_restrict=0
	only user withcaps 1000 '' kdefer
	only bpf withcaps 1000 $BPF kdefer
	only caps withcaps 1000 $BPF,$PERFMON kdefer
	mount -t tmpfs none /sys/kernel/btf
	only no_btf kdefer
	umount /sys/kernel/btf
	umount /sys/kernel/debug/tracing /sys/kernel/debug /sys/kernel/tracing
	only no_tracefs kdefer
	mount -t tracefs tracefs /sys/kernel/tracing
	mount -t debugfs debugfs /sys/kernel/debug
	sysctl -w kernel.ftrace_enabled=0
	only untraced kdefer
	sysctl -w kernel.ftrace_enabled=1
	crowd
	true
}
