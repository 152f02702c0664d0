#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Flushes of cgroup statistics beside the kernel's own tracing: hundreds of cgroups that have run on
# all CPUs, and readers of their parent's files, which flush each time.

CGROUPS=/sys/fs/cgroup
FLUSHES="css_rstat_flush cgroup_rstat_flush_locked" # every flush goes through one of these
LOCKS="cgroup_rstat_lock_contended cgroup_rstat_locked cgroup_rstat_unlock"

flush_events() {
	for each in $FLUSHES; do
		if [ -e /tmp/has_fprobe ]; then
			echo "f:cb/begin_$each $each"
			echo "f:cb/end_$each $each%return"
		else
			echo "p:cb/begin_$each $each"
			echo "r64:cb/end_$each $each"
		fi
	done | each_line dynamic_events
	locks 1
}

# The kernel's own tracepoints, where it has them.
locks() {
	for each in $LOCKS; do
		if [ -d "$TRACING/events/cgroup/$each" ]; then
			echo "$1" >"$TRACING/events/cgroup/$each/enable"
		fi
	done
}

# What keeps a task that flushes from it.
interruptions() {
	for each in sched/sched_switch irq/irq_handler_entry irq/irq_handler_exit irq/softirq_entry \
		irq/softirq_exit irq_vectors; do
		echo "$1" >"$TRACING/events/$each/enable"
	done
}

split_events() {
	flush_events
	interruptions 1
}

# A quiet guest would never take the CPU from one that flushes.
few() {
	rsload push &
	rsload read $CGROUPS/rs/cpu.stat 6 400 rsreader
	kill $!
}

# Many flushes at a time that have little to do.
readers() {
	rsload read $CGROUPS/rs/cpu.stat 20 200 rsreader
}

# And, when all code is warm, some that have much.
load() {
	readers
	rsload long $CGROUPS/rs 1000 6 # the periodic flush may come first, some of the times
	rsload dirty $CGROUPS/rs 20 2
	rsload read $CGROUPS/rs/memory.stat 2 50 rsreader
}

run() {
	mkdir -p $CGROUPS/rs
	echo "+cpu +memory" >$CGROUPS/cgroup.subtree_control
	hist share -s rstat --by cgroup,flusher -- readers
	rsload make $CGROUPS/rs 1000
	oracle_on flush_events
	hist rs -s rstat --by subsystem,cgroup,flusher -- load
	locks 0
	oracle_save rs
	oracle_on split_events
	hist split -s rstat --split --by subsystem,cgroup,flusher -- few
	locks 0
	interruptions 0
	oracle_save split
	ls "$TRACING/events/cgroup" >"$OUT/tracepoints"
}
