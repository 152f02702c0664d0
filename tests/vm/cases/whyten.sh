#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The waits of `why`, ten of each.

# shellcheck source=tests/vm/cases/why.sh
. "$CASES/why.sh"

TIMES=10
