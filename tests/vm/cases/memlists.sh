#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Freed BPF memory: a known number of objects, freed on a known CPU, behind grace periods of both kinds
# that are held up; maps under load, maps that come and go. One kdefer looks on all the time.

N=10000
CPU=0
HELD=5 # s; a reader of Tasks Trace

wait_for() {
	while [ ! -e "$1" ]; do sleep 0.05; done
}

hold() {
	touch /tmp/held
	wait_for /tmp/release
}

# $1: what memload has done; each time some looks fall in. Any reader of RCU holds up both stages.
behind_rcu() {
	sleep 1.5
	if [ "$1" = added ]; then
		{
			reader sh "$CASES/guest.sh" --call memlists hold
			touch /tmp/released
		} >"$OUT/reader" 2>&1 &
		wait_for /tmp/held
	else
		sleep 1
		touch /tmp/release
		wait_for /tmp/released
		sleep 2
	fi
}

behind_trace() {
	sleep 1.5
	if [ "$1" = added ]; then
		{
			tthold $HELD touch /tmp/trace-held
			touch /tmp/trace-released
		} >"$OUT/tthold" 2>&1 &
		wait_for /tmp/trace-held
	else
		wait_for /tmp/trace-released
	fi
}

# $1: what ownload has done. Three looks, and more where the emulator lets kdefer wait.
look_on() {
	sleep 1.5
}

run() {
	kdefer lists -s memalloc,call_rcu --per-cpu --full --ndjson -i 300ms >"$OUT/looks.json" 2>"$OUT/looks.err" &
	kdefer=$!
	while [ ! -s "$OUT/looks.json" ]; do sleep 0.1; done
	memload delete $N $CPU sh "$CASES/guest.sh" --call memlists behind_rcu >"$OUT/rcu"
	memload delete $N $CPU sh "$CASES/guest.sh" --call memlists behind_trace >"$OUT/trace"
	tthold --stay 0.1 ownload $CPU sh "$CASES/guest.sh" --call memlists look_on >"$OUT/owners" 2>&1
	echo $? >"$OUT/owners.status"
	memload kinds sleep 4 >"$OUT/kinds"
	memload busy 4 sleep 3 >"$OUT/busy"
	memload churn sleep 3 >"$OUT/churn"
	kill -INT $kdefer
	wait $kdefer
	echo $? >"$OUT/looks.status"
}
