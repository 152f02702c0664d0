# SPDX-License-Identifier: GPL-2.0-only
"""Two kdefers at once: the waits of the second are left out by the first, and counted; all others are
the kernel's."""

import re

import gp
import oracle as trace

KDEFER = re.compile(r"\s*kdefer(-hooks)?-\d+\s+\[")
MARK = re.compile(r".*tracing_mark_write")


def judge(case):
    document = case.measured("two")
    symbols = [line.split()[:3] for line in case.text("symbols").splitlines()]
    lines = case.text("two.trace").splitlines()
    own = gp.Oracle("\n".join(line for line in lines if KDEFER.match(line) or MARK.match(line)), symbols)
    others = gp.Oracle("\n".join(line for line in lines if not KDEFER.match(line)), symbols)
    inner, outer = (own.marks["begin"], own.marks["end"]), document.window_us()
    calls = [begin for each in own.calls.values() for begin, _ in each]
    sure = sum(inner[0] <= begin <= inner[1] for begin in calls)
    case.say("the second kdefer waited for what it attached or detached", sure, "it did not")
    case.within("its waits are left out, and counted", document.data["lost"]["rcu_gp"]["kdefer"],
                trace.Range(sure, sum(outer[0] <= begin <= outer[1] for begin in calls)))
    gp.callers(case, document, others, inner, outer)
    case.say("the callbacks that it handed over are counted as its own",
             document.counts["kdefer"] > 0, f"{document.counts}")
    said = [e["detail"] for e in document.data["events"] if e["what"] == "other_kdefer"]
    case.say("an event says so", any("attaching or detaching" in text for text in said), f"{said}")
    told = case.document("second").data["events"]
    case.say("the second says that one was measuring when it began",
             any(e["what"] == "other_kdefer" and "when this one began" in e["detail"] for e in told),
             f"{told}")
    case.say("the second measured too", case.document("second").metrics, "nothing")
