#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# In the virtual machine of docs/screenshot: once all is attached, two tasks on CPUs 1 and 2 call into the
# kernel again and again, where they update a BPF map whose elements are allocated one by one, and files
# are made and deleted on the two other CPUs.
export PATH=/bin:/tests:"$PATH"

if [ "${1:-}" != load ]; then
	exec kdefer record -o /out/story.kdefer -i 20ms -s call_rcu,rcu_gp,memalloc -- sh "$0" load
fi
cd /tmp || exit 1
for cpu in 0 3; do
	cbload --seconds 12 $cpu &
done
exec kdefer bench htab-mem --use-case overwrite --full --producers 2 --affinity 1,2 --batch 0 --look 0 \
	--warm-up 1s -d 8s
