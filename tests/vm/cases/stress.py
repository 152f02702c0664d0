# SPDX-License-Identifier: GPL-2.0-only
"""Under any load, what is seen and what is declared lost add up to what the kernel did."""

import json

import account


def judge(case):
    case.equal("all CPUs are back", case.text("online").strip(), "0-7")
    case.equal("the kernel complains of nothing", case.text("faults").strip(), "")
    case.equal("nothing stays attached", case.text("left").strip(), "")
    full(case.part("full"))
    thin(case.part("thin"))


def window(case, name):
    document, seen = account.window(case, name)
    case.equal("the load ended well", case.text(f"{name}.bench.status").strip(), "0")
    made = json.loads(case.text(f"{name}.bench"))["bench"][0]["values"]["made"]["value"]
    handed = sum(c.func == "put_cred_rcu" for c in seen.trace.callbacks)
    case.say("every credential was a callback", 1000 < made <= handed, f"{made} made, {handed} seen")
    account.hand_overs(case, document, seen)
    return document, seen


def full(case):
    document, seen = window(case, "full")
    account.ends(case, document, seen)
    account.waiting(case, document, seen)
    case.say("table_full was provoked", document.lost["table_full"] > 0, str(document.lost))
    case.say("ring_full was provoked", document.lost["ring_full"] > 0, str(document.lost))
    # What found no place ends unmatched; and nothing else is lost.
    account.nothing_lost(case, document, ("table_full", "unmatched_end", "extreme"))
    without_place(case, document)


def without_place(case, document):
    """Each that had no place has an end without a beginning, but for those that have not ended."""
    ends, places = document.lost["unmatched_end"], document.lost["table_full"]
    case.say("ends without a beginning are those without a place", ends <= places,
             f"{ends} ends, {places} without a place")


def thin(case):
    document, _ = window(case, "thin")
    case.say("sampled_out was provoked", document.lost["sampled_out"] > 0, str(document.lost))
    account.nothing_lost(case, document, ("table_full", "unmatched_end", "extreme"))
