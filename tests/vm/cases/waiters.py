# SPDX-License-Identifier: GPL-2.0-only
"""Readers that wait for the lock of cgroup statistics, of known number, are on the list of waiters."""

import json

import results

BEHIND = 4     # as in waiters.sh: one on CPU 0, the others on CPUs from 2 on
CPUS = {0, 1, 2, 3, 4}  # and on 1 the holder, which gives the lock up on its way and waits again
OWN = 1        # the kernel flushes of its own accord, every two seconds, and may wait too
SUBSYSTEMS = ("all", "base")  # that reading cpu.stat flushes


def waiters(look):
    return [entry for entry in look["pending"] if entry["list"] == "waiters"]


def notes(look):
    return " ".join(row["reason"] or "" for row in look["plan"] if row["measure"] == "pending")


def judge(case):
    idle = json.loads(case.text("idle.json"))
    looks = [json.loads(line) for line in case.text("looks.ndjson").splitlines()]
    if case.status("looks") or len(looks) < 10:
        raise results.Missing(f"{len(looks)} looks: {case.complaint('looks')}")
    if idle["host"]["preempt"] != "rt" and " hypervisor" in case.text("cpuinfo"):
        silent(case, [idle] + looks)
        return
    held = len(case.text("held").splitlines())
    case.say("the lock was held for long, with somebody behind", held > 0, case.text("held.err"))
    case.say("nobody waits when nothing is going on",
             waiters(idle) and all(not entry["length"] and entry["exact"] for entry in waiters(idle)),
             f"{waiters(idle)}")
    case.say("and nothing is left out", not notes(idle), notes(idle))
    counted(case, looks)
    if idle["host"]["preempt"] != "rt":
        placed(case, looks)


def silent(case, looks):
    """Their locks have no queue: nothing is said of waiters, and that is told."""
    case.say("waiters are absent, not zero", not any(waiters(look) for look in looks), "some are told of")
    case.say("and why", all("without waiters" in notes(look) for look in looks), notes(looks[0]))


def lengths(looks):
    """Of each look that saw exactly: how many wait, for the lock that was held and for others."""
    return [(sum(entry["length"] for entry in waiters(look) if entry["key"]["subsystem"] in SUBSYSTEMS),
             sum(entry["length"] for entry in waiters(look) if entry["key"]["subsystem"] not in SUBSYSTEMS))
            for look in looks if all(entry["exact"] for entry in waiters(look))]


def counted(case, looks):
    seen = lengths(looks)
    case.say("nearly all looks are exact", len(seen) >= 0.9 * len(looks), f"{len(seen)} of {len(looks)}")
    most = max(this for this, _ in seen)
    case.say("all that wait are seen", BEHIND <= most <= BEHIND + OWN, f"{most} at most of {BEHIND}: {seen}")
    case.say("for that lock, not for others", max(other for _, other in seen) <= OWN, f"{seen}")
    case.equal("in the end nobody waits", seen[-1], (0, 0))


def placed(case, looks):
    """All but one are in the queue, on their CPUs; that one spins beside it and shows no CPU."""
    wrong, full = [], 0
    for look in looks:
        cpus = [entry["key"]["cpu"] for entry in waiters(look)
                if entry["length"] and entry["exact"] and "cpu" in entry["key"]]
        full += len(CPUS.intersection(cpus)) >= BEHIND - 1
        if len(set(cpus)) != len(cpus) or len(set(cpus) - CPUS) > OWN:
            wrong.append(cpus)
    case.say("they are on their CPUs", full and not wrong, f"{full} looks, wrong: {wrong}")
