#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What kdefer says that its programs cost, beside what the kernel counted and timed of them all the while.

ROUNDS=6000
READS=600

load() {
	group=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)/owncost
	mkdir -p "$group"
	sleep 0.2
	progs --runs >"$OUT/before"
	i=0
	while [ $i -lt $READS ]; do
		read -r _ <"$group/cpu.stat"
		i=$((i + 1))
	done
	cbload $ROUNDS
	sleep 0.2
	progs --runs >"$OUT/after"
	rmdir "$group"
}

run() {
	sysctl -w kernel.bpf_stats_enabled=1
	hist owncost -s call_rcu,rcu_gp,rstat -- load
	sysctl -w kernel.bpf_stats_enabled=0
}
