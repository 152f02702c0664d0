# SPDX-License-Identifier: GPL-2.0-only
"""Objects given to kfree_rcu(): as many are handed over and freed as the kernel's own tracing says, and
none that was given away under a reader is shown as freed before that reader ended."""

import re

import results
import oracle

HELD, STAYED_NS = 300, 200000000  # as in kfree.sh
BUCKET = 8 / 9  # a wait may be in the bucket that ends just above it
SAME_US = 5000  # two time stamps of one moment; of one wait alone, so with room for an emulator's stop
ENDS = ("kvfree_rcu_bulk", "rcu_free_sheaf")
FIELD = re.compile(r"(\w+)=(\S+)")


class Seen:
    """When objects were given away; and each page or sheaf freed: when, by what, how many objects, and
    how long its first one had waited."""

    def __init__(self, case):
        self.marks, self.given, self.freed = {}, [], []
        waiting = {}
        for line in case.text("kfree.trace").splitlines():
            event = oracle.EVENT.match(line)
            if not event:
                continue
            name, when = event["name"], int(event["s"]) * 1000000 + int(event["us"])
            fields = dict(FIELD.findall(event["rest"]))
            if name == "tracing_mark_write":
                self.marks[event["rest"].strip()] = when
            elif name == "give":
                self.given.append(when)
                waiting[fields["object"]] = when
            else:
                since = waiting.pop(fields["first"], None)
                self.freed.append((when, name, int(fields.get("n", 0)),
                                   since and (since, when - since)))
        if "begin" not in self.marks or "end" not in self.marks:
            raise results.Missing("kfree.trace has no marks")


def judge(case):
    row = case.document("doctor").rows()["call_rcu", "latency", "kfree"]
    if row["state"] == "off":
        case.say("it is off because the function that frees a page is inlined",
                 "no function kvfree_rcu_bulk" in row["reason"], row["reason"])
        return
    document, seen = case.measured("kfree"), Seen(case)
    inner, outer = (seen.marks["begin"], seen.marks["end"]), document.window_us()
    lost, counts = document.lost, document.counts
    case.within("objects given away are the kernel's", counts["begun"],
                oracle.Range(sum(inner[0] <= t <= inner[1] for t in seen.given),
                             sum(outer[0] <= t <= outer[1] for t in seen.given)))
    case.equal("each is measured, waiting, or declared", counts["begun"],
               counts["done"] + counts["open"] + lost["unmatched_begin"] + lost["table_full"]
               + lost["clock"])
    case.equal("the total holds all that is done", document.total()["count"], counts["done"])
    freed(case, document, seen, inner, outer)
    longest(case, document, seen, outer)
    case.say("nothing lost but what was given away before the start",
             set(document.declared()) <= {"unknown_end"}, f"{document.declared()}")
    held(case, document)


def freed(case, document, seen, inner, outer):
    """What was not given away in the window is declared; of the list, the trace does not say how many."""
    ours = {func: m["count"] for func, m in document.by("func").items()}
    listed = sum(name == "kvfree_rcu_list" for _, name, _, _ in seen.freed)
    sure = sum(n for when, name, n, _ in seen.freed if name in ENDS and inner[0] <= when <= inner[1])
    most = sum(n for when, name, n, _ in seen.freed if name in ENDS and outer[0] <= when <= outer[1])
    known = sum(ours.get(func, 0) for func in ENDS)
    case.say("the load had pages or sheaves freed", sure > HELD, f"{sure} objects")
    case.say("objects of pages and sheaves measured or declared are the kernel's",
             known <= most and known + document.lost["unknown_end"] >= sure,
             f"{known} measured, {document.lost['unknown_end']} declared, the kernel's {sure}..{most}")
    case.equal("and all are the kernel's functions",
               set(ours) - set(ENDS) - ({"kvfree_rcu_list"} if listed else set()), set())


def longest(case, document, seen, outer):
    """The first of a page or sheaf has waited longest of it."""
    ours = {func: m["max"] for func, m in document.by("func").items()}
    for func in ENDS:
        waits = [wait[1] for when, name, _, wait in seen.freed
                 if name == func and wait and outer[0] <= wait[0] and when <= outer[1]]
        if waits and func in ours:
            off = ours[func] / 1000 - max(waits)
            case.say(f"the longest wait for {func} is the kernel's", abs(off) <= SAME_US,
                     f"off by {off:.0f} us from {max(waits)} us")


def held(case, document):
    """Two objects a group. What waits still when kdefer ends was given away last."""
    least = 2 * HELD - document.counts["open"]
    long = sum(n for low, _, n in document.total()["buckets"] if low >= STAYED_NS * BUCKET)
    case.say("those given away under a reader waited for it", least > 0 and long >= least,
             f"{long} of at least {least} waited 200 ms")
