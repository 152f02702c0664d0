#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A ring too small for what a tick has to say: every CPU has its ten worst samples, and the least
# memory gives a ring for those of 34 CPUs. So many come online here; the guest has 64.

# shellcheck source=tests/vm/cases/losses.sh
. "$CASES/losses.sh"

CPUS=38
ROUNDS=5 # of each CPU: 15 to 20 callbacks

on_each_cpu() {
	cpu=0
	while [ $cpu -lt $CPUS ]; do
		cbload $ROUNDS $cpu >/dev/null
		cpu=$((cpu + 1))
	done
	drain
}

run() {
	least_memory # which depends on possible CPUs only, and is quicker with few
	cpu=2
	while [ $cpu -lt $CPUS ]; do
		echo 1 >/sys/devices/system/cpu/cpu$cpu/online
		cpu=$((cpu + 1))
	done
	watch ring --max-memory "$least" -i 1m -- on_each_cpu # one tick, for all of it
}
