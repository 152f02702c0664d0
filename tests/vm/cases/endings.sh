#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Every way to end kdefer, at several moments: while it starts up (the short times) and later.

# The programs that are left, and for how long: the kernel takes them away behind our back.
until_gone() {
	before=$(uptime_cs)
	while progs | grep -q ' kd_' && [ $(($(uptime_cs) - before)) -lt 1500 ]; do sleep 0.1; done
	echo "$1 $(($(uptime_cs) - before))0 $(progs | grep -c ' kd_')" >>"$OUT/gone"
}

end_by() {
	n=$((n + 1))
	ending "$1" "$2" "$OUT/$n.json" kdefer hist --json >>"$OUT/endings" 2>"$OUT/$n.err"
	until_gone $n
}

run() {
	n=0
	progs >"$OUT/before"
	cbload --seconds 60 >/dev/null & # there must be something to show
	load=$!
	while read -r signal ms; do end_by "$signal" "$ms"; done <"$CASES/endings.txt"
	kill $load
	progs >"$OUT/after"
	# Tracing works still: ours and the kernel's own.
	watch again -- cbload 200
}
