# SPDX-License-Identifier: GPL-2.0-only
"""Flushes, holds and waits are those of the kernel's own tracing; who flushed is who did, and why."""

import math
import re
from collections import defaultdict

import oracle
import results
import rstat_split

EVENT = re.compile(r"\s*(?P<comm>.+)-(?P<pid>\d+)\s+\[\d+\]\s+\S+\s+(?P<s>\d+)\.(?P<us>\d{6}): "
                   r"(?P<name>\w+):\s*(?P<rest>.*)")
READER, LONG, CGROUP = "rsreader", "rslong", "/rs"
READS = 20 * 200     # of cpu.stat, as in rstat.sh: each is a flush
SHARE = 0.95
HELD, HELDS = "inj-held", 2 * 100  # and of cgroups whose flush takes 0.25 to 2 ms, as in rstat.sh
REASONS = 30         # flushes for each reason that is asked for by number
LONG_US = 400        # so long that what comes with STAMPS_US is a tenth of it at most
STAMPS_US = 40       # two time stamps of one moment under emulation, each with its handler
NEAR = 0.01          # how far two measurements of one long time may be apart
LEAST_US = 64        # shorter times are half made of the two stamps
STALLED = 0.05       # of a trace's: seen in 3 of 100 on a host with twice as many guests as CPUs
FAR = 0.01           # of a distribution may be further off than the next power of two
ENOUGH = 20          # for a distribution


class Seen:
    """What the trace shows: flushes with their task, holds, times as microseconds."""

    def __init__(self, text):
        self.marks, self.begins, self.flushes, self.holds = {}, [], [], []
        self.locked, self.contended = [], []
        self.waits = []  # for a lock that was taken: by its tracepoints, else a call until its body
        self.spans = []  # from the lock that is taken around a flush until it is given up
        self._begun, self._got, self._asked, self._span, self._called = {}, {}, {}, {}, {}
        self.calls = []
        for line in text.splitlines():
            found = EVENT.match(line)
            if found:
                self._take(found, int(found["s"]) * 1000000 + int(found["us"]))

    def _take(self, found, when):
        name, pid = found["name"], found["pid"]
        if name == "tracing_mark_write":
            self.marks[found["rest"].strip()] = when
        elif name.startswith("begin_"):
            self.begins.append((when, found["comm"].strip()))
            self._begun[pid] = when
            if pid in self._called:
                self.calls.append((self._called.pop(pid), when, found["comm"].strip()))
        elif name.startswith("call_"):
            self._called[pid] = when
        elif name.startswith("end_") and pid in self._begun:
            self.flushes.append((self._begun.pop(pid), when, found["comm"].strip()))
        elif name.startswith("cgroup_rstat_"):
            self._lock(name, found, when)

    def _lock(self, name, found, when):
        pid = found["pid"]
        around = "cpu=-1 " in found["rest"] + " "
        if name == "cgroup_rstat_lock_contended":
            self.contended.append(when)
            self._asked[pid] = when
        elif name == "cgroup_rstat_locked":
            self.locked.append(when)
            self._got[pid] = when
            if around:
                self._span[pid] = self._asked.get(pid, when)
            if pid in self._asked:
                self.waits.append((self._asked.pop(pid), when, found["comm"].strip()))
        elif name == "cgroup_rstat_unlock" and pid in self._got:
            self.holds.append((self._got.pop(pid), when, found["comm"].strip()))
            if around and pid in self._span:
                self.spans.append((self._span.pop(pid), when, found["comm"].strip()))


def number(times, inner, outer):
    """How many for sure, and how many at most."""
    return oracle.Range(sum(inner[0] <= t <= inner[1] for t in times),
                        sum(outer[0] <= t <= outer[1] for t in times))


def totals(document, measure):
    return [m for m in document.metrics
            if m["measure"] == measure and not set(m["key"]) - {"subsystem"}]


def rows(document, measure, key, value):
    return [m for m in document.metrics if m["measure"] == measure and m["key"].get(key) == value]


