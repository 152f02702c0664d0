#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Two kdefers: what the second waits for to attach and detach is no part of what the first measures.

# shellcheck source=tests/vm/cases/gp.sh
. "$CASES/gp.sh" # the events

load() {
	gpload sync 5
	kdefer hist -s rcu_gp.duration --filter flavour=rcu -d 300ms --json >"$OUT/second.json" 2>"$OUT/second.err"
	gpload sync 5
	sleep 0.3
}

run() {
	grep -wE 'rcu_tasks|rcu_tasks_trace|rcu_tasks_trace_srcu_struct' /proc/kallsyms >"$OUT/symbols"
	oracle_on gp_events
	hist two -s call_rcu,rcu_gp.wait -- load
	oracle_save two
}
