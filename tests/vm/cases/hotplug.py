# SPDX-License-Identifier: GPL-2.0-only
"""A CPU that goes offline and comes back takes no callback out of the count; nor does offloading."""

import account

ROUNDS = 400 * 8  # as in hotplug.sh


def judge(case):
    case.equal("the CPU is back", case.text("online").strip(), "1")
    document, seen = account.window(case, "hotplug")
    account.driven(seen, ROUNDS)
    account.keys(case, document, seen)
    account.hand_overs(case, document, seen)
    account.ends(case, document, seen)
    account.nothing_lost(case, document)
    lazy(case, document, seen)


def lazy(case, document, seen):
    """Where a CPU is offloaded, what call_rcu() took is lazy and what call_rcu_hurry() took is not."""
    if "rcu_nocbs" not in document.data["host"]["cmdline"]:
        return
    by_wish = document.by("lazy")
    for name, wish in (("call_rcu()", True), ("call_rcu_hurry()", False)):
        expected = seen.measured(wish).widened(seen.trace.blind())
        case.say(f"some came from {name}", expected.low > 0, "none")
        case.within(f"lazy={wish} = those of {name}", by_wish.get(wish, {}).get("count"), expected)
