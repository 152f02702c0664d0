#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Everything at once: callbacks as fast as eight CPUs can, readers that make them pile up, two CPUs
# that go and come back, the smallest tables and the smallest ring that there are.

# shellcheck source=tests/vm/cases/losses.sh
. "$CASES/losses.sh"

switch() {
	echo "$2" >"/sys/devices/system/cpu/cpu$1/online"
}

stress() {
	kdefer bench callbacks --way creds --rate 0 -p 8 --hold 50ms --rest 10ms -d 2s --json \
		>"$OUT/$1.bench" 2>&1 &
	load=$!
	# Each is bound to its CPU first, which has to be there then.
	while kill -0 $load && [ "$(cat /proc/[0-9]*/comm 2>/dev/null | grep -cx kdefer-load)" -lt 9 ]; do sleep 0.1; done
	sleep 0.3
	while kill -0 $load 2>/dev/null; do
		switch 3 0
		switch 5 0
		switch 3 1
		switch 5 1
	done
	wait $load
	echo $? >"$OUT/$1.bench.status"
	drain
}

run() {
	dmesg -n 1
	least_memory
	watch full --max-memory "$least" -i 1m -- stress full # one tick, for all of it
	watch thin --max-memory "$least" --sample 1/8 -i 50ms -- stress thin
	cat /sys/devices/system/cpu/online >"$OUT/online"
	dmesg | grep -E 'BUG:|WARNING:|Oops|rcu: INFO|blocked for more' >"$OUT/faults"
	until_gone stress
}
