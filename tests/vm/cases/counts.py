# SPDX-License-Identifier: GPL-2.0-only
"""A known load: counts and latencies of each function are those of the kernel's own tracing."""

import account
import latency

ROUNDS = 1500  # as in counts.sh
MANY = 200     # of a function, for its histogram to mean something


def judge(case):
    document, seen = account.window(case, "counts")
    load = account.driven(seen, ROUNDS)
    account.keys(case, document, seen)
    account.hand_overs(case, document, seen)
    account.ends(case, document, seen)
    account.waiting(case, document, seen)
    account.nothing_lost(case, document)
    barrier_heads(case, document, seen)
    used_again(case, seen, load)
    latencies(case, document, seen)
    case.equal("afterwards nothing of ours is left in the kernel", case.text("gone").split()[2:], ["0"])
    case.say("kernel memory is shown, and within the limit",
             0 < document.kernel_bytes() <= 64 << 20, f"{document.kernel_bytes()} bytes")


def barrier_heads(case, document, seen):
    if not seen.barriers().low:
        case.say("rcu_barrier() was provoked", False, "the kernel saw none of its callbacks")
    account.barriers(case, document, seen)


def used_again(case, seen, load):
    """Such heads have counts like all others (above); here only that there were some."""
    heads = [c.head for c in seen.trace.callbacks if c.func in load]
    case.say("heads were used again", len(set(heads)) < len(heads),
             f"{len(heads)} callbacks, all with heads of their own")
    again = [c for c in seen.trace.callbacks if c.again]
    case.say("heads were queued again from inside their callback", again,
             "not provoked: no hand-over between a head's end and the next on that CPU")


def latencies(case, document, seen):
    ours, far, wrong, looked_at = document.by("func"), [], [], 0
    for func, expected in seen.by("func").items():
        if expected.low < MANY or func not in ours:
            continue
        looked_at += 1
        waits = seen.waits(func)
        stray = latency.stray_mass(latency.of_buckets(ours[func]["buckets"]),
                                   latency.of_waits(waits))
        if stray > latency.STRAY:
            far.append(f"{func}: {stray:.1%} of {len(waits)}")
        wrong += [f"{func}: {text}" for text in latency.wrong_quantiles(ours[func], waits)]
    case.say("latencies are in the kernel's powers of two or next to them",
             looked_at and not far, "; ".join(far) or "no function with enough callbacks")
    case.say("quantiles are those of the kernel's waits", looked_at and not wrong,
             "; ".join(wrong[:6]) or "no function with enough callbacks")
