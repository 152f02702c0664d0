#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Kernel memory stays within what is allowed, on hosts with many possible CPUs too.

measure() {
	name=$1
	shift
	kdefer hist --json -d 0.2 "$@" >"$OUT/$name.json" 2>"$OUT/$name.err"
	echo $? >"$OUT/$name.status"
}

run() {
	measure default
	measure by_cpu --by func,cpu
	measure small --max-memory 8M
}
