#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# In the virtual machine of docs/screenshot: files are made and deleted on three CPUs, and twice CPU 1
# stays in an RCU reader: 2.5 s, and then as long as the recording goes on.
export PATH=/bin:/tests:"$PATH"

for cpu in 0 2 3; do
	cbload --seconds 40 $cpu >/dev/null 2>&1 &
done
kdefer record -o /out/story.kdefer -i 500ms -d 30 &
recording=$!
sleep 15
reader --stay 2500 true
sleep 4
reader --stay 10000 true &
wait $recording
