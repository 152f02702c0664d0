# SPDX-License-Identifier: GPL-2.0-only
"""Where memory that is freed late lies, and how long it waits there: what two commands print of it.

The load frees 16,384 objects in a run of its program, and takes as many in the next. They go through
the kernel's lists for Tasks Trace, which on kernels without lists of their own are those of RCU.
"""

import re

GATHERS = {"free_by_rcu", "waiting_for_gp", "free_by_rcu_ttrace", "waiting_for_gp_ttrace"}
OF_ITS_OWN = GATHERS - {"free_by_rcu", "waiting_for_gp"}
UNIT = 72  # bytes of an element with key and value of 4 and 8, and the pointer before it
GROWN = 1000  # entries; 96 stay at hand, and a run of the program frees 16 times as many as this

ROW = re.compile(r"^kdefer_bench \(\d+\) +(\w+) +(\d+) +[~>=]*([\d,]+) ", re.M)


def judge(case):
    for command in ("lists", "hist"):
        case.equal(f"kdefer {command}", case.status(command), 0)
    text = case.text("lists.txt")
    rows = [(name, int(size), int(n.replace(",", ""))) for name, size, n in ROW.findall(text)]
    peak = max(rows, key=lambda row: row[2], default=("none", 0, 0))
    case.say(f"lists: the list that grows is one that waits for Tasks Trace: {peak[0]}",
             peak[0] in GATHERS and peak[2] > GROWN, str(rows))
    if any(name in OF_ITS_OWN for name, _, _ in rows):
        case.say("lists: which here has lists of its own", peak[0] in OF_ITS_OWN, str(peak))
    case.equal("lists: of objects of one size", {size for _, size, _ in rows}, {UNIT})
    first = re.findall(r"^KEY .*\n(.*)$", text, re.M)
    case.say("lists: where it is the largest it stands first",
             any(line.startswith("kdefer_bench (") and peak[0] in line for line in first), str(first))
    case.say("lists: says for what it waits",
             re.search(r"[1-9][\d.]* [KM]iB\s+for\s+RCU\s+Tasks\s+Trace", text), text[:600])
    hist = case.text("hist.txt")
    ends = re.search(r"^tasks_trace +([\d,]+) ", hist, re.M)
    waits = re.search(r"waiting: +([\d,]+) begun, not yet done", hist)
    case.say("hist: how long batches wait for Tasks Trace, or that they still do", ends or waits, hist[:600])
    if ends:
        case.say("hist: for which map", re.search(r"^\d+ \(kdefer_bench\) ", hist, re.M), hist[-800:])
