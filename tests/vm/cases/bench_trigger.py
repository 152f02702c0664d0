# SPDX-License-Identifier: GPL-2.0-only
"""Loads of kdefer bench against what the kernel counts of them."""

import re

import account
import results

KINDS = ["kprobe", "kretprobe", "kprobe-multi", "kretprobe-multi", "fentry", "fexit", "tp",
         "raw_tp", "tp_btf"]
WITH_FPROBES = {"kprobe-multi", "kretprobe-multi"}
OTHERS = 200  # new credentials by the shells of the case: each command that they start takes some


def judge(case):
    trigger(case.part("trigger"))
    beside(case.part("beside the kernel"))
    creds(case.part("callbacks"))
    hold(case.part("hold"))
    rstat(case.part("rstat"))
    case.equal("nothing is left behind", case.text("left_behind").strip(), "")
    case.say("no process either", "kdefer" not in case.text("processes"), case.text("processes"))
    case.equal("nor a program, map or link", case.text("left").strip(), "")


def rows(case, name):
    if case.status(name):
        raise results.Missing(f"{name}: status {case.status(name)}; {case.complaint(name)}")
    return case.document(name).data["bench"]


def value(row, name):
    return row["values"][name]["value"]


def trigger(case):
    found = rows(case, "all")
    there = [r for r in found if r["case"] != "nothing" and value(r, "rate") is not None]
    absent = {r["case"]: r["values"]["rate"]["reason"] for r in found
              if r["case"] != "nothing" and value(r, "rate") is None}
    # A kernel that has no fprobes (6.1 of Debian) has all else.
    has_all = {r["case"] for r in there} == set(KINDS)
    lacks_fprobes = (set(absent) == WITH_FPROBES
                     and all("CONFIG_FPROBE" in reason for reason in absent.values()))
    case.say("every way that this kernel has", has_all or lacks_fprobes and "6.1" in case.guest,
             str(absent))
    case.equal("on one CPU and on two", sorted((r["case"], r["params"]["threads"]) for r in there),
               sorted((kind, n) for kind in KINDS if kind not in absent for n in (1, 2)))
    wrong = [r for r in there if value(r, "made") < 1000
             or value(r, "made") != value(r, "counted") + value(r, "missed") - value(r, "foreign")
             or value(r, "missed") > value(r, "made") / 1000
             or value(r, "foreign") > 20]  # who else renames himself meanwhile
    case.say("every event is counted, or missed", not wrong, str(wrong))
    costs(case, found, there)


def costs(case, found, there):
    """What a cost is made of. How large it is says the emulator, and who else is at work."""
    nothing = {(r["params"]["made_by"], r["params"]["threads"]): value(r, "cpu") for r in found
               if r["case"] == "nothing"}
    wrong = []
    for r in there:
        expected = value(r, "cpu") - nothing[r["params"]["made_by"], r["params"]["threads"]]
        if abs(value(r, "cost") - expected) > 0.01:
            wrong.append(f"{r}: expected {expected}")
    case.say("costs are those above the same events with nothing attached", not wrong, str(wrong))


def beside(case):
    made = sum(value(r, "made") for r in rows(case, "beside"))
    profile = re.search(r"^\s*call\s+(\d+)\s+(\d+)\s*$", case.text("beside.profile"), re.M)
    case.equal("events made = calls by the kernel's count", int(profile[1]) + int(profile[2]), made)


def creds(case):
    row, = rows(case, "creds_made")
    made = value(row, "made")
    document, seen = account.window(case, "creds")
    account.keys(case, document, seen)
    counted = document.by("func")["put_cred_rcu"]["count"]
    case.say("each new credential is one callback, of put_cred_rcu()",
             made >= 500 and made <= counted <= made + OTHERS, f"{made} made, {counted} counted")


def hold(case):
    row, = rows(case, "hold")
    least, most = value(row, "held_least"), value(row, "held_most")
    # Under emulation the clock may be read late, by what the emulator stands still.
    case.say("readers are as long as they were asked to be", 150e6 <= least <= 160e6 <= 450e6 >= most,
             f"{least} to {most} ns")
    case.within("so many one after another", value(row, "readers"), range(2, 6))


def rstat(case):
    alone, hogs = rows(case, "rstat")
    for row in alone, hogs:
        count = row["histograms"]["read"]["count"]
        case.say(f"{row['case']}: every read is in the histogram", value(row, "reads") == count > 10,
                 f"{value(row, 'reads')} reads, {count} in it")
        longest = row["values"]["flush_longest"]
        case.say(f"{row['case']}: flushes were measured", (longest["value"] or 0) > 0, str(longest))
        held = row["values"]["hold_longest"]
        case.say(f"{row['case']}: holds, or why there are none",
                 (held["value"] or 0) > 0 or held.get("reason"), str(held))
    killed, kills = int(case.text("kills")), value(hogs, "oom_kills")
    case.say("kills are those of the kernel's log", 0 < kills <= killed, f"{kills}, log {killed}")