def summed(metrics, what="count"):
    return sum(m[what] for m in metrics)


def judge(case):
    document = case.measured("rs")
    seen = Seen(case.text("rs.trace"))
    if "begin" not in seen.marks or "end" not in seen.marks:
        raise results.Missing("rs.trace has no marks")
    inner, outer = (seen.marks["begin"], seen.marks["end"]), document.window_us()
    tracepoints = "cgroup_rstat_locked" in case.text("tracepoints").split()
    all_on(case, document)
    accounts(case, document)
    flushes(case, document, seen, inner, outer)
    blamed(case, case.measured("share"))
    reasons(case, document)
    durations(case, document, seen, tracepoints)
    alike(case, document, seen, tracepoints)
    if tracepoints:
        holds(case, document, seen, inner, outer)
    else:
        bounds(case, document)
    rstat_split.judge(case.part("split"), tracepoints)


def all_on(case, document):
    off = [f"{row['measure']}: {row['state']} {row['reason']}" for row in document.data["plan"]
           if row["state"] != "on"]
    case.say("every measure is on", not off, "; ".join(off))


def accounts(case, document):
    lost = {what: n for what, n in document.data["lost"]["rstat"].items() if n and what != "pre_start"}
    # Newer kernels let a task be preempted in a program of ours, and keep it from all others on that
    # CPU until then. Of waits that began meanwhile the end shows; there are no more than were kept.
    kept = lost.pop("recursion", 0)
    if lost.get("unmatched_end", 0) <= kept:
        lost.pop("unmatched_end", None)
    case.say("nothing is lost for good", not lost, f"lost {lost}, kept from us {kept}")
    counts = document.data["counts"]["rstat"]
    case.say("what began has ended, or is open", counts["begun"] == counts["done"] + counts["open"],
             f"{counts}")


def kept_from_us(document):
    return document.data["lost"]["rstat"]["recursion"]


def flushes(case, document, seen, inner, outer):
    case.within("number of flushes", summed(totals(document, "flush")),
                number([when for when, _ in seen.begins], inner, outer))
    mine = [when for when, comm in seen.begins if comm == READER]
    # One of which both entry and locks were kept from us is not seen, and counted as that.
    case.within("flushes of the readers", summed(rows(document, "flush", "flusher", READER)),
                oracle.Range(len(mine) - kept_from_us(document), len(mine)))
    # Where an entry was kept from us the flush is seen by its locks, and the trampoline hides whose.
    cpu = [m for m in rows(document, "flush", "flusher", READER)
           if m["key"]["flusher_class"] in ("cpu.stat", "other")]
    case.within("flushes by reading cpu.stat", summed(cpu),
                oracle.Range(READS - kept_from_us(document), READS))


def blamed(case, document):
    # One by the kernel's own clock may take as long as half a thousand of the readers'.
    time = (summed(totals(document, "flush"), "sum") -
            summed(rows(document, "flush", "flusher_class", "periodic"), "sum"))
    for key, value in (("flusher", READER), ("cgroup", CGROUP)):
        part = summed(rows(document, "flush", key, value), "sum")
        case.say(f"{key} {value} has its share of the time", part >= SHARE * time,
                 f"{part} of {time} ns")


