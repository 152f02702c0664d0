#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A thousand maps with an allocator on many CPUs: all of them are looked at, and that does not take long.

MAPS=1000

look() {
	kdefer lists -s memalloc --json --full -n 3 -i 1s >"$OUT/lists.json" 2>"$OUT/lists.err"
	echo $? >"$OUT/lists.status"
}

run() {
	nproc >"$OUT/cpus"
	memload many $MAPS sh "$CASES/guest.sh" --call memmany look >"$OUT/maps"
}
