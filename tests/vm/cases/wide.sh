#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Flushes of cgroup statistics on a host with many possible CPUs, few of them online: nothing has to
# be folded, all of them are looked at.

CGROUPS=/sys/fs/cgroup

read_idle() {
	rsload read $CGROUPS/rs/cpu.stat 1 300 rsreader
}

run() {
	kdefer doctor >"$OUT/doctor"
	mkdir -p $CGROUPS/rs
	echo "+cpu +memory" >$CGROUPS/cgroup.subtree_control
	read_idle # what was there before is folded now, and all code warm
	hist wide -s rstat --split --by subsystem,cgroup,flusher -- read_idle
	ls "$TRACING/events/cgroup" >"$OUT/tracepoints"
}
