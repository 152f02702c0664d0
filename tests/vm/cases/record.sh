#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Captures: runs of a command, a replay, one that is followed, and whatever may become of the file.

HOOKED=call_rcu.latency
STATE=call_rcu.pending # hooks nothing: for what is about the file alone

# $1: name. Runs the rest and leaves its output, what it said, and its status.
did() {
	name=$1
	shift
	"$@" >"$OUT/$name.json" 2>"$OUT/$name.err" </dev/null
	echo $? >"$OUT/$name.status"
}

# $1: name of a label, $2: how many. Words that no compression makes short.
noise() {
	i=0
	while [ $i -lt "$2" ]; do
		echo "--label $1$i=$(head -c 1800 /dev/urandom | od -An -tx1 | tr -d ' \n')"
		i=$((i + 1))
	done
}

follow() {
	until [ -e ab.kd.part ]; do sleep 0.05; done
	did follow kdefer hist --input ab.kd --follow --ndjson --full
}

# Each run waits for its own callbacks: what it handed over is done in it.
runs() {
	follow &
	did ab kdefer record -s $HOOKED -o ab.kd --label case=record --repeat 2 --ab \
		'cbload 100 >&2; echo kdefer-metric rounds 100 count none; sleep 0.3' \
		'cbload 300 >&2; echo kdefer-metric rounds 300 count none; sleep 0.3; exit 3'
	wait
	did ab-intervals kdefer hist --input ab.kd --ndjson --full
	did ab-whole kdefer hist --input ab.kd --json --full
	did ab-report kdefer report ab.kd
	stat -c '%a' ab.kd >"$OUT/mode"
}

replay() {
	did live kdefer hist -s $HOOKED -d 600ms -i 200ms -o live.kd --json
	did replay kdefer hist --input live.kd --json
}

killed() {
	kdefer record -s $STATE -o k.kd -i 100ms -- sleep 100 2>"$OUT/k.err" &
	recorder=$!
	until [ "$(stat -c %s k.kd.part 2>/dev/null || echo 0)" -gt 2000 ]; do sleep 0.2; done
	sleep 2
	kill -9 $recorder
	wait $recorder
	killall sleep 2>/dev/null
	ls k.kd* >"$OUT/killed.files"
	did killed kdefer report k.kd.part --json
	did again kdefer record -s $STATE -o k.kd -d 100ms
	did forced kdefer record -s $STATE -o k.kd -d 100ms --force
}

# One page is left there.
full() {
	mkdir small
	mount -t tmpfs -o size=64k none small
	dd if=/dev/zero of=small/filler bs=4096 count=15 2>/dev/null
	# shellcheck disable=SC2046 # they are words
	did full kdefer record -s $STATE -o small/x.kd -i 10ms $(noise full 1) -- sleep 6
	ls small >"$OUT/full.files"
	did full-shown kdefer report small/x.kd.part --json
	rm small/*
	mount -o remount,ro small
	did readonly kdefer record -s $STATE -o small/x.kd -d 1
	ls small >"$OUT/readonly.files"
	umount small
}

limited() {
	# shellcheck disable=SC2046 # they are words
	did limited kdefer record -s $STATE -o l.kd -i 10ms -d 60 --max-size 64k $(noise l 28)
	stat -c %s l.kd >"$OUT/limited.size"
	did limited-shown kdefer report l.kd --json
}

statuses() {
	did status-127 kdefer record -s $STATE -o s2.kd --repeat 3 -- /nothing/there
	did status-137 kdefer record -s $STATE -o s3.kd -- sh -c 'echo out; echo err >&2; kill -9 $$'
}

run() {
	runs
	replay
	killed
	full
	limited
	statuses
}
