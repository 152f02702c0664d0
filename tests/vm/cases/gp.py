# SPDX-License-Identifier: GPL-2.0-only
"""Grace periods, and those who wait for them, are those of the kernel's own tracing."""

import re
import statistics
from collections import Counter, defaultdict

import btf
import results
import oracle as trace

SAME_US = 1000      # two time stamps of one moment, one the oracle's and one kdefer's
STAYED_US = 200000  # as in gp.sh
OVER_US = 30000     # the kernel polls
SYNCS, WATCHES = 20, 10
CALL = re.compile(r".* caller=(?P<caller>[^+ ]+)\S* arg=(?P<arg>\S+)")
RETURNED = re.compile(r"\s*.+-(\d+)\s+\[.* (\d+)\.(\d{6}): sys_membarrier -> 0x0")
ARG = re.compile(r"arg=(\S+)")

# Which flavour a function is of; SRCU's and Tasks' need their argument too.
WAITS = {
    "synchronize_rcu": "rcu", "rcu_barrier": "rcu", "synchronize_rcu_expedited": "expedited",
    "synchronize_srcu": "srcu", "synchronize_srcu_expedited": "srcu", "srcu_barrier": "srcu",
    "synchronize_rcu_tasks": "tasks", "rcu_barrier_tasks": "tasks",
    "synchronize_rcu_tasks_rude": "tasks_rude",
    "synchronize_rcu_tasks_trace": "tasks_trace", "rcu_barrier_tasks_trace": "tasks_trace",
}
# One calls the other: one wait of one caller.
TRAMPOLINE = re.compile(r"bpf_trampoline|0x")  # kdefer's own, which calls the outer function's body
INSIDE = {"synchronize_rcu_expedited": "synchronize_rcu",
          "synchronize_srcu_expedited": "synchronize_srcu"}


class Oracle:
    """Grace periods as (begin, end) by flavour, calls as (begin, end or None) by flavour and caller."""

    def __init__(self, text, symbols):
        self.periods, self.starts = defaultdict(list), defaultdict(list)
        self.calls = defaultdict(list)
        self.marks = {}
        self._symbols = {"0x" + address.lstrip("0"): name for address, _, name in symbols}
        self._begun, self._last = {}, {}
        for line in text.splitlines():
            event, returned = trace.EVENT.match(line), RETURNED.match(line)
            if returned:
                self._returned(returned[1], int(returned[2]) * 1000000 + int(returned[3]))
            elif event:
                pid = re.match(r"\s*.+-(\d+)\s+\[", line)[1]
                self._take(event, pid, int(event["s"]) * 1000000 + int(event["us"]))

    def _take(self, event, pid, when):
        kind, _, what = event["name"].partition("_")
        if event["name"] == "tracing_mark_write":
            self.marks[event["rest"].strip()] = when
        elif kind == "begin" and what == "srcu":
            self.starts[self._domain(ARG.search(event["rest"])[1])].append(when)
        elif kind == "begin":
            self._begun[what, pid] = when, self._tasks(what, event["rest"])
        elif kind == "end" and (what, pid) in self._begun:
            begin, flavour = self._begun.pop((what, pid))
            self.periods[flavour].append((begin, when))
        elif kind == "wait":
            self._call(what, pid, when, CALL.match(event["rest"]))

    def _domain(self, address):
        return "tasks_trace" if "trace_srcu" in self._symbols.get(address, "") else "srcu"

    def _tasks(self, what, rest):
        name = self._symbols.get(ARG.search(rest)[1], "") if what == "tasks" else ""
        return name.removeprefix("rcu_") or what

    def _call(self, function, pid, when, found):
        outer = self._last.get(pid, ("",))[0]
        if outer and outer == INSIDE.get(function) and (found["caller"] == outer
                                                        or TRAMPOLINE.match(found["caller"])):
            return
        flavour = WAITS[function]
        if flavour == "srcu":
            flavour = self._domain(found["arg"])
        self.calls[flavour, found["caller"]].append([when, None])
        self._last[pid] = function, self.calls[flavour, found["caller"]][-1]

    def _returned(self, pid, when):
        if pid in self._last:
            self._last[pid][1][1] = when


