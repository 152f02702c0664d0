#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A Tasks RCU grace period that is held up for good: nothing of kdefer hangs.

# $1: name, the rest: kdefer's arguments. How it ended, and after how long.
timed() {
	name=$1 begin=$(uptime_cs)
	shift
	timeout -s KILL 60 kdefer "$@" >"$OUT/$name.json" 2>"$OUT/$name.err"
	echo $? >"$OUT/$name.status"
	echo "$name $(($(uptime_cs) - begin))0" >>"$OUT/took"
}

run() {
	hog &
	hog=$!
	sleep 1
	# None is under way yet, so there is nothing to see beforehand. On 6.1 attaching waits for one, on
	# newer kernels detaching does, when the killed one's process gets to it.
	ending KILL +500 "$OUT/killed.json" kdefer hist -s call_rcu --ndjson -i 200ms \
		>>"$OUT/endings" 2>"$OUT/killed.err"
	sleep 1
	timed doctor doctor -s call_rcu.latency --json --attach-timeout 2s
	timed try doctor --try -s call_rcu.latency --json --attach-timeout 2s
	timed hist hist -s call_rcu -d 1 --json --attach-timeout 2s
	ending TERM 300 "$OUT/ended.json" kdefer hist -s call_rcu --json >>"$OUT/endings" 2>/dev/null
	progs >"$OUT/meanwhile"
	kill $hog
	until_gone 0
	timed after hist -s call_rcu -d 1 --json
}
