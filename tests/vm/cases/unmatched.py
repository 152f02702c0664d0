# SPDX-License-Identifier: GPL-2.0-only
"""Callbacks of which one end was not shown to kdefer are counted as such, and confuse no others."""

import account
import results

ROUNDS = 150  # as in unmatched.sh, for each of four parts
FUNCTIONS = 3 # of a file, at least


def judge(case):
    refused = case.text("off").strip()
    if refused:
        raise results.Skip("ends and hand-overs cannot be kept from kdefer here: the kernel does not "
                           f"switch tracing off while programs are attached ({refused})")
    document, seen = account.window(case, "unmatched")
    blind = 2 * ROUNDS * FUNCTIONS
    case.say("hand-overs were kept from kdefer", document.counts["begun"] <= seen.begun().low - blind,
             f"{document.counts['begun']} of {seen.begun()}")
    for kind in ("unmatched_begin", "unmatched_end"):
        case.say(f"{kind} was provoked", document.lost[kind] > 0, str(document.lost))
    account.ends(case, document, seen)
    case.equal("measured + waiting + declared = hand-overs counted",
               document.accounted_hand_overs(), document.counts["begun"])
    account.nothing_lost(case, document, ("unmatched_begin", "unmatched_end"))
    invented(case, document, seen)


def invented(case, document, seen):
    """A wait that nobody had would mean that an end was paired with another's beginning. Nobody can
    tell the two apart where the same head came again unseen; but nowhere else."""
    true = [c.waited() for c in seen.trace.callbacks if c.done is not None]
    longest_ns = (max(true) + 1000) * 1000
    longer = sum(n for low, _, n in document.total()["buckets"] if low > longest_ns)
    came_again = heads_that_came_again(seen.trace)
    case.say("no wait that nobody had, but of heads that came again unseen", longer <= came_again,
             f"{longer} waits over {longest_ns} ns, {came_again} such heads")


def heads_that_came_again(trace):
    """Those that ended in the gap, were handed over in it once more, and ended again after it."""
    off, back, on = (trace.marks[mark] for mark in ("off", "back", "on"))
    ended = {c.head for c in trace.callbacks if c.done is not None and off <= c.done <= on}
    return len({c.head for c in trace.callbacks if off <= c.queued <= on and c.head in ended
                and not c.done_by(back)})