def judge(case):
    document = case.measured("gp")
    symbols = [line.split()[:3] for line in case.text("symbols").splitlines()]
    seen = Oracle(case.text("gp.trace"), symbols)
    if "begin" not in seen.marks or "end" not in seen.marks:
        raise results.Missing("gp.trace has no marks")
    inner, outer = (seen.marks["begin"], seen.marks["end"]), document.window_us()
    totals = {(m["measure"], m["key"]["flavour"]): m for m in document.metrics
              if set(m["key"]) == {"flavour"}}
    all_on(case, document)
    for flavour in ("rcu", "expedited", "tasks", "tasks_rude"):
        periods(case, totals["duration", flavour], flavour, seen.periods[flavour], inner, outer)
    trace_periods(case, totals["duration", "tasks_trace"], seen, inner, outer)
    starts(case, totals["duration", "srcu"], "srcu", seen.starts["srcu"], inner, outer)
    held_up(case, totals["duration", "rcu"], seen.periods["rcu"])
    provoked(case, totals)
    settled(case, document, seen, outer[0], inner[0])
    callers(case, document, seen, inner, outer)
    longest_call(case, document, seen)
    accounts(case, document)


def all_on(case, document):
    off = [f"{row['measure']} {row['flavour']}: {row['state']} {row['reason']}"
           for row in document.data["plan"] if row["state"] != "on" or row["reason"]]
    case.say("every flavour of both measures is on", not off, "; ".join(off))


def span(periods, inner, outer):
    """How many for sure, and how many at most."""
    return trace.Range(sum(inner[0] <= b and e <= inner[1] for b, e in periods),
                       sum(outer[0] <= b and e <= outer[1] for b, e in periods))


def periods(case, total, flavour, theirs, inner, outer):
    case.within(f"as many {flavour} grace periods as the kernel's", total["count"],
                span(theirs, inner, outer))
    if total["count"]:
        longest(case, f"the longest {flavour} grace periods are the kernel's, within 1 ms",
                total["worst"], theirs)


def same_us(case):
    """For real time, tasks are preempted between the two time stamps: more under an emulator."""
    return SAME_US * 10 if "-rt" in case.guest else SAME_US


def longest(case, what, worst, theirs):
    """By the lower median, for the emulator may stop between the two time stamps of one moment; of
    one alone nobody can tell, so that it gets more room."""
    room = same_us(case) * (5 if len(worst) == 1 else 1)
    off, late = [], []
    for ours in worst if theirs else []:
        begin, end = min(theirs, key=lambda p, ns=ours["monotonic_ns"]: abs(p[1] - ns / 1000))
        off.append(abs(ours["value"] / 1000 - (end - begin)))
        late.append(abs(ours["monotonic_ns"] / 1000 - end))
    case.say(what, off and max(map(statistics.median_low, (off, late))) <= room,
             f"off by {off} us, their ends by {late} us")


def starts(case, total, flavour, theirs, inner, outer):
    """Their ends are no event of the trace. At most one of each of a few domains is under way."""
    expected = trace.Range(sum(inner[0] <= b <= inner[1] for b in theirs),
                           sum(outer[0] <= b <= outer[1] for b in theirs))
    expected.low = max(expected.low - 2, 0)
    case.within(f"as many {flavour} grace periods as the kernel starts", total["count"], expected)


def trace_periods(case, total, seen, inner, outer):
    if seen.starts["tasks_trace"] or not seen.periods["tasks_trace"]:
        starts(case, total, "tasks_trace", seen.starts["tasks_trace"], inner, outer)
    else:
        periods(case, total, "tasks_trace", seen.periods["tasks_trace"], inner, outer)


