#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Hand-overs and ends that kdefer is not shown: somebody switches function tracing off for a while.
# The oracle's events sit behind the functions' entries, where that does not reach them.

ROUNDS=150

# The middle part is not seen at all; what waits when it begins loses its end, and so on.
gap() {
	cbload $ROUNDS
	mark off
	sysctl -w kernel.ftrace_enabled=0 2>"$OUT/off"
	cbload $ROUNDS
	sleep 0.5
	cbload $ROUNDS
	mark back
	sysctl -w kernel.ftrace_enabled=1
	mark on
	cbload $ROUNDS
	drain
}

run() {
	oracle_on oracle_breakpoints
	hist unmatched -- gap
	oracle_save unmatched
}
