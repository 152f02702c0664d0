# SPDX-License-Identifier: GPL-2.0-only
"""Every grace period of more than 50 ms under the story's load is explained, and by its loop."""

import re

import results
import why

LIMIT_US = 50000  # as in whystory.sh
NEAR_US = 5000    # one that is so close to the limit may be told or not: its two ends are other functions
MAKER = re.compile(r"maker pid=(\d+)")
LOOP = re.compile(r"loop cpu=(\d+) pid=(\d+)")


def periods(case):
    found, begun = [], {}

    def take(event, when):
        if event["name"] == "begin_gp":
            begun["gp"] = when
        elif event["name"] == "end_gp" and "gp" in begun:
            found.append((begun.pop("gp"), when))

    results.between_marks(case, "gp", take)
    return found


def judge(case):
    data = case.document("why").data
    begin, end = data["clock"]["monotonic_ns"] // 1000, 0
    end = begin + data["duration_ns"] // 1000
    reports = [r for r in data.get("holdups") or []
               if r["source"] == "rcu_gp" and r["flavour"] == "rcu" and r.get("wait") != "caller"]
    kernels = [(b, e) for b, e in periods(case) if begin <= b and e <= end]
    long = [(b, e) for b, e in kernels if e - b > LIMIT_US + NEAR_US]
    case.equal("exit status of record", case.status("record"), 0)
    case.equal("exit status of why", case.status("why"), 0)
    case.say("the load makes grace periods long", len(long) >= 5, f"{len(long)} of {len(kernels)}")
    spans = [tuple(ns // 1000 for ns in why.span(r)) for r in reports]
    missing = [(b, e) for b, e in long if not any(abs(e - x) < NEAR_US for _, x in spans)]
    case.say(f"each of the {len(long)} longer than 50 ms is told of", not missing, f"{missing[:5]}")
    loops = dict(map(int, found) for found in LOOP.findall(case.text("loops")))
    # A loop keeps its CPU from reporting, or the grace period's kthread from running there. Whoever makes
    # the map and fills it stays in the kernel for long as well, wherever it runs.
    makers = set(map(int, MAKER.findall(case.text("loops"))))
    wrong = [why.brief(r) for r in reports if r["cause"] not in ("kernel_loop", "gp_kthread_starved")
             or loops.get(r["cpu"]) != r["pid"] and r["pid"] not in makers]
    by_loops = [r for r in reports if loops.get(r["cpu"]) == r["pid"]]
    case.say("each is explained by the loop on its CPU", len(by_loops) >= 5 and not wrong, "\n".join(wrong[:5]))
