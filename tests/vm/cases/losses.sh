#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Each kind of loss, provoked: what is seen and what is declared must add up to the truth.

FLOOD=8000 # rounds: 24,000 to 32,000 callbacks
PART=1500

# All at once on one list, since none can run before the last is queued.
flood() {
	reader cbload "$1" 0
	drain
}

load() {
	cbload $PART
	drain
}

# More than a FIFO holds, less than FIFO and spill table: nothing is lost.
spill() {
	watch spill -- flood $FLOOD
}

# Sets $least: what a refusal says that it needs.
least_memory() {
	kdefer hist -s call_rcu --filter flavour=rcu --json -d 0.1 --max-memory 64k >"$OUT/refusal.json" 2>"$OUT/refusal.err"
	echo $? >"$OUT/refusal.status"
	least=$(grep -oE 'need [0-9]+ bytes' "$OUT/refusal.err" | grep -oE '[0-9]+')
}

# Tables that are too small.
tiny() {
	least_memory
	watch tiny --max-memory "$least" -- flood $PART
}

sampled() {
	watch sampled --sample 1/8 -- load
}

# Readers one after another make grace periods so long that callbacks wait when recording begins.
settled() {
	kill -USR1 "$READER"
	sleep 1
	drain
}

pre_start() {
	oracle_on oracle_events
	# Attaching takes several of these grace periods for each hook, on realtime kernels more.
	reader --files 100 --each 600 sh "$CASES/guest.sh" --call "$CASE" \
		hist pre_start --attach-timeout 100s -- settled
	oracle_save pre_start
}

run() {
	spill
	tiny
	sampled
	pre_start
}
