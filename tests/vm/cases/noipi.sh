#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A CPU that is isolated is interrupted by no look, if that is wanted: by the kernel's own count.

LOOKS=20

# How often CPU 1 was asked by another to call a function.
calls() {
	awk '$1 == "CAL:" { print $3 }' /proc/interrupts
}

# looks NAME OPTION...: what was counted between the third look and one of the last.
looks() {
	name=$1
	shift
	kdefer lists -s memalloc,call_rcu --per-cpu --ndjson -i 100ms -n $((LOOKS + 4)) "$@" \
		>"$OUT/$name.json" 2>"$OUT/$name.err" &
	kdefer=$!
	until [ "$(wc -l <"$OUT/$name.json")" -ge 3 ]; do sleep 0.02; done
	first=$(calls)
	until [ "$(wc -l <"$OUT/$name.json")" -ge $((LOOKS + 3)) ]; do sleep 0.02; done
	echo "$name $(($(calls) - first))" >>"$OUT/calls"
	wait $kdefer
	echo $? >"$OUT/$name.status"
}

run() {
	memload many 20 sh "$CASES/guest.sh" --call noipi both >"$OUT/maps"
}

both() {
	looks asked
	looks spared --no-ipi
	kdefer lists -s memalloc --no-ipi >"$OUT/text" 2>&1
}
