# SPDX-License-Identifier: GPL-2.0-only
"""The equations that hold in every run: seen + declared = what the kernel did."""

import results
import oracle


def window(case, name):
    document = case.measured(name)
    return document, oracle.Window(case.trace(name), document)


def hand_overs(case, document, seen):
    """Those that kdefer saw or left out are those that the kernel made; and it knows of each what
    became of it."""
    begun = seen.begun().widened(seen.trace.blind())
    case.within("hand-overs counted + sampled out = the kernel's", document.begun(), begun)
    case.equal("measured + waiting + declared = hand-overs counted",
               document.accounted_hand_overs(), document.counts["begun"])


def ends(case, document, seen):
    case.within("measured + declared + barrier heads = callbacks that ran",
                document.accounted_ends(), seen.ended().widened(seen.trace.blind()))


def waiting(case, document, seen):
    """At both ends of the window: what waited when it began, and when it ended."""
    case.within("declared as from before the start = the kernel's", document.lost["pre_start"],
                seen.pre_start().widened(seen.trace.blind()))
    case.within("waiting at the end = the kernel's", document.counts["open"],
                seen.open().widened(seen.trace.blind()))


def barriers(case, document, seen):
    case.within("heads of rcu_barrier() counted as such", document.counts["barrier"],
                seen.barriers().widened(seen.trace.missed))


def nothing_lost(case, document, kinds=()):
    """`kinds`: those that this run is about."""
    declared = {what: n for what, n in document.declared().items() if what not in kinds}
    case.equal("no loss declared", declared, {})


def keys(case, document, seen, key="func"):
    """Counts by one key, all of them."""
    counted = {value: metric["count"] for value, metric in document.by(key).items()}
    wrong = []
    for value, expected in seen.by(key).items():
        count = counted.pop(value, 0)
        if count not in expected.widened(seen.trace.blind()):
            wrong.append(f"{value}: {count}, the kernel says {expected}")
    wrong += [f"{value}: {n}, the kernel says none" for value, n in counted.items() if n]
    case.say(f"counts by {key} = the kernel's", not wrong, "; ".join(sorted(wrong)[:8]))


def driven(seen, rounds):
    """Functions that the load drove: their counts follow from it. Without any, there was no load."""
    found = [func for func, n in seen.by("func").items() if n.high >= rounds]
    if len(found) < 3:  # i_callback, __d_free and inode_free_by_rcu at least, on all kernels
        raise results.Missing(f"the load drove {found} only")
    return found
