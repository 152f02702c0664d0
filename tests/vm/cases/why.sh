#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Waits of known cause, made by `inject` while `kdefer why` looks on: which of them, goes by how the
# kernel was started. Each says when it began and ended, and who caused it.

TIMES=1 # whyten.sh says ten

# What is a wait that is too long. Waits that are made last twice as long at least.
LIMITS=rcu_gp=50ms,rcu_gp.wait=1m,call_rcu.latency=150ms,call_rcu.run=50ms,rstat=300us

# Real-time tasks may take a CPU for good, here where that is asked for.
without_throttling() {
	echo -1 >/proc/sys/kernel/sched_rt_runtime_us
	for each in /sys/kernel/debug/sched/fair_server/cpu*/runtime; do
		[ ! -e "$each" ] || echo 0 >"$each"
	done
}

has() {
	grep -qw -- "$1" /proc/cmdline
}

make() {
	timeout 200 inject --again "$@" >>"$OUT/injected" 2>>"$OUT/inject.err" ||
		echo "inject $1: status $?" >>"$OUT/inject.err"
}

# Readers of known length, until one of them is told of: then kdefer is at work.
begin_looking() {
	kdefer why --over "$LIMITS" --ndjson >"$OUT/why.ndjson" 2>"$OUT/why.err" &
	looking=$!
	for _ in $(seq 25); do
		inject long_reader --ms 150 --rest 400 >>"$OUT/first"
		grep -q '"cause"' "$OUT/why.ndjson" && return
		kill -0 "$looking" || return
	done
}

end_looking() {
	sleep 1
	kill -INT "$looking"
	wait "$looking"
	echo $? >"$OUT/why.status"
}

# A reader of Tasks Trace that sleeps; one program is freed meanwhile, which asks for a grace period.
sleeping_reader() {
	for _ in $(seq "$1"); do
		tthold --free 1 1 | sed -nE 's/^started_ns ([0-9]+) freed_ns ([0-9]+) ended_ns ([0-9]+) tid ([0-9]+)$/injected cause=sleeping_reader source=rcu_gp flavour=tasks_trace begin_ns=\1 asked_ns=\2 end_ns=\3 waited_ns=0 cpu=-1 pid=\4 tgid=0 rival=0 comm=tthold func=-/p' >>"$OUT/injected"
	done
}

# Without tracepoints of the lock its functions are hooked, and the one that flushes for cpu.stat is part of
# that which shows it. The one for io.stat is not.
flushed_for() {
	if grep -q cgroup_rstat_locked /sys/kernel/tracing/available_events; then
		echo /sys/fs/cgroup/inject/cpu.stat
	else
		echo /sys/fs/cgroup/inject/io.stat
	fi
}

in_every_kernel() {
	make long_reader --ms 100 --times "$TIMES"
	make long_reader --ms 300 --times "$TIMES"
	make irqs_off --ms 300 --times "$TIMES"
	make gp_kthread_starved --ms 200 --times "$TIMES"
	make two --ms 400 --times "$TIMES"
	make slow_callback --ms 300 --times "$TIMES"
	make callback_flood --many 200000 --times "$TIMES"
	make many_cgroups --many 500 --times "$TIMES"
	make lock_contention --ms 100 --file "$(flushed_for)" --times "$TIMES"
	sleeping_reader "$TIMES"
	make task_not_switching --ms 1500 --times "$TIMES"
	make vcpu_preempted --ms 2000 --times "$TIMES"
}

# With a word on the kernel's command line that only that cause needs.
of_this_one() {
	if has preempt=full; then make preempted_reader --ms 200 --times "$TIMES"; fi
	if has rcutree.use_softirq=0; then make softirq_starved --ms 200 --times "$TIMES"; fi
	if has rcu_nocbs=all; then
		# Reports of one list that are alike come once a second.
		make callbacks_starved --ms 400 --rest 1200 --kthreads rcuop --times "$TIMES"
		[ "$TIMES" = 1 ] || ! grep -q lazy_rcu_shrink /proc/kallsyms ||
			make lazy --ms 12000 --times 3
	fi
	if has preempt=none || grep -qx 'CONFIG_PREEMPT_NONE=y' /tmp/config; then
		make kernel_loop --ms 50 --times $((TIMES * 10)) --rest 500
	fi
}

run() {
	zcat /proc/config.gz >/tmp/config 2>/dev/null
	without_throttling
	begin_looking
	of_this_one
	has preempt=none || has rcu_nocbs=all || in_every_kernel
	end_looking
}
