# SPDX-License-Identifier: GPL-2.0-only
"""Cgroups that have run wait for a flush, on the CPU that they ran on, and are gone after one."""

import json

import results

NEW = 40    # as in rlists.sh
OTHERS = 6  # the parents, and what else a guest has that runs meanwhile
HERE, ELSEWHERE = 0, 1


def cgroups(look, cpu):
    """On the lists of a CPU: in the tree, and what has still to be hung into it; of base, or of all."""
    return sum(entry["length"] for entry in look["pending"]
               if entry["source"] == "rstat" and entry["key"].get("cpu") == cpu
               and entry["key"].get("subsystem") in ("all", "base"))


def judge(case):
    looks = [json.loads(line) for line in case.text("looks.ndjson").splitlines()]
    if case.status("looks") or len(looks) < 10:
        raise results.Missing(f"{len(looks)} looks: {case.complaint('looks')}")
    off = [row for row in looks[0]["plan"] if row["measure"] == "pending" and row["state"] != "on"]
    case.say("the lists are read", not off, f"{off}")
    torn = [entry for look in looks for entry in look["pending"] if not entry["exact"]]
    case.say("nearly all looks are exact", len(torn) <= len(looks) / 10, f"{len(torn)}: {torn[:3]}")
    here = [cgroups(look, HERE) for look in looks]
    there = [cgroups(look, ELSEWHERE) for look in looks]
    case.say("those that ran are on the lists of that CPU", NEW <= max(here), f"{here}")
    case.say("and no others", max(here) <= NEW + OTHERS, f"{here}")
    at = here.index(max(here))
    case.say("a flush takes them off", min(here[at:]) <= OTHERS, f"{here[at:]}")
    case.say("they are on no other CPU's", max(there) <= OTHERS, f"{there}")
