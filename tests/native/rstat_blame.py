#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""How long others wait behind a flusher is what the kernel's own tracepoints show: from lock_contended to
locked, as far as that lies between locked and unlock of the flusher.

    rstat_blame.py KDEFER RSLOAD CGROUP2 TRACE      TRACE: a tracing instance, a folder
                                                    exit status 5: hardly anybody had to wait
"""

import json
import os
import re
import subprocess
import sys

CGROUPS, ROUNDS = 1500, 6
TRIES = 6  # on a busy machine the two seldom run at once
LONG = "rslong"  # flushes that many cgroups at a time, and so holds the lock for long
READER = "kdwaits"  # of an empty cgroup, on another CPU, again and again
EVENT = re.compile(r"\s*(?P<comm>.+)-(?P<pid>\d+)\s+\[\d+\]\s+\S+\s+(?P<s>\d+)\.(?P<us>\d{6}): "
                   r"cgroup_rstat_(?P<name>\w+): .*contended:(?P<contended>\d)")
ENOUGH_US = 600
# The trace cuts times to microseconds, at each end. kdefer has a wait begin behind its own work of finding
# out whose flush it is, which is not the lock's: with cold caches 5 to 40 us after the tracepoint's stamp.
STAMPS_US, NAMED_US, NEAR = 2, 40, 0.05


def put(path, text):
    with open(path, "w") as f:
        f.write(text)


def trace_on(trace):
    events = f"{trace}/events/cgroup/cgroup_rstat_"
    put(f"{trace}/buffer_size_kb", "16384")
    put(f"{events}locked/filter", f'contended == 1 || comm == "{LONG}"')
    put(f"{events}unlock/filter", f'comm == "{LONG}"')
    for name in ("lock_contended", "locked", "unlock"):
        put(f"{events}{name}/enable", "1")


def trace_off(trace):
    for name in ("lock_contended", "locked", "unlock"):
        put(f"{trace}/events/cgroup/cgroup_rstat_{name}/enable", "0")
        put(f"{trace}/events/cgroup/cgroup_rstat_{name}/filter", "0")


def measure(kdefer, rsload, group, empty):
    """The reader goes on for as long as the flusher does."""
    script = (f'sleep 0.1; taskset -c 0 timeout 20 {rsload} read {empty}/cpu.stat 1 100000000 {READER} & '
              f'reader=$!; timeout 20 {rsload} long {group} {CGROUPS} {ROUNDS} >/dev/null; kill $reader')
    run = subprocess.run([kdefer, "hist", "-s", "rstat", "--by", "flusher", "--json", "--", "nice", "-n", "-10",
                          "sh", "-c", script], stdout=subprocess.PIPE, timeout=60)
    assert run.returncode == 0, run.returncode
    document = json.loads(run.stdout)
    rows = [m for m in document["metrics"] if m["measure"] == "blame" and m["key"].get("flusher") == LONG]
    return sum(m["sum"] for m in rows) / 1000, document


def behind(text):
    """The same by the trace: how many waits, and how long, in microseconds."""
    asked, got, holds, waits = {}, {}, [], []
    for found in filter(None, map(EVENT.match, text.splitlines())):
        when, pid = int(found["s"]) * 1000000 + int(found["us"]), found["pid"]
        if found["name"] == "lock_contended":
            asked[pid] = when
        elif found["name"] == "locked":
            if found["contended"] == "1" and pid in asked:
                waits.append((asked.pop(pid), when, found["comm"].strip()))
            got[pid] = when
        elif found["name"] == "unlock" and pid in got:
            holds.append((got.pop(pid), when))
    parts = [min(end, gave) - max(begin, took) for begin, end, comm in waits for took, gave in holds
             if comm != LONG and begin <= gave and end >= took]
    return len(parts), sum(max(part, 0) for part in parts)


def compare(kdefer, rsload, group, empty, trace):
    """What the tracepoints have, in microseconds: kdefer has the same."""
    put(f"{trace}/trace", "")
    trace_on(trace)
    ours, document = measure(kdefer, rsload, group, empty)
    trace_off(trace)
    with open(f"{trace}/trace") as f:
        number, theirs = behind(f.read())
    lost = {k: v for k, v in document["lost"]["rstat"].items() if v and k not in ("pre_start", "ring_full")}
    seen = f"others waited {ours:.0f} us behind {LONG}; by the tracepoints {number} times, {theirs} us; lost {lost}"
    print(seen, file=sys.stderr)
    assert not lost, seen
    near = NEAR * theirs + STAMPS_US * number
    assert theirs - near - NAMED_US * number <= ours <= theirs + near, seen
    return theirs


def main(kdefer, rsload, parent, trace):
    group, empty = f"{parent}/long", f"{parent}/empty"
    for folder in (group, empty):
        os.mkdir(folder)
    subprocess.run([rsload, "make", group, str(CGROUPS)], check=True, stdout=subprocess.DEVNULL)
    try:
        compared = 0
        for _ in range(TRIES):
            compared += compare(kdefer, rsload, group, empty, trace)
            if compared >= ENOUGH_US:
                break
    finally:
        subprocess.run([rsload, "unmake", group, str(CGROUPS)], stdout=subprocess.DEVNULL)
        for folder in (group, empty):
            os.rmdir(folder)
    sys.exit(0 if compared >= ENOUGH_US else 5)


main(*sys.argv[1:])
