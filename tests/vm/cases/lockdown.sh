#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Under lockdown, as the guest's command line has it.

# shellcheck source=tests/vm/cases/doctor.sh
. "$CASES/doctor.sh"

run() {
	cat /sys/kernel/security/lockdown >"$OUT/lockdown"
	three root kdefer
}
