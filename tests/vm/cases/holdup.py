# SPDX-License-Identifier: GPL-2.0-only
"""What is told of long grace periods is what the kernel's own tracing saw of them."""

import json
import re

import oracle as trace

# Two time stamps of one moment, one the oracle's and one kdefer's: in a guest whose host is busy.
SAME_US = 2000
LONG_US = 80000  # the limit of holdup.sh
SURE_US = 5000   # a tick: nobody has to agree on what is nearer to the limit than that
LATE_US = 15000  # its kthread may be preempted between kdefer's look at the end and the oracle's
LEAST = 3        # reports of four seconds, in each of which two readers stay that long
ALWAYS = {"rcu", "expedited", "tasks", "tasks_trace", "srcu"}  # in every kernel of the matrix
MASK = re.compile(r"mask=(\S+)")


class Period:
    def __init__(self, init):
        self.init, self.waiting, self.over = init, None, None
        self.reports, self.seen = [], 0

    def report(self, when, mask):
        """Those of CPUs that had reported already change nothing."""
        if mask & ~self.seen:
            self.reports.append((when, mask & ~self.seen))
        self.seen |= mask


def periods(text):
    now = None
    for line in text.splitlines():
        event = trace.EVENT.match(line)
        if not event:
            continue
        when = int(event["s"]) * 1000000 + int(event["us"])
        if event["name"] == "init":
            now = Period(when)
        elif not now:
            continue
        elif event["name"] == "waiting":
            now.waiting = when
        elif event["name"] == "report":
            now.report(when, int(MASK.search(event["rest"])[1], 16))
        elif event["name"] == "over":
            now.over = when
            yield now
            now = None


def near(one, other):
    return abs(one - other) <= SAME_US


def differences(told, period):
    """All in which a report is not what the trace says."""
    begin = told["monotonic_ns"] / 1000
    phases = {name: (ns or 0) / 1000 for name, ns in told["phases"].items()}
    evidence = told["evidence"]
    last = begin + evidence["last_ns"] / 1000
    end = begin + told["duration_ns"] / 1000
    if abs(end - period.over) > LATE_US:
        yield f"ended at {end}, not {period.over}"
    if not near(phases["init"], period.waiting - period.init):
        yield f"initialised for {phases['init']} us, not {period.waiting - period.init}"
    if not near(sum(phases.values()), told["duration_ns"] / 1000):
        yield f"phases add up to {sum(phases.values())} us of {told['duration_ns'] / 1000}"
    if evidence["reported_by"].startswith("the task"):
        if not period.reports[-1][0] - SAME_US <= last <= period.over + SAME_US:
            yield f"a task at {last}, the last CPU at {period.reports[-1][0]}"
        return
    when, mask = period.reports[-1]
    if not near(last, when):
        yield f"the last report at {last}, not {when}"
    if not mask >> evidence["last_cpu"] & 1:
        yield f"CPU {evidence['last_cpu']} was the last, not one of {mask:#x}"
    if len(period.reports) > 1 and not near(begin + evidence["second_ns"] / 1000,
                                            period.reports[-2][0]):
        yield f"the last but one at {begin + evidence['second_ns'] / 1000}, not {period.reports[-2][0]}"


def flavours(document):
    """Whose grace periods are explained."""
    return {row["flavour"] for row in document["plan"]
            if (row["source"], row["measure"]) == ("rcu_gp", "holdup") and row["state"] != "off"}


def judge(case):
    try:
        document = json.loads(case.text("why.json"))
        told, armed = document["holdups"], flavours(document)
        expected = flavours(json.loads(case.text("doctor.json")))
    except (ValueError, KeyError) as error:
        case.say("reports", False, f"{error}; {case.text('why.err')}")
        return
    case.equal("all flavours that the kernel has are explained at once, as doctor says", armed, expected)
    case.say("RCU, Tasks and SRCU are among them", armed >= ALWAYS, f"{armed}; {case.text('why.err')}")
    told = [each for each in told if each["wait"] == "grace period" and not each["ongoing"]]
    seen = list(periods(case.text("holdup.trace")))
    case.say("there are reports", len(told) >= LEAST, f"{len(told)}; {case.text('why.err')}")
    wrong, found = [], []
    for each in told:
        start = (each["monotonic_ns"] + (each["phases"]["requested"] or 0)) / 1000
        period = next((p for p in seen if near(p.init, start)), None)
        found.append(period)
        if not period:
            wrong.append(f"grace period {each['seq']} that began at {start}: not in the trace")
        else:
            wrong += [f"grace period {each['seq']}: {text}" for text in differences(each, period)]
    case.say("each is what the trace says", told and not wrong, "; ".join(wrong))
    found = [period for period in found if period]
    missing = [p.init for p in seen if found and found[0].init <= p.init <= found[-1].init
               and p.over - p.init > LONG_US + SURE_US and p not in found]
    case.equal("none is missing", missing, [])
