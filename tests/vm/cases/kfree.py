# SPDX-License-Identifier: GPL-2.0-only
"""Objects given to kfree_rcu(): as many are handed over and freed as the kernel's own tracing says, and
none that was given away under a reader is shown as freed before that reader ended."""

import re

import results
import oracle

HELD, STAYED_NS = 300, 200000000  # as in kfree.sh
BUCKET = 8 / 9  # a wait may be in the bucket that ends just above it
SAME_US = 5000  # two time stamps of one moment; of one wait alone, so with room for an emulator's stop
ENDS = ("kvfree_rcu_bulk", "rcu_free_sheaf", "kfree_rcu_work")
WORK = "kfree_rcu_work"  # before 6.4
OFFSETS = 4096  # 6.1 is told where in the object its head is
FIELD = re.compile(r"(\w+)=(\S+)")


class Seen:
    """When objects were given away; and each page or sheaf freed: when, by what, how many objects, and
    how long its first one had waited."""

    def __init__(self, case):
        self.marks, self.given, self.freed = {}, [], []
        waiting, works = {}, {}
        for line in case.text("kfree.trace").splitlines():
            event = oracle.EVENT.match(line)
            if not event:
                continue
            name, when = event["name"], int(event["s"]) * 1000000 + int(event["us"])
            fields = dict(FIELD.findall(event["rest"]))
            pid = re.match(r"\s*.+-(\d+)\s+\[", line)[1]
            if name == "tracing_mark_write":
                self.marks[event["rest"].strip()] = when
            elif name == "give":
                self.given.append(when)
                waiting[given_object(fields)] = when
            elif name == "work":
                works[pid] = when
            elif name in ("page", "one"):
                if pid in works and (int(fields.get("cache", "0"), 16) == 0
                                     and fields.get("caller", WORK).startswith(WORK)):
                    self._freed(waiting, works[pid], WORK, fields, 1)
            else:
                self._freed(waiting, when, name, fields, 0)
        if "begin" not in self.marks or "end" not in self.marks:
            raise results.Missing("kfree.trace has no marks")

    def _freed(self, waiting, when, name, fields, least):
        since = waiting.pop(int(fields["first"], 16), None)
        self.freed.append((when, name, int(fields.get("n", least)), since and (since, when - since)))


def given_object(fields):
    given = int(fields["object"], 16)
    return int(fields["head"], 16) - given if given < OFFSETS else given


def judge(case):
    row = case.document("doctor").rows()["call_rcu", "latency", "kfree"]
    case.say("it can be had", row["state"] == "expected", row["reason"])
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
    declared = document.lost["unknown_end"] + document.lost["pre_start"]
    known = sum(ours.get(func, 0) for func in ENDS)
    case.say("the load had pages or sheaves freed", sure > HELD, f"{sure} objects")
    case.say("objects of pages and sheaves measured or declared are the kernel's",
             known <= most and known + declared >= sure,
             f"{known} measured, {declared} declared, the kernel's {sure}..{most}")
    case.equal("and all are the kernel's functions",
               set(ours) - set(ENDS) - ({"kvfree_rcu_list"} if listed else set()), set())


def longest(case, document, seen, outer):
    """The first of a page or sheaf has waited longest of it. Was it given away before the window, then
    another may have been right when that began."""
    ours = {func: m["max"] for func, m in document.by("func").items()}
    for func in ENDS:
        ends = [(when, wait) for when, name, _, wait in seen.freed
                if name == func and when <= outer[1]]
        low = [wait[1] for _, wait in ends if wait and wait[0] >= outer[0]]
        high = [wait[1] if wait and wait[0] >= outer[0] else when - outer[0] for when, wait in ends]
        if low and func in ours:
            case.within(f"the longest wait for {func} is the kernel's", ours[func] / 1000,
                        oracle.Range(max(low) - SAME_US, max(high) + SAME_US))


def held(case, document):
    """Two objects a group. What waits still when kdefer ends was given away last."""
    least = 2 * HELD - document.counts["open"]
    long = sum(n for low, _, n in document.total()["buckets"] if low >= STAYED_NS * BUCKET)
    case.say("those given away under a reader waited for it", least > 0 and long >= least,
             f"{long} of at least {least} waited 200 ms")
