# SPDX-License-Identifier: GPL-2.0-only
"""Each wait that was made is explained: its cause, who caused it, how long, and where in the kernel.

An explanation that names another cause or culprit, and is certain of it, fails. One that says it does
not know is a miss, and fails. Waits in which a CPU was not run are counted, and only so many of them."""

import json
import os
import re

import results

PAIR = re.compile(r"(\w+)=(\S*)")
ROOM = 0.10            # of the duration
STILL_MS = 20          # some ticks; less is what emulation of two CPUs in turn takes
KINDS_OF_WAIT = {"callback_flood": ("callback",), "slow_callback": ("callback", "callback run"),
                 "callbacks_starved": ("callback", "grace period"), "lazy": ("callback",),
                 "lock_contention": ("wait for the lock",)}
# How far apart RCU looks whether a grace period is over: three ticks at most for RCU (at 250 Hz it is
# one; emulation that shares its CPU may be late by as much again). Tasks and Tasks Trace look 10 times a
# second at first, later once, and may have been left waiting for a quarter of a second before. A
# callback waits for its grace period, and the next. Who spins for a lock may first have waited for its
# turn, since emulated CPUs run one after another.
POLL_MS = {"rcu": 30, "tasks": 1100, "tasks_trace": 600, "callback": 60, "-": 30}

LIMIT_NS = 50e6  # as in why.sh: shorter grace periods are not told of
LOOP_OR_READER = ("kernel_loop", "long_reader")  # not where the machine had the greater part

# What a CPU that was not run looks like.
STILL = ("vcpu_preempted", "irqs_off")
# Of one cause: more of them is no bad luck. Each is made again, as long as there are no more than half as
# many of these and two.
LEFT_OUT = 0.3
LEFT_OUT_LEAST = 3  # all that are made of one, where one is asked for
NEAR_OF_FLOOD = 0.1  # others hand over too, and a tick looks before the last ones come

# (cause, pattern of the guest's name): why the stack cannot be had.
NO_STACK = {("preempted_reader", r"^6[.]1\b"): "bpf_task_from_pid() is not there, so a task that does not "
                                               "run shows no stack"}


class Wait:
    """One that was made, as `inject` says."""

    def __init__(self, line):
        f = dict(PAIR.findall(line))
        self.cause, self.source, self.flavour = f["cause"], f["source"], f["flavour"]
        self.begin, self.asked, self.end = (int(f[n]) for n in ("begin_ns", "asked_ns", "end_ns"))
        self.cpu, self.pid, self.rival = int(f["cpu"]), int(f["pid"]), int(f["rival"])
        self.comm, self.func = f["comm"], f["func"]
        self.still = int(f.get("still_ns", 0))
        self.many = int(f.get("many", 0))
        # Of the wait that it is a part of.
        self.part = "whole_end_ns" in f
        self.whole = int(f.get("whole_begin_ns", self.begin)), int(f.get("whole_end_ns", self.end))

    def overlap(self, report):
        begin, end = span(report)
        return min(end, self.whole[1]) - max(begin, self.whole[0])

    def shortest(self):
        """It may have begun to be waited for only when that was asked for."""
        return self.end - max(self.begin, self.asked)

    def is_of(self, report):
        if report["source"] != self.source or self.flavour not in ("-", report.get("flavour")):
            return False
        kinds = KINDS_OF_WAIT.get(self.cause)
        if "wait" not in report:
            return True
        return report["wait"] in kinds if kinds else report["wait"] not in ("caller",)

    def reports(self, all_reports):
        """Those that fall into it for the most part, the longest first."""
        mine = [r for r in all_reports
                if self.is_of(r) and self.overlap(r) > min(r["duration_ns"], self.shortest()) / 2
                # Callbacks that others handed over wait meanwhile too, and began to do so long before.
                and (self.source != "call_rcu" or self.overlap(r) > r["duration_ns"] / 2)]
        return sorted(mine, key=self.overlap, reverse=True)

    def stood_still(self):
        """A CPU was not run for so long, by the host or the emulator, that this is a cause of its own."""
        return self.still > max(STILL_MS * 1e6, ROOM * self.shortest())

    def __str__(self):
        return (f"{self.cause} of {(self.end - self.begin) / 1e6:.0f} ms, CPU {self.cpu}, "
                f"{self.comm} {self.pid}")


def span(report):
    begin = report["monotonic_ns"]
    return begin, begin + report["duration_ns"]


