# SPDX-License-Identifier: GPL-2.0-only
"""A flush takes time for each possible CPU: its holds say how many, its time grows with them."""

READER = "rsreader"
FLUSHES = 300      # as in wide.sh
CPU_NS = 250       # of each CPU at least, under emulation; seen: 800 to 2,000
OVERHEAD_NS = 60000  # and of a flush besides, once; seen with 2 CPUs: 20,000 to 50,000
GROUP = 8


def of_reader(document, measure):
    return [m for m in document.metrics
            if m["measure"] == measure and m["key"].get("flusher") == READER]


def judge(case):
    document = case.measured("wide")
    possible = document.data["host"]["cpus_possible"]
    case.say("many CPUs are possible, few online", possible >= 16 * document.data["host"]["cpus_online"],
             f"{possible} and {document.data['host']['cpus_online']}")
    words = " ".join(case.text("doctor").split())
    case.say("doctor says which CPUs are visited",
             "Each flush visits all possible CPUs, online or not." in words, words[-500:])
    flushes = of_reader(document, "flush")
    most = max(flushes, key=lambda m: m["count"], default=None)
    case.equal("flushes", sum(m["count"] for m in flushes), FLUSHES)
    case.say("a flush takes time for each possible CPU",
             most and most["p50"] >= possible * CPU_NS and most["p50"] > 2 * OVERHEAD_NS,
             f"p50 {most and most['p50']} ns, {possible} CPUs")
    if "cgroup_rstat_locked" in case.text("tracepoints").split():
        holds(case, document, possible)


def holds(case, document, possible):
    """One for each possible CPU, and one more: a reader's own, or around all of them."""
    case.equal("holds", sum(m["count"] for m in of_reader(document, "hold")), FLUSHES * (possible + 1))
    groups = -(-possible // GROUP) + 1
    case.equal("holds, if the lock was given up at every 8th CPU",
               sum(m["count"] for m in of_reader(document, "hold_by_8")), FLUSHES * groups)
