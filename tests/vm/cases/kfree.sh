#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Objects given to kfree_rcu(), beside the kernel's own tracing of the functions that take and free
# them; among them some that a reader of RCU holds up.

JOINED=1500 # joined and left; two objects each, at least
HELD=300    # while the reader is on its way

# Where these are in a page and in a sheaf: nr_records and records, size and objects.
kfree_events() {
	if [ -e /tmp/has_fprobe ]; then
		# shellcheck disable=SC2016 # tracefs fills these in
		{
			echo 'f:cb/give kvfree_call_rcu object=$arg2:x64'
			echo 'f:cb/kvfree_rcu_bulk kvfree_rcu_bulk n=+32($arg2):u64 first=+40($arg2):x64'
			echo 'f:cb/rcu_free_sheaf rcu_free_sheaf n=+24($arg1):u32 first=+32($arg1):x64'
			echo 'f:cb/kvfree_rcu_list kvfree_rcu_list first=+8($arg1):x64'
		} | each_line dynamic_events
	else
		# 6.1: what kfree_rcu_work() calls to free a page, and one of its list.
		# shellcheck disable=SC2016
		{
			echo 'p:cb/give kvfree_call_rcu+5 head=%di:x64 object=%si:x64'
			echo 'p:cb/work kfree_rcu_work+5'
			echo 'p:cb/page kmem_cache_free_bulk+5 cache=%di:x64 n=%si:u64 first=+0(%dx):x64'
			echo 'p:cb/one kvfree+5 first=%di:x64 caller=+0($stack):symbol'
		} | each_line kprobe_events
	fi
}

load() {
	gpload multicast $JOINED
	reader --stay 200 gpload multicast $HELD >"$OUT/reader"
	sleep 1.5
}

run() {
	kdefer doctor -s call_rcu --json >"$OUT/doctor.json"
	oracle_on kfree_events
	hist kfree -s call_rcu --filter flavour=kfree -- load
	oracle_save kfree
}
