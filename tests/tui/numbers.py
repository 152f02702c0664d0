#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Rows of `kdefer top --batch` beside what hist and lists say of the same capture.

usage: numbers.py KDEFER CAPTURE
"""

import json
import re
import subprocess
import sys

MEASURE = {"call_rcu": "latency", "rcu_gp": "duration", "memalloc": "latency", "rstat": "flush"}
ALL_COUNTED = {"rcu_gp", "rstat"}  # whose whole row counts more than its first measure: see the manual
MARKS = "!~>=<"
DIGITS = 0.006  # of three that are shown
UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9}
FACTOR = {"k": 1e3, "M": 1e6, "G": 1e9}


def run(kdefer, *args):
    return subprocess.run([kdefer, *args], capture_output=True, text=True, check=True,
                          env={"COLUMNS": "300", "TZ": "UTC", "PATH": "/usr/bin:/bin"}).stdout


def lines(kdefer, command, capture):
    try:
        text = run(kdefer, command, "--input", capture, "--ndjson", "-i", "1")
    except subprocess.CalledProcessError as error:
        if error.returncode != 5:  # a capture without lists, or without anything else
            raise
        return None
    return [json.loads(line) for line in text.splitlines()]


def number(text):
    """What a cell says; None where it says nothing."""
    found = re.fullmatch(r"([+-]?[0-9.,]+)([kMG]?)(?: ([a-z]+))?", text.lstrip(MARKS))
    if not found:
        return None
    value = float(found[1].replace(",", "")) * FACTOR.get(found[2], 1)
    return value * UNITS[found[3]] if found[3] else value


def rows(text):
    """{(source, flavour or ""): {column: cell}} of one interval."""
    columns, source, found = None, "", {}
    for line in text.splitlines():
        cells = re.split(r"  +", line.strip())
        if line.startswith("SOURCE "):
            columns = cells
            continue
        if not columns or len(cells) != len(columns):
            continue
        words = cells[0].split()
        if line.startswith("  "):
            key = source, words[0]
        else:
            source = words[0]
            key = source, words[1] if len(words) > 1 else ""
        found[key] = dict(zip(columns[1:], cells[1:]))
    return found


def of_row(key, kind):
    """Whether a document's key belongs to a row: of a flavour, of a subsystem, or of the whole source."""
    return not kind or kind in (key.get("flavour"), key.get("subsystem"))


def close(cell, true, slack=0.0):
    return abs(cell - true) <= DIGITS * abs(true) + slack


def totals(document, source, kind):
    """Where some are exact, others are bounds on some kernels: those have no row here."""
    mine = [m for m in document["metrics"]
            if m["source"] == source and m["measure"] == MEASURE[source] and of_row(m["key"], kind)
            and not set(m["key"]) - {"flavour", "subsystem"}]
    return [m for m in mine if "bound" not in m] or mine


def check_waiting(row, listed, source, kind):
    cell = number(row["PENDING"])
    mine = [p for p in listed["pending"] if p["source"] == source and of_row(p["key"], kind)]
    true = sum(p["length"] for p in mine)
    return [] if cell is None or cell == true else [f"{cell:.0f} wait, lists: {true}"]


def check_hist(row, measured, source, kind):
    mine, wrong = totals(measured, source, kind), []
    rate = sum(m["count"] for m in mine) * 1e9 / measured["duration_ns"]
    done = number(row["DONE/S"])
    if mine and done is not None and (kind or source not in ALL_COUNTED) and not close(done, rate):
        wrong.append(f"{row['DONE/S']} done per second, hist: {rate}")
    if len(mine) != 1:
        return wrong
    for column, name in (("P50", "p50"), ("P99", "p99"), ("MAX", "max")):
        if column not in row:
            continue
        cell, true = number(row[column]), mine[0][name]
        if (cell is None) != (true is None) or (true is not None and not close(cell, true, 10)):
            wrong.append(f"{name} {row[column]}, hist: {true}")
    return wrong


def compare(kdefer, capture):
    tops = run(kdefer, "top", "--batch", "--input", capture).split("\ninterval ")
    hists, lists = lines(kdefer, "hist", capture), lines(kdefer, "lists", capture)
    wrong, compared = [], 0
    for documents in (hists, lists):
        if documents is not None and len(documents) != len(tops) - 1:
            return [f"{len(tops) - 1} intervals, the others {len(documents)}"], 0
    for at, text in enumerate(tops[1:]):
        for (source, kind), row in rows(text).items():
            found = []
            if lists:
                found += check_waiting(row, lists[at], source, kind)
            if hists:
                found += check_hist(row, hists[at], source, kind)
            wrong += [f"interval {at + 1}, {source} {kind}: {one}" for one in found]
            compared += 1
    return wrong, compared


def main():
    wrong, compared = compare(sys.argv[1], sys.argv[2])
    if not compared:
        wrong.append("no row was compared")
    print("\n".join(wrong[:20]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