def brief(report):
    if report is None:
        return "nothing"
    also = ", ".join(f"{a['cause']} {a['share']:.0%}" for a in report.get("also") or [])
    return (f"{report['cause']} {(report.get('share') or 0):.0%} of {report['duration_ns'] / 1e6:.0f} ms, "
            f"{'certain' if report['certain'] else 'uncertain'}, CPU {report.get('cpu')}, "
            f"{report.get('comm')} {report.get('pid')}, func {report.get('func')}"
            + (f", also {also}" if also else "") + f"; {' '.join((report.get('stack') or [])[:6])}; "
            + json.dumps({k: v for k, v in (report.get("evidence") or {}).items() if k != "samples"}))


# --- one wait and what was told of it: right, miss or wrong, and why ---

def named(report, cause):
    """What the report says of that cause: its main one, or another that it lists; None."""
    if report["cause"] == cause:
        return report
    return next((a for a in report.get("also") or [] if a["cause"] == cause), None)


def verdict(wait, report, guest=""):
    if report is None:
        return "miss", "no report"
    said = named(report, wait.cause)
    if said is None:
        if report["cause"] == "unknown" or not report["certain"]:
            return "miss", "told as " + brief(report)
        return "wrong", "told as " + brief(report)
    if not culprit(wait, report, said):
        return ("wrong" if report["certain"] else "miss"), "another culprit: " + brief(report)
    wrong = (duration(wait, report) or share(wait, report, said) or place(wait, report, said, guest)
             or number(wait, report))
    return ("wrong", f"{wrong}: {brief(report)}") if wrong else ("right", "")


def culprit(wait, report, said):
    """Its task, or who ran in the stead of that; where there is none to name, its CPU; a candidate is
    enough if it is called one."""
    if wait.cause in ("vcpu_preempted", "callback_flood", "lazy", "slow_callback", "many_cgroups"):
        return True  # nobody's doing, or told by function and place
    candidates = report.get("candidates") or []
    if any(c.get("pid") == wait.pid for c in candidates) and not report["certain"]:
        return True
    if said.get("pid"):
        mine = {wait.pid: wait.comm, wait.rival or wait.pid: "inj-hog" if wait.rival else wait.comm}
        return mine.get(said["pid"]) in ("-", said.get("comm"))
    return wait.cpu >= 0 and said.get("cpu") == wait.cpu


def duration(wait, report):
    """Within a tenth and one polling interval; a grace period may have been asked for, or started, at any
    time since the wait began. None, or what is wrong."""
    if wait.cause in ("lazy", "callback_flood"):
        return None
    begin, end = wait.whole
    if wait.cause == "kernel_loop":
        # Whoever asked waited for one that was under way, it is not known since when, and for the next.
        return off("took", report["duration_ns"], (end - begin) / 2, float("inf"), room_of(wait))
    # Of a callback the least is told, and by how much it may have been longer.
    margin = (report.get("evidence") or {}).get("margin_ns") or 0
    return off("took", report["duration_ns"], max(end - max(begin, wait.asked) - margin, 0), end - begin,
               room_of(wait))


def room_of(wait):
    return POLL_MS["callback" if wait.source == "call_rcu" else wait.flavour] * 1e6


def off(what, seen, low, high, room):
    low, high = low * (1 - ROOM) - room, max(low, high) * (1 + ROOM) + room
    return (None if low <= seen <= high else
            f"{what} {seen / 1e6:.1f} ms, not {low / 1e6:.1f} to {high / 1e6:.1f}")


def share(wait, report, said):
    """Of two causes each has its part of the time."""
    if not wait.part:
        return None
    parts = [said]
    if wait.cause == "long_reader":  # it may have been preempted for a while: since 6.16 such programs can be
        parts += [a for a in report.get("also") or [] if a["cause"] == "preempted_reader"]
    told = sum(part.get("share") or 0 for part in parts) * report["duration_ns"]
    return off("its part is", told, wait.shortest(), wait.end - wait.begin, room_of(wait))


def place(wait, report, said, guest):
    """The function is where it was made. None, or what is wrong."""
    if wait.func == "-" or (not report.get("stack") and
                            any(c == wait.cause and re.search(g, guest) for c, g in NO_STACK)):
        return None
    wanted = re.compile(wait.func)
    if wait.source == "call_rcu":
        seen = [report.get("func") or ""] + [f"{report.get('evidence')}"]
    elif said is report:
        seen = report.get("stack") or []
    else:
        return None  # only the main cause comes with a stack
    return None if any(wanted.search(s) for s in seen) else f"no {wait.func} on the stack"


def number(wait, report):
    """As many were waiting as were handed over, and most of them before this one. None, or what is wrong."""
    evidence = report.get("evidence") or {}
    queue, ahead = evidence.get("queue") or 0, evidence.get("ahead") or 0
    if not wait.many or (abs(queue - wait.many) <= wait.many * NEAR_OF_FLOOD and queue / 4 < ahead <= queue):
        return None
    return f"{queue} waiting and {ahead} before it, of {wait.many}"


