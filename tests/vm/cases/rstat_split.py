# SPDX-License-Identifier: GPL-2.0-only
"""What flushes spend their time with, by the kernel's own events of locks, interrupts and switches."""

import re

import oracle

EVENT = re.compile(r"\s*(?P<comm>.+)-(?P<pid>\d+)\s+\[\d+\]\s+\S+\s+(?P<s>\d+)\.(?P<us>\d{6}): "
                   r"(?P<name>\w+):\s*(?P<rest>.*)")
SWITCH = re.compile(r"next_pid=(\d+)")
CPU = re.compile(r"cpu=(-?\d+)")
STAMPS_US = 40     # two time stamps of one moment under emulation, each with its handler
PAUSE_US = 20000   # and where the emulator was not run just then: seen up to 5 ms, on a busy machine
ENOUGH_US = 1000   # of interrupts, and off the CPU: with less there is nothing to compare


class Flush:
    """One task's flush; times in microseconds. What comes between its holds is sure to be inside."""

    def __init__(self):
        self.inside, self.around = {"irqs": 0, "off": 0}, {"irqs": 0, "off": 0}
        self.pieces = {"irqs": 0, "off": 0}
        self.spared = 0
        self.gave, self.gap = None, {}
        self.busy = False  # it holds the lock, or waits for it
        self.depth, self.irq_from, self.off_from = 0, None, None

    def wait(self):
        self.busy = True

    def lock(self, when):
        if self.gave is not None:
            self.spared += max(when - self.gave - sum(self.gap.values()), 0)
            for what, took in self.gap.items():
                self.inside[what] += took
        self.busy, self.gave, self.gap = True, None, {}

    def unlock(self, when):
        self.busy, self.gave, self.gap = False, when, {}

    def irq_on(self, when):
        self.depth += 1
        if self.depth == 1:
            self.irq_from = None if self.busy else when

    def irq_off(self, when):
        self.depth = max(self.depth - 1, 0)
        if not self.depth and self.irq_from is not None:
            self._piece("irqs", when - self.irq_from)
            self.irq_from = None

    def leave(self, when):
        if not self.busy and not self.depth:
            self.off_from = when

    def come(self, when):
        if self.off_from is not None:
            self._piece("off", when - self.off_from)
            self.off_from = None

    def _piece(self, what, took):
        self.around[what] += took
        self.gap[what] = self.gap.get(what, 0) + took
        self.pieces[what] += 1


class Flushes:
    """All that lie between the marks."""

    def __init__(self, text):
        # A function around all locks; or a lock around all, and readers that come without the function.
        self.by_function = "begin_css_rstat_flush" in text
        self.all, self._open, self._marked = [], {}, False
        for line in text.splitlines():
            found = EVENT.match(line)
            if found:
                self._take(found["name"], found["pid"], found["rest"],
                           int(found["s"]) * 1000000 + int(found["us"]))

    def _take(self, name, pid, rest, when):
        if name == "tracing_mark_write":
            self._marked = rest.strip() == "begin"
        elif name == "sched_switch":
            for task, act in ((pid, "leave"), (SWITCH.search(rest).group(1), "come")):
                if task in self._open:
                    getattr(self._open[task], act)(when)
        elif name == "begin_css_rstat_flush":
            self._open[pid] = Flush()
        elif name == "end_css_rstat_flush":
            self._close(pid)
        elif name.startswith("cgroup_rstat_"):
            self._lock(name, pid, int(CPU.search(rest).group(1)), when)
        elif pid in self._open and name.endswith("_entry"):
            self._open[pid].irq_on(when)
        elif pid in self._open and name.endswith("_exit"):
            self._open[pid].irq_off(when)

    def _lock(self, name, pid, cpu, when):
        if not self.by_function and pid not in self._open and name != "cgroup_rstat_unlock":
            self._open[pid] = Flush()
        flush = self._open.get(pid)
        if not flush:
            return
        if name == "cgroup_rstat_lock_contended":
            flush.wait()
        elif name == "cgroup_rstat_locked":
            flush.lock(when)
        else:
            flush.unlock(when)
            if not self.by_function and cpu < 0:
                self._close(pid)

    def _close(self, pid):
        flush = self._open.pop(pid, None)
        if flush and self._marked:
            self.all.append(flush)

    def time(self, what):
        """At least that between holds; at most all that is seen of it. Less by a half at most."""
        slack = STAMPS_US * sum(flush.pieces[what] for flush in self.all)
        inside = sum(flush.inside[what] for flush in self.all)
        return oracle.Range(max(inside - slack, inside / 2),
                            sum(flush.around[what] for flush in self.all) + slack + PAUSE_US)


def totals(document, measure):
    return [m for m in document.metrics
            if m["measure"] == measure and not set(m["key"]) - {"subsystem"}]


def summed_us(document, measure):
    return sum(m["sum"] for m in totals(document, measure)) / 1000


def judge(case, tracepoints):
    document = case.measured("split")
    off = [row["measure"] for row in document.data["plan"] if row["state"] != "on"]
    without = [] if tracepoints else ["held", "hold_by_8", "flush_by_8"]
    case.equal("what is split is all there is", sorted(off), sorted(without))
    parts(case, document)
    if tracepoints:
        compare(case, document, Flushes(case.text("split.trace")))
        simulated(case, document)


def parts(case, document):
    """The parts are parts of the whole, by subsystem."""
    split = document.data["split"]
    case.say("there are flushes to split", sum(row["flushes"] for row in split) >= 1, f"{split}")
    names = ("wait_ns", "held_ns", "irqs_ns", "off_cpu_ns", "rest_ns")
    wrong = [row for row in split if sum(row[name] or 0 for name in names) != row["flush_ns"]]
    case.say("the parts add up", not wrong, f"{wrong}")


def compare(case, document, theirs):
    """Where an entry was kept from us a flush is ours from its first lock to its last only."""
    for measure, what in (("irqs", "irqs"), ("off_cpu", "off")):
        around = sum(flush.around[what] for flush in theirs.all)
        case.say(f"there is enough of {measure} to compare", around >= ENOUGH_US, f"{around} us")
        case.within(f"time of {measure}", summed_us(document, measure), theirs.time(what))


def simulated(case, document):
    """With two CPUs a group is a flush: its holds together, and a reader's own hold by itself."""
    case.equal("holds of groups are the holds", round(summed_us(document, "hold_by_8")),
               round(summed_us(document, "hold")))
    groups = sum(m["count"] for m in totals(document, "hold_by_8"))
    holds = sum(m["count"] for m in totals(document, "hold"))
    case.say("there are fewer groups than holds", 0 < groups < holds, f"{groups} of {holds}")
    spared = summed_us(document, "flush") - summed_us(document, "flush_by_8")
    theirs = sum(flush.spared for flush in Flushes(case.text("split.trace")).all)
    case.within("what longer holds would spare", spared, oracle.Range(theirs / 2, 2 * theirs + PAUSE_US))
