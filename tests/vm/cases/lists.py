# SPDX-License-Identifier: GPL-2.0-only
"""Lists of callbacks hold what the kernel's own tracing says that waits; a held grace period shows its
number, its age, and the CPU or task that holds it up."""

import json
import re

import oracle
import results

FILES, FREED, JOINED = 500, 5, 300  # as in lists.sh
LEAST_EACH, MOST_EACH = 3, 4        # callbacks of a file
LISTS = ("done", "wait", "next_ready", "next", "lazy", "bypass", "invoking")
READER_CPU = 1
BETWEEN_NS = 300000000  # of two looks, at least
FIELD = re.compile(r"(\w+)=(\S+)")


class Look:
    def __init__(self, case, name):
        self.name, self.data = name, case.document(name).data
        if case.status(name):
            raise results.Missing(f"{name}: status {case.status(name)}; {case.complaint(name)}")
        self.pending = [p for p in self.data["pending"] if p["source"] == "call_rcu"]
        self.gp = {g["flavour"]: g for g in self.data["gp"]}

    def rows(self, flavour, cpu=None):
        return [p for p in self.pending if p["key"]["flavour"] == flavour
                and cpu in (None, p["key"].get("cpu"))]

    def length(self, flavour, cpu=None):
        return sum(p["length"] for p in self.rows(flavour, cpu))

    def lists(self, flavour):
        return {p["list"]: p["length"] for p in self.rows(flavour)}


def judge(case):
    rcu(case)
    trace(case)
    tasks(case)
    kfree(case)
    srcu(case)


def waiting(callbacks, begin, end, cpu=None):
    """How many waited, at the least and at the most, at any moment between the two."""
    steps, level = [], 0
    for c in callbacks:
        if cpu is not None and c.cpu != cpu:
            continue
        level += c.queued < begin and not c.done_by(begin)
        steps += [(c.queued, 1)] * (begin <= c.queued <= end)
        steps += [(c.done, -1)] * (c.done is not None and begin <= c.done <= end)
    low = high = level
    for _, step in sorted(steps):
        level += step
        low, high = min(low, level), max(high, level)
    return oracle.Range(low, high)


def offloaded(case):
    return "offloaded" in case.guest


# --- RCU ---

def rcu(case):
    seen = case.trace("rcu")
    looks = {name: Look(case, name) for name in ("idle", "rcu.1", "rcu.2", "after")}
    for name, look in looks.items():
        begin, end = seen.marks[f"{name}.begin"], seen.marks[f"{name}.end"]
        # What is being run has left the list for the trace, and for the kernel when the batch is over.
        slack = look.lists("rcu").get("invoking", 0)
        expected = waiting(seen.callbacks, begin, end).widened(seen.blind() + slack)
        case.within(f"{name}: callbacks of RCU in all lists are the kernel's", look.length("rcu"),
                    expected)
    held = looks["rcu.1"]
    case.say("the reader holds up the callbacks of all files",
             held.length("rcu") >= LEAST_EACH * FILES, f"{held.lists('rcu')}")
    each_cpu(case, seen, held)
    case.say("afterwards they are gone", looks["after"].length("rcu") < LEAST_EACH * FILES / 4,
             f"{looks['after'].lists('rcu')}")
    case.say("only lists that have a name", all(p["list"] in LISTS for p in held.rows("rcu")),
             f"{held.lists('rcu')}")
    exact = {p["exact"] for p in held.rows("rcu")}
    case.equal("lengths are exact unless CPUs are offloaded", exact, {not offloaded(case)})
    if offloaded(case):
        many = [p for p in held.rows("rcu") if p["list"] in ("lazy", "bypass")]
        case.say("callbacks wait on the bypass list", sum(p["length"] for p in many) > 0,
                 f"{held.lists('rcu')}")
    held_period(case, looks)


def each_cpu(case, seen, look):
    """The callbacks of a CPU are on its list: nothing moves them while no CPU goes offline."""
    begin, end = seen.marks["rcu.1.begin"], seen.marks["rcu.1.end"]
    wrong = []
    for cpu in {c.cpu for c in seen.callbacks}:
        expected = waiting(seen.callbacks, begin, end, cpu).widened(seen.blind())
        if look.length("rcu", cpu) not in expected:
            wrong.append(f"CPU {cpu}: {look.length('rcu', cpu)}, the kernel's {expected}")
    case.say("and those of each CPU", not wrong, "; ".join(wrong))


