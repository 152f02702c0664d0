#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Reports of callbacks that came late or ran for long, and of flushes of cgroup statistics, beside the
# kernel's own tracing of each callback and each visit to a cgroup, and beside waits of known length.

LIMITS=call_rcu.latency=100ms,call_rcu.run=30ms,rstat=300us

late_events() {
	oracle_events
	if [ -e /tmp/has_fprobe ]; then
		echo 'f:cb/visit bpf_rstat_flush' | each_line dynamic_events
	else
		echo 'p:cb/visit bpf_rstat_flush' | each_line kprobe_events
	fi
}

# Callbacks that run for long, until one of them is told of: then kdefer is at work.
begin_looking() {
	kdefer why --over "$LIMITS" --ndjson >"$OUT/why.ndjson" 2>"$OUT/why.err" &
	looking=$!
	for _ in $(seq 40); do
		inject slow_callback --ms 60 --rest 300 >/dev/null
		if grep -q '"cause"' "$OUT/why.ndjson"; then return; fi
		kill -0 "$looking" || return
	done
}

make() {
	timeout 30 inject "$@" >>"$OUT/injected" 2>>"$OUT/inject.err"
}

run() {
	begin_looking
	oracle_on late_events
	make slow_callback --ms 150
	make long_reader --ms 250 # callbacks of its CPU and of others wait for it
	make callback_flood --many 1500
	make many_cgroups --many 200
	make lock_contention --ms 60
	sleep 1
	kill -INT "$looking"
	wait "$looking"
	echo $? >"$OUT/why.status"
	oracle_save late
}
