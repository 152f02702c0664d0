# SPDX-License-Identifier: GPL-2.0-only
"""Losses that were provoked: they are declared, and nothing is missing beyond them."""

import math
import re
from collections import Counter

import account

FIFO = 4096    # entries of a CPU's FIFO where memory allows: more than that must spill
ROUNDS = 1500  # as in losses.sh
SHARE = 1 / 8
SIGMAS = 6     # two in a thousand million runs are further off by chance


def judge(case):
    for part in (spill, tiny, sampled, pre_start, others):
        part(case.part(part.__name__))


def spill(case):
    document, seen = account.window(case, "spill")
    most = seen.trace.most_waiting(0)
    case.say("more waited at once than a FIFO holds", most > FIFO, f"{most} callbacks of CPU 0")
    account.keys(case, document, seen)
    account.hand_overs(case, document, seen)
    account.ends(case, document, seen)
    account.nothing_lost(case, document)


def tiny(case):
    refusal(case)
    document, seen = account.window(case, "tiny")
    allowed = needed(case)
    case.say("the size that the refusal names is enough, and kept",
             0 < document.kernel_bytes() <= allowed,
             f"{document.kernel_bytes()} bytes, {allowed} allowed")
    case.say("table_full was provoked", document.lost["table_full"] > 0, str(document.lost))
    account.hand_overs(case, document, seen)
    account.ends(case, document, seen)
    # What had no place has no beginning either, so it ends unmatched; that is all.
    account.nothing_lost(case, document, ("table_full", "unmatched_end"))
    case.equal("hand-overs without a place = ends without a beginning",
               document.lost["unmatched_end"], document.lost["table_full"])


def refusal(case):
    case.equal("too little memory: nothing can be measured", case.status("refusal"), 5)
    case.say("the refusal names the size that it needs", needed(case), case.complaint("refusal"))


def needed(case):
    found = re.search(r"need (\d+) bytes", case.text("refusal.err"))
    return int(found[1]) if found else 0


def sampled(case):
    document, seen = account.window(case, "sampled")
    account.driven(seen, ROUNDS)
    case.say("sampled_out was provoked", document.lost["sampled_out"] > 0, str(document.lost))
    account.hand_overs(case, document, seen)
    account.nothing_lost(case, document)
    case.equal("maxima are marked as not exact", document.total()["exact"], False)
    followed, all_of_them = document.counts["begun"], document.begun()
    spread = SIGMAS * share_spread(seen)
    case.say("about one in eight was followed", abs(followed / all_of_them - SHARE) <= spread,
             f"{followed} of {all_of_them}, tolerance {spread:.3f}")


def share_spread(seen):
    """Heads are chosen, not callbacks: a head that comes again is chosen again. So the spread is
    that of as many choices as there are heads, each with its weight."""
    weights = Counter(c.head for c in seen.trace.callbacks
                      if seen.outer[0] <= c.queued <= seen.outer[1])
    squares = sum(n * n for n in weights.values())
    return math.sqrt(SHARE * (1 - SHARE) * squares) / sum(weights.values())


def pre_start(case):
    document, seen = account.window(case, "pre_start")
    waiting = seen.pre_start()
    # A hundred files late in each reader, three or four callbacks of each, which wait for the end of the next.
    case.say("callbacks waited when recording began", waiting.low >= 100, f"{waiting} of them")
    account.waiting(case, document, seen)
    account.ends(case, document, seen)
    account.nothing_lost(case, document)


def others(case):
    """Kinds that nobody can provoke: it is said why, and what of it can be checked is."""
    trace = case.trace("spill")
    case.equal("RCU's dequeues on top of which another could come", trace.interruptible[True], 0)
    case.skip("recursion, clock, lazy_unknown, extreme", """cannot be provoked: only an RCU softirq on
        top of one of the few dequeues of SRCU or Tasks would be missed; clocks do not go backwards;
        nothing comes between wish and hand-over; an extreme takes 16 lost races in a row""")
