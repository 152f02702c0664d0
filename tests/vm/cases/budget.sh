#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A flood of callbacks that would take our programs more than --budget allows: fewer are followed, and
# all again afterwards. What the kernel counts of it meanwhile is the hits of two probes, without a trace.

BUDGET=0.5     # per cent: the flood takes 3 to 15 here, what is left at the thinnest share 1 to 5
FLOOD_S=2      # four looks
QUIET_S=5      # after six looks that find it calm all are followed again: 3 s and one look
TAIL=30        # rounds then, each of which has to be counted: a third of the budget in half a second

counters_on() {
	echo 0 >"$TRACING/tracing_on"
	for function in call_rcu call_rcu_hurry; do
		echo "p:cb/$function $function" >>"$TRACING/kprobe_events" # where there is such
	done 2>/dev/null
	echo 1 >"$TRACING/events/cb/enable"
}

counters_off() {
	oracle_off
	echo 1 >"$TRACING/tracing_on"
}

load() {
	cbload 200 0 >/dev/null # a run of our programs is timed
	sleep 0.5
	cat "$TRACING/kprobe_profile" >"$OUT/before"
	cbload --seconds $FLOOD_S 0 >"$OUT/flood"
	cat "$TRACING/kprobe_profile" >"$OUT/after"
	sleep $QUIET_S
	cbload $TAIL 0 >"$OUT/tail"
	sleep 1
}

# Not what sampling is chosen for: it says that its budget is passed, and follows all.
recorded() {
	kdefer record -o /tmp/budget.kdf -s call_rcu --budget 0.01 -- cbload --seconds 1 0 2>"$OUT/record.err" >"$OUT/recorded"
	echo $? >"$OUT/record.status"
	kdefer report /tmp/budget.kdf --json >"$OUT/record.json"
}

run() {
	counters_on
	kdefer hist -s call_rcu --filter flavour=rcu --full --ndjson -i 1 --budget $BUDGET -- \
		sh "$CASES/guest.sh" --call "$CASE" load >"$OUT/budget.ndjson" 2>"$OUT/budget.err"
	echo $? >"$OUT/budget.status"
	counters_off
	recorded
}
