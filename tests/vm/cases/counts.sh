#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Callbacks of known number, heads that are used again, heads that are queued again from inside
# their own callback, and heads of rcu_barrier().

ROUNDS=1500

# Moving a process takes a per-CPU lock for writing. When that is done again before the lock's last
# callback ran, this callback (rcu_sync_func) queues itself once more.
flip_cgroups() {
	i=0
	mkdir -p /sys/fs/cgroup/flip
	while [ $((i += 1)) -le "$1" ]; do
		echo 0 >/sys/fs/cgroup/flip/cgroup.procs
		echo 0 >/sys/fs/cgroup/cgroup.procs
	done
}

load() {
	cbload $ROUNDS
	flip_cgroups 50
	drain # the end of a network namespace waits for callbacks with rcu_barrier()
}

run() {
	watch counts -- load
	until_gone 1
}
