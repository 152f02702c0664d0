# SPDX-License-Identifier: GPL-2.0-only
"""SRCU, Tasks and Tasks Trace: their callbacks are those of the kernel's own tracing, and a reader of
Tasks Trace that lasts a known time shows as that long, in both of the kernel's designs."""

import re
import statistics
from collections import Counter, defaultdict

import results
import oracle

HELD_US = 1000000  # as in flavours.sh
FREED, WATCHES = 3, 10
# Up to 6.19 a callback of Tasks Trace may be left waiting for a quarter of a second before its grace
# period is begun; the rest is room for an emulator that stops.
LAZY_US, ROOM_US = 250000, 100000
SAME_US = 1000     # two time stamps of one moment, one the oracle's and one kdefer's
PUT = "__bpf_prog_put_rcu"
FLAVOURS = ("srcu", "tasks", "tasks_rude", "tasks_trace")
FIELD = re.compile(r"(\w+)=(\S+)")


class Callback:
    def __init__(self, flavour, func, queued):
        self.flavour, self.func, self.queued, self.done = flavour, func, queued, None


class Seen:
    """What the trace says: callbacks of the flavours paired by head, and grace periods of Tasks Trace."""

    def __init__(self, case):
        self.callbacks, self.marks = [], {}
        self.trace_begins, self.trace_periods = [], []
        self._symbols = {line.split()[0].lstrip("0"): line.split()[2]
                         for line in case.text("symbols").splitlines()}
        self._waiting, self._begun = {}, None
        self.blind = results.between_marks(case, "flavours", self._take)

    def _take(self, event, when):
        name = event["name"]
        if name == "tracing_mark_write":
            self.marks[event["rest"].strip()] = when
            return
        fields = dict(FIELD.findall(event["rest"]))
        if name == "deq":
            callback = self._waiting.pop(fields["head"], None)
            if callback:
                callback.done = when
        elif name in ("srcu", "tasks"):
            self._queued(name, fields, when)
        elif name == "end_tasks" and self._begun:
            self.trace_periods.append((self._begun, when))
            self._begun = None
        elif name.startswith("begin_") and "trace" in self._symbol(fields["of"]):
            self.trace_begins.append(when)
            self._begun = when if name == "begin_tasks" else None

    def _symbol(self, address):
        return self._symbols.get(address.removeprefix("0x").lstrip("0"), "")

    def _queued(self, name, fields, when):
        if not int(fields["head"], 16):
            return  # only polling
        symbol = self._symbol(fields["of"])
        flavour = ("tasks_trace" if "trace" in symbol else
                   symbol.removeprefix("rcu_") if name == "tasks" else "srcu")
        callback = Callback(flavour, oracle.function(fields["func"]), when)
        self.callbacks.append(callback)
        self._waiting[fields["head"]] = callback


