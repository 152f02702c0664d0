#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A CI job in one kernel: a base, an equal run, a run slowed by a reader of RCU of 20 ms in each 100 ms, a
# run with another number of CPUs, a noisy one. The load is the same command each time, and off CPU 1,
# where the readers are; what differs is around it. The slowdown is small, a tenth of the mean: the clock
# of this guest counts instructions, or a busy host would stretch grace periods by more than that.

# Of 60 grace periods some eight meet a reader; gpload comes at all moments of its 100 ms alike, so in
# each run about as many do. The limit stands between nothing and a tenth.
RUNS=8
SYNCS=60 # 1.5 s
RULE='rcu_gp.duration[rcu].mean > +5%'

# One run. Noisy: readers of 60 ms in every third one, from the second on.
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
	runs=$RUNS
	[ "$name" = cpus ] && runs=1 # which cannot be compared, however many there are
	shift
	"$@" kdefer record -o "$OUT/$name.kdefer" -s rcu_gp.duration -i 1s --repeat "$runs" \
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
	record base taskset 1
	record equal taskset 1
	record slow reader --each 20 --rest 80
	echo 0 >/sys/devices/system/cpu/cpu1/online
	record cpus taskset 1
	echo 1 >/sys/devices/system/cpu/cpu1/online
	echo noisy >/tmp/ci.mode
	echo 0 >/tmp/ci.run
	record noisy reader --each 60 --rest 20
	for each in equal slow cpus noisy; do gate $each; done
}