def held_up(case, total, theirs):
    """The one that was under way when the reader ended; it is among the ten longest."""
    started, ended = (int(ns) // 1000 for ns in re.findall(r"_ns (\d+)", case.text("reader")))
    same = [p for p in theirs if p[0] <= ended <= p[1]]
    if not same:
        case.say("the reader held up a grace period", False, f"none at {ended} us")
        return
    begin, end = same[0]
    worst = min(total["worst"], key=lambda w: abs(w["monotonic_ns"] / 1000 - end))
    took = worst["value"] / 1000
    case.say("a reader of 200 ms makes a grace period of that length",
             min(STAYED_US, ended - begin) * 0.95 <= took
             <= ended - started + OVER_US + same_us(case) - SAME_US
             and ended - begin >= STAYED_US / 2,
             f"{took:.0f} us, the kernel's {end - begin} us, the reader's {ended - started} us")
    off, late = took - (end - begin), worst["monotonic_ns"] / 1000 - end
    case.say("its length and end are the trace's, within 1 ms",
             max(abs(off), abs(late)) <= same_us(case), f"off by {off:.0f} and {late:.0f} us")


def settled(case, document, seen, start, begin):
    """Only attaching asks for Tasks grace periods before the load begins: recording starts behind them."""
    ours = {flavour: [(b - start, e - start) for b, e in seen.periods[flavour]
                      if b < begin and e > start]
            for flavour in ("tasks", "tasks_rude", "tasks_trace")}
    ours["tasks_trace"] += [b - start for b in seen.starts["tasks_trace"] if start < b < begin]
    case.say("no Tasks grace period that attaching asked for is within what is recorded",
             not any(ours.values()), f"us from the start: {ours}")
    asked = sum(e <= start for flavour in ours for _, e in seen.periods[flavour])
    case.say("attaching did ask for some before", asked or seen.starts["tasks_trace"], "none")
    waited = document.data["self"]
    case.say("grace periods were waited for, and how long that took is said",
             waited["grace_periods"] >= 2 and waited["settle_ns"], f"{waited}")
    case.say("and how long detaching took", waited["detach_ns"], f"{waited}")


def provoked(case, totals):
    """On a kernel for real time, expedited means normal."""
    expedited = 0 if case.text("rcu_normal").strip() == "1" else 1
    few = {f"{measure} {flavour}": totals[measure, flavour]["count"]
           for measure, flavour, least in (
               ("duration", "expedited", SYNCS * expedited), ("duration", "srcu", WATCHES),
               ("duration", "tasks", 1), ("wait", "tasks", 1), ("wait", "rcu", 2 * SYNCS), ("wait", "srcu", WATCHES),
               ("wait", "expedited", 1))
           if totals[measure, flavour]["count"] < least}
    case.say("the load provoked what it was to", not few, f"only {few}")


def named(case, calls):
    """By the functions that the kernel's tracing sees, those whose trampoline it sees among them."""
    names, found = btf.functions(case.kernel), defaultdict(list)
    for (flavour, caller), spans in calls.items():
        found[flavour, btf.behind_trampoline(caller, names)] += spans
    return found


def callers(case, document, seen, inner, outer):
    ours, wrong, calls = Counter(), [], named(case, seen.calls)
    for metric in document.metrics:
        if metric["measure"] == "wait" and "caller" in metric["key"]:
            ours[metric["key"]["flavour"], metric["key"]["caller"]] += metric["count"]
        if metric["measure"] == "wait" and "other" in metric["key"]:
            wrong.append(f"{metric['count']} under other")
    for key in set(ours) | set(calls):
        begins = [b for b, _ in calls.get(key, [])]
        sure = sum(inner[0] <= b <= inner[1] for b in begins)
        late = any(inner[1] - 300000 < b <= inner[1] for b in begins)  # may be waiting still
        most = sum(outer[0] <= b <= outer[1] for b in begins)
        if not sure - late <= ours[key] <= most:
            wrong.append(f"{key}: {ours[key]}, the kernel's {sure}..{most}")
    case.say("as many waits of each caller as the kernel's", not wrong, "; ".join(wrong))


def longest_call(case, document, seen):
    for metric in document.metrics:
        key = metric["key"]
        if metric["measure"] == "wait" and "membarrier" in key.get("caller", ""):
            calls = seen.calls.get((key["flavour"], key["caller"]), [])
            worst = [w for m in document.metrics for w in m.get("worst", [])
                     if m["measure"] == "wait" and w.get("caller") == key["caller"]]
            ended = [(b, e) for b, e in calls if e and b >= seen.marks["begin"]]
            if worst:
                longest(case, "the longest waits of membarrier() are the kernel's, within 1 ms",
                        worst, ended)
            off = metric["max"] / 1000 - max((e - b for b, e in ended), default=0)
            case.say("its longest wait is the kernel's", abs(off) <= 5 * same_us(case),
                     f"off by {off:.0f} us")
            case.equal("and as many as were asked for, and the reader's", metric["count"],
                       2 * SYNCS + 1)
            return
    case.say("waits of membarrier()", False, "none")


def accounts(case, document):
    lost, counts = document.data["lost"]["rcu_gp"], document.data["counts"]["rcu_gp"]
    case.equal("what began is done, under way, or declared lost", counts["begun"],
               counts["done"] + counts["open"] + lost["unmatched_begin"] + lost["table_full"]
               + lost["clock"])
    declared = {what: n for what, n in lost.items() if n and what != "pre_start"}
    case.say("nothing lost", not declared, f"{declared}")
    count = sum(m["count"] for m in document.metrics if set(m["key"]) == {"flavour"})
    case.equal("the metrics hold all that is done", count, counts["done"])