def reasons(case, document):
    """Each process flushed for a reason that is known by its name."""
    files = case.text("files").split()
    asked = [(HELD, "cpu.stat", HELDS), (LONG, "cpu.stat", 26), ("rsmem", "memory.stat", None)]
    if "io.stat" in files:
        asked.append(("rsio", "io.stat", REASONS))
    if f"flushed {REASONS}" in case.text("rs.err").splitlines():  # by rsflush, on a kernel that lets it
        asked.append(("rsflush", "bpf", REASONS))
    for who, why, number in asked:
        reason(case, document, who, why, number)
    everyone = [m for m in document.metrics if m["measure"] == "flush" and "flusher" in m["key"]]
    periodic = [m for m in everyone if m["key"]["flusher_class"] == "periodic"]
    case.say("the periodic flush is a worker's",
             periodic and all(m["key"]["flusher"].startswith("kworker") for m in periodic), f"{periodic}")
    case.say("removed cgroups are flushed", summed(m for m in everyone
                                                   if m["key"]["flusher_class"] == "removal") > 0, "none")
    if case.text("ratelimited").strip() == "0":  # else reclaim flushes when the periodic flush is late
        reclaim = [m["key"]["flusher"] for m in everyone if m["key"]["flusher_class"] == "reclaim"]
        case.say("reclaim flushes", "dd" in reclaim, f"{reclaim}")
    unknown = [m for m in everyone if m["key"]["flusher_class"] == "other"]
    case.say("no flush is for a reason that is not known, but where its entry was kept from us",
             summed(unknown) <= kept_from_us(document), f"{[(m['key'], m['count']) for m in unknown]}")


def reason(case, document, who, why, number):
    mine = rows(document, "flush", "flusher", who)
    known = summed(m for m in mine if m["key"]["flusher_class"] == why)
    kept = kept_from_us(document)
    wrong = [m["key"] for m in mine if m["key"]["flusher_class"] not in (why, "other")]
    if number is None:
        case.say(f"{who} flushes for {why}", known + kept > 0 and not wrong, f"{known}, wrong: {wrong}")
    else:
        case.say(f"{who} flushes for {why}, {number} times",
                 number - kept <= known <= number and not wrong, f"{known}, wrong: {wrong}")


def values(document, measure):
    """Of the long flushes, in microseconds, each as the middle of its bucket; the longest first."""
    found = []
    mine = rows(document, measure, "flusher", HELD)
    # Where there is an upper bound, too, the lower one is of the same.
    for m in [m for m in mine if m.get("bound") != "lower"] or mine:
        for low, high, count in m["buckets"]:
            found += [(low + high) / 2000] * count
    return sorted(found, reverse=True)


def octave(us):
    return int(math.log2(max(us, 1)))


def alike(case, document, seen, tracepoints):
    """The two distributions, rank by rank, of what is long against what the tracing itself takes."""
    theirs = {"hold": seen.holds, "wait": seen.waits} if tracepoints else {"hold": seen.flushes, "wait": seen.calls}
    by_subsystem = any(m["key"].get("subsystem") != "all" for m in totals(document, "flush"))
    theirs["flush"] = seen.spans if tracepoints and not by_subsystem else seen.flushes
    for measure, spans in theirs.items():
        all_theirs = (end - begin for begin, end, comm in spans if comm == HELD)
        long = sorted((us for us in all_theirs if us >= LEAST_US), reverse=True)
        what = f"each {measure} of known length"
        if len(long) < ENOUGH:
            case.skip(what, f"{len(long)} are too few to compare: the emulator lets CPUs wait in long turns")
            continue
        same_shape(case, what, values(document, measure), long, kept_from_us(document))


def same_shape(case, what, ours, theirs, kept):
    """What comes between the two stamps of one moment is in theirs alone, as in long_holds()."""
    pairs = list(zip(ours, theirs))
    longer = [(us, them) for us, them in pairs if octave(us) > octave(them) + 1]
    shorter = [(us, them) for us, them in pairs if octave(us) < octave(them) - 1]
    more = sum(us >= 2 * LEAST_US for us in ours) - len(theirs)
    may, stood_still = max(FAR * len(theirs), 1), STALLED * len(theirs)
    case.say(f"{what}: in the same power of two or the next, 99 of 100 or not longer by more",
             len(longer) <= may and more <= may
             and len(shorter) + len(theirs) - len(pairs) <= max(may, stood_still) + kept,
             f"{len(theirs)}, {len(pairs)} to compare, {more} more; off: {(longer + shorter)[:9]}")


