# SPDX-License-Identifier: GPL-2.0-only
"""The loads htab-mem, map-update and map-dump, by arithmetic, by the kernel's own count of their calls,
and what is left of one that was killed."""

import benched
import oracle as trace

KINDS = ["hash", "hash_preallocated", "lru_hash", "percpu_hash", "percpu_hash_preallocated"]


def rows(case, name):
    return case.document(name).data["bench"]


def check(case, what, function, *arguments):
    try:
        function(*arguments)
        case.say(what, True)
    except AssertionError as error:
        case.say(what, False, f"{error}")


def judge(case):
    for name in ("all", "run", "full", "v64", "v512", "update", "dump", "counted"):
        case.equal(f"{name}: ends well", case.status(name), 0)
    check(case, "htab-mem: every use case", benched.htab_all, rows(case, "all"),
          case.guest.split()[0].endswith("-rt"))
    case.equal("htab-mem: run by the tracepoint where there is one",
               {r["params"].get("trigger") for r in rows(case, "all")}, {"getpgid"})
    by_run = benched.only(rows(case, "run"))
    case.equal("htab-mem: run as it is told to be", by_run["params"]["trigger"], "test_run")
    check(case, "htab-mem: the same by the other way of running it", benched.htab_speed, by_run)
    check(case, "htab-mem: and what is left in the map", benched.htab_left, by_run)
    check(case, "htab-mem: lists are read meanwhile", benched.htab_lists, by_run, 1)
    check(case, "htab-mem: a map that is too small", benched.htab_too_small, rows(case, "full"))
    check(case, "htab-mem: memory of a map whose size is known", benched.htab_memory,
          rows(case, "v64"), rows(case, "v512"))
    case.say("htab-mem: there is memory to be seen",
             benched.value(benched.only(rows(case, "v64")), "memory_start"), "absent")
    check(case, "map-update: every kind of map", benched.update, rows(case, "update"), KINDS)
    check(case, "map-dump: every way", benched.dump, rows(case, "dump"), [lambda c: 1, lambda c: c], [1024])
    calls(case)
    killed(case)


def calls(case):
    """The kernel saw those in the window, and some before it and until all had stopped."""
    row = benched.only(rows(case, "counted"))
    made = benched.value(row, "events") * row["params"]["duration_ns"] / 1e9
    # 0.1 s at the most until both have noticed that it is over, in a window of 0.5 s.
    case.within("map-update: its calls are those that the kernel counts", int(case.text("calls")),
                trace.Range(int(made), int(1.5 * made)))


def killed(case):
    seen = dict(line.split() for line in case.text("killed").splitlines())
    case.equal("killed: its cgroup is gone, its processes too", seen,
               {"during": "1", "after": "0", "processes": "0"})
    name, _, left = case.text("gone").splitlines()[-1].split()
    case.equal("killed: nothing is left in the kernel", (name, left), ("killed", "0"))
    control = case.text("control").splitlines()
    case.say("killed: the memory controller is as it was", len(control) == 3 and control[0] == control[2]
             and "memory" in control[1], f"{control}")
