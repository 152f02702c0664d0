#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Lists of cgroups that wait for a flush: a known number of them has run on one CPU only, again and
# again, since the kernel flushes by itself every 2 s, all statistics where there is one lock for all.

CGROUPS=/sys/fs/cgroup
NEW=40 ROUNDS=12

# Statistics of the parent are those of all below.
flush() {
	cat $CGROUPS/rl/cpu.stat $CGROUPS/rl/memory.stat >/dev/null
}

run() {
	mkdir -p $CGROUPS/rl
	echo "+cpu +memory" >$CGROUPS/cgroup.subtree_control
	echo "+cpu +memory" >$CGROUPS/rl/cgroup.subtree_control
	rsload make $CGROUPS/rl $NEW
	kdefer lists -s rstat --per-cpu --full --ndjson -i 100ms >"$OUT/looks.ndjson" 2>"$OUT/looks.err" &
	while ! [ -s "$OUT/looks.ndjson" ] && kill -0 $!; do sleep 0.1; done
	for _ in $(seq $ROUNDS); do
		flush
		sleep 0.3
		rsload dirty $CGROUPS/rl $NEW 1
		sleep 0.3
	done
	flush
	sleep 0.5
	kill -INT $!
	wait $!
	echo $? >"$OUT/looks.status"
	rsload unmake $CGROUPS/rl $NEW
}
