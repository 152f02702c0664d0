#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A system that has nothing to do, and one that has: there is nothing to explain. Half of the time each; as
# a further case of a guest whose clock is its instructions it takes half a minute of the host's.

IDLE=15 # s; the same again busy. whynonelong.sh says more

# Files, processes, pipes and pauses, as a machine does that is used.
busy() {
	end=$(($(uptime_cs) + $1 * 100))
	while [ "$(uptime_cs)" -lt $end ]; do
		cbload 20 >/dev/null
		find /proc/self /sys/kernel -maxdepth 2 2>/dev/null | sort | wc -l >/dev/null
		gpload sync 1
		sleep 0.3
	done
}

quiet_and_busy() {
	: >"$OUT/gaps"
	# Where instructions are the clock there is one CPU, and no host can be late.
	[ "$(nproc)" = 1 ] || inject metronome --ms $((IDLE * 2000 + 1000)) >"$OUT/gaps" &
	sleep "$IDLE"
	busy "$IDLE"
}

run() {
	kdefer why -s rcu_gp,call_rcu,rstat --ndjson >"$OUT/why.ndjson" 2>"$OUT/why.err" &
	looking=$!
	sleep 8 # attached by then, or it says so
	quiet_and_busy
	kill -INT "$looking"
	wait "$looking"
	echo $? >"$OUT/why.status"
	echo "$IDLE" >"$OUT/seconds"
}
