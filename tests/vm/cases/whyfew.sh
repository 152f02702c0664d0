#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Of the waits of `why` those that need no word on the kernel's command line, and little time: a guest
# with this case alone takes 18 to 30 s, boot included.

# shellcheck source=tests/vm/cases/why.sh
. "$CASES/why.sh"

LIMITS=rcu_gp=50ms,call_rcu.run=50ms

in_every_kernel() {
	make long_reader --ms 100
	make long_reader --ms 300
	make gp_kthread_starved --ms 200
	make slow_callback --ms 300
}