def judge(case):
    document = case.measured("flavours")
    seen = Seen(case)
    inner, outer = (seen.marks["begin"], seen.marks["end"]), document.window_us()
    rows_on(case, document)
    counts(case, document, seen, inner, outer)
    worst(case, document, seen)
    reader = dict(zip(("started", "freed", "ended"),
                      (int(ns) // 1000 for ns in re.findall(r"_ns (\d+)", case.text("reader")))))
    held_callbacks(case, document, seen, reader)
    held_period(case, document, seen, reader)


def rows_on(case, document):
    off = [f"{row['measure']} {row['flavour']}: {row['reason']}" for row in document.data["plan"]
           if row["flavour"] in FLAVOURS and row["state"] != "on"]
    case.say("every flavour is on", not off, "; ".join(off))


def of_call_rcu(document, *keys):
    return [m for m in document.metrics if m["source"] == "call_rcu" and set(m["key"]) == set(keys)]


def counts(case, document, seen, inner, outer):
    sure, most, wrong = Counter(), Counter(), []
    for c in seen.callbacks:
        done = c.done or float("inf")
        sure[c.flavour, c.func] += inner[0] <= c.queued and done <= inner[1]
        most[c.flavour, c.func] += outer[0] <= c.queued and done <= outer[1]
    ours = {(m["key"]["flavour"], m["key"]["func"]): m["count"]
            for m in of_call_rcu(document, "flavour", "func") if m["key"]["flavour"] in FLAVOURS}
    for key in set(ours) | set(most):
        expected = oracle.Range(sure[key], most[key]).widened(seen.blind)
        if ours.get(key, 0) not in expected:
            wrong.append(f"{key}: {ours.get(key, 0)}, the kernel's {expected}")
    case.say("as many callbacks of each flavour and function as the kernel's", not wrong,
             "; ".join(sorted(wrong)))
    of = defaultdict(int)
    for (flavour, _), n in most.items():
        of[flavour] += n
    case.say("the load provoked each flavour's callbacks", of["srcu"] >= WATCHES
             and of["tasks_trace"] >= FREED and of["tasks"] >= 1, f"{dict(of)}")
    total = {m["key"]["flavour"]: m["count"] for m in of_call_rcu(document, "flavour")}
    case.say("each total is the sum of its functions",
             all(total[f] == sum(n for (g, _), n in ours.items() if g == f) for f in FLAVOURS),
             f"{total}, {ours}")


def worst(case, document, seen):
    """The longest waits of each flavour; by the lower median, for the emulator may stop between the
    two time stamps of one moment."""
    room = SAME_US * (10 if "-rt" in case.guest else 1)
    for total in of_call_rcu(document, "flavour"):
        flavour, off = total["key"]["flavour"], []
        for ours in total.get("worst") or []:
            same = [c for c in seen.callbacks
                    if c.done and c.flavour == flavour and c.func == ours["func"]]
            near = min(same, default=None,
                       key=lambda c, ns=ours["monotonic_ns"]: abs(c.done - ns / 1000))
            off.append(abs(ours["value"] / 1000 - (near.done - near.queued)) if near else HELD_US)
        if off and flavour in FLAVOURS:
            case.say(f"the longest waits of {flavour} are the kernel's, within 1 ms",
                     statistics.median_low(off) <= room, f"off by {off} us")


def held_callbacks(case, document, seen, reader):
    """Handed over after the reader began, so no grace period that began since ended before it."""
    held = [c for c in seen.callbacks if c.flavour == "tasks_trace" and c.func == PUT
            and reader["started"] <= c.queued <= reader["freed"]]
    case.equal("each program freed meanwhile handed over a callback", len(held), FREED)
    least = reader["ended"] - reader["freed"]
    case.say("the reader stayed as long as asked after that", least >= HELD_US - ROOM_US, f"{least} us")
    long = [w["value"] for total in of_call_rcu(document, "flavour") for w in total.get("worst", [])
            if total["key"]["flavour"] == "tasks_trace" and w.get("func") == PUT
            and w["value"] // 1000 >= least]
    case.say("those callbacks waited at least as long, and kdefer says so", len(long) >= FREED,
             f"{len(long)} waits of {least} us and more")


def held_period(case, document, seen, reader):
    total = next(m for m in document.metrics if m["source"] == "rcu_gp"
                 and m["key"] == {"flavour": "tasks_trace"})
    begins = [b for b in seen.trace_begins if b <= reader["ended"]]
    case.say("a grace period was under way when the reader ended", begins, "none")
    if not begins or not total.get("worst"):
        return
    begin = begins[-1]
    ours = min(total["worst"], key=lambda w: abs(w["monotonic_ns"] - w["value"] - begin * 1000))
    ended, took = ours["monotonic_ns"] / 1000, ours["value"] / 1000
    case.say("it lasted as long as the reader, less what the kernel had it wait before",
             took >= HELD_US - LAZY_US - ROOM_US and ended >= reader["ended"],
             f"{took:.0f} us, ended {ended - reader['ended']:.0f} us after the reader")
    case.say("it began when the kernel began it, within 1 ms",
             abs(ended - took - begin) <= SAME_US * (10 if "-rt" in case.guest else 1),
             f"off by {ended - took - begin:.0f} us")
    same = [e for b, e in seen.trace_periods if b == begin]
    if same:  # up to 6.19; since 7.0 its end is no event
        case.say("and ended when the kernel ended it, within 5 ms", abs(ended - same[0]) <= 5 * SAME_US,
                 f"off by {ended - same[0]:.0f} us")
