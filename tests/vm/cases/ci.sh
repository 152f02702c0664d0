#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A CI job in one kernel: a base, an equal run, a run slowed by readers of RCU that last 20 ms, a run
# with another number of CPUs, a noisy one. The load is the same command each time; what differs is
# around it. A busy emulator stretches some grace periods by itself, which moves the mean by a tenth or
# so and the tail by more: hence a limit of a quarter, and a slowdown well beyond it.

RUNS=5   # one more than it takes to tell one rule
SYNCS=40 # less than a second
RULE='rcu_gp.duration[rcu].mean > +25%'

# One run. Noisy: readers of 60 ms in the second and the fifth only.
load() {
	if [ "$(cat /tmp/ci.mode)" = noisy ]; then
		n=$(($(cat /tmp/ci.run) + 1))
		echo $n >/tmp/ci.run
		if [ $((n % 3)) = 2 ]; then kill -CONT "$READER"; else kill -STOP "$READER"; fi
	fi
	before=$(uptime_cs)
	gpload pause $SYNCS
	echo "kdefer-metric syncs $(($(uptime_cs) - before)) cs lower"
}

# record NAME [COMMAND...]: the runs of one side, under a command that disturbs them
record() {
	name=$1
	shift
	"$@" kdefer record -o "$OUT/$name.kdefer" -s rcu_gp.duration -i 1s --repeat $RUNS \
		-- sh "$CASES/guest.sh" --call ci load >"$OUT/$name.out" 2>"$OUT/$name.err"
	echo $? >"$OUT/$name.status"
}

# The gate, as the job has it.
gate() {
	kdefer diff "$OUT/base.kdefer" "$OUT/$1.kdefer" --fail-on "$RULE" --json \
		--status "$OUT/$1.verdict" >"$OUT/$1.json" 2>"$OUT/$1.diff.err"
	echo $? >"$OUT/$1.gate"
}

# Off the reader's CPU, or it cannot begin the grace period that the reader is to hold up.
move_kthread() {
	for each in $(pidof rcu_preempt rcu_sched); do taskset -p 1 "$each"; done
}

run() {
	move_kthread
	echo steady >/tmp/ci.mode
	gpload pause $SYNCS # the first is slower than those after it
	record base
	record equal
	record slow reader --each 20 --rest 10 # more than half of the grace periods meet one
	echo 0 >/sys/devices/system/cpu/cpu1/online
	record cpus
	echo 1 >/sys/devices/system/cpu/cpu1/online
	echo noisy >/tmp/ci.mode
	echo 0 >/tmp/ci.run
	record noisy reader --each 60 --rest 20
	for each in equal slow cpus noisy; do gate $each; done
}
