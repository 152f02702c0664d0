#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The first story of the README: freed BPF memory that waits too long, and the two commands that tell it.

LOAD="--use-case batch_add_batch_del --full --batch 0 --affinity 1"

run() {
	# shellcheck disable=SC2086 # they are words
	kdefer bench htab-mem $LOAD --warm-up 0 -d 60s --look 0 >"$OUT/bench" 2>&1 &
	load=$!
	since=$(uptime_cs)
	until pidof kdefer-load >/dev/null || [ $(($(uptime_cs) - since)) -gt 1000 ]; do sleep 0.05; done
	kdefer lists -s memalloc -i 150ms -n 6 >"$OUT/lists.txt" 2>"$OUT/lists.err"
	echo $? >"$OUT/lists.status"
	# The load ends with the window: detaching would take as long as it goes on.
	kdefer hist -s memalloc.latency --attach-timeout 2s -- sh -c "sleep 1.5; kill -INT $load" \
		>"$OUT/hist.txt" 2>"$OUT/hist.err"
	echo $? >"$OUT/hist.status"
	wait $load
	true # its status is that of a signal
}
