# SPDX-License-Identifier: GPL-2.0-only
"""A ring that is too small costs rounds, and nothing of what was counted."""

import account

ROUNDS = 40 * 20  # as in ring.sh


def judge(case):
    document, seen = account.window(case, "ring")
    case.say("ring_full was provoked", document.lost["ring_full"] > 0, str(document.lost))
    account.driven(seen, ROUNDS)
    account.hand_overs(case, document, seen)
    account.ends(case, document, seen)