def durations(case, document, seen, tracepoints):
    """A quantile of ours lies between those of theirs a little to both sides, times 2."""
    by_subsystem = any(m["key"].get("subsystem") != "all" for m in totals(document, "flush"))
    # With one lock around it the flush is what lies between the two ends of that lock; without
    # tracepoints the trace has only the part of it that works.
    spans = seen.spans if tracepoints and not by_subsystem else seen.flushes
    theirs = sorted(end - begin for begin, end, comm in spans if comm == READER)
    ours = [m for m in rows(document, "flush" if tracepoints else "work", "flusher", READER)
            if m["key"]["flusher_class"] == "cpu.stat"]
    if not theirs or not ours:
        raise results.Missing(f"{len(theirs)} flushes in the trace, {len(ours)} rows of readers")
    most = max(ours, key=lambda m: m["count"])
    for name, q in (("p50", 0.5), ("p90", 0.9)):
        low = theirs[int(max(q - 0.1, 0) * (len(theirs) - 1))]
        high = theirs[int(min(q + 0.1, 1) * (len(theirs) - 1))]
        value = most[name] / 1000
        case.say(f"{name} of the readers' flushes", low / 2 - STAMPS_US <= value <= 2 * high + STAMPS_US,
                 f"seen {value:.0f} us, theirs from {low} to {high}")
    # Theirs has the work in it that kdefer does where a flush is entered and left.
    expected, seen_us = longest(case, document, "flush" if tracepoints else "work", spans)
    case.say("the longest flush is no longer than theirs",
             0 < seen_us <= expected * (1 + NEAR) + STAMPS_US, f"seen {seen_us:.0f} us, theirs {expected}")


def longest(case, document, measure, theirs):
    """Of the one that has much to do: theirs and ours."""
    expected = max((end - begin for begin, end, comm in theirs if comm == LONG), default=0)
    seen = max((m["max"] for m in rows(document, measure, "flusher", LONG)), default=0)
    case.say(f"the longest {measure} is long enough to be compared", expected > LONG_US, f"{expected} us")
    return expected, seen / 1000


def holds(case, document, seen, inner, outer):
    case.within("number of holds", summed(totals(document, "hold")),
                number([end for _, end, _ in seen.holds], inner, outer))
    unseen = document.data["lost"]["rstat"]["unmatched_end"]  # waits: a hold begins uninterrupted
    case.within("number of waits", summed(totals(document, "wait")) + unseen,
                number(seen.locked, inner, outer))
    waited = sum(n for m in totals(document, "wait") for low, _, n in m["buckets"] if low > 0)
    case.within("number of waits for a lock that was taken", waited + unseen,
                number(seen.contended, inner, outer))
    longest(case, document, "hold", seen.holds)
    long_holds(case, document, seen)


def long_holds(case, document, seen):
    """
    What comes between the two stamps of one moment is in theirs alone: an interrupt of our own program
    on a kernel for real time, and wherever the emulator itself was not run just then (seen: 4 ms).
    """
    pairs = []
    for total in totals(document, "hold"):
        for worst in total.get("worst", []):
            ended = worst["monotonic_ns"] / 1000
            theirs = [end - begin for begin, end, comm in seen.holds
                      if comm in (LONG, HELD) and abs(end - ended) <= STAMPS_US]
            if worst["task"]["comm"] in (LONG, HELD) and theirs:
                pairs.append((worst["value"] / 1000, max(theirs)))
    case.say("no long hold is longer than theirs",
             pairs and all(ours <= theirs * (1 + NEAR) + STAMPS_US for ours, theirs in pairs), f"{pairs}")
    # Half of them, for the emulator may not have been run between two stamps: most likely in the longest.
    near = [abs(ours - theirs) <= NEAR * theirs + STAMPS_US for ours, theirs in pairs]
    case.say("long holds are as long as theirs", sum(near) > len(near) / 2, f"{pairs}")


def bounds(case, document):
    upper = [m for m in totals(document, "hold") if m.get("bound") == "upper"]
    case.say("a hold that may be interrupted is an upper bound", summed(upper) >= READS,
             f"{summed(upper)} bounds")
    exact = [m for m in totals(document, "hold") if "bound" not in m]
    case.say("flushes with interrupts off are exact", summed(exact) > 0, "none")
