# SPDX-License-Identifier: GPL-2.0-only
"""What a guest left behind, and what is said of it."""

import json
import os

import oracle


class Missing(Exception):
    """A result that is not there: a failure, whatever the reason."""


class Skip(Exception):
    """Cannot be tested here; the text says why."""


class Case:
    """One case in one guest. Its judge calls say(), which makes a line of TAP."""

    def __init__(self, guest, name, folder, report):
        self.guest, self.name, self.folder, self.report = guest, name, folder, report
        self.exact_clock = False  # the guest's time says how long something took
        self.kernel = ""          # of the matrix

    def part(self, name):
        """The same results under a name of their own."""
        part = Case(self.guest, f"{self.name}: {name}", self.folder, self.report)
        part.exact_clock, part.kernel = self.exact_clock, self.kernel
        return part

    def say(self, what, ok, why=""):
        """A verdict; `why` explains a failure: what was seen, and what was expected."""
        self.report.result(f"{self.guest}: {self.name}: {what}", ok, why)

    def skip(self, what, reason):
        self.report.skip(f"{self.guest}: {self.name}: {what}", reason)

    def equal(self, what, seen, expected):
        self.say(what, seen == expected, f"seen {seen}, expected {expected}")

    def within(self, what, seen, expected):
        self.say(what, seen in expected, f"seen {seen}, expected {expected}")

    def text(self, name):
        try:
            with open(os.path.join(self.folder, name), encoding="utf-8", errors="replace") as file:
                return file.read()
        except OSError:
            raise Missing(f"no file {name}") from None

    def status(self, name):
        return int(self.text(f"{name}.status"))

    def document(self, name):
        try:
            return Document(json.loads(self.text(f"{name}.json")))
        except ValueError as error:
            raise Missing(f"{name}.json is no JSON: {error}; {self.complaint(name)}") from None

    def complaint(self, name):
        return " / ".join(self.text(f"{name}.err").splitlines()[-3:])

    def measured(self, name):
        """The document of a run that must have gone well."""
        document = self.document(name)
        if self.status(name) or not document.metrics:
            raise Missing(f"{name} was not measured: status {self.status(name)}; "
                          f"{self.complaint(name)}")
        return document

    def trace(self, name):
        found = oracle.Trace(self.text(f"{name}.trace"), self.text(f"{name}.stats"),
                            self.text(f"{name}.profile"))
        if "begin" not in found.marks or "end" not in found.marks:
            raise Missing(f"{name}.trace has no marks")
        if found.lost:
            raise Missing(f"the oracle itself lost {found.lost} events")
        return found


class Document:
    """kdefer's JSON, as far as the cases ask."""

    def __init__(self, data):
        self.data = data
        self.metrics = data.get("metrics") or []
        self.lost = data.get("lost", {}).get("call_rcu", {})
        self.counts = data.get("counts", {}).get("call_rcu", {})

    def window_us(self):
        """Begin and end by CLOCK_MONOTONIC, to the outside."""
        begin = self.data["clock"]["monotonic_ns"]
        return begin // 1000, -(-(begin + self.data["duration_ns"]) // 1000)

    def total(self):
        return next(m for m in self.metrics if set(m["key"]) == {"flavour"})

    def by(self, key):
        """The metrics of one breakdown, by the values of its key."""
        return {m["key"][key]: m for m in self.metrics if key in m["key"]}

    def rows(self):
        return {(row["source"], row["measure"], row.get("flavour")): row
                for row in self.data["plan"]}

    def kernel_bytes(self):
        return self.data["self"]["kernel_bytes"]

    def begun(self):
        """All hand-overs: those seen, and those left out by sampling."""
        return self.counts["begun"] + self.lost["sampled_out"]

    def accounted_hand_overs(self):
        """What became of those seen. Equal to counts.begun, whatever was lost."""
        return (self.total()["count"] + self.counts["open"] + self.lost["unmatched_begin"]
                + self.lost["table_full"] + self.lost["clock"])

    def accounted_ends(self):
        """What kdefer says of callbacks that ran: measured, or declared not to be."""
        return (self.total()["count"] + self.lost["unmatched_end"] + self.lost["pre_start"]
                + self.counts["barrier"])

    def declared(self):
        """Losses that are none by choice."""
        return {what: n for what, n in self.lost.items()
                if n and what not in ("sampled_out", "pre_start", "ring_full")}


def between_marks(case, name, take):
    """Hands each event of NAME.trace to take(event, when). Returns how many the trace did not see."""
    marks = set()
    for line in case.text(f"{name}.trace").splitlines():
        event = oracle.EVENT.match(line)
        if not event:
            continue
        take(event, int(event["s"]) * 1000000 + int(event["us"]))
        if event["name"] == "tracing_mark_write":
            marks.add(event["rest"].strip())
    if not {"begin", "end"} <= marks:
        raise Missing(f"{name}.trace has no marks")
    return (sum(map(int, oracle.OVERRUN.findall(case.text(f"{name}.stats"))))
            + sum(map(int, oracle.PROFILE.findall(case.text(f"{name}.profile")))))
