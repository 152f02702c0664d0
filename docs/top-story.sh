#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# In the virtual machine of docs/screenshot: once all is attached, files are made and deleted on three
# CPUs, and twice CPU 1 stays in an RCU reader: for 2 s, and then until the recording ends.
export PATH=/bin:/tests:"$PATH"

if [ "${1:-}" != load ]; then
	exec kdefer record -o /out/story.kdefer -i 500ms -- sh "$0" load
fi
cd /tmp || exit 1
for cpu in 0 2 3; do
	cbload --seconds 30 $cpu &
done
sleep 12
reader --stay 2000 true
sleep 5
exec reader --stay 8000 true
