#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A known wait: the callbacks of one file, queued on CPU 0 while CPU 1 is in a reader, which ends
# 200 ms after they were queued.

load() {
	reader --files 1 --stay 200 >"$OUT/reader"
	sleep 0.7
}

run() {
	watch wait --by func,cpu -- load
}
