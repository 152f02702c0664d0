#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A ring too small for what a tick has to say. For guests that count instructions: in others a tick
# may be stopped by its time limit of 1 ms before it has filled the least ring there is.

# shellcheck source=tests/vm/cases/losses.sh
. "$CASES/losses.sh"

BATCHES=40
ROUNDS=20

# Many programs and some time in between: many functions, each with waits of many lengths.
batches() {
	i=0
	while [ $((i += 1)) -le $BATCHES ]; do
		cbload $ROUNDS
		sleep 0.02
	done
	drain
}

run() {
	least_memory
	# No tick but the last, so that it has all to say.
	watch ring --max-memory "$least" -i 1m -- batches
}
