#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Cgroups whose statistics wait for a flush: those that a task of ours has run in are shown, on its
CPU and on no other, and no more once the kernel has flushed them.

    rstat_lists.py KDEFER CGROUP2      exit status 5: kdefer does not show these lists here
"""

import collections
import json
import os
import subprocess
import sys
import time

CGROUPS = 300
# Others may run meanwhile and wait as well: on a host that tests, in far fewer cgroups than this.
OTHERS = CGROUPS // 2


def run_in(folders, cpu):
    """A process that runs a little in each, on this CPU. Asleep, its time is charged to where it is."""
    child = os.fork()
    if not child:
        status = 1
        try:
            os.sched_setaffinity(0, {cpu})
            for folder in folders:
                with open(f"{folder}/cgroup.procs", "w") as procs:
                    procs.write("0")
                time.sleep(0.0002)
            status = 0
        finally:
            os._exit(status)
    if os.waitpid(child, 0)[1]:
        sys.exit("a process cannot be put into the cgroups")


def waiting(kdefer):
    """Per CPU, by one look: cgroups that wait with their base statistics."""
    look = subprocess.run([kdefer, "lists", "-s", "rstat", "--per-cpu", "--json"],
                          stdout=subprocess.PIPE, timeout=60)
    if look.returncode:
        sys.exit(look.returncode)
    document = json.loads(look.stdout)
    assert not any(any(kinds.values()) for kinds in document["lost"].values()), document["lost"]
    n = collections.Counter()  # a CPU without any has no row
    for row in document["pending"]:
        if row["source"] == "rstat" and row["key"]["subsystem"] in ("base", "all"):
            n[row["key"]["cpu"]] += row["length"]
    return n


def main(kdefer, parent):
    cpu = max(os.sched_getaffinity(0))
    folders = [f"{parent}/{i}" for i in range(CGROUPS)]
    for folder in folders:
        os.mkdir(folder)
    try:
        before = waiting(kdefer)
        # Up to 6.15 the kernel flushes all every two seconds: not in both of two runs of half a second.
        dirty = []
        for _ in range(2):
            run_in(folders, cpu)
            dirty.append(waiting(kdefer))
        with open(f"{parent}/cpu.stat") as stat:
            stat.read()
        after = waiting(kdefer)
    finally:
        for folder in folders:
            os.rmdir(folder)
    most = max(dirty, key=lambda n: n[cpu])
    seen = f"before {dict(before)}, after a run in {CGROUPS} on CPU {cpu} {list(map(dict, dirty))}, after a flush {dict(after)}"
    print(seen, file=sys.stderr)
    assert before[cpu] < OTHERS and after[cpu] < OTHERS, seen
    assert CGROUPS <= most[cpu] < CGROUPS + OTHERS, seen
    assert all(n < OTHERS for other, n in most.items() if other != cpu), seen


main(*sys.argv[1:])
