#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Freed BPF memory: a known number of objects, freed on a known CPU, behind grace periods of both kinds
# that are held up; maps under load, maps that come and go.

N=20000

# One look; $1: name.
lists() {
	kdefer lists -s memalloc --json --per-cpu --full >"$OUT/$1.json" 2>"$OUT/$1.err"
	echo $? >"$OUT/$1.status"
	if [ "$(cat "$OUT/$1.status")" = 2 ]; then
		kdefer lists -s memalloc >"$OUT/$1.json" 2>"$OUT/$1.err"
		echo $? >"$OUT/$1.status"
	fi
}

# $1: prefix, $2: what memload has done.
look() {
	lists "$1-$2"
}

# The same, and when all are deleted lets the reader go and looks again.
look_and_release() {
	lists "$1-$2"
	if [ "$2" = added ]; then return; fi
	touch /tmp/release
	wait_for /tmp/released
	sleep 2
	lists "$1-released"
}

wait_for() {
	while [ ! -e "$1" ]; do sleep 0.05; done
}

hold() {
	touch /tmp/held
	wait_for /tmp/release
}


many_looks() {
	i=0
	while [ $((i += 1)) -le "$2" ]; do lists "$1-$i"; done
}

# Deferred by RCU: any reader holds up both stages.
behind_rcu() {
	rm -f /tmp/release /tmp/released /tmp/held
	(
		reader sh "$CASES/guest.sh" --call memlists hold
		touch /tmp/released
	) &
	wait_for /tmp/held
	memload delete $N 0 sh "$CASES/guest.sh" --call memlists look_and_release rcu >"$OUT/rcu"
	wait
}

run() {
	lists idle
	behind_rcu
	tthold 6 memload delete $N 0 sh "$CASES/guest.sh" --call memlists look trace >"$OUT/trace"
	memload kinds sh "$CASES/guest.sh" --call memlists lists kinds >"$OUT/kinds"
	memload busy 4 sh "$CASES/guest.sh" --call memlists many_looks busy 5 >"$OUT/busy"
	memload churn sh "$CASES/guest.sh" --call memlists many_looks churn 5 >"$OUT/churn"
}
