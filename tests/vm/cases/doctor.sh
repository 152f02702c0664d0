#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What doctor tries and what hist then measures, row by row.

# $1: name, the rest: how to run kdefer. What doctor expects, what it finds by trying, and hist.
three() {
	name=$1
	shift
	for way in '' --try; do
		"$@" doctor $way --json >"$OUT/$name-doctor$way.json" 2>"$OUT/$name-doctor$way.err"
		echo $? >"$OUT/$name-doctor$way.status"
	done
	"$@" hist --split -d 0.1 --json >"$OUT/$name.json" 2>"$OUT/$name.err"
	echo $? >"$OUT/$name.status"
	"$@" lists --json -n 1 >"$OUT/$name-lists.json" 2>"$OUT/$name-lists.err"
	echo $? >"$OUT/$name-lists.status"
	"$@" why --over 1s -d 0.1 --json >"$OUT/$name-why.json" 2>"$OUT/$name-why.err"
	echo $? >"$OUT/$name-why.status"
}

run() {
	three root kdefer
}
