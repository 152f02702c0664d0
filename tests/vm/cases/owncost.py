# SPDX-License-Identifier: GPL-2.0-only
"""The cost that kdefer tells of is that which the kernel counted and timed of its programs."""

import results

HOOKS = ("kd_", "rg_", "rs_")
RUN_BY_US = ("kd_tick", "kd_control", "kd_percpu", "kd_look", "kd_find")
# kdefer times for a second at most and holds it for all: caches were cold then, and a host that is busy
# stops the emulator at any moment.
LEAST, MOST = 0.5, 2.0
OUTSIDE = 0.02  # of the runs: between its start or end and the looks beside it


def runs(case, name):
    seen = {}
    for line in case.text(name).splitlines():
        _, number, program, count, ns = line.split()
        if program.startswith(HOOKS) and program not in RUN_BY_US:
            seen[number] = (int(count), int(ns))
    return seen


def judge(case):
    document = case.measured("owncost")
    before, after = runs(case, "before"), runs(case, "after")
    count = sum(n - before.get(number, (0, 0))[0] for number, (n, _) in after.items())
    ns = sum(t - before.get(number, (0, 0))[1] for number, (_, t) in after.items())
    own = document.data["self"]
    case.say("programs ran", count > 20000, f"{count} runs")
    case.say("self.events are the kernel's count of runs",
             count <= own["events"] <= count * (1 + OUTSIDE) + 500,
             f"{own['events']}, the kernel {count}")
    case.say("self.run_ns is known", own["run_ns"] is not None, str(own))
    # What is not timed is not in it, and nothing can be said of the mean.
    if own["run_ns"] and "run_ns_lacks" not in own:
        share = own["run_ns"] / own["events"] / (ns / count)
        case.say("self.run_ns for each run is the kernel's", LEAST <= share <= MOST,
                 f"{own['run_ns'] / own['events']:.0f} ns, the kernel {ns / count:.0f} ns")
    timed = "rstat" not in own.get("run_ns_lacks", "")  # a busy host leaves less than a second for it
    for measure in ("hold", "flush"):
        if timed and any(row["measure"] == measure and row["count"] for row in document.data["metrics"]):
            share = (own.get("share_of_measure") or {}).get(f"rstat.{measure}")
            case.say(f"the share of our programs in rstat.{measure} is a part of it",
                     share is not None and 0 < share < 1, str(own))
