#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A known number of readers wait for the lock of cgroup statistics, which one more holds for long: as
# many are on the list of waiters. Where spinlocks have no queue there is no such list, which is said.

BEHIND=4 TIMES=5

run() {
	kdefer lists -s rstat --json >"$OUT/idle.json" 2>"$OUT/idle.err"
	echo $? >"$OUT/idle.status"
	kdefer lists -s rstat --per-cpu --full --ndjson -i 20ms >"$OUT/looks.ndjson" 2>"$OUT/looks.err" &
	while ! [ -s "$OUT/looks.ndjson" ] && kill -0 $!; do sleep 0.1; done
	inject lock_queue --ms 150 --rest 100 --times $TIMES --many $((BEHIND - 1)) >"$OUT/held" 2>"$OUT/held.err"
	kill -INT $!
	wait $!
	echo $? >"$OUT/looks.status"
	cp /proc/cpuinfo "$OUT/cpuinfo"
}