def held_period(case, looks):
    first, second = looks["rcu.1"].gp["rcu"], looks["rcu.2"].gp["rcu"]
    idle, after = looks["idle"].gp["rcu"], looks["after"].gp["rcu"]
    step = [signed(g["seq"]) for g in (idle, second, after)]
    case.say("the number grows", step[0] <= step[1] < step[2], f"{step}")
    if offloaded(case):
        return  # lazy callbacks do not ask for one at once
    case.equal("the held grace period is waiting", (first["state"], second["state"]),
               ("waiting", "waiting"))
    case.equal("it is the same at both looks", first["seq"], second["seq"])
    # Since 7.3 programs of tracepoints can be preempted: then it is the task that owes, not its CPU.
    holders = second["cpus"], [(t["comm"], t["cpu"]) for t in second["tasks"]]
    case.say("the one that owes is the reader, by its CPU or as a task",
             holders in (([READER_CPU], []), ([], [("reader", READER_CPU)])), f"{holders}")
    grown = (second["age_ns"] or 0) - (first["age_ns"] or 0)
    apart = looks["rcu.2"].data["clock"]["monotonic_ns"] - looks["rcu.1"].data["clock"]["monotonic_ns"]
    hz = looks["rcu.1"].data["host"]["hz"]
    # Ages are in ticks. The clocks are of the start of each command: its own way to the look differs.
    case.say("its age has grown by the time between them",
             grown >= BETWEEN_NS - 2e9 / hz and abs(grown - apart) < BETWEEN_NS,
             f"{grown} ns in {apart} ns")


def signed(seq):
    return seq - (1 << 64) if seq >> 63 else seq


# --- Tasks Trace and Tasks ---

def trace(case):
    looks = [Look(case, f"trace.{n}") for n in (1, 2)]
    for look in looks:
        case.within(f"{look.name}: callbacks of Tasks Trace behind its reader",
                    look.length("tasks_trace"), oracle.Range(FREED, FREED + 2))
    first, second = (look.gp["tasks_trace"] for look in looks)
    case.equal("its grace period is waiting", (first["state"], second["state"]),
               ("waiting", "waiting"))
    case.equal("and the same at both looks", first["seq"], second["seq"])
    case.say("and grows older", second["age_ns"] - first["age_ns"] >= BETWEEN_NS / 2,
             f"{first['age_ns']}, {second['age_ns']}")
    pid = int(case.text("tthold.pid"))
    case.equal("the task that holds it up is the reader",
               [(t["tgid"], t["comm"]) for t in second["tasks"]], [(pid, "tthold")])


def tasks(case):
    looks = [Look(case, f"tasks.{n}") for n in (1, 2)]
    first, second = (look.gp["tasks"] for look in looks)
    case.equal("the grace period of Tasks is waiting", (first["state"], second["state"]),
               ("waiting", "waiting"))
    case.equal("and the same at both looks", first["seq"], second["seq"])
    pid = int(case.text("hog.pid"))
    case.equal("the task that holds it up is the one that stays in the kernel",
               [(t["pid"], t["comm"]) for t in second["tasks"]], [(pid, "hog")])
    case.say("a callback of Tasks waits, or two", 1 <= looks[1].length("tasks") <= 2,
             f"{looks[1].lists('tasks')}")


# --- kfree_rcu() and SRCU ---

def kfree(case):
    look = Look(case, "kfree")
    given = len(re.findall(r": give: ", case.text("kfree.trace")))
    given += Look(case, "kfree.before").length("kfree")
    row = next(r for r in look.data["plan"] if r["measure"] == "pending" and r["flavour"] == "kfree")
    seen = look.length("kfree")
    if "sheaves" in (row["reason"] or ""):
        case.say("no more objects than were given away", seen <= given, f"{seen} of {given}")
        return
    case.within("objects given to kfree_rcu() behind a reader", seen,
                oracle.Range(2 * JOINED, given))


def srcu(case):
    symbols = dict(line.split()[::2][:2] for line in case.text("symbols").splitlines())
    most, domains = most_waiting(case, symbols)
    lines = [json.loads(line) for line in case.text("srcu.ndjson").splitlines()]
    rows = [[p for p in line["pending"] if p["key"].get("flavour") == "srcu" and p["length"]]
            for line in lines]
    lengths = [sum(p["length"] for p in look) for look in rows]
    named = {p["key"].get("domain") for look in rows for p in look}
    case.say("some look saw callbacks of SRCU", max(lengths, default=0) > 0, f"{lengths}")
    case.say("none saw more than waited at once", max(lengths, default=0) <= most,
             f"{max(lengths, default=0)}, the kernel's {most}")
    case.say("of domains that the kernel's tracing saw", named <= domains, f"{named}, {domains}")
    # Most are over within a tick of the clock: whether one is seen under way is a matter of luck.
    gps = [g for line in lines for g in line["gp"] if g["flavour"] == "srcu"]
    wrong = [g for g in gps if (g["seq"] & 3 != 0) != (g["state"] == "waiting")
             or (g["age_ns"] is None) != (g["state"] == "idle")]
    case.say("a grace period of SRCU has a number and an age while it is under way",
             gps and not wrong, f"{wrong or gps}")


def most_waiting(case, symbols):
    """The most that waited at once, and their domains."""
    head_of, domains, most = {}, set(), 0
    for line in case.text("srcu.trace").splitlines():
        event = oracle.EVENT.match(line)
        fields = dict(FIELD.findall(event["rest"])) if event else {}
        if "of" in fields and int(fields["head"], 16):
            domain = symbols.get(fields["of"].removeprefix("0x"), "?")
            if "trace_srcu" not in domain:
                head_of[fields["head"]] = domain
                domains.add(domain)
        elif event and event["name"] == "deq":
            head_of.pop(fields.get("head"), None)
        most = max(most, len(head_of))
    return most, domains
