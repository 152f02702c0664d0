# SPDX-License-Identifier: GPL-2.0-only
"""A ring that is too small costs rounds, and nothing of what was counted."""

import statistics

import account
from wait import SAME_US

ROUNDS = 38 * 5  # as in ring.sh


def judge(case):
    document, seen = account.window(case, "ring")
    case.say("ring_full was provoked", document.lost["ring_full"] > 0, str(document.lost))
    account.driven(seen, ROUNDS)
    account.hand_overs(case, document, seen)
    account.ends(case, document, seen)
    worst_of_all(case, document, seen)


def worst_of_all(case, document, seen):
    """The ten worst are the ten longest waits, although not all of them came in one piece."""
    ours = sorted(w["value"] / 1000 for w in document.total()["worst"])
    waits = sorted(c.waited() for c in seen.trace.callbacks if c.done is not None
                   and seen.outer[0] <= c.queued and c.done <= seen.outer[1])[-10:]
    off = statistics.median(abs(a - b) for a, b in zip(ours, waits))
    case.say("the ten worst are the ten longest, within 1 ms", len(ours) == 10 and off <= SAME_US,
             f"{ours}, the kernel's {waits}")
