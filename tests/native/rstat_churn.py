#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Cgroups that are made, used and removed all the time: every flush is in a row, of its cgroup or, once the
table of names is full, of all others; and what that costs does not grow with how many there were.

    rstat_churn.py KDEFER RSLOAD CGROUP2
"""

import json
import subprocess
import sys

SECONDS = 6
NAMES = 256  # of cgroups, that kdefer has room for
# Of one CPU, by kdefer's own process, once that table is full: a tick then goes over some ten rows, and
# takes 1.3 ms with the printing of its document, twice a second: 0.26%. A busy machine has colder caches.
# What grew with the cgroups (a row each, a look for its path) would be over it: while the table is filled
# up it is 1.4%.
MOST_CPU = 0.01
MOST_RSS = 1 << 20  # bytes that it grows by meanwhile


def intervals(kdefer, rsload, group):
    run = subprocess.run([kdefer, "hist", "-s", "rstat", "--by", "cgroup", "--ndjson", "-i", "500ms", "--",
                          rsload, "churn", group, str(SECONDS)], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, timeout=60)
    assert run.returncode == 0, run.returncode
    said, lines = run.stderr.decode().split(), run.stdout.decode().splitlines()
    made = int(said[said.index("churned") + 1])
    return made, [json.loads(line) for line in lines if line.startswith("{")]


def counts(document, measure):
    """Of all, by rows of cgroups, and in the row of the others."""
    rows = [m for m in document["metrics"] if m["measure"] == measure]
    total = sum(m["count"] for m in rows if not set(m["key"]) - {"subsystem"})
    others = sum(m["count"] for m in rows if m["key"].get("other"))
    return total, sum(m["count"] for m in rows if "cgroup" in m["key"]), others


def main(kdefer, rsload, group):
    made, documents = intervals(kdefer, rsload, group)
    print(f"{made} cgroups; {[counts(d, 'hold') for d in documents]}, {[d['self'] for d in documents]}",
          file=sys.stderr)
    lost = [{k: v for k, v in d["lost"]["rstat"].items() if v and k not in ("pre_start", "ring_full")}
            for d in documents]
    assert not any(lost), lost
    named, others = 0, 0
    for document in documents:
        for measure in ("hold", "wait"):
            total, of_cgroups, rest = counts(document, measure)
            assert total == of_cgroups + rest, (measure, total, of_cgroups, rest)
            named, others = named + of_cgroups, others + rest
    # Each was flushed when it went, and only so many have names.
    assert made > NAMES, f"too slow a machine: only {made} cgroups"
    assert named and others, (named, others)
    full = [at for at, d in enumerate(documents) if counts(d, "hold")[2]]
    late = documents[full[0] + 1:]
    cpu, time = (sum(values) for values in zip(*((d["self"]["cpu_ns"], d["duration_ns"]) for d in late)))
    print(f"{cpu / time:.2%} of a CPU in {len(late)} intervals", file=sys.stderr)
    assert len(late) >= 4 and cpu < MOST_CPU * time, (cpu, time)
    assert late[-1]["self"]["rss_bytes"] - late[0]["self"]["rss_bytes"] < MOST_RSS, [d["self"] for d in late]


main(*sys.argv[1:])
