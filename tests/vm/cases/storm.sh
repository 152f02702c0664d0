#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Endings at random moments. What they were is in the plan that it leaves.

# shellcheck source=tests/vm/cases/endings.sh
. "$CASES/endings.sh"

ENDINGS=60

some_plan() {
	awk -v n=$ENDINGS 'BEGIN {
		srand()
		split("INT TERM HUP KILL", signal)
		while (n--)
			if (rand() < 0.5)
				print signal[int(rand() * 4) + 1], int(rand() * 2500), "--json"
			else
				print signal[int(rand() * 4) + 1], "+" int(rand() * 300), "--ndjson -i 50ms"
	}'
}

run() {
	some_plan >/tmp/plan
	end_all /tmp/plan
}
