#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The guest side of the suite: runs cases one after another, each from a file of its own with a
# function `run`. A case judges nothing, it leaves what was seen in /out/CASE for the host.
#
#   guest.sh CASE...                            all of them
#   guest.sh --call CASE FUNCTION [ARG...]      one function of a case

PATH=$PATH:/tests
CASES=/cases
OUT=/out

# shellcheck source=tests/vm/cases/lib.sh
. "$CASES/lib.sh"

# In a process of its own: one function of a case.
call() {
	CASE=$1 OUT=$OUT/$1
	# shellcheck source=/dev/null
	. "$CASES/$1.sh"
	shift
	"$@"
}

run_case() {
	mkdir -p "$OUT/$1"
	cd /tmp || return
	(call "$1" run) >"$OUT/$1/log" 2>&1
	echo $? >"$OUT/$1/ended"
}

if [ "$1" = --call ]; then
	shift
	call "$@"
	exit
fi
oracle_prepare
in_kernel >/tmp/in_kernel
for each; do
	before=$(uptime_cs)
	run_case "$each"
	echo "$each $(($(uptime_cs) - before))" >>/out/times
done
