#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Flushes of cgroup statistics beside the kernel's own tracing: hundreds of cgroups that have run on
# all CPUs, and readers of their parent's files, which flush each time.

CGROUPS=/sys/fs/cgroup
HELD=100 REASONS=30
FLUSHES="css_rstat_flush cgroup_rstat_flush_locked" # every flush goes through one of these
CALLS="cgroup_rstat_flush_hold" # and where that is the second, readers of cpu.stat come by this
LOCKS="cgroup_rstat_lock_contended cgroup_rstat_locked cgroup_rstat_unlock"

# $1, $2: names of events at both ends of $3
both_ends() {
	if [ -e /tmp/has_fprobe ]; then
		echo "f:cb/$1_$3 $3"
		echo "f:cb/$2_$3 $3%return"
	else
		echo "p:cb/$1_$3 $3"
		echo "r64:cb/$2_$3 $3"
	fi
}

flush_events() {
	{
		for each in $FLUSHES; do both_ends begin end "$each"; done
		for each in $CALLS; do both_ends call "done" "$each"; done
	} | each_line dynamic_events
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

# Many that are long, and of different lengths, so that what the tracing takes is little beside them.
held() {
	inject flushes --ms 1 --times $HELD
}

# A process that is given less memory than it takes.
squeezed() {
	# shellcheck disable=SC2005 # a number is written to such a file in one piece, with its newline
	echo "$(cut -d ' ' -f 4 /proc/self/stat)" >$CGROUPS/tight/cgroup.procs
	exec dd if=/dev/zero of=/tmp/squeezed bs=1M count=24
}

# For each reason that this kernel can have, by a process that is known by its name.
reasons() {
	rsload dirty $CGROUPS/rs 20 2
	rsload read $CGROUPS/rs/memory.stat 1 30 rsmem
	if [ -e $CGROUPS/rs/io.stat ]; then
		rsload read $CGROUPS/rs/io.stat 1 $REASONS rsio
	fi
	rsload churn $CGROUPS 1 20 # few: each cgroup takes room for its series, and what finds none is no row
	rsflush $CGROUPS/rs $REASONS
	mkdir -p $CGROUPS/tight
	echo 8M >$CGROUPS/tight/memory.max
	sh "$CASES/guest.sh" --call rstat squeezed
	rm -f /tmp/squeezed
}

# And, when all code is warm, some that have much.
load() {
	readers
	held
	reasons
	rsload long $CGROUPS/rs 1000 6 # the periodic flush may come first, some of the times
	rsload dirty $CGROUPS/rs 20 2
	rsload read $CGROUPS/rs/memory.stat 2 50 rsreader
}

run() {
	mkdir -p $CGROUPS/rs
	for each in +cpu +memory +io; do
		echo "$each" >$CGROUPS/cgroup.subtree_control
	done
	grep -c ' mem_cgroup_flush_stats_ratelimited$' /proc/kallsyms >"$OUT/ratelimited"
	ls $CGROUPS/rs >"$OUT/files"
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
