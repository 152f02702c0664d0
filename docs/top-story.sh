#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# In the virtual machine of docs/screenshot, once all is attached: on two CPUs of three a task that adds
# and deletes its whole share of a map whose elements are allocated one by one, in one call after the other.
export PATH=/bin:/tests:"$PATH"

exec kdefer record -o /out/story.kdefer -s call_rcu,rcu_gp,memalloc -i 250ms --over rcu_gp=100ms -- \
	kdefer bench htab-mem --use-case batch_add_batch_del --full --max-entries 65536 --affinity 0,1 \
	--producers 2 --batch 0 --look 0 --warm-up 1s -d 10s
