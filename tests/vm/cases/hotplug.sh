#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# CPU 3 goes and comes back three times while each CPU queues callbacks.

CPU=/sys/devices/system/cpu/cpu3/online
ROUNDS=400

load() {
	for cpu in 0 1 2 3 4 5 6 7; do cbload $ROUNDS $cpu & done
	for _ in 1 2 3; do
		cbload 20 3
		echo 0 >$CPU
		cbload 20
		echo 1 >$CPU
	done
	wait
	drain
}

run() {
	watch hotplug -- load
	cat $CPU >"$OUT/online"
}
