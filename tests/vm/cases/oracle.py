# SPDX-License-Identifier: GPL-2.0-only
"""The oracle: what the kernel's own tracing wrote down, and each callback's two ends paired.

Times are whole microseconds of CLOCK_MONOTONIC, as the trace prints them.
"""

import re
from collections import Counter

EVENT = re.compile(r"\s*(?P<comm>.+)-\d+\s+\[(?P<cpu>\d+)\] (?P<flags>\S+)\s+"
                   r"(?P<s>\d+)\.(?P<us>\d{6}): (?P<name>\w+): (?P<rest>.*)")
FIELDS = re.compile(r"head=(?P<head>\S+) func=(?P<func>\S+)")
OVERRUN = re.compile(r"^(?:overrun|commit overrun|dropped events): (\d+)$", re.M)
PROFILE = re.compile(r"^\s*\S+\s+\d+\s+(\d+)\s*$", re.M)
# The first flag: d, D interrupts off, b softirqs off. The third: h, H, Z, z in an interrupt, s in
# a softirq.
SOFTIRQS_OFF = re.compile(r"^[dDb]|^..[sShHzZ]")
BARRIER = "rcu_barrier_callback"


class Callback:
    """One that was handed over by call_rcu(); `done` is None while it waits."""

    def __init__(self, func, head, queued, cpu, comm, lazy):
        self.func, self.head, self.queued, self.cpu = func, head, queued, cpu
        self.comm, self.lazy = comm, lazy
        self.done = None
        self.again = False  # handed over from inside its own callback

    def done_by(self, when):
        return self.done is not None and self.done <= when

    def waited(self):
        return self.done - self.queued


class Trace:
    def __init__(self, text, stats="", profile=""):
        self.callbacks = []
        self.barriers = []  # when heads of rcu_barrier() were taken off
        self.marks = {}
        self.faults = 0
        self.interruptible = Counter()  # ends at which another could come on top, by whether of RCU
        # What the trace buffer itself dropped, and what its probes did not see.
        self.lost = sum(map(int, OVERRUN.findall(stats)))
        self.missed = sum(map(int, PROFILE.findall(profile)))
        self._waiting = {}
        self._last_done = {}  # by CPU: the head whose callback runs there
        for line in text.splitlines():
            event = EVENT.match(line)
            if event:
                self._take(event)

    def _take(self, event):
        when = int(event["s"]) * 1000000 + int(event["us"])
        if event["name"] == "tracing_mark_write":
            self.marks[event["rest"].strip()] = when
            return
        fields = FIELDS.search(event["rest"])
        if not fields:
            self.faults += 1
        elif event["name"] == "deq":
            self._done(event, fields["head"], function(fields["func"]), when)
        else:
            self._queued(event, fields["head"], function(fields["func"]), when)

    def _queued(self, event, head, func, when):
        callback = Callback(func, head, when, int(event["cpu"]), event["comm"],
                            event["name"] == "enq")
        callback.again = self._last_done.get(event["cpu"]) == head
        self.callbacks.append(callback)
        self._waiting[head] = callback

    def _done(self, event, head, func, when):
        self._last_done[event["cpu"]] = head
        of_rcu = func == BARRIER or head in self._waiting  # else of SRCU or RCU Tasks
        self.interruptible[of_rcu] += not SOFTIRQS_OFF.search(event["flags"])
        if func == BARRIER:
            self.barriers.append(when)
        elif of_rcu:
            self._waiting.pop(head).done = when

    def blind(self):
        """How many ends or hand-overs at most the oracle itself did not see."""
        return self.lost + self.missed + self.faults

    def most_waiting(self, cpu):
        """The most callbacks that waited at once, of those handed over on a CPU."""
        steps = Counter()
        for callback in self.callbacks:
            if callback.cpu == cpu:
                steps[callback.queued] += 1
                if callback.done is not None:
                    steps[callback.done] -= 1
        level = most = 0
        for when in sorted(steps):
            level += steps[when]
            most = max(most, level)
        return most


def function(symbol):
    """i_callback of "i_callback+0x0/0x20", and of "foo+0x0/0x20 [module]"."""
    return symbol.split("+")[0]


class Window:
    """The time that kdefer watched. It began and ended at moments which nobody else knows exactly:
    between its own time stamp and the command's first mark, and again at the end. What has a part
    of its life in these gaps may be counted or not; there is little, and often nothing.
    """

    def __init__(self, trace, document):
        self.trace = trace
        self.outer = document.window_us()
        self.inner = (trace.marks["begin"], trace.marks["end"])

    def count(self, sure, maybe):
        """Of the callbacks for which `sure` holds whenever it began and ended, and of those for
        which it may hold."""
        low = sum(map(sure, self.trace.callbacks))
        return Range(low, max(low, sum(map(maybe, self.trace.callbacks))))

    def begun(self):
        return self.count(lambda c: within(c.queued, self.inner),
                          lambda c: within(c.queued, self.outer))

    def measured(self, lazy):
        return self.count(lambda c: c.lazy is lazy and both_ends(c, self.inner),
                          lambda c: c.lazy is lazy and both_ends(c, self.outer))

    def open(self):
        return self.count(
            lambda c: within(c.queued, self.inner) and not c.done_by(self.outer[1]),
            lambda c: within(c.queued, self.outer) and not c.done_by(self.inner[1]))

    def pre_start(self):
        return self.count(
            lambda c: c.queued < self.outer[0] and within(c.done, self.inner),
            lambda c: c.queued < self.inner[0] and within(c.done, self.outer))

    def barriers(self):
        return Range(sum(within(when, self.inner) for when in self.trace.barriers),
                     sum(within(when, self.outer) for when in self.trace.barriers))

    def ended(self):
        """All callbacks of RCU that ran, those of rcu_barrier() too."""
        return self.barriers() + self.count(lambda c: within(c.done, self.inner),
                                            lambda c: within(c.done, self.outer))

    def by(self, key):
        """Range of the measured ones for each "func" or "cpu"."""
        sure, most = Counter(), Counter()
        for callback in self.trace.callbacks:
            value = getattr(callback, key)
            sure[value] += both_ends(callback, self.inner)
            most[value] += both_ends(callback, self.outer)
        return {value: Range(sure[value], most[value]) for value in most if most[value]}

    def waits(self, func):
        return [c.waited() for c in self.trace.callbacks
                if c.func == func and both_ends(c, self.outer)]


def within(when, span):
    return when is not None and span[0] <= when <= span[1]


def both_ends(callback, span):
    return span[0] <= callback.queued and callback.done_by(span[1])


class Range:
    """A number known to lie between two; mostly they are the same."""

    def __init__(self, low, high):
        self.low, self.high = low, high

    def __add__(self, other):
        return Range(self.low + other.low, self.high + other.high)

    def __contains__(self, number):
        return number is not None and self.low <= number <= self.high

    def widened(self, by):
        return Range(self.low - by, self.high + by)

    def __str__(self):
        return str(self.low) if self.low == self.high else f"{self.low}..{self.high}"
