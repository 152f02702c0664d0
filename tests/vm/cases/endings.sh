#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Every way to end kdefer, at several moments: while it starts up, and (+MS: after its first output)
# while it measures. A line of the plan: what ends it, when, and kdefer's options.

some_load() {
	while sleep 0.05; do cbload 20 >/dev/null; done
}

end_by() {
	n=$((n + 1))
	signal=$1 when=$2
	shift 2
	ending "$signal" "$when" "$OUT/$n.json" kdefer hist "$@" >>"$OUT/endings" 2>"$OUT/$n.err"
	until_gone $n
}

# $1: file with the plan
end_all() {
	n=0
	cp "$1" "$OUT/plan"
	some_load &
	load=$!
	while read -r line; do
		# shellcheck disable=SC2086 # they are words
		end_by $line </dev/null
	done <"$1"
	kill $load
	watch again -- cbload 200 # tracing works still, ours and the kernel's own
}

run() {
	end_all "$CASES/endings.txt"
}
