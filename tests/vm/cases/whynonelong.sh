#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The same as `whynone`, for longer.

# shellcheck source=tests/vm/cases/whynone.sh
. "$CASES/whynone.sh"

IDLE=60
