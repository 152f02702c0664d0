#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What doctor tries and what hist then measures, row by row; and the commands of --explain, pasted into
# a shell.

# $1: name, the rest: how to run kdefer. What doctor expects, what it finds by trying, and hist.
three() {
	name=$1
	shift
	for way in '' --try; do
		"$@" doctor $way --json >"$OUT/$name-doctor$way.json" 2>"$OUT/$name-doctor$way.err"
		echo $? >"$OUT/$name-doctor$way.status"
	done
	"$@" hist -d 0.1 --json >"$OUT/$name.json" 2>"$OUT/$name.err"
	echo $? >"$OUT/$name.status"
}

# $1: measure. Its commands run as they are, but for the ten seconds.
paste() {
	kdefer doctor --explain "$1" >"$OUT/$1.explain" 2>"$OUT/$1.explain.err"
	echo $? >"$OUT/$1.explain.status"
	sed -n '/^cd \/sys/,$p' "$OUT/$1.explain" |
		sed 's/^sleep 10$/sleep 1; unshare -n true; sleep 1/' >"/tmp/paste-$1"
	sh "/tmp/paste-$1" >"$OUT/$1.pasted" 2>"$OUT/$1.pasted.err"
	cat "$TRACING/dynamic_events" "$TRACING/synthetic_events" >"$OUT/$1.left"
}

run() {
	three root kdefer
	for measure in $(kdefer doctor | sed -n 's/^\([a-z_]*\.[a-z_]*\): .*/\1/p'); do
		case $measure in *.pending) continue ;; esac # their commands show lengths, and no times
		echo "$measure" >>"$OUT/measures"
		paste "$measure"
	done
}
