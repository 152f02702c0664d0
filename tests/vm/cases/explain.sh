#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The commands of doctor --explain, pasted into a shell, while there is something of all kinds to see.

CGROUPS=/sys/fs/cgroup

# A network namespace, BPF memory, cgroup statistics.
deferrals() {
	unshare -n true
	memload busy 1 sleep 1
	rsload read $CGROUPS/ex/cpu.stat 2 50 reader
}

# $1: measure. Its commands run as they are, but for the ten seconds.
paste() {
	kdefer doctor --explain "$1" >"$OUT/$1.explain" 2>"$OUT/$1.explain.err"
	echo $? >"$OUT/$1.explain.status"
	sed -n '/^cd \/sys/,$p' "$OUT/$1.explain" |
		sed "s,^sleep 10\$,sleep 1; sh $CASES/guest.sh --call explain deferrals >/dev/null; sleep 1," \
			>"/tmp/paste-$1"
	sh "/tmp/paste-$1" >"$OUT/$1.pasted" 2>"$OUT/$1.pasted.err"
	cat "$TRACING/dynamic_events" "$TRACING/synthetic_events" >"$OUT/$1.left"
}

run() {
	mkdir -p $CGROUPS/ex
	for measure in $(kdefer doctor | sed -n 's/^\([a-z_]*\.[a-z_]*\): .*/\1/p'); do
		case $measure in
		*.pending) continue ;; # their commands show lengths, and no times
		*.holdup) continue ;;  # are checked as the measure that they explain, which is here too
		esac
		echo "$measure" >>"$OUT/measures"
		paste "$measure"
	done
}