def forgiven(wait, report):
    """A CPU was not run, so that the wait is not what was made; still nobody is to be accused for it, unless
    that was the half of it and more."""
    if not wait.stood_still():
        return False
    if report is None or not report["certain"] or report["cause"] in ("unknown", *STILL):
        return True
    said = named(report, wait.cause)
    return wait.still > wait.shortest() / 2 or bool(said and culprit(wait, report, said))


# --- a guest ---

def reports_of(case):
    found = []
    for line in case.text("why.ndjson").splitlines():
        try:
            found += json.loads(line).get("holdups") or []
        except ValueError:
            raise results.Missing(f"no JSON: {line[:200]}; {complaint(case)}") from None
    return found


def complaint(case):
    return " / ".join(case.text("why.err").splitlines()[-3:])


def waits_of(case):
    lines = [line for line in case.text("injected").splitlines() if line.startswith("injected ")]
    waits = [Wait(line) for line in lines]
    return waits


def judge(case):
    if not os.path.exists(os.path.join(case.folder, "injected")):
        raise results.Missing(f"nothing was injected: {complaint(case)} {case.text('log')[-300:]}")
    waits, reports = waits_of(case), reports_of(case)
    case.equal("exit status", case.status("why"), 0)
    case.say("every wait could be made", not case.text("inject.err").strip().replace("updates", "")
             or not re.search(r"inject", case.text("inject.err")), case.text("inject.err")[-500:])
    counts, excused = {}, []
    for wait in waits:
        mine = wait.reports(reports)
        told = [(verdict(wait, r, case.guest), r) for r in mine[:5]] or [(verdict(wait, None), None)]
        # Callbacks wait by the dozen, some of them for what was there before: one that is right will do.
        (what, why), report = min(told, key=lambda t: ("right", "miss", "wrong").index(t[0][0])
                             if wait.source == "call_rcu" else 0)
        if wait.cause == "kernel_loop" and not mine and wait.shortest() < 2 * LIMIT_NS:
            continue  # two grace periods, one after the other, neither of them over the limit
        row = counts.setdefault(wait.cause, {"asked": 0, "right": 0, "miss": 0, "wrong": 0, "left_out": 0,
                                             "why": []})
        if what != "right" and forgiven(wait, report):
            excused.append(f"{wait}: a CPU was not run for {wait.still / 1e6:.0f} ms; {why}")
            row["left_out"] += 1
            continue
        row["asked"] += 1
        row[what] += 1
        row["why"] += [f"{what}: {wait}: {why}"] if what != "right" else []
    for cause, row in counts.items():
        say_row(case, cause, row)
    sure_of_loops(case, waits, reports)
    if excused:
        case.skip(f"{len(excused)} waits that the host had a part in", "; ".join(excused))
    keep(case, counts)


def sure_of_loops(case, waits, reports):
    """A loop of the same call is no guess where calls differ by the offset of their stack."""
    loops = [r for wait in waits if wait.cause == "kernel_loop" for r in wait.reports(reports)[:1]
             if (r.get("evidence") or {}).get("stack_offsets") and r["cause"] in LOOP_OR_READER]
    if loops:
        unsure = [brief(r) for r in loops if r["cause"] != "kernel_loop" or not r["certain"]]
        case.say(f"{len(loops)} loops of one call are told for certain", not unsure, "\n".join(unsure[:3]))


def say_row(case, cause, row):
    text = "\n".join(row["why"][:5])
    case.say(f"{cause}: no wrong explanation", not row["wrong"], text)
    if row["wrong"]:
        return
    case.say(f"{cause}: {row['right']} of {row['asked']} explained", not row["miss"], text)
    most = max(LEFT_OUT_LEAST, LEFT_OUT * (row["asked"] + row["left_out"]))
    case.say(f"{cause}: {row['left_out']} left out", row["left_out"] <= most,
             f"more than {most:.0f}: a host this busy tells nothing")


def series(case):
    """6.12 of 6.12.117+deb12-cloud-amd64: "newest" is another one each time."""
    found = re.search(r'"kernel":"(\d+\.\d+)', case.text("why.ndjson"))
    return found[1] if found else "?"


def keep(case, counts):
    """For docs/causes.md, which tests/vm/causes makes of many of these."""
    with open(os.path.join(case.folder, "score.json"), "w", encoding="ascii") as file:
        json.dump({"guest": case.guest, "series": series(case),
                   "causes": {c: {k: v for k, v in row.items() if k != "why"}
                              for c, row in counts.items()}}, file)
